"""Tables for the terminal that can be read at 80 columns: what does not fit is wrapped, and never cut."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table


def new_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]] = ()) -> Table:
    """A table: names to the left, numbers to the right."""
    from rich.box import SIMPLE_HEAD
    from rich.cells import cell_len
    from rich.markup import escape
    from rich.table import Table

    table = Table(
        title=title,
        title_justify="left",
        title_style="bold",
        box=SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        collapse_padding=True,
        min_width=cell_len(title),  # so that it stays on one line
    )
    for number, column in enumerate(columns):
        table.add_column(column, justify="right" if number else "left", overflow="fold")
    for row in rows:
        table.add_row(*map(escape, row))
    return table


def cell(value: float | None, form: str = ".2f") -> str:
    """A number as text; None is empty."""
    return "" if value is None else format(value, form)


def show(*tables: Table) -> None:
    """Print tables one under the other."""
    from rich.console import Console

    console = Console()
    for number, table in enumerate(tables):
        console.print(*([""] if number else []), table, sep="\n")
