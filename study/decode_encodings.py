"""The encodings by what decodes them now: LAS on dev, words a second, and the size of the network.

    python -m study.decode_encodings DATA MODELS

MODELS holds the models that `study.run --study encodings --models MODELS` has kept: the second seed of `accurate` is
judged on dev. Speed is measured on Hungarian, also of `pure`, on one core: all encodings take turns, and processor time
counts, the best of several rounds. The numbers are stored as study/results/encodings-decoded.json.
"""

from __future__ import annotations

import os
from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.machine import ONE_THREAD, machine, use_one_core, versions

os.environ.update(ONE_THREAD)  # before the libraries below are imported

from benchmarks.timing import best_times

import biplanar
from biplanar import Parser, Sentence
from biplanar.pipeline.tuning import ScoredTreebank
from study.common import RESULTS, command, write_json
from study.fingerprint import CODE
from study.plan import COMPARED, COMPARED_CODES, Run
from study.speed import PACKAGES, Scoring, load_exported
from study.store import percent
from study.tables import ENCODING_COLUMNS
from study.training import choose_arc_weight, counts, parse, read

TIMED = "hu"
SEEDS = {"accurate": 2, "pure": 1}


def measure(data: Path, models: Path, rounds: int) -> dict[str, Any]:
    """LAS, speed and size by encoding."""
    dev = {code: read(data / code / "dev.conllu.xz") for code in COMPARED_CODES}
    found: dict[str, dict[str, Any]] = {}
    tasks: dict[tuple[str, str], Callable[[], object]] = {}
    for encoding in COMPARED:
        parsers = {code: _load(models, code, "accurate", encoding, dev[code]) for code in COMPARED_CODES}
        las = {
            code: percent(counts(dev[code], parse(one, dev[code], "search"))["LAS"]) for code, one in parsers.items()
        }
        pure = _load(models, TIMED, "pure", encoding, dev[TIMED])
        for column in ENCODING_COLUMNS:
            parser = pure if column.networks == ("pure",) else parsers[TIMED]
            tasks[encoding, column.title] = Decoding(parser, dev[TIMED], column.decoder)
        exported = load_exported(models / Run(TIMED, "accurate", encoding, SEEDS["accurate"]).key, "cpu", "int8")
        tasks[encoding, "network"] = Scoring(exported, dev[TIMED])
        found[encoding] = {"las": las, "words_per_second": {}, **_size(exported)}
    use_one_core()
    best = best_times({f"{encoding} {what}": task for (encoding, what), task in tasks.items()}, rounds)
    for encoding, what in tasks:
        rate = sum(map(len, dev[TIMED])) / best[f"{encoding} {what}"]
        found[encoding]["words_per_second"][what] = round(rate)
    known = {"machine": machine(), "versions": versions(PACKAGES), "rounds": rounds}
    return {"fingerprint": {"code": CODE}, "encodings": found, **known}


def _load(models: Path, code: str, network: str, encoding: str, dev: list[Sentence]) -> Parser:
    parser = biplanar.load(models / Run(code, network, encoding, SEEDS[network]).key, runtime="torch")
    if network == "accurate":
        choose_arc_weight(parser, dev)
    return parser


class Decoding:
    """From scores, computed once, to trees."""

    def __init__(self, parser: Parser, sentences: list[Sentence], decoder: str) -> None:
        inventory = parser.inventory
        if decoder == "labels":
            inventory, decoder = replace(inventory, weights=replace(inventory.weights, arcs=0.0)), "search"
        self._decoder = biplanar.ParseOptions(decoder=decoder).tree_decoder(inventory)
        self._parts = ScoredTreebank.of(parser.scorer, inventory, sentences, parser.batch_words).parts

    def __call__(self) -> None:
        """Decode all sentences."""
        for _, scores in self._parts:
            self._decoder.decode(scores)


def _size(parser: Parser) -> dict[str, int]:
    names = parser.inventory.names
    return {
        "labels": sum(len(names[task]) for task in parser.encoding.tasks),
        "relations": len(names["deprel"]),
        "bytes": sum(path.stat().st_size for path in parser.folder.int8.iterdir()),
    }


def main(arguments: Sequence[str]) -> None:
    """Measure and store."""
    parser = ArgumentParser(prog="python -m study.decode_encodings", description="Decode and time all encodings.")
    parser.add_argument("data", type=Path, help="what study.prepare has written")
    parser.add_argument("models", type=Path, help="what study.run --models has kept")
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args(arguments)
    write_json(measure(given.data, given.models, given.rounds), RESULTS / "encodings-decoded.json")


if __name__ == "__main__":
    command(main, "decode_encodings")
