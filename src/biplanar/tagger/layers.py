"""Layers that several parts of the network share."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from biplanar.tagger.tensors import TensorBatch

NEVER = -1e4  # the score of what cannot be; in half precision, too


class SharedDropout(nn.Module):
    """Dropout with one mask for all words of a sentence (variational dropout)."""

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = rate

    def forward(self, hidden: Tensor) -> Tensor:
        """Drop the same features everywhere in a sentence."""
        if not self.training or not self.rate:
            return hidden
        mask = torch.rand(hidden.shape[0], 1, hidden.shape[2], device=hidden.device) >= self.rate
        return hidden * mask.to(hidden.dtype) / (1 - self.rate)


class BiaffineArcs(nn.Module):
    """How good each word, or the root, is as the head of each word."""

    def __init__(self, width: int, arc_dim: int, dropout: float) -> None:
        super().__init__()
        self.root = nn.Parameter(torch.zeros(width))
        self.arc_head = nn.Linear(width, arc_dim)
        self.arc_dependent = nn.Linear(width, arc_dim)
        self.arc_weight = nn.Parameter(torch.zeros(arc_dim + 1, arc_dim))
        self.dropout = SharedDropout(min(dropout, 0.33))

    def forward(self, hidden: Tensor, mask: Tensor) -> Tensor:
        """Scores of heads, the root first: (sentences, words, 1 + words)."""
        dependents = self._weigh(self.dropout(self._as_dependents(hidden)))
        return arc_table(dependents, self.dropout(self._as_heads(with_root(self.root, hidden))), mask)

    def vectors(self, words: Tensor) -> ArcVectors:
        """What encoded words, (all words, width), are in arcs; without dropout, as nothing tells their sentences."""
        return ArcVectors(self._weigh(self._as_dependents(words)), self._as_heads(words), self._as_heads(self.root))

    def _as_dependents(self, hidden: Tensor) -> Tensor:
        return nn.functional.leaky_relu(self.arc_dependent(hidden), 0.1)

    def _as_heads(self, hidden: Tensor) -> Tensor:
        return nn.functional.leaky_relu(self.arc_head(hidden), 0.1)

    def _weigh(self, dependents: Tensor) -> Tensor:
        return with_one(dependents) @ self.arc_weight


class ArcVectors(NamedTuple):
    """What words are in arcs: the score of an arc is the product of its dependent's vector and its head's."""

    dependents: Tensor  # (all words, arc_dim)
    heads: Tensor
    root: Tensor  # as a head: (arc_dim,)

    def table(self, batch: TensorBatch) -> Tensor:
        """The scores of all heads, the root first: (sentences, words, 1 + words)."""
        heads = with_root(self.root, batch.padded(self.heads))
        return arc_table(batch.padded(self.dependents), heads, batch.mask)


def arc_table(dependents: Tensor, heads: Tensor, mask: Tensor) -> Tensor:
    """The products of all vectors of a sentence's words and of its heads, the root first; padding is never a head."""
    scores = dependents @ heads.transpose(1, 2)
    padding = nn.functional.pad(~mask, (1, 0), value=False)  # (sentences, 1 + words)
    return scores.masked_fill(padding[:, None, :], NEVER)


def with_root(root: Tensor, hidden: Tensor) -> Tensor:
    """A vector before the first word of each sentence: (sentences, 1 + words, width)."""
    return torch.cat([root.to(hidden.dtype).expand(len(hidden), 1, -1), hidden], dim=1)


def with_one(hidden: Tensor) -> Tensor:
    """A feature more that is always 1, so that a product has a bias."""
    return nn.functional.pad(hidden, (0, 1), value=1.0)
