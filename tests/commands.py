"""What a command leaves behind, and how it refuses what it is given; the fixture `run` runs one."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Result(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str


Run = Callable[..., Result]


def check_refused(result: Result, message: str) -> None:
    """One line on standard error, and nothing on standard output."""
    assert result == Result(2, "", f"biplanar: error: {message}\n")


def check_refused_with(result: Result, part: str) -> None:
    """One line on standard error that has this in it, and nothing on standard output."""
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
    assert result.err.startswith("biplanar: error: ")
    assert part in result.err
