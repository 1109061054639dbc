"""The stored results, and what tables and plots ask of them: means over seeds, pooled counts, a paired bootstrap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import numpy as np

from biplanar.data.arrays import Float64s, Int64s
from biplanar.evaluation import Score
from study.common import read_json, unpack
from study.plan import PAPER
from study.treebanks import TREEBANKS

RESAMPLES = 10_000
SIGNIFICANT = 0.05

System = tuple[str, str]  # network and encoding
Where = tuple[str, str, str]  # split, source and decoder

PRINTED = Path(__file__).parent / "printed.json"


@dataclass(frozen=True)
class Row:
    """The cell of a table: values of all seeds, in percent."""

    values: tuple[float, ...]

    @property
    def mean(self) -> float:
        """Over the seeds."""
        return mean(self.values)

    @property
    def deviation(self) -> float:
        """The standard deviation over the seeds; 0 for one seed."""
        return stdev(self.values) if len(self.values) > 1 else 0.0

    def __str__(self) -> str:
        return f"{self.mean:.2f} ± {self.deviation:.2f}" if len(self.values) > 1 else f"{self.mean:.2f}"


@dataclass(frozen=True)
class Difference:
    """How much better one encoding is than another on the same test sentences, all seeds together; in points of LAS."""

    points: float
    low: float
    high: float
    p_value: float

    @property
    def is_significant(self) -> bool:
        """Whether chance explains it in less than one case of twenty."""
        return self.p_value < SIGNIFICANT


@dataclass(frozen=True)
class Store:
    """All results by key, what is known of the treebanks, speeds, the printed figures, and what is missing."""

    runs: dict[str, Any]
    facts: dict[str, Any]
    speed: list[dict[str, Any]]  # measurements, with their rows
    printed: dict[str, Any]
    missing: dict[str, list[str]] = field(default_factory=dict)  # by reason: keys of runs, and speeds
    _differences: dict[tuple[str, str, str, str], Difference | None] = field(default_factory=dict, repr=False)

    @classmethod
    def read(cls, folder: Path) -> Store:
        """Read a folder of results."""
        runs = {path.stem: read_json(path) for path in sorted(folder.glob("*-*-*.json"))}
        facts = {treebank.code: read_json(folder / "treebanks" / f"{treebank.code}.json") for treebank in TREEBANKS}
        speed = read_json(folder / "speed.json") if (folder / "speed.json").exists() else []
        missing = read_json(folder / "missing.json") if (folder / "missing.json").exists() else {}
        return cls(runs, facts, speed, read_json(PRINTED), missing)

    def seeds(self, treebank: str, encoding: str, network: str = PAPER) -> list[Any]:
        """The runs of all seeds of a row."""
        keys = [f"{treebank}-{network}-{encoding}-{seed}" for seed in (1, 2, 3)]
        return [self.runs[key] for key in keys if key in self.runs]

    def scores(self, treebank: str, encoding: str, where: Where, metric: str, network: str = PAPER) -> list[Score]:
        """Of all seeds; `where` is split, source and decoder."""
        split, source, decoder = where
        return [
            Score(*run["scores"][split][source][decoder][metric]) for run in self.seeds(treebank, encoding, network)
        ]

    def accuracy(
        self, treebank: str, encoding: str, where: Where, metric: str = "LAS", network: str = PAPER
    ) -> Row | None:
        """F1 in percent, seed by seed; None where there is no run."""
        values = tuple(100 * score.f1 for score in self.scores(treebank, encoding, where, metric, network))
        return Row(values) if values else None

    def pooled(self, treebank: str, encoding: str, where: Where, metric: str, network: str = PAPER) -> Score:
        """The counts of all seeds together."""
        return sum(self.scores(treebank, encoding, where, metric, network), start=Score(0, 0, 0))

    def right_words(self, treebank: str, encoding: str, decoder: str, seeds: set[int]) -> Int64s:
        """For each test sentence, words with the right head and relation, of some seeds together; gold words."""
        runs = [run for run in self.seeds(treebank, encoding) if run["seed"] in seeds]
        return np.sum([unpack(run["right_by_sentence"][decoder]) for run in runs], axis=0)

    def gain(
        self,
        treebank: str,
        system: System,
        other: System,
        where: Where,
        metric: str = "LAS",
        other_where: Where | None = None,
    ) -> float | None:
        """By how many points one mean F1 is above another, over the seeds that both have."""
        one = self._by_seed(treebank, system, where, metric)
        two = self._by_seed(treebank, other, other_where or where, metric)
        shared = sorted(one.keys() & two.keys())
        return mean(one[seed] - two[seed] for seed in shared) if shared else None

    def _by_seed(self, treebank: str, system: System, where: Where, metric: str) -> dict[int, float]:
        network, encoding = system
        split, source, decoder = where
        return {
            run["seed"]: 100 * Score(*run["scores"][split][source][decoder][metric]).f1
            for run in self.seeds(treebank, encoding, network)
        }

    def difference(self, treebank: str, encoding: str, other: str, decoder: str) -> Difference | None:
        """A paired bootstrap over test sentences on the seeds that both have; computed once."""
        asked = (treebank, encoding, other, decoder)
        if asked not in self._differences:
            self._differences[asked] = self._difference(*asked)
        return self._differences[asked]

    def _difference(self, treebank: str, encoding: str, other: str, decoder: str) -> Difference | None:
        seeds = {run["seed"] for run in self.seeds(treebank, encoding)} & {
            run["seed"] for run in self.seeds(treebank, other)
        }
        if not seeds:
            return None
        gains = self.right_words(treebank, encoding, decoder, seeds) - self.right_words(treebank, other, decoder, seeds)
        words = len(seeds) * unpack(self.facts[treebank]["splits"]["test"]["lengths"])
        return bootstrap(gains, words)


def bootstrap(gains: Int64s, words: Int64s) -> Difference:
    """Draw sentences with replacement, and look at the difference each time; the same draws for everyone."""
    rng = np.random.default_rng(0)
    size, step = len(gains), max(1, 2_000_000 // len(gains))
    parts: list[Float64s] = []
    for start in range(0, RESAMPLES, step):
        drawn = rng.integers(size, size=(min(step, RESAMPLES - start), size))
        parts.append(100 * gains[drawn].sum(axis=1) / words[drawn].sum(axis=1))
    differences, observed = np.concatenate(parts), 100 * gains.sum() / words.sum()
    extreme = int((np.abs(differences - observed) >= abs(observed) - 1e-9).sum())
    low, high = np.quantile(differences, [0.025, 0.975]).tolist()
    return Difference(float(observed), low, high, (extreme + 1) / (RESAMPLES + 1))


def survive_holm(differences: Sequence[Difference]) -> list[Difference]:
    """Those that stay significant when it is considered that many were looked at (Holm 1979)."""
    kept = list[Difference]()
    for rank, one in enumerate(sorted(differences, key=lambda one: one.p_value)):
        if one.p_value >= SIGNIFICANT / (len(differences) - rank):
            break
        kept.append(one)
    return kept
