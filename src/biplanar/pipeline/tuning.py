"""Choosing what decoding makes of a model's scores: on the dev file, when training ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from biplanar.data.arrays import Float32s, Int64s
from biplanar.data.conllu import Sentence
from biplanar.data.forest import Column, Forest
from biplanar.decoding.inventory import UPOS, LabelInventory, Weights
from biplanar.decoding.scores import Scores
from biplanar.decoding.search import is_searchable
from biplanar.decoding.tree_decoder import Parsed, TreeDecoder
from biplanar.tagger.features import Corpus, batches_by_words
from biplanar.tagger.predict import Scorer

# What is tried.
ARC_WEIGHTS = (0.5, 1.0, 2.0, 3.0)
TEMPERATURES = (1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0)

# Words of the dev file on which the temperature is chosen, at most.
MOST_WORDS = 5_000

# Probabilities may be rounded to 0 or 1; being wrong costs no more than this one does.
LEAST = 1e-6


@dataclass(frozen=True)
class ScoredTreebank:
    """The scores of a treebank, computed once, to be decoded with several weights."""

    inventory: LabelInventory
    gold: Forest
    parts: Sequence[tuple[Int64s, Scores]]  # numbers of words, and their scores

    @classmethod
    def of(
        cls, scorer: Scorer, inventory: LabelInventory, sentences: list[Sentence], batch_words: int
    ) -> ScoredTreebank:
        """Compute the scores of all sentences."""
        corpus = Corpus.of(sentence.forms for sentence in sentences)
        forms = scorer.represent(corpus.forms)
        batches = batches_by_words(corpus.lengths, batch_words, np.arange(len(sentences)))
        parts = [(corpus.places(chosen), scorer.score(forms, corpus.batch(chosen))) for chosen in batches]
        return cls(inventory, Forest.from_sentences(sentences), parts)

    def choose_weights(self) -> Weights:
        """The weight of arcs with which most words get the right head and relation, and the fitting temperature."""
        if not is_searchable(self.inventory.encoding):
            return self.inventory.weights
        weights = self.choose_arc_weight()
        return min((replace(weights, temperature=one) for one in TEMPERATURES), key=self.surprise)

    def choose_arc_weight(self) -> Weights:
        """The weight of arcs with which most words get the right head and relation."""
        weights = self.inventory.weights
        if not self.has_arcs:
            return weights
        return max((replace(weights, arcs=one) for one in ARC_WEIGHTS), key=self.right_words)

    @property
    def has_arcs(self) -> bool:
        """Whether there are scores of arcs."""
        return all(scores.arcs is not None for _, scores in self.parts)

    def right_words(self, weights: Weights) -> int:
        """How many words get the right head and relation."""
        names, labels, right = np.array(self.inventory.deprels), np.array(self.gold.deprels.labels()), 0
        for places, scores in self.parts:
            parsed = self._decode(places, scores, weights)
            heads = parsed.heads == self.gold.heads[places]
            right += int((heads & (names[parsed.relations] == labels[places])).sum())
        return right

    def surprise(self, weights: Weights) -> float:
        """How improbable it is, to a model with these weights, which of its heads are right."""
        total, words = 0.0, 0
        for places, scores in self.parts:
            if words >= MOST_WORDS:
                break
            parsed = self._decode(places, scores, weights, probabilities=True)
            assert parsed.probabilities is not None
            likely: Float32s = np.nan_to_num(parsed.probabilities, nan=0.5)
            right = parsed.heads == self.gold.heads[places]
            total -= float(np.log(np.where(right, likely, 1 - likely).clip(min=LEAST)).sum())
            words += len(places)
        return total / max(words, 1)

    def _decode(self, places: Int64s, scores: Scores, weights: Weights, *, probabilities: bool = False) -> Parsed:
        inventory = replace(self.inventory, weights=weights)
        upos = None
        if inventory.encoding.needs_upos and UPOS not in inventory.names and self.gold.upos is not None:
            upos = Column(self.gold.upos.ids[places], self.gold.upos.names)
        return TreeDecoder(inventory, probabilities=probabilities, tags=False).decode(scores, upos)
