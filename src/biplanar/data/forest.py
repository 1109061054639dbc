"""Many trees as flat arrays: what the compiled loops read and write."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

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


def distinct_pairs(one: Column, other: Column) -> tuple[list[tuple[str, str]], Int64s]:
    """The pairs of labels that words have in two columns, each once, and the number of each word's pair."""
    pairs, numbers = np.unique(one.ids.astype(np.int64) * len(other.names) + other.ids, return_inverse=True)
    firsts, seconds = np.divmod(pairs, len(other.names))
    named = zip(firsts.tolist(), seconds.tolist(), strict=True)
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
    return np.concatenate([[0], np.cumsum(np.fromiter(lengths, dtype=np.int64))]).astype(np.int64)


def words_of(sentences: Int64s, offsets: Int64s) -> tuple[Int64s, Int64s]:
    """The words of some sentences, and where each of these starts among them."""
    lengths = (offsets[1:] - offsets[:-1])[sentences]
    places = np.zeros(len(sentences) + 1, dtype=np.int64)
    np.cumsum(lengths, out=places[1:])
    return np.arange(places[-1]) + np.repeat(offsets[:-1][sentences] - places[:-1], lengths), places
