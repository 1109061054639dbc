"""Cutting text where no sentence goes on: between paragraphs, or lines, and within those that are too long."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

LONGEST = 100_000  # characters of a paragraph that are looked at together

_BLANK_LINE = re.compile(r"\n[^\S\n]*\n")
_UP_TO_SPACE = re.compile(r".*\s", re.DOTALL)


def paragraphs_of(chunks: Iterable[str], *, presegmented: bool = False, size: int | None = None) -> Iterator[list[str]]:
    """All of a text in paragraphs, some at a time: whenever about so many characters have come."""
    split, rest = _split_lines if presegmented else _split_paragraphs, ""
    for text in _buffered(chunks, size or LONGEST):
        *paragraphs, rest = split(rest + text)
        yield paragraphs
    yield [rest + "\n"]


def spaces_after(before: str, paragraphs: Iterable[str]) -> str:
    """What `Segmenter.to_conllu` must know of the text so far: a sign, if there was one, and line ends behind it."""
    for paragraph in paragraphs:
        words = paragraph.rstrip()
        before = ("." if words else before) + "\n" * min(2, paragraph.count("\n", len(words)))
    return before[:3]


def _buffered(chunks: Iterable[str], most: int) -> Iterator[str]:
    """The same text in chunks of a size that is good to work with, without a byte order mark."""
    gathered, size, mark = [""], 0, "\ufeff"
    for chunk in chunks:
        for start in range(0, len(chunk), most):
            gathered.append(chunk[start : start + most])
            size += len(gathered[-1])
            if size >= most:
                yield "".join(gathered).removeprefix(mark)
                gathered, size, mark = [], 0, ""
    yield "".join(gathered).removeprefix(mark)


def _split_lines(text: str) -> list[str]:
    """All lines that have ended, together, and the rest."""
    lines, end, rest = text.rpartition("\n")
    return [lines + end, rest]


def _split_paragraphs(text: str) -> list[str]:
    """Paragraphs, those that are too long in several; and the rest, which may go on."""
    paragraphs, start = [], 0
    while end := _end_of_paragraph(text, start):
        paragraphs.append(text[start:end])
        start = end
    return [*paragraphs, text[start:]]


def _end_of_paragraph(text: str, start: int) -> int:
    """Where the paragraph ends or is too long; 0 if that cannot be seen yet."""
    stop = start + LONGEST
    if blank := _BLANK_LINE.search(text, start, stop):
        return blank.end()
    if len(text) < stop:
        return 0
    if line_end := text.rfind("\n", start, stop) + 1:
        return line_end
    space = _UP_TO_SPACE.match(text, start, stop)
    return space.end() if space else stop
