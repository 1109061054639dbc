"""Processor time of tasks that take turns."""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable, Mapping

SHORTEST = 0.01  # seconds: shorter tasks are called several times in a row


def best_times(tasks: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """The processor time of one call of each task, the best of several rounds in which all tasks take turns."""
    gc.collect()
    gc.freeze()  # garbage collection is part of a task, but not of what was there before it
    calls = {name: max(1, int(SHORTEST / max(_seconds(task, 1), 1e-7))) for name, task in tasks.items()}
    best = dict.fromkeys(tasks, math.inf)
    for _ in range(rounds):
        for name, task in tasks.items():
            best[name] = min(best[name], _seconds(task, calls[name]) / calls[name])
    gc.unfreeze()
    return best


def _seconds(task: Callable[[], object], calls: int) -> float:
    start = time.process_time()
    for _ in range(calls):
        task()
    return time.process_time() - start
