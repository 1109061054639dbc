"""Forms and batches as tensors, copied to a device when they are first needed there."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from biplanar.data.arrays import Int64s
from biplanar.tagger.features import Batch, Spellings


@dataclass(frozen=True)
class TensorSpellings:
    """Forms as tensors; lengths stay on the CPU, where packing wants them."""

    ids: Tensor
    chars: Tensor
    lengths: Tensor

    @classmethod
    def of(cls, spellings: Spellings, device: torch.device) -> TensorSpellings:
        """Copy forms to a device."""
        ids, chars = (_to_device(array, device) for array in (spellings.ids, spellings.chars))
        return cls(ids, chars, torch.from_numpy(spellings.lengths))


@dataclass(frozen=True)
class TensorBatch:
    """A batch as tensors: padded, and packed without padding."""

    batch: Batch
    device: torch.device

    @cached_property
    def words(self) -> Tensor:
        """Numbers into forms: (sentences, words)."""
        return _to_device(self.batch.words, self.device)

    @cached_property
    def lengths(self) -> Tensor:
        """(sentences,), on the CPU, where packing wants them."""
        return torch.from_numpy(self.batch.lengths)

    @cached_property
    def mask(self) -> Tensor:
        """Where there is a word and not padding: (sentences, words)."""
        return torch.from_numpy(self.batch.mask).to(self.device, non_blocking=True)

    @cached_property
    def places(self) -> Tensor:
        """Where the mask is true, known without asking the device: (all words,)."""
        return _to_device(self.batch.places, self.device)

    @cached_property
    def forms(self) -> Tensor:
        """Numbers into forms, without padding: (all words,)."""
        return self.words.flatten().index_select(0, self.places)

    @cached_property
    def treebanks(self) -> Tensor:
        """(sentences,)."""
        return _to_device(self.batch.treebank_numbers, self.device)

    @cached_property
    def windows(self) -> TensorBatch:
        """The same words, in sentences that are not too long for a table of all their pairs."""
        windows = self.batch.windows
        return self if windows is self.batch else TensorBatch(windows, self.device)

    @cached_property
    def each_word(self) -> TensorBatch:
        """The same sentences, where `words` are numbers of the words themselves."""
        return TensorBatch(self.batch.each_word, self.device)

    @cached_property
    def packed(self) -> PackedBatch:
        """Without padding."""
        return PackedBatch.of(self.batch, self.device)

    def only_words(self, table: Tensor) -> Tensor:
        """From (sentences, words, ...) to (all words, ...): what is no padding."""
        return table.flatten(0, 1).index_select(0, self.places)

    def padded(self, words: Tensor) -> Tensor:
        """From (all words, features) to (sentences, words, features), zero in padding."""
        sentences, longest = self.batch.words.shape
        width = words.shape[1]
        table = words.new_zeros(sentences * longest, width).index_copy(0, self.places, words)
        return table.view(sentences, longest, width)


@dataclass(frozen=True)
class PackedBatch:
    """A batch without padding, as recurrent layers run through it: all first words, then all second words, and so on.

    The longest sentence comes first, so that those that are not over yet are always the first ones.
    """

    words: Tensor  # (all words,), numbers into forms
    sizes: Tensor  # how many sentences have a first word, a second, and so on; on the CPU, where packing wants them
    places: Tensor  # (all words,): where to find the words in the order of their sentences
    treebanks: Tensor  # (all words,)

    @classmethod
    def of(cls, batch: Batch, device: torch.device) -> PackedBatch:
        """Copy a batch to a device, in one copy."""
        order = np.argsort(-batch.lengths, kind="stable")
        mask = batch.mask[order].T  # (words, sentences)
        sizes = mask.sum(axis=1)
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        first = np.cumsum(sizes) - sizes
        places = (first + rank[:, None])[batch.mask]
        of_words = np.broadcast_to(batch.treebank_numbers[order], mask.shape)[mask]
        together = _to_device(np.stack([batch.words[order].T[mask], places, of_words]), device)
        return cls(together[0], torch.from_numpy(sizes), together[1], together[2])


def _to_device(array: Int64s, device: torch.device) -> Tensor:
    tensor = torch.from_numpy(array)
    return tensor.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else tensor.to(device)
