"""The tagger's network: word embedding and character LSTM, stacked BiLSTMs, one layer of labels a task."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from biplanar.tagger.config import Auxiliary, Network
from biplanar.tagger.features import PAD, RESERVED, UNKNOWN, Batch


class Tagger(nn.Module):
    """Scores for the labels of every task, word by word."""

    def __init__(self, config: Network, forms: int, chars: int, labels: Mapping[str, int]) -> None:
        super().__init__()
        self.word_dropout = config.word_dropout
        self.word_embedding = nn.Embedding(forms + RESERVED, config.word_dim, padding_idx=PAD)
        self.char_embedding = nn.Embedding(chars + RESERVED, config.char_dim, padding_idx=PAD)
        self.char_lstm = nn.LSTM(config.char_dim, config.char_hidden, batch_first=True, bidirectional=True)
        width = config.word_dim + 2 * config.char_hidden
        sizes = [width] + [2 * config.hidden] * (config.layers - 1)
        self.layers = nn.ModuleList(
            nn.LSTM(size, config.hidden, batch_first=True, bidirectional=True) for size in sizes
        )
        self.dropout = SharedDropout(config.dropout)
        self.width = 2 * config.hidden
        self.outputs = nn.ModuleDict({task: self._output(config, size) for task, size in labels.items()})
        self._initialise()

    def _output(self, config: Network, labels: int) -> nn.Module:
        if not config.output_hidden:
            return nn.Linear(self.width, labels)
        inner, outer = nn.Linear(self.width, config.output_hidden), nn.Linear(config.output_hidden, labels)
        return nn.Sequential(inner, nn.LeakyReLU(0.1), nn.Dropout(config.dropout / 2), outer)

    def _initialise(self) -> None:
        for module in self.modules():
            if isinstance(module, nn.LSTM):
                for name, parameter in module.named_parameters():
                    if "weight_hh" in name:
                        for gate in parameter.chunk(4):
                            nn.init.orthogonal_(gate)
                    elif "weight_ih" in name:
                        nn.init.xavier_uniform_(parameter)
                    else:
                        nn.init.zeros_(parameter)
                        if "bias_ih" in name:  # start with open forget gates, so that memory lasts
                            nn.init.ones_(parameter.chunk(4)[1])

    def forward(self, batch: TensorBatch) -> dict[str, Tensor]:
        """Scores by task: (words of all sentences, labels)."""
        hidden = self.encode(batch)[batch.mask]  # (all words, width)
        return self.score(hidden)

    def score(self, hidden: Tensor) -> dict[str, Tensor]:
        """Scores of encoded words."""
        return {task: output(hidden) for task, output in self.outputs.items()}

    def encode(self, batch: TensorBatch) -> Tensor:
        """Every word in its context: (sentences, words, width)."""
        hidden = self.represent(batch)[batch.words]  # (sentences, words, word_dim + 2 char_hidden)
        for layer in self.layers:
            hidden = _run(layer, self.dropout(hidden), batch.lengths)  # (sentences, words, width)
        dropped: Tensor = self.dropout(hidden)
        return dropped

    def represent(self, batch: TensorBatch) -> Tensor:
        """Every form by itself, by its embedding and its spelling: (forms, word_dim + 2 char_hidden)."""
        forms = batch.forms
        if self.training and self.word_dropout:
            hide = torch.rand(len(forms), device=forms.device) < self.word_dropout
            forms = forms.masked_fill(hide, UNKNOWN)
        letters = self.char_embedding(batch.chars)  # (forms, characters, char_dim)
        packed = pack_padded_sequence(letters, batch.spelling_lengths, batch_first=True, enforce_sorted=False)
        _, (last, _) = self.char_lstm(packed)  # (2, forms, char_hidden)
        return torch.cat([self.word_embedding(forms), last[0], last[1]], dim=-1)


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


class AuxiliaryHeads(nn.Module):
    """Further tasks on the same encoder, for training only: biaffine heads and relations, tags and features."""

    def __init__(self, config: Auxiliary, width: int, dropout: float, sizes: Mapping[str, int]) -> None:
        super().__init__()
        self.config = config
        self.root = nn.Parameter(torch.zeros(width))
        self.dropout = SharedDropout(min(dropout, 0.33))
        self.arc_head = nn.Linear(width, config.arc_dim)
        self.arc_dependent = nn.Linear(width, config.arc_dim)
        self.arc_weight = nn.Parameter(torch.zeros(config.arc_dim + 1, config.arc_dim))
        self.relation_head = nn.Linear(width, config.relation_dim)
        self.relation_dependent = nn.Linear(width, config.relation_dim)
        relations = sizes["deprel"]
        self.relation_weight = nn.Parameter(torch.zeros(relations, config.relation_dim + 1, config.relation_dim + 1))
        self.tags = nn.ModuleDict({task: nn.Linear(width, size) for task, size in sizes.items() if task != "deprel"})

    def loss(self, hidden: Tensor, mask: Tensor, heads: Tensor, targets: Mapping[str, Tensor]) -> Tensor:
        """The weighted sum of the losses that are switched on; `heads` is (sentences, words), `targets` are flat."""
        total = hidden.new_zeros(())
        if self.config.arcs or self.config.relations:
            root = self.root.expand(len(hidden), 1, -1)
            with_root = torch.cat([root, hidden], dim=1)  # (sentences, 1 + words, width)
        if self.config.arcs:
            scores = self.arc_scores(hidden, with_root, mask)[mask]  # (all words, 1 + words)
            total = total + self.config.arcs * nn.functional.cross_entropy(scores.float(), heads[mask])
        if self.config.relations:
            relations = self.relation_scores(hidden, with_root, heads)[mask]  # (all words, relations)
            loss = nn.functional.cross_entropy(relations.float(), targets["deprel"])
            total = total + self.config.relations * loss
        for task, layer in self.tags.items():
            weight = getattr(self.config, task)
            total = total + weight * nn.functional.cross_entropy(layer(hidden[mask]).float(), targets[task])
        return total

    def arc_scores(self, hidden: Tensor, with_root: Tensor, mask: Tensor) -> Tensor:
        """How good each word is as the head of each other: (sentences, words, 1 + words)."""
        dependents = self.dropout(nn.functional.leaky_relu(self.arc_dependent(hidden), 0.1))
        heads = self.dropout(nn.functional.leaky_relu(self.arc_head(with_root), 0.1))
        scores: Tensor = _with_one(dependents) @ self.arc_weight @ heads.transpose(1, 2)
        padding = nn.functional.pad(~mask, (1, 0), value=False)  # (sentences, 1 + words)
        return scores.masked_fill(padding[:, None, :], -1e4)

    def relation_scores(self, hidden: Tensor, with_root: Tensor, heads: Tensor) -> Tensor:
        """How good each relation is between each word and its head: (sentences, words, relations)."""
        dependents = self.dropout(nn.functional.leaky_relu(self.relation_dependent(hidden), 0.1))
        all_heads = self.dropout(nn.functional.leaky_relu(self.relation_head(with_root), 0.1))
        chosen = all_heads.gather(1, heads[..., None].expand(-1, -1, all_heads.shape[-1]))
        return torch.einsum("bti,rij,btj->btr", _with_one(dependents), self.relation_weight, _with_one(chosen))


def _with_one(hidden: Tensor) -> Tensor:
    return nn.functional.pad(hidden, (0, 1), value=1.0)


def _run(layer: nn.Module, hidden: Tensor, lengths: Tensor) -> Tensor:
    packed = pack_padded_sequence(hidden, lengths, batch_first=True, enforce_sorted=False)
    output: Tensor = pad_packed_sequence(layer(packed)[0], batch_first=True)[0]
    return output


@dataclass(frozen=True)
class TensorBatch:
    """A batch as tensors; lengths stay on the CPU, where packing wants them."""

    forms: Tensor
    chars: Tensor
    spelling_lengths: Tensor
    words: Tensor
    lengths: Tensor
    mask: Tensor

    @classmethod
    def of(cls, batch: Batch, device: torch.device) -> TensorBatch:
        """Copy a batch to a device."""
        forms, chars, words, mask = (
            torch.from_numpy(array).to(device, non_blocking=True)
            for array in (batch.forms, batch.chars, batch.words, batch.mask)
        )
        spelling_lengths, lengths = torch.from_numpy(batch.spelling_lengths), torch.from_numpy(batch.lengths)
        return cls(forms, chars, spelling_lengths, words, lengths, mask)


@dataclass(frozen=True)
class TorchTagger:
    """Scores from a network on any device, as arrays."""

    network: Tagger
    device: torch.device

    @torch.no_grad()
    def score(self, batch: Batch) -> dict[str, NDArray[np.float32]]:
        """Scores by task: (words of all sentences, labels)."""
        self.network.eval()
        scores = self.network(TensorBatch.of(batch, self.device))
        return {task: table.float().cpu().numpy() for task, table in scores.items()}
