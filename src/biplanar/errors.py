"""Every error that a user can cause, in one hierarchy: the command line prints them and exits with 2."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class BiplanarError(Exception):
    """The base of all errors that Biplanar raises on purpose."""


class FileError(BiplanarError):
    """A file that cannot be opened, read or written."""


class UnfinishedError(BiplanarError):
    """Work that had to end halfway, though not for what it was given: what was done before is worth keeping."""


class FormatError(BiplanarError):
    """Text that is not what its format asks for; says where."""

    def __init__(self, path: str, line: int, message: str) -> None:
        super().__init__(f"{path}:{line}: {message}")
        self.path, self.line, self.message = path, line, message


class TreeError(BiplanarError):
    """Heads that are no tree, or a tree that the task at hand cannot take; `sentence` says which of many (from 0)."""

    def __init__(self, message: str, sentence: int = 0) -> None:
        super().__init__(message)
        self.sentence = sentence


class LabelError(BiplanarError):
    """Labels whose number or shape does not fit the sentence or the encoding."""


class ScoreError(BiplanarError):
    """Scores of a network that are NaN, infinite or huge."""


class UnknownNameError(BiplanarError):
    """A name that is not among the known ones; proposes the nearest."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        names = list(known)
        nearest = difflib.get_close_matches(name, names, n=1, cutoff=0.4)
        hint = f"; did you mean {nearest[0]!r}?" if nearest else ""
        super().__init__(f"unknown {kind} {name!r}{hint} (known: {', '.join(names)})")
