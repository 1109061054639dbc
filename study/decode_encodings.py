"""The encodings by what decodes them now: LAS on dev, words a second, and the size of the network.

    python -m study.decode_encodings DATA SCORES
    python -m study.decode_encodings --show

DATA is as for `study.compare_encodings`, SCORES what its networks say (`--scores`): of dev files by the second seed,
and of the Hungarian one also by the `pure` networks of the first. Speed is measured on Hungarian, on one core: all
encodings take turns, and it is processor time that counts, the best of several rounds. Networks are in int8, with
random weights, on which their speed does not depend. The numbers are stored as study/results/encodings-decoded.json.
"""

from __future__ import annotations

import os
import tempfile
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.machine import ONE_THREAD, machine, use_one_core, versions

os.environ.update(ONE_THREAD)  # before the libraries below are imported

import numpy as np
from benchmarks.timing import best_times

from biplanar.data.conllu import Sentence, read_conllu
from biplanar.data.forest import Forest
from biplanar.decoding.inventory import LabelInventory, Weights
from biplanar.decoding.scores import Scores
from biplanar.decoding.tree_decoder import Parsed
from biplanar.pipeline.model_folder import ModelFolder
from biplanar.pipeline.parser import Parser
from biplanar.pipeline.tuning import ScoredTreebank
from study.arcs import TREES, decoders_of, metrics_of, with_trees
from study.common import command, read_json, write_json
from study.compare_encodings import COLUMNS, ENCODINGS, LANGUAGES, ShortWork
from study.plan import Run
from study.queue import RESULTS
from study.speed import Scoring, load_exported
from study.stored_scores import read_scores
from study.tables import table

TIMED = "hu"
SEEDS = {"accurate": 2, "pure": 1}
STORED = RESULTS / "encodings-decoded.json"
PACKAGES = ("numba", "numpy", "onnxruntime", "torch")


@dataclass(frozen=True)
class Recorded:
    """What a network says of a dev file."""

    gold: list[Sentence]
    scores: Scores
    inventory: LabelInventory
    weights: Weights  # chosen on it

    @classmethod
    def of(cls, data: Path, scores: Path, run: Run) -> Recorded:
        """Read the scores of a run."""
        gold = list(read_conllu(data / run.treebank / "dev.conllu.xz"))
        stored, inventory = read_scores(scores / run.key / "dev.npz")
        words = np.arange(stored.offsets[-1])
        weights = ScoredTreebank(inventory, Forest.from_sentences(gold), [(words, stored)]).choose_arc_weight()
        return cls(gold, stored, inventory, weights)

    def decode(self, decoder: str) -> Callable[[], Parsed]:
        """What finds the trees."""
        return partial(decoders_of(self.inventory, self.weights)[decoder].decode, self.scores)

    def las(self, decoder: str) -> float:
        """How good the trees are."""
        found: float = metrics_of(self.gold, with_trees(self.gold, self.decode(decoder)(), self.inventory), TREES)[
            "LAS"
        ]
        return found


def measure(data: Path, scores: Path, rounds: int) -> dict[str, Any]:
    """LAS, speed and size by encoding."""
    found: dict[str, dict[str, Any]] = {encoding: {"las": {}, "words_per_second": {}} for encoding in ENCODINGS}
    tasks: dict[tuple[str, str], Callable[[], Any]] = {}
    sentences = list(read_conllu(data / TIMED / "dev.conllu.xz"))
    with tempfile.TemporaryDirectory() as folder:
        for encoding, row in found.items():
            runs = {code: Run(code, "accurate", encoding, SEEDS["accurate"]) for code in LANGUAGES}
            recorded = {code: Recorded.of(data, scores, run) for code, run in runs.items()}
            row["las"] = {code: one.las("search") for code, one in recorded.items()}
            pure = Recorded.of(data, scores, Run(TIMED, "pure", encoding, SEEDS["pure"]))
            for title, (network, decoder) in COLUMNS.items():
                tasks[encoding, title] = (recorded[TIMED] if network == "accurate" else pure).decode(decoder)
            parser = _untrained(data, encoding, Path(folder) / encoding)
            row |= _size(parser)
            tasks[encoding, "network"] = Scoring(parser, sentences)
        use_one_core()
        best = best_times({f"{encoding} {what}": task for (encoding, what), task in tasks.items()}, rounds)
    for encoding, what in tasks:
        rate = sum(map(len, sentences)) / best[f"{encoding} {what}"]
        found[encoding]["words_per_second"][what] = round(rate)
    return {"encodings": found, "machine": machine(), "versions": versions(PACKAGES), "rounds": rounds}


def _untrained(data: Path, encoding: str, folder: Path) -> Parser:
    """The default configuration with random weights."""
    from biplanar.tagger.training import Trainer
    from study.run import keep_model

    work = ShortWork(data, folder, "cpu", None, None, {})
    train, dev = (list(read_conllu(data / TIMED / f"{name}.conllu.xz")) for name in ("train", "dev"))
    trainer = Trainer(work.config(Run(TIMED, "accurate", encoding, 1)), train, dev, seed=1, device="cpu")
    keep_model(trainer, ModelFolder(folder))
    return load_exported(folder, "cpu", "int8")


def _size(parser: Parser) -> dict[str, int]:
    names = parser.inventory.names
    return {
        "labels": sum(len(names[task]) for task in parser.encoding.tasks),
        "relations": len(names["deprel"]),
        "bytes": sum(path.stat().st_size for path in parser.folder.int8.iterdir()),
    }


def tables(results: dict[str, Any]) -> dict[str, str]:
    """The numbers as Markdown."""
    rows: dict[str, Any] = results["encodings"]

    def accuracy() -> Iterator[list[object]]:
        for encoding, row in rows.items():
            las = [row["las"][code] for code in LANGUAGES]
            yield [f"`{encoding}`", *(f"{one:.2f}" for one in (sum(las) / len(las), *las))]

    def speed() -> Iterator[list[object]]:
        for encoding, row in rows.items():
            rates = (f"{row['words_per_second'][what]:,}" for what in ("network", *COLUMNS))
            yield [f"`{encoding}`", row["labels"], row["relations"], f"{row['bytes'] / 1e6:.1f}", *rates]

    return {
        "accuracy": table(["encoding", "mean", *LANGUAGES.values()], accuracy()),
        "speed": table(["encoding", "labels", "relations", "MB", "network", *COLUMNS], speed()),
    }


def main(arguments: Sequence[str]) -> None:
    """Measure and store, or show what is stored."""
    parser = ArgumentParser(prog="python -m study.decode_encodings", description="Decode and time stored scores.")
    parser.add_argument("data", type=Path, nargs="?")
    parser.add_argument("scores", type=Path, nargs="?")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--show", action="store_true", help="print the stored results as tables")
    given = parser.parse_args(arguments)
    if given.scores is not None:
        write_json(measure(given.data, given.scores, given.rounds), STORED)
    elif not given.show:
        parser.error("expected DATA and SCORES, or --show")
    if given.show:
        print("\n\n".join(tables(read_json(STORED)).values()))


if __name__ == "__main__":
    command(main, "decode_encodings")
