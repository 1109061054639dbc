"""Speed beside accuracy: Biplanar's models, runtimes and decoders, and other parsers, on one core.

python -m benchmarks.parsers GOLD.conllu -m NAME=FOLDER [-m ...] [--udpipe FILE] [--spacy FOLDER] [--supar FILE]
"""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from study.fingerprint import CODE, RELEASE, of_model

from benchmarks.arguments import ArgumentParser, at_least, names
from benchmarks.machine import machine, versions
from benchmarks.output import Numbers, keep, show
from benchmarks.parsers.command import measure_memory, measure_start, measure_workers
from benchmarks.parsers.gold import GoldFile
from benchmarks.parsers.picture import check_drawable, draw
from benchmarks.parsers.processes import MOST_SECONDS
from benchmarks.parsers.report import sheets
from benchmarks.parsers.rounds import measure_growth, measure_stages, measure_systems
from benchmarks.parsers.systems import (
    FASTEST,
    System,
    biplanar_systems,
    spacy_systems,
    supar_systems,
    udpipe_systems,
)
from biplanar.decoding import DECODERS, DEFAULT_DECODER
from biplanar.errors import BiplanarError, FileError
from biplanar.pipeline.loading import RUNTIMES
from biplanar.pipeline.model_folder import ModelFolder

PACKAGES = ("numpy", "numba", "onnxruntime", "torch", "ufal.udpipe", "spacy", "supar")

# The parser's default first, as it is measured with every runtime; the fastest runtime last, as it is measured with
# every decoder.
ALL_DECODERS = sorted(DECODERS, key=lambda name: name != DEFAULT_DECODER)
ALL_RUNTIMES = RUNTIMES[::-1]


@dataclass(frozen=True)
class BenchmarkConfig:
    """What is measured, and how often."""

    gold: GoldFile
    systems: Sequence[System]
    models: dict[str, str]  # folders by name
    rounds: int
    copies: int
    timeout: float


PARTS: dict[str, Callable[[BenchmarkConfig], Any]] = {
    "systems": lambda config: _results(
        measure_systems(config.gold, config.systems, config.rounds, config.timeout), config.rounds
    ),
    "stages": lambda config: _results(
        measure_stages(config.gold, config.systems, config.rounds, config.timeout), config.rounds
    ),
    "growth": lambda config: [
        measure_growth(config.gold, name, folder, timeout=config.timeout) for name, folder in config.models.items()
    ],
    "workers": lambda config: [
        measure_workers(config.gold, name, folder, config.rounds, config.copies)
        for name, folder in config.models.items()
    ],
    "memory": lambda config: [
        measure_memory(config.gold, name, folder, config.copies) for name, folder in config.models.items()
    ],
    "start": lambda config: measure_start(config.rounds),
}


def main() -> None:
    """Measure all parts, print their tables, and keep the numbers as JSON."""
    parser = _arguments()
    options = parser.parse_args()
    with parser.reporting():
        _check(options)
        models = _models(options.model)
        with GoldFile.opened(options.gold) as gold:
            config = BenchmarkConfig(
                gold, _systems(options, models), models, options.rounds, options.copies, options.timeout
            )
            results = _measure(config, options)
        show(sheets(results))
        if options.plot:
            draw(results["systems"], options.plot)


def _arguments() -> ArgumentParser:
    parser = ArgumentParser("benchmarks.parsers", __doc__)
    parser.add_argument("gold", help="CoNLL-U with the right trees")
    parser.add_argument(
        "-m", "--model", action="append", default=[], help="NAME=FOLDER, repeatable; if not given, the bundled model"
    )
    parser.add_argument("--udpipe", help="a model of UDPipe 1")
    parser.add_argument("--spacy", help="a pipeline of spaCy")
    parser.add_argument("--supar", help="a dependency parser of SuPar")
    parser.add_argument(
        "--runtimes",
        type=names("runtime", [*ALL_RUNTIMES, FASTEST]),
        help=f"of {','.join(ALL_RUNTIMES)},{FASTEST}; if not given, {FASTEST} for the bundled model and else all",
    )
    parser.add_argument(
        "--decoders", type=names("decoder", ALL_DECODERS), default=ALL_DECODERS, help=f"of {','.join(ALL_DECODERS)}"
    )
    parser.add_argument(
        "--every-pair",
        action="store_true",
        help="all decoders with all runtimes; else all with the last runtime, and the first with all",
    )
    parser.add_argument("--only", type=names("part", PARTS), default=list(PARTS), help=f"of {','.join(PARTS)}")
    parser.add_argument("--rounds", type=at_least(1), default=5, help="how often all systems take turns (5)")
    parser.add_argument(
        "--copies", type=at_least(2), default=100, help="how often workers and memory repeat the file (100)"
    )
    parser.add_argument(
        "--timeout",
        type=at_least(1),
        default=MOST_SECONDS,
        help=f"seconds that one run may take, but for workers, memory and start ({MOST_SECONDS})",
    )
    parser.add_argument("--json", help="write all numbers to this file, after each part")
    parser.add_argument("--plot", help="draw LAS over speed into this PNG, and an SVG beside it")
    return parser


def _check(options: Namespace) -> None:
    """Refuse now what would fail after minutes."""
    for path in (options.udpipe, options.spacy, options.supar):
        if path is not None:
            _check_exists(path)
    if options.plot:
        if "systems" not in options.only:
            raise BiplanarError(f"--plot shows what --only systems measures, found only {','.join(options.only)}")
        check_drawable(options.plot)


def _check_exists(path: str) -> None:
    if not Path(path).exists():
        raise FileError(f"{path}: no such file or folder")


def _models(given: Sequence[str]) -> dict[str, str]:
    """Folders by name; without any, the bundled model."""
    models: dict[str, str] = {}
    for item in given:
        name, equals, folder = item.partition("=")
        name, folder = (name, folder) if equals else (item.rstrip("/").rpartition("/")[2], item)
        if not (name and folder):
            raise BiplanarError(f"-m {item!r}: not of the form NAME=FOLDER")
        if name in models:
            raise BiplanarError(f"two models are named {name!r}")
        _check_exists(folder)
        models[name] = folder
    return models or {"bundled": str(ModelFolder.find().path)}


def _systems(options: Namespace, models: dict[str, str]) -> list[System]:
    runtimes = options.runtimes or (ALL_RUNTIMES if options.model else [FASTEST])
    ours = [
        system
        for name, folder in models.items()
        for system in biplanar_systems(name, folder, runtimes, options.decoders, every_pair=options.every_pair)
    ]
    peers = [*udpipe_systems(options.udpipe), *spacy_systems(options.spacy), *supar_systems(options.supar)]
    return [*ours, *peers]


def _measure(config: BenchmarkConfig, options: Namespace) -> Numbers:
    """All parts; what has been measured is kept after each."""
    counts = {"sentences": len(config.gold.sentences), "words": config.gold.words}
    results: Numbers = {
        "fingerprint": {"data": RELEASE, "code": CODE} if options.model else of_model(ModelFolder.find().path),
        "machine": machine(),
        "versions": versions(PACKAGES),
        "treebank": {"file": Path(options.gold).name, **counts},
        "rounds": config.rounds,
    }
    keep(results, options.json)
    for part in options.only:
        _tell(part)
        results[part] = PARTS[part](config)
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
