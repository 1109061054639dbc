"""What a network says of some sentences, wherever it runs: the contract between taggers and decoders."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from biplanar.data.arrays import Float32s, Int32s, Int64s

DEPREL = "deprel"


class ColumnScores(Protocol):
    """The scores of output columns, which may be on a device, where the best labels are found as well."""

    def best(self) -> Mapping[str, Int32s]:
        """Each word's best label, by column."""

    def tables(self) -> Mapping[str, Float32s]:
        """All scores, by column: (words, labels)."""


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
