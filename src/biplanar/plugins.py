"""What is added from above: functions of higher rooms that sentences call, and what installed packages bring.

`import biplanar` loads this module, which must not load NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from biplanar.errors import BiplanarError

Function = TypeVar("Function", bound=Callable[..., Any])

# By name; `data` imports no higher room, so the package registers them.
HOOKS: dict[str, Callable[..., Any]] = {}


def hook(name: str) -> Callable[[Function], Function]:
    """Register a function of a higher room under that name."""

    def register(function: Function) -> Function:
        HOOKS[name] = function
        return function

    return register


def add_installed(group: str, known: dict[str, Any]) -> None:
    """Add the entry points `biplanar.{group}` of installed packages to a dict; names that are known already stay.

    Finding entry points takes a while, so it is done only for a name that is not known, or to list all.
    """
    from importlib.metadata import entry_points

    for point in entry_points(group=f"biplanar.{group}"):
        if point.name not in known:
            try:
                known[point.name] = point.load()
            except Exception as error:
                owner = f" of the package {point.dist.name}" if point.dist else ""
                raise BiplanarError(f"biplanar.{group}: cannot load {point.name}{owner}: {error}") from error
