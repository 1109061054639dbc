"""Paragraphs, beyond which no sentence goes on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

LONGEST = 100_000  # characters of a paragraph that are looked at together

_SPACES = re.compile(r"\s*")
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n")
_UP_TO_SPACE = re.compile(r".*\s", re.DOTALL)
_UNFIT = re.compile("[\0\ud800-\udfff]")
_LINE = re.compile(r"\s*\S[^\n]*\n(?:\s*\n)?")


def paragraphs_of(chunks: Iterable[str], *, lines: bool = False, size: int | None = None) -> Iterator[list[str]]:
    """All of a text in paragraphs, some at a time: whenever about `size` characters have come.

    The white space behind a paragraph belongs to it, and that before the first one to the first. With `lines`, each
    line is a paragraph, and what stands before its first word belongs to it.
    """
    split, rest = _split_lines if lines else _split_paragraphs, [""]
    for text in _buffered(chunks, size or LONGEST):
        rest.append(text)
        if not text.isspace():  # else white space goes on, and so does the last paragraph
            *paragraphs, last = split("".join(rest))
            rest = [last]
            yield paragraphs
    yield [paragraph for paragraph in split("".join(rest)) if paragraph]


def paragraphs_of_text(text: str, *, lines: bool = False) -> list[str]:
    """All paragraphs of a text that is there as a whole, as `paragraphs_of` gives them."""
    return [paragraph for some in paragraphs_of([text], lines=lines) for paragraph in some]


def spaces_after(before: str, paragraphs: Iterable[str]) -> str:
    """What `TextPart` must know of the text so far: a sign, if there was one, and line ends behind it."""
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
    """Lines, each with the blank lines behind it; and the last one, which may go on."""
    end = text.rfind("\n", _after_spaces(text, 0), len(text.rstrip())) + 1
    return [*_LINE.findall(text, 0, end), text[end:]]


def _split_paragraphs(text: str) -> list[str]:
    """Paragraphs, those that are too long in several; and the last one, which may go on."""
    paragraphs, start = [], 0
    while end := _end_of_paragraph(text, start):
        paragraphs.append(text[start:end])
        start = end
    return [*paragraphs, text[start:]]


def _end_of_paragraph(text: str, start: int) -> int:
    """Where the paragraph ends or is too long, and the white space behind it ends; 0 if that cannot be seen yet."""
    first = _after_spaces(text, start)
    stop = first + LONGEST
    if blank := _BLANK_LINE.search(text, first, stop):
        cut = blank.end()
    elif len(text) < stop:
        return 0
    elif line_end := text.rfind("\n", first, stop) + 1:
        cut = line_end
    else:
        space = _UP_TO_SPACE.match(text, first, stop)
        cut = space.end() if space else stop
    end = _after_spaces(text, cut)
    return end if end < len(text) else 0


def _after_spaces(text: str, start: int) -> int:
    match = _SPACES.match(text, start)
    return match.end() if match else start


def writable(text: str) -> str:
    """The same text with replacement characters for lone surrogates, which cannot be written, and null characters."""
    return _UNFIT.sub("\ufffd", text)
