"""A dependency tree: one head and one relation a word, checked at birth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from biplanar.data.arrays import Int32s, Int64s
from biplanar.errors import TreeError


@dataclass(frozen=True)
class Tree:
    """Heads (0 for a root, words count from 1) and relations, word by word.

    Several roots are allowed, as some treebanks have them; a cycle, a self-loop or a head outside the sentence is not.
    """

    heads: tuple[int, ...]
    deprels: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "heads", tuple(map(int, self.heads)))
        object.__setattr__(self, "deprels", tuple(map(str, self.deprels)))
        if len(self.heads) != len(self.deprels):
            raise TreeError(f"{len(self.heads)} heads but {len(self.deprels)} relations")
        clipped = np.clip(np.array(self.heads, dtype=object), -1, len(self.heads) + 1).astype(np.int32)
        fault = find_fault(clipped, np.array([0, len(self.heads)], dtype=np.int64))
        if fault:
            raise TreeError(fault.message)

    @classmethod
    def many(cls, heads: Int32s, deprels: Sequence[str], offsets: Int64s) -> list[Tree]:
        """Trees laid end to end, checked all at once, which is many times faster than one by one."""
        if fault := find_fault(heads, offsets):
            raise TreeError(fault.message, fault.sentence)
        numbers, trees = heads.tolist(), []
        for start, end in pairwise(offsets.tolist()):
            tree = object.__new__(cls)
            tree.__dict__.update(heads=tuple(numbers[start:end]), deprels=tuple(deprels[start:end]))
            trees.append(tree)
        return trees

    def __len__(self) -> int:
        return len(self.heads)

    @cached_property
    def roots(self) -> tuple[int, ...]:
        """The words that hang on the dummy root, usually one."""
        return tuple(word for word, head in enumerate(self.heads, 1) if head == 0)


class Fault(NamedTuple):
    """Why some heads are no tree: in which sentence (from 0), at which word (from 1), and what is wrong."""

    sentence: int
    word: int
    message: str


def find_fault(heads: Int32s, offsets: Int64s) -> Fault | None:
    """The first sentence whose heads are no tree; `offsets` says where each sentence starts and ends in `heads`."""
    lengths = np.diff(offsets)
    if len(lengths) and not lengths.all():
        empty = int(np.argmin(lengths))
        earlier = find_fault(heads[: offsets[empty]], offsets[: empty + 1])
        return earlier or Fault(empty, 0, "a tree needs at least one word")
    starts = np.repeat(offsets[:-1], lengths)
    places = np.arange(len(heads))
    stays = (heads <= 0) | (heads > np.repeat(lengths, lengths))
    # Follow all heads at once, doubling the stride: after log2(n) steps every word stands at its root, if it has one.
    above = np.where(stays, places, starts + heads - 1)
    for _ in range(int(lengths.max(initial=1)).bit_length()):
        above = above[above]
    lost = heads[above] != 0
    if not lost.any():
        return None
    sentence = int(np.searchsorted(offsets, int(np.argmax(lost)), side="right")) - 1
    return _explain(sentence, heads[offsets[sentence] : offsets[sentence + 1]].tolist())


def _explain(sentence: int, heads: list[int]) -> Fault:
    size = len(heads)
    for word, head in enumerate(heads, 1):
        if not 0 <= head <= size:
            return Fault(sentence, word, f"word {word} has a head outside the sentence, which has {size} words")
        if head == word:
            return Fault(sentence, word, f"word {word} is its own head")
    if 0 not in heads:
        return Fault(sentence, 1, "no word has head 0 (the root)")
    cycle = _first_cycle(heads)
    return Fault(sentence, cycle[0], f"the heads form a cycle: {' -> '.join(map(str, [*cycle, cycle[0]]))}")


def _first_cycle(heads: list[int]) -> list[int]:
    seen: dict[int, int] = {0: 0}
    for start in range(1, len(heads) + 1):
        path, word = [], start
        while word not in seen:
            seen[word] = start
            path.append(word)
            word = heads[word - 1]
        if word and seen[word] == start:
            return path[path.index(word) :]
    raise AssertionError("called on heads without a cycle")
