"""What there is to decode, and what a search over its labels can tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np

from biplanar.data.arrays import Float32s, Int32s
from biplanar.data.forest import Column
from biplanar.decoding.beam import Beam, Outcome
from biplanar.decoding.candidates import best_labels
from biplanar.decoding.inventory import LabelInventory
from biplanar.decoding.repair import repair_cleanly
from biplanar.decoding.scores import LikelyHeads, Scores, log_probabilities
from biplanar.errors import LabelError


@dataclass(frozen=True)
class ScoredSentences:
    """The scores of some sentences, and what is known of their labels.

    Labels of a kind that no search understands can be decoded greedily; the searches are subclasses.
    """

    scores: Scores
    inventory: LabelInventory
    beam: Beam = field(default_factory=Beam)
    upos: Column | None = None  # the tags that the encoding needs

    finds_several: ClassVar[bool] = False

    def best(self) -> tuple[Int32s, Outcome]:
        """The heads of the best trees, and how they were found."""
        raise self._refusal("cannot be searched; the decoders greedy and paper take any labels")

    def least_risk(self) -> tuple[Int32s, Outcome]:
        """The heads of the trees whose arcs are likeliest."""
        raise self._refusal("cannot be searched; the decoders greedy and paper take any labels")

    def probabilities(self, heads: Int32s) -> Float32s:  # noqa: ARG002
        """How likely each word's head is; NaN where no tree was found."""
        raise self._refusal("cannot be searched; the decoders greedy and paper take any labels")

    def several(self, wanted: int) -> list[list[tuple[Int32s, float]]]:  # noqa: ARG002
        """For each sentence the heads of up to `wanted` trees, best first, with their labels' log-probabilities."""
        raise self._refusal("give one tree of a sentence, not several")

    def _refusal(self, what: str) -> LabelError:
        return LabelError(f"labels of {self.inventory.encoding.name} {what}")

    def best_labels(self, words: slice = slice(None)) -> list[Int32s]:
        """The best label of each word, task by task."""
        return [best_labels(self.scores.labels[task][words]) for task in self.inventory.encoding.tasks]

    def repaired(self, labels: Sequence[Int32s], words: slice | None = None) -> Int32s:
        """The heads that labels assert, cleanly repaired; of one sentence, if `words` are its."""
        offsets, upos, deprels = self.scores.offsets, self.upos, self.scores.deprels
        if words is not None:
            offsets, deprels = np.array([0, words.stop - words.start]), deprels[words]
            upos = None if upos is None else Column(upos.ids[words], upos.names)
        asserted = self.inventory.heads_of(labels, offsets, upos)
        likeness = np.exp(log_probabilities(deprels)) @ self.inventory.roots.astype(np.float32)
        return np.asarray(repair_cleanly(asserted, offsets, likeness))

    def words(self, sentence: int) -> slice:
        """Where a sentence stands among all words."""
        return slice(*self.scores.offsets[sentence : sentence + 2].tolist())

    @cached_property
    def likely(self) -> LikelyHeads | None:
        """The likeliest heads by the scores of arcs, if these count."""
        return self.scores.likely_heads if self.inventory.weights.arcs else None
