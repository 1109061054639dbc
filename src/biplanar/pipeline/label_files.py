"""Files of labels, for taggers of any kind: tab-separated lines or JSON lines, to and from CoNLL-U.

The guarantee: decoding what was encoded gives back every word, relation and head of each sentence whose arcs the
encoding covers; `encode_file` counts the others.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, TextIO, TypeVar

import numpy as np

from biplanar.data.conllu import Sentence, find_misfit, read_conllu
from biplanar.data.files import display_name, read_lines
from biplanar.data.forest import Column, Forest
from biplanar.decoding import decode_forest
from biplanar.decoding.labels import label_rows, rows_forest
from biplanar.encodings import Encoding
from biplanar.errors import FormatError, LabelError, TreeError, UnknownNameError

# Sentences that are encoded or decoded at once: enough for the compiled loops, few enough for any memory.
WINDOW = 4096

Item = TypeVar("Item")


# A sentence's columns by name: form, upos (only where the encoding needs it), the encoding's tasks, deprel.
Columns = dict[str, list[str]]


@dataclass
class EncodingReport:
    """How many sentences were encoded, and how many of them do not come back whole."""

    sentences: int = 0
    not_covered: int = 0


def encode_file(path: str | Path, encoding: Encoding, layout: str, stream: TextIO) -> EncodingReport:
    """Write the labels of a CoNLL-U file."""
    write, report = get_layout(layout).write, EncodingReport()
    for sentences in windows(read_conllu(path)):
        forest = Forest.from_sentences(sentences)
        report.sentences += len(forest)
        columns = _encode(forest, encoding, sentences)
        report.not_covered += _count_not_covered(forest, encoding, columns)
        for sentence, rows in zip(sentences, label_rows(columns, forest), strict=True):
            words = [sentence.forms, sentence.upos] if encoding.needs_upos else [sentence.forms]
            labels = [list(column) for column in zip(*rows, strict=True)]
            stream.write(write(dict(zip(column_names(encoding), words + labels, strict=True))))
    return report


def decode_file(
    path: str | Path, encoding: Encoding, layout: str, decoder: str, into: str | Path | None = None
) -> Iterator[Sentence]:
    """The parsed sentences of a file of labels, as new sentences or with all else taken from a CoNLL-U file."""
    labelled = _at_least_one(get_layout(layout).read(path, column_names(encoding)), path)
    originals = None if into is None else read_conllu(into)
    for window in windows(labelled):
        upos = Column.of(tag for columns in window for tag in columns["upos"]) if encoding.needs_upos else None
        rows = [list(zip(*(columns[task] for task in (*encoding.tasks, "deprel")), strict=True)) for columns in window]
        forest = rows_forest(rows, encoding, decoder=decoder, upos=upos)
        for columns, tree in zip(window, forest.trees(), strict=True):
            if originals is None:
                yield Sentence.from_words(columns["form"], tree, upos=columns.get("upos"))
            else:
                yield _next_like(originals, columns["form"], display_name(path)).with_tree(tree)
    if originals is not None and next(originals, None) is not None:
        raise LabelError(f"{display_name(into or '')} has more sentences than {display_name(path)}")


def column_names(encoding: Encoding) -> list[str]:
    """What stands in each column of a file of labels."""
    return ["form", *(["upos"] if encoding.needs_upos else []), *encoding.tasks, "deprel"]


def windows(items: Iterable[Item]) -> Iterator[list[Item]]:
    """The items in lists of `WINDOW`."""
    iterator = iter(items)
    while window := list(islice(iterator, WINDOW)):
        yield window


def _encode(forest: Forest, encoding: Encoding, sentences: list[Sentence]) -> tuple[Column, ...]:
    try:
        return encoding.encode(forest)
    except TreeError as error:
        raise sentences[error.sentence].error_at(1, str(error)) from error


def _count_not_covered(forest: Forest, encoding: Encoding, columns: tuple[Column, ...]) -> int:
    back = decode_forest(columns, forest.deprels, forest.offsets, encoding, upos=forest.upos)
    return int(np.logical_or.reduceat(back.heads != forest.heads, forest.offsets[:-1]).sum())


def _next_like(originals: Iterator[Sentence], forms: list[str], labels: str) -> Sentence:
    original = next(originals, None)
    if original is None:
        raise LabelError(f"{labels}: more sentences than in the CoNLL-U file")
    if len(original) != len(forms):
        raise original.error_at(1, f"expected a sentence of {len(forms)} words, as in {labels}, found {len(original)}")
    for word, (found, wanted) in enumerate(zip(original.forms, forms, strict=True), 1):
        if found != wanted:
            raise original.error_at(word, f"expected the word {wanted!r}, as in {labels}, found {found!r}")
    return original


def _to_tsv(columns: Columns) -> str:
    return "".join("\t".join(fields) + "\n" for fields in zip(*columns.values(), strict=True)) + "\n"


def _from_tsv(path: str | Path, names: list[str]) -> Iterator[Columns]:
    name, block, number = display_name(path), list[list[str]](), 0
    for number, line in read_lines(path):
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


def _from_json(path: str | Path, names: list[str]) -> Iterator[Columns]:
    for number, line in read_lines(path):
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
    return columns


def _at_least_one(sentences: Iterator[Columns], path: str | Path) -> Iterator[Columns]:
    first = next(sentences, None)
    if first is None:
        raise FormatError(display_name(path), 1, "expected at least one sentence, found an empty file")
    yield first
    yield from sentences


@dataclass(frozen=True)
class Layout:
    """How the columns of a sentence stand in a file."""

    write: Callable[[Columns], str]
    read: Callable[[str | Path, list[str]], Iterator[Columns]]


LAYOUTS = {"tsv": Layout(_to_tsv, _from_tsv), "jsonl": Layout(_to_json, _from_json)}


def get_layout(name: str) -> Layout:
    """The layout of that name."""
    if name not in LAYOUTS:
        raise UnknownNameError("layout", name, LAYOUTS)
    return LAYOUTS[name]
