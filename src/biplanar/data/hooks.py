"""Functions of higher rooms that sentences call: `data` imports none of them, so the package registers them by name.

A module of its own, as `import biplanar` loads it and must not load NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])

HOOKS: dict[str, Callable[..., Any]] = {}


def hook(name: str) -> Callable[[Function], Function]:
    """Register a function under that name."""

    def register(function: Function) -> Function:
        HOOKS[name] = function
        return function

    return register
