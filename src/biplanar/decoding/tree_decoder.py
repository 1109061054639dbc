"""From scores to trees: heads, relations and, if asked for, how likely the heads are."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field

import numpy as np

from biplanar.data.arrays import Float32s, Int32s, Int64s
from biplanar.data.conllu import EMPTY
from biplanar.data.forest import Column, Forest
from biplanar.decoding.arcs import cut_scores
from biplanar.decoding.beam import Beam, Outcome
from biplanar.decoding.calibration import calibrated
from biplanar.decoding.decoders import DECODERS, DEFAULT_DECODER, Decoder
from biplanar.decoding.inventory import UPOS, LabelInventory
from biplanar.decoding.scores import Scores
from biplanar.decoding.search import SEARCHES
from biplanar.decoding.sentences import ScoredSentences
from biplanar.encodings.encoding import kind_of
from biplanar.encodings.lifting import lifting_of, lower
from biplanar.errors import LabelError

# How many words a thread decodes at a time, where there are several.
PART_WORDS = 8_000


@dataclass(frozen=True)
class Parsed:
    """The trees of some sentences, end to end."""

    heads: Int32s
    relations: Int32s  # numbers of their names in the inventory
    probabilities: Float32s | None = None  # of each word's head, if they were asked for; NaN where no tree was found
    outcome: Outcome = field(default_factory=Outcome)
    columns: Mapping[str, Int32s] = field(default_factory=dict)  # labels of the inventory's output columns

    @classmethod
    def joined(cls, parts: list[Parsed], order: Int64s) -> Parsed:
        """Many parts end to end, with the words put in another order."""
        heads, relations = (
            np.concatenate([getattr(part, name) for part in parts])[order] for name in ("heads", "relations")
        )
        known = [part.probabilities for part in parts if part.probabilities is not None]
        probabilities = np.concatenate(known)[order] if known else None
        columns = {name: np.concatenate([part.columns[name] for part in parts])[order] for name in parts[0].columns}
        return cls(heads, relations, probabilities, sum((part.outcome for part in parts), start=Outcome()), columns)


@dataclass(frozen=True)
class TreeDecoder:
    """How the scores of one model become trees."""

    inventory: LabelInventory
    decoder: Decoder = DECODERS[DEFAULT_DECODER]
    beam: Beam = field(default_factory=Beam)
    probabilities: bool = False
    tags: bool = True  # whether output columns are wanted

    def decode(self, scores: Scores, upos: Column | None = None, pool: Executor | None = None) -> Parsed:
        """The trees of some sentences; with a pool of threads, they are found side by side."""
        scores.check()
        sentences = self.sentences(scores, upos)
        if pool is None or sentences.upos is not None:
            return self._parsed(sentences, *self.decoder.heads(sentences))
        own = (self.sentences(part) for part in cut_scores(scores, PART_WORDS))
        parts = list(pool.map(self.decoder.heads, own))
        heads = np.concatenate([np.zeros(0, dtype=np.int32), *(heads for heads, _ in parts)])
        return self._parsed(sentences, heads, sum((outcome for _, outcome in parts), start=Outcome()))

    def several(
        self, scores: Scores, wanted: int, upos: Column | None = None, *, chosen_first: bool = False
    ) -> list[tuple[Parsed, float]]:
        """Up to `wanted` trees of one sentence, best first, with the log-probabilities of their best labels.

        Where not even the widest search finds a tree, the decoder's with -inf; with `chosen_first`, the tree that the
        decoder chooses goes before all others, with -inf if it is not among them.
        """
        if wanted < 1:
            raise LabelError("the number of trees must be at least 1")
        scores.check()
        sentences = self.sentences(scores, upos)
        (found,) = sentences.several(wanted)
        outcome = Outcome(best=1) if found else Outcome(lost=1)
        if chosen_first or not found:
            chosen, _ = self.decoder.heads(sentences)
            same = [np.array_equal(heads, chosen) for heads, _ in found]
            others = [pair for pair, is_same in zip(found, same, strict=True) if not is_same]
            found = [(chosen, found[same.index(True)][1] if any(same) else -np.inf), *others][:wanted]
        return [(self._parsed(sentences, heads, outcome), score) for heads, score in found]

    def sentences(self, scores: Scores, upos: Column | None = None) -> ScoredSentences:
        """What there is to decode."""
        upos = self._tags(scores, upos) if self.inventory.encoding.needs_upos else None
        found = SEARCHES.get(kind_of(self.inventory.encoding), ScoredSentences)
        return found(scores, self.inventory, self.beam, upos)

    def _parsed(self, sentences: ScoredSentences, heads: Int32s, outcome: Outcome) -> Parsed:
        relations = self.decoder.relations(sentences, heads)
        probabilities = None
        if self.probabilities:
            shares = sentences.probabilities(heads)
            probabilities = calibrated(shares, sentences.scores, heads, self.inventory.weights)
        found = sentences.scores.columns
        columns = found.best() if found is not None and self.tags else {}
        heads, relations = self._lowered(sentences.scores.offsets, heads, relations)
        return Parsed(heads, relations, probabilities, outcome, columns)

    def _lowered(self, offsets: Int64s, heads: Int32s, relations: Int32s) -> tuple[Int32s, Int32s]:
        """Heads and relations with lifting undone, if the encoding lifts."""
        encoding, names = self.inventory.encoding, self.inventory.deprels
        if lifting_of(encoding) is None:
            return heads, relations
        trees = lower(encoding, Forest(offsets, heads, Column(relations, names)))
        numbers = np.array([names.index(name) for name in trees.deprels.names], dtype=np.int32)
        return trees.heads, numbers[trees.deprels.ids]

    def _tags(self, scores: Scores, upos: Column | None) -> Column | None:
        """The tags that an encoding needs: those that are given, and those that the network predicts elsewhere."""
        if scores.columns is None or UPOS not in (best := scores.columns.best()):
            return upos
        predicted = Column(best[UPOS], self.inventory.names[UPOS])
        if upos is None:
            return predicted
        if EMPTY not in upos.names:
            return upos
        names = tuple(dict.fromkeys((*upos.names, *predicted.names)))
        numbers = np.array([names.index(name) for name in predicted.names], dtype=np.int32)
        missing = upos.ids == upos.names.index(EMPTY)
        return Column(np.where(missing, numbers[predicted.ids], upos.ids), names)
