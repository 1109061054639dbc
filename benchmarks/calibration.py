"""Calibration of probabilities: of all arcs with a probability of 0.8, 80 % should be right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

BINS = 15


@dataclass(frozen=True)
class Calibration:
    """Probabilities in bins of equal width from 0 to 1; a probability on an edge is in the bin above it.

    Of each bin: how many probabilities it has, their sum, and how many of the predictions were right.
    """

    counts: tuple[int, ...]
    sums: tuple[float, ...]
    right: tuple[int, ...]

    @classmethod
    def of(
        cls, probabilities: Sequence[float] | NDArray[Any], right: Sequence[bool] | NDArray[np.bool_], bins: int = BINS
    ) -> Calibration:
        """Sort probabilities into bins; `right` says of each whether the prediction was right."""
        values, truths = np.asarray(probabilities, dtype=np.float64), np.asarray(right, dtype=np.bool_)
        numbers = np.searchsorted(np.linspace(0, 1, bins + 1)[1:-1], values, side="right")
        counts, hits = np.bincount(numbers, minlength=bins), np.bincount(numbers[truths], minlength=bins)
        sums = np.bincount(numbers, weights=values, minlength=bins)
        return cls(tuple(counts.tolist()), tuple(sums.tolist()), tuple(hits.tolist()))

    @property
    def edges(self) -> tuple[float, ...]:
        """Where the bins begin, and where the last one ends."""
        return tuple(np.linspace(0, 1, len(self.counts) + 1).tolist())

    @property
    def total(self) -> int:
        """How many probabilities there are."""
        return sum(self.counts)

    @property
    def mean_probabilities(self) -> tuple[float | None, ...]:
        """The mean of each bin; None where it is empty."""
        return tuple(value / count if count else None for value, count in zip(self.sums, self.counts, strict=True))

    @property
    def shares_right(self) -> tuple[float | None, ...]:
        """The share of each bin that was right; None where it is empty."""
        return tuple(right / count if count else None for right, count in zip(self.right, self.counts, strict=True))

    @property
    def ece(self) -> float:
        """The expected calibration error: how far a bin's mean probability is from its share right, on average."""
        if not self.total:
            return 0.0
        return sum(abs(value - right) for value, right in zip(self.sums, self.right, strict=True)) / self.total

    def to_dict(self) -> dict[str, Any]:
        """All of it, for JSON."""
        rows = zip(self.edges, self.edges[1:], self.counts, self.mean_probabilities, self.shares_right, strict=False)
        names = ("from", "to", "count", "mean_probability", "share_right")
        return {"ece": self.ece, "count": self.total, "bins": [dict(zip(names, row, strict=True)) for row in rows]}

    def draw(self, path: str | Path) -> None:
        """A reliability plot: each bin's share right over its mean probability, and below, how full each bin is."""
        from matplotlib.figure import Figure

        figure = Figure(figsize=(4.5, 5.5), layout="constrained")
        reliability, fullness = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1))
        filled = [number for number, count in enumerate(self.counts) if count]
        points = [(self.mean_probabilities[number], self.shares_right[number]) for number in filled]
        reliability.plot([0, 1], [0, 1], color="#999999", linestyle=":", label="perfect")
        reliability.plot(*zip(*points, strict=True), color="#0072b2", marker="o", label=f"ECE {100 * self.ece:.1f} %")
        reliability.set(ylabel="share right", xlim=(0, 1), ylim=(0, 1))
        reliability.legend(loc="upper left")
        fullness.bar(self.edges[:-1], self.counts, width=1 / len(self.counts), align="edge", color="#e69f00")
        fullness.set(xlabel="probability", ylabel="how many")
        figure.savefig(path, dpi=120)
