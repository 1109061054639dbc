"""What a network says of some sentences, wherever it runs: the contract between taggers and decoders."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from biplanar.data.arrays import Float32s, Int32s, Int64s

DEPREL = "deprel"

# How far sums of the same scores may be apart, if they are taken in another order.
NEARLY = 1e-4

# Of all words of a sentence, so many are kept as heads of a word: what lies beyond them has next to no probability.
MOST_HEADS = 8


class ColumnScores(Protocol):
    """The scores of output columns, which may be on a device, where the best labels are found as well."""

    def best(self) -> Mapping[str, Int32s]:
        """Each word's best label, by column."""

    def tables(self) -> Mapping[str, Float32s]:
        """All scores, by column: (words, labels)."""


@dataclass(frozen=True)
class LikelyHeads:
    """The likeliest heads of each word, best first; where a sentence has fewer, -1 with -inf."""

    heads: Int32s  # (words, heads): 0 for the root, or the number of a word of the sentence, from 1
    logs: Float32s  # their log-probabilities


class ArcScores(Protocol):
    """The scores of pairs of words, which may be on a device, where the likeliest heads are found as well."""

    def likeliest(self) -> LikelyHeads:
        """Up to `MOST_HEADS` heads of each word."""


@dataclass(frozen=True)
class Scores:
    """The scores of some sentences, whose words stand end to end.

    `labels` may still be on their way from a device: whoever looks at a table waits for it.
    """

    offsets: Int64s  # where each sentence starts, and where the last one ends
    labels: Mapping[str, Float32s]  # by task, the relation's among them: (words, labels)
    given_governors: Callable[[Int64s], Float32s] | None = None  # scores of relations: (words, relations)
    # A word's governor is 0 for the root, or 1 + the place of its head among all words.
    columns: ColumnScores | None = None  # None: the network predicts no columns
    arcs: ArcScores | None = None  # None: a pure tagger

    @property
    def deprels(self) -> Float32s:
        """The scores of relations by the word alone."""
        return self.labels[DEPREL]

    @property
    def knows_heads(self) -> bool:
        """Whether the scores of relations depend on the heads."""
        return self.given_governors is not None

    def relate(self, heads: Int32s) -> Float32s:
        """The scores of relations, given each word's head, if the network has them; else by the word alone."""
        if self.given_governors is None:
            return self.deprels
        starts = np.repeat(self.offsets[:-1], np.diff(self.offsets))
        return self.given_governors(np.where(heads > 0, starts + heads, 0))
