"""How many threads PyTorch gets for a step of training on the CPU."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch

STEPS = 3  # with each number of threads, when they are compared

# Seconds until the numbers are compared again; where steps have become half as fast, fewer.
AGAIN, SLOWED = 300, 30


class ThreadTuner:
    """Runs steps with the number of threads that is the fastest at present.

    Within a step, threads wait for each other hundreds of times, and spin while they do. That is fastest as long as
    every thread has a core. Where other programs need the cores, each wait lasts until the scheduler comes back to
    the missing thread, and several threads may be ten times slower than one. So numbers of threads are compared at the
    start, and again from time to time.
    """

    def __init__(self, most: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._counts = [count for count in range(most, 0, -1) if count == most or count & (count - 1) == 0]
        self._compare()

    @property
    def best(self) -> int:
        """The number of threads that was the fastest."""
        return max(self._rates, key=self._rates.__getitem__)

    def _compare(self) -> None:
        self._rates = dict.fromkeys(self._counts, 0.0)  # words per second
        self._untried = [count for count in self._counts for _ in range(STEPS)] if len(self._counts) > 1 else []
        self._compared = self._again = self._clock()

    @contextmanager
    def step(self, words: int) -> Iterator[None]:
        """Run the body, a step on some words, with the best number of threads, or with one that is to be tried."""
        if not self._untried and len(self._counts) > 1 and self._clock() > self._again:
            self._compare()
        trying = bool(self._untried)
        count = self._untried.pop() if trying else self.best
        torch.set_num_threads(count)
        start = self._clock()
        yield
        rate = words / max(self._clock() - start, 1e-9)
        if trying:
            self._rates[count] = max(self._rates[count], rate)
            self._compared = self._clock()
            self._again = self._compared + AGAIN
        elif 2 * rate < self._rates[count]:
            self._again = min(self._again, self._compared + SLOWED)
