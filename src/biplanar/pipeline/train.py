"""Training a model from start to end: a treebank in, a model folder out. Can be interrupted anywhere and resumed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from biplanar.data.conllu import DEPREL, HEAD, LEMMA, Sentence, read_conllu
from biplanar.data.files import read_lines, writing
from biplanar.data.raw_text import raw_text
from biplanar.decoding import DEFAULT_DECODER, DEFAULT_LABEL_DECODER
from biplanar.decoding.inventory import UPOS, LabelInventory
from biplanar.encodings.columns import COLUMNS
from biplanar.encodings.lemma_dictionary import LemmaDictionary
from biplanar.errors import BiplanarError, FileError
from biplanar.evaluation import evaluate
from biplanar.pipeline.loading import load
from biplanar.pipeline.model_card import write_card
from biplanar.pipeline.model_folder import ModelFolder
from biplanar.pipeline.parser import Parser
from biplanar.pipeline.tuning import ScoredTreebank
from biplanar.tagger.checkpoint import Origin, load_checkpoint, load_weights, save_checkpoint, save_weights
from biplanar.tagger.config import AUTO, Config, DecodingConfig
from biplanar.tagger.device import choose_device
from biplanar.tagger.ensemble import Ensemble, Member
from biplanar.tagger.export import export_onnx
from biplanar.tagger.features import Vocabulary
from biplanar.tagger.network import Tagger
from biplanar.tagger.runtime import OnnxTagger
from biplanar.tagger.training import Progress, Record, Trainer, build_network
from biplanar.tagger.vectors import read_vectors
from biplanar.tokenizer.training import epochs_for, train_segmenter

# Those of columns where the model predicts them.
METRICS = ("UAS", "LAS", "CLAS", "ExactLAS", "UPOS", "XPOS", "UFeats", "Lemmas", "Words", "Sentences")


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


Event = Stage | Progress | Record


def train_model(
    data: Data, config: Config, folder: ModelFolder, *, seed: int = 1, device: str = "auto", resume: bool = False
) -> Iterator[Event]:
    """Train; yields a `Progress` after each batch, a `Record` after each look at the dev file, a `Stage` between.

    Before a record is yielded, a checkpoint is saved. When the events end, the model folder is complete.
    """
    if data.raw and not data.teachers:
        raise BiplanarError("raw text needs teachers to parse it: name them with --distill")
    files = [_read_treebank(path) for path in data.train]
    train, treebanks = [sentence for file in files for sentence in file], _numbers(map(len, files))
    dev = _read_treebank(data.dev)
    test = _read_treebank(data.test) if data.test else None
    config, vectors = _with_vectors(config)
    where = choose_device(device)
    teachers = [_load_teacher(path, config, str(where)) for path in data.teachers]
    if teachers:
        yield Stage("computing soft targets with the teachers")
    more = list(_parse_raw(teachers, data.raw))
    start = None if data.start is None else ModelFolder(Path(data.start))
    trainer = Trainer(
        config,
        train + more,
        dev,
        seed=seed,
        device=where,
        vectors=vectors,
        treebanks=treebanks + [0] * len(more),
        teachers=[Member(teacher.scorer, teacher.inventory.names) for teacher in teachers],
        start=None if start is None else _load_network(start),
    )
    checksums = [teacher.folder.network_checksum() for teacher in teachers]
    origin = Origin.of(trainer, checksums, "" if start is None else start.network_checksum())
    _prepare(folder, trainer, origin, resume)
    yield Stage(_describe(trainer))
    for event in trainer.run():
        if isinstance(event, Record):
            if event.best:
                save_weights(trainer.kept, folder.weights)
            _log(folder, event)
            save_checkpoint(trainer, folder.checkpoint, origin)
        yield event
    yield from _finish(folder, trainer, train, dev, test, data)


def _describe(trainer: Trainer) -> str:
    words = len(trainer.train_examples.forest.heads)
    start = f"going on after epoch {trainer.epoch}" if trainer.epoch else "training"
    return f"{start}: {words:,} words, {trainer.epochs} epochs of about {trainer.batches} batches, on {trainer.device}"


def _read_treebank(path: str) -> list[Sentence]:
    """The sentences of a file, all of which must have trees."""
    sentences = list(read_conllu(path))
    for sentence in sentences:
        if not sentence.is_parsed:
            raise sentence.error_at(1, "expected a sentence with a tree, found one without (HEAD is '_')")
    return sentences


def _load_teacher(folder: str, config: Config, device: str) -> Parser:
    teacher = load(folder, device=device)
    if teacher.encoding.name != config.encoding:
        raise BiplanarError(f"{folder}: expected a teacher of {config.encoding}, found one of {teacher.encoding.name}")
    return teacher


def _parse_raw(teachers: Sequence[Parser], files: Iterable[str]) -> Iterator[Sentence]:
    """The sentences of some files, as the teachers together parse them."""
    for file in files:
        first = teachers[0]
        if ".conllu" in file:
            sentences: Iterable[Sentence] = read_conllu(file)
        else:
            sentences = first.segmenter.stream(line + "\n" for _, line in read_lines(file))
        members = [Member(teacher.scorer, teacher.inventory.names) for teacher in teachers]
        known = (pair for teacher in teachers for pair in teacher.inventory.names.items())
        columns = {task: labels for task, labels in known if task in COLUMNS}
        inventory = LabelInventory(first.encoding, {**columns, **first.inventory.names})
        parser = Parser(Ensemble(members, inventory.names), inventory, first.folder, batch_words=first.batch_words)
        yield from parser.pipe(sentences)


def _numbers(sizes: Iterable[int]) -> list[int]:
    """For each sentence of some files, end to end, the number of its file."""
    return [number for number, size in enumerate(sizes) for _ in range(size)]


def _with_vectors(config: Config) -> tuple[Config, Any]:
    """Read pre-trained vectors, if there are any; the word embedding is as wide as they are."""
    if not config.vocabulary.vectors:
        return config, None
    vectors = read_vectors(config.vocabulary.vectors, limit=config.vocabulary.vectors_limit)
    vectors = {form.lower(): vector for form, vector in reversed(vectors.items())}
    width = len(next(iter(vectors.values())))
    return replace(config, network=replace(config.network, word_dim=width)), vectors


def _prepare(folder: ModelFolder, trainer: Trainer, origin: Origin, resume: bool) -> None:
    if not resume and _is_taken(folder):
        message = "a model is there already; --resume goes on with its training, or name another folder"
        raise FileError(f"{folder.path}: {message}")
    try:
        folder.path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"{folder.path}: {error.strerror or error}") from error
    if resume and folder.checkpoint.exists():
        load_checkpoint(trainer, folder.checkpoint, origin)
        if folder.card.exists() and trainer.finished:
            limit = "training.epochs" if trainer.epoch >= trainer.epochs else "training.patience"
            message = (
                f"this training has ended already, after {trainer.epoch} epochs; a larger --{limit} goes on with it"
            )
            raise BiplanarError(f"{folder.path}: {message}")
    elif resume and folder.card.exists():
        message = f"this training has ended already; to go on, it would need its {folder.checkpoint.name}"
        raise BiplanarError(f"{folder.path}: {message}")
    for outdated in (folder.card, folder.checksums):
        outdated.unlink(missing_ok=True)
    folder.write_settings(trainer.config, trainer.vocabulary)
    _keep_log_up_to(folder, trainer.epoch)


def _is_taken(folder: ModelFolder) -> bool:
    """Whether there is anything to lose; settings alone are left by a training that was stopped before it saved any."""
    parts = (folder.checkpoint, folder.weights, folder.int8, folder.onnx, folder.card)
    foreign = folder.config.exists() and not folder.vocabulary.exists()
    return foreign or any(part.exists() for part in parts)


def _log(folder: ModelFolder, record: Record) -> None:
    with folder.log.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(record.to_dict()) + "\n")


def _keep_log_up_to(folder: ModelFolder, epoch: int) -> None:
    """Drop the records that an interrupted training wrote after its last checkpoint; it writes them again."""
    records = [record for record in read_log(folder) if record["epoch"] <= epoch]
    with writing(folder.log) as stream:
        stream.writelines(json.dumps(record) + "\n" for record in records)


def read_log(folder: ModelFolder) -> list[dict[str, Any]]:
    """The records of a training; a last line that was cut off is passed over."""
    if not folder.log.exists():
        return []
    lines = folder.log.read_text(encoding="utf-8").split("\n")
    return [json.loads(line) for line in lines[:-1]]


def _finish(
    folder: ModelFolder,
    trainer: Trainer,
    train: list[Sentence],
    dev: list[Sentence],
    test: list[Sentence] | None,
    data: Data,
) -> Iterator[Stage]:
    yield Stage("exporting the network")
    export_model(folder)
    if epochs := trainer.config.training.segmenter_epochs:
        yield Stage("training the tokenizer")
        epochs = min(epochs, epochs_for(train))
        inventory = LabelInventory(trainer.encoding, trainer.vocabulary.tasks)
        train_segmenter(train, dev, folder.segmenter, epochs=epochs, tagger=inventory.needs_tagger)
        folder.write_checksums()
    _draw_curves(folder)
    yield Stage("choosing the weights of decoding")
    _choose_weights(folder, trainer, dev)
    _keep_lemmas_that_help(folder, train, dev)
    parser, scores = load(folder.path), {}
    for name, sentences in (("dev", dev), ("test", test)):
        if sentences is not None:
            yield Stage(f"evaluating on the {name} file")
            scores[name] = score(parser, sentences)
    write_card(folder, data.train, data.licence, trainer.config, trainer.seed, scores, data.teachers, data.raw)


def _choose_weights(folder: ModelFolder, trainer: Trainer, dev: list[Sentence]) -> None:
    """Write the weights that are best on the dev file into the model's configuration, where it leaves them open."""
    parser, given = load(folder.path), trainer.config.decoding
    if AUTO in (given.arc_weight, given.tree_slope, given.arc_slope):
        found = ScoredTreebank.of(parser.scorer, parser.inventory, dev, parser.batch_words).choose_weights()
        chosen = DecodingConfig(
            found.arcs if given.arc_weight == AUTO else given.arc_weight,
            found.tree_slope if given.tree_slope == AUTO else given.tree_slope,
            found.arc_slope if given.arc_slope == AUTO else given.arc_slope,
            found.temperature,
        )
        folder.write_settings(replace(trainer.config, decoding=chosen), trainer.vocabulary)
        folder.write_checksums()


def _keep_lemmas_that_help(folder: ModelFolder, train: list[Sentence], dev: list[Sentence]) -> None:
    """Write the lemmas of the training files to the folder, if on the dev file more lemmas are right with them."""
    folder.lemmas.unlink(missing_ok=True)
    folder.write_checksums()
    parser = load(folder.path)
    if {"lemma", UPOS} <= set(parser.inventory.output_columns):
        without = _right_lemmas(parser, dev)
        parser.lemmas = LemmaDictionary.of(train)
        if len(parser.lemmas) and _right_lemmas(parser, dev) > without:
            folder.write_lemmas(parser.lemmas)
            folder.write_checksums()


def _right_lemmas(parser: Parser, gold: list[Sentence]) -> int:
    found = parser.pipe(gold, decoder=DEFAULT_LABEL_DECODER, retag=True)
    pairs = zip(gold, found, strict=True)
    return sum(a == b for one, other in pairs for a, b in zip(one.column(LEMMA), other.column(LEMMA), strict=True))


def export_model(folder: ModelFolder) -> None:
    """Write a trained network for ONNX Runtime, in float32 and in int8, in the place of what there was."""
    for part in folder.parts:  # whose checksums are about to be written again
        folder.verify(part)
    network, vocabulary = _load_network(folder)
    folder.checksums.unlink(missing_ok=True)
    export_onnx(network, folder.onnx)
    export_onnx(network, folder.int8, int8=True)
    OnnxTagger(folder.int8, vocabulary).write_known(vocabulary)
    folder.write_checksums()


def _load_network(folder: ModelFolder) -> tuple[Tagger, Vocabulary]:
    config, vocabulary = folder.read_settings()
    network = build_network(config, vocabulary)
    load_weights(network, folder.weights)
    return network, vocabulary


def score(parser: Parser, gold: list[Sentence], *, decoder: str = DEFAULT_DECODER) -> dict[str, dict[str, float]]:
    """Scores in percent by the CoNLL 2018 metric and others, with gold words and, with a tokenizer, from raw text."""
    sources: dict[str, list[Sentence]] = {"gold words": gold}
    if parser.folder.segmenter.exists():
        sources["raw text"] = parser.segmenter.segment(raw_text(gold))
    pipes = {name: parser.pipe(words, decoder=decoder, retag=True) for name, words in sources.items()}
    predicted = (HEAD, DEPREL, *parser.inventory.output_numbers)
    found = {name: evaluate(gold, trees, predicted=predicted).scores for name, trees in pipes.items()}
    return {
        name: {metric: round(100 * scores[metric].f1, 2) for metric in METRICS if metric in scores}
        for name, scores in found.items()
    }


def _draw_curves(folder: ModelFolder) -> None:
    """Plot loss and dev scores over the epochs; without matplotlib, training goes on without the plot."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return
    records = read_log(folder)
    epochs = [record["epoch"] for record in records]
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    scores = figure.add_subplot()
    for name, colour in (("uas", "#0072b2"), ("las", "#e69f00")):
        scores.plot(epochs, [record[name] for record in records], color=colour, label=f"dev {name.upper()}")
    scores.set(xlabel="epoch", ylabel="percent")
    losses = scores.twinx()
    losses.plot(epochs, [record["loss"] for record in records], color="#999999", linestyle=":", label="loss")
    losses.set_ylabel("loss of a word")
    figure.legend(loc="outside upper center", ncols=3)
    figure.savefig(folder.curves, dpi=120)
