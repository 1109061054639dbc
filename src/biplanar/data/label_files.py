"""Files of labels, for taggers of any kind: a sentence's columns as tab-separated lines or as a line of JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from biplanar.data.conllu import find_misfit
from biplanar.data.files import UTF_8, display_name, read_lines
from biplanar.errors import FormatError, UnknownNameError

# A sentence's columns by name: form, upos (only where the encoding needs it), the encoding's tasks, deprel.
Columns = dict[str, list[str]]


_BRACKETS = re.compile(r"[<>/\\]+")


def _to_tsv(columns: Columns) -> str:
    return "".join("\t".join(fields) + "\n" for fields in zip(*columns.values(), strict=True)) + "\n"


def _from_tsv(path: str | Path, names: list[str], text_encoding: str) -> Iterator[Columns]:
    name, block, number = display_name(path), list[list[str]](), 0
    for number, line in read_lines(path, text_encoding):
        if line:
            fields = line.split("\t")
            if len(fields) != len(names):
                message = f"expected {len(names)} columns ({', '.join(names)}), found {len(fields)}"
                raise FormatError(name, number, message)
            block.append(fields)
        elif block:
            yield _turned(names, block, name, number - len(block))
            block = []
    if block:
        yield _turned(names, block, name, number + 1 - len(block))


def _turned(names: list[str], block: list[list[str]], path: str, line: int) -> Columns:
    columns = {name: list(column) for name, column in zip(names, zip(*block, strict=True), strict=True)}
    return _checked(columns, path, range(line, line + len(block)))


def _to_json(columns: Columns) -> str:
    return json.dumps(columns, ensure_ascii=False) + "\n"


def _from_json(path: str | Path, names: list[str], text_encoding: str) -> Iterator[Columns]:
    for number, line in read_lines(path, text_encoding):
        if line.strip():
            yield _checked_record(line, names, display_name(path), number)


def _checked_record(line: str, names: list[str], path: str, number: int) -> Columns:
    try:
        record: Any = json.loads(line)
    except (ValueError, RecursionError) as error:
        problem = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
        raise FormatError(path, number, f"expected a JSON object, found a line that is none: {problem}") from error
    columns: Columns = {}
    for name in names:
        values = record.get(name) if isinstance(record, dict) else record
        if not isinstance(values, list) or not values or not all(isinstance(value, str) for value in values):
            raise FormatError(path, number, f"expected a list of strings as {name!r}, found {values!r:.60}")
        columns[name] = values
        if len(values) != len(columns[names[0]]):
            wanted = len(columns[names[0]])
            raise FormatError(path, number, f"expected {wanted} values as {name!r}, found {len(values)}")
    return _checked(columns, path, [number] * len(columns[names[0]]))


def _checked(columns: Columns, path: str, lines: Sequence[int]) -> Columns:
    """Labels may be any text, but what is written as CoNLL-U must fit into a column there."""
    for name in ("form", "upos", "deprel"):
        values = columns.get(name, [])
        if (at := find_misfit(values)) is not None:
            message = f"expected text without tabs and line ends as {name!r}, found {values[at]!r}"
            raise FormatError(path, lines[at], message)
    _check_tags(columns.get("upos", []), path, lines)
    return columns


def _check_tags(tags: Sequence[str], path: str, lines: Sequence[int]) -> None:
    """Brackets are no tags: they come from a file of another encoding, which may have as many columns."""
    for at, tag in enumerate(tags):
        if _BRACKETS.fullmatch(tag):
            message = f"expected a part-of-speech tag as 'upos', found the brackets {tag!r} of another encoding"
            raise FormatError(path, lines[at], message)
    if "_" in tags:
        raise FormatError(path, lines[tags.index("_")], "expected a part-of-speech tag as 'upos', found '_'")


@dataclass(frozen=True)
class LabelLayout:
    """How the columns of a sentence are written and read."""

    write: Callable[[Columns], str]
    read: Callable[[str | Path, list[str], str], Iterator[Columns]]


LAYOUTS = {"tsv": LabelLayout(_to_tsv, _from_tsv), "jsonl": LabelLayout(_to_json, _from_json)}


def get_layout(name: str) -> LabelLayout:
    """The layout of that name."""
    if name not in LAYOUTS:
        raise UnknownNameError("layout", name, LAYOUTS)
    return LAYOUTS[name]


def read_labels(path: str | Path, names: list[str], layout: str, text_encoding: str = UTF_8) -> Iterator[Columns]:
    """The columns of these names, sentence by sentence; a file has one sentence at least."""
    sentences = get_layout(layout).read(path, names, text_encoding)
    first = next(sentences, None)
    if first is None:
        raise FormatError(display_name(path), 1, "expected at least one sentence, found an empty file")
    yield first
    yield from sentences
