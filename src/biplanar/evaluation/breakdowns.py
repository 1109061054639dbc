"""Scores broken down: LAS by a property of the arc or its sentence, tags and features by value, words by familiarity.

What the system found is in a bucket by its own property, so that precision is of the system's and recall of the gold.
The buckets add up to the metric, count by count, with two exceptions. Whether a right arc is projective depends on
other arcs, which may be wrong; and a word has any number of features.

Where the system cut the text differently, lengths and distances are taken from the gold text as far as it has them: a
right arc must not change its bucket because a word in between was split.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from itertools import chain
from operator import add
from typing import NamedTuple

import numpy as np

from biplanar.data.arrays import Bools, Int64s
from biplanar.data.conllu import FEATS, FORM, UPOS
from biplanar.data.forest import Column
from biplanar.errors import BiplanarError
from biplanar.evaluation.alignment import NOWHERE, ROOT, Alignment, Score
from biplanar.evaluation.metrics import enhancement_scores
from biplanar.planes.crossings import nonprojective

# The last value of each bucket but the last, which has no end.
LENGTHS = (10, 20, 30, 40, 50)
DISTANCES = (1, 2, 5, 10)

# The metrics that are given for known and for unknown words.
FAMILIARITY_METRICS = ("UPOS", "UFeats", "Lemmas", "UAS", "LAS")


@dataclass(frozen=True)
class Judged:
    """An alignment, and what is known of its words."""

    alignment: Alignment
    right: Mapping[str, Bools]  # by each metric that applies: which pairs are right
    known_forms: frozenset[str] | None = None  # of the training text
    has_graphs: bool = False  # whether there are enhanced graphs to compare


class Buckets(NamedTuple):
    """The names of some buckets, and for every gold and every system word the number of the one that it is in."""

    names: Sequence[str]
    gold: Int64s
    system: Int64s


def _scores(alignment: Alignment, right: Bools, buckets: Buckets) -> dict[str, Score]:
    """A metric for each bucket; `right` says in which pairs the system is right."""
    names, gold, system = buckets
    paired = gold[alignment.gold_at]
    right = right & (paired == system[alignment.system_at])
    counts = [np.bincount(numbers, minlength=len(names)).tolist() for numbers in (paired[right], gold, system, paired)]
    return {name: Score(*row) for name, *row in zip(names, *counts, strict=True)}


def _las(buckets: Callable[[Alignment], Buckets]) -> Callable[[Judged], dict[str, Score]]:
    return lambda judged: _scores(judged.alignment, judged.right["LAS"], buckets(judged.alignment))


def _by_value(gold: Sequence[str], system: Sequence[str]) -> Buckets:
    """A bucket for each value, the most frequent one first."""
    column = Column.of([*gold, *system])
    order = np.argsort(-np.bincount(column.ids, minlength=len(column.names)), kind="stable")
    ranks = np.argsort(order)[column.ids]
    return Buckets([column.names[number] for number in order], ranks[: len(gold)], ranks[len(gold) :])


def _by_length(alignment: Alignment) -> Buckets:
    """The number of words in the sentence."""
    gold, system = (np.searchsorted(LENGTHS, text.lengths[text.sentence_of]) for text in alignment.sides)
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


def _upos(judged: Judged) -> dict[str, Score]:
    """How well each part-of-speech tag is found."""
    if "UPOS" not in judged.right:
        return {}
    alignment = judged.alignment
    return _scores(alignment, judged.right["UPOS"], _by_value(*(text.column(UPOS) for text in alignment.sides)))


def _features(judged: Judged) -> dict[str, Score]:
    """How well each feature is found (`Case`), and below it each of its values (`Case=Nom`)."""
    if "UFeats" not in judged.right:
        return {}
    values: dict[str, dict[str, Score]] = defaultdict(dict)
    for feature, score in _feature_values(judged.alignment).items():
        values[feature.partition("=")[0]][feature] = score
    rows: dict[str, Score] = {}
    totals = {name: reduce(add, scores.values()) for name, scores in values.items()}
    for name in _frequent_first(totals):
        rows |= {name: totals[name]} | {value: values[name][value] for value in _frequent_first(values[name], name)}
    return rows


def _feature_values(alignment: Alignment) -> dict[str, Score]:
    """By `name=value`: of how many words the system found it."""
    gold, system = ([_feature_set(feats) for feats in text.column(FEATS)] for text in alignment.sides)
    wanted, found = (Counter(chain.from_iterable(side)) for side in (gold, system))
    aligned, right = Counter[str](), Counter[str]()
    for g, s in zip(alignment.gold_at.tolist(), alignment.system_at.tolist(), strict=True):
        aligned.update(gold[g])
        right.update(gold[g] & system[s])
    return {value: Score(right[value], wanted[value], found[value], aligned[value]) for value in {**wanted, **found}}


@lru_cache(maxsize=1 << 14)
def _feature_set(feats: str) -> frozenset[str]:
    return frozenset() if feats == "_" else frozenset(feats.split("|"))


def _frequent_first(scores: Mapping[str, Score], *without: str) -> list[str]:
    return sorted(scores.keys() - without, key=lambda name: (-scores[name].gold - scores[name].system, name))


def _familiarity(judged: Judged) -> dict[str, Score]:
    """Each metric for words whose form is in the training text, and for the others; aligned words count as in gold."""
    known, alignment = judged.known_forms, judged.alignment
    if known is None:
        raise BiplanarError("the breakdown 'known' needs the sentences that the system was trained on")
    gold, system = (np.array([form not in known for form in text.column(FORM)]).astype(int) for text in alignment.sides)
    system = _as_in_gold(alignment, gold, system)
    rows: dict[str, Score] = {}
    for metric in FAMILIARITY_METRICS:
        if metric in judged.right:
            buckets = Buckets((f"{metric} known", f"{metric} unknown"), gold, system)
            rows |= _scores(alignment, judged.right[metric], buckets)
    return rows


# Each gives scores by the names of its buckets; none if the system did not predict the column.
BREAKDOWNS: dict[str, Callable[[Judged], dict[str, Score]]] = {
    "deprel": _las(lambda alignment: _by_value(*(text.relations for text in alignment.sides))),
    "length": _las(_by_length),
    "distance": _las(_by_distance),
    "projectivity": _las(_by_projectivity),
    "upos": _upos,
    "feature": _features,
    "known": _familiarity,
    "enhancement": lambda judged: enhancement_scores(judged.alignment) if judged.has_graphs else {},
}


def _as_in_gold(alignment: Alignment, gold: Int64s, system: Int64s) -> Int64s:
    """The system's buckets, but of every aligned word the gold one."""
    buckets = system.copy()
    buckets[alignment.system_at] = gold[alignment.gold_at]
    return buckets


def _signed_distances(heads: Int64s) -> Int64s:
    """From each word to its head, negative to the left; 0 for a root."""
    return np.where(heads == ROOT, 0, heads - np.arange(len(heads)))


def _distance_buckets(distances: Int64s) -> Int64s:
    """The root's bucket is in the middle, between those of heads to the left and to the right."""
    steps = np.searchsorted(DISTANCES, np.abs(distances)) + 1
    return np.sign(distances) * steps + len(DISTANCES) + 1


def _ranges(last: Sequence[int]) -> list[str]:
    """The buckets' names: `1`, `3-5`, `11+`."""
    first = [1, *(end + 1 for end in last)]
    closed = [str(start) if start == end else f"{start}-{end}" for start, end in zip(first[:-1], last, strict=True)]
    return [*closed, f"{first[-1]}+"]
