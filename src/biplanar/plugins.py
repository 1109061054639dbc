"""What installed packages add: encodings, decoders, output columns and encoders, as entry points."""

from __future__ import annotations

from typing import Any

from biplanar.errors import BiplanarError


def add_installed(group: str, known: dict[str, Any]) -> None:
    """Add to a dict what installed packages have under `biplanar.{group}`; names that are known already stay.

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
