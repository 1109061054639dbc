"""Which encoding is best? The default configuration with each of them, on three treebanks, with and without arcs.

    python -m study.compare_encodings DATA --device cuda --slots 16
    python -m study.compare_encodings DATA --only 'hu-*'
    python -m study.compare_encodings --show

DATA has a folder for each treebank: `train`, `dev` and `test.conllu.xz`. Each result is stored as
study/results/encodings/KEY.json; what is there is not run again. All encodings have the same schedule, which is shorter
than the package's (`EPOCHS`). With `--show`, the results are printed as the tables in docs/encodings.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from statistics import mean
from typing import Any

from biplanar.encodings import PROJECTIVE
from biplanar.tagger.config import Config, read_config
from study.arcs import BOTH_SIDES, NETWORKS, Work, take_pending
from study.common import command, read_json
from study.plan import Run
from study.queue import RESULTS
from study.tables import table

LIFTING = "+head"  # of crossing arcs, for encodings of projective trees
ENCODINGS = ("2p-full", "7-bit", "7-bit-full", "hierarchical", "covington", *(name + LIFTING for name in PROJECTIVE))
EPOCHS = {"hu": 80, "eu": 22, "en": 16}  # about 2,000 updates
BATCH_WORDS = {"en": 1600}
EVALUATIONS = 4
SEEDS = (1, 2)

LANGUAGES = {"hu": "Hungarian", "eu": "Basque", "en": "English"}

# The columns of the tables: a network, and how its scores are decoded.
COLUMNS = {
    "`pure`, greedy": ("pure", "greedy"),
    "`pure`, search": ("pure", "labels"),
    "greedy": ("accurate", "greedy"),
    "search of labels": ("accurate", "labels"),
    "search of labels and arcs": ("accurate", "search"),
}
SEARCHED = ("`pure`, search", "search of labels and arcs")
CROSSING = dict(zip(BOTH_SIDES, ("sentences", "dependencies"), strict=True))


@dataclass(frozen=True)
class ShortWork(Work):
    """The default configuration with a short schedule."""

    decoders: tuple[str, ...] = ("greedy", "labels", "search")

    def config(self, run: Run) -> Config:
        """The settings of a run."""
        own = {
            "encoding": run.encoding,
            "training.epochs": str(EPOCHS[run.treebank]),
            "training.batch_words": str(BATCH_WORDS.get(run.treebank, 800)),
            "training.evaluations": str(EVALUATIONS),
            "training.segmenter_epochs": "none",
            **NETWORKS[run.network],
        }
        return read_config("accurate", own | dict(self.settings))


def plan() -> Iterator[Run]:
    """All runs."""
    for network, seed, code, encoding in product(("accurate", "pure"), SEEDS, LANGUAGES, ENCODINGS):
        yield Run(code, network, encoding, seed)


@dataclass(frozen=True)
class Shown:
    """A column of a table: a title, and what is under it."""

    title: str
    network: str
    decoder: str
    codes: tuple[str, ...]  # of treebanks, to take the mean over
    metric: str = "LAS"

    def cell(self, results: Path, split: str, encoding: str) -> str:
        """The mean over treebanks and seeds, if there are results of each treebank."""
        means = [self._mean(results, split, encoding, code) for code in self.codes]
        known = [one for one in means if one is not None]
        return f"{mean(known):.2f}" if len(known) == len(means) else "-"

    def _mean(self, results: Path, split: str, encoding: str, code: str) -> float | None:
        files = (results / f"{Run(code, self.network, encoding, seed).key}.json" for seed in SEEDS)
        found: list[Any] = [
            read_json(path)["scores"][split][self.decoder][self.metric] for path in files if path.exists()
        ]
        return mean(100 * one["f1"] if isinstance(one, dict) else one for one in found) if found else None


def tables(results: Path = RESULTS / "encodings") -> dict[str, str]:
    """Means as Markdown: LAS on dev, by which to choose; LAS and F1 of what is not projective on test, by treebank."""
    dev = [Shown(title, *column, tuple(LANGUAGES)) for title, column in COLUMNS.items()]
    dev += [Shown(language, "accurate", "search", (code,)) for code, language in LANGUAGES.items()]
    return {"dev": _table(results, "dev", dev)} | {
        language: _table(results, "test", list(_of_treebank(code))) for code, language in LANGUAGES.items()
    }


def _of_treebank(code: str) -> Iterator[Shown]:
    for title, column in COLUMNS.items():
        yield Shown(title, *column, (code,))
    for (metric, name), title in product(CROSSING.items(), SEARCHED):
        yield Shown(f"{name}: {title}", *COLUMNS[title], (code,), metric)


def _table(results: Path, split: str, columns: Sequence[Shown]) -> str:
    rows = ([f"`{encoding}`", *(one.cell(results, split, encoding) for one in columns)] for encoding in ENCODINGS)
    return table(["encoding", *(one.title for one in columns)], rows)


def main(arguments: Sequence[str]) -> None:
    """Take the pending runs."""
    if list(arguments) == ["--show"]:
        print("\n\n".join(tables().values()))
    else:
        purpose = "Train and judge the default configuration with every encoding."
        take_pending("study.compare_encodings", purpose, arguments, plan(), ShortWork, RESULTS / "encodings")


if __name__ == "__main__":
    command(main, "compare_encodings")
