"""From label scores to trees: the best label of each task, decoded, and the relations that fit the tree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from biplanar.decoding import decode_forest, is_root_like
from biplanar.decoding.repair import repair_cleanly
from biplanar.encodings import Encoding
from biplanar.forest import Column, Forest
from biplanar.tagger.features import Batch, Corpus, batches_by_words
from biplanar.tree import Int32s, Int64s

Scores = Mapping[str, NDArray[np.float32]]


class Scorer(Protocol):
    """What gives scores: a network in PyTorch or in ONNX Runtime."""

    def score(self, batch: Batch) -> Scores:
        """Scores by task: (words of all sentences, labels)."""


@dataclass(frozen=True)
class Predictions:
    """What decoding needs to know of each word's scores; words stand end to end."""

    labels: dict[str, Int32s]  # the best label of each task
    relations: Int32s  # the best relation that is not the root's
    root_relations: Int32s  # the best relation that is the root's
    root_likeness: NDArray[np.float32]

    @classmethod
    def of(cls, scores: Scores, deprels: tuple[str, ...]) -> Predictions:
        """Boil down scores of shape (words, labels), task by task."""
        labels = {task: table.argmax(axis=1).astype(np.int32) for task, table in scores.items()}
        roots = np.array([is_root_like(deprel) for deprel in deprels])
        table = scores["deprel"]
        exponentials = np.exp(table - table.max(axis=1, keepdims=True))
        likeness = exponentials[:, roots].sum(axis=1) / exponentials.sum(axis=1)
        return cls(labels, _best(table, ~roots), _best(table, roots), likeness.astype(np.float32))

    @classmethod
    def joined(cls, parts: list[Predictions], order: Int64s) -> Predictions:
        """Many parts end to end, with the words put in another order."""
        labels = {task: np.concatenate([part.labels[task] for part in parts])[order] for task in parts[0].labels}
        rest = (
            np.concatenate([getattr(part, name) for part in parts])[order]
            for name in ("relations", "root_relations", "root_likeness")
        )
        return cls(labels, *rest)


def _best(table: NDArray[np.float32], allowed: NDArray[np.bool_]) -> Int32s:
    """The best label among the allowed ones, or among all if none is."""
    if not allowed.any():
        allowed = np.ones_like(allowed)
    labels: Int32s = np.flatnonzero(allowed).astype(np.int32)
    return np.asarray(labels[table[:, allowed].argmax(axis=1)])


def predict(scorer: Scorer, corpus: Corpus, deprels: tuple[str, ...], batch_words: int) -> Predictions:
    """The predictions for all sentences of a corpus, in their order, computed in batches of similar lengths."""
    starts = np.concatenate([[0], np.cumsum(corpus.lengths)])
    parts, places = [], []
    for chosen in batches_by_words(corpus.lengths, batch_words, np.argsort(corpus.lengths, kind="stable")):
        parts.append(Predictions.of(scorer.score(corpus.batch(chosen)), deprels))
        places += [np.arange(starts[number], starts[number + 1]) for number in chosen]
    return Predictions.joined(parts, np.argsort(np.concatenate(places)))


def predicted_forest(
    predictions: Predictions,
    offsets: Int64s,
    encoding: Encoding,
    names: Mapping[str, tuple[str, ...]],
    *,
    decoder: str = "greedy",
    upos: Column | None = None,
) -> Forest:
    """Trees from predictions. `greedy` gives the root a root's relation and other words others; `paper` does not."""
    columns = [Column(predictions.labels[task], names[task]) for task in encoding.tasks]
    if decoder != "greedy":
        deprels = Column(predictions.labels["deprel"], names["deprel"])
        return decode_forest(columns, deprels, offsets, encoding, decoder=decoder, upos=upos)
    heads = repair_cleanly(encoding.decode(columns, offsets, upos), offsets, predictions.root_likeness)
    relations = np.where(heads == 0, predictions.root_relations, predictions.relations)
    return Forest(offsets, heads, Column(relations, names["deprel"]), upos)
