"""Elements of SVG and HTML as text, with everything escaped."""

from __future__ import annotations

import re
from collections.abc import Mapping
from xml.sax.saxutils import escape, quoteattr

from biplanar.draw.cells import clean

_EMPTY = {"meta", "path", "rect"}  # HTML takes no other element of ours as closed by its own tag
_NOT_IN_XML = re.compile("[\ufffe\uffff]")


def element(tag: str, attributes: Mapping[str, object] | None = None, *content: str) -> str:
    """An element whose content is markup already; attributes are escaped."""
    written = "".join(f" {name}={quoteattr(plain(str(value)))}" for name, value in (attributes or {}).items())
    return f"<{tag}{written}/>" if tag in _EMPTY else f"<{tag}{written}>{''.join(content)}</{tag}>"


def escaped(text: str) -> str:
    """Any text as content of an element."""
    return escape(plain(text))


def plain(text: str) -> str:
    """The text without control characters and all else that no XML may have."""
    return _NOT_IN_XML.sub("�", clean(text))
