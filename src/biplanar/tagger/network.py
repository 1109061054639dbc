"""The tagger's network: an encoder, and one layer of labels a task."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple, cast

import torch
from torch import Tensor, nn

from biplanar.encodings.columns import COLUMNS
from biplanar.encodings.stacks import DEPTH_TASK
from biplanar.tagger.config import AuxiliaryConfig, Config, NetworkConfig
from biplanar.tagger.encoders import make_encoder
from biplanar.tagger.features import Vocabulary
from biplanar.tagger.layers import ArcVectors, BiaffineArcs, SharedDropout, with_one, with_root
from biplanar.tagger.tensors import TensorBatch

# What attention adds to each word: two contexts, and five numbers of its own and of the word before.
CONTEXT = 200
COUNTS = 5
ATTENTION = 2 * (CONTEXT + COUNTS)


class Tagger(nn.Module):
    """Scores for the labels of every task, word by word."""

    def __init__(
        self, config: NetworkConfig, forms: int, chars: int, tasks: Mapping[str, Sequence[str]], *, treebanks: int = 1
    ) -> None:
        """`tasks` are the labels of each task; those of output columns are called like these."""
        super().__init__()
        labels = {task: len(names) for task, names in tasks.items() if task not in COLUMNS}
        columns = {task: names for task, names in tasks.items() if task in COLUMNS}
        self.tasks = tuple(labels)
        self.encoder = make_encoder(config, forms, chars, treebanks)
        width = self.encoder.width
        self.gives_arcs = config.arcs
        self.arcs = BiaffineArcs(width, config.arc_dim, config.dropout) if config.arcs or config.attention else None
        self.attention = Attention(width, config.dropout) if config.attention else None
        features = width + (ATTENTION if config.attention else 0)
        self.outputs = nn.ModuleDict(
            {module_name(task): _output(config, task, features, size) for task, size in labels.items()}
        )
        self.columns = ColumnOutputs(config, self.encoder.form_width, width, columns) if columns else None
        self.relations: Relations | None = None
        if config.relation_hidden:
            self.relations = Relations(width, config.relation_hidden, labels["deprel"], config.dropout)
        initialise_lstms(self)

    @property
    def width(self) -> int:
        """Of an encoded word."""
        return self.encoder.width

    def forward(self, forms: Tensor, batch: TensorBatch) -> Output:
        """All that can be said of the words before their heads are known."""
        words = self.encoder(forms, batch)  # (all words, width)
        arcs = None if self.arcs is None else self.arcs.vectors(words)
        windows = batch.windows
        labels = self.score(words, windows, None if arcs is None or self.attention is None else arcs.table(windows))
        columns = {} if self.columns is None else self.columns(forms, words, batch)
        given = arcs if self.gives_arcs else None
        if self.relations is None:
            return Output(labels, columns, given)
        return Output(labels, columns, given, self.relations.dependent(words), self.relations.head(words))

    def score(self, words: Tensor, batch: TensorBatch, arcs: Tensor | None) -> dict[str, Tensor]:
        """Scores by task of encoded words; `arcs` are the scores of their heads, as far as attention looks."""
        if self.attention is not None:
            attended = self.attention(batch.padded(words), batch.mask, arcs)
            words = torch.cat([words, batch.only_words(attended)], dim=-1)  # (all words, features)
        return {task: output(words) for task, output in self.named_outputs()}

    def named_outputs(self) -> Iterator[tuple[str, nn.Module]]:
        """The last layers, by task."""
        return ((task, self.outputs[module_name(task)]) for task in self.tasks)


def build_network(config: Config, vocabulary: Vocabulary) -> Tagger:
    """A fresh network for a vocabulary."""
    forms, chars = len(vocabulary.forms), len(vocabulary.chars)
    return Tagger(config.network, forms, chars, vocabulary.tasks, treebanks=vocabulary.treebanks)


class Output(NamedTuple):
    """What the network says of a batch: (all words, labels) by task, and what words are as dependents and as heads."""

    labels: dict[str, Tensor]
    columns: dict[str, Tensor]
    arcs: ArcVectors | None = None
    dependents: Tensor | None = None  # (all words, relation_hidden), for `Relations.relate`
    heads: Tensor | None = None


def initialise_lstms(network: nn.Module) -> None:
    """Orthogonal recurrent weights, and forget gates that start open, so that memory lasts."""
    for module in network.modules():
        if isinstance(module, nn.LSTM):
            for name, parameter in module.named_parameters():
                if "weight_hh" in name:
                    for gate in parameter.chunk(4):
                        nn.init.orthogonal_(gate)
                elif "weight_ih" in name:
                    nn.init.xavier_uniform_(parameter)
                else:
                    nn.init.zeros_(parameter)
                    if "bias_ih" in name:
                        nn.init.ones_(parameter.chunk(4)[1])


class Attention(nn.Module):
    """Expected head and dependent vectors under detached arc probabilities, for each word."""

    def __init__(self, width: int, dropout: float) -> None:
        super().__init__()
        self.value = nn.Linear(width, CONTEXT)
        self.root_value = nn.Parameter(torch.zeros(CONTEXT))
        self.dropout = SharedDropout(dropout)

    def forward(self, hidden: Tensor, mask: Tensor, arcs: Tensor) -> Tensor:
        """Contexts and counts: (sentences, words, ATTENTION)."""
        probabilities = arcs.detach().float().softmax(dim=-1) * mask[..., None]  # (sentences, words, 1 + words)
        root, heads = probabilities[..., :1], probabilities[..., 1:]
        dependents = heads.transpose(1, 2)
        values = self.value(hidden)  # (sentences, words, CONTEXT)
        contexts = torch.cat([heads @ values + root * self.root_value, dependents @ values], dim=-1)
        counts = torch.cat([*_both_sides(heads), root, *_both_sides(dependents)], dim=-1)
        # The brackets on a word speak of the right head and the right dependents of the word before.
        before = nn.functional.pad(counts, (0, 0, 1, 0))[:, :-1]
        return torch.cat([self.dropout(contexts), counts, before], dim=-1)


def _both_sides(probabilities: Tensor) -> tuple[Tensor, Tensor]:
    """How much of each row lies left of the diagonal, and how much right of it: (sentences, words, 1) each."""
    return probabilities.tril(-1).sum(dim=-1, keepdim=True), probabilities.triu(1).sum(dim=-1, keepdim=True)


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


class ColumnOutputs(nn.Module):
    """Scores of the labels of output columns, by words in their context and by their forms; they share a layer."""

    def __init__(
        self, config: NetworkConfig, form_width: int, width: int, columns: Mapping[str, Sequence[str]]
    ) -> None:
        super().__init__()
        self.sees_forms = config.column_forms
        self.dropout = nn.Dropout(config.dropout)
        width += form_width if self.sees_forms else 0
        self.hidden: nn.Module = nn.Identity()
        if config.column_hidden:
            layers = [nn.Linear(width, config.column_hidden), nn.LeakyReLU(0.1), nn.Dropout(config.dropout / 2)]
            self.hidden, width = nn.Sequential(*layers), config.column_hidden
        self.outputs = nn.ModuleDict(
            {task: SharedParts(width, [COLUMNS[task].parts(name) for name in names]) for task, names in columns.items()}
        )

    def forward(self, forms: Tensor, words: Tensor, batch: TensorBatch) -> dict[str, Tensor]:
        """Scores by column: (all words, labels). `forms` are vectors of forms, `words` of words in their context."""
        if self.sees_forms:
            words = torch.cat([words, self.dropout(forms.index_select(0, batch.forms))], dim=-1)
        hidden = self.hidden(words)
        return {task: output(hidden) for task, output in self.named_outputs()}

    def named_outputs(self) -> Iterator[tuple[str, SharedParts]]:
        """The last layers, by column."""
        return ((task, cast(SharedParts, output)) for task, output in self.outputs.items())


class SharedParts(nn.Module):
    """A linear layer for labels that are made of parts: a label's weight is its own plus those of its parts."""

    def __init__(self, width: int, labels: Sequence[Sequence[str]]) -> None:
        super().__init__()
        self.own = nn.Linear(width, len(labels))
        self.parts = tuple(dict.fromkeys(part for one in labels for part in one))
        numbers = {part: number for number, part in enumerate(self.parts)}
        parts = [numbers[part] for one in labels for part in one]
        starts = [0, *accumulate(map(len, labels))][:-1]
        self.register_buffer("_parts", torch.tensor(parts, dtype=torch.long), persistent=False)
        self.register_buffer("_starts", torch.tensor(starts, dtype=torch.long), persistent=False)
        self.shared = nn.EmbeddingBag(len(numbers), width, mode="sum") if numbers else None
        if self.shared is not None:
            nn.init.xavier_uniform_(self.shared.weight)

    @property
    def weight(self) -> Tensor:
        """Of all labels: (labels, width)."""
        own: Tensor = self.own.weight
        return own if self.shared is None else own + self.shared(self._parts, self._starts)

    @property
    def bias(self) -> Tensor:
        """(labels,)."""
        bias: Tensor = self.own.bias
        return bias

    def forward(self, words: Tensor) -> Tensor:
        """Scores: (words, labels)."""
        return nn.functional.linear(words, self.weight, self.bias)


class AuxiliaryHeads(nn.Module):
    """Further tasks on the same encoder, for training only: biaffine heads and relations."""

    def __init__(
        self, config: AuxiliaryConfig, width: int, dropout: float, relations: int, *, arc_dim: int | None = None
    ) -> None:
        """With an `arc_dim`, it has arc scores of its own, for a network that has none."""
        super().__init__()
        self.config = config
        self.arcs = BiaffineArcs(width, arc_dim, dropout) if arc_dim and config.arcs else None
        self.root = nn.Parameter(torch.zeros(width))
        self.dropout = SharedDropout(min(dropout, 0.33))
        self.relation_head = nn.Linear(width, config.relation_dim)
        self.relation_dependent = nn.Linear(width, config.relation_dim)
        self.relation_weight = nn.Parameter(torch.zeros(relations, config.relation_dim + 1, config.relation_dim + 1))

    def relation_scores(self, hidden: Tensor, heads: Tensor) -> Tensor:
        """How good each relation is between each word and its head: (sentences, words, relations)."""
        dependents = self.dropout(nn.functional.leaky_relu(self.relation_dependent(hidden), 0.1))
        projected = self.relation_head(with_root(self.root, hidden))  # (sentences, 1 + words, relation_dim)
        all_heads = self.dropout(nn.functional.leaky_relu(projected, 0.1))
        chosen = all_heads.gather(1, heads[..., None].expand(-1, -1, all_heads.shape[-1]))
        return torch.einsum("bti,rij,btj->btr", with_one(dependents), self.relation_weight, with_one(chosen))


def module_name(task: str) -> str:
    """PyTorch allows no dots in the names of modules."""
    return task.replace(".", "-")


def _output(config: NetworkConfig, task: str, features: int, labels: int) -> nn.Module:
    """The last layers of a task; depths are further hints, and do without a layer of their own."""
    if not config.output_hidden or task.startswith(DEPTH_TASK):
        return nn.Linear(features, labels)
    inner, outer = nn.Linear(features, config.output_hidden), nn.Linear(config.output_hidden, labels)
    return nn.Sequential(inner, nn.LeakyReLU(0.1), nn.Dropout(config.dropout / 2), outer)
