"""Every error that a user can cause, in one hierarchy: the command line prints them and exits with 2."""

from __future__ import annotations

import copyreg
import difflib
import importlib
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from typing import Any


class BiplanarError(Exception):
    """The base of all expected errors."""

    def __reduce__(self) -> tuple[Any, ...]:  # pickling would call the constructors, which take other arguments
        return copyreg.__newobj__, (type(self), *self.args), vars(self)  # type: ignore[attr-defined]


class FileError(BiplanarError):
    """A file that cannot be opened, read or written."""


class UnfinishedError(BiplanarError):
    """Work that ended halfway for a reason outside its input, such as killed workers: finished results are kept."""


class FormatError(BiplanarError):
    """Input that breaks the rules of its format; names the file and the line."""

    def __init__(self, path: str, line: int, message: str) -> None:
        super().__init__(f"{path}:{line}: {message}")
        self.path, self.line, self.message = path, line, message


class TreeError(BiplanarError):
    """Heads that are not a tree, or a tree that an encoding cannot express; `sentence` is its index among several."""

    def __init__(self, message: str, sentence: int = 0) -> None:
        super().__init__(message)
        self.sentence = sentence


class GraphError(BiplanarError):
    """Heads that are no graph; `node` is the word, or the id of the empty node, that is wrong."""

    def __init__(self, message: str, node: int | str = 1) -> None:
        super().__init__(message)
        self.node = node


class LabelError(BiplanarError):
    """Labels that do not fit the sentence or the encoding."""


class ScoreError(BiplanarError):
    """Scores of a network that are NaN, infinite or huge."""


class UnknownNameError(BiplanarError):
    """A name that is not among the known ones; suggests the nearest."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        names = list(known)
        nearest = difflib.get_close_matches(name, names, n=1, cutoff=0.4)
        hint = f"; did you mean {nearest[0]!r}?" if nearest else ""
        super().__init__(f"unknown {kind} {name!r}{hint} (known: {', '.join(names)})")


def check_name(kind: str, name: str, known: Collection[str]) -> None:
    """Raise an error if a name is not among the known ones."""
    if name not in known:
        raise UnknownNameError(kind, name, known)


@contextmanager
def file_errors(path: object) -> Iterator[None]:
    """Turn an error of the operating system into one that names the file."""
    try:
        yield
    except OSError as error:
        raise FileError(f"{path}: {error.strerror or error}") from error


def first_line(error: BaseException) -> str:
    """What another library's error says, in one line."""
    return str(error).strip().partition("\n")[0]


@contextmanager
def needing(extra: str, purpose: str) -> Iterator[None]:
    """Turn a failed import into an error that says which extra of this package installs what is missing."""
    try:
        yield
    except (ImportError, OSError) as error:  # OSError: a C library is missing
        how = f"pip install '.[{extra}]' in a checkout of Biplanar"
        raise BiplanarError(f"{purpose} needs the extra {extra!r}: {how} ({error})") from error


def need(module: str, purpose: str, extra: str) -> Any:
    """Import a module of an optional library, or say which extra installs it."""
    with needing(extra, purpose):
        return importlib.import_module(module)
