"""Training: a stream of records, one for each evaluation on dev, that can be stopped anywhere and resumed."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from biplanar.data.arrays import Int64s
from biplanar.data.conllu import Sentence
from biplanar.data.forest import Column, Forest, offsets_of
from biplanar.decoding.beam import Beam
from biplanar.decoding.decoders import DEFAULT_DECODER, DEFAULT_LABEL_DECODER, get_decoder
from biplanar.decoding.inventory import UPOS, LabelInventory
from biplanar.decoding.search import is_searchable
from biplanar.decoding.tree_decoder import TreeDecoder
from biplanar.encodings import Encoding, get_encoding
from biplanar.encodings.columns import COLUMNS, UNLABELLED, get_columns
from biplanar.encodings.encoding import STACKS, kind_of
from biplanar.encodings.lifting import lift
from biplanar.encodings.stacks import DEPTH_TASK, StackEncoding, depth_columns
from biplanar.errors import BiplanarError, TreeError
from biplanar.tagger.config import AUTO, Config, ConfigError
from biplanar.tagger.cuda_graphs import GraphedSteps, PaddedArrays, tensors
from biplanar.tagger.device import TorchTagger
from biplanar.tagger.features import Corpus, Spellings, Vocabulary, batches_by_words
from biplanar.tagger.network import AuxiliaryHeads, Tagger, build_network
from biplanar.tagger.predict import parse_corpus
from biplanar.tagger.teachers import ARCS, RELATION, Ensemble, Member, SoftTargets, soft_targets
from biplanar.tagger.tensors import TensorBatch, TensorSpellings
from biplanar.tagger.threads import ThreadTuner
from biplanar.tagger.weights import start_from

Vectors = Mapping[str, NDArray[np.float32]]

DEV_BATCH_WORDS = 20_000

# While a network is still unsure of everything, a thorough search would take longer than an epoch.
QUICK = Beam(states=32, wider=2, edges=100_000, nodes=2_000)


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


@dataclass(frozen=True)
class Record:
    """One evaluation on dev. `loss` is the mean per word since the last one."""

    epoch: int
    epochs: int
    loss: float
    uas: float
    las: float
    words_per_second: float
    best: bool

    def __str__(self) -> str:
        scores = f"loss {self.loss:.3f}  dev UAS {self.uas:.2f}  LAS {self.las:.2f}"
        star = "  *" if self.best else ""
        return f"epoch {self.epoch}/{self.epochs}  {scores}  {self.words_per_second:,.0f} words/s{star}"


@dataclass(frozen=True)
class Examples:
    """Sentences with what is to be learned of them."""

    vocabulary: Vocabulary
    corpus: Corpus
    forest: Forest
    targets: dict[str, Column]  # by task

    @classmethod
    def of(
        cls,
        sentences: list[Sentence],
        encoding: Encoding,
        config: Config,
        vectors: Vectors | None = None,
        treebanks: Int64s | None = None,
    ) -> Examples:
        """Encode the trees of some sentences, and take stock of their words and labels."""
        forest, forms = Forest.from_sentences(sentences), [sentence.forms for sentence in sentences]
        try:
            columns = encoding.encode(forest)
        except TreeError as error:
            raise sentences[error.sentence].error_at(1, str(error)) from error
        forest = lift(encoding, forest)
        targets = dict(zip(encoding.tasks, columns, strict=True)) | {"deprel": forest.deprels}
        if config.network.depths and kind_of(encoding) == STACKS:
            targets |= depth_columns(cast(StackEncoding, encoding), columns, forest.offsets)
        predicted = {column.name: column.encode(sentences) for column in get_columns(config.network.columns)}
        targets |= {name: column for name, column in predicted.items() if column.names}
        vocabulary = Vocabulary.of(
            forms,
            {task: column.names for task, column in targets.items()},
            min_form_count=config.vocabulary.min_form_count,
            min_char_count=config.vocabulary.min_char_count,
            more_forms=vectors or (),
            treebanks=1 if treebanks is None else int(treebanks.max()) + 1,
        )
        return cls(vocabulary, Corpus.of(forms, treebanks), forest, targets)


@dataclass(frozen=True)
class Gold:
    """What is to be learned of a batch."""

    words: Tensor  # how many there are, without padding
    heads: Tensor  # (sentences, words)
    governors: Tensor  # (all words,): 0 for the root, 1 + the head's place among all words for others
    targets: dict[str, Tensor]  # (all words,) by task
    soft: dict[str, tuple[Tensor, Tensor]]  # (all words, labels) by task: labels and their probabilities


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


class Trainer:
    """The state of a training: what a checkpoint must hold, and the steps that change it."""

    def __init__(
        self,
        config: Config,
        train: list[Sentence],
        dev: list[Sentence],
        *,
        seed: int = 1,
        device: torch.device | str = "cpu",
        vectors: Vectors | None = None,
        treebanks: Sequence[int] | None = None,
        teachers: Sequence[Member] = (),
        start: tuple[Tagger, Vocabulary] | None = None,
        threads: int | None = None,
    ) -> None:
        """`treebanks` says of which treebank each training sentence is; dev is of the first.

        With `teachers`, the network learns from their soft targets for the training sentences, beside the labels.
        `start` is another network, whose weights this one starts from as far as they fit. `threads` are those of
        PyTorch on the CPU, for the whole process; without, the number is chosen by measuring.
        """
        _check(config)
        self.config, self.seed, self.device = config, seed, torch.device(device)
        self.encoding = get_encoding(config.encoding)
        self.train_examples = Examples.of(train, self.encoding, config, vectors, _numbers(treebanks, config))
        self.vocabulary = self.train_examples.vocabulary
        self.dev = Forest.from_sentences(dev)
        self.dev_corpus = Corpus.of(sentence.forms for sentence in dev)
        self._spellings = Spellings.of(self.train_examples.corpus.forms, self.vocabulary)
        torch.manual_seed(seed)
        network = build_network(config, self.vocabulary)
        with torch.no_grad():
            for form, vector in (vectors or {}).items():
                network.encoder.put_vector(self.vocabulary.form_ids[form], torch.from_numpy(vector))
        if start is not None:
            start_from(network, self.vocabulary, *start)
        self.network = network.to(self.device)
        self.auxiliary = AuxiliaryHeads(
            config.auxiliary,
            self.network.width,
            config.network.dropout,
            len(self.vocabulary.tasks["deprel"]),
            arc_dim=None if self.network.arcs else config.network.arc_dim,
        ).to(self.device)
        self.batches = max(1, round(len(self.train_examples.forest.heads) / config.training.batch_words))
        epochs, rate = config.training.epochs, config.training.learning_rate
        self.epochs = enough_epochs(self.batches, config.training.updates) if epochs == AUTO else epochs
        self.learning_rate = good_learning_rate(self.batches) if rate == AUTO else rate
        on_cuda = self.device.type == "cuda"
        self.optimizer = torch.optim.Adam(
            [*self.network.parameters(), *self.auxiliary.parameters()],
            lr=torch.tensor(self.learning_rate, device=self.device) if on_cuda else self.learning_rate,
            betas=(0.9, 0.95),
            eps=1e-8,
            fused=on_cuda,
            capturable=on_cuda,
        )
        self.average = None
        if config.training.average is not None:
            mean = get_ema_multi_avg_fn(config.training.average)  # type: ignore[no-untyped-call]
            self.average = AveragedModel(self.network, multi_avg_fn=mean)
        self.epoch, self.best_las, self.stale = 0, -1.0, 0
        self.loss, self.words = 0.0, 0  # since the last evaluation
        if threads is not None:
            torch.set_num_threads(threads)
        tunes = threads is None and self.device.type == "cpu"
        self._tuner = ThreadTuner(torch.get_num_threads()) if tunes else None
        # The last row of each is that of padding.
        self._targets = {
            task: self._table(np.append(column.ids.astype(np.int64), UNLABELLED))
            for task, column in self.train_examples.targets.items()
        }
        self.soft_targets = {
            task: tuple(self._table(np.pad(table, ((0, 1), (0, 0)))) for table in (soft.labels, soft.probabilities))
            for task, soft in self._soft_targets(teachers).items()
        }
        corpus = self.train_examples.corpus
        self._padded = PaddedArrays(corpus, self._spellings, config.training.batch_words) if on_cuda else None
        parameters = [*self.network.parameters(), *self.auxiliary.parameters()]
        self._graphed = GraphedSteps(self._padded_step, parameters, self.device) if on_cuda else None

    def _table(self, array: NDArray[Any]) -> Tensor:
        return torch.from_numpy(array).to(self.device)

    def _soft_targets(self, teachers: Sequence[Member]) -> dict[str, SoftTargets]:
        if not teachers:
            return {}
        known = {
            task: names
            for task, names in self.vocabulary.tasks.items()
            if task in self.encoding.tasks or _is_taught(task, teachers)
        }
        corpus, heads = self.train_examples.corpus, self.train_examples.forest.heads
        return soft_targets(Ensemble(teachers, known), corpus, heads, DEV_BATCH_WORDS)

    @property
    def kept(self) -> Tagger:
        """The network that is judged and kept: the one that is trained, or the running mean of its weights."""
        return self.network if self.average is None else cast(Tagger, self.average.module)

    @property
    def finished(self) -> bool:
        """Whether all epochs are done, or patience has ended."""
        patience = self.config.training.patience
        return self.epoch >= self.epochs or (patience is not None and self.stale >= patience)

    def run(self) -> Iterator[Progress | Record]:
        """Train to the end, telling progress before each epoch and after each batch.

        After a record, and before the first batch of an epoch, the state may be saved.
        """
        every = max(1, round(self.epochs / self.config.training.evaluations))
        pace = Pace(self.epochs - self.epoch, int(self.train_examples.corpus.lengths.sum()))
        start, before = time.monotonic(), self.words
        while not self.finished:
            yield from self._run_epoch(pace)
            self.epoch += 1
            if self.epoch % every == 0 or self.epoch == self.epochs:
                speed = (self.words - before) / (time.monotonic() - start)
                uas, las = self.evaluate()
                best = las > self.best_las
                self.best_las, self.stale = max(las, self.best_las), 0 if best else self.stale + 1
                loss, self.loss, self.words = self.loss / self.words, 0.0, 0
                yield Record(self.epoch, self.epochs, loss, uas, las, speed, best)
                start, before = time.monotonic(), 0

    def _run_epoch(self, pace: Pace) -> Iterator[Progress]:
        """One round over the training sentences; batches are of similar lengths, in random order."""
        rng = np.random.default_rng([self.seed, self.epoch])
        lengths = self.train_examples.corpus.lengths
        order = np.argsort(lengths * rng.uniform(0.8, 1.25, len(lengths)), kind="stable")
        batches = batches_by_words(lengths, self.config.training.batch_words, order)
        total = torch.zeros((), device=self.device)
        self.network.train()
        self.auxiliary.train()
        yield Progress(self.epoch + 1, self.epochs, 0, len(batches), *pace.now)
        for at, number in enumerate(rng.permutation(len(batches))):
            self._set_learning_rate((self.epoch + at / len(batches)) / self.epochs)
            chosen = batches[number]
            with nullcontext() if self._tuner is None else self._tuner.step(int(lengths[chosen].sum())):
                total += self._step(chosen)
            pace.add(1 / len(batches))
            yield Progress(self.epoch + 1, self.epochs, at + 1, len(batches), *pace.now)
        loss = float(total)
        if not math.isfinite(loss):
            raise BiplanarError(f"training diverged in epoch {self.epoch + 1}: try a lower training.learning_rate")
        self.loss, self.words = self.loss + loss, self.words + int(lengths.sum())

    def _set_learning_rate(self, progress: float) -> None:
        """Up during the warm-up, then straight down to nothing."""
        warmup = self.config.training.warmup
        share = progress / warmup if progress < warmup else (1 - progress) / max(1 - warmup, 1e-9)
        rate = self.learning_rate * max(share, 1e-3)
        for group in self.optimizer.param_groups:
            if isinstance(group["lr"], Tensor):
                group["lr"].fill_(rate)  # graphs read it from where it is
            else:
                group["lr"] = rate

    def _step(self, chosen: Int64s) -> Tensor:
        """One update; gives the loss, summed over words, without waiting for the device."""
        if self._graphed is not None and self._padded is not None:
            mask = self._padded.mask(chosen)
            loss = self._graphed([*self._padded.arrays(chosen, mask), *self._gold_arrays(chosen, mask)])
        else:
            features = self.train_examples.corpus.batch(chosen)
            used, features = features.own_forms
            spellings = TensorSpellings.of(self._spellings.some(used), self.device)
            gold = self._gold(*map(self._table, self._gold_arrays(chosen, features.mask)))
            loss = self._update(spellings, TensorBatch(features, self.device), gold)
        if self.average is not None:
            self.average.update_parameters(self.network)
        return loss

    def _padded_step(self, inputs: list[Tensor]) -> Tensor:
        """A step on a device that is recorded as a graph: shapes alone decide what is computed."""
        *features, positions, heads, governors = inputs
        spellings, batch = tensors(features)
        return self._update(spellings, batch, self._gold(positions, heads, governors))

    def _update(self, spellings: TensorSpellings, batch: TensorBatch, gold: Gold) -> Tensor:
        use_amp = self.config.training.amp and self.device.type == "cuda"
        self.optimizer.zero_grad(set_to_none=True)
        with torch.autocast(self.device.type, dtype=torch.bfloat16, enabled=use_amp, cache_enabled=False):
            loss, auxiliary_loss = self.losses(self.network.encoder.represent(spellings), batch, gold)
        (loss + auxiliary_loss).backward()  # type: ignore[no-untyped-call]
        parameters = [p for group in self.optimizer.param_groups for p in group["params"]]
        nn.utils.clip_grad_norm_(parameters, self.config.training.clip)
        self.optimizer.step()
        return loss.detach() * gold.words

    def losses(self, forms: Tensor, batch: TensorBatch, gold: Gold) -> tuple[Tensor, Tensor]:
        """The tagger's loss, and that of the auxiliary heads."""
        words = self.network.encoder(forms, batch)  # (all words, width)
        scorer = self.network.arcs or self.auxiliary.arcs
        arcs = None if scorer is None else scorer(batch.padded(words), batch.mask)  # (sentences, words, 1 + words)
        loss = torch.zeros((), device=self.device)
        for task, table in self.network.score(words, batch, arcs).items():
            weight = self.config.auxiliary.depths if task.startswith(DEPTH_TASK) else 1.0
            loss = loss + weight * self._label_loss(table, gold.targets[task], gold, task)
        if self.network.relations is not None:
            table = self.network.relations(words, gold.governors)
            loss = loss + self._label_loss(table, gold.targets["deprel"], gold, RELATION)
        loss = loss + self.column_loss(forms, words, batch, gold)
        return loss, self.relation_loss(words, batch, gold) + self.arc_loss(arcs, batch, gold)

    def relation_loss(self, words: Tensor, batch: TensorBatch, gold: Gold) -> Tensor:
        """The weighted loss of the auxiliary scores of relations, given the heads."""
        weight = self.config.auxiliary.relations
        if not weight:
            return words.new_zeros(())
        scores = self.auxiliary.relation_scores(batch.padded(words), gold.heads)  # (sentences, words, relations)
        return weight * self._label_loss(batch.only_words(scores), gold.targets["deprel"], gold, smooth=False)

    def arc_loss(self, arcs: Tensor | None, batch: TensorBatch, gold: Gold) -> Tensor:
        """The weighted loss of the scores of heads: (sentences, words, 1 + words)."""
        if arcs is None:
            return torch.zeros((), device=self.device)
        known = gold.targets["deprel"] != UNLABELLED  # else it is padding
        heads = batch.only_words(gold.heads).where(known, UNLABELLED)
        return self.config.auxiliary.arcs * self._label_loss(batch.only_words(arcs), heads, gold, ARCS, smooth=False)

    def column_loss(self, forms: Tensor, words: Tensor, batch: TensorBatch, gold: Gold) -> Tensor:
        """The weighted loss of all output columns."""
        tables = self.network.columns(forms, words, batch) if self.network.columns is not None else {}
        losses = [self._label_loss(table, gold.targets[task], gold, task) for task, table in tables.items()]
        return self.config.auxiliary.columns * sum(losses, start=torch.zeros((), device=self.device))

    def _label_loss(
        self, table: Tensor, labels: Tensor, gold: Gold, task: str | None = None, *, smooth: bool = True
    ) -> Tensor:
        """The mean over all words, of which those without a label add nothing; with the soft targets of a task."""
        smoothing = self.config.training.label_smoothing if smooth else 0.0
        total = nn.functional.cross_entropy(
            table.float(), labels, ignore_index=UNLABELLED, label_smoothing=smoothing, reduction="sum"
        )
        loss = total / gold.words
        if task not in gold.soft:
            return loss
        likely, probabilities = gold.soft[task]
        taught = -(table.float().log_softmax(dim=-1).gather(1, likely) * probabilities).sum() / gold.words
        return torch.lerp(loss, taught, self.config.training.taught)

    def _gold_arrays(self, chosen: Int64s, mask: NDArray[np.bool_]) -> tuple[Int64s, Int64s, Int64s]:
        """Where the words are among all words, their heads, and their governors; `mask` says what is padding.

        Governors count from 1 the positions that `TensorBatch.only_words` gives: all words, or all of a padded batch.
        """
        forest, corpus = self.train_examples.forest, self.train_examples.corpus
        places, lengths = corpus.places(chosen), corpus.lengths[chosen]
        flat_heads = forest.heads[places].astype(np.int64)
        heads = np.zeros(mask.shape, dtype=np.int64)
        heads[mask] = flat_heads
        if self._padded is None:
            starts = np.repeat(offsets_of(lengths)[:-1], lengths)
            return places, heads, np.where(flat_heads > 0, starts + flat_heads, 0)
        positions = np.full(mask.shape, len(forest.heads), dtype=np.int64)
        positions[mask] = places
        starts = mask.shape[1] * np.arange(len(mask))[:, None]
        return positions.ravel(), heads, np.where(heads > 0, starts + heads, 0).ravel()

    def _gold(self, positions: Tensor, heads: Tensor, governors: Tensor) -> Gold:
        targets = {task: ids[positions] for task, ids in self._targets.items()}
        soft = {task: (labels[positions], shares[positions]) for task, (labels, shares) in self.soft_targets.items()}
        words = (positions < len(self.train_examples.forest.heads)).sum()
        return Gold(words, heads, governors, targets, soft)

    def evaluate(self) -> tuple[float, float]:
        """UAS and exact LAS on dev in percent, with gold words; by search if the encoding is searchable."""
        inventory = LabelInventory(self.encoding, self.vocabulary.tasks)
        chosen = get_decoder(DEFAULT_DECODER if is_searchable(self.encoding) else DEFAULT_LABEL_DECODER)
        decoder, names = TreeDecoder(inventory, chosen, QUICK), np.array(inventory.deprels)
        scorer = TorchTagger(self.kept, self.vocabulary, self.device)
        upos = None if UPOS in self.vocabulary.tasks else self.dev.upos
        system = parse_corpus(scorer, self.dev_corpus, decoder, DEV_BATCH_WORDS, upos)
        heads = system.heads == self.dev.heads
        relations = names[system.relations] == np.array(self.dev.deprels.labels())
        return 100 * float(heads.mean()), 100 * float((heads & relations).mean())


def enough_epochs(batches: int, updates: int) -> int:
    """Small treebanks need many rounds to see enough updates."""
    return math.ceil(16 + updates / batches)


def good_learning_rate(batches: int) -> float:
    """Large treebanks do better with smaller steps: 0.003 up to 100 batches an epoch, 0.002 from 200."""
    share = min(max(math.log2(batches / 100), 0.0), 1.0)
    return 0.003 * math.pow(2 / 3, share)


def _is_taught(task: str, teachers: Sequence[Member]) -> bool:
    """Whether all teachers have a task, or for output columns any of them."""
    return (any if task in COLUMNS else all)(task in one.tasks for one in teachers)


def _check(config: Config) -> None:
    for name in ("arcs", "attention"):
        if getattr(config.network, name) and not config.auxiliary.arcs:
            raise ConfigError(f"network.{name} needs auxiliary.arcs above 0: that loss trains it")


def _numbers(treebanks: Sequence[int] | None, config: Config) -> Int64s | None:
    """The treebank of each sentence, where the network tells them apart."""
    return np.array(treebanks, dtype=np.int64) if treebanks is not None and config.network.treebank_dim else None
