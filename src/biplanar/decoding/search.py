"""Searches by the kind of labels: to add one for another kind is one file, and one line here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from biplanar.data.arrays import Float32s, Int32s
from biplanar.data.forest import Column
from biplanar.decoding.automaton_search import AutomatonSearch
from biplanar.decoding.beam import Outcome, SearchConfig
from biplanar.decoding.head_search import HeadSearch
from biplanar.decoding.inventory import LabelInventory
from biplanar.decoding.scores import Scores
from biplanar.decoding.stack_search import StackSearch
from biplanar.encodings.encoding import AUTOMATON, HEADS, STACKS, Encoding, kind_of
from biplanar.errors import LabelError


class Trees(Protocol):
    """The trees that the labels of some sentences allow, and how likely they are."""

    def best(self) -> tuple[Int32s, Outcome]:
        """The heads of the best trees, and how they were found."""

    def least_risk(self) -> tuple[Int32s, Outcome]:
        """The heads of the trees whose arcs are likeliest."""

    def probabilities(self, heads: Int32s) -> Float32s:
        """How likely each word's head is."""

    def several(self, wanted: int) -> list[list[tuple[Int32s, float]]]:
        """For each sentence the heads of up to so many trees, best first, with their labels' log-probabilities."""


class TreeSearch(Protocol):
    """Finds trees among the labels of one model."""

    def trees(self, scores: Scores, upos: Column | None = None) -> Trees:
        """The trees of some sentences."""


SEARCHES: dict[str, Callable[[LabelInventory, SearchConfig], TreeSearch]] = {
    STACKS: StackSearch,
    HEADS: HeadSearch,
    AUTOMATON: AutomatonSearch,
}

# The kinds of labels of which several trees can be found.
SEVERAL_TREES = {STACKS, AUTOMATON}


def make_search(inventory: LabelInventory, config: SearchConfig) -> TreeSearch:
    """The search over the labels of a model; labels of a kind that no search knows are refused."""
    kind = kind_of(inventory.encoding)
    if kind is None or not is_searchable(inventory.encoding):
        known = " or ".join(SEARCHES)
        message = f"{inventory.encoding.name}: expected labels of the kind {known} to search, found {kind}"
        raise LabelError(f"{message}; a decoder that takes labels alone needs no kind")
    return SEARCHES[kind](inventory, config)


def is_searchable(encoding: Encoding) -> bool:
    """Whether there is a search for the kind of labels."""
    return kind_of(encoding) in SEARCHES


def finds_several_trees(encoding: Encoding) -> bool:
    """Whether several trees of a sentence can be found."""
    return kind_of(encoding) in SEVERAL_TREES
