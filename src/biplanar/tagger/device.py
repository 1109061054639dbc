"""A network on any device, by PyTorch. What it computes there is fetched while other batches are decoded.

Launching work on a device takes no longer than saying what is to be done, and so does `score`: its result waits for the
tables only when they are looked at. They come in one piece, as fetching has its price however little is fetched. What
words are as dependents and as heads stays on the device, until heads are known to relate them to.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from biplanar.data.arrays import Float32s, Int64s
from biplanar.errors import BiplanarError
from biplanar.tagger.features import Batch, Spellings, Vocabulary
from biplanar.tagger.form_cache import FormCache
from biplanar.tagger.network import Tagger, TensorBatch, TensorSpellings
from biplanar.tagger.predict import DEPENDENT, GOVERNOR, Relating

# Of the two kinds of half precision the one with more digits: scores are small.
FULL, HALF = torch.float32, torch.float16


def choose_device(name: str) -> torch.device:
    """A device by name; `auto` takes the fastest there is."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    try:
        device = torch.device(name)
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError) as error:
        raise BiplanarError(f"device {name!r} is not there: expected auto, cpu, cuda:N or mps") from error
    return device


class TorchTagger:
    """Scores from a network on any device, in any precision; the network itself is changed to that."""

    def __init__(
        self, network: Tagger, vocabulary: Vocabulary, device: torch.device, *, precision: torch.dtype = FULL
    ) -> None:
        self.device, self.precision = device, precision
        # Attention adds up many small probabilities, and so takes less than full precision only where that is enough.
        self._mixed = precision != FULL and network.attention is not None
        self.network = network if self._mixed else network.to(precision)
        for module in self.network.modules():
            if isinstance(module, nn.LSTM):  # else each call would put its weights side by side anew
                module.flatten_parameters()
        # Batches that are decoded at a time: a device leaves the processor's cores to decoding.
        self.threads = os.cpu_count() or 1 if device.type == "cuda" else 1
        self._forms = FormCache(vocabulary, self._encode_forms)
        # Words are related to their heads ahead of what has been launched for other batches meanwhile.
        self._aside: torch.cuda.Stream | None = None
        if device.type == "cuda":
            self._aside = torch.cuda.Stream(device, priority=-1)  # type: ignore[no-untyped-call]

    @torch.no_grad()
    def _encode_forms(self, spellings: Spellings) -> Tensor:
        self.network.eval()
        with self._precision():
            vectors: Tensor = self.network.represent(TensorSpellings.of(spellings, self.device))
        return vectors

    def represent(self, forms: Sequence[str]) -> Tensor:
        """Vectors of some forms: (forms, features)."""
        vectors: Tensor = self._forms.vectors(forms)
        return vectors

    @torch.no_grad()
    def score(self, forms: Tensor, batch: Batch) -> DeviceScores:
        """Scores by task: (words of all sentences, labels)."""
        self.network.eval()
        with self._precision():
            if self.network.attention is None:
                tables = packed_scores(self.network, forms, PackedBatch.of(batch, self.device))
            else:
                tables = self.network(forms, TensorBatch.of(batch, self.device))
        return DeviceScores(self, tables)

    def relate(self, dependents: Float32s, heads: Float32s, governors: Int64s) -> Float32s:
        """Scores of relations, given each word's head: (words, relations)."""
        kind = next(self.network.parameters()).dtype
        of_dependents, of_heads = (torch.from_numpy(table).to(self.device, kind) for table in (dependents, heads))
        return self.relate_there(of_dependents, of_heads, governors)

    @torch.no_grad()
    def relate_there(self, dependents: Tensor, heads: Tensor, governors: Int64s) -> Float32s:
        """The same for tables that are on the device, and computed."""
        if self.network.relations is None:
            raise BiplanarError("this network has no relations given the head")
        self.network.eval()
        with self._precision(), nullcontext() if self._aside is None else torch.cuda.stream(self._aside):
            scores = self.network.relations.relate(dependents, heads, _to_device(governors, self.device))
            return Fetched(scores.float()).array

    def _precision(self) -> AbstractContextManager[Any]:
        return torch.autocast(self.device.type, dtype=self.precision) if self._mixed else nullcontext()


class DeviceScores(Relating):
    """The scores of a batch, by task, that are fetched together; what relating needs stays where it is."""

    def __init__(self, tagger: TorchTagger, tables: Mapping[str, Tensor]) -> None:
        self._tagger = tagger
        self._kept = {name: table for name, table in tables.items() if name in (DEPENDENT, GOVERNOR)}
        labels = {task: table for task, table in tables.items() if task not in self._kept}
        self._shapes = {task: tuple(table.shape) for task, table in labels.items()}
        self._fetched = Fetched(torch.cat([table.float().flatten() for table in labels.values()]))

    @cached_property
    def _arrays(self) -> dict[str, Float32s]:
        ends = np.cumsum([words * labels for words, labels in self._shapes.values()])
        parts = np.split(self._fetched.array, ends[:-1])
        return {task: part.reshape(shape) for (task, shape), part in zip(self._shapes.items(), parts, strict=True)}

    def __getitem__(self, task: str) -> Float32s:
        if task in self._kept:
            return Fetched(self._kept[task].float()).array
        return self._arrays[task]

    def __contains__(self, task: object) -> bool:
        return task in self._kept or task in self._shapes

    def __iter__(self) -> Iterator[str]:
        yield from (*self._shapes, *self._kept)

    def __len__(self) -> int:
        return len(self._shapes) + len(self._kept)

    def relate(self, governors: Int64s) -> Float32s:
        """Scores of relations, given each word's head: (words, relations)."""
        self._fetched.wait()  # what was launched before it is done, then
        return self._tagger.relate_there(self._kept[DEPENDENT], self._kept[GOVERNOR], governors)


class Fetched:
    """A tensor on its way from a device."""

    def __init__(self, tensor: Tensor) -> None:
        self._here = tensor
        self._done: torch.cuda.Event | None = None
        if tensor.device.type == "cuda":
            # Only into memory that stays where it is can a device copy by itself.
            self._here = torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=True)
            self._here.copy_(tensor, non_blocking=True)
            # Whoever waits for it leaves its core to others.
            self._done = torch.cuda.Event(blocking=True)  # type: ignore[no-untyped-call]
            self._done.record(torch.cuda.current_stream(tensor.device))
        elif tensor.device.type != "cpu":
            self._here = tensor.cpu()

    def wait(self) -> None:
        """Until it is here."""
        if self._done is not None:
            self._done.synchronize()

    @property
    def array(self) -> Float32s:
        """Wait for it."""
        self.wait()
        return np.asarray(self._here.numpy())


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
        """Copy a batch to a device."""
        order = np.argsort(-batch.lengths, kind="stable")
        mask = batch.mask[order].T  # (words, sentences)
        sizes = mask.sum(axis=1)
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        first = np.cumsum(sizes) - sizes
        places = (first + rank[:, None])[batch.mask]
        treebanks = np.zeros(len(order), dtype=np.int64) if batch.treebanks is None else batch.treebanks
        of_words = np.broadcast_to(treebanks[order], mask.shape)[mask]
        together = _to_device(np.stack([batch.words[order].T[mask], places, of_words]), device)
        return cls(together[0], torch.from_numpy(sizes), together[1], together[2])


def packed_scores(network: Tagger, forms: Tensor, batch: PackedBatch) -> dict[str, Tensor]:
    """What the network says of a batch, and what `relations` will need of each word: (words of all sentences, labels).

    The same as the network's own `forward`, for one without attention that is not being trained.
    """
    hidden = forms.index_select(0, batch.words)  # (all words, features of a form)
    if network.treebank_embedding is not None:
        hidden = torch.cat([hidden, network.treebank_embedding(batch.treebanks)], dim=-1)
    for layer in network.layers if len(batch.words) else ():
        hidden = layer(PackedSequence(hidden, batch.sizes))[0].data  # (all words, width)
    words = hidden.index_select(0, batch.places) if len(batch.words) else hidden.new_zeros(0, network.width)
    scores = {task: output(words) for task, output in network.named_outputs()}
    if network.relations is not None:
        scores |= {DEPENDENT: network.relations.dependent(words), GOVERNOR: network.relations.head(words)}
    return scores


def _to_device(array: Int64s, device: torch.device) -> Tensor:
    tensor = torch.from_numpy(array)
    return tensor.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else tensor.to(device)
