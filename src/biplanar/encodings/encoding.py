"""What an encoding is: labels for trees and back, and what kind of labels these are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from biplanar.data.arrays import Int8s, Int32s, Int64s
from biplanar.data.conllu import Sentence
from biplanar.data.forest import Column, Forest
from biplanar.errors import TreeError

# The kinds of labels that decoders know: labels that move stacks (of a `StackEncoding`), labels of one task that each
# name a head, and labels of one task that drive an automaton (of an `AutomatonEncoding`).
STACKS, HEADS, AUTOMATON = "stacks", "heads", "automaton"


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

    @property
    def kind(self) -> str:
        """The kind of the labels: one of those above, or another, which only decoders that need no kind will take."""

    def encode(self, forest: Forest) -> tuple[Column, ...]:
        """One column of labels a task."""

    def decode(self, columns: Sequence[Column], offsets: Int64s, upos: Column | None = None) -> Int32s:
        """The head that the labels assert for each word: 0 for the root, -1 (`NO_HEAD`) where they assert none."""

    def planes(self, forest: Forest) -> Int8s | None:
        """The plane of every arc, 0 for arcs that the labels do not hold; None where the encoding has no planes."""


class WithoutPlanes:
    """What most encodings share that have no planes."""

    needs_upos: bool = False

    def planes(self, forest: Forest) -> Int8s | None:
        """None."""
        return None


def encoded(encoding: Encoding, forest: Forest, sentences: Sequence[Sentence]) -> tuple[Column, ...]:
    """The labels of the trees of some sentences; an error names the line of the one that has none."""
    try:
        return encoding.encode(forest)
    except TreeError as error:
        raise sentences[error.sentence].error_at(1, str(error)) from error


def kind_of(encoding: Encoding) -> str | None:
    """The kind that an encoding declares, if it declares one."""
    return getattr(encoding, "kind", None)
