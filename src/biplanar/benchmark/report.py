"""What was measured as tables: for the terminal, and as Markdown for a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from biplanar.benchmark.command import median_seconds
from biplanar.benchmark.stages import STAGES

if TYPE_CHECKING:
    from rich.table import Table

Numbers = dict[str, Any]

MEBIBYTE = 2**20


@dataclass(frozen=True)
class Sheet:
    """A table before it is drawn: text in all cells, the first column to the left and the others to the right."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""

    def to_markdown(self) -> str:
        """As a page has it."""
        lines = [f"| {' | '.join(row)} |" for row in (self.columns, *self.rows)]
        lines.insert(1, "|---|" + "---:|" * (len(self.columns) - 1))
        return "\n".join([f"### {self.title}", "", *lines, "", *([self.note, ""] if self.note else [])])

    def to_rich(self) -> Table:
        """As a terminal has it."""
        from rich.table import Table

        table = Table(title=self.title, title_justify="left", title_style="bold", caption=self.note or None)
        for number, column in enumerate(self.columns):
            table.add_column(column, justify="right" if number else "left", overflow="fold")
        for row in self.rows:
            table.add_row(*row)
        return table


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
    machine = ", ".join(f"{name} {value}" for name, value in results["machine"].items())
    versions = ", ".join(f"{name} {value}" for name, value in results["versions"].items() if value)
    counts = f"{treebank['sentences']:,} sentences, {treebank['words']:,} words"
    head = f"`{treebank['file']}`: {counts}. {results['rounds']} rounds. {machine}. {versions}."
    return "\n".join([head, "", *(sheet.to_markdown() for sheet in sheets(results))])


def _system_sheets(systems: Sequence[Numbers], rounds: int) -> Iterator[Sheet]:
    measured = [system for system in systems if system["not_measured"] is None]
    columns = ("system", "LAS", "UAS", "words/s", "(median)", "sentences/s", "load s", "memory MiB", "model MiB")
    note = f"Best of {rounds} rounds, file to file, one core; without loading." if measured else ""
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
    best = min(run["seconds"] for run in start["runs"])
    row = [start["text"], f"{best:.2f}", f"{median_seconds(start['runs']):.2f}"]
    return Sheet("From start to answer", columns, [row])


def _reasons(parts: Sequence[Numbers]) -> str:
    """Why some were not measured."""
    missing = [one for one in parts if one["not_measured"] is not None]
    return " ".join(
        f"Not measured: {one.get('name') or one.get('model') or 'the command'} ({one['not_measured']})."
        for one in missing
    )
