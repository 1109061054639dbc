"""Encodings: trees to labels and back. All of them stand in one dict, behind one small protocol (`Encoding`)."""

from __future__ import annotations

from biplanar.encodings.brackets import Brackets
from biplanar.encodings.encoding import Encoding
from biplanar.encodings.positions import Absolute, Relative, RelativePos
from biplanar.errors import UnknownNameError
from biplanar.planes.assignment import STRATEGIES

__all__ = ["ENCODINGS", "Encoding", "get_encoding"]

_ALL: tuple[Encoding, ...] = (
    Brackets("1p-brackets", None),
    *(Brackets(name, strategy) for name, strategy in STRATEGIES.items()),
    RelativePos(),
    Absolute(),
    Relative(),
)
ENCODINGS: dict[str, Encoding] = {encoding.name: encoding for encoding in _ALL}


def get_encoding(name: str) -> Encoding:
    """The encoding of that name."""
    if name not in ENCODINGS:
        raise UnknownNameError("encoding", name, ENCODINGS)
    return ENCODINGS[name]
