"""Text in the cells of a terminal: how wide it is, where on a line it stands, and in which colour."""

from __future__ import annotations

import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from rich.cells import cell_len

UP, DOWN, LEFT, RIGHT = 1, 2, 4, 8
UPRIGHT, LEVEL = UP | DOWN, LEFT | RIGHT
BOXES = " ╵╷│╴┘┐┤╶└┌├─┴┬┼"  # by the sum of the directions in which a line leaves the cell

PLAIN, DIM = "", "2"
# Blue and orange are told apart with every common kind of colour blindness.
PLANE_STYLES = {0: PLAIN, 1: "38;5;33", 2: "38;5;208"}

# Control characters, line and paragraph separators and lone surrogates would break the lines, or the terminal.
_UNPRINTABLE = {"Cc", "Zl", "Zp", "Cs"}
_JOINER = "\u200d"
_LEFT_TO_RIGHT_MARK = "\u200e"  # takes no cell


class TextRun(NamedTuple):
    """Text of one style that stands at a column of a line."""

    column: int
    text: str
    style: str = PLAIN

    @property
    def end(self) -> int:
        """The first column behind the text."""
        return self.column + cell_len(self.text)


@dataclass(frozen=True)
class Texts:
    """What is written in a picture, word by word."""

    words: tuple[str, ...]
    relations: tuple[str, ...]
    rows: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(cls, words: Iterable[str], relations: Iterable[str], rows: Mapping[str, Sequence[str]]) -> Texts:
        """Make all text fit to print."""
        printable = {clean(name): tuple(map(clean, row)) for name, row in rows.items()}
        return cls(tuple(map(clean, words)), tuple(map(clean, relations)), printable)


def clean(text: str) -> str:
    """The text with a � for what cannot be printed on one line."""
    if text.isprintable():
        return text
    return "".join("�" if unicodedata.category(character) in _UNPRINTABLE else character for character in text)


def cut(text: str, width: int) -> str:
    """The text, or as much of its start as fits, with a … that says so."""
    if cell_len(text) <= width:
        return text
    if width <= 0:
        return ""
    end = bisect_left(range(len(text)), width, key=lambda end: cell_len(text[:end])) - 1
    return text[:end].rstrip(_JOINER) + "…"  # a joiner would draw the … into the character before


def cut_line(runs: Iterable[TextRun], width: int) -> list[TextRun]:
    """The runs of a line in their order, or as many as fit, again with a … for the rest."""
    line = sorted(run for run in runs if run.text)
    if not line or line[-1].end <= width:
        return line
    kept = [run for run in line if run.end < width]
    over = line[len(kept)]
    column = min(over.column, max(width - 1, 0))
    return [*kept, over._replace(column=column, text=cut(over.text + "…", width - column))]


def join_line(runs: Iterable[TextRun], *, colour: bool = False) -> str:
    """The runs of one line with the spaces between them."""
    groups = groupby(_with_spaces(runs), key=lambda run: run.style if colour else PLAIN)
    return "".join(_styled("".join(_kept_in_place(run.text) for run in group), style) for style, group in groups)


def _with_spaces(runs: Iterable[TextRun]) -> Iterator[TextRun]:
    column = 0
    for run in sorted(runs):
        if run.column > column:
            yield TextRun(column, " " * (run.column - column))
        yield run
        column = run.end


def _kept_in_place(text: str) -> str:
    """Marks around text that runs from right to left, or a terminal that turns such text would turn whole lines."""
    turned = not text.isascii() and any(unicodedata.bidirectional(character) in ("R", "AL") for character in text)
    return f"{_LEFT_TO_RIGHT_MARK}{text}{_LEFT_TO_RIGHT_MARK}" if turned else text


def _styled(text: str, style: str) -> str:
    return f"\x1b[{style}m{text}\x1b[0m" if style else text
