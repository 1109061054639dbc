"""Training a model from start to end: a treebank in, a model folder out. Can be killed at any moment and resumed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from biplanar.data.conllu import Sentence, read_conllu
from biplanar.data.files import read_lines, writing
from biplanar.decoding import DEFAULT_DECODER
from biplanar.errors import BiplanarError, FileError
from biplanar.evaluation import evaluate
from biplanar.pipeline.loading import load
from biplanar.pipeline.model_card import write_card
from biplanar.pipeline.model_folder import ModelFolder
from biplanar.pipeline.parser import Parser, raw_text
from biplanar.tagger.checkpoint import load_checkpoint, load_weights, save_checkpoint, save_weights
from biplanar.tagger.config import Config
from biplanar.tagger.device import choose_device
from biplanar.tagger.ensemble import Ensemble, Member
from biplanar.tagger.export import export_onnx
from biplanar.tagger.runtime import OnnxTagger
from biplanar.tagger.training import Record, Trainer, build_network
from biplanar.tagger.vectors import read_vectors
from biplanar.tokenizer.segmentation import train_segmenter

METRICS = ("UAS", "LAS", "CLAS", "ExactLAS", "Words", "Sentences")


@dataclass(frozen=True)
class Data:
    """The files of a treebank, its licence for the model's card, models to learn from, and text for them to parse."""

    train: Sequence[str]
    dev: str
    test: str | None = None
    licence: str = "not stated"
    teachers: Sequence[str] = ()  # folders
    raw: Sequence[str] = ()  # text, or CoNLL-U whose words are taken


def train_model(
    data: Data, config: Config, folder: ModelFolder, *, seed: int = 1, device: str = "auto", resume: bool = False
) -> Iterator[Record]:
    """Train, yielding a record for each look at the dev file; when the records end, the model folder is complete."""
    if data.raw and not data.teachers:
        raise BiplanarError("raw text needs teachers to parse it: name them with --distill")
    files = [list(read_conllu(path)) for path in data.train]
    train, treebanks = [sentence for file in files for sentence in file], _numbers(map(len, files))
    dev = list(read_conllu(data.dev))
    config, vectors = _with_vectors(config)
    where = choose_device(device)
    teachers = [_load_teacher(path, config, str(where)) for path in data.teachers]
    more = list(_parse_raw(teachers, data.raw))
    trainer = Trainer(
        config,
        train + more,
        dev,
        seed=seed,
        device=where,
        vectors=vectors,
        treebanks=treebanks + [0] * len(more),
        teachers=[Member(teacher.scorer, teacher.inventory.names) for teacher in teachers],
    )
    _prepare(folder, trainer, resume)
    for record in trainer.run():
        if record.best:
            save_weights(trainer.network, folder.weights)
        _log(folder, record)
        save_checkpoint(trainer, folder.checkpoint)
        yield record
    _finish(folder, trainer, train, dev, data)


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
        together = Ensemble(members, first.inventory.names)
        parser = Parser(together, first.inventory, first.folder, batch_words=first.batch_words)
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


def _prepare(folder: ModelFolder, trainer: Trainer, resume: bool) -> None:
    if not resume and folder.config.exists():
        raise FileError(f"{folder.path}: a model is there already; --resume goes on with it, or name another folder")
    try:
        folder.path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"{folder.path}: {error.strerror or error}") from error
    if resume and folder.checkpoint.exists():
        load_checkpoint(trainer, folder.checkpoint)
    elif resume and folder.card.exists():
        raise BiplanarError(f"{folder.path}: this training has ended already")
    folder.write_settings(trainer.config, trainer.vocabulary)
    _keep_log_up_to(folder, trainer.epoch)


def _log(folder: ModelFolder, record: Record) -> None:
    with folder.log.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(record.to_dict()) + "\n")


def _keep_log_up_to(folder: ModelFolder, epoch: int) -> None:
    """Records that a killed training wrote after its last checkpoint will be written again."""
    records = [record for record in read_log(folder) if record["epoch"] <= epoch]
    with writing(folder.log) as stream:
        stream.writelines(json.dumps(record) + "\n" for record in records)


def read_log(folder: ModelFolder) -> list[dict[str, Any]]:
    """The records of a training; a last line that was cut off is passed over."""
    if not folder.log.exists():
        return []
    lines = folder.log.read_text(encoding="utf-8").split("\n")
    return [json.loads(line) for line in lines[:-1]]


def _finish(folder: ModelFolder, trainer: Trainer, train: list[Sentence], dev: list[Sentence], data: Data) -> None:
    export_model(folder)
    if epochs := trainer.config.training.segmenter_epochs:
        train_segmenter(train, dev, folder.segmenter, epochs=epochs, tagger=trainer.encoding.needs_upos)
    _draw_curves(folder)
    parser = load(folder.path)
    scores = {"dev": score(parser, dev)}
    if data.test:
        scores["test"] = score(parser, list(read_conllu(data.test)))
    write_card(folder, data.train, data.licence, trainer.config, trainer.seed, scores, data.teachers, data.raw)
    folder.checkpoint.unlink(missing_ok=True)


def export_model(folder: ModelFolder) -> None:
    """Write a trained network for ONNX Runtime, in floats and in bytes, in the place of what there was."""
    config, vocabulary = folder.read_settings()
    network = build_network(config, vocabulary)
    load_weights(network, folder.weights)
    export_onnx(network, folder.onnx)
    export_onnx(network, folder.int8, int8=True)
    OnnxTagger(folder.int8, vocabulary).write_known(vocabulary)


def score(parser: Parser, gold: list[Sentence], *, decoder: str = DEFAULT_DECODER) -> dict[str, dict[str, float]]:
    """Scores in percent by the CoNLL 2018 metric and others, with gold words and, with a tokenizer, from raw text."""
    sources: dict[str, list[Sentence]] = {"gold words": gold}
    if parser.folder.segmenter.exists():
        sources["raw text"] = parser.segmenter.segment(raw_text(gold))
    found = {name: evaluate(gold, parser.pipe(words, decoder=decoder)) for name, words in sources.items()}
    return {name: {metric: round(100 * one[metric].f1, 2) for metric in METRICS} for name, one in found.items()}


def _draw_curves(folder: ModelFolder) -> None:
    """Loss and dev scores over the epochs, as a picture; without matplotlib there is none, but no training is lost."""
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
