"""`biplanar stats`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rich.table import Table


def stats(
    treebank: Annotated[str, typer.Argument(help="Folder with *-train, *-dev and *-test CoNLL-U files.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Show non-projectivity, coverage and label sets of a treebank: the paper's tables for your own data."""
    from biplanar.evaluation.statistics import read_treebank, treebank_statistics

    numbers = treebank_statistics(read_treebank(treebank))
    if as_json:
        typer.echo(json.dumps(numbers, indent=2))
        return
    from rich.console import Console

    console = Console()
    for table in _tables(numbers):
        console.print(table)


def _tables(numbers: dict[str, Any]) -> list[Table]:
    tables = [_split_table(numbers)]
    if numbers["encodings"]:
        tables.append(_coverage_table(numbers["encodings"]))
    if any(numbers["label_sizes"].values()):
        tables.append(_label_table(numbers["label_sizes"], numbers["unseen_labels"]))
    return tables


def _table(title: str, *columns: str) -> Table:
    from rich.table import Table

    table = Table(title=title, title_justify="left", title_style="bold")
    for number, column in enumerate(columns):
        table.add_column(column, justify="right" if number else "left", no_wrap=not number)
    return table


def _split_table(numbers: dict[str, Any]) -> Table:
    table = _table("Sentences", "split", "sentences", "non-projective %")
    sizes = numbers["split_sizes"]
    for number, split in enumerate(("train", "dev", "test")):
        table.add_row(split, _cell(sizes[2 * number], "d"), _cell(sizes[2 * number + 1]))
    if numbers["nonprojectivity"]:
        sentences, arcs = numbers["nonprojectivity"]
        table.add_section()
        table.add_row("all", "", _cell(sentences))
        table.add_row("all arcs", "", _cell(arcs))
    return table


def _coverage_table(encodings: dict[str, dict[str, float | None]]) -> Table:
    names = ("encoding", "heads %", "before repair %", "sentences %", "plane 2 %")
    table = _table("Coverage of the training trees", *names)
    for name, row in encodings.items():
        table.add_row(name, *(_cell(value) for value in row.values()))
    return table


def _label_table(sizes: dict[str, Any], unseen: dict[str, Any]) -> Table:
    names = ("encoding", "plane 1", "plane 2", "relation", "unseen 1", "unseen 2", "unseen relation")
    table = _table("Labels of train and dev, and those of test unseen there", *names)
    for name, cells in sizes.items():
        missing = unseen[name] or [None, None, None]
        table.add_row(name, *(_cell(cell, "d") for cell in cells), *(_cell(cell and cell[0], "d") for cell in missing))
    return table


def _cell(value: float | None, form: str = ".2f") -> str:
    return "" if value is None else format(value, form)
