"""Labels that are sequences of small numbers, the steps: from the steps of words to numbered labels, and back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from biplanar.compiled import compiled
from biplanar.data.arrays import Int32s, Int64s
from biplanar.data.forest import Column

EMPTY = "_"


class Steps(NamedTuple):
    """The steps of some words or labels, end to end."""

    steps: Int32s
    starts: Int64s  # where those of each start, and where the last ones end


def column_of_steps(steps: Steps, spell: Callable[[Sequence[int]], str]) -> Column:
    """Each word's steps as a label, spelled out once for each label."""
    ids, firsts = _number(*steps)
    bounds = zip(steps.starts[firsts].tolist(), steps.starts[firsts + 1].tolist(), strict=True)
    return Column(ids, tuple(spell(steps.steps[start:end].tolist()) for start, end in bounds))


def column_of_codes(codes: Int32s, names: Sequence[str]) -> Column:
    """Each word's code as a label; all codes have a name, and those that no word has are left out."""
    present = np.flatnonzero(np.bincount(codes, minlength=len(names)))
    numbers = np.zeros(len(names), dtype=np.int32)
    numbers[present] = np.arange(len(present))
    return Column(numbers[codes], tuple(names[code] for code in present.tolist()))


def steps_of_labels(names: Iterable[str], read: Callable[[str], Sequence[int]]) -> Steps:
    """The steps of each label, and behind the last one none at all, for words without a label (-1)."""
    labels = [*map(read, names), ()]
    steps = np.array([step for label in labels for step in label], dtype=np.int32)
    return Steps(steps, np.cumsum([0, *map(len, labels)], dtype=np.int64))


@compiled()
def _number(steps: Int32s, starts: Int64s) -> tuple[Int32s, Int64s]:
    """Number the distinct sequences by first appearance; gives each word's number, and the first word of each number.

    The open-addressing table never fills up.
    """
    words = len(starts) - 1
    size = 1024
    while size < 2 * words:
        size *= 2
    table = np.full(size, -1, dtype=np.int32)
    ids, firsts, count = np.empty(words, dtype=np.int32), np.empty(words, dtype=np.int64), 0
    for at in range(words):
        code = np.int64(starts[at + 1] - starts[at])
        for place in range(starts[at], starts[at + 1]):
            code = (code + steps[place] + 1) * 0x9E3779B97F4A7C15
            code ^= code >> 32
        slot = (code >> 7) & (size - 1)
        while table[slot] >= 0 and not _equal(steps, starts, at, firsts[table[slot]]):
            slot = (slot + 1) & (size - 1)
        if table[slot] < 0:
            table[slot], firsts[count] = count, at
            count += 1
        ids[at] = table[slot]
    return ids, firsts[:count].copy()


@compiled()
def _equal(steps: Int32s, starts: Int64s, one: int, other: int) -> bool:
    length = starts[one + 1] - starts[one]
    if starts[other + 1] - starts[other] != length:
        return False
    for place in range(length):  # noqa: SIM110 (the compiler takes no generators)
        if steps[starts[one] + place] != steps[starts[other] + place]:
            return False
    return True
