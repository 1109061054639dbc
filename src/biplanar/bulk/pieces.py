"""Pieces of files: what can be read and parsed by itself. Plain files are cut where a sentence begins."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import IO

from biplanar.bulk.kinds import CONLLU, JSONL, LINES, PARQUET, TEXT, kind_of
from biplanar.bulk.records import row_group_sizes
from biplanar.data.files import OPENERS, UTF_8, is_utf8
from biplanar.errors import FileError

WINDOW = 1 << 16  # bytes in which the next sentence is looked for

_BLANK_LINES = re.compile(rb"\r?\n(?:[ \t\r]*\n)+")
_LINE_ENDS = re.compile(rb"\r?\n(?:[ \t\r]*\n)*")
_WHOLE_LINES = ("lines", "horizontal", JSONL)  # kinds of input that may be cut at any line


@dataclass(frozen=True)
class Piece:
    """Some bytes of a file, or some row groups of a Parquet file; without an end, all of it."""

    path: str
    start: int = 0
    end: int | None = None
    before: str = ""  # of raw text, what stands before it, as far as it matters (`spaces_after`)
    count: int = 0  # characters (of raw text, if they are asked for) or records before it
    size: int = 0  # bytes

    def __str__(self) -> str:
        return self.path if self.end is None else f"{self.path} from {self.start} to {self.end}"

    def read(self) -> bytes:
        """Its bytes."""
        try:
            with Path(self.path).open("rb") as stream:
                stream.seek(self.start)
                return stream.read(-1 if self.end is None else self.end - self.start)
        except OSError as error:
            raise FileError(f"{self.path}: {error.strerror or error}") from error

    def lines_before(self) -> int:
        """Lines of the file before it."""
        return sum(data.count(b"\n") for data in _read_up_to(self.path, self.start))


def cut_file(
    path: str, kind: str | None, size: int, *, text_encoding: str = UTF_8, ranges: bool = False
) -> list[Piece]:
    """A file in pieces of about so many bytes; one that is compressed or not in UTF-8 stays whole.

    With `ranges`, the characters before each piece of raw text are counted.
    """
    kind = kind or kind_of(path)
    try:
        length = Path(path).stat().st_size
        if kind == PARQUET:
            return _cut_parquet(path, size)
        if length <= size or Path(path).suffix in OPENERS or not is_utf8(text_encoding):
            return [Piece(path, size=length)]
        with Path(path).open("rb") as stream:
            pieces = list(_cut_plain(path, stream, kind, length, math.ceil(length / size)))
    except OSError as error:
        raise FileError(f"{path}: {error.strerror or error}") from error
    return list(_counted(pieces, kind)) if kind == JSONL or (ranges and kind in (TEXT, LINES)) else pieces


def _cut_plain(path: str, stream: IO[bytes], kind: str, length: int, pieces: int) -> Iterator[Piece]:
    cuts = {0: "", length: ""}
    for number in range(1, pieces):
        wanted = number * length // pieces
        if wanted > max(cut for cut in cuts if cut < length):
            cuts |= dict(_next_cut(stream, wanted, kind))
    for start, end in pairwise(sorted(cuts)):
        yield Piece(path, start, end, cuts[start], size=end - start)


def _next_cut(stream: IO[bytes], start: int, kind: str) -> Iterator[tuple[int, str]]:
    """The next place from which the file can be read by itself, if there is one, and the white space before it."""
    stream.seek(start)
    data = b""
    while more := stream.read(WINDOW):
        data += more
        for match in (_LINE_ENDS if kind in _WHOLE_LINES else _BLANK_LINES).finditer(data):
            if _is_between_words(data, match, kind):
                yield start + match.end(), "." + "\n" * min(2, match[0].count(b"\n"))
                return


def _is_between_words(data: bytes, match: re.Match[bytes], kind: str) -> bool:
    """Whether no other white space is beside the line ends, and what follows begins a sentence."""
    before = data[max(0, match.start() - 4) : match.start()].decode(errors="ignore")[-1:]
    after = data[match.end() : match.end() + 4].decode(errors="ignore")[:1]
    if kind == CONLLU and after not in (*"#0123456789",):
        return False
    return all(one.strip(" \ufeff\t\r\n") and not one.isspace() for one in (before, after))


def _counted(pieces: list[Piece], kind: str) -> Iterator[Piece]:
    """With the records or characters before each."""
    total = 0
    for piece in pieces:
        yield replace(piece, count=total)
        data = piece.read()
        total += data.count(b"\n") if kind == JSONL else len(data.decode(errors="replace"))
        if kind != JSONL and not piece.start:
            total -= data.startswith("\ufeff".encode())  # which is no part of the text


def _cut_parquet(path: str, size: int) -> list[Piece]:
    """Row groups, as many in a piece as are large enough together."""
    pieces, start, rows, total, before = [], 0, 0, 0, 0
    sizes = row_group_sizes(path)
    for number, (count, length) in enumerate(sizes, 1):
        rows, total = rows + count, total + length
        if total >= size or number == len(sizes):
            pieces.append(Piece(path, start, number, count=before, size=total))
            start, before, rows, total = number, before + rows, 0, 0
    return pieces or [Piece(path)]


def _read_up_to(path: str, end: int) -> Iterator[bytes]:
    with Path(path).open("rb") as stream:
        while (rest := end - stream.tell()) > 0 and (data := stream.read(min(rest, 1 << 20))):
            yield data
