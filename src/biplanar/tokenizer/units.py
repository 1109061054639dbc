"""Units of text: runs of letters, runs of digits, and any other character by itself, with the white space before them.

A token ends at the end of a unit, unless a label says that it ends inside. Characters of scripts that are written
without spaces between words are units by themselves.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from biplanar.data.arrays import Bytes, Int64s
from biplanar.data.forest import number_stretches, number_values, offsets_of

Codes = NDArray[np.uint32]  # of characters

# Kinds of characters.
UNKNOWN, SPACE, LINE_END, LETTER, DIGIT, OTHER = range(6)

# What stands before a unit, as a mark before its form: nothing, a space, a line end, or the start of a paragraph.
MARKS = GLUED, SPACED, NEW_LINE, NEW_PARAGRAPH = "", "▁", "↵", "¶"

# What tells of the case of a form, which is then in lower case: a capital at its start, or capitals only.
CAPITAL, CAPITALS = "⇧", "⇪"

_LINE_ENDS = "\n\r\x85\u2028\u2029"
_FORMAT = "Cf"  # joiners and soft hyphens, which belong to the letters around them

# How the names of characters begin in scripts that are written without spaces between words.
_UNSPACED = ("CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR", "TIBETAN", "JAVANESE", "YI ")

_kinds = np.zeros(0x110000, dtype=np.uint8)  # by code point, filled when a character is first seen


@dataclass(frozen=True)
class Units:
    """The units of some paragraphs, end to end. Places are characters of the text of all of them."""

    starts: Int64s
    ends: Int64s
    offsets: Int64s  # (paragraphs + 1,): the units of each paragraph
    marks: Int64s  # numbers into `MARKS`
    forms: Sequence[str]  # distinct ones, each with its mark
    numbers: Int64s  # of each unit's form

    @classmethod
    def of(cls, paragraphs: Sequence[str], *, case_marks: bool = True) -> Units:
        """Cut some paragraphs into units, with a zero for each digit: how numbers are cut does not depend on these.

        Without `case_marks`, forms are as they are written.
        """
        text, bounds = "".join(paragraphs), offsets_of(map(len, paragraphs))
        codes = code_points(text)
        kinds = _kinds_of(codes)
        codes = np.where((codes >= ord("1")) & (codes <= ord("9")), np.uint32(ord("0")), codes)
        is_unit, before = kinds >= LETTER, np.append(np.uint8(SPACE), kinds)
        before[bounds] = SPACE
        begins = is_unit & ((kinds == OTHER) | (kinds != before[:-1]))
        starts = np.flatnonzero(begins)
        goes_on = is_unit & ~begins
        ends = np.flatnonzero(is_unit & ~np.append(goes_on[1:], False)) + 1
        offsets = np.searchsorted(starts, bounds)
        marks = _marks(kinds, starts, ends)
        marks[offsets[:-1][offsets[:-1] < len(starts)]] = MARKS.index(NEW_PARAGRAPH)
        stretches, _ = number_stretches(codes, starts, ends)
        numbers, firsts = number_values(stretches * np.int64(len(MARKS)) + marks)
        chosen = zip(marks[firsts].tolist(), starts[firsts].tolist(), ends[firsts].tolist(), strict=True)
        text = codes.tobytes().decode("utf-32-le", "surrogatepass")
        in_case = _with_case if case_marks else str
        forms = [MARKS[mark] + in_case(text[start:end]) for mark, start, end in chosen]
        return cls(starts, ends, offsets, marks, forms, numbers.astype(np.int64))

    def __len__(self) -> int:
        return len(self.starts)


def _with_case(form: str) -> str:
    """In lower case, behind a mark of its case; where capitals stand inside, as it is."""
    lowered = form.lower()
    if form == lowered:
        return form
    if form[1:] == lowered[1:]:
        return CAPITAL + lowered
    return CAPITALS + lowered if form.isupper() else form


def code_points(text: str) -> Codes:
    """The characters as numbers."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)


def _marks(kinds: Bytes, starts: Int64s, ends: Int64s) -> Int64s:
    """What stands before each unit, but for starts of paragraphs."""
    line_ends = np.zeros(len(kinds) + 1, dtype=np.int32)
    np.cumsum(kinds == LINE_END, out=line_ends[1:])
    before = np.concatenate([[0], ends[:-1]])
    is_spaced = starts > before
    return np.where(is_spaced, np.where(line_ends[starts] > line_ends[before], 2, 1), 0)


def _kinds_of(codes: Codes) -> Bytes:
    kinds = _kinds[codes]
    if not kinds.all():
        for code in np.unique(codes[kinds == UNKNOWN]).tolist():
            _kinds[code] = _kind(chr(code))
        kinds = _kinds[codes]
    return kinds


def _kind(char: str) -> int:
    if char.isspace():
        return LINE_END if char in _LINE_ENDS else SPACE
    category = unicodedata.category(char)
    if category[0] == "N":
        return DIGIT
    if category[0] in "LM" or category == _FORMAT:
        return OTHER if unicodedata.name(char, "").startswith(_UNSPACED) else LETTER
    return OTHER
