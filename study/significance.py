"""Which differences between encodings chance explains: bootstraps over seeds and sentences, and Holm's correction."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

import numpy as np

from biplanar.data.arrays import Float64s
from biplanar.evaluation import Score
from study.common import unpack
from study.store import Result, Store

RESAMPLES = 10_000
SIGNIFICANT = 0.05

Name = TypeVar("Name", bound=Hashable)


@dataclass(frozen=True)
class Difference:
    """By how many points one system is above another, with a 95 % interval; `p_value` before any correction."""

    points: float
    low: float
    high: float
    p_value: float

    def __str__(self) -> str:
        return f"{self.points:+.2f} [{self.low:+.2f}, {self.high:+.2f}]"


def difference_of(observed: float, resampled: Float64s) -> Difference:
    """A resampled difference is as extreme as the observed one if it is as far from it as that one is from 0."""
    extreme = int((np.abs(resampled - observed) >= abs(observed) - 1e-9).sum())
    low, high = np.quantile(resampled, [0.025, 0.975]).tolist()
    return Difference(observed, low, high, (extreme + 1) / (len(resampled) + 1))


class Resampled:
    """LAS of one treebank's test sentences (gold words): the same draws of sentences for all systems."""

    def __init__(self, store: Store, treebank: str) -> None:
        self._store, self._treebank = store, treebank
        self._lengths = unpack(store.treebanks[treebank]["splits"]["test"]["lengths"]).astype(np.float64)

    @property
    def _draws(self) -> Float64s:
        """How often each sentence was drawn: (resamples, sentences)."""
        return _draws(len(self._lengths))

    def difference(self, encoding: str, other: str, decoder: str) -> Difference | None:
        """One encoding against another, seeds and sentences drawn with replacement; None where there are no runs."""
        both = [self._store.seeds("paper", self._treebank, "paper", name) for name in (encoding, other)]
        if not all(both):
            return None
        words, rng = self._draws @ self._lengths, np.random.default_rng(1)
        observed, resampled = 0.0, np.zeros(RESAMPLES)
        for sign, runs in zip((1, -1), both, strict=True):
            right = np.stack([self._right(run, decoder) for run in runs], axis=1)  # (sentences, seeds)
            observed += sign * 100 * right.sum() / (len(runs) * self._lengths.sum())
            drawn = self._draws @ right / words[:, None]  # (resamples, seeds)
            seeds = rng.integers(len(runs), size=(RESAMPLES, len(runs)))
            resampled += sign * 100 * np.take_along_axis(drawn, seeds, axis=1).mean(axis=1)
        return difference_of(float(observed), resampled)

    @staticmethod
    def _right(run: Result, decoder: str) -> Float64s:
        return unpack(run["right_by_sentence"][decoder]).astype(np.float64)


@lru_cache(maxsize=1)  # a treebank at a time: the table is large
def _draws(sentences: int) -> Float64s:
    rng = np.random.default_rng(0)
    return rng.multinomial(sentences, np.full(sentences, 1 / sentences), size=RESAMPLES).astype(np.float64)


def share_difference(scores: Sequence[Score], others: Sequence[Score], side: str) -> Difference:
    """Precision, recall or F1 of one system against another's, by draws of seeds and of binomial counts.

    What is counted is not stored by sentence. Both systems are drawn apart, as if on other sentences, which makes the
    interval too wide rather than too narrow.
    """
    rng = np.random.default_rng(2)
    observed, resampled = 0.0, np.zeros(RESAMPLES)
    for sign, some in ((1, scores), (-1, others)):
        of = [getattr(score, {"precision": "system", "recall": "gold", "f1": "gold"}[side]) for score in some]
        shares = np.array([getattr(score, side) for score in some])
        observed += sign * 100 * float(shares.mean())
        drawn = rng.integers(len(some), size=RESAMPLES)  # one seed for the counts,
        seeds = rng.integers(len(some), size=(RESAMPLES, len(some)))  # and all of them for their mean
        sizes = np.maximum(np.array(of)[drawn], 1)
        noise = rng.binomial(sizes, np.clip(shares[drawn], 0, 1)) / sizes - shares[drawn]
        resampled += sign * 100 * (shares[seeds].mean(axis=1) + noise)
    return difference_of(observed, resampled)


def survivors(differences: Mapping[Name, Difference]) -> set[Name]:
    """Those that stay significant when it is considered how many were looked at (Holm 1979)."""
    kept = set[Name]()
    ranked = sorted(differences, key=lambda name: differences[name].p_value)
    for rank, name in enumerate(ranked):
        if differences[name].p_value >= SIGNIFICANT / (len(ranked) - rank):
            break
        kept.add(name)
    return kept
