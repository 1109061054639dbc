"""Text as UDPipe can take it."""

from __future__ import annotations

import re

_UNFIT = re.compile("[\0\ud800-\udfff]")  # what UDPipe cannot be given: the end of a C string, lone surrogates
_MORE_SPACES = re.compile("[\v\f\x1c-\x1f\x85\u2028\u2029]")  # which UDPipe takes for parts of words
_LINE_ENDS = re.compile(r"(?:[^\r\n]|\r(?=[\r\n]|\Z))*\n*")  # UDPipe ends a line at \r, too


def for_udpipe(text: str) -> str:
    """The same text with replacement characters for what UDPipe cannot be given."""
    return _UNFIT.sub("\ufffd", text)


def paragraph_for_udpipe(paragraph: str, *, presegmented: bool = False) -> str:
    """A paragraph in which UDPipe sees the same white space as Python, with some of it at its end.

    All characters stay where they are. If each line is a sentence, line ends come last, as UDPipe ends a line there.
    """
    given = for_udpipe(_MORE_SPACES.sub(" ", paragraph))
    words = given.rstrip()
    if len(words) == len(given):
        return f"{given}\n"
    if presegmented and not _LINE_ENDS.fullmatch(given, len(words)):
        ends = given.count("\n", len(words))
        return words + " " * (len(given) - len(words) - ends) + "\n" * ends
    return given
