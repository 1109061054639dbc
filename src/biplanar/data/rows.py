"""Lines of CoNLL-U: their columns, and the same lines with other values in some."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from biplanar.errors import FormatError, LabelError

COLUMNS = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")
ID, FORM, LEMMA, UPOS, XPOS, FEATS, HEAD, DEPREL, DEPS, MISC = range(10)
EMPTY = "_"  # a column without a value

_NOT_IN_COLUMNS = re.compile("[\t\n\ud800-\udfff]")


def is_comment(line: str, keys: Sequence[str]) -> bool:
    """Whether a line is a comment `# key` or `# key = ...`."""
    return line.startswith("#") and line[1:].partition("=")[0].strip() in keys


def with_arc(row: str, head: int, deprel: str) -> str:
    """A row with another head and relation."""
    before = row.split("\t", HEAD)
    after = before.pop().split("\t", 2)[2]
    return "\t".join([*before, str(head), deprel, after])


def with_misc(row: str, key: str, value: str | None) -> str:
    """A row with `key=value` in its MISC, in the place of one with that key; None: without."""
    *before, misc = row.split("\t")
    items = [] if misc == "_" else [item for item in misc.split("|") if item.partition("=")[0] != key]
    if value is not None:
        items.append(f"{key}={value}")
    return "\t".join([*before, "|".join(items) or "_"])


def with_line_misc(line: str, key: str, by_id: Mapping[str, str]) -> str:
    """A line with `key=value` in its MISC, if there is a value for its ID."""
    row = bare(line)
    value = by_id.get(row.partition("\t")[0])
    return line if value is None or row.startswith("#") else line.replace(row, with_misc(row, key, value))


def renew(line: str, renewed: dict[str, str]) -> str:
    """A line with its row replaced, where it holds one that was renewed."""
    row = bare(line)
    return line.replace(row, renewed[row]) if row in renewed else line


def bare(line: str) -> str:
    """A line without what is no part of its columns: the rest of a Windows line end, a byte order mark."""
    return line.removesuffix("\r").lstrip("\ufeff")


def find_misfit(values: Sequence[str]) -> int | None:
    """The index of the first value that no column can hold: empty, or with a tab, a line end or a lone surrogate.

    Lone surrogates can be written in JSON, but not in UTF-8.
    """
    if all(values) and not _NOT_IN_COLUMNS.search("".join(values)):
        return None
    return next(at for at, value in enumerate(values) if not value or _NOT_IN_COLUMNS.search(value))


def check_column(name: str, values: Sequence[str]) -> None:
    """Raise an error at the first value that the column cannot hold."""
    if (at := find_misfit(values)) is not None:
        raise LabelError(f"value {at + 1}: {name} cannot be {values[at]!r}: it is empty or has tabs or line ends")


def check_comments(lines: Sequence[str]) -> None:
    """Raise an error at the first line that is no comment."""
    for number, line in enumerate(lines, 1):
        if not line.startswith("#"):
            raise FormatError("<words>", number, f"{line!r} is no comment: it does not begin with #")


def words_to_conllu(forms: Sequence[str], *, upos: Sequence[str] | None = None, comments: Sequence[str] = ()) -> str:
    """The text of a sentence of which only the words are known, and maybe their tags."""
    return "\n".join([*comments, *word_rows(forms, upos), "", ""])


def word_rows(forms: Sequence[str], upos: Sequence[str] | None = None) -> list[str]:
    """The lines of such a sentence's words."""
    if not forms:
        raise FormatError("<words>", 1, "a sentence needs at least one word")
    tags = upos or [EMPTY] * len(forms)
    for name, column in (("FORM", forms), ("UPOS", tags)):
        check_column(name, column)
    return [
        f"{i}\t{form}\t_\t{tag}\t_\t_\t_\t_\t_\t_" for i, (form, tag) in enumerate(zip(forms, tags, strict=True), 1)
    ]
