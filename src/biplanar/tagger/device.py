"""A network on any device, by PyTorch. What it computes there is fetched while other batches are decoded.

`score` is asynchronous: the first access to a table of labels blocks. All tables are fetched in one copy, as each copy
has its price however little it fetches. What words are as dependents and as heads stays on the device, until heads are
known to relate them to.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property, partial
from itertools import product
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from biplanar.data.arrays import Float32s, Int32s, Int64s
from biplanar.data.forest import offsets_of
from biplanar.decoding.scores import MOST_HEADS, LikelyHeads, Scores
from biplanar.errors import BiplanarError
from biplanar.tagger.features import Batch, FormCache, Spellings, Vocabulary
from biplanar.tagger.layers import NEVER, ArcVectors, arc_table, with_root
from biplanar.tagger.network import Output, Tagger
from biplanar.tagger.tensors import TensorBatch, TensorSpellings

# Of the two kinds of half precision the one with more digits: scores are small.
FULL, HALF = torch.float32, torch.float16

# How many arc scores are held at a time.
MOST_PRODUCTS = 1 << 26


def choose_device(name: str) -> torch.device:
    """A device by name; `auto` takes the fastest there is."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    try:
        device = torch.device(name)
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError) as error:
        raise BiplanarError(f"no device {name!r}; devices are auto, cpu, cuda:N and mps") from error
    return device


class TorchTagger:
    """Scores from a network on any device, in any precision; the network itself is changed to that."""

    def __init__(
        self, network: Tagger, vocabulary: Vocabulary, device: torch.device, *, precision: torch.dtype = FULL
    ) -> None:
        self.device, self.precision = device, precision
        # Attention adds up many small probabilities, and so takes less than full precision only where that is enough.
        self._mixed = precision != FULL and network.attention is not None
        # Weights are not moved without need: a training may have recorded where they are.
        is_there = all(parameter.dtype == precision for parameter in network.parameters())
        self.network = network if self._mixed or is_there else network.to(precision)
        for module in self.network.modules():
            if isinstance(module, nn.LSTM) and len({w.untyped_storage().data_ptr() for w in module.parameters()}) > 1:
                module.flatten_parameters()  # else each call would put its weights side by side
        # A GPU leaves the CPU's cores to decoding.
        self.decoding_threads = os.cpu_count() or 1 if device.type == "cuda" else 1
        self.forms = FormCache(vocabulary, self._encode_forms)
        # Words are related to their heads ahead of what has been launched for other batches meanwhile.
        self._aside: torch.cuda.Stream | None = None
        if device.type == "cuda":
            self._aside = torch.cuda.Stream(device, priority=-1)  # type: ignore[no-untyped-call]

    @torch.no_grad()
    def _encode_forms(self, spellings: Spellings) -> Tensor:
        self.network.eval()
        with self._precision():
            return self.network.encoder.represent(TensorSpellings.of(spellings, self.device))

    def represent(self, forms: Sequence[str]) -> Tensor:
        """Vectors of some forms: (forms, features)."""
        vectors: Tensor = self.forms.vectors(forms)
        return vectors

    @torch.no_grad()
    def score(self, forms: Tensor, batch: Batch) -> Scores:
        """The scores of a batch, which stay on the device until they are looked at."""
        self.network.eval()
        with self._precision():
            tensors = TensorBatch(batch, self.device)
            output: Output = self.network(forms, tensors)
        labels = FetchedTables(output.labels)
        columns = DeviceColumns(output.columns) if output.columns else None
        arcs = None if output.arcs is None else DeviceArcs(output.arcs, tensors)
        relate = None if output.dependents is None else partial(self._relate, output, labels)
        return Scores(offsets_of(batch.lengths), labels, relate, columns, arcs)

    @torch.no_grad()
    def _relate(self, output: Output, labels: FetchedTables, governors: Int64s) -> Float32s:
        """Scores of relations, given each word's head: (words, relations)."""
        assert self.network.relations is not None
        assert output.dependents is not None
        assert output.heads is not None
        labels.wait()  # then what was launched before it, dependents and heads among it, is done
        self.network.eval()
        with self._precision(), nullcontext() if self._aside is None else torch.cuda.stream(self._aside):
            tensor = torch.from_numpy(governors)
            there = tensor.pin_memory() if self.device.type == "cuda" else tensor
            where = there.to(self.device, non_blocking=True)
            scores = self.network.relations.relate(output.dependents, output.heads, where)
            return Fetched(scores.float()).array

    def _precision(self) -> AbstractContextManager[Any]:
        return torch.autocast(self.device.type, dtype=self.precision) if self._mixed else nullcontext()


class FetchedTables(Mapping[str, Float32s]):
    """Tables of scores by task, on their way from a device in one copy."""

    def __init__(self, tables: Mapping[str, Tensor]) -> None:
        self._shapes = {task: tuple(table.shape) for task, table in tables.items()}
        self._fetched = Fetched(torch.cat([table.float().flatten() for table in tables.values()]))

    @cached_property
    def _arrays(self) -> dict[str, Float32s]:
        ends = np.cumsum([words * labels for words, labels in self._shapes.values()])
        parts = np.split(self._fetched.array, ends[:-1])
        return {task: part.reshape(shape) for (task, shape), part in zip(self._shapes.items(), parts, strict=True)}

    def __getitem__(self, task: str) -> Float32s:
        return self._arrays[task]

    def __contains__(self, task: object) -> bool:
        return task in self._shapes

    def __iter__(self) -> Iterator[str]:
        return iter(self._shapes)

    def __len__(self) -> int:
        return len(self._shapes)

    def wait(self) -> None:
        """Until they are here."""
        self._fetched.wait()


class DeviceColumns:
    """Scores of output columns, which stay on the device; the best labels are found there, and on their way."""

    def __init__(self, tables: Mapping[str, Tensor]) -> None:
        self._given = tables
        self._best = Fetched(torch.stack([table.argmax(dim=-1).int() for table in tables.values()]))

    def best(self) -> dict[str, Int32s]:
        """Each word's best label."""
        return dict(zip(self._given, self._best.array, strict=True))

    def tables(self) -> dict[str, Float32s]:
        """All scores."""
        return {name: np.asarray(table.float().cpu().numpy()) for name, table in self._given.items()}


class DeviceArcs:
    """The likeliest heads of words, found on the device, and on their way."""

    def __init__(self, arcs: ArcVectors, batch: TensorBatch) -> None:
        heads, logs = _likeliest_heads(arcs, batch)
        self._fetched = Fetched(torch.stack([heads.int().view(FULL), logs]))

    def likeliest(self) -> LikelyHeads:
        """Up to `MOST_HEADS` heads of each word."""
        heads, logs = self._fetched.array
        return LikelyHeads(heads.view(np.int32), logs)


def _likeliest_heads(arcs: ArcVectors, batch: TensorBatch) -> tuple[Tensor, Tensor]:
    """Numbers of heads and their log-probabilities, (all words, MOST_HEADS), from blocks of some sentences' rows."""
    dependents, heads = batch.padded(arcs.dependents), batch.padded(arcs.heads)
    sentences, words, _ = dependents.shape
    found = torch.full((sentences, words, MOST_HEADS), -1, dtype=torch.int32, device=heads.device)
    logs = torch.full((sentences, words, MOST_HEADS), -torch.inf, dtype=FULL, device=heads.device)
    most = min(MOST_HEADS, words + 1)
    rows = max(1, min(words, MOST_PRODUCTS // max(1, words)))
    together = max(1, MOST_PRODUCTS // max(1, rows * words))
    for sentence, first in product(range(0, sentences, together), range(0, words, rows)):
        some, block = slice(sentence, sentence + together), slice(first, first + rows)
        all_heads = with_root(arcs.root, heads[some])
        scores = arc_table(dependents[some, block], all_heads, batch.mask[some]).float()
        own = torch.arange(scores.shape[1], device=scores.device)
        scores[:, own, first + own + 1] = NEVER  # no word is its own head
        best = scores.log_softmax(dim=-1).topk(most, dim=-1)
        logs[some, block, :most] = best.values.clamp(min=NEVER)
        found[some, block, :most] = best.indices.int()
    impossible = logs <= NEVER / 2  # padding
    found, logs = found.masked_fill(impossible, -1), logs.masked_fill(impossible, -torch.inf)
    return batch.only_words(found), batch.only_words(logs)


class Fetched:
    """A tensor on its way from a device."""

    def __init__(self, tensor: Tensor) -> None:
        self._here = tensor
        self._done: torch.cuda.Event | None = None
        if tensor.device.type == "cuda":
            # Only copies to page-locked memory are asynchronous.
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
    def array(self) -> NDArray[Any]:
        """Wait for it."""
        self.wait()
        return np.asarray(self._here.numpy())
