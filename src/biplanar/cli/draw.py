"""`biplanar draw`."""

from __future__ import annotations

import shutil
import sys
from typing import Annotated

import typer


def draw(
    file: Annotated[str, typer.Argument(help="Parsed CoNLL-U, also .gz, .xz or .bz2; - is standard input.")] = "-",
    only: Annotated[str | None, typer.Option(help="nonprojective: only sentences with such arcs.")] = None,
    first: Annotated[int | None, typer.Option(help="Stop after so many sentences.", min=1)] = None,
) -> None:
    """Draw trees in the terminal: plane 1 above the words, plane 2 below."""
    from itertools import islice

    from biplanar.conllu import read_conllu
    from biplanar.crossings import is_projective
    from biplanar.draw import draw_tree
    from biplanar.errors import UnknownNameError

    if only not in (None, "nonprojective"):
        raise UnknownNameError("filter", only or "", ["nonprojective"])
    chosen = (sentence for sentence in read_conllu(file) if only is None or not is_projective(sentence.tree))
    for sentence in islice(chosen, first):
        typer.echo(draw_tree(sentence.forms, sentence.tree, width=terminal_width(), colour=sys.stdout.isatty()))
        typer.echo()


def terminal_width() -> int | None:
    """How wide a picture may be; a file or pipe takes any width."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None
