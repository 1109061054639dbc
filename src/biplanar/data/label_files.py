"""Files of labels, for taggers of any kind: a sentence's columns as tab-separated lines or as a line of JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from biplanar.data.conllu import find_misfit
from biplanar.data.files import UTF_8, display_name, read_lines
from biplanar.errors import FormatError, check_name

# A sentence's columns by name: form, upos (only where the encoding needs it), the encoding's tasks, deprel.
Columns = dict[str, list[str]]

_BRACKETS = re.compile(r"[<>/\\]+")  # no tags: they are of another encoding, whose files may have as many columns


def _to_tsv(columns: Columns) -> str:
    return "".join("\t".join(fields) + "\n" for fields in zip(*columns.values(), strict=True)) + "\n"


def _from_tsv(path: str | Path, names: list[str], text_encoding: str) -> Iterator[Columns]:
    file, block, lines = display_name(path), list[list[str]](), list[int]()
    for number, line in chain(read_lines(path, text_encoding), [(0, "")]):
        if line:
            block.append(line.split("\t"))
            lines.append(number)
            if len(block[-1]) != len(names):
                message = f"expected {len(names)} columns ({', '.join(names)}), found {len(block[-1])}"
                raise FormatError(file, number, message)
        elif block:
            columns = {name: list(column) for name, column in zip(names, zip(*block, strict=True), strict=True)}
            yield _checked(columns, file, lines)
            block, lines = [], []


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
        raise FormatError(path, number, f"not a JSON object: {error}") from error
    columns: Columns = {}
    for name in names:
        values = record.get(name) if isinstance(record, dict) else record
        if not isinstance(values, list) or not values or not all(isinstance(value, str) for value in values):
            raise FormatError(path, number, f"{name!r} is {values!r:.60}, no list of strings")
        columns[name] = values
        if len(values) != len(columns[names[0]]):
            message = f"{name!r} has {len(values)} values for {len(columns[names[0]])} words"
            raise FormatError(path, number, message)
    return _checked(columns, path, [number] * len(columns[names[0]]))


def _checked(columns: Columns, path: str, lines: Sequence[int]) -> Columns:
    """Labels may be any text, but what is written as CoNLL-U must fit into a column there."""
    for name in ("form", "upos", "deprel"):
        values = columns.get(name, [])
        if (at := find_misfit(values)) is not None:
            message = f"{name!r} cannot be {values[at]!r}: it is empty or has tabs or line ends"
            raise FormatError(path, lines[at], message)
    for tag, line in zip(columns.get("upos", []), lines, strict=False):
        if tag == "_" or _BRACKETS.fullmatch(tag):
            raise FormatError(path, line, f"{tag!r} is no part-of-speech tag; is the file of another encoding?")
    return columns


@dataclass(frozen=True)
class LabelLayout:
    """How the columns of a sentence are written and read."""

    write: Callable[[Columns], str]
    read: Callable[[str | Path, list[str], str], Iterator[Columns]]


LAYOUTS = {"tsv": LabelLayout(_to_tsv, _from_tsv), "jsonl": LabelLayout(_to_json, _from_json)}


def get_layout(name: str) -> LabelLayout:
    """The layout of that name."""
    check_name("layout", name, LAYOUTS)
    return LAYOUTS[name]


def read_labels(path: str | Path, names: list[str], layout: str, text_encoding: str = UTF_8) -> Iterator[Columns]:
    """The columns of these names, sentence by sentence; a file has one sentence at least."""
    sentences = get_layout(layout).read(path, names, text_encoding)
    first = next(sentences, None)
    if first is None:
        raise FormatError(display_name(path), 1, "the file has no sentences")
    yield first
    yield from sentences
