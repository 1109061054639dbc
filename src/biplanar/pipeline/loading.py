"""Loading: from a model folder to a parser, on a device and in a runtime that are decided here and nowhere else."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path

from biplanar.decoding.inventory import LabelInventory, Weights
from biplanar.decoding.scores import DEPREL
from biplanar.encodings import get_encoding
from biplanar.encodings.columns import get_columns
from biplanar.errors import BiplanarError, FileError, UnknownNameError, check_name, needing
from biplanar.pipeline.hub import is_hub_name, pinned
from biplanar.pipeline.model_folder import ModelFolder
from biplanar.pipeline.parser import Parser
from biplanar.tagger.config import AUTO, FIRST, Config
from biplanar.tagger.features import Vocabulary
from biplanar.tagger.predict import Scorer
from biplanar.tokenizer.segmenter import BATCH_UNITS, Segmenter, UnitTagger
from biplanar.tokenizer.units import CAPITAL, CAPITALS

# What a network can run in, the fastest on a CPU core first.
RUNTIMES = ("int8", "onnx", "torch")

# Words that go through the network at once: on a CPU core more would be more padding, and leave the CPU cache.
BATCH_WORDS, DEVICE_BATCH_WORDS = 700, 60_000

# Units of text that go through the segmenter's network at once on a GPU, for each of these words: it is smaller.
UNITS_OF_WORD = 6


@dataclass(frozen=True)
class Placement:
    """Where a model's network runs, and in what."""

    folder: ModelFolder
    device: str
    runtime: str

    @classmethod
    def of(cls, model: str | Path | None, device: str = "cpu", runtime: str | None = None) -> Placement:
        """Decide for a model (`ModelFolder.find`); `auto` is the fastest device that it can run on."""
        folder = ModelFolder.find(model)
        if runtime is not None:
            check_name("runtime", runtime, RUNTIMES)
        if device == "auto" and (runtime in ("int8", "onnx") or not folder.weights.exists()):
            device = "cpu"
        device = find_device(device)
        runtime = runtime or _fastest(folder, device)
        if runtime != "torch" and device != "cpu":
            raise BiplanarError(f"the device {device} needs the runtime torch, not {runtime}")
        return cls(folder, device, runtime)

    @property
    def batch_words(self) -> int:
        """How many words go through the network at once, if nobody says otherwise."""
        return BATCH_WORDS if self.device == "cpu" else DEVICE_BATCH_WORDS


def load(
    model: str | Path | None = None, *, device: str = "cpu", threads: int | None = None, runtime: str | None = None
) -> Parser:
    """The parser of a model: a folder, or a name; without one, the bundled English model (`en`).

    A plain name is a model folder in the working directory or, if there is none, an installed model; `./en` is always
    a folder. An unknown name is an error that lists what is installed. `owner/name` and `owner/name@revision` are
    models of the Hugging Face hub, unless there is such a folder, and are downloaded to its cache.

    `runtime` is what the network runs in: `int8` (ONNX Runtime, quantised), `onnx` (ONNX Runtime, floats) or `torch`.
    By default it is the first of them that the folder has, and on other devices than the CPU it is `torch`. On the CPU
    it has one thread if `threads` does not say otherwise, or as many as PyTorch has been told to take.
    """
    place = Placement.of(model, device, runtime)
    config, vocabulary = place.folder.read_settings()
    try:
        encoding = get_encoding(config.encoding)
    except UnknownNameError as error:
        raise FileError(f"{place.folder.config}: {error}") from error
    for task in (*encoding.tasks, DEPREL):
        if not vocabulary.tasks.get(task):
            raise FileError(f"{place.folder.vocabulary}: no labels of {task}, which {config.encoding} needs")
    get_columns(config.network.columns)  # those of installed packages are known from here on
    inventory = LabelInventory(encoding, vocabulary.tasks, weights_of(config))
    scorer = _load_scorer(place, config, vocabulary, threads)
    lemmas = place.folder.read_lemmas()
    segmenter = partial(load_segmenter, place.folder, place.device, threads)
    reload = partial(load, found_again(model, place.folder), device=device, threads=threads, runtime=runtime)
    return Parser(
        scorer,
        inventory,
        place.folder,
        batch_words=place.batch_words,
        lemmas=lemmas,
        load_segmenter=segmenter,
        reload=reload,
    )


def found_again(model: str | Path | None, folder: ModelFolder | None = None) -> str | Path | None:
    """What finds the same model from another process: a whole path, or one commit of a model of the hub."""
    if model is None or Path(model).is_dir():
        return model and Path(model).resolve()
    if is_hub_name(str(model)):
        return pinned(str(model), (folder or ModelFolder.find(model)).path)
    return model


def weights_of(config: Config) -> Weights:
    """What decoding makes of a model's scores, as its configuration says, or by default."""
    chosen = asdict(config.decoding)
    chosen["arcs"] = chosen.pop("arc_weight")
    return Weights(**{name: value for name, value in chosen.items() if value != AUTO})


def _load_scorer(place: Placement, config: Config, vocabulary: Vocabulary, threads: int | None) -> Scorer:
    threads = threads and min(threads, os.cpu_count() or 1)  # with more threads than cores, each waits for the others
    if place.runtime == "torch":
        with needing("train", "PyTorch"):
            from biplanar.tagger.weights import load_tagger
        place.folder.verify(place.folder.weights)
        return load_tagger(place.folder.weights, config, vocabulary, place.device, threads=threads)
    from biplanar.tagger.runtime import OnnxTagger

    network = place.folder.int8 if place.runtime == "int8" else place.folder.onnx
    place.folder.verify(network)
    subwords, settings = None, config.network.transformer
    if settings.model is not None:
        from biplanar.tagger.subwords import Subwords

        subwords = Subwords(settings.model, only_first=settings.pooling == FIRST)
    return OnnxTagger(network, vocabulary, threads=threads or 1, subwords=subwords)


def load_segmenter(folder: ModelFolder, device: str = "cpu", threads: int | None = None) -> Segmenter:
    """What cuts raw text into sentences and words, by the files of a model."""
    if folder.udpipe.exists():
        from biplanar.tokenizer.udpipe import UDPipeSegmenter

        folder.verify(folder.udpipe, folder.whole_tokens)
        return UDPipeSegmenter.load(folder.udpipe)
    if not folder.takes_text:
        raise FileError(f"{folder.path}: this model has no segmenter, so it takes words and not raw text")
    vocabulary, multiword = folder.read_segmenter()
    own = Placement(folder.segmenter, device, _fastest(folder.segmenter, device))
    folder.verify(own.folder.int8)
    config = Config() if own.runtime != "torch" else folder.read_settings()[0]
    scorer = _load_scorer(own, replace(config, network=config.segmenter.network), vocabulary, threads)
    case_marks = not {CAPITAL, CAPITALS}.isdisjoint(vocabulary.chars)
    batch_units = BATCH_UNITS if own.device == "cpu" else UNITS_OF_WORD * own.batch_words
    return UnitTagger(scorer, vocabulary.tasks, multiword, batch_units, case_marks)


@cache
def find_device(name: str) -> str:
    """Make sure of a device; `auto` is the fastest there is, which without PyTorch is the CPU."""
    if name == "cpu" or (name == "auto" and not find_spec("torch")):
        return "cpu"
    with needing("train", "PyTorch"):
        from biplanar.tagger.device import choose_device
    return str(choose_device(name))


def _fastest(folder: ModelFolder, device: str) -> str:
    if device != "cpu":
        return "torch"
    return "int8" if folder.int8.exists() else "onnx" if folder.onnx.exists() else "torch"
