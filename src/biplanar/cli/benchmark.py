"""`biplanar benchmark`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from biplanar.benchmark.rounds import Treebank
    from biplanar.benchmark.systems import System

PARTS = ("systems", "stages", "growth", "workers", "memory", "start")


def benchmark(
    gold: Annotated[str, typer.Argument(help="CoNLL-U with the right trees.")],
    model: Annotated[
        list[str] | None, typer.Option("--model", "-m", help="NAME=FOLDER, repeatable; none: the embedded English.")
    ] = None,
    udpipe: Annotated[str | None, typer.Option(help="A model of UDPipe 1.")] = None,
    spacy: Annotated[str | None, typer.Option(help="A pipeline of spaCy.")] = None,
    supar: Annotated[str | None, typer.Option(help="A dependency parser of SuPar.")] = None,
    runtimes: Annotated[
        str | None, typer.Option(help="Of torch, onnx, int8, fastest; all three if models are named, else fastest.")
    ] = None,
    decoders: Annotated[
        str, typer.Option(help="The first is used with all runtimes.")
    ] = "search,minimum-risk,greedy,paper",
    every_pair: Annotated[
        bool, typer.Option("--every-pair", help="All decoders with all runtimes, and not with the last only.")
    ] = False,
    only: Annotated[str, typer.Option(help="What to measure.")] = ",".join(PARTS),
    rounds: Annotated[int, typer.Option(help="How often all systems take turns.", min=1)] = 5,
    copies: Annotated[
        int, typer.Option(help="How many times as long the file for workers and memory is.", min=2)
    ] = 100,
    timeout: Annotated[
        float, typer.Option(help="Seconds that one run may take, but for workers, memory and start.", min=1)
    ] = 1800,
    as_json: Annotated[str | None, typer.Option("--json", help="Keep all numbers in this file.")] = None,
    plot: Annotated[str | None, typer.Option(help="Draw LAS over speed into this PNG, and an SVG beside it.")] = None,
) -> None:
    """Measure speed beside accuracy: Biplanar's models, runtimes and decoders, and other parsers, on one core."""
    from pathlib import Path

    from biplanar.benchmark.machine import machine, versions
    from biplanar.benchmark.report import sheets
    from biplanar.benchmark.rounds import Treebank

    parts = _chosen("part", only, PARTS)
    models = _models(model or [])
    _check([*models.values(), udpipe, spacy, supar], parts, plot)
    runtimes = runtimes or ("torch,onnx,int8" if model else "fastest")
    systems = _systems(models, runtimes, decoders, every_pair) + _peers(udpipe, spacy, supar)
    with Treebank.opened(gold) as treebank:
        results: dict[str, Any] = {
            "machine": machine(),
            "versions": versions(),
            "treebank": {"file": Path(gold).name, "sentences": len(treebank.gold), "words": treebank.words},
            "rounds": rounds,
        }
        if as_json:
            _keep(results, as_json)
        for part in parts:
            results[part] = _measure(part, treebank, systems, models, rounds, copies, timeout)
            if as_json:
                _keep(results, as_json)
    _print(list(sheets(results)))
    if plot:
        from biplanar.benchmark.picture import draw

        draw(results["systems"], plot)


def _check(given: Sequence[str | None], parts: Sequence[str], plot: str | None) -> None:
    """Complain now of what would go wrong after minutes."""
    from pathlib import Path

    from biplanar.errors import BiplanarError, FileError

    for path in given:
        if path is not None and not Path(path).exists():
            raise FileError(f"{path}: no such file or folder")
    if plot:
        from biplanar.benchmark.picture import check_drawable

        if "systems" not in parts:
            raise BiplanarError(f"--plot shows what --only systems measures, found only {','.join(parts)}")
        check_drawable(plot)


def _measure(
    part: str,
    treebank: Treebank,
    systems: list[System],
    models: dict[str, str],
    rounds: int,
    copies: int,
    timeout: float,
) -> Any:
    from biplanar.benchmark.command import measure_memory, measure_start, measure_workers
    from biplanar.benchmark.rounds import measure_growth, measure_stages, measure_systems

    _tell(part)
    if part == "systems":
        return _collected(measure_systems(treebank, systems, rounds, timeout), rounds)
    if part == "stages":
        return _collected(measure_stages(treebank, systems, rounds, timeout), rounds)
    if part == "growth":
        return [measure_growth(treebank, name, folder, timeout=timeout) for name, folder in models.items()]
    if part == "workers":
        return [measure_workers(treebank, name, folder, rounds, copies) for name, folder in models.items()]
    if part == "memory":
        return [measure_memory(treebank, name, folder, copies) for name, folder in models.items()]
    return measure_start(rounds)


def _collected(records: Iterator[dict[str, Any]], rounds: int) -> list[dict[str, Any]]:
    """The results among the records; the others are told."""
    results = []
    for record in records:
        if "result" in record:
            results.append(record["result"])
        else:
            _tell(f"round {record['round']} of {rounds}: {record['system']}")
    return results


def _models(given: Sequence[str]) -> dict[str, str]:
    """Folders by name; without any, the model that ships inside."""
    from biplanar.benchmark.systems import embedded_model
    from biplanar.errors import BiplanarError

    models: dict[str, str] = {}
    for item in given:
        name, equals, folder = item.partition("=")
        name, folder = (name, folder) if equals else (item.rstrip("/").rpartition("/")[2], item)
        if not (name and folder):
            raise BiplanarError(f"expected NAME=FOLDER as a model, found {item!r}")
        if name in models:
            raise BiplanarError(f"expected models of different names, found two that are called {name!r}")
        models[name] = folder
    return models or {"embedded": embedded_model()}


def _systems(models: dict[str, str], runtimes: str, decoders: str, every_pair: bool) -> list[System]:
    from biplanar.benchmark.systems import DECODERS, FASTEST, RUNTIMES, biplanar_systems

    chosen = _chosen("runtime", runtimes, [*RUNTIMES, FASTEST])
    ways = _chosen("decoder", decoders, DECODERS)
    return [
        system
        for name, folder in models.items()
        for system in biplanar_systems(name, folder, chosen, ways, every_pair=every_pair)
    ]


def _peers(udpipe: str | None, spacy: str | None, supar: str | None) -> list[System]:
    from biplanar.benchmark.systems import spacy_systems, supar_systems, udpipe_systems

    return [*udpipe_systems(udpipe), *spacy_systems(spacy), *supar_systems(supar)]


def _chosen(kind: str, names: str, known: Sequence[str]) -> list[str]:
    from biplanar.errors import UnknownNameError

    chosen = list(dict.fromkeys(name.strip() for name in names.split(",")))
    for name in chosen:
        if name not in known:
            raise UnknownNameError(kind, name, known)
    return chosen


def _keep(results: dict[str, Any], path: str) -> None:
    from biplanar.data.files import writing

    with writing(path) as stream:
        stream.write(json.dumps(results, indent=1) + "\n")


def _print(tables: Sequence[Any]) -> None:
    import sys

    from rich.console import Console

    console = Console(width=None if sys.stdout.isatty() else 140)
    for table in tables:
        console.print(table.to_rich())


def _tell(what: str) -> None:
    typer.echo(f"biplanar: {what}", err=True)
