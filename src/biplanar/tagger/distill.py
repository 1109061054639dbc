"""Soft targets for a small network: the probabilities that large ones give to every label of every word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from biplanar.data.arrays import Float32s, Int32s, Int64s
from biplanar.decoding.scores import LikelyHeads, log_probabilities
from biplanar.tagger.features import Corpus, batches_by_words
from biplanar.tagger.predict import Scorer

# The labels of a word that are kept with their probabilities: all others together seldom reach 0.001.
MOST_LABELS = 8

# What the relations given the head are called beside the tasks.
RELATION = "relation"

# What heads are called beside the tasks: their labels are 0 for the root, or a word's number.
ARCS = "arcs"


@dataclass(frozen=True)
class SoftTargets:
    """The likeliest labels of each word in one task, in any order, and their probabilities, which add up to 1."""

    labels: Int64s  # (words, MOST_LABELS or fewer)
    probabilities: Float32s


def soft_targets(teacher: Scorer, corpus: Corpus, heads: Int32s, batch_words: int) -> dict[str, SoftTargets]:
    """A teacher's targets for all words of a corpus: by task, and for the relations to the heads that they have."""
    forms = teacher.represent(corpus.forms)
    parts: dict[str, list[SoftTargets]] = {}
    places = []
    for chosen in batches_by_words(corpus.lengths, batch_words, np.argsort(corpus.lengths, kind="stable")):
        scores = teacher.score(forms, corpus.batch(chosen))
        places.append(corpus.places(chosen))
        tables = {**scores.labels, **({} if scores.columns is None else scores.columns.tables())}
        if scores.knows_heads:
            tables[RELATION] = scores.relate(heads[places[-1]])
        for task, table in tables.items():
            parts.setdefault(task, []).append(_likeliest(table))
        if scores.arcs is not None:
            parts.setdefault(ARCS, []).append(_likely_heads(scores.arcs.likeliest()))
    order = np.argsort(np.concatenate(places))
    return {task: _joined(targets, order) for task, targets in parts.items()}


def _likeliest(scores: Float32s) -> SoftTargets:
    most = min(MOST_LABELS, scores.shape[1])
    probabilities = np.exp(log_probabilities(scores))
    labels = np.argpartition(-probabilities, most - 1, axis=1)[:, :most]
    kept = np.take_along_axis(probabilities, labels, axis=1)
    return SoftTargets(labels, kept / kept.sum(axis=1, keepdims=True))


def _likely_heads(found: LikelyHeads) -> SoftTargets:
    kept = np.exp(found.logs)
    return SoftTargets(np.maximum(found.heads, 0).astype(np.int64), kept / kept.sum(axis=1, keepdims=True))


def _joined(parts: Sequence[SoftTargets], order: Int64s) -> SoftTargets:
    labels, probabilities = (
        np.concatenate([getattr(part, name) for part in parts])[order] for name in ("labels", "probabilities")
    )
    return SoftTargets(labels, probabilities)
