"""Results as tables, for the terminal and as Markdown, and as JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from biplanar.data.files import writing

Numbers = dict[str, Any]


def markdown_table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table; None is an empty cell."""
    lines = [columns, ["---"] * len(columns), *(["" if cell is None else str(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


WIDTH = 140  # of tables that do not go to a terminal


@dataclass(frozen=True)
class Sheet:
    """A table as text: the first column is aligned to the left and the others to the right."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""

    def to_rich(self) -> Table:
        """As a table for the terminal."""
        table = Table(title=self.title, title_justify="left", title_style="bold", caption=escape(self.note) or None)
        for number, column in enumerate(self.columns):
            table.add_column(column, justify="right" if number else "left", overflow="fold")
        for row in self.rows:
            table.add_row(*map(escape, row))
        return table


def show(sheets: Iterable[Sheet]) -> None:
    """Print tables."""
    console = Console(width=None if sys.stdout.isatty() else WIDTH)
    for sheet in sheets:
        console.print(sheet.to_rich())


def described(facts: Numbers) -> str:
    """Names and values in one line, without those that are not known."""
    return ", ".join(f"{name} {value}" for name, value in facts.items() if value is not None)


def keep(results: Numbers, path: str | Path | None) -> None:
    """Write results as JSON, where a file is given."""
    if path is not None:
        with writing(str(path)) as stream:
            stream.write(json.dumps(results, indent=1) + "\n")
