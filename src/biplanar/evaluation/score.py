"""Scores: counts that add, and the shares that follow from them."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Score:
    """How many are right, of how many in the gold text, in the system's, and, if words were aligned, in both."""

    correct: int
    gold: int
    system: int
    aligned: int | None = None

    def __add__(self, other: Score) -> Score:
        both = None if self.aligned is None or other.aligned is None else self.aligned + other.aligned
        return Score(self.correct + other.correct, self.gold + other.gold, self.system + other.system, both)

    @property
    def precision(self) -> float:
        """The share of what the system found that is right."""
        return self.correct / self.system if self.system else 0.0

    @property
    def recall(self) -> float:
        """The share of the gold that the system found."""
        return self.correct / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        total = self.gold + self.system
        return 2 * self.correct / total if total else 0.0

    @property
    def aligned_accuracy(self) -> float | None:
        """The share of the aligned that is right; None for metrics without an alignment."""
        if self.aligned is None:
            return None
        return self.correct / self.aligned if self.aligned else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Shares and counts, for JSON."""
        shares = {"precision": self.precision, "recall": self.recall, "f1": self.f1}
        return {**shares, "aligned_accuracy": self.aligned_accuracy, **asdict(self)}


@dataclass(frozen=True)
class Evaluation:
    """Scores by the name of their metric, and those of breakdowns by the breakdown and the bucket."""

    scores: dict[str, Score]
    breakdowns: dict[str, dict[str, Score]] = field(default_factory=dict)

    def __getitem__(self, metric: str) -> Score:
        return self.scores[metric]

    def to_dict(self) -> dict[str, Any]:
        """All of it, for JSON."""

        def dicts(scores: dict[str, Score]) -> dict[str, Any]:
            return {name: score.to_dict() for name, score in scores.items()}

        return {"scores": dicts(self.scores), "by": {kind: dicts(rows) for kind, rows in self.breakdowns.items()}}
