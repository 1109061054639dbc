"""Libraries that only some installations have."""

from __future__ import annotations

import importlib
from typing import Any

from biplanar.errors import BiplanarError


def need(module: str, purpose: str, extra: str) -> Any:
    """A module of an optional library, or an error that says how to install it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        library = module.partition(".")[0]
        raise BiplanarError(f"{purpose} needs {library}: pip install 'biplanar[{extra}]' ({error})") from error
