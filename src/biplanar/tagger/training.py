"""Training a parser: from trees to labels, the losses of a batch, and evaluations on dev."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

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
from biplanar.encodings.encoding import STACKS, encoded, kind_of
from biplanar.encodings.lifting import lift
from biplanar.encodings.stacks import DEPTH_TASK, StackEncoding, depth_columns
from biplanar.tagger.config import Config, ConfigError
from biplanar.tagger.device import TorchTagger
from biplanar.tagger.distributed import ALONE, Group
from biplanar.tagger.features import Corpus, Vocabulary
from biplanar.tagger.loop import TrainingLoop
from biplanar.tagger.network import AuxiliaryHeads, Tagger, build_network
from biplanar.tagger.predict import parse_corpus
from biplanar.tagger.teachers import ARCS, RELATION, Ensemble, Member, SoftTargets, soft_targets
from biplanar.tagger.tensors import TensorBatch
from biplanar.tagger.weights import start_from

Vectors = Mapping[str, NDArray[np.float32]]

DEV_BATCH_WORDS = 20_000

# While a network is still unsure of everything, a thorough search would take longer than an epoch.
QUICK = Beam(states=32, wider=2, edges=100_000, nodes=2_000)


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
        columns = encoded(encoding, forest, sentences)
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


class Trainer(TrainingLoop):
    """The training of a parser."""

    auxiliary: AuxiliaryHeads

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
        group: Group = ALONE,
    ) -> None:
        """`treebanks` says of which treebank each training sentence is; dev is of the first.

        With `teachers`, the network learns from their soft targets for the training sentences, beside the labels.
        `start` is another network, whose weights this one starts from as far as they fit. `threads` are those of
        PyTorch on the CPU, for the whole process; without, the number is chosen by measuring. `group` are processes
        that train the same network.
        """
        _check(config)
        self.config = config
        self.encoding = get_encoding(config.encoding)
        self.train_examples = Examples.of(train, self.encoding, config, vectors, _numbers(treebanks, config))
        vocabulary = self.train_examples.vocabulary
        self.dev = Forest.from_sentences(dev)
        self.dev_corpus = Corpus.of(sentence.forms for sentence in dev)
        torch.manual_seed(seed)
        network = build_network(config, vocabulary)
        network.encoder.load_pretrained()
        with torch.no_grad():
            for form, vector in (vectors or {}).items():
                network.encoder.put_vector(vocabulary.form_ids[form], torch.from_numpy(vector))
        if start is not None:
            start_from(network, vocabulary, *start)
        auxiliary = AuxiliaryHeads(
            config.auxiliary,
            network.width,
            config.network.dropout,
            len(vocabulary.tasks["deprel"]),
            arc_dim=None if network.arcs else config.network.arc_dim,
        )
        corpus, where = self.train_examples.corpus, torch.device(device)
        super().__init__(
            network,
            auxiliary,
            vocabulary,
            corpus,
            config.training,
            seed=seed,
            device=where,
            threads=threads,
            group=group,
        )
        # The last row of each is that of padding.
        self._targets = {
            task: self.table(np.append(column.ids.astype(np.int64), UNLABELLED))
            for task, column in self.train_examples.targets.items()
        }
        self.soft_targets = {
            task: tuple(self.table(np.pad(table, ((0, 1), (0, 0)))) for table in (soft.labels, soft.probabilities))
            for task, soft in self._soft_targets(teachers).items()
        }

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

    def record(self, loss: float, speed: float, best: bool, scores: tuple[float, ...]) -> Record:
        """UAS and LAS on dev."""
        return Record(self.epoch, self.epochs, loss, scores[0], scores[-1], speed, best)

    def step_losses(self, forms: Tensor, batch: TensorBatch, arrays: Sequence[Tensor]) -> tuple[Tensor, Tensor, Tensor]:
        """The tagger's loss, that of the auxiliary heads, and the number of words."""
        gold = self._gold(*arrays)
        return *self.losses(forms, batch, gold), gold.words

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

    def gold_arrays(self, chosen: Int64s, mask: NDArray[np.bool_]) -> tuple[Int64s, Int64s, Int64s]:
        """Where the words are among all words, their heads, and their governors.

        Governors count from 1 the positions that `TensorBatch.only_words` gives: all words, or all of a padded batch.
        """
        forest, corpus = self.train_examples.forest, self.train_examples.corpus
        places, lengths = corpus.places(chosen), corpus.lengths[chosen]
        flat_heads = forest.heads[places].astype(np.int64)
        heads = np.zeros(mask.shape, dtype=np.int64)
        heads[mask] = flat_heads
        positions = self.positions(places, mask, len(forest.heads))
        if not self.counts_padding:
            starts = np.repeat(offsets_of(lengths)[:-1], lengths)
            return positions, heads, np.where(flat_heads > 0, starts + flat_heads, 0)
        starts = mask.shape[1] * np.arange(len(mask))[:, None]
        return positions, heads, np.where(heads > 0, starts + heads, 0).ravel()

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
