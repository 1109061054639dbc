"""White space around tokens, as MISC tells it: `SpaceAfter`, and `SpacesAfter` and its like in UDPipe's manner."""

from __future__ import annotations

import re

# How UDPipe writes white space, and what would end an item of MISC, in the values of SpacesAfter and its like.
_ESCAPES = {" ": r"\s", "\t": r"\t", "\r": r"\r", "\n": r"\n", "|": r"\p", "\\": r"\\"}
_ESCAPED = str.maketrans(_ESCAPES)
_UNESCAPED = {escape: sign for sign, escape in _ESCAPES.items()}
_ESCAPE = re.compile(r"\\[strnp\\]")


def misc_items(misc: str) -> dict[str, str]:
    """The values of a MISC column by their names; the first of a name counts."""
    return dict(item.partition("=")[::2] for item in reversed(misc.split("|")))


def spaced(form: str, misc: str) -> tuple[str, str, str]:
    """A token as it stands in the text: the white space before it, itself, and the white space behind it."""
    if misc == "_":
        return "", form, " "
    items = misc_items(misc)
    after = "" if items.get("SpaceAfter") == "No" else r"\s"
    parts = items.get("SpacesBefore", ""), items.get("SpacesAfter", after)
    before, behind = map(unescape_spaces, parts)
    return before, unescape_spaces(items["SpacesInToken"]) if "SpacesInToken" in items else form, behind


def space_items(after: str, before: str = "") -> list[str]:
    """The items of MISC that tell which white space is behind a token, and before it."""
    items = [f"SpacesBefore={escape_spaces(before)}"] if before else []
    return items + (["SpaceAfter=No"] if not after else [] if after == " " else [f"SpacesAfter={escape_spaces(after)}"])


def escape_spaces(text: str) -> str:
    """White space, or a token with white space in it, as a value in MISC; rare kinds of space stay as they are."""
    return text.translate(_ESCAPED)


def unescape_spaces(value: str) -> str:
    """The white space, or the token, that such a value stands for."""
    return _ESCAPE.sub(lambda found: _UNESCAPED[found[0]], value) if "\\" in value else value
