"""What notebooks show of sentences. Pictures are made by rooms that lie above the sentences'; the two meet here.

The front door of the package, which knows all rooms, says how a sentence is drawn; the sentence only asks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_drawings: list[Callable[[Any], str]] = []


def draws_sentences(drawing: Callable[[Any], str]) -> Callable[[Any], str]:
    """Have sentences shown by this function, which makes HTML of one."""
    _drawings[:] = [drawing]
    return drawing


def to_html(sentence: object) -> str:
    """A sentence as a notebook shows it."""
    return _drawings[0](sentence)
