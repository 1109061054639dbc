"""Pre-trained word vectors: word2vec (text or binary), fastText `.vec` and GloVe files, compressed or not."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from biplanar.data.files import display_name, raw_lines_of, read_buffers
from biplanar.errors import FormatError

Vector = NDArray[np.float32]

_HEADER = re.compile(rb"[ \t]*(\d{1,18})[ \t]+(\d{1,18})[ \t]*\r?\n")
_DECIMAL = re.compile(rb"[+-]?\d*\.\d+(?:[eE][+-]?\d+)?")
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")  # control characters: not in text, but common in binary numbers
_SAMPLE = 4096
_LONGEST_WORD = 1 << 16  # bytes; what is longer is no word of a binary file
_MOST_VALUES = 1 << 16


class _Shape(NamedTuple):
    """The size of a vector and, if the file has a header, the number of vectors."""

    size: int
    vectors: int | None


def read_vectors(path: str | Path, *, limit: int | None = None) -> dict[str, Vector]:
    """The vectors of a file by their words; the kind of file is found by looking into it.

    `limit` takes up to that many vectors from the start of the file, where the frequent words are. If a word comes
    twice, its first vector counts.
    """
    name, chunks = display_name(path), read_buffers(path)
    start = next(chunks, b"").removeprefix(codecs.BOM_UTF8)
    header = _HEADER.match(start)
    shape = _shape(start, header, name)
    content = chain([start[header.end() :] if header else start], chunks)
    if _is_text(start[header.end() if header else 0 :]):
        rows = _text_rows(content, shape, 2 if header else 1, name)
    elif header:
        rows = _binary_rows(content, shape, name)
    else:
        raise FormatError(name, 1, "expected word vectors (word2vec, fastText .vec or GloVe), found other binary data")
    vectors: dict[str, Vector] = {}
    found = 0
    for word, vector in islice(rows, limit):
        found += 1
        vectors.setdefault(word, vector)
    if shape.vectors and found < min(shape.vectors, limit or shape.vectors):
        raise FormatError(name, 1, f"expected {shape.vectors} vectors, as this line says, found {found}")
    return vectors


def _shape(start: bytes, header: re.Match[bytes] | None, name: str) -> _Shape:
    if not start.strip():
        raise FormatError(name, 1, "expected word vectors, found an empty file")
    shape = _Shape(int(header[2]), int(header[1])) if header else _Shape(len(_first_fields(start)) - 1, None)
    if not 0 < shape.size <= _MOST_VALUES:
        raise FormatError(name, 1, f"expected vectors of 1 to {_MOST_VALUES} values, found {shape.size}")
    if shape.vectors == 0:
        raise FormatError(name, 1, "expected word vectors, found a file that says it has none")
    return shape


def _first_fields(start: bytes) -> list[bytes]:
    """The fields of the first line that is not empty; without a header their number gives the size of a vector."""
    return start.lstrip().split(b"\n", 1)[0].split()


def _is_text(content: bytes) -> bool:
    sample = content[:_SAMPLE]
    if _CONTROL.search(sample):
        return False
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample)
    except UnicodeDecodeError:  # text all the same, with a broken word in it, if its first line ends with a number
        return _as_floats(_first_fields(content)[-1:]) is not None
    return True


# Text


def _text_rows(content: Iterator[bytes], shape: _Shape, first_line: int, name: str) -> Iterator[tuple[str, Vector]]:
    """Word after word, with its vector."""
    for number, line in raw_lines_of(content, first_line):
        if not line.strip():
            continue
        start, values = _cut(line.rstrip(), shape.size)
        if not start:
            found = len(line.split()) - (not line[:1].isspace())
            raise FormatError(name, number, f"expected a word and {shape.size} values, found {found} values")
        # Some published files hold words whose last character is truncated.
        yield start.decode(errors="replace"), _numbers(values.split(), shape.size, name, number)


def _cut(line: bytes, size: int) -> tuple[bytes, bytes]:
    """The word and its values; no word if there are too few or too many values.

    A word may hold spaces, as some of GloVe's and fastText's do, so the values are counted from behind.
    """
    if line.count(b" ") == size:
        word, _, values = line.partition(b" ")
        return word, values
    fields = line.rsplit(None, size)
    more = fields[0].split()[1:]
    if len(fields) <= size or (more and all(map(_DECIMAL.fullmatch, more))):
        return b"", b""
    return fields[0], b" ".join(fields[1:])


def _numbers(fields: list[bytes], size: int, name: str, line: int) -> Vector:
    if len(fields) != size:
        raise FormatError(name, line, f"expected {size} values, found {len(fields)}")
    vector = _as_floats(fields)
    if vector is None:
        wrong = next(field for field in fields if _as_floats([field]) is None).decode(errors="replace")
        raise FormatError(name, line, f"expected a number, found {wrong[:40]!r}")
    return vector


def _as_floats(fields: list[bytes]) -> Vector | None:
    """The numbers, or None if a field is not a number, or not a finite float32."""
    try:
        with np.errstate(over="ignore"):
            vector = np.array(fields, dtype=np.float32)
    except ValueError:
        return None
    return vector if np.isfinite(vector).all() else None


# Binary


def _binary_rows(content: Iterator[bytes], shape: _Shape, name: str) -> Iterator[tuple[str, Vector]]:
    """Word after word: its bytes, a space, its values as 32-bit floats and, from some programs, a line end."""
    rest, number, count = b"", 0, shape.vectors or 0
    for chunk in content:
        rest, at = rest + chunk, 0
        while number < count and (end := _end_of_row(rest, at, shape.size)):
            start = end - 4 * shape.size
            word = rest[at : start - 1].lstrip(b"\r\n").decode(errors="replace")
            at, number = end, number + 1
            yield word, _floats(rest[start:end], name, number + 1)
        rest = rest[at:]
        if len(rest) > _LONGEST_WORD and number < count and b" " not in rest[:_LONGEST_WORD]:
            raise FormatError(name, number + 2, "expected a word and a space, found binary data without")
    if number < count:
        expected = f"expected {count} vectors of {shape.size} values"
        raise FormatError(name, number + 2, f"{expected}, found the end of the file in vector {number + 1}")


def _end_of_row(data: bytes, at: int, size: int) -> int:
    """Where a word and its values end; 0 if there is more to come."""
    space = data.find(b" ", at, at + _LONGEST_WORD)
    end = space + 1 + 4 * size
    return end if space >= 0 and end <= len(data) else 0


def _floats(data: bytes, name: str, line: int) -> Vector:
    vector = np.frombuffer(data, dtype="<f4").astype(np.float32)
    if not np.isfinite(vector).all():
        raise FormatError(name, line, f"expected numbers, found {vector[~np.isfinite(vector)][0]}")
    return vector
