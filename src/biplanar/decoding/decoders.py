"""The decoders: from the scores of labels to trees. To add one is a class, and one line in `DECODERS`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from biplanar.data.arrays import Int32s
from biplanar.decoding.beam import Outcome
from biplanar.decoding.candidates import best_given_heads
from biplanar.decoding.inventory import ROOT
from biplanar.decoding.repair import Repair, repair_cleanly, repair_like_the_authors
from biplanar.decoding.scores import best_labels
from biplanar.decoding.sentences import ScoredSentences
from biplanar.errors import UnknownNameError
from biplanar.plugins import add_installed


class Decoder(Protocol):
    """What chooses trees."""

    @property
    def name(self) -> str:
        """The name in `DECODERS`."""

    @property
    def repair(self) -> Repair | None:
        """How the heads that labels alone assert become trees; None if the decoder needs scores."""

    @property
    def finds_several(self) -> bool:
        """Whether several trees of a sentence are found by the same scores as its one tree."""

    def heads(self, sentences: ScoredSentences) -> tuple[Int32s, Outcome]:
        """The heads of all words, which are trees, and how they were found."""

    def relations(self, sentences: ScoredSentences, heads: Int32s) -> Int32s:
        """The relation of each word, as a number of its name in the inventory."""


def relations_given_heads(sentences: ScoredSentences, heads: Int32s) -> Int32s:
    """The best relation of each word to its head; only roots have a root's."""
    return np.asarray(best_given_heads(sentences.scores.relate(heads), heads, sentences.inventory.roots))


class _RelatedToHeads:
    """What most decoders share: relations are chosen when heads are known."""

    def relations(self, sentences: ScoredSentences, heads: Int32s) -> Int32s:
        """Given the heads."""
        return relations_given_heads(sentences, heads)


@dataclass(frozen=True)
class Search(_RelatedToHeads):
    """The best labels that together are a tree."""

    name: str = "search"
    repair: Repair | None = None
    finds_several: bool = True

    def heads(self, sentences: ScoredSentences) -> tuple[Int32s, Outcome]:
        """By the search for the kind of labels."""
        return sentences.best()


@dataclass(frozen=True)
class MinimumRisk(_RelatedToHeads):
    """The tree whose arcs are likeliest, by the trees that the labels allow."""

    name: str = "minimum-risk"
    repair: Repair | None = None
    finds_several: bool = False

    def heads(self, sentences: ScoredSentences) -> tuple[Int32s, Outcome]:
        """By the search for the kind of labels."""
        return sentences.least_risk()


@dataclass(frozen=True)
class Greedy(_RelatedToHeads):
    """Each word's best labels, cleanly repaired."""

    name: str = "greedy"
    repair: Repair | None = repair_cleanly
    finds_several: bool = False

    def heads(self, sentences: ScoredSentences) -> tuple[Int32s, Outcome]:
        """The root is the likeliest word where the labels leave a choice."""
        return sentences.repaired(sentences.best_labels()), Outcome()


@dataclass(frozen=True)
class Paper:
    """Each word's best labels, repaired as the paper's authors do, and the tagger's relation whatever the head is."""

    name: str = "paper"
    repair: Repair | None = repair_like_the_authors
    finds_several: bool = False

    def heads(self, sentences: ScoredSentences) -> tuple[Int32s, Outcome]:
        """The root is a word whose best relation is `root`."""
        scores, inventory = sentences.scores, sentences.inventory
        columns = inventory.columns(sentences.best_labels())
        asserted = inventory.encoding.decode(columns, scores.offsets, sentences.upos)
        is_root = np.array([name == ROOT for name in inventory.deprels], dtype=np.float32)
        likeness = is_root[best_labels(scores.deprels)]
        return np.asarray(repair_like_the_authors(asserted, scores.offsets, likeness)), Outcome()

    def relations(self, sentences: ScoredSentences, heads: Int32s) -> Int32s:  # noqa: ARG002
        """By the word alone."""
        return best_labels(sentences.scores.deprels)


_ALL: tuple[Decoder, ...] = (Search(), MinimumRisk(), Greedy(), Paper())
DECODERS: dict[str, Decoder] = {decoder.name: decoder for decoder in _ALL}

# Of all decoders the best measured; and of those that take labels alone.
DEFAULT_DECODER, DEFAULT_LABEL_DECODER = "search", "greedy"


def all_decoders() -> dict[str, Decoder]:
    """The decoders, with those of installed packages."""
    add_installed("decoders", DECODERS)
    return DECODERS


def get_decoder(name: str) -> Decoder:
    """The decoder of that name."""
    if name not in DECODERS and name not in all_decoders():
        raise UnknownNameError("decoder", name, DECODERS)
    return DECODERS[name]


def get_repair(name: str) -> Repair:
    """The repair of a decoder that takes labels alone."""
    if name not in DECODERS:
        add_installed("decoders", DECODERS)
    repairs = {known: decoder.repair for known, decoder in DECODERS.items() if decoder.repair is not None}
    if name not in repairs:
        raise UnknownNameError("decoder", name, repairs)
    return repairs[name]
