"""The tables of all parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchmarks.output import Numbers, Sheet
from benchmarks.parsers.stages import STAGES
from benchmarks.parsers.systems import UNIT

MEBIBYTE = 2**20


def sheets(results: Numbers) -> Iterator[Sheet]:
    """A table for each part that was measured."""
    if systems := results.get("systems"):
        yield from _system_sheets(systems, results["rounds"])
    if stages := results.get("stages"):
        yield _stages_sheet(stages)
    if workers := results.get("workers"):
        yield _workers_sheet(workers)


def _system_sheets(systems: Sequence[Numbers], rounds: int) -> Iterator[Sheet]:
    measured = [system for system in systems if system["not_measured"] is None]
    speeds = {system["name"]: system["words_per_second"]["best"] for system in measured}
    rows = [_system_row(system, speeds.get(UNIT)) for system in measured]
    columns = (
        *("system", "LAS", "UAS", "words/s", "(median)", "times UDPipe 1"),
        *("sentences/s", "load s", "memory MiB", "model MiB"),
    )
    note = f"Best of {rounds} rounds, processor time from file to file on one core, without loading."
    yield Sheet("Accuracy and speed", columns, rows, note)
    if len(measured) < len(systems):
        missing = [[one["name"], one["not_measured"]] for one in systems if one["not_measured"] is not None]
        yield Sheet("Not measured", ("system", "why"), missing)


def _system_row(system: Numbers, unit: float | None) -> list[str]:
    words, sentences = system["words_per_second"], system["sentences_per_second"]
    return [
        system["name"],
        f"{system['las']:.2f}",
        f"{system['uas']:.2f}",
        f"{words['best']:,.0f}",
        f"{words['median']:,.0f}",
        "–" if unit is None else f"{words['best'] / unit:.2f}",
        f"{sentences['best']:,.0f}",
        f"{system['load_seconds']:.2f}",
        f"{system['peak_memory'] / MEBIBYTE:,.0f}",
        f"{system['model_bytes'] / MEBIBYTE:.1f}",
    ]


def _stages_sheet(stages: Sequence[Numbers]) -> Sheet:
    rows = [
        [one["name"], *(f"{1e6 * one['seconds'][stage] / one['words']:.1f}" for stage in STAGES)]
        for one in stages
        if one["not_measured"] is None
    ]
    return Sheet("Stages", ("system", *STAGES), rows, "Microseconds a word, in the best round.")


def _workers_sheet(workers: Numbers) -> Sheet:
    columns = ("words", "one worker, s", "two, s", "times as fast")
    if workers["not_measured"] is not None:
        return Sheet("Workers", columns, [], f"Not measured: {workers['not_measured']}")
    cells = [f"{seconds:.2f}" for seconds in (*workers["best"].values(), workers["ratio"])]
    return Sheet("Workers", columns, [[f"{workers['words']:,}", *cells]])
