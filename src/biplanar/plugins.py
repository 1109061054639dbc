"""Extension points: functions of higher rooms that sentences call, and entry points of installed packages.

`import biplanar` loads this module, which must not load NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from biplanar.errors import BiplanarError

# By name; `data` imports no higher room, so the package enters them.
HOOKS: dict[str, Callable[..., Any]] = {}


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
