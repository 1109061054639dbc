"""Text in pictures: what can be printed, elements of SVG and HTML, and how wide text is.

The fonts are those of the reader, so that widths are an estimate, which errs on the wide side.
"""

from __future__ import annotations

import math
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from functools import lru_cache
from xml.sax.saxutils import escape, quoteattr

JOINER = "\u200d"

# Control characters, line and paragraph separators and lone surrogates would break the lines, or the terminal.
_UNPRINTABLE = {"Cc", "Zl", "Zp", "Cs"}
_NOT_IN_XML = re.compile("[\ufffe\uffff]")
_EMPTY = {"meta", "path", "rect"}  # HTML takes no other element of ours as closed by its own tag

# Widths in parts of the font's size: those of the wider of two common families of fonts, rounded up; of Arabic letters,
# whose width depends on their neighbours, between the narrow and the wide.
_LETTERS = {
    letter: width
    for width, letters in (
        (0.30, "'Iijlا"),
        (0.35, " ,./:;\\|·"),
        (0.40, "()-[]ftι"),
        (0.45, "!r"),
        (0.50, '"*J`'),
        (0.55, "cszدذرزڑو"),
        (0.60, "?L_kvxy"),
        (0.65, "$0123456789FTabdeghnopqu{}بتثنيیپٹلة"),
        (0.70, "ABEKPSVXYZ"),
        (0.75, "CNRU"),
        (0.80, "&DGHOQ"),
        (0.85, "#+<=>^w~ωмМ"),
        (0.95, "Mæшщжюыф"),
        (1.00, "%Wm…—سشصض"),
        (1.10, "@œŒÆШЩЖЮЫФ"),
    )
    for letter in letters
}
_UNUSUAL = {"﷽": 11.0, "⸻": 3.0, "⸺": 2.0, "‱": 1.8, "‰": 1.4}
_NO_WIDTH = {"Mn", "Me", "Cf"}
_CATEGORIES = {"Ll": 0.85, "Lu": 0.95, "Lt": 1.4, "Mc": 0.7, "Nd": 0.75, "Pd": 1.0, "Po": 0.9, "Pi": 0.65, "Pf": 0.65}
_EUROPEAN = {"Ll": 0.68, "Lu": 0.82}  # Latin, Greek and Cyrillic
_DIRECTIONS = {"R": 0.72, "AL": 0.8}  # Hebrew, Arabic
_OTHER, _SYMBOL, _WIDE, _EMOJI, _RARE = 1.1, 1.3, 1.05, 1.45, 2.2

_MONOSPACE = 0.63  # of every character in a font for code that is not wide
_SPARE = 0.2  # once for every text


def clean(text: str) -> str:
    """The text with a � for what cannot be printed on one line."""
    if text.isprintable():
        return text
    return "".join("�" if unicodedata.category(character) in _UNPRINTABLE else character for character in text)


def plain(text: str) -> str:
    """The text without control characters and all else that no XML may have."""
    return _NOT_IN_XML.sub("�", clean(text))


def escaped(text: str) -> str:
    """Any text as content of an element."""
    return escape(plain(text))


def element(tag: str, attributes: Mapping[str, object] | None = None, *content: str) -> str:
    """An element whose content is markup already; attributes are escaped."""
    written = "".join(f" {name}={quoteattr(plain(str(value)))}" for name, value in (attributes or {}).items())
    return f"<{tag}{written}/>" if tag in _EMPTY else f"<{tag}{written}>{''.join(content)}</{tag}>"


def text_width(text: str, size: float, *, monospace: bool = False) -> int:
    """The pixels that a text takes in letters of some size, at most."""
    narrowest = _MONOSPACE if monospace else 0.0
    widths = (_advance(character) for character in text)
    total = sum(max(width, narrowest) if width else width for width in widths)
    return math.ceil(size * (total + _SPARE)) if total else 0


def shorten(text: str, width: int, size: float) -> str:
    """The text, or as much of its start as fits, with a … that says so."""
    # It has no more characters than pixels either: a text may have any number of characters that take no room.
    if max(text_width(text, size), len(text)) <= width:
        return text
    end = bisect_right(range(len(text)), width, key=lambda end: max(text_width(text[:end] + "…", size), end + 1)) - 1
    return text[: max(end, 0)].rstrip(JOINER) + "…"  # a joiner would draw the … into the character before


def is_right_to_left(texts: Iterable[str]) -> bool:
    """Whether most letters are of a script that runs from right to left."""
    characters = "".join(texts)
    if characters.isascii():
        return False
    directions = list(map(unicodedata.bidirectional, characters))
    return directions.count("R") + directions.count("AL") > directions.count("L")


@lru_cache(maxsize=8192)
def _advance(character: str) -> float:
    base = unicodedata.normalize("NFD", character)[:1]
    for table, known in ((_LETTERS, base), (_UNUSUAL, character)):
        if known in table:
            return table[known]
    category = unicodedata.category(character)
    if category in _NO_WIDTH:
        return 0.0
    if category[0] == "S":
        return _EMOJI if character >= "\u2600" else _SYMBOL
    if unicodedata.east_asian_width(character) in "WF":
        return _WIDE
    return _script_width(base, category)


def _script_width(character: str, category: str) -> float:
    widths = _CATEGORIES | _EUROPEAN if character < "\u0530" else _CATEGORIES
    if category in widths:
        return widths[category]
    other = _OTHER if character < "\U00010000" else _RARE
    return _DIRECTIONS.get(unicodedata.bidirectional(character), other)
