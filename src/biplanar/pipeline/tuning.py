"""Choosing the weights of decoding on dev, when training ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from biplanar.data.arrays import Int64s
from biplanar.data.conllu import Sentence
from biplanar.data.forest import Column, Forest
from biplanar.decoding.calibration import features, fit_slopes
from biplanar.decoding.inventory import UPOS, LabelInventory, Weights
from biplanar.decoding.scores import Scores
from biplanar.decoding.search import is_searchable
from biplanar.decoding.tree_decoder import TreeDecoder
from biplanar.encodings.lifting import lift
from biplanar.tagger.config import AUTO, DecodingConfig
from biplanar.tagger.features import Corpus, batches_by_words
from biplanar.tagger.predict import Scorer

# What is tried.
ARC_WEIGHTS = (0.5, 1.0, 2.0, 3.0)

# Probabilities are calibrated on up to this many words of dev.
MOST_WORDS = 20_000


def tuned(
    given: DecodingConfig, scorer: Scorer, inventory: LabelInventory, dev: list[Sentence], batch_words: int
) -> DecodingConfig:
    """The given settings, with those that are best on dev in the place of `auto`."""
    values = asdict(given)
    if AUTO in values.values():
        found = asdict(ScoredTreebank.of(scorer, inventory, dev, batch_words).choose_weights())
        found["arc_weight"] = found.pop("arcs")
        values = {name: found[name] if value == AUTO else value for name, value in values.items()}
    return DecodingConfig(**values)


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
        """The weight of arcs, and the slopes of probabilities."""
        if not is_searchable(self.inventory.encoding):
            return self.inventory.weights
        return self.choose_slopes(self.choose_arc_weight())

    def choose_arc_weight(self) -> Weights:
        """The weight of arcs with which most words get the right head and relation."""
        weights = self.inventory.weights
        if any(scores.arcs is None for _, scores in self.parts):
            return weights
        return max((replace(weights, arcs=one) for one in ARC_WEIGHTS), key=self.right_words)

    def right_words(self, weights: Weights) -> int:
        """How many words get the right head and relation."""
        names, labels, right = np.array(self.inventory.deprels), np.array(self.gold.deprels.labels()), 0
        decoder = TreeDecoder(replace(self.inventory, weights=weights), tags=False)
        for places, scores in self.parts:
            parsed = decoder.decode(scores, self._upos(places))
            heads = parsed.heads == self.gold.heads[places]
            right += int((heads & (names[parsed.relations] == labels[places])).sum())
        return right

    def choose_slopes(self, weights: Weights) -> Weights:
        """The slopes with which the probabilities of heads say best which of them are right."""
        decoder = TreeDecoder(replace(self.inventory, weights=weights))
        gold, known, right, words = lift(self.inventory.encoding, self.gold).heads, [], [], 0
        for places, scores in self.parts:
            if words >= MOST_WORDS:
                break
            sentences = decoder.sentences(scores, self._upos(places))
            heads, _ = sentences.best()
            known.append(features(sentences.probabilities(heads), scores, heads))
            right.append(heads == gold[places])
            words += len(places)
        found, truths = np.concatenate(known), np.concatenate(right)
        sure = ~np.isnan(found).any(axis=1)
        tree_slope, arc_slope = fit_slopes(found[sure], truths[sure])
        return replace(weights, tree_slope=tree_slope, arc_slope=arc_slope)

    def _upos(self, places: Int64s) -> Column | None:
        """Tags that the encoding needs and the network does not predict."""
        inventory, upos = self.inventory, self.gold.upos
        if upos is None or not inventory.encoding.needs_upos or UPOS in inventory.names:
            return None
        return Column(upos.ids[places], upos.names)
