"""Files of words as sentences."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from biplanar.data.conllu import Sentence
from biplanar.data.files import read_lines
from biplanar.data.raw_text import numbered, split_horizontal, split_vertical


def read_horizontal(path: str | Path) -> Iterator[Sentence]:
    """One sentence a line, spaces between its words; empty lines are skipped."""
    return numbered(split_horizontal(line.strip(" \t\ufeff") for _, line in read_lines(path)))


def read_vertical(path: str | Path) -> Iterator[Sentence]:
    """One word a line (what follows a tab is ignored), an empty line after each sentence."""
    return numbered(split_vertical(line.strip(" \t\ufeff") for _, line in read_lines(path)))
