"""Encodings: trees to labels and back. All of them stand in one dict, behind one small protocol."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from biplanar.data.arrays import Int32s, Int64s
from biplanar.data.forest import Column, Forest
from biplanar.encodings.brackets import Brackets
from biplanar.encodings.positions import Absolute, Relative, RelativePos
from biplanar.errors import UnknownNameError
from biplanar.planes.assignment import STRATEGIES


class Encoding(Protocol):
    """What an encoding can do, for many sentences at once."""

    @property
    def name(self) -> str:
        """The name in `ENCODINGS`."""

    @property
    def tasks(self) -> tuple[str, ...]:
        """The names of the labels that each word gets, beside its relation."""

    @property
    def needs_upos(self) -> bool:
        """Whether part-of-speech tags are needed to encode and to decode."""

    def encode(self, forest: Forest) -> tuple[Column, ...]:
        """One column of labels a task."""

    def decode(self, columns: Sequence[Column], offsets: Int64s, upos: Column | None = None) -> Int32s:
        """The head that the labels assert for each word: 0 for the root, -1 (`NO_HEAD`) where they assert none."""


_ALL: tuple[Encoding, ...] = (
    Brackets("1p-brackets", None),
    *(Brackets(name, strategy) for name, strategy in STRATEGIES.items()),
    RelativePos(),
    Absolute(),
    Relative(),
)
ENCODINGS = {encoding.name: encoding for encoding in _ALL}


def get_encoding(name: str) -> Encoding:
    """The encoding of that name."""
    if name not in ENCODINGS:
        raise UnknownNameError("encoding", name, ENCODINGS)
    return ENCODINGS[name]
