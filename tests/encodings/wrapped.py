"""Encodings of classes that the package does not know."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from biplanar.data.forest import Column, Forest
from biplanar.encodings import Encoding, get_encoding
from biplanar.encodings.encoding import HEADS, STACKS
from biplanar.encodings.stacks import Moves


@dataclass(frozen=True)
class Wrapped:
    """Does all that another encoding does, but is of another class."""

    inner: Encoding = field(default_factory=lambda: get_encoding("1p-brackets"))
    name: str = "wrapped"

    @property
    def tasks(self) -> tuple[str, ...]:
        return self.inner.tasks

    @property
    def needs_upos(self) -> bool:
        return self.inner.needs_upos

    def encode(self, forest: Forest) -> tuple[Column, ...]:
        return self.inner.encode(forest)

    def decode(self, columns: Sequence[Column], offsets: np.ndarray, upos: Column | None = None) -> np.ndarray:
        return self.inner.decode(columns, offsets, upos)

    def planes(self, forest: Forest) -> np.ndarray | None:
        return self.inner.planes(forest)


@dataclass(frozen=True)
class Moving(Wrapped):
    """And says that its labels move stacks, and how."""

    kind: str = STACKS

    def moves(self, names: Sequence[Sequence[str]]) -> Moves:
        return self.inner.moves(names)


@dataclass(frozen=True)
class Naming(Wrapped):
    """And says that its labels name heads."""

    kind: str = HEADS


@dataclass(frozen=True)
class Strange(Wrapped):
    """And says that its labels are something else."""

    kind: str = "transitions"


@dataclass(frozen=True)
class ManyTasks(Moving):
    """Labels of three planes, as if the third were the first once more."""

    tasks: tuple[str, ...] = ("plane1", "plane2", "plane3")

    def encode(self, forest: Forest) -> tuple[Column, ...]:
        return (*self.inner.encode(forest),) * 3
