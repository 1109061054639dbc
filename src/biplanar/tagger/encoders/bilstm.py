"""Word embedding and character LSTM, then stacked BiLSTMs: the encoder of the paper."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from biplanar.tagger.config import ConfigError, NetworkConfig
from biplanar.tagger.encoders.encoder import Encoder
from biplanar.tagger.encoders.lstm import run, run_to_the_ends
from biplanar.tagger.features import PAD, RESERVED, UNKNOWN
from biplanar.tagger.layers import SharedDropout
from biplanar.tagger.tensors import TensorBatch, TensorSpellings


class BiLstm(Encoder):
    """Small and fast, and learns from nothing but a treebank."""

    def __init__(
        self, config: NetworkConfig, forms: int, chars: int, treebanks: int, *, word_width: int | None = None
    ) -> None:
        """`word_width` is that of what the LSTMs see of a word, if it is not the vector of its form."""
        super().__init__()
        self.word_dropout = config.word_dropout
        self.word_embedding: nn.Embedding | None = None
        self.char_embedding: nn.Embedding | None = None
        self.char_lstm: nn.LSTM | None = None
        self.form: nn.Linear | None = None
        width = 0
        if config.word_dim:
            self.word_embedding = nn.Embedding(forms + RESERVED, config.word_dim, padding_idx=PAD)
            width += config.word_dim
        if config.char_dim:
            self.char_embedding = nn.Embedding(chars + RESERVED, config.char_dim, padding_idx=PAD)
            self.char_lstm = nn.LSTM(config.char_dim, config.char_hidden, batch_first=True, bidirectional=True)
            width += 2 * config.char_hidden
        self.treebank_embedding = nn.Embedding(treebanks, config.treebank_dim) if config.treebank_dim else None
        if word_width is None:
            if not config.word_dim or not config.char_dim:
                raise ConfigError("the encoder 'bilstm' needs a network.word_dim and a network.char_dim")
            self.form = nn.Linear(width, config.form_dim) if config.form_dim else None
            width = config.form_dim or width
        self.form_width = width
        seen = (word_width or width) + (config.treebank_dim or 0)
        sizes = [seen] + [2 * config.hidden] * (config.layers - 1)
        self.layers = nn.ModuleList(
            nn.LSTM(size, config.hidden, batch_first=True, bidirectional=True) for size in sizes
        )
        self.dropout = SharedDropout(config.dropout)
        self.width = 2 * config.hidden

    def represent(self, spellings: TensorSpellings) -> Tensor:
        """By its embedding and its spelling: (forms, form_dim or word_dim + 2 char_hidden)."""
        ids, parts = spellings.ids, list[Tensor]()
        if self.word_embedding is not None:
            if self.training and self.word_dropout:
                hide = torch.rand(len(ids), device=ids.device) < self.word_dropout
                ids = ids.masked_fill(hide, UNKNOWN)
            parts.append(self.word_embedding(ids))
        if self.char_embedding is not None and self.char_lstm is not None:
            letters = self.char_embedding(spellings.chars)  # (forms, characters, char_dim)
            parts.append(run_to_the_ends(self.char_lstm, letters, spellings.lengths))  # (forms, 2 char_hidden)
        both = torch.cat(parts, dim=-1) if parts else torch.zeros(len(ids), 0, device=ids.device)
        return both if self.form is None else torch.tanh(self.form(both))

    def put_vector(self, form: int, vector: Tensor) -> None:
        """In the word embedding."""
        assert self.word_embedding is not None  # as wide as the vectors
        self.word_embedding.weight[form] = vector

    def forward(self, forms: Tensor, batch: TensorBatch) -> Tensor:
        """On a device and without training, words are packed from the first layer to the last."""
        if not len(batch.places):  # PyTorch's LSTMs take no sequences without steps
            return forms.new_zeros(0, self.width)
        if self.training or batch.device.type == "cpu":
            return batch.only_words(self._through_padded(forms, batch))
        return self._through_packed(forms, batch)

    def _through_padded(self, forms: Tensor, batch: TensorBatch) -> Tensor:
        """(sentences, words, width)."""
        hidden = forms[batch.words]  # (sentences, words, features of a form)
        if self.treebank_embedding is not None:
            treebank = self.treebank_embedding(batch.treebanks)[:, None]  # (sentences, 1, treebank_dim)
            hidden = torch.cat([hidden, treebank.expand(-1, hidden.shape[1], -1)], dim=-1)
        for layer in self.layers:
            hidden = run(layer, self.dropout(hidden), batch.lengths)  # (sentences, words, width)
        dropped: Tensor = self.dropout(hidden)
        return dropped

    def _through_packed(self, forms: Tensor, batch: TensorBatch) -> Tensor:
        """(all words, width)."""
        packed = batch.packed
        hidden = forms.index_select(0, packed.words)  # (all words, features of a form)
        if self.treebank_embedding is not None:
            hidden = torch.cat([hidden, self.treebank_embedding(packed.treebanks)], dim=-1)
        for layer in self.layers:
            hidden = layer(PackedSequence(hidden, packed.sizes))[0].data  # (all words, width)
        return hidden.index_select(0, packed.places)
