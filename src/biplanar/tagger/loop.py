"""The loop of training: steps, epochs and evaluations on dev of any network of this room, which can be resumed."""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from biplanar.data.arrays import Int64s
from biplanar.errors import BiplanarError
from biplanar.tagger.config import AUTO, TrainingConfig
from biplanar.tagger.cuda_graphs import FEATURES, GraphedSteps, PaddedArrays, tensors
from biplanar.tagger.distributed import ALONE, Group
from biplanar.tagger.features import Corpus, Spellings, Vocabulary, batches_by_words
from biplanar.tagger.network import Tagger
from biplanar.tagger.tensors import TensorBatch, TensorSpellings
from biplanar.tagger.threads import ThreadTuner


@dataclass(frozen=True)
class Progress:
    """Batches of the current epoch that are done; while there are none, the training may be saved."""

    epoch: int  # from 1
    epochs: int
    batch: int
    batches: int
    seconds_left: float  # until the last epoch is done, by the speed so far
    words_per_second: float

    def __str__(self) -> str:
        left = f", {duration(self.seconds_left)} left" if math.isfinite(self.seconds_left) else ""
        return f"epoch {self.epoch}/{self.epochs}, batch {self.batch}/{self.batches}{left}"


def duration(seconds: float) -> str:
    """As people say it: 40 s, 12 min, 3 h 5 min."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


class Pace:
    """How fast a training is."""

    def __init__(self, epochs: int, words: int) -> None:
        """`epochs` are still to be done, each of a number of words."""
        self._epochs, self._words, self._done, self._start = epochs, words, 0.0, time.monotonic()

    def add(self, epochs: float) -> None:
        """A share of an epoch has been done."""
        self._done += epochs

    @property
    def now(self) -> tuple[float, float]:
        """Seconds left, and words per second; before the first batch nobody knows."""
        if not self._done:
            return math.inf, math.nan
        each = (time.monotonic() - self._start) / self._done
        return each * (self._epochs - self._done), self._words / each


class TrainingLoop(ABC):
    """The state of a training: what a checkpoint must hold, and the steps that change it."""

    def __init__(
        self,
        network: Tagger,
        auxiliary: nn.Module,
        vocabulary: Vocabulary,
        corpus: Corpus,
        config: TrainingConfig,
        *,
        seed: int,
        device: torch.device,
        threads: int | None,
        group: Group = ALONE,
    ) -> None:
        """`auxiliary` are layers for training only. `corpus` is what an epoch goes through, or as large."""
        self.settings, self.seed, self.device, self.vocabulary, self.group = config, seed, device, vocabulary, group
        self.network, self.auxiliary = network.to(device), auxiliary.to(device)
        self._corpus, self._spellings = corpus, Spellings.of(corpus.forms, vocabulary)
        self.batches = max(1, round(len(corpus.words) / config.batch_words))
        self.epochs = enough_epochs(self.batches, config.updates) if config.epochs == AUTO else config.epochs
        rate = config.learning_rate
        self.learning_rate = good_learning_rate(self.batches) if rate == AUTO else rate
        on_cuda, parameters = device.type == "cuda", [*self.network.parameters(), *self.auxiliary.parameters()]
        groups = parameter_groups(self.network, parameters, self.learning_rate)
        self._rates: list[float] = [one["lr"] for one in groups]
        if on_cuda:
            groups = [one | {"lr": torch.tensor(one["lr"], device=device)} for one in groups]
        self.optimizer = torch.optim.AdamW(
            groups, betas=(0.9, 0.95), eps=1e-8, weight_decay=0, fused=True, capturable=on_cuda
        )
        self._gathered = 0  # batches since the last update
        self.network.encoder.amp = config.amp
        self.average = None
        if config.average is not None:
            mean = get_ema_multi_avg_fn(config.average)  # type: ignore[no-untyped-call]
            self.average = AveragedModel(self.network, multi_avg_fn=mean)
        self.epoch, self.best_score, self.stale = 0, -1.0, 0
        self.loss, self.words = 0.0, 0  # since the last evaluation
        if threads is not None:
            torch.set_num_threads(threads)
        tunes = threads is None and device.type == "cpu"
        self._tuner = ThreadTuner(torch.get_num_threads()) if tunes else None
        self.counts_padding = on_cuda and group.size == 1 and self.network.encoder.recordable  # as words
        self._graphed = GraphedSteps(self._padded_step, parameters, device) if self.counts_padding else None

    @abstractmethod
    def gold_arrays(self, chosen: Int64s, mask: NDArray[np.bool_]) -> Sequence[Int64s]:
        """What is to be learned of some sentences of the epoch's corpus; `mask` says what is padding."""

    @abstractmethod
    def step_losses(self, forms: Tensor, batch: TensorBatch, arrays: Sequence[Tensor]) -> tuple[Tensor, Tensor, Tensor]:
        """The loss that is reported, further losses, and the number of words; `arrays` are those of `gold_arrays`."""

    @abstractmethod
    def evaluate(self) -> tuple[float, ...]:
        """Scores on dev in percent; the last one decides which network is the best."""

    @abstractmethod
    def record(self, loss: float, speed: float, best: bool, scores: tuple[float, ...]) -> Any:
        """What is told of an evaluation."""

    def corpus_of_epoch(self) -> Corpus:
        """What the current epoch goes through."""
        return self._corpus

    def positions(self, places: Int64s, mask: NDArray[np.bool_], padding: int) -> Int64s:
        """Places of words, with the number of padding wherever that counts."""
        if not self.counts_padding:
            return places
        positions = np.full(mask.shape, padding, dtype=np.int64)
        positions[mask] = places
        return positions.ravel()

    def table(self, array: NDArray[Any]) -> Tensor:
        """An array on the device."""
        return torch.from_numpy(array).to(self.device)

    @property
    def kept(self) -> Tagger:
        """The network that is judged and kept: the one that is trained, or the running mean of its weights."""
        return self.network if self.average is None else cast(Tagger, self.average.module)

    @property
    def finished(self) -> bool:
        """Whether all epochs are done, or patience has ended."""
        patience = self.settings.patience
        return self.epoch >= self.epochs or (patience is not None and self.stale >= patience)

    def run(self) -> Iterator[Any]:
        """Train to the end, telling progress before each epoch and after each batch.

        After a record, and before the first batch of an epoch, the state may be saved.
        """
        every = max(1, round(self.epochs / self.settings.evaluations))
        pace = Pace(self.epochs - self.epoch, len(self._corpus.words))
        start, before = time.monotonic(), self.words
        while not self.finished:
            yield from self._run_epoch(pace)
            self.epoch += 1
            if self.epoch % every == 0 or self.epoch == self.epochs:
                speed = (self.words - before) / (time.monotonic() - start)
                scores = self.group.from_first(self.evaluate)
                best = scores[-1] > self.best_score
                self.best_score, self.stale = max(scores[-1], self.best_score), 0 if best else self.stale + 1
                loss, self.loss, self.words = self.loss / self.words, 0.0, 0
                yield self.record(loss, speed, best, scores)
                start, before = time.monotonic(), 0

    def _run_epoch(self, pace: Pace) -> Iterator[Progress]:
        """One round over the corpus; batches are of similar lengths, in random order."""
        rng = np.random.default_rng([self.seed, self.epoch])
        self._corpus = self.corpus_of_epoch()
        lengths = self._corpus.lengths
        order = np.argsort(lengths * rng.uniform(0.8, 1.25, len(lengths)), kind="stable")
        batches = batches_by_words(lengths, self.settings.batch_words, order)
        total = torch.zeros((), device=self.device)
        self.network.train()
        self.auxiliary.train()
        if self.group.size > 1:  # what dropout drops differs, and does not depend on where a training was resumed
            torch.manual_seed(int(np.random.default_rng([self.seed, self.epoch, self.group.rank]).integers(1 << 62)))
        yield Progress(self.epoch + 1, self.epochs, 0, len(batches), *pace.now)
        for at, number in enumerate(rng.permutation(len(batches))):
            self._set_learning_rate((self.epoch + at / len(batches)) / self.epochs)
            chosen = batches[number]
            with nullcontext() if self._tuner is None else self._tuner.step(int(lengths[chosen].sum())):
                total += self._step(chosen)
            pace.add(1 / len(batches))
            yield Progress(self.epoch + 1, self.epochs, at + 1, len(batches), *pace.now)
        if self._gathered:
            self._update()
        self.group.add_up([total])
        loss = float(total)
        if not math.isfinite(loss):
            raise BiplanarError(f"training diverged in epoch {self.epoch + 1}: try a lower training.learning_rate")
        self.loss, self.words = self.loss + loss, self.words + int(lengths.sum())

    def _set_learning_rate(self, progress: float) -> None:
        """Up during the warm-up, then straight down to nothing."""
        warmup = self.settings.warmup
        share = progress / warmup if progress < warmup else (1 - progress) / max(1 - warmup, 1e-9)
        for group, highest in zip(self.optimizer.param_groups, self._rates, strict=True):
            rate = highest * max(share, 1e-3)
            if isinstance(group["lr"], Tensor):
                group["lr"].fill_(rate)  # graphs read it from where it is
            else:
                group["lr"] = rate

    def _step(self, chosen: Int64s) -> Tensor:
        """One update; gives the loss, summed over this process's words, without waiting for the device."""
        if self._graphed is not None:
            padded = PaddedArrays(self._corpus, self._spellings, self.settings.batch_words)
            mask = padded.mask(chosen)
            loss = self._graphed([*padded.arrays(chosen, mask), *self.gold_arrays(chosen, mask)])
        else:
            loss = self._eager_step(chosen)
        if self.average is not None:
            self.average.update_parameters(self.network)
        return loss

    def _eager_step(self, chosen: Int64s) -> Tensor:
        """A step on this process's part of a batch; losses are means over the words of all parts."""
        part, lengths = self.group.part(chosen), self._corpus.lengths
        loss = torch.zeros((), device=self.device)
        if not self._gathered:
            self.optimizer.zero_grad(set_to_none=True)
        if len(part):
            used, features = self._corpus.batch(part).own_forms
            spellings = TensorSpellings.of(self._spellings.some(used), self.device)
            gold = [self.table(array) for array in self.gold_arrays(part, features.mask)]
            share = float(lengths[part].sum() / lengths[chosen].sum())
            loss = self._backward(spellings, TensorBatch(features, self.device), gold, share)
        self._gathered += 1
        if self._gathered == self.network.encoder.accumulate:
            self._update()
        return loss

    def _padded_step(self, inputs: list[Tensor]) -> Tensor:
        """A step on a device that is recorded as a graph: shapes alone decide what is computed."""
        spellings, batch = tensors(inputs[:FEATURES])
        self.optimizer.zero_grad(set_to_none=True)
        loss = self._backward(spellings, batch, inputs[FEATURES:])
        self._update()
        return loss

    def _backward(
        self, spellings: TensorSpellings, batch: TensorBatch, gold: Sequence[Tensor], share: float = 1.0
    ) -> Tensor:
        """Gradients of a batch, or of the part of one that has this share of its words; gives the summed loss."""
        use_amp = self.settings.amp and self.device.type == "cuda"
        share /= self.network.encoder.accumulate
        with torch.autocast(self.device.type, dtype=torch.bfloat16, enabled=use_amp, cache_enabled=False):
            loss, more, words = self.step_losses(self.network.encoder.represent(spellings), batch, gold)
        (share * (loss + more)).backward()  # type: ignore[no-untyped-call]
        return loss.detach() * words

    def _update(self) -> None:
        """Change the weights by the gradients of all processes."""
        parameters = [p for group in self.optimizer.param_groups for p in group["params"]]
        if self.group.size > 1:
            for one in parameters:
                one.grad = torch.zeros_like(one) if one.grad is None else one.grad
            self.group.add_up([one.grad for one in parameters])
        nn.utils.clip_grad_norm_(parameters, self.settings.clip)
        self.optimizer.step()
        self._gathered = 0


def parameter_groups(network: Tagger, parameters: Sequence[nn.Parameter], rate: float) -> list[dict[str, Any]]:
    """All parameters that are trained; those that the encoder gives no rate of their own have the given one."""
    groups = network.encoder.parameter_groups()
    own = {id(parameter) for group in groups for parameter in group["params"]}
    others = [parameter for parameter in parameters if parameter.requires_grad and id(parameter) not in own]
    return [{"params": others, "lr": rate}, *groups]


def enough_epochs(batches: int, updates: int) -> int:
    """Small treebanks need many rounds to see enough updates."""
    return math.ceil(16 + updates / batches)


def good_learning_rate(batches: int) -> float:
    """Large treebanks do better with smaller steps: 0.003 up to 100 batches an epoch, 0.002 from 200."""
    share = min(max(math.log2(batches / 100), 0.0), 1.0)
    return 0.003 * math.pow(2 / 3, share)
