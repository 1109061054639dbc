"""What a network says of some sentences, wherever it runs: the contract between taggers and decoders."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from biplanar.compiled import compiled
from biplanar.data.arrays import Float32s, Int32s, Int64s
from biplanar.decoding.candidates import best_labels
from biplanar.errors import ScoreError

DEPREL = "deprel"

# How far sums of the same scores may differ when they are taken in another order.
NEARLY = 1e-4

# How many heads are kept for each word: the others have next to no probability.
MOST_HEADS = 8

# The log-probability of heads that are not among a word's likeliest, and of all that are less likely.
UNLIKELY = -12.0

# The squares of all scores of a table must add up to less, so that no sum of scores overflows.
LARGEST_SQUARES = 1e30


class ColumnScores(Protocol):
    """The scores of output columns, which may be on a device, where the best labels are found as well."""

    def best(self) -> Mapping[str, Int32s]:
        """Each word's best label, by column."""

    def tables(self) -> Mapping[str, Float32s]:
        """All scores, by column: (words, labels)."""


@dataclass(frozen=True)
class ColumnTables:
    """The scores of output columns as tables on the CPU: (words, labels)."""

    given: Mapping[str, Float32s]

    def best(self) -> dict[str, Int32s]:
        """Each word's best label."""
        return {name: best_labels(table) for name, table in self.given.items()}

    def tables(self) -> Mapping[str, Float32s]:
        """All scores."""
        return self.given


@dataclass(frozen=True)
class LikelyHeads:
    """The likeliest heads of each word, best first; where a sentence has fewer, -1 with -inf."""

    heads: Int32s  # (words, heads): 0 for the root, or the number of a word of the sentence, from 1
    logs: Float32s  # their log-probabilities

    def likeliest(self) -> LikelyHeads:
        """Themselves: heads that are known already are scores of arcs as well."""
        return self


class ArcScores(Protocol):
    """The scores of pairs of words, which may be on a device, where the likeliest heads are found as well."""

    def likeliest(self) -> LikelyHeads:
        """Up to `MOST_HEADS` heads of each word."""


@dataclass(frozen=True)
class Scores:
    """The scores of some sentences, whose words stand end to end.

    `labels` may still be computed on a device: the first access to a table waits for it.
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

    @cached_property
    def likely_heads(self) -> LikelyHeads | None:
        """The likeliest heads of each word by the scores of arcs; NaN is refused."""
        if self.arcs is None:
            return None
        likely = self.arcs.likeliest()
        if np.isnan(likely.logs).any():
            raise _not_finite("arcs")
        return likely

    def relate(self, heads: Int32s) -> Float32s:
        """The scores of relations, given each word's head, if the network has them; else by the word alone."""
        if self.given_governors is None:
            return self.deprels
        starts = np.repeat(self.offsets[:-1], np.diff(self.offsets))
        relations = self.given_governors(np.where(heads > 0, starts + heads, 0))
        check_finite("relations", relations)
        return relations

    def check(self) -> None:
        """Refuse labels with scores that are NaN, infinite or huge."""
        for task in self.labels:
            check_finite(task, self.labels[task])


def check_finite(task: str, table: Float32s) -> None:
    """Refuse a table with scores that are NaN, infinite or huge."""
    if not _squares(table) < LARGEST_SQUARES:
        raise _not_finite(task)


def _not_finite(task: str) -> ScoreError:
    return ScoreError(f"the network's scores of {task} are not finite, or huge: its weights or settings are damaged")


@compiled(fastmath={"reassoc", "contract"})
def _squares(table: Float32s) -> np.float32:
    total = np.float32(0)
    for row in range(table.shape[0]):
        for column in range(table.shape[1]):
            total += table[row, column] * table[row, column]
    return total


def log_probabilities(scores: Float32s) -> Float32s:
    """Scores of shape (words, labels), normalised."""
    shifted = scores - scores.max(axis=1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)), dtype=np.float32)
