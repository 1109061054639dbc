"""LAS broken down by a property of the arc or its sentence.

A system's arc is in a bucket by its own property, so that precision is of the system's arcs and recall of the gold
ones. The buckets add up to LAS, count by count, except for projectivity: whether a right arc is projective depends on
other arcs, which may be wrong.

Where the system cut the text differently, lengths and distances are taken from the gold text as far as it has them: a
right arc must not change its bucket because a word in between was split.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from biplanar.data.arrays import Int64s
from biplanar.data.forest import Column
from biplanar.evaluation.alignment import Alignment
from biplanar.evaluation.placed import NOWHERE, ROOT, PlacedText
from biplanar.evaluation.score import Score
from biplanar.planes.crossings import nonprojective

# The last value of each bucket but the last, which has no end.
LENGTHS = (10, 20, 30, 40, 50)
DISTANCES = (1, 2, 5, 10)


class Buckets(NamedTuple):
    """The names of some buckets, and for every gold and every system word the number of the one that it is in."""

    names: Sequence[str]
    gold: Int64s
    system: Int64s


def break_down(alignment: Alignment, by: str) -> dict[str, Score]:
    """The LAS of each bucket of a breakdown, by the bucket's name."""
    names, gold, system = BREAKDOWNS[by](alignment)
    paired = gold[alignment.gold_at]
    right = alignment.right_arcs & (paired == system[alignment.system_at])
    counts = [np.bincount(buckets, minlength=len(names)).tolist() for buckets in (paired[right], gold, system, paired)]
    return {name: Score(*row) for name, *row in zip(names, *counts, strict=True)}


def _by_deprel(alignment: Alignment) -> Buckets:
    """The relation without its subtype, the most frequent one first."""
    gold, system = alignment.gold.relations, alignment.system.relations
    column = Column.of([*gold, *system])
    order = np.argsort(-np.bincount(column.ids, minlength=len(column.names)), kind="stable")
    ranks = np.argsort(order)[column.ids]
    return Buckets([column.names[number] for number in order], ranks[: len(gold)], ranks[len(gold) :])


def _by_length(alignment: Alignment) -> Buckets:
    """The number of words in the sentence."""
    gold, system = (np.searchsorted(LENGTHS, _sentence_lengths(text)) for text in alignment.sides)
    return Buckets(_ranges(LENGTHS), gold, _as_in_gold(alignment, gold, system))


def _by_distance(alignment: Alignment) -> Buckets:
    """How many words the head is away, and on which side."""
    far_left_first = [f"left {name}" for name in reversed(_ranges(DISTANCES))]
    names = [*far_left_first, "root", *(f"right {name}" for name in _ranges(DISTANCES))]
    here, head = alignment.gold_words, alignment.gold_heads
    known = (here != NOWHERE) & (head != NOWHERE)
    gold, system = (_signed_distances(text.heads) for text in alignment.sides)
    in_gold_words = np.where(head == ROOT, 0, head - here)
    return Buckets(names, _distance_buckets(gold), _distance_buckets(np.where(known, in_gold_words, system)))


def _by_projectivity(alignment: Alignment) -> Buckets:
    """Whether the arc is projective: the gold one in the gold tree, the system's in its own."""
    gold, system = (nonprojective(text.forest).astype(np.int64) for text in alignment.sides)
    return Buckets(["projective", "non-projective"], gold, system)


BREAKDOWNS: dict[str, Callable[[Alignment], Buckets]] = {
    "deprel": _by_deprel,
    "length": _by_length,
    "distance": _by_distance,
    "projectivity": _by_projectivity,
}


def _as_in_gold(alignment: Alignment, gold: Int64s, system: Int64s) -> Int64s:
    """The system's buckets, but of every aligned word the gold one."""
    buckets = system.copy()
    buckets[alignment.system_at] = gold[alignment.gold_at]
    return buckets


def _sentence_lengths(text: PlacedText) -> Int64s:
    return text.lengths[text.sentence_of]


def _signed_distances(heads: Int64s) -> Int64s:
    """From each word to its head, negative to the left; 0 for a root."""
    return np.where(heads == ROOT, 0, heads - np.arange(len(heads)))


def _distance_buckets(distances: Int64s) -> Int64s:
    """The root's bucket lies in the middle, those of heads to the left before it and to the right behind it."""
    steps = np.searchsorted(DISTANCES, np.abs(distances)) + 1
    return np.sign(distances) * steps + len(DISTANCES) + 1


def _ranges(last: Sequence[int]) -> list[str]:
    """The buckets' names: `1`, `3-5`, `11+`."""
    first = [1, *(end + 1 for end in last)]
    closed = [str(start) if start == end else f"{start}-{end}" for start, end in zip(first[:-1], last, strict=True)]
    return [*closed, f"{first[-1]}+"]
