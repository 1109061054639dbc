"""CoNLL-U: a streaming reader and writer that keep every byte."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import repeat
from pathlib import Path
from typing import TextIO

import numpy as np

from biplanar.data.compression import compressing
from biplanar.data.files import UTF_8, count_lines, decode_utf8, display_name, read_text, writing
from biplanar.data.rows import (
    COLUMNS,
    DEPREL,
    DEPS,
    EMPTY,
    FEATS,
    FORM,
    HEAD,
    ID,
    LEMMA,
    MISC,
    UPOS,
    XPOS,
    bare,
    find_misfit,
)
from biplanar.data.sentence import Sentence, make_sentence
from biplanar.data.words import Token, Word
from biplanar.errors import FormatError

__all__ = [
    "COLUMNS",
    "DEPREL",
    "DEPS",
    "EMPTY",
    "FEATS",
    "FORM",
    "HEAD",
    "ID",
    "LEMMA",
    "MISC",
    "UPOS",
    "XPOS",
    "RawConllu",
    "Sentence",
    "Token",
    "Word",
    "cut_raw_conllu",
    "find_misfit",
    "missing_end",
    "parse_conllu",
    "read_conllu",
    "write_conllu",
]

_BLANK = "\ufeff \t\r\n"  # what may be around sentences: white space, and a byte order mark
# Possessive, as backtracking would need a hundred times the memory of the blank lines themselves.
_BLANK_LINES = re.compile(r"\n(?:[\ufeff \t\r]*+(?:\n|\Z))++")
_LINE_OF_SPACES = re.compile(rb"\n(?:\xef\xbb\xbf|[ \t\r])++\n")
_MORE_BLANK_LINES = re.compile(rb"(?:(?:\xef\xbb\xbf|[ \t\r])*+\n)*+")
_FEW_BYTES = 600  # which are checked faster line by line
_row_starts = [f"{number}\t" for number in range(1, 513)]


@dataclass(frozen=True)
class RawConllu:
    """Whole sentences of a file as bytes, not yet parsed."""

    data: bytes = field(repr=False)
    path: str = "<text>"
    line: int = 1

    @cached_property
    def next_line(self) -> int:
        """The number of the line that follows."""
        return self.line + count_lines(self.data)

    def sentences(self) -> Iterator[Sentence]:
        """The sentences, or an error that says what is wrong with them and in which line."""
        line, found, tidy = self.line, False, _is_tidy(self.data)
        for content, tail in _blocks(decode_utf8(self.data, self.path, line), tidy):
            if tidy or content.strip(_BLANK):
                found, lines = True, content.split("\n")
                rows = (tidy and _word_rows(lines)) or _parse_carefully(lines, self.path, line)
                yield make_sentence(content + tail, rows, self.path, line)
            line += content.count("\n") + tail.count("\n")
        if not found:  # `cut_raw_conllu` gives such data only if it is the whole file
            raise FormatError(self.path, 1, "the file has no sentences")


def read_conllu(path: str | Path, text_encoding: str = UTF_8) -> Iterator[Sentence]:
    """The sentences of a file, which may be compressed; `-` is standard input."""
    for raw in cut_raw_conllu(read_text(path, text_encoding), display_name(path)):
        yield from raw.sentences()


def parse_conllu(text: str, name: str = "<text>") -> list[Sentence]:
    """The sentences of a string."""
    every = cut_raw_conllu([text.encode(errors="surrogatepass")], name)
    return [sentence for raw in every for sentence in raw.sentences()]


def write_conllu(sentences: Iterable[Sentence], target: TextIO | str | Path) -> None:
    """Write sentences to a stream or a file; a file is compressed by its ending, and appears whole or not at all.

    A sentence that ended its own file without a blank line gets one if another follows.
    """
    if not isinstance(target, str | Path):
        target.writelines(_texts(sentences))
        return
    with writing(target) as stream, compressing(stream.buffer, target) as compressed:
        for text in _texts(sentences):
            compressed.write(text.encode(UTF_8))


def _texts(sentences: Iterable[Sentence]) -> Iterator[str]:
    unfinished = ""
    for sentence in sentences:
        yield unfinished + sentence.raw
        unfinished = missing_end(sentence.raw)


def missing_end(raw: str) -> str:
    """The line ends that a sentence lacks to be followed by another."""
    newline = "\r\n" if "\r\n" in raw else "\n"
    lines = raw.rsplit("\n", 2)
    if lines[-1].strip(_BLANK):
        return newline * 2
    return "" if len(lines) == 3 and not lines[-1] and not lines[-2].strip(_BLANK) else newline


def cut_raw_conllu(buffers: Iterable[bytes], name: str) -> Iterator[RawConllu]:
    """The same bytes, cut where blank lines end and another sentence begins; at least one item, if an empty one."""
    rest, line, blank, seen = b"", 1, _BLANK.encode(), 0
    for buffer in buffers:
        rest += buffer
        if not buffer.strip(blank):
            continue
        end = len(rest.rstrip(blank))
        cut = _behind_last_blank_line(rest, seen, end)
        if cut > 2 and (more := _MORE_BLANK_LINES.match(rest, cut)) and rest[:cut].strip(blank):
            raw = RawConllu(rest[: more.end()], name, line)
            yield raw
            rest, line, seen = rest[more.end() :], raw.next_line, 0
        else:
            seen = max(rest.rfind(b"\n", 0, end), 0)
    if rest or line == 1:
        yield RawConllu(rest, name, line)


def _behind_last_blank_line(data: bytes, start: int, end: int) -> int:
    """Where the last blank line within these bounds ends, or less than 3; those without white space are found first."""
    cut = data.rfind(b"\n\n", start, end) + 2
    cut = max(cut, data.rfind(b"\n\r\n", max(cut - 2, start), end) + 3)  # looked for only where it could be the last
    if cut <= 2:
        for match in _LINE_OF_SPACES.finditer(data, start, end):
            cut = match.end()
    return cut


def _is_tidy(data: bytes) -> bool:
    """Whether all lines are comments, single empty lines, or ten columns with something in each: checked in bulk.

    Other data need not be wrong; it is checked line by line, which is slower.
    """
    if len(data) < _FEW_BYTES or b"\r" in data or data[:1] in b"\xef\n":
        return False
    codes = np.frombuffer(b"\n" + data + b"\n" * (data[-1:] != b"\n"), dtype=np.uint8)
    marks = np.flatnonzero(codes <= ord("\n"))
    kinds = codes[marks]
    if kinds.min() < ord("\t"):  # what is counted below must be tabs and line ends
        return False
    ends = np.flatnonzero(kinds == ord("\n"))
    first_codes = codes[marks[ends[:-1]] + 1]
    without_columns = (first_codes == ord("\n")) | (first_codes == ord("#"))
    tabs_right = (np.diff(ends) == np.where(without_columns, 1, 10)).all()
    gaps = np.flatnonzero(np.diff(marks) == 1)  # two marks side by side: only a single empty line is allowed
    gaps_right = (kinds[gaps] == ord("\n")).all() and (kinds[gaps + 1] == ord("\n")).all()
    return bool(tabs_right and gaps_right and (np.diff(gaps) > 1).all())


def _blocks(text: str, tidy: bool) -> Iterator[tuple[str, str]]:
    """Blocks of lines, each with the blank lines behind it; blank lines before the first block belong to it."""
    if tidy:
        *blocks, last = text.split("\n\n")
        yield from zip(blocks, repeat("\n\n"))
        start = len(text) - len(last)
    else:
        start = 0
        for match in _BLANK_LINES.finditer(text):
            if text[start : match.start()].strip(_BLANK):
                yield text[start : match.start()], match[0]
                start = match.end()
    if start < len(text):
        content = text[start:].removesuffix("\n")
        yield content, text[start + len(content) :]


def _word_rows(lines: list[str]) -> list[str] | None:
    """The lines of a tidy block, but for its comments; None if they are not just its words in order."""
    comments = 0
    while comments < len(lines) and lines[comments][0] == "#":
        comments += 1
    rows = lines[comments:]
    if len(rows) > len(_row_starts):
        _row_starts.extend(f"{number}\t" for number in range(len(_row_starts) + 1, len(rows) + 1))
    return rows if rows and all(map(str.startswith, rows, _row_starts)) else None


def _parse_carefully(lines: list[str], path: str, line: int) -> list[str]:
    """Line by line: multiword tokens and empty nodes are passed over, and what is wrong is named with its line."""
    words: list[str] = []
    for number, text in enumerate(lines, line):
        row = bare(text)
        if not row.strip(_BLANK) or row.startswith("#"):
            continue
        columns = row.split("\t")
        if len(columns) != 10:
            raise FormatError(path, number, f"expected 10 columns, found {len(columns)}")
        if "" in columns:
            raise FormatError(path, number, f"expected a value or _ as {COLUMNS[columns.index('')]}, found nothing")
        if re.fullmatch(r"\d+-\d+|\d+\.\d+", columns[ID], re.ASCII):
            continue
        if columns[ID] != str(len(words) + 1):
            raise FormatError(path, number, f"expected the ID {len(words) + 1}, found {columns[ID]!r}")
        words.append(row)
    if not words:
        raise FormatError(path, line, "expected a sentence with words, found none in this block")
    return words
