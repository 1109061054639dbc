"""Labels that drive an automaton: what the search needs to know of encodings whose labels are no brackets of planes.

A label is a sequence of small numbers, its steps. A state is a 64-bit number that tells which labels may
follow, whatever the words were: depths of stacks, or what stands on them. An encoding brings the functions of its
automaton, beside its encoder and decoder.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from biplanar.compiled import compiled_function
from biplanar.data.arrays import Int32s, Int64s
from biplanar.data.forest import Column, Forest, number_stretches
from biplanar.encodings.encoding import Encoding
from biplanar.errors import TreeError


def column_of_steps(steps: Int32s, starts: Int64s, spell: Callable[[Sequence[int]], str]) -> Column:
    """The labels of words that have steps, end to end, each label spelled out once; `starts` ends with their end."""
    ids, firsts = number_stretches(steps, starts[:-1], starts[1:])
    bounds = zip(starts[firsts].tolist(), starts[firsts + 1].tolist(), strict=True)
    return Column(ids, tuple(spell(steps[start:end].tolist()) for start, end in bounds))


def steps_of_labels(names: Sequence[str], read: Callable[[str], Sequence[int]]) -> tuple[Int32s, Int64s]:
    """The steps of all labels, end to end, and where each label's start; one without steps (-1) comes last."""
    labels = [*map(read, names), ()]
    steps = np.array([step for label in labels for step in label], dtype=np.int32)
    return steps, np.cumsum([0, *map(len, labels)], dtype=np.int64)


class Automaton(NamedTuple):
    """What the labels of an encoding do, as the compiled search takes it."""

    steps: Int32s  # of all labels, end to end
    starts: Int64s  # where each label's steps start
    closes: Int64s  # how much of what is open in a state a label may close, at most
    first: int  # the state before the first word
    next_state: Any  # the functions of a `Machine`
    may_end: Any
    still_open: Any


@dataclass(frozen=True)
class Machine:
    """The functions of an automaton, in Python that numba can compile; they are compiled when a search needs them.

    `next_state(state, steps, begin, end, is_last)` is the state after a word whose label has `steps[begin:end]`, or -1.
    """

    next_state: Callable[[int, Int32s, int, int, bool], int]
    may_end: Callable[[int], bool]  # whether a sentence may end in a state
    still_open: Callable[[int], int] = lambda _: 0  # how much must be closed before it may end, if that is known
    first: int = 0  # the state before the first word

    def automaton(
        self, names: Sequence[str], read: Callable[[str], Sequence[int]], closes: Callable[[Sequence[int]], int]
    ) -> Automaton:
        """The automaton of some labels: `read` gives a label's steps, `closes` how much these close."""
        steps, starts = steps_of_labels(names, read)
        closed = [closes(steps[starts[label] : starts[label + 1]].tolist()) for label in range(len(names) + 1)]
        functions = map(compiled_function, (self.next_state, self.may_end, self.still_open))
        return Automaton(steps, starts, np.array(closed, dtype=np.int64), self.first, *functions)


class AutomatonEncoding(Encoding, Protocol):
    """An encoding of one task whose labels drive an automaton."""

    def automaton(self, names: Sequence[str]) -> Automaton:
        """What the labels of these names do."""


def check_single_roots(forest: Forest, name: str) -> None:
    """Refuse trees that have not one root."""
    roots = forest.roots()
    if (roots != 1).any():
        sentence = int(np.argmax(roots != 1))
        raise TreeError(f"{name} needs trees with one root; this one has {roots[sentence]}", sentence)
