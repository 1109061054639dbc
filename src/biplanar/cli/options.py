"""Options that several commands have."""

from __future__ import annotations

import typer

_HELP = "Of the files that are read: utf-8, utf-16, latin-1, ... (any that Python knows)."

TEXT_ENCODING = typer.Option("--text-encoding", "--encoding", help=_HELP)
# For commands whose --encoding is that of the trees.
LONG_TEXT_ENCODING = typer.Option("--text-encoding", help=_HELP)


def split_names(names: str) -> list[str]:
    """Names with commas between."""
    return [name.strip() for name in names.split(",") if name.strip()]
