"""The tables of all parts, and a page of them as Markdown."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence

from benchmarks.output import Numbers, Sheet, described
from benchmarks.parsers.stages import STAGES

MEBIBYTE = 2**20


def sheets(results: Numbers) -> Iterator[Sheet]:
    """A table for each part that was measured."""
    if systems := results.get("systems"):
        yield from _system_sheets(systems, results["rounds"])
    if stages := results.get("stages"):
        yield _stages_sheet(stages)
    if growth := results.get("growth"):
        yield _growth_sheet(growth)
    if workers := results.get("workers"):
        yield _workers_sheet(workers)
    if memory := results.get("memory"):
        yield _memory_sheet(memory)
    if start := results.get("start"):
        yield _start_sheet(start)


def to_markdown(results: Numbers) -> str:
    """All tables, after what they were measured on."""
    treebank = results["treebank"]
    counts = f"{treebank['sentences']:,} sentences, {treebank['words']:,} words"
    head = f"`{treebank['file']}`: {counts}. {results['rounds']} rounds. {described(results['machine'])}."
    head = f"{head} {described(results['versions'])}."
    return "\n".join([head, "", *(sheet.to_markdown() for sheet in sheets(results))])


def _system_sheets(systems: Sequence[Numbers], rounds: int) -> Iterator[Sheet]:
    measured = [system for system in systems if system["not_measured"] is None]
    columns = ("system", "LAS", "UAS", "words/s", "(median)", "sentences/s", "load s", "memory MiB", "model MiB")
    note = (
        f"Best of {rounds} rounds, processor time from file to file on one core, without loading." if measured else ""
    )
    yield Sheet("Accuracy and speed", columns, [_system_row(system) for system in measured], note)
    if len(measured) < len(systems):
        missing = [[one["name"], one["not_measured"]] for one in systems if one["not_measured"] is not None]
        yield Sheet("Not measured", ("system", "why"), missing)


def _system_row(system: Numbers) -> list[str]:
    words, sentences, size = system["words_per_second"], system["sentences_per_second"], system["model_bytes"]
    return [
        system["name"],
        f"{system['las']:.2f}",
        f"{system['uas']:.2f}",
        f"{words['best']:,.0f}",
        f"{words['median']:,.0f}",
        f"{sentences['best']:,.0f}",
        f"{system['load_seconds']:.2f}",
        f"{system['peak_memory'] / MEBIBYTE:,.0f}",
        "" if size is None else f"{size / MEBIBYTE:.1f}",
    ]


def _stages_sheet(stages: Sequence[Numbers]) -> Sheet:
    measured = [one for one in stages if one["not_measured"] is None]
    rows = [
        [one["name"], *(f"{1e6 * one['seconds'][stage] / one['words']:.1f}" for stage in STAGES)] for one in measured
    ]
    note = " ".join(["Microseconds a word, in the best round.", *filter(None, [_reasons(stages)])])
    return Sheet("Stages", ("system", *STAGES), rows, note)


def _growth_sheet(growth: Sequence[Numbers]) -> Sheet:
    measured = [one for one in growth if one["not_measured"] is None]
    lengths = [row["words"] for row in measured[0]["lengths"]] if measured else []
    columns = ("words", *(f"{one['model']}, {what}" for one in measured for what in ("ms", "slowest", "µs/word")))
    rows = []
    for number, length in enumerate(lengths):
        cells = [_growth_cells(one["lengths"][number]) for one in measured]
        rows.append([f"{length:,}", *(cell for group in cells for cell in group)])
    return Sheet("Growth with the length of a sentence", columns, rows, _reasons(growth))


def _growth_cells(row: Numbers) -> list[str]:
    median, slowest = 1000 * row["median"], 1000 * row["slowest"]
    return [f"{median:,.1f}", f"{slowest:,.1f}", f"{1000 * median / row['words']:,.0f}"]


def _workers_sheet(workers: Sequence[Numbers]) -> Sheet:
    rows = [
        [
            one["model"],
            f"{one['words']:,}",
            *(f"{seconds:.2f}" for seconds in one["best"].values()),
            f"{one['ratio']:.2f}",
        ]
        for one in workers
        if one["not_measured"] is None
    ]
    columns = ("`biplanar parse --workers`", "words", "1: s", "2: s", "times as fast")
    return Sheet("Workers", columns, rows, _reasons(workers))


def _memory_sheet(memory: Sequence[Numbers]) -> Sheet:
    rows = [
        [
            one["model"],
            str(one["copies"]),
            *("?" if peak is None else f"{peak / MEBIBYTE:,.0f}" for peak in one["peak_memory"].values()),
            "?" if one["ratio"] is None else f"{one['ratio']:.2f}",
        ]
        for one in memory
        if one["not_measured"] is None
    ]
    columns = ("`biplanar parse`", "copies", "one, MiB", "all, MiB", "times as much")
    return Sheet("Memory on a long file", columns, rows, _reasons(memory))


def _start_sheet(start: Numbers) -> Sheet:
    columns = ("`biplanar parse --text`", "best s", "median s")
    if start["not_measured"] is not None:
        return Sheet("From start to answer", columns, [], _reasons([start]))
    seconds = [run["seconds"] for run in start["runs"]]
    row = [start["text"], f"{min(seconds):.2f}", f"{statistics.median(seconds):.2f}"]
    return Sheet("From start to answer", columns, [row])


def _reasons(parts: Sequence[Numbers]) -> str:
    """Why some were not measured."""
    missing = [one for one in parts if one["not_measured"] is not None]
    return " ".join(
        f"Not measured: {one.get('name') or one.get('model') or 'the command'} ({one['not_measured']})."
        for one in missing
    )
