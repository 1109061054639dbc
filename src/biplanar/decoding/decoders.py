"""The decoders: from the scores of labels to trees. To add one is a class, and one line in `DECODERS`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import methodcaller
from typing import Protocol

import numpy as np

from biplanar.data.arrays import Int32s
from biplanar.decoding.beam import Outcome
from biplanar.decoding.candidates import best_given_heads, best_labels
from biplanar.decoding.inventory import ROOT
from biplanar.decoding.repair import Repair, repair_cleanly, repair_like_the_authors
from biplanar.decoding.sentences import ScoredSentences
from biplanar.errors import check_name
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


@dataclass(frozen=True)
class _Decoder:
    """A decoder as two functions. Most choose relations when heads are known."""

    name: str
    heads: Callable[[ScoredSentences], tuple[Int32s, Outcome]]
    relations: Callable[[ScoredSentences, Int32s], Int32s] = relations_given_heads
    repair: Repair | None = None
    finds_several: bool = False


def _unsearched(sentences: ScoredSentences) -> Outcome:
    return Outcome(unsearched=len(sentences.scores.offsets) - 1)


def _greedy_heads(sentences: ScoredSentences) -> tuple[Int32s, Outcome]:
    """The root is the likeliest word where the labels leave a choice."""
    return sentences.repaired(sentences.best_labels()), _unsearched(sentences)


def _heads_of_the_paper(sentences: ScoredSentences) -> tuple[Int32s, Outcome]:
    """The root is a word whose best relation is `root`."""
    scores, inventory = sentences.scores, sentences.inventory
    asserted = inventory.heads_of(sentences.best_labels(), scores.offsets, sentences.upos)
    is_root = np.array([name == ROOT for name in inventory.deprels], dtype=np.float32)
    likeness = is_root[best_labels(scores.deprels)]
    return np.asarray(repair_like_the_authors(asserted, scores.offsets, likeness)), _unsearched(sentences)


def _relations_of_words(sentences: ScoredSentences, heads: Int32s) -> Int32s:  # noqa: ARG001
    """By the word alone, whatever the head is."""
    return best_labels(sentences.scores.deprels)


_ALL: tuple[Decoder, ...] = (
    _Decoder("search", methodcaller("best"), finds_several=True),
    _Decoder("minimum-risk", methodcaller("least_risk")),
    _Decoder("greedy", _greedy_heads, repair=repair_cleanly),
    _Decoder("paper", _heads_of_the_paper, _relations_of_words, repair_like_the_authors),
)
DECODERS: dict[str, Decoder] = {decoder.name: decoder for decoder in _ALL}

# Of all decoders the best measured; and of those that take labels alone.
DEFAULT_DECODER, DEFAULT_LABEL_DECODER = "search", "greedy"


def all_decoders() -> dict[str, Decoder]:
    """The decoders, with those of installed packages."""
    add_installed("decoders", DECODERS)
    return DECODERS


def get_decoder(name: str) -> Decoder:
    """The decoder of that name."""
    if name not in DECODERS:
        check_name("decoder", name, all_decoders())
    return DECODERS[name]


def get_repair(name: str) -> Repair:
    """The repair of a decoder that takes labels alone."""
    known = DECODERS if name in DECODERS else all_decoders()
    repairs = {key: decoder.repair for key, decoder in known.items() if decoder.repair is not None}
    check_name("decoder", name, repairs)
    return repairs[name]
