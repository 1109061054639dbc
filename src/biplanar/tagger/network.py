"""The tagger's network: word embedding and character LSTM, stacked BiLSTMs, one layer of labels a task."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from biplanar.encodings.brackets import DEPTH_TASK
from biplanar.tagger.config import AuxiliaryConfig, NetworkConfig
from biplanar.tagger.features import PAD, RESERVED, UNKNOWN, Batch, Spellings
from biplanar.tagger.lstm import run, run_to_the_ends
from biplanar.tagger.predict import DEPENDENT, GOVERNOR

# What attention adds to each word: two contexts, and five numbers of its own and of the word before.
CONTEXT = 200
COUNTS = 5
ATTENTION = 2 * (CONTEXT + COUNTS)

NEVER = -1e4  # the score of what cannot be; in half precision, too


class Tagger(nn.Module):
    """Scores for the labels of every task, word by word."""

    def __init__(
        self,
        config: NetworkConfig,
        forms: int,
        chars: int,
        labels: Mapping[str, int],
        *,
        arc_dim: int = 400,
        treebanks: int = 1,
    ) -> None:
        super().__init__()
        self.tasks = tuple(labels)
        self.word_dropout = config.word_dropout
        self.word_embedding = nn.Embedding(forms + RESERVED, config.word_dim, padding_idx=PAD)
        self.char_embedding = nn.Embedding(chars + RESERVED, config.char_dim, padding_idx=PAD)
        self.char_lstm = nn.LSTM(config.char_dim, config.char_hidden, batch_first=True, bidirectional=True)
        self.treebank_embedding = nn.Embedding(treebanks, config.treebank_dim) if config.treebank_dim else None
        width = config.word_dim + 2 * config.char_hidden
        self.form = nn.Linear(width, config.form_dim) if config.form_dim else None
        width = (config.form_dim or width) + config.treebank_dim
        sizes = [width] + [2 * config.hidden] * (config.layers - 1)
        self.layers = nn.ModuleList(
            nn.LSTM(size, config.hidden, batch_first=True, bidirectional=True) for size in sizes
        )
        self.dropout = SharedDropout(config.dropout)
        self.width = 2 * config.hidden
        self.arcs = BiaffineArcs(self.width, arc_dim, config.dropout) if config.attention else None
        self.attention = Attention(self.width, config.dropout) if config.attention else None
        features = self.width + (ATTENTION if config.attention else 0)
        self.outputs = nn.ModuleDict(
            {_module_name(task): _output(config, task, features, size) for task, size in labels.items()}
        )
        self.relations = (
            Relations(self.width, config.relation_hidden, labels["deprel"], config.dropout)
            if config.relation_hidden
            else None
        )
        self._initialise()

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

    def forward(self, forms: Tensor, batch: TensorBatch) -> dict[str, Tensor]:
        """Scores by task, and what `relations` will need of each word: (words of all sentences, labels)."""
        hidden = self.encode(forms, batch)  # (sentences, words, width)
        arcs = None if self.arcs is None else self.arcs(hidden, batch.mask)
        scores = self.score(hidden, batch, arcs)
        if self.relations is not None:
            words = batch.only_words(hidden)
            scores |= {DEPENDENT: self.relations.dependent(words), GOVERNOR: self.relations.head(words)}
        return scores

    def score(self, hidden: Tensor, batch: TensorBatch, arcs: Tensor | None) -> dict[str, Tensor]:
        """Scores by task of encoded words; `arcs` are the scores of their heads."""
        if self.attention is not None:
            hidden = torch.cat([hidden, self.attention(hidden, batch.mask, arcs)], dim=-1)
        words = batch.only_words(hidden)  # (all words, features)
        return {task: output(words) for task, output in self.named_outputs()}

    def named_outputs(self) -> Iterator[tuple[str, nn.Module]]:
        """The last layers, by task."""
        return ((task, self.outputs[_module_name(task)]) for task in self.tasks)

    def encode(self, forms: Tensor, batch: TensorBatch) -> Tensor:
        """Every word in its context: (sentences, words, width). `forms` are what `represent` gives."""
        hidden = forms[batch.words]  # (sentences, words, features of a form)
        if self.treebank_embedding is not None:
            treebank = self.treebank_embedding(batch.treebanks)[:, None]  # (sentences, 1, treebank_dim)
            hidden = torch.cat([hidden, treebank.expand(-1, hidden.shape[1], -1)], dim=-1)
        for layer in self.layers:
            hidden = run(layer, self.dropout(hidden), batch.lengths)  # (sentences, words, width)
        dropped: Tensor = self.dropout(hidden)
        return dropped

    def represent(self, spellings: TensorSpellings) -> Tensor:
        """Every form by itself, by its embedding and its spelling: (forms, form_dim or word_dim + 2 char_hidden)."""
        ids = spellings.ids
        if self.training and self.word_dropout:
            hide = torch.rand(len(ids), device=ids.device) < self.word_dropout
            ids = ids.masked_fill(hide, UNKNOWN)
        letters = self.char_embedding(spellings.chars)  # (forms, characters, char_dim)
        spelled = run_to_the_ends(self.char_lstm, letters, spellings.lengths)  # (forms, 2 char_hidden)
        both = torch.cat([self.word_embedding(ids), spelled], dim=-1)
        return both if self.form is None else torch.tanh(self.form(both))


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
        heads = self.dropout(nn.functional.leaky_relu(self.arc_head(_with_root(self.root, hidden)), 0.1))
        scores: Tensor = _with_one(dependents) @ self.arc_weight @ heads.transpose(1, 2)
        padding = nn.functional.pad(~mask, (1, 0), value=False)  # (sentences, 1 + words)
        return scores.masked_fill(padding[:, None, :], NEVER)


class Attention(nn.Module):
    """What is to be expected of each word's head and dependents, by arc scores that other losses do not change."""

    def __init__(self, width: int, dropout: float) -> None:
        super().__init__()
        self.value = nn.Linear(width, CONTEXT)
        self.root_value = nn.Parameter(torch.zeros(CONTEXT))
        self.dropout = SharedDropout(dropout)

    def forward(self, hidden: Tensor, mask: Tensor, arcs: Tensor) -> Tensor:
        """Contexts and counts: (sentences, words, ATTENTION)."""
        chances = arcs.detach().float().softmax(dim=-1) * mask[..., None]  # (sentences, words, 1 + words)
        root, heads = chances[..., :1], chances[..., 1:]
        dependents = heads.transpose(1, 2)
        values = self.value(hidden)  # (sentences, words, CONTEXT)
        contexts = torch.cat([heads @ values + root * self.root_value, dependents @ values], dim=-1)
        counts = torch.cat([*_both_sides(heads), root, *_both_sides(dependents)], dim=-1)
        # The brackets on a word speak of the right head and the right dependents of the word before.
        before = nn.functional.pad(counts, (0, 0, 1, -1))
        return torch.cat([self.dropout(contexts), counts, before], dim=-1)


def _both_sides(chances: Tensor) -> tuple[Tensor, Tensor]:
    """How much of each row lies left of the diagonal, and how much right of it: (sentences, words, 1) each."""
    return chances.tril(-1).sum(dim=-1, keepdim=True), chances.triu(1).sum(dim=-1, keepdim=True)


class Relations(nn.Module):
    """Scores of relations, given a word and its head."""

    def __init__(self, width: int, hidden: int, relations: int, dropout: float) -> None:
        super().__init__()
        self.dependent = nn.Linear(width, hidden)
        self.head = nn.Linear(width, hidden)
        self.root = nn.Parameter(torch.zeros(hidden))
        self.dropout = nn.Dropout(dropout / 2)
        self.output = nn.Linear(hidden, relations)

    def forward(self, words: Tensor, governors: Tensor) -> Tensor:
        """Scores for words of shape (words, width)."""
        return self.relate(self.dependent(words), self.head(words), governors)

    def relate(self, dependents: Tensor, heads: Tensor, governors: Tensor) -> Tensor:
        """Scores by what is known of the words as dependents and as heads; a word's governor is 0 or 1 + its place."""
        chosen = torch.cat([self.root[None].to(heads.dtype), heads]).index_select(0, governors)
        scores: Tensor = self.output(self.dropout(nn.functional.leaky_relu(dependents + chosen, 0.1)))
        return scores  # (words, relations)


class AuxiliaryHeads(nn.Module):
    """Further tasks on the same encoder, for training only: biaffine heads and relations, tags and features."""

    def __init__(
        self, config: AuxiliaryConfig, width: int, dropout: float, sizes: Mapping[str, int], *, own_arcs: bool = True
    ) -> None:
        super().__init__()
        self.config = config
        self.arcs = BiaffineArcs(width, config.arc_dim, dropout) if own_arcs and config.arcs else None
        self.root = nn.Parameter(torch.zeros(width))
        self.dropout = SharedDropout(min(dropout, 0.33))
        self.relation_head = nn.Linear(width, config.relation_dim)
        self.relation_dependent = nn.Linear(width, config.relation_dim)
        relations = sizes["deprel"]
        self.relation_weight = nn.Parameter(torch.zeros(relations, config.relation_dim + 1, config.relation_dim + 1))
        self.tags = nn.ModuleDict({task: nn.Linear(width, size) for task, size in sizes.items() if task != "deprel"})

    def loss(
        self, hidden: Tensor, batch: TensorBatch, arcs: Tensor | None, heads: Tensor, targets: Mapping[str, Tensor]
    ) -> Tensor:
        """The weighted sum of the losses that are switched on; `heads` is (sentences, words), `targets` are flat."""
        total = hidden.new_zeros(())
        if arcs is not None:
            scores = batch.only_words(arcs)  # (all words, 1 + words)
            loss = nn.functional.cross_entropy(scores.float(), batch.only_words(heads))
            total = total + self.config.arcs * loss
        if self.config.relations:
            relations = batch.only_words(self.relation_scores(hidden, heads))  # (all words, relations)
            loss = nn.functional.cross_entropy(relations.float(), targets["deprel"])
            total = total + self.config.relations * loss
        for task, layer in self.tags.items():
            scores = layer(batch.only_words(hidden))
            total = total + getattr(self.config, task) * nn.functional.cross_entropy(scores.float(), targets[task])
        return total

    def relation_scores(self, hidden: Tensor, heads: Tensor) -> Tensor:
        """How good each relation is between each word and its head: (sentences, words, relations)."""
        dependents = self.dropout(nn.functional.leaky_relu(self.relation_dependent(hidden), 0.1))
        projected = self.relation_head(_with_root(self.root, hidden))  # (sentences, 1 + words, relation_dim)
        all_heads = self.dropout(nn.functional.leaky_relu(projected, 0.1))
        chosen = all_heads.gather(1, heads[..., None].expand(-1, -1, all_heads.shape[-1]))
        return torch.einsum("bti,rij,btj->btr", _with_one(dependents), self.relation_weight, _with_one(chosen))


def _module_name(task: str) -> str:
    """PyTorch allows no dots in the names of modules."""
    return task.replace(".", "-")


def _output(config: NetworkConfig, task: str, features: int, labels: int) -> nn.Module:
    """The last layers of a task; depths are further hints, and do without a layer of their own."""
    if not config.output_hidden or task.startswith(DEPTH_TASK):
        return nn.Linear(features, labels)
    inner, outer = nn.Linear(features, config.output_hidden), nn.Linear(config.output_hidden, labels)
    return nn.Sequential(inner, nn.LeakyReLU(0.1), nn.Dropout(config.dropout / 2), outer)


def _with_root(root: Tensor, hidden: Tensor) -> Tensor:
    """A vector before the first word of each sentence: (sentences, 1 + words, width)."""
    return torch.cat([root.to(hidden.dtype).expand(len(hidden), 1, -1), hidden], dim=1)


def _with_one(hidden: Tensor) -> Tensor:
    return nn.functional.pad(hidden, (0, 1), value=1.0)


@dataclass(frozen=True)
class TensorSpellings:
    """Forms as tensors; lengths stay on the CPU, where packing wants them."""

    ids: Tensor
    chars: Tensor
    lengths: Tensor

    @classmethod
    def of(cls, spellings: Spellings, device: torch.device) -> TensorSpellings:
        """Copy forms to a device."""
        ids, chars = (
            torch.from_numpy(array).to(device, non_blocking=True) for array in (spellings.ids, spellings.chars)
        )
        return cls(ids, chars, torch.from_numpy(spellings.lengths))


@dataclass(frozen=True)
class TensorBatch:
    """A batch as tensors; lengths stay on the CPU, where packing wants them."""

    words: Tensor
    lengths: Tensor
    mask: Tensor
    places: Tensor  # (all words,): where the mask is true, known without asking the device
    treebanks: Tensor

    @classmethod
    def of(cls, batch: Batch, device: torch.device) -> TensorBatch:
        """Copy a batch to a device."""
        treebanks = np.zeros(len(batch.lengths), dtype=np.int64) if batch.treebanks is None else batch.treebanks
        words, mask, places, treebank = (
            torch.from_numpy(array).to(device, non_blocking=True)
            for array in (batch.words, batch.mask, batch.places, treebanks)
        )
        return cls(words, torch.from_numpy(batch.lengths), mask, places, treebank)

    def only_words(self, table: Tensor) -> Tensor:
        """From (sentences, words, ...) to (all words, ...): what is no padding."""
        return table.flatten(0, 1).index_select(0, self.places)
