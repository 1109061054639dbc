"""Speed beside accuracy: the bundled model, other models of Biplanar, and other parsers, on one core.

    python -m benchmarks.parsers GOLD.conllu [-m NAME=FOLDER ...] [--udpipe FILE] [--spacy FOLDER] [--supar FILE]

The bundled model is measured with each decoder, others in int8 with the search unless more is named:
`-m accurate=FOLDER,onnx,torch,greedy`. Then models are timed stage by stage, and the bundled one with two workers.
"""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path

from study.fingerprint import of_model

from benchmarks.arguments import ArgumentParser, at_least
from benchmarks.machine import machine, versions
from benchmarks.output import Numbers, keep, show
from benchmarks.parsers.command import measure_workers
from benchmarks.parsers.gold import GoldFile
from benchmarks.parsers.picture import check_drawable, draw
from benchmarks.parsers.report import sheets
from benchmarks.parsers.rounds import measure_stages, measure_systems
from benchmarks.parsers.systems import System, biplanar_systems, spacy_systems, supar_systems, udpipe_systems
from biplanar.decoding import DECODERS
from biplanar.errors import BiplanarError, FileError, check_name
from biplanar.pipeline.loading import RUNTIMES
from biplanar.pipeline.model_folder import ModelFolder

PACKAGES = ("numpy", "numba", "onnxruntime", "torch", "ufal.udpipe", "spacy", "supar")

BUNDLED = "bundled"


def main() -> None:
    """Measure all parts, print their tables, and keep the numbers as JSON."""
    parser = _arguments()
    options = parser.parse_args()
    with parser.reporting():
        for path in filter(None, (options.udpipe, options.spacy, options.supar)):
            _check_exists(path)
        if options.plot:
            check_drawable(options.plot)
        bundled = ModelFolder.find().path
        systems = _systems(options, bundled)
        with GoldFile.opened(options.gold) as gold:
            results = _measure(gold, systems, bundled, options)
        show(sheets(results))
        if options.plot:
            draw(results["systems"], options.plot)


def _arguments() -> ArgumentParser:
    parser = ArgumentParser("benchmarks.parsers", __doc__)
    parser.add_argument("gold", help="CoNLL-U with the right trees")
    parser.add_argument(
        *("-m", "--model"),
        action="append",
        default=[],
        metavar="NAME=FOLDER",
        help=f"repeatable; with more of {','.join(RUNTIMES)},{','.join(DECODERS)} after the folder and a comma",
    )
    parser.add_argument("--udpipe", help="a model of UDPipe 1")
    parser.add_argument("--spacy", help="a pipeline of spaCy")
    parser.add_argument("--supar", help="a dependency parser of SuPar")
    parser.add_argument("--rounds", type=at_least(1), default=5, help="how often all systems take turns (5)")
    parser.add_argument("--copies", type=at_least(2), default=100, help="of the file, for workers (100)")
    parser.add_argument("--json", help="write all numbers to this file, after each part")
    parser.add_argument("--plot", help="draw LAS over speed into this PNG, and an SVG beside it")
    return parser


def _check_exists(path: str) -> None:
    if not Path(path).exists():
        raise FileError(f"{path}: no such file or folder")


def _systems(options: Namespace, bundled: Path) -> list[System]:
    systems = biplanar_systems(BUNDLED, str(bundled), DECODERS)
    families = {BUNDLED}
    for item in options.model:
        name, _, rest = item.partition("=")
        folder, *more = rest.split(",")
        if not (name and folder):
            raise BiplanarError(f"-m {item!r}: not of the form NAME=FOLDER")
        if name in families:
            raise BiplanarError(f"two models are named {name!r}")
        for one in more:
            check_name("runtime or decoder", one, [*RUNTIMES, *DECODERS])
        _check_exists(folder)
        families.add(name)
        systems += biplanar_systems(name, folder, more)
    return [
        *systems,
        *udpipe_systems(options.udpipe),
        *spacy_systems(options.spacy),
        *supar_systems(options.supar),
    ]


def _measure(gold: GoldFile, systems: Sequence[System], bundled: Path, options: Namespace) -> Numbers:
    """All parts; what has been measured is kept after each."""
    rounds = options.rounds
    results: Numbers = {
        "fingerprint": of_model(bundled),
        "machine": machine(),
        "versions": versions(PACKAGES),
        "treebank": {"file": Path(options.gold).name, "sentences": len(gold.sentences), "words": gold.words},
        "rounds": rounds,
    }
    keep(results, options.json)
    results["systems"] = _results(measure_systems(gold, systems, rounds), rounds)
    keep(results, options.json)
    results["stages"] = _results(measure_stages(gold, systems, rounds), rounds)
    _tell("workers")
    results["workers"] = measure_workers(gold, bundled, rounds, options.copies)
    keep(results, options.json)
    return results


def _results(records: Iterator[Numbers], rounds: int) -> list[Numbers]:
    """The results among the records; the others are progress."""
    results = []
    for record in records:
        if "result" in record:
            results.append(record["result"])
        else:
            _tell(f"round {record['round']} of {rounds}: {record['system']}")
    return results


def _tell(progress: str) -> None:
    print(progress, file=sys.stderr)


if __name__ == "__main__":
    main()
