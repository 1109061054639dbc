"""Which differences between encodings chance explains: bootstraps over seeds and sentences, and Holm's correction."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeVar

import numpy as np

from biplanar.data.arrays import Bytes, Float64s
from biplanar.evaluation import Score
from study.common import unpack
from study.store import Store

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


def las_difference(store: Store, treebank: str, encoding: str, other: str, decoder: str) -> Difference | None:
    """LAS of one encoding against another's on a treebank's test sentences (gold words); None where there are no runs.

    Seeds and sentences are drawn with replacement, the same sentences for all systems.
    """
    both = [store.seeds("paper", treebank, "paper", name) for name in (encoding, other)]
    if not all(both):
        return None
    lengths = unpack(store.treebanks[treebank]["splits"]["test"]["lengths"])
    right = [unpack(run["right_by_sentence"][decoder]) for runs in both for run in runs]
    # Words and right words, drawn together. In 32 bits the sums are exact: they are whole numbers below 2**24.
    columns = np.stack([lengths, *right], axis=1).astype(np.float32)  # (sentences, 1 + runs)
    words, *drawn = (_draws(len(lengths)).astype(np.float32) @ columns).astype(np.float64).T
    observed, resampled, rng = 0.0, np.zeros(RESAMPLES), np.random.default_rng(1)
    for sign, runs, first in zip((1, -1), both, (0, len(both[0])), strict=True):
        some = slice(first, first + len(runs))
        observed += sign * 100 * sum(one.sum() for one in right[some]) / (len(runs) * lengths.sum())
        shares = np.stack(drawn[some], axis=1) / words[:, None]  # (resamples, seeds)
        seeds = rng.integers(len(runs), size=(RESAMPLES, len(runs)))
        resampled += sign * 100 * np.take_along_axis(shares, seeds, axis=1).mean(axis=1)
    return difference_of(float(observed), resampled)


@cache
def _draws(sentences: int) -> Bytes:
    """How often each sentence was drawn: (resamples, sentences)."""
    rng = np.random.default_rng(0)
    return rng.multinomial(sentences, np.full(sentences, 1 / sentences), size=RESAMPLES).astype(np.uint8)


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
