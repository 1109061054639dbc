"""Steps of training as CUDA graphs.

A step launches some 1,600 small kernels, which takes the CPU ten times as long as the GPU takes to run them. So batches
are padded to a few shapes; the first step of each shape is recorded, and later ones are replayed with one launch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from biplanar.data.arrays import Int64s
from biplanar.tagger.features import Corpus, Spellings
from biplanar.tagger.tensors import TensorBatch, TensorSpellings

# Libraries allocate what they need in their first calls, which cannot be recorded.
EAGER_STEPS = 3

FEATURES = 6  # arrays that a batch is made of

FORM_STEP = 128  # numbers of forms are rounded up to multiples of this


class GraphedSteps:
    """A function of integer tensors, recorded for each combination of their shapes and replayed from then on."""

    def __init__(
        self, function: Callable[[list[Tensor]], Tensor], parameters: Sequence[Tensor], device: torch.device
    ) -> None:
        """`function` uses `parameters`, and gives a tensor of one number."""
        self._function, self._parameters, self._device = function, parameters, device
        self._addresses = self._current_addresses()
        self._stream = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
        self._graphs: dict[tuple[tuple[int, ...], ...], tuple[torch.cuda.CUDAGraph, Tensor, Tensor]] = {}
        self._eager = 0

    def __call__(self, arrays: Sequence[Int64s]) -> Tensor:
        """Run the function on arrays, without waiting for the device."""
        together = torch.from_numpy(np.concatenate([array.ravel() for array in arrays])).pin_memory()
        shapes = tuple(array.shape for array in arrays)
        if self._addresses != (addresses := self._current_addresses()):
            self._graphs, self._addresses = {}, addresses  # what was recorded uses memory that is others' now
        if shapes in self._graphs:
            graph, inputs, result = self._graphs[shapes]
            inputs.copy_(together, non_blocking=True)
        else:
            inputs = together.to(self._device)
            if self._eager < EAGER_STEPS:
                self._eager += 1
                return self._run(inputs, shapes)
            graph = torch.cuda.CUDAGraph()
            pool = next((other.pool() for other, *_ in self._graphs.values()), None)
            with torch.cuda.graph(graph, pool=pool, stream=self._stream):
                result = self._function(_split(inputs, shapes))
            self._graphs[shapes] = graph, inputs, result
        graph.replay()
        return result

    def _current_addresses(self) -> list[int]:
        return [parameter.data_ptr() for parameter in self._parameters]

    def _run(self, inputs: Tensor, shapes: Sequence[tuple[int, ...]]) -> Tensor:
        current = torch.cuda.current_stream(self._device)
        self._stream.wait_stream(current)
        with torch.cuda.stream(self._stream):
            result = self._function(_split(inputs, shapes))
        current.wait_stream(self._stream)
        return result


def _split(together: Tensor, shapes: Sequence[tuple[int, ...]]) -> list[Tensor]:
    parts = torch.split(together, [int(np.prod(shape)) for shape in shapes])
    return [part.view(shape) for part, shape in zip(parts, shapes, strict=True)]


class PaddedBatch(TensorBatch):
    """A batch whose padding counts as words, so that shapes do not depend on the lengths of sentences."""

    def __init__(self, words: Tensor, lengths: Tensor, treebanks: Tensor) -> None:
        """`lengths` are on the device, too."""
        self.__dict__.update(words=words, lengths=lengths, treebanks=treebanks, device=words.device)

    @cached_property
    def mask(self) -> Tensor:
        """Where there is a word and not padding: (sentences, words)."""
        return torch.arange(self.words.shape[1], device=self.device) < self.lengths[:, None]

    @cached_property
    def places(self) -> Tensor:
        """Everywhere: (sentences * words,)."""
        return torch.arange(self.words.numel(), device=self.device)

    @property
    def windows(self) -> TensorBatch:
        """Training does not cut sentences."""
        return self

    def only_words(self, table: Tensor) -> Tensor:
        """From (sentences, words, ...) to (sentences * words, ...)."""
        return table.flatten(0, 1)

    def padded(self, words: Tensor) -> Tensor:
        """From (sentences * words, features) to (sentences, words, features)."""
        return words.view(*self.words.shape, words.shape[1])


class PaddedArrays:
    """Batches of a corpus as arrays of few different shapes."""

    def __init__(self, corpus: Corpus, spellings: Spellings, batch_words: int) -> None:
        self._corpus, self._spellings, self._batch_words = corpus, spellings, batch_words

    def arrays(self, chosen: Int64s, mask: np.ndarray[tuple[int, int], np.dtype[np.bool_]]) -> list[Int64s]:
        """Forms and where they stand, for `tensors`; `mask` is that of these sentences."""
        corpus, spellings = self._corpus, self._spellings
        used, numbers = np.unique(corpus.words[corpus.places(chosen)], return_inverse=True)
        forms = -(-len(used) // FORM_STEP) * FORM_STEP
        some = spellings.some(used)
        ids, letters = np.zeros(forms, dtype=np.int64), np.ones(forms, dtype=np.int64)
        ids[: len(used)], letters[: len(used)] = some.ids, some.lengths
        chars = np.zeros((forms, rounded_up(some.chars.shape[1])), dtype=np.int64)
        chars[: len(used), : some.chars.shape[1]] = some.chars
        words, lengths = np.zeros(mask.shape, dtype=np.int64), np.ones(len(mask), dtype=np.int64)
        words[mask], lengths[: len(chosen)] = numbers, corpus.lengths[chosen]
        treebanks = np.zeros(len(mask), dtype=np.int64)
        if corpus.treebanks is not None:
            treebanks[: len(chosen)] = corpus.treebanks[chosen]
        return [ids, chars, letters, words, lengths, treebanks]

    def mask(self, chosen: Int64s) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
        """Where there are words, in as many sentences as a batch of this length can have: (sentences, words)."""
        lengths = self._corpus.lengths[chosen]
        steps = rounded_up(int(lengths.max()))
        shortest = next(length for length in range(steps, 0, -1) if length == 1 or rounded_up(length - 1) < steps)
        mask = np.zeros((max(self._batch_words // shortest, len(chosen)), steps), dtype=np.bool_)
        mask[: len(chosen)] = np.arange(steps) < lengths[:, None]
        return mask


def rounded_up(length: int) -> int:
    """To a multiple of 2, 4, 8, ...: by an eighth at most, but for short ones."""
    step = max(2, 1 << max(length.bit_length() - 3, 0))
    return -(-length // step) * step


def tensors(inputs: Sequence[Tensor]) -> tuple[TensorSpellings, PaddedBatch]:
    """What `PaddedArrays.arrays` has made arrays of."""
    ids, chars, letters, words, lengths, treebanks = inputs
    return TensorSpellings(ids, chars, letters), PaddedBatch(words, lengths, treebanks)
