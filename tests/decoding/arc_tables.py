"""Scores of all heads of all words, by plain arithmetic."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from biplanar.decoding.scores import MOST_HEADS, LikelyHeads


def random_table(rng: np.random.Generator, words: int, spread: float = 2.0) -> np.ndarray:
    """Noise for log-probabilities of heads."""
    return log_table(rng.normal(0, spread, (words, words + 1)))


def log_table(scores: np.ndarray) -> np.ndarray:
    """Log-probabilities of heads by their scores, (words, 1 + words); no word is its own."""
    scores = scores.astype(np.float64)
    words = np.arange(len(scores))
    scores[words, words + 1] = -np.inf
    return (
        scores
        - np.log(np.exp(scores - scores.max(axis=1, keepdims=True)).sum(axis=1, keepdims=True))
        - scores.max(axis=1, keepdims=True)
    )


def sure_table(heads: Sequence[int], sure: float = 8.0) -> np.ndarray:
    """Log-probabilities that are nearly sure of some heads."""
    scores = np.zeros((len(heads), len(heads) + 1))
    scores[np.arange(len(heads)), heads] = sure
    return log_table(scores)


def likeliest(tables: Sequence[np.ndarray]) -> LikelyHeads:
    """The likeliest heads of some sentences' words, the first of equal ones first."""
    words = sum(map(len, tables))
    heads = np.full((words, MOST_HEADS), -1, dtype=np.int32)
    logs = np.full((words, MOST_HEADS), -np.inf, dtype=np.float32)
    for at, row in enumerate(row for table in tables for row in table):
        order = [head for head in np.argsort(-row, kind="stable") if row[head] > -np.inf][:MOST_HEADS]
        heads[at, : len(order)], logs[at, : len(order)] = order, row[order]
    return LikelyHeads(heads, logs)
