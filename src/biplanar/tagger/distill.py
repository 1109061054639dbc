"""Lessons for a small network: what large ones think of every label of every word, rather than the right one only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from biplanar.data.arrays import Int32s, Int64s
from biplanar.decoding.scores import log_probabilities
from biplanar.tagger.features import Corpus, batches_by_words
from biplanar.tagger.predict import DEPENDENT, GOVERNOR, Scorer

# Of each word's labels, so many are remembered, with their probabilities: all others together seldom reach 0.001.
MOST_LABELS = 8

# What the relations given the head are called beside the tasks.
RELATION = "relation"


@dataclass(frozen=True)
class Lesson:
    """The likeliest labels of each word in one task, in any order, and their probabilities, which add up to 1."""

    labels: NDArray[np.int64]  # (words, MOST_LABELS or fewer)
    chances: NDArray[np.float32]


def teach(teacher: Scorer, corpus: Corpus, heads: Int32s, batch_words: int) -> dict[str, Lesson]:
    """What a teacher thinks of all words of a corpus: by task, and of the relations to the heads that they have."""
    forms = teacher.represent(corpus.forms)
    parts: dict[str, list[Lesson]] = {}
    places = []
    for chosen in batches_by_words(corpus.lengths, batch_words, np.argsort(corpus.lengths, kind="stable")):
        scores = dict(teacher.score(forms, corpus.batch(chosen)))
        places.append(corpus.places(chosen))
        if DEPENDENT in scores:
            governors = _governors(heads[places[-1]], corpus.lengths[chosen])
            scores[RELATION] = teacher.relate(scores.pop(DEPENDENT), scores.pop(GOVERNOR), governors)
        for task, table in scores.items():
            parts.setdefault(task, []).append(_likeliest(table))
    order = np.argsort(np.concatenate(places))
    return {task: _joined(lessons, order) for task, lessons in parts.items()}


def _governors(heads: Int32s, lengths: Int64s) -> Int64s:
    starts = np.repeat(np.cumsum(lengths) - lengths, lengths)
    return np.where(heads > 0, starts + heads, 0)


def _likeliest(scores: NDArray[np.float32]) -> Lesson:
    most = min(MOST_LABELS, scores.shape[1])
    chances = np.exp(log_probabilities(scores))
    labels = np.argpartition(-chances, most - 1, axis=1)[:, :most]
    kept = np.take_along_axis(chances, labels, axis=1)
    return Lesson(labels, kept / kept.sum(axis=1, keepdims=True))


def _joined(lessons: Sequence[Lesson], order: Int64s) -> Lesson:
    labels, chances = (
        np.concatenate([getattr(lesson, name) for lesson in lessons])[order] for name in ("labels", "chances")
    )
    return Lesson(labels, chances)
