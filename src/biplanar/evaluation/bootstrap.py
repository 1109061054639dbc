"""Whether one system is significantly better than another: a paired bootstrap over sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from biplanar.data.arrays import Float64s, Int64s
from biplanar.data.conllu import Sentence
from biplanar.errors import BiplanarError
from biplanar.evaluation.alignment import Score, SpannedText, align

# Up to how many sentences are drawn at once: it bounds the memory for large treebanks.
DRAWN_AT_ONCE = 1 << 20


@dataclass(frozen=True)
class Bootstrap:
    """The LAS of two systems on the same text, and a confidence interval of their difference."""

    system: Score
    other: Score
    low: float
    high: float
    p_value: float  # two-sided: how often so large a difference would occur by chance between equally good systems
    confidence: float
    resamples: int

    @property
    def difference(self) -> float:
        """By how much the first system's LAS F1 is above the other's."""
        return self.system.f1 - self.other.f1

    def to_dict(self) -> dict[str, Any]:
        """All of it, for JSON."""
        scores = {"system": self.system.to_dict(), "other": self.other.to_dict()}
        return {**asdict(self), **scores, "difference": self.difference}


def paired_bootstrap(
    gold: Iterable[Sentence],
    system: Iterable[Sentence],
    other: Iterable[Sentence],
    *,
    resamples: int = 1000,
    seed: int = 0,
    confidence: float = 0.95,
) -> Bootstrap:
    """Draw gold sentences with replacement, as many as there are, and compute the difference of LAS F1 each time."""
    if resamples < 1 or not 0 < confidence < 1:
        raise BiplanarError(f"resamples ({resamples}) must be at least 1, and confidence ({confidence}) from 0 to 1")
    reference = SpannedText.from_sentences(gold)
    pairs = [_las_by_sentence(reference, SpannedText.from_sentences(sentences)) for sentences in (system, other)]
    (score, counts), (other_score, other_counts) = pairs
    differences = np.concatenate(list(_differences(counts, other_counts, resamples, np.random.default_rng(seed))))
    low, high = np.quantile(differences, [(1 - confidence) / 2, (1 + confidence) / 2]).tolist()
    p_value = _p_value(differences, score.f1 - other_score.f1)
    return Bootstrap(score, other_score, low, high, p_value, confidence, resamples)


def _las_by_sentence(gold: SpannedText, system: SpannedText) -> tuple[Score, Int64s]:
    """The LAS of the whole text, and for every gold sentence the right words, and the sum of gold and system words.

    System words belong to the gold sentence in which they start, however the system cut the text.
    """
    alignment = align(gold, system)
    size = len(gold.sentences)
    right = np.bincount(gold.sentence_of[alignment.gold_at[alignment.right_arcs]], minlength=size)
    starts = [start for start, _ in gold.sentence_spans]
    sentences = np.searchsorted(starts, [word.start for word in system.words], side="right") - 1
    words = gold.lengths + np.bincount(sentences, minlength=size)
    counts = np.stack([right, words], axis=1)  # (sentences, 2)
    return alignment.score(alignment.right_arcs), counts


def _differences(
    counts: Int64s, other_counts: Int64s, resamples: int, generator: np.random.Generator
) -> Iterator[Float64s]:
    """The difference of the two systems' LAS F1 in each resample, some resamples at a time."""
    size = len(counts)
    both = np.concatenate([counts, other_counts], axis=1)  # (sentences, 4)
    step = max(1, DRAWN_AT_ONCE // size)
    for start in range(0, resamples, step):
        drawn = generator.integers(size, size=(min(step, resamples - start), size))  # (resamples, sentences)
        right, words, other_right, other_words = (column[drawn].sum(axis=1) for column in both.T)
        yield 2 * right / words - 2 * other_right / other_words


def _p_value(differences: Float64s, observed: float) -> float:
    """Two-sided: shifted by the observed difference, the resampled ones follow the null hypothesis."""
    tolerance = 1e-12
    extreme = int((np.abs(differences - observed) >= abs(observed) - tolerance).sum())
    return (extreme + 1) / (len(differences) + 1)
