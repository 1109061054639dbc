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
from typing import Any

from biplanar.tagger.config import Config, read_config
from study.arcs import BOTH_SIDES, NETWORKS, Work, take_pending
from study.common import command, read_json
from study.plan import Run
from study.queue import RESULTS

CODES = ("hu", "eu", "en")
LIFTING = "+head"  # of crossing arcs, for encodings of projective trees
PROJECTIVE = ("4-bit", "hexatags", "arc-standard", "arc-eager", "arc-hybrid")
ENCODINGS = ("2p-full", "7-bit", "7-bit-full", "hierarchical", "covington", *(name + LIFTING for name in PROJECTIVE))
EPOCHS = {"hu": 80, "eu": 22, "en": 16}  # about 2,000 updates
BATCH_WORDS = {"en": 1600}
EVALUATIONS = 4
SEEDS = (1, 2)

# The columns of the tables: how scores are decoded.
DECODERS = {"greedy": "greedy", "labels": "search, labels alone", "search": "search, labels and arcs"}


@dataclass(frozen=True)
class ShortWork(Work):
    """The default configuration with a short schedule."""

    decoders: tuple[str, ...] = tuple(DECODERS)

    def config(self, run: Run) -> Config:
        """The settings of a run."""
        own = {
            "encoding": run.encoding,
            "training.epochs": str(EPOCHS[run.treebank]),
            "training.batch_words": str(BATCH_WORDS.get(run.treebank, 800)),
            "training.evaluations": str(EVALUATIONS),
            "training.segmenter_epochs": "0",
            **NETWORKS[run.network],
        }
        return read_config("accurate", own | dict(self.settings))


def plan() -> Iterator[Run]:
    """All runs."""
    for network, seed, code, encoding in product(("accurate", "pure"), SEEDS, CODES, ENCODINGS):
        yield Run(code, network, encoding, seed)


def tables(results: Path = RESULTS / "encodings", split: str = "test") -> str:
    """Scores as Markdown, means over seeds: LAS, then F1 of sentences and dependencies that are not projective."""
    return "\n\n".join(_table(results, split, metric) for metric in ("LAS", *BOTH_SIDES))


def _table(results: Path, split: str, metric: str) -> str:
    columns = [(code, decoder) for code in CODES for decoder in DECODERS]
    titles = (f"{code} {DECODERS[decoder]}" for code, decoder in columns)
    rows = [f"| {metric} | {' | '.join(titles)} |", "|" + "---|" * (1 + len(columns))]
    for encoding in ENCODINGS:
        means = (_mean(results, split, encoding, *column, metric) for column in columns)
        rows.append(f"| `{encoding}` | {' | '.join(means)} |")
    return "\n".join(rows)


def _mean(results: Path, split: str, encoding: str, code: str, decoder: str, metric: str) -> str:
    files = (results / f"{Run(code, 'accurate', encoding, seed).key}.json" for seed in (1, 2))
    found: list[Any] = [read_json(path)["scores"][split][decoder][metric] for path in files if path.exists()]
    values = [100 * one["f1"] if isinstance(one, dict) else one for one in found]
    return f"{sum(values) / len(values):.2f}" if values else "-"


def main(arguments: Sequence[str]) -> None:
    """Take the pending runs."""
    if list(arguments) == ["--show"]:
        print(tables())
    else:
        purpose = "Train and judge the default configuration with every encoding."
        take_pending("study.compare_encodings", purpose, arguments, plan(), ShortWork, RESULTS / "encodings")


if __name__ == "__main__":
    command(main, "compare_encodings")
