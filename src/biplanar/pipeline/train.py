"""Training a model from start to end: a treebank in, a model folder out. Can be interrupted anywhere and resumed."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from biplanar.data.conllu import DEPREL, HEAD, LEMMA, Sentence, read_conllu
from biplanar.data.files import read_lines, writing
from biplanar.data.raw_text import raw_text
from biplanar.decoding import DEFAULT_DECODER, DEFAULT_LABEL_DECODER
from biplanar.decoding.inventory import UPOS, LabelInventory
from biplanar.encodings.columns import COLUMNS
from biplanar.encodings.lemmas import LemmaDictionary
from biplanar.errors import BiplanarError, FileError, FormatError, check_name, file_errors
from biplanar.evaluation import evaluate
from biplanar.pipeline.card import write_card
from biplanar.pipeline.loading import load, weights_of
from biplanar.pipeline.model_folder import ModelFolder
from biplanar.pipeline.parser import Parser
from biplanar.pipeline.tuning import tuned
from biplanar.tagger.checkpoint import Origin, load_checkpoint, save_checkpoint, take_from_first
from biplanar.tagger.config import NO_SEGMENTER, SEGMENTERS, TAGGER, UDPIPE, Config
from biplanar.tagger.distributed import Group, choose_own_device
from biplanar.tagger.export import can_export, export_onnx
from biplanar.tagger.export_transformer import ExportError
from biplanar.tagger.features import Vocabulary
from biplanar.tagger.loop import Progress, TrainingLoop, duration
from biplanar.tagger.network import Tagger
from biplanar.tagger.runtime import OnnxTagger
from biplanar.tagger.teachers import Ensemble, Member
from biplanar.tagger.training import Record, Trainer
from biplanar.tagger.vectors import read_vectors
from biplanar.tagger.weights import load_network, save_weights
from biplanar.tokenizer.training import SegmenterRecord, SegmenterTrainer

# Those of columns where the model predicts them.
METRICS = (
    *("UAS", "LAS", "CLAS", "MLAS", "BLEX", "ExactLAS", "ELAS", "EULAS"),
    *("UPOS", "XPOS", "UFeats", "Lemmas", "Tokens", "Words", "Sentences"),
)

LARGEST_SEED = 2**32 - 1

# Seconds until the time that a training takes is estimated, and between its checkpoints.
ESTIMATE_AFTER, SAVE_AFTER = 20, 300

# A training of this many seconds is long for a CPU, where `fast` needs a share of what `accurate` needs.
LONG, FAST_SHARE = 1800, "an eighth"


@dataclass(frozen=True)
class Data:
    """The files of a treebank, its licence for the model card, teachers to distil, and text for them to parse."""

    train: Sequence[str]
    dev: str
    test: str | None = None
    licence: str = "not stated"
    teachers: Sequence[str] = ()  # folders
    raw: Sequence[str] = ()  # text, or CoNLL-U whose words are taken
    start: str | None = None  # the folder of a model whose weights training starts from


@dataclass(frozen=True)
class Stage:
    """The start of work that is not an epoch."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class FinalScores:
    """Scores of the finished model in percent, by metric."""

    split: str  # dev or test
    source: str  # gold words or raw text
    scores: Mapping[str, float]

    def __str__(self) -> str:
        return f"{self.split}, {self.source}: " + "  ".join(f"{name} {one:.2f}" for name, one in self.scores.items())


@dataclass(frozen=True)
class Estimate:
    """How long a training will take, by its first batches; that of the segmenter counts units of text."""

    seconds: float
    words_per_second: float  # or units
    on_cpu: bool
    of_parser: bool = True

    def __str__(self) -> str:
        unit = "words" if self.of_parser else "units"
        text = f"about {duration(self.seconds)}, at {self.words_per_second:,.0f} {unit}/s"
        hint = f"; without a GPU, the configuration 'fast' takes {FAST_SHARE} of the time of 'accurate'"
        return text + hint if self.of_parser and self.on_cpu and self.seconds > LONG else text


Event = Stage | Estimate | Progress | Record | SegmenterRecord | FinalScores


def train_model(
    data: Data,
    config: Config,
    folder: ModelFolder,
    *,
    seed: int = 1,
    device: str = "auto",
    threads: int | None = None,
    resume: bool = False,
) -> Iterator[Event]:
    """Train; yields a `Progress` after each batch, a `Record` after each evaluation on dev, a `Stage` between.

    After a record, and some minutes after the last one, a checkpoint is saved in `folder.unfinished`. When the events
    end, the model folder is complete. A model that was there before is kept until the new one is finished, and replaced
    at once. `threads` are PyTorch's on a CPU; without, the number is chosen by measuring.

    Where `torchrun` has started several processes, each trains on its part of every batch. The first one writes all
    files, and does alone what comes after the last epoch.
    """
    if not 0 <= seed <= LARGEST_SEED:
        raise BiplanarError(f"the seed must be from 0 to {LARGEST_SEED:,}")
    if data.raw and not data.teachers:
        raise BiplanarError("raw text needs teachers to parse it: name them with --distill")
    files = [_read_treebank(path) for path in data.train]
    train = [sentence for file in files for sentence in file]
    treebanks = [number for number, file in enumerate(files) for _ in file]
    dev = _read_treebank(data.dev)
    test = _read_treebank(data.test) if data.test else None
    config, vectors = _with_vectors(config)
    where = choose_own_device(device)
    teachers = [_load_teacher(path, config, str(where)) for path in data.teachers]
    if teachers:
        yield Stage("computing soft targets with the teachers")
    members = [Member(teacher.scorer, teacher.inventory.names) for teacher in teachers]
    more = list(_parse_raw(teachers[0], members, data.raw)) if teachers else []
    start = None if data.start is None else ModelFolder(Path(data.start)).current
    group = Group.join(where)
    trainer = Trainer(
        config,
        train + more,
        dev,
        seed=seed,
        device=where,
        vectors=vectors,
        treebanks=treebanks + [0] * len(more),
        teachers=members,
        start=None if start is None else _load_network(start),
        threads=threads,
        group=group,
    )
    checksums = [teacher.folder.network_checksum() for teacher in teachers]
    origin = Origin.of(trainer, checksums, "" if start is None else start.network_checksum())
    records, work = _prepare(folder, trainer, origin, resume) if group.is_first else [], folder.unfinished
    take_from_first(trainer)
    yield Stage(_describe(trainer))
    for event in _run(trainer, work, origin):
        if isinstance(event, Record) and group.is_first:
            records.append(event)
            _write_log(work, records)
        yield event
    group.leave()
    if not group.is_first:
        return
    _draw_curves(work, records)
    tagger = LabelInventory(trainer.encoding, trainer.vocabulary.tasks).needs_tagger
    device = str(trainer.device)
    yield from train_segmenter(work, config, train, dev, seed=seed, device=device, threads=threads, tagger=tagger)
    yield from _finish(work, trainer, train, dev, test, data)
    _replace_model(folder)


def _run(trainer: TrainingLoop, work: ModelFolder, origin: Origin) -> Iterator[Event]:
    """Train to the end, and keep the best weights and a checkpoint."""
    began = saved = time.monotonic()
    estimated = False
    for event in trainer.run():
        now, is_record = time.monotonic(), not isinstance(event, Progress)
        if is_record and event.best and trainer.group.is_first:
            save_weights(trainer.kept, work.weights)
        elif not is_record and not estimated and event.batch and now - began > ESTIMATE_AFTER:
            on_cpu, of_parser = trainer.device.type == "cpu", isinstance(trainer, Trainer)
            yield Estimate(event.seconds_left, event.words_per_second, on_cpu, of_parser)
            estimated = True
        if trainer.group.is_first and (is_record or (event.batch == 0 and now - saved > SAVE_AFTER)):
            save_checkpoint(trainer, work.checkpoint, origin)
            saved = now
        yield event


def train_segmenter(
    folder: ModelFolder,
    config: Config,
    train: list[Sentence],
    dev: list[Sentence],
    *,
    seed: int,
    device: str,
    threads: int | None = None,
    tagger: bool = False,
) -> Iterator[Event]:
    """Train what cuts text into words, as part of a model folder; with `tagger`, UDPipe's with its tagger."""
    kind = UDPIPE if tagger and config.segmenter.kind != NO_SEGMENTER else config.segmenter.kind
    check_name("kind of segmenter", kind, SEGMENTERS)
    if kind == UDPIPE:
        from biplanar.tokenizer.udpipe import train_udpipe

        yield Stage("training UDPipe's tokenizer")
        train_udpipe(train, dev, folder.udpipe, tagger=tagger)
    if kind != TAGGER:
        return
    yield Stage("training the segmenter")
    trainer = SegmenterTrainer(config.segmenter, train, dev, seed=seed, device=device, threads=threads)
    own, origin = folder.segmenter, trainer.origin()
    own.path.mkdir(exist_ok=True)
    if own.checkpoint.exists():
        load_checkpoint(trainer, own.checkpoint, origin)
    yield from _run(trainer, own, origin)
    folder.write_segmenter(trainer.vocabulary, trainer.multiword)
    network = load_network(own.weights, replace(config, network=config.segmenter.network), trainer.vocabulary)
    export_onnx(network, own.int8, int8=True)


def _describe(trainer: Trainer) -> str:
    words = len(trainer.train_examples.forest.heads)
    start = f"resuming after epoch {trainer.epoch}" if trainer.epoch else "training"
    return f"{start}: {words:,} words, {trainer.epochs} epochs, on {trainer.device}"


def _read_treebank(path: str) -> list[Sentence]:
    """The sentences of a file, all of which must have trees."""
    sentences = list(read_conllu(path))
    for sentence in sentences:
        if not sentence.is_parsed:
            raise sentence.error_at(1, "a sentence without a tree (HEAD is '_')")
    return sentences


def _load_teacher(folder: str, config: Config, device: str) -> Parser:
    teacher = load(folder, device=device)
    if teacher.encoding.name != config.encoding:
        raise BiplanarError(f"{folder}: this teacher has the encoding {teacher.encoding.name}, not {config.encoding}")
    return teacher


def _parse_raw(first: Parser, members: Sequence[Member], files: Iterable[str]) -> Iterator[Sentence]:
    """The sentences of some files, as the teachers together parse them, of which one is the first."""
    known = (pair for member in members for pair in member.tasks.items())
    columns = {task: labels for task, labels in known if task in COLUMNS}
    inventory = LabelInventory(first.encoding, {**columns, **first.inventory.names})
    for file in files:
        if ".conllu" in file:
            sentences: Iterable[Sentence] = read_conllu(file)
        else:
            sentences = first.segmenter.stream(line + "\n" for _, line in read_lines(file))
        parser = Parser(Ensemble(members, inventory.names), inventory, first.folder, batch_words=first.batch_words)
        yield from parser.pipe(sentences)


def _with_vectors(config: Config) -> tuple[Config, Any]:
    """Read pre-trained vectors, if there are any; the word embedding is as wide as they are."""
    if not config.vocabulary.vectors:
        return config, None
    vectors = read_vectors(config.vocabulary.vectors, limit=config.vocabulary.vectors_limit)
    vectors = {form.lower(): vector for form, vector in reversed(vectors.items())}
    width = len(next(iter(vectors.values())))
    return replace(config, network=replace(config.network, word_dim=width)), vectors


def _prepare(folder: ModelFolder, trainer: Trainer, origin: Origin, resume: bool) -> list[Record]:
    """Make the folder of an unfinished training, and take one up if there is one; gives the records it has."""
    work, records = folder.unfinished, list[Record]()
    if not resume and (_has_model(folder) or work.checkpoint.exists()):
        message = "a model is there already; --resume continues its training, or name another folder"
        raise FileError(f"{folder.path}: {message}")
    try:
        if folder.finished.path.exists():  # the last training was killed while it replaced the model
            _replace_model(folder)
        work.path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"{error.filename or folder.path}: {error.strerror or error}") from error
    if work.checkpoint.exists():
        load_checkpoint(trainer, work.checkpoint, origin)
        records = read_log(work)
    elif _has_model(folder):
        _extend(folder, trainer, origin)
        records = read_log(folder)
        shutil.copyfile(folder.weights, work.weights)
        if folder.segmenter.path.exists():
            shutil.copytree(folder.segmenter.path, work.segmenter.path, dirs_exist_ok=True)
    work.write_settings(trainer.config, trainer.vocabulary)
    trainer.network.encoder.write_files(work.encoder)
    # Records after the last checkpoint are written again.
    return [record for record in records if record.epoch <= trainer.epoch]


def _has_model(folder: ModelFolder) -> bool:
    parts = (folder.config, folder.weights, folder.int8, folder.onnx, folder.card)
    return folder.finished.path.exists() or any(part.exists() for part in parts)


def _extend(folder: ModelFolder, trainer: Trainer, origin: Origin) -> None:
    """Continue a training that has ended, which needs more epochs or patience."""
    if not folder.checkpoint.exists():
        raise BiplanarError(f"{folder.path}: cannot resume this training without its {folder.checkpoint.name}")
    load_checkpoint(trainer, folder.checkpoint, origin)
    if trainer.finished:
        limit = "training.epochs" if trainer.epoch >= trainer.epochs else "training.patience"
        message = f"this training has ended after {trainer.epoch} epochs; a larger --{limit} continues it"
        raise BiplanarError(f"{folder.path}: {message}")


def _write_log(folder: ModelFolder, records: Iterable[Record]) -> None:
    with writing(folder.log) as stream:
        stream.writelines(json.dumps(asdict(record)) + "\n" for record in records)


def read_log(folder: ModelFolder) -> list[Record]:
    """The records of a training."""
    if not folder.log.exists():
        return []
    return [_read_record(line, folder.log, number) for number, line in read_lines(folder.log)]


def _read_record(line: str, path: Path, number: int) -> Record:
    try:
        values = json.loads(line)
        if all(isinstance(value, int | float) for value in values.values()):
            return Record(**values)
    except (ValueError, TypeError, AttributeError, RecursionError):
        pass
    raise FormatError(str(path), number, "not a record of training; without this file, --resume starts a new log")


def _finish(
    folder: ModelFolder,
    trainer: Trainer,
    train: list[Sentence],
    dev: list[Sentence],
    test: list[Sentence] | None,
    data: Data,
) -> Iterator[Stage | FinalScores]:
    """All that comes after the last epoch, from the best weights to the card."""
    config, vocabulary = trainer.config, trainer.vocabulary
    network, _ = _load_network(folder)
    if can_export(network):
        yield Stage("exporting the network")
        try:
            _export(folder, network, vocabulary)
        except ExportError as error:
            yield Stage(f"{error}; the model runs in PyTorch only")
    yield Stage("choosing the weights of decoding")
    parser = load(folder.path)
    decoding = tuned(config.decoding, parser.scorer, parser.inventory, dev, parser.batch_words)
    config = replace(config, decoding=decoding)
    parser.inventory = replace(parser.inventory, weights=weights_of(config))
    parser.lemmas = _lemmas_that_help(parser, train, dev)
    scores: dict[str, dict[str, dict[str, float]]] = {}
    for split, sentences in (("dev", dev), ("test", test)):
        if sentences is not None:
            yield Stage(f"evaluating on {split}")
            scores[split] = score(parser, sentences)
            for source, values in scores[split].items():
                yield FinalScores(split, source, values)
    folder.write_settings(config, vocabulary)
    if parser.lemmas is not None:
        folder.write_lemmas(parser.lemmas)
    write_card(folder, data.train, data.licence, config, trainer.seed, scores, data.teachers, data.raw)
    folder.write_checksums()


def _replace_model(folder: ModelFolder) -> None:
    """Put a finished training in the place of what the folder had.

    Whoever loads the folder gets `finished` while that is there, so that a kill at any moment leaves a whole model.
    """
    new, outdated = folder.finished.path, folder.path / "outdated"
    if not new.exists():
        folder.unfinished.path.rename(new)
    for old in (folder.lemmas, folder.udpipe, folder.whole_tokens, folder.curves):  # the new model may have none
        old.unlink(missing_ok=True)
    for part in (folder.segmenter.path, folder.encoder):
        shutil.rmtree(part, ignore_errors=True)
    shutil.copytree(new, folder.path, dirs_exist_ok=True)
    shutil.rmtree(outdated, ignore_errors=True)
    new.rename(outdated)
    shutil.rmtree(outdated)


def _lemmas_that_help(parser: Parser, train: list[Sentence], dev: list[Sentence]) -> LemmaDictionary | None:
    """The lemmas of the training files, if more lemmas of dev are right with them."""
    if not {"lemma", UPOS} <= set(parser.inventory.output_columns):
        return None
    without = _right_lemmas(parser, dev)
    parser.lemmas = LemmaDictionary.of(train)
    return parser.lemmas if len(parser.lemmas) and _right_lemmas(parser, dev) > without else None


def _right_lemmas(parser: Parser, gold: list[Sentence]) -> int:
    found = parser.pipe(gold, decoder=DEFAULT_LABEL_DECODER, retag=True)
    pairs = zip(gold, found, strict=True)
    return sum(a == b for one, other in pairs for a, b in zip(one.column(LEMMA), other.column(LEMMA), strict=True))


def export_model(folder: ModelFolder) -> None:
    """Write a trained network for ONNX Runtime again, in float32 and in int8."""
    for part in folder.parts:  # whose checksums are about to be written again
        folder.verify(part)
    network, vocabulary = _load_network(folder)
    with file_errors(folder.path), TemporaryDirectory(dir=folder.path) as scratch:
        new = ModelFolder(Path(scratch))
        _export(new, network, vocabulary)
        folder.checksums.unlink(missing_ok=True)
        for old, part in ((folder.onnx, new.onnx), (folder.int8, new.int8)):
            shutil.rmtree(old, ignore_errors=True)
            part.rename(old)
    folder.write_checksums()


def _export(folder: ModelFolder, network: Tagger, vocabulary: Vocabulary) -> None:
    export_onnx(network, folder.onnx)
    export_onnx(network, folder.int8, int8=True)
    if network.encoder.recordable:
        OnnxTagger(folder.int8, vocabulary).write_known(vocabulary)


def _load_network(folder: ModelFolder) -> tuple[Tagger, Vocabulary]:
    config, vocabulary = folder.read_settings()
    return load_network(folder.weights, config, vocabulary), vocabulary


def score(
    parser: Parser,
    gold: list[Sentence],
    *,
    decoder: str = DEFAULT_DECODER,
    metrics: Sequence[str] | None = METRICS,
) -> dict[str, dict[str, float]]:
    """Scores in percent by the CoNLL 2018 metric and others, with gold words and, with a tokenizer, from raw text.

    Without `metrics`, all there are.
    """
    sources: dict[str, list[Sentence]] = {"gold words": gold}
    if parser.folder.takes_text:
        sources["raw text"] = parser.segmenter.segment(raw_text(gold))
    pipes = {name: parser.pipe(words, decoder=decoder, retag=True) for name, words in sources.items()}
    predicted = (HEAD, DEPREL, *parser.inventory.output_numbers)
    found = {name: evaluate(gold, trees, predicted=predicted).scores for name, trees in pipes.items()}
    return {
        name: {metric: round(100 * scores[metric].f1, 2) for metric in metrics or scores if metric in scores}
        for name, scores in found.items()
    }


def _draw_curves(folder: ModelFolder, records: Sequence[Record]) -> None:
    """Plot loss and dev scores over the epochs, if matplotlib is installed."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return
    epochs = [record.epoch for record in records]
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    scores = figure.add_subplot()
    scores.plot(epochs, [record.uas for record in records], color="#0072b2", label="dev UAS")
    scores.plot(epochs, [record.las for record in records], color="#e69f00", label="dev LAS")
    scores.set(xlabel="epoch", ylabel="percent")
    losses = scores.twinx()
    losses.plot(epochs, [record.loss for record in records], color="#999999", linestyle=":", label="loss")
    losses.set_ylabel("loss per word")
    figure.legend(loc="outside upper center", ncols=3)
    figure.savefig(folder.curves, dpi=120)
