"""Lines of CoNLL-U: their columns, and what a column can hold."""

from __future__ import annotations

import re
from collections.abc import Sequence

from biplanar.errors import LabelError

COLUMNS = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")
ID, FORM, LEMMA, UPOS, XPOS, FEATS, HEAD, DEPREL, DEPS, MISC = range(10)
EMPTY = "_"  # a column without a value

_NOT_IN_COLUMNS = re.compile("[\t\n\ud800-\udfff]")  # lone surrogates can be written in JSON, but not in UTF-8


def bare(line: str) -> str:
    """A line without what is no part of its columns: the rest of a Windows line end, a byte order mark."""
    return line.removesuffix("\r").lstrip("\ufeff")


def find_misfit(values: Sequence[str]) -> int | None:
    """The index of the first value that no column can hold: empty, or with a tab, a line end or a lone surrogate."""
    if all(values) and not _NOT_IN_COLUMNS.search("".join(values)):
        return None
    return next(at for at, value in enumerate(values) if not value or _NOT_IN_COLUMNS.search(value))


def check_column(name: str, values: Sequence[str]) -> None:
    """Raise an error at the first value that the column cannot hold."""
    if (at := find_misfit(values)) is not None:
        raise LabelError(f"value {at + 1}: {name} cannot be {values[at]!r}: it is empty or has tabs or line ends")
