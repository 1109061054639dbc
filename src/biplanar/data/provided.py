"""What rooms above do for sentences: `data` imports none of them, so the package registers their functions by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])

_functions: dict[str, Callable[..., Any]] = {}


def provides(name: str) -> Callable[[Function], Function]:
    """Register a function of a sentence."""

    def register(function: Function) -> Function:
        _functions[name] = function
        return function

    return register


def provided(name: str) -> Callable[..., Any]:
    """The function that was registered by that name."""
    return _functions[name]
