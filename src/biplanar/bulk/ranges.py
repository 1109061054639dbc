"""Ranges of files that can be read by themselves: what becomes one shard. Files are cut where a sentence begins."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import IO

from biplanar.bulk.records import row_group_sizes
from biplanar.data.files import BUFFER, UTF_8, count_lines, display_name, is_utf8, read_buffers
from biplanar.data.formats import COMPRESSED, CONLLU, HORIZONTAL, JSONL, LINES, PARQUET, TEXT, input_format
from biplanar.errors import file_errors

# Possessive, as backtracking would need a hundred times the memory of the blank lines themselves.
_BLANK_LINES = re.compile(rb"\r?\n(?:[ \t\r]*+\n)++")
_LINE_ENDS = re.compile(rb"\r?\n(?:[ \t\r]*+\n)*+")
_WHOLE_LINES = (LINES, HORIZONTAL, JSONL)  # formats that may be cut at any line


@dataclass(frozen=True)
class FileRange:
    """Bytes of a file, or row groups of a Parquet file; without an end, all of it."""

    path: str
    start: int = 0
    end: int | None = None
    before: str = ""  # of raw text: the white space before it (`spaces_after`)
    count: int = 0  # of raw text: characters before it, if they are asked for; of records: records
    size: int = 0  # bytes

    def __str__(self) -> str:
        return display_name(self.path) if self.end is None else f"{display_name(self.path)}[{self.start}:{self.end}]"

    def buffers(self) -> Iterator[bytes]:
        """Its bytes."""
        return read_buffers(self.path, self.start, self.end)


def cut_file(
    path: str, file_format: str | None, size: int, *, text_encoding: str = UTF_8, ranges: bool = False
) -> list[FileRange]:
    """A file in ranges of about `size` bytes; one that is compressed or not in UTF-8 stays whole.

    With `ranges`, the characters before each range of raw text are counted.
    """
    file_format = file_format or input_format(path)
    with file_errors(display_name(path)):
        length = Path(path).stat().st_size
        if file_format == PARQUET:
            return _cut_parquet(path, size)
        if length <= size or Path(path).suffix in COMPRESSED or not is_utf8(text_encoding):
            return [FileRange(path, size=length)]
        with Path(path).open("rb") as stream:
            found = list(_cut_plain(path, stream, file_format, length, math.ceil(length / size)))
    is_counted = file_format == JSONL or (ranges and file_format in (TEXT, LINES))
    return list(_counted(found, file_format)) if is_counted else found


def _cut_plain(path: str, stream: IO[bytes], file_format: str, length: int, number: int) -> Iterator[FileRange]:
    cuts = {0: "", length: ""}
    for wanted in (length * i // number for i in range(1, number)):
        if wanted > max(cut for cut in cuts if cut < length):
            cuts |= dict(_next_cut(stream, wanted, file_format))
    for start, end in pairwise(sorted(cuts)):
        yield FileRange(path, start, end, cuts[start], size=end - start)


def _next_cut(stream: IO[bytes], start: int, file_format: str) -> Iterator[tuple[int, str]]:
    """The next offset from which the file can be read by itself, if there is one, and the white space before it."""
    stream.seek(start)
    data = b""
    while more := stream.read(BUFFER):
        data += more
        for match in (_LINE_ENDS if file_format in _WHOLE_LINES else _BLANK_LINES).finditer(data):
            if _is_between_words(data, match, file_format):
                yield start + match.end(), "." + "\n" * min(2, match[0].count(b"\n"))
                return


def _is_between_words(data: bytes, match: re.Match[bytes], file_format: str) -> bool:
    """Whether no other white space is beside the line ends, and what follows begins a sentence."""
    before = data[max(0, match.start() - 4) : match.start()].decode(errors="ignore")[-1:]
    after = data[match.end() : match.end() + 4].decode(errors="ignore")[:1]
    if file_format == CONLLU and after not in (*"#0123456789",):
        return False
    return all(one.strip(" \ufeff\t\r\n") and not one.isspace() for one in (before, after))


def _counted(ranges: list[FileRange], file_format: str) -> Iterator[FileRange]:
    """With the records or characters before each."""
    total = 0
    for one in ranges:
        yield replace(one, count=total)
        if file_format == JSONL:
            total += sum(map(count_lines, one.buffers()))
        else:
            text = b"".join(one.buffers()).decode(errors="replace")
            total += len(text) - (not one.start and text.startswith("\ufeff"))  # a byte order mark is no text


def _cut_parquet(path: str, size: int) -> list[FileRange]:
    """Ranges of as many row groups as have `size` bytes together."""
    found, start, rows, total, before = [], 0, 0, 0, 0
    sizes = row_group_sizes(path)
    for number, (count, length) in enumerate(sizes, 1):
        rows, total = rows + count, total + length
        if total >= size or number == len(sizes):
            found.append(FileRange(path, start, number, count=before, size=total))
            start, before, rows, total = number, before + rows, 0, 0
    return found or [FileRange(path)]
