"""Text as UDPipe can take it."""

from __future__ import annotations

import re

_UNFIT = re.compile("[\0\ud800-\udfff]")  # what UDPipe cannot be given: the end of a C string, lone surrogates


def for_udpipe(text: str) -> str:
    """The same text with replacement characters for what UDPipe cannot be given."""
    return _UNFIT.sub("\ufffd", text)
