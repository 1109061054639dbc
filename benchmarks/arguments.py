"""Command lines: errors as one line on standard error and exit code 2, as the command `biplanar` reports them."""

from __future__ import annotations

import argparse
from argparse import ArgumentTypeError
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import NoReturn

from biplanar.errors import BiplanarError, UnknownNameError


class ArgumentParser(argparse.ArgumentParser):
    """A parser that keeps the line breaks of its description, and reports errors without repeating the usage."""

    def __init__(self, module: str, description: str | None) -> None:
        form = argparse.RawDescriptionHelpFormatter
        super().__init__(prog=f"python -m {module}", description=description, formatter_class=form)

    def error(self, message: str) -> NoReturn:
        """One line, and exit code 2."""
        self.exit(2, f"{self.prog}: error: {message}\n")

    @contextmanager
    def reporting(self) -> Iterator[None]:
        """Report the package's own errors in the same way."""
        try:
            yield
        except BiplanarError as error:
            self.error(str(error))


def names(kind: str, known: Collection[str]) -> Callable[[str], list[str]]:
    """The type of an option that takes some of the known names, separated by commas."""

    def parse(text: str) -> list[str]:
        chosen = list(dict.fromkeys(name.strip() for name in text.split(",")))
        for name in chosen:
            if name not in known:
                raise ArgumentTypeError(str(UnknownNameError(kind, name, known)))
        return chosen

    return parse


def at_least(least: int) -> Callable[[str], int]:
    """The type of an option that takes a whole number from `least` on."""

    def parse(text: str) -> int:
        if not text.isdecimal() or int(text) < least:
            raise ArgumentTypeError(f"{text!r} is not a whole number from {least} on")
        return int(text)

    return parse
