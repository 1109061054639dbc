"""Many trees as flat arrays: what the compiled loops read and write."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from biplanar.compiled import compiled
from biplanar.data.arrays import Int32s, Int64s
from biplanar.data.conllu import DEPREL, UPOS, Sentence
from biplanar.data.tree import Tree, find_fault
from biplanar.errors import LabelError


@dataclass(frozen=True)
class Column:
    """One label for every word of every sentence: numbers into a list of names. -1 is a label without a name."""

    ids: Int32s
    names: tuple[str, ...]

    @classmethod
    def of(cls, labels: Iterable[str]) -> Column:
        """Number the labels in the order of their first appearance."""
        numbers: dict[str, int] = {}
        ids = [numbers.setdefault(label, len(numbers)) for label in labels]
        return cls(np.array(ids, dtype=np.int32), tuple(numbers))

    def labels(self) -> list[str]:
        """The labels as text."""
        names = [*self.names, "_"]
        return [names[number] for number in self.ids.tolist()]

    def without_unused(self) -> Column:
        """The same labels without the names that no word has."""
        used = np.flatnonzero(np.bincount(self.ids, minlength=len(self.names)))
        numbers = np.zeros(len(self.names), dtype=np.int32)
        numbers[used] = np.arange(len(used))
        return Column(numbers[self.ids], tuple(self.names[number] for number in used.tolist()))


def distinct_pairs(one: Column, other: Column) -> tuple[list[tuple[str, str]], Int32s]:
    """The pairs of labels that words have in two columns, each once, and the number of each word's pair."""
    numbers, firsts = number_values(one.ids.astype(np.int64) * len(other.names) + other.ids)
    named = zip(one.ids[firsts].tolist(), other.ids[firsts].tolist(), strict=True)
    return [(one.names[first], other.names[second]) for first, second in named], numbers


@dataclass(frozen=True)
class Forest:
    """Trees end to end. Sentence s has the words from `offsets[s]` to `offsets[s + 1]`; heads count from 1 in each."""

    offsets: Int64s
    heads: Int32s
    deprels: Column
    upos: Column | None = None

    @classmethod
    def from_trees(cls, trees: Sequence[Tree], upos: Iterable[Sequence[str]] | None = None) -> Forest:
        """Trees are checked at birth, so their heads are taken as they are."""
        heads = np.array([head for tree in trees for head in tree.heads], dtype=np.int32)
        deprels = Column.of(deprel for tree in trees for deprel in tree.deprels)
        tags = None if upos is None else _tags(upos, trees)
        return cls(offsets_of(map(len, trees)), heads, deprels, tags)

    @classmethod
    def from_sentences(cls, sentences: Sequence[Sentence]) -> Forest:
        """Reads and checks the trees of parsed sentences, with their universal part-of-speech tags."""
        heads = np.array([head for sentence in sentences for head in sentence.heads], dtype=np.int32)
        offsets = offsets_of(map(len, sentences))
        if fault := find_fault(heads, offsets):
            raise sentences[fault.sentence].error_at(fault.word, fault.message)
        deprels = Column.of(deprel for sentence in sentences for deprel in sentence.column(DEPREL))
        upos = Column.of(tag for sentence in sentences for tag in sentence.column(UPOS))
        return cls(offsets, heads, deprels, upos)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def roots(self) -> Int64s:
        """How many roots each sentence has."""
        return np.add.reduceat(self.heads == 0, self.offsets[:-1], dtype=np.int64)

    def trees(self) -> list[Tree]:
        """The trees as values of their own."""
        return Tree.many(self.heads, self.deprels.labels(), self.offsets)


def _tags(upos: Iterable[Sequence[str]], trees: Sequence[Tree]) -> Column:
    rows = list(upos)
    if len(rows) != len(trees):
        raise LabelError(f"tags of {len(rows)} sentences for {len(trees)} trees")
    for number, (row, tree) in enumerate(zip(rows, trees, strict=True), 1):
        if len(row) != len(tree):
            raise LabelError(f"sentence {number}: {len(row)} tags for {len(tree)} words")
    return Column.of(tag for row in rows for tag in row)


def offsets_of(lengths: Iterable[int]) -> Int64s:
    """Where each of some sequences starts when they are laid end to end, and where the last one ends."""
    sizes = lengths if isinstance(lengths, np.ndarray) else np.fromiter(lengths, dtype=np.int64)
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])


def number_values(values: Int64s) -> tuple[Int32s, Int64s]:
    """Number values by first appearance, equal ones alike, and where each first stands; `np.unique` sorts them."""
    places = np.arange(len(values))
    return number_stretches(values, places, places + 1)


@compiled()
def number_stretches(values: Any, starts: Any, ends: Any) -> tuple[Int32s, Int64s]:
    """Number some stretches of an array by first appearance, equal ones alike; and the first stretch of each number."""
    count, size = len(starts), 1024
    while size < 2 * count:  # the open-addressing table never fills up
        size *= 2
    table = np.full(size, -1, dtype=np.int32)
    ids, firsts, found = np.empty(count, dtype=np.int32), np.empty(count, dtype=np.int64), 0
    for number in range(count):
        start, length = starts[number], ends[number] - starts[number]
        mixed = np.int64(length)
        for at in range(start, start + length):
            mixed = (mixed ^ np.int64(values[at])) * np.int64(1099511628211)  # wraps around
        slot = (mixed ^ (mixed >> 32)) & (size - 1)
        while table[slot] >= 0:
            first = firsts[table[slot]]
            other, same = starts[first], 0
            if ends[first] - other == length:
                while same < length and values[other + same] == values[start + same]:
                    same += 1
                if same == length:
                    break
            slot = (slot + 1) & (size - 1)
        if table[slot] < 0:
            table[slot], firsts[found] = found, number
            found += 1
        ids[number] = table[slot]
    return ids, firsts[:found].copy()


@compiled()
def longest_sentence(offsets: Int64s) -> int:
    """How many words the longest of some sentences has."""
    longest = 0
    for s in range(len(offsets) - 1):
        longest = max(longest, offsets[s + 1] - offsets[s])
    return longest


def words_of(sentences: Int64s, offsets: Int64s) -> tuple[Int64s, Int64s]:
    """The words of some sentences, and where each of these starts among them."""
    lengths = (offsets[1:] - offsets[:-1])[sentences]
    places = np.zeros(len(sentences) + 1, dtype=np.int64)
    np.cumsum(lengths, out=places[1:])
    return np.arange(places[-1]) + np.repeat(offsets[:-1][sentences] - places[:-1], lengths), places
