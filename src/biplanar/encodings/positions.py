"""Labels that say where the head stands: by its number, by its distance, or by counting words of its part of speech."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from biplanar.compiled import compiled
from biplanar.data.arrays import Int32s, Int64s
from biplanar.data.conllu import EMPTY
from biplanar.data.forest import Column, Forest
from biplanar.encodings.encoding import HEADS, WithoutPlanes
from biplanar.errors import LabelError

NO_HEAD = -1
ROOT_TAG = "ROOT"
NO_TAG = -2
NOWHERE = (0, NO_TAG)  # what a label says that is none


@dataclass(frozen=True)
class Positions(WithoutPlanes):
    """The head's number, or the signed distance to it; 0 is the root."""

    name: str
    relative: bool
    tasks: tuple[str, ...] = ("head",)
    kind: str = HEADS

    def encode(self, forest: Forest) -> tuple[Column, ...]:
        """`3`: the head is word 3; or `+2`: the second word to the right."""
        numbers = forest.heads
        if self.relative:
            numbers = np.where(numbers == 0, 0, numbers - _words(forest.offsets))
        values, ids = np.unique(numbers, return_inverse=True)
        names = (f"{value:+d}" if self.relative and value else str(value) for value in values.tolist())
        return (Column(ids.astype(np.int32), tuple(names)),)

    def decode(self, columns: Sequence[Column], offsets: Int64s, upos: Column | None = None) -> Int32s:
        """Numbers that lead out of the sentence, and a word's own number, assert nothing."""
        numbers, words = _whole_numbers(columns[0]), _words(offsets)
        heads = np.where(numbers == 0, 0, numbers + words) if self.relative else numbers
        lengths = np.repeat(np.diff(offsets), np.diff(offsets))
        good = ((heads > 0) | (numbers == 0)) & (heads <= lengths) & (heads != words)
        return np.where(good, heads, NO_HEAD).astype(np.int32)


@dataclass(frozen=True)
class RelativePos(WithoutPlanes):
    """The head's part of speech, and how many words of it lie between: `+2@VERB` is the second verb to the right."""

    name: str = "rel-pos"
    tasks: tuple[str, ...] = ("head",)
    needs_upos: bool = True
    kind: str = HEADS

    def encode(self, forest: Forest) -> tuple[Column, ...]:
        """`-1@ROOT` is the root. Every word needs a tag."""
        upos = _needed(forest.upos, len(forest.heads))
        if EMPTY in upos.names:
            untagged = int(np.argmax(upos.ids == upos.names.index(EMPTY)))
            sentence = int(np.searchsorted(forest.offsets, untagged, side="right")) - 1
            word = untagged - int(forest.offsets[sentence]) + 1
            raise LabelError(f"rel-pos needs part-of-speech tags: word {word} of sentence {sentence + 1} has none")
        names = [*upos.names, ROOT_TAG]
        codes = _count_tags(forest.heads, forest.offsets, upos.ids, len(names))
        kinds, ids = np.unique(codes, return_inverse=True)
        labels = tuple(f"{kind // len(names):+d}@{names[kind % len(names)]}" for kind in kinds.tolist())
        return (Column(ids.astype(np.int32), labels),)

    def decode(self, columns: Sequence[Column], offsets: Int64s, upos: Column | None = None) -> Int32s:
        """Where there are too few words of that part of speech, one word fewer is tried, as the paper's authors do."""
        tags = _needed(upos, len(columns[0].ids))
        numbers = {tag: number for number, tag in enumerate(tags.names)} | {ROOT_TAG: len(tags.names)}
        parsed = [re.fullmatch(r"([+-]\d{1,6})@(.*)", name, re.ASCII) for name in columns[0].names]
        pairs = [(int(match[1]), numbers.get(match[2], NO_TAG)) if match else NOWHERE for match in parsed]
        counts, kinds = (values[columns[0].ids] for values in np.array([*pairs, NOWHERE], dtype=np.int64).T)
        return np.asarray(_find_tags(counts, kinds, offsets, tags.ids, numbers[ROOT_TAG]))


def _words(offsets: Int64s) -> Int64s:
    """Every word's number in its sentence, from 1."""
    return np.arange(1, offsets[-1] + 1, dtype=np.int64) - np.repeat(offsets[:-1], np.diff(offsets))


def _whole_numbers(column: Column) -> Int64s:
    """The labels as numbers; other labels become one that is outside of any sentence."""
    nowhere = 1 << 40
    values = [int(name) if re.fullmatch(r"[+-]?\d{1,9}", name, re.ASCII) else nowhere for name in column.names]
    return np.array([*values, nowhere], dtype=np.int64)[column.ids]


def _needed(upos: Column | None, words: int) -> Column:
    if upos is None:
        raise LabelError("rel-pos needs part-of-speech tags")
    if len(upos.ids) != words:
        raise LabelError(f"{len(upos.ids)} part-of-speech tags for {words} words")
    return upos


@compiled()
def _count_tags(heads: Int32s, offsets: Int64s, tags: Int32s, names: int) -> Int64s:
    """How many words of the head's tag there are from each word to its head, signed by the direction.

    A word has this times the number of tags, and its head's tag, in one number; the last tag is the root's.
    """
    codes = np.empty(len(heads), dtype=np.int64)
    for s in range(len(offsets) - 1):
        base = offsets[s] - 1
        for at in range(offsets[s], offsets[s + 1]):
            head = base + heads[at]
            if heads[at] == 0:
                codes[at] = -1
                continue
            step = 1 if head > at else -1
            count, place = 0, at
            while place != head:
                place += step
                count += tags[place] == tags[head]
            codes[at] = step * count * names + tags[head]
    return codes


@compiled()
def _find_tags(counts: Int64s, kinds: Int64s, offsets: Int64s, tags: Int32s, root: int) -> Int32s:
    heads = np.full(len(tags), -1, dtype=np.int32)
    for s in range(len(offsets) - 1):
        base, end = offsets[s] - 1, offsets[s + 1]
        for at in range(offsets[s], end):
            wanted = abs(counts[at])
            step = 1 if counts[at] > 0 else -1
            seen, place, last = 0, at + step, -1
            while wanted > seen and base <= place < end:
                if (kinds[at] == root) if place == base else (kinds[at] == tags[place]):
                    seen += 1
                    last = place - base
                place += step
            if last >= 0 and seen >= max(wanted - 1, 1):
                heads[at] = last
    return heads
