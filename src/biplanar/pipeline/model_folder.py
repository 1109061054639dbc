"""A model's folder: its files, settings and checksums. Nothing in it is executed, nothing outside of it read."""

from __future__ import annotations

import hashlib
import json
import shutil
import stat
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from importlib.metadata import EntryPoint, entry_points
from importlib.resources import files
from pathlib import Path, PurePosixPath
from typing import Any

from biplanar.data.conllu import find_misfit
from biplanar.data.files import decode_utf8, writing
from biplanar.encodings.lemmas import LemmaDictionary
from biplanar.errors import BiplanarError, FileError, FormatError, file_errors
from biplanar.pipeline.hub import download, is_hub_name
from biplanar.tagger.config import UDPIPE, Config
from biplanar.tagger.features import Vocabulary
from biplanar.tokenizer.labels import check_tasks
from biplanar.tokenizer.multiword import MultiwordTokens

# The format that is written. Released formats load for ever: whoever raises this adds a step to `_UPGRADES`, and a tiny
# model to tests/pipeline/formats.
FORMAT_VERSION = 5

# The bundled model, and where packages register others: a name, and the folder as an attribute of a module.
BUNDLED, ENTRY_POINTS = "en", "biplanar.models"

DIGITS = 64  # of a SHA-256 checksum

# Bytes that files may have which are read as a whole: those for people, and lists of words and labels.
LARGEST_TEXT, LARGEST_LIST = 1 << 20, 256 << 20

# Dots in a line of settings: what reading TOML takes grows with the square of a key's parts.
MOST_DOTS = 100


class _Part:
    """A file or folder of a model."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, folder: ModelFolder, _: type[ModelFolder]) -> Path:
        return folder.path / self.name


@dataclass(frozen=True)
class ModelFolder:
    """Where the parts of a model are."""

    path: Path

    config = _Part("config.toml")  # the settings, with the format's version
    vocabulary = _Part("vocab.json")  # forms, characters and labels
    weights = _Part("model.safetensors")  # the network for PyTorch
    encoder = _Part("encoder")  # configuration and tokenizer of a pre-trained encoder: a folder, if there is one
    onnx = _Part("onnx")  # the network for ONNX Runtime, in float32: a folder
    int8 = _Part("int8")  # and in int8
    multiword = _Part("multiword.json")  # of a segmenter: known multiword tokens
    udpipe = _Part("tokenizer.udpipe")  # UDPipe's tokenizer, and its tagger where the encoding needs tags
    whole_tokens = _Part("tokenizer.json")  # what UDPipe must not cut
    lemmas = _Part("lemmas.json")  # known lemmas, by UPOS and form; not all models have them
    card = _Part("README.md")  # data, licence, scores and settings
    log = _Part("log.jsonl")  # the records of training, a line each
    curves = _Part("curves.png")  # the records of training as a picture
    checkpoint = _Part("checkpoint.safetensors")  # kept when training has ended, so that it can be continued
    checksums = _Part("SHA256SUMS")  # of what is read to parse, in the format of `sha256sum`

    @classmethod
    def find(cls, model: str | Path | None = None) -> ModelFolder:
        """A model by its folder or its name; None is the bundled model.

        A plain name is a model folder in the working directory or, if there is none, an installed model; `owner/name`
        is a folder or, if there is none, a model of the hub. Any other name with a separator (`./en`) is a folder.
        """
        if model is None:
            return cls(_bundled_folder())
        path, name = Path(model), str(model)
        found = cls(path).current
        if found.config.exists() or isinstance(model, Path):
            return found
        if is_hub_name(name):
            return cls(download(name))
        if path.name != name:
            return found
        if name == BUNDLED:
            return cls(_bundled_folder())
        registered = entry_points(group=ENTRY_POINTS)
        if name in registered.names:
            return cls(_registered_folder(registered[name]))
        if path.exists():
            return found
        installed = ", ".join(sorted({*registered.names, BUNDLED}))
        raise FileError(f"no model named {name!r}, and no such folder; installed: {installed}")

    @classmethod
    def installed(cls) -> dict[str, ModelFolder]:
        """The bundled model, then those of installed packages, by their names."""
        bundled, entries = {BUNDLED: cls(_bundled_folder())}, sorted(entry_points(group=ENTRY_POINTS))
        return bundled | {entry.name: cls(_registered_folder(entry)) for entry in entries}

    @property
    def unfinished(self) -> ModelFolder:
        """Where a training writes until its model is finished."""
        return ModelFolder(self.path / "unfinished")

    @property
    def finished(self) -> ModelFolder:
        """Where a finished model is while it replaces the one in this folder."""
        return ModelFolder(self.path / "finished")

    @property
    def current(self) -> ModelFolder:
        """The model to load."""
        return self.finished if self.finished.path.exists() else self

    @property
    def segmenter(self) -> ModelFolder:
        """The network that cuts text into words: its vocabulary, weights, and files for ONNX Runtime."""
        return ModelFolder(self.path / "segmenter")

    @property
    def takes_text(self) -> bool:
        """Whether raw text can be cut into words."""
        return self.segmenter.vocabulary.exists() or self.udpipe.exists()

    @property
    def parts(self) -> tuple[Path, ...]:
        """What loading reads beside the network; not all of it need be there."""
        segmenter = self.segmenter
        own = (self.config, self.vocabulary, self.lemmas, self.udpipe, self.whole_tokens)
        return (*own, segmenter.vocabulary, segmenter.multiword)

    def write_settings(self, config: Config, vocabulary: Vocabulary) -> None:
        """Write settings and vocabulary."""
        _write_json(self.vocabulary, vocabulary.to_dict())
        with writing(self.config) as stream:
            stream.write(f"format = {FORMAT_VERSION}\n{config.to_toml()}")

    def read_settings(self) -> tuple[Config, Vocabulary]:
        """Read settings and vocabulary, and check every value."""
        if not self.config.exists():
            raise FileError(f"{self.path}: not a model folder: it has no {self.config.name}")
        self.verify(self.card)  # which servers show
        config = self._with_own_encoder(self._read(self.config, _config, LARGEST_TEXT))
        return config, self._read(self.vocabulary, _vocabulary, LARGEST_LIST)

    def _with_own_encoder(self, config: Config) -> Config:
        """Settings by which a pre-trained encoder is the one in this folder, wherever it came from."""
        if config.network.transformer.model is None:
            return config
        if not self.encoder.is_dir():
            raise FileError(f"{self.encoder}: no such folder, which must have the pre-trained encoder of this model")
        self.verify(self.encoder)
        own = replace(config.network.transformer, model=str(self.encoder))
        return replace(config, network=replace(config.network, transformer=own))

    def write_lemmas(self, dictionary: LemmaDictionary) -> None:
        """Write known lemmas."""
        _write_json(self.lemmas, dictionary.lemmas)

    def read_lemmas(self) -> LemmaDictionary | None:
        """Read known lemmas, if there are any."""
        return self._read(self.lemmas, _lemmas, LARGEST_LIST) if self.lemmas.exists() else None

    def write_segmenter(self, vocabulary: Vocabulary, multiword: MultiwordTokens) -> None:
        """Write what the segmenter's network knows."""
        _write_json(self.segmenter.vocabulary, vocabulary.to_dict())
        _write_json(self.segmenter.multiword, multiword.words)

    def read_segmenter(self) -> tuple[Vocabulary, MultiwordTokens]:
        """Read what the segmenter's network knows, and check every value."""
        own = self.segmenter
        return (
            self._read(own.vocabulary, lambda text: check_tasks(_vocabulary(text)), LARGEST_LIST),
            self._read(own.multiword, lambda text: MultiwordTokens.from_dict(json.loads(text)), LARGEST_LIST),
        )

    def _read(self, path: Path, parse: Callable[[str], Any], largest: int) -> Any:
        """What a file holds; whatever is wrong with it, the error names the file."""
        self.verify(path)
        try:
            with file_errors(path):
                if path.stat().st_size > largest:
                    raise FileError(f"{path}: larger than {largest >> 20} MB")
                return parse(path.read_text(encoding="utf-8"))
        except FileError:
            raise
        except (ValueError, RecursionError, BiplanarError) as error:
            raise FileError(f"{path}: {error}") from error

    def write_checksums(self) -> None:
        """Write the checksums of all files that loading reads, but for weights, which hold their own."""
        found = [path for path in self.parts if path.exists()]
        folders = (self.encoder, self.int8, self.onnx, self.segmenter.int8)
        found += [path for part in folders for path in sorted(part.glob("*"))]
        with writing(self.checksums) as stream:
            stream.writelines(f"{_sha256(path)}  {path.relative_to(self.path).as_posix()}\n" for path in found)

    def verify(self, *parts: Path) -> None:
        """Refuse a file that is no regular one, such as a pipe, or whose checksum is wrong; of a folder, any file.

        A link to a regular file is as good as the file: caches of downloaded models are made of links.
        """
        expected = dict(self._read_checksums())
        for path in (path for part in parts for path in (sorted(part.iterdir()) if part.is_dir() else [part])):
            if not path.exists():  # its reader says so, if it is needed
                continue
            _check_regular(path)
            if path in expected and _sha256(path) != expected[path]:
                hint = f"get it again or, if it was meant to change, remove its line from {self.checksums}"
                raise FileError(f"{path}: the file is damaged: its checksum is wrong ({hint})")

    def verify_all(self) -> None:
        """Refuse a folder in which a file is damaged, or one that its checksums name is missing."""
        for path, _ in self._read_checksums():
            if not path.exists():
                raise FileError(f"{path}: the file is missing, and {self.checksums.name} names it")
            self.verify(path)

    def copy_to(self, path: Path) -> ModelFolder:
        """Copy the model, without what only a training needs, to a folder that is new or empty."""
        with file_errors(path):
            if path.exists() and any(path.iterdir()):
                raise FileError(f"{path}: there are files in this folder already")
            skipped = shutil.ignore_patterns(self.checkpoint.name, self.unfinished.path.name, ".*")
            shutil.copytree(self.path, path, ignore=skipped, dirs_exist_ok=True)
        return ModelFolder(path)

    def network_checksum(self) -> str:
        """The checksum of the network in whichever form the folder has it, to tell models apart."""
        forms = (self.weights, self.onnx / "words.onnx", self.int8 / "words.onnx")
        return next((_sha256(path) for path in forms if path.exists()), "")

    def _read_checksums(self) -> Iterator[tuple[Path, str]]:
        if not self.checksums.exists():
            return
        _check_regular(self.checksums)
        with self.checksums.open("rb") as stream:
            text = decode_utf8(stream.read(LARGEST_TEXT), str(self.checksums), 1)
        for number, line in enumerate(text.splitlines(), 1):
            digest, separator, name = line.partition("  ")
            if len(digest) != DIGITS or not separator or not is_inside(name):
                message = "not a SHA-256 checksum and the name of a file in this folder"
                raise FormatError(str(self.checksums), number, message)
            yield self.path / name, digest


def is_inside(name: str) -> bool:
    """Whether the name of a file does not lead out of its folder."""
    path = PurePosixPath(name)
    return bool(path.parts) and not (path.is_absolute() or ".." in path.parts or "\\" in name)


def _bundled_folder() -> Path:
    path = Path(str(files("biplanar"))) / "models" / BUNDLED
    if not path.exists():
        raise FileError("no bundled model; pass a folder or the name of an installed model")
    return path


def _registered_folder(entry: EntryPoint) -> Path:
    try:
        return Path(entry.load())
    except (ImportError, AttributeError, TypeError) as error:
        raise FileError(f"the package of the model {entry.name!r} is broken ({error})") from error


def _config(text: str) -> Config:
    if any(line.count(".") > MOST_DOTS for line in text.splitlines()):
        raise ValueError("a key with too many parts")
    values = tomllib.loads(text)
    version = values.pop("format", None)
    if type(version) is not int or version < min(_UPGRADES):
        raise ValueError(f"model format {version!r}; formats from {min(_UPGRADES)} to {FORMAT_VERSION} can be read")
    if version > FORMAT_VERSION:
        raise ValueError(f"model format {version}, of a newer version of Biplanar: upgrade Biplanar to load this model")
    for step in range(version, FORMAT_VERSION):
        _UPGRADES[step](values)
    if missing := set(Config().to_dict()) - set(values):
        raise ValueError(f"truncated: no {min(missing)!r}")
    return Config.from_dict(values)


def _with_kind_of_segmenter(values: dict[str, Any]) -> None:
    """From format 4, when UDPipe's was the only tokenizer."""
    if isinstance(values.get("training"), dict):
        values["training"].pop("segmenter_epochs", None)
    values["segmenter"] = {"kind": UDPIPE}


# From each older format, by its number, to the next.
_UPGRADES = {4: _with_kind_of_segmenter}


def _vocabulary(text: str) -> Vocabulary:
    return Vocabulary.from_dict(json.loads(text))


def _lemmas(text: str) -> LemmaDictionary:
    lemmas = json.loads(text)
    rows = lemmas.values() if isinstance(lemmas, dict) else [lemmas]
    if not all(isinstance(own, dict) and all(isinstance(one, str) for one in own.values()) for own in rows):
        raise ValueError("not lemmas by UPOS and form")
    if any(find_misfit(list(own.values())) is not None for own in rows):
        raise ValueError("a lemma that is empty or has a tab or a line end")
    return LemmaDictionary(lemmas)


def _write_json(path: Path, values: Any) -> None:
    with writing(path) as stream:
        json.dump(values, stream, ensure_ascii=False)


def _check_regular(path: Path) -> None:
    with file_errors(path):
        if not stat.S_ISREG(path.stat().st_mode):
            raise FileError(f"{path}: not a regular file")


def _sha256(path: Path) -> str:
    with file_errors(path), path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
