"""Stored sentences a second, by model, place and what was timed; and their ratios."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import geometric_mean
from typing import Any, NamedTuple

from study.plan import PAPER
from study.store import Store
from study.treebanks import TREEBANKS

CORE, CORE_TORCH, GPU = ("cpu", "int8"), ("cpu", "torch"), ("cuda", "torch")
NETWORK, BY_PAPER, BY_SEARCH = "network", "file to file, paper", "file to file, search"
WHAT = (NETWORK, BY_PAPER, BY_SEARCH)

Place = tuple[str, str]  # device and runtime


class Timed(NamedTuple):
    """What a rate is of. The system is the key of a run without its seed: any seed may be measured."""

    system: str
    place: Place
    what: str


Rates = dict[Timed, float]


def system(treebank: str, encoding: str, network: str = PAPER) -> str:
    """The key of a run without its seed."""
    return f"{treebank}-{network}-{encoding}"


def rates(store: Store, *, in_turn: bool = False) -> Rates:
    """Sentences a second: those of Table 7, or those of models that took turns."""
    return {
        Timed(_system(row), (row["device"], row["runtime"]), row["what"]): row["sentences"] / row["seconds"]
        for row in _rows(store, in_turn)
    }


def shorter(store: Store) -> set[str]:
    """Systems of Table 7 whose model was trained for fewer rounds than that of the accuracies."""
    runs = store.studies["paper"]
    return {
        _system(row)
        for row in _rows(store, in_turn=False)
        if row["epochs"] < runs[row["key"]]["settings"]["training.epochs"]
    }


def ratio(
    found: Rates, place: Place, encoding: str, other: str, what: str, other_what: str | None = None
) -> list[float]:
    """How many times as fast one encoding is as another, on each treebank that has both."""
    pairs = (
        (Timed(system(one.code, encoding), place, what), Timed(system(one.code, other), place, other_what or what))
        for one in TREEBANKS
    )
    return [found[one] / found[two] for one, two in pairs if one in found and two in found]


def spread(ratios: Sequence[float]) -> str:
    """The geometric mean of some ratios, and their range."""
    return f"{geometric_mean(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"


def _rows(store: Store, in_turn: bool) -> Iterator[dict[str, Any]]:
    for measurement in store.files["speed-paper"]:
        if measurement["in_turn"] == in_turn:
            yield from measurement["rows"]


def _system(row: dict[str, Any]) -> str:
    return str(row["key"]).rpartition("-")[0]
