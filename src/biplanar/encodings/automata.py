"""Labels that drive an automaton: what the search needs to know of encodings whose labels are no brackets of planes.

A state is a number that tells which labels may follow, whatever the words were: depths of stacks, or what stands on
them. Each family of encodings has a function for the next state beside its encoder and decoder.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol, cast

import numpy as np

from biplanar.data.arrays import Int32s, Int64s
from biplanar.data.forest import Forest
from biplanar.encodings.encoding import AUTOMATON, Encoding, kind_of
from biplanar.encodings.sequences import steps_of_labels
from biplanar.errors import LabelError, TreeError

# The families.
FOUR_BITS, SEVEN_BITS, HEXATAGS, ARC_STANDARD, ARC_EAGER, ARC_HYBRID, COVINGTON, HIERARCHICAL = range(8)


class Automaton(NamedTuple):
    """What the labels of an encoding do."""

    family: int
    steps: Int32s  # of all labels, end to end
    starts: Int64s  # where each label's steps start
    closes: Int64s  # how much of what is open in a state a label may close, at most


class AutomatonEncoding(Encoding, Protocol):
    """An encoding of one task whose labels drive an automaton."""

    def automaton(self, names: Sequence[str]) -> Automaton:
        """What the labels of these names do."""


def as_automaton_encoding(encoding: Encoding) -> AutomatonEncoding:
    """The same encoding, if its labels drive an automaton."""
    if kind_of(encoding) != AUTOMATON:
        raise LabelError(f"expected an encoding whose labels drive an automaton, found {encoding.name}")
    return cast(AutomatonEncoding, encoding)


def automaton_of(
    family: int, names: Sequence[str], read: Callable[[str], Sequence[int]], closes: Callable[[Sequence[int]], int]
) -> Automaton:
    """The automaton of some labels: `read` gives a label's steps, `closes` how much these close."""
    steps, starts = steps_of_labels(names, read)
    closed = [closes(steps[starts[label] : starts[label + 1]].tolist()) for label in range(len(names) + 1)]
    return Automaton(family, steps, starts, np.array(closed, dtype=np.int64))


def check_single_roots(forest: Forest, name: str) -> None:
    """Refuse trees that have not one root."""
    roots = forest.roots()
    if (roots != 1).any():
        sentence = int(np.argmax(roots != 1))
        raise TreeError(f"{name} needs trees with one root, found one with {roots[sentence]}", sentence)
