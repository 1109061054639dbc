"""Layers that several parts of the network share."""

from __future__ import annotations

import torch
from torch import Tensor, nn

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
        dependents = self.dropout(nn.functional.leaky_relu(self.arc_dependent(hidden), 0.1))
        heads = self.dropout(nn.functional.leaky_relu(self.arc_head(with_root(self.root, hidden)), 0.1))
        scores: Tensor = with_one(dependents) @ self.arc_weight @ heads.transpose(1, 2)
        padding = nn.functional.pad(~mask, (1, 0), value=False)  # (sentences, 1 + words)
        return scores.masked_fill(padding[:, None, :], NEVER)


def with_root(root: Tensor, hidden: Tensor) -> Tensor:
    """A vector before the first word of each sentence: (sentences, 1 + words, width)."""
    return torch.cat([root.to(hidden.dtype).expand(len(hidden), 1, -1), hidden], dim=1)


def with_one(hidden: Tensor) -> Tensor:
    """A feature more that is always 1, so that a product has a bias."""
    return nn.functional.pad(hidden, (0, 1), value=1.0)
