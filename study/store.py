"""The stored results, one file a study: means over seeds, pooled counts, and whether they are current."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from biplanar.evaluation import Score
from study.common import RESULTS, read_json, read_lines
from study.fingerprint import CODE, RELEASE, digest, part_of, settings_of
from study.plan import STUDIES, Run

BENCHMARKS = Path(__file__).parents[1] / "benchmarks" / "results"
PRINTED = Path(__file__).parent / "printed.json"

Where = tuple[str, str, str]  # split, source and decoder
Result = dict[str, Any]


def percent(value: Any) -> float:
    """F1 in percent of stored counts (correct, gold, system), or the percentage itself."""
    return 100 * Score(*value).f1 if isinstance(value, list) else float(value)


@dataclass(frozen=True)
class Seeds:
    """The same cell of all seeds, in percent."""

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
        return f"{self.mean:.2f}"


@dataclass(frozen=True)
class Store:
    """All results: of each study by key, sizes of the treebanks, printed figures, and other files by name."""

    studies: Mapping[str, Mapping[str, Result]]
    treebanks: Mapping[str, Any]
    printed: Mapping[str, Any]
    files: Mapping[str, Any]

    @classmethod
    def read(cls, study: Path = RESULTS, benchmarks: Path = BENCHMARKS) -> Store:
        """Read both folders of results."""
        studies = {name: read_lines(study / f"{name}.jsonl") for name in STUDIES}
        files = {path.stem: read_json(path) for folder in (study, benchmarks) for path in folder.glob("*.json")}
        return cls(studies, read_lines(study / "treebanks.jsonl"), read_json(PRINTED), files)

    def seeds(self, study: str, treebank: str, network: str, encoding: str) -> list[Result]:
        """The runs of all seeds of a cell."""
        keys = [Run(treebank, network, encoding, seed).key for seed in (1, 2, 3)]
        return [self.studies[study][key] for key in keys if key in self.studies[study]]

    def cell(
        self, study: str, treebank: str, network: str, encoding: str, where: Where, metric: str = "LAS"
    ) -> Seeds | None:
        """F1 in percent, seed by seed; None where there is none."""
        split, source, decoder = where
        found = [
            run["scores"][split][source].get(decoder, {}).get(metric)
            for run in self.seeds(study, treebank, network, encoding)
        ]
        values = tuple(percent(value) for value in found if value is not None)
        return Seeds(values) if values else None

    def scores(self, treebank: str, encoding: str, where: Where, metric: str, network: str = "paper") -> list[Score]:
        """Of all seeds of a cell of the study `paper`."""
        split, source, decoder = where
        runs = self.seeds("paper", treebank, network, encoding)
        return [Score(*run["scores"][split][source][decoder][metric]) for run in runs]

    def pooled(self, treebank: str, encoding: str, where: Where, metric: str, network: str = "paper") -> Score:
        """The counts of all seeds together."""
        return sum(self.scores(treebank, encoding, where, metric, network), start=Score(0, 0, 0))


@cache
def current_settings(study: str, run: Run, words: int) -> str:
    """The digest of the settings that a run has by today's plan."""
    return digest(settings_of(run.config(STUDIES[study].settings(run, words)).to_dict()))


def is_current(store: Store, study: str, result: Result, decoder: str) -> bool:
    """Whether a result was measured with today's data, settings and code."""
    run = Run(result["treebank"], result["network"], result["encoding"], result["seed"])
    words = store.treebanks[run.treebank]["splits"]["train"]["words"]
    found, part = result["fingerprint"], part_of(decoder, arcs=bool(result["settings"].get("network.arcs")))
    code: Mapping[str, int] = found["code"]
    return (
        found["data"] == RELEASE
        and found["settings"] == digest(result["settings"]) == current_settings(study, run, words)
        and all(code.get(name) == CODE[name] for name in ("network", part))
    )
