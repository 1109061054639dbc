"""A model's folder: its files, settings and checksums. Nothing in it is executed when it is read."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from importlib.resources import files
from pathlib import Path
from typing import Any

from biplanar.data.files import read_lines, writing
from biplanar.encodings.lemma_dictionary import LemmaDictionary
from biplanar.errors import FileError, FormatError
from biplanar.tagger.config import Config, NetworkConfig
from biplanar.tagger.features import Vocabulary

FORMAT_VERSION = 4

# The bundled model, and where packages register others: a name, and the folder as an attribute of a module.
BUNDLED, ENTRY_POINTS = "en", "biplanar.models"

# Hexadecimal digits of a SHA-256 checksum, and how many of them a message shows.
DIGITS, SHOWN_DIGITS = 64, 12

# Settings that a folder does not have take these values: models of older formats lack what came later.
DEFAULTS = {
    1: Config(network=NetworkConfig(arcs=False, attention=False, depths=False, relation_hidden=None, columns="")),
    2: Config(network=NetworkConfig(arcs=False, columns="")),
    3: Config(network=NetworkConfig(arcs=False)),
    FORMAT_VERSION: Config(),
}

# Auxiliary settings that older formats have and newer ones lack: what they were for, training, is over.
RETIRED = ("upos", "feats")

ARC_DIM = "arc_dim"  # it was an auxiliary setting up to format 3


@dataclass(frozen=True)
class ModelFolder:
    """Where the parts of a model are."""

    path: Path

    @classmethod
    def find(cls, model: str | Path | None = None) -> ModelFolder:
        """A model by its folder or its name; None is the bundled model.

        A name with a separator (`./en`) is a folder. A plain name is a model folder in the working directory or, if
        there is none, an installed model.
        """
        if model is None:
            return cls(_bundled_folder())
        path, name = Path(model), str(model)
        if cls(path).config.exists() or isinstance(model, Path) or path.name != name:
            return cls(path)
        if name == BUNDLED:
            return cls(_bundled_folder())
        registered = entry_points(group=ENTRY_POINTS)
        if name in registered.names:
            return cls(_registered_folder(registered[name]))
        if path.exists():
            return cls(path)
        installed = ", ".join(sorted({*registered.names, BUNDLED}))
        raise FileError(f"no model named {name!r}, and no such folder; installed: {installed}")

    @property
    def config(self) -> Path:
        """The configuration, with the format's version."""
        return self.path / "config.toml"

    @property
    def vocabulary(self) -> Path:
        """Forms, characters and labels."""
        return self.path / "vocab.json"

    @property
    def weights(self) -> Path:
        """The network for PyTorch."""
        return self.path / "model.safetensors"

    @property
    def onnx(self) -> Path:
        """The network for ONNX Runtime, in float32: a folder."""
        return self.path / "onnx"

    @property
    def int8(self) -> Path:
        """The network for ONNX Runtime, in int8: a folder."""
        return self.path / "int8"

    @property
    def segmenter(self) -> Path:
        """UDPipe's tokenizer, and its tagger where the encoding needs tags."""
        return self.path / "tokenizer.udpipe"

    @property
    def lemmas(self) -> Path:
        """Known lemmas, by UPOS and form; not all models have them."""
        return self.path / "lemmas.json"

    @property
    def whole_tokens(self) -> Path:
        """What the tokenizer must not cut; old models have none."""
        return self.path / "tokenizer.json"

    @property
    def card(self) -> Path:
        """The model card: data, licence, scores and settings."""
        return self.path / "README.md"

    @property
    def log(self) -> Path:
        """The records of training, a line each."""
        return self.path / "log.jsonl"

    @property
    def curves(self) -> Path:
        """The records of training as a picture."""
        return self.path / "curves.png"

    @property
    def checkpoint(self) -> Path:
        """The state of the training; kept when it has ended, so that it can go on with more epochs."""
        return self.path / "checkpoint.safetensors"

    @property
    def checksums(self) -> Path:
        """SHA-256 checksums of what is read to parse, in the format of `sha256sum`; old models have none."""
        return self.path / "SHA256SUMS"

    @property
    def parts(self) -> tuple[Path, ...]:
        """What loading reads beside the network; not all of it need be there."""
        return (self.config, self.vocabulary, self.lemmas, self.segmenter, self.whole_tokens)

    def write_settings(self, config: Config, vocabulary: Vocabulary) -> None:
        """Write configuration and vocabulary."""
        with writing(self.vocabulary) as stream:
            json.dump(vocabulary.to_dict(), stream, ensure_ascii=False)
        with writing(self.config) as stream:
            stream.write(f"format = {FORMAT_VERSION}\n{config.to_toml()}")

    def read_settings(self) -> tuple[Config, Vocabulary]:
        """Read configuration and vocabulary; a folder of another format's version is refused."""
        if not self.config.exists():
            raise FileError(f"{self.path}: expected a model folder with a config.toml, found none")
        self.verify(self.config)
        self.verify(self.vocabulary)
        values = self._parse(self.config, tomllib.loads, tomllib.TOMLDecodeError)
        version = values.pop("format", None)
        if version not in tuple(DEFAULTS):
            message = f"expected model format {FORMAT_VERSION} or older, found {version}"
            raise FormatError(str(self.config), 1, message)
        names = self._parse(self.vocabulary, json.loads, json.JSONDecodeError)
        for section in Config().to_dict():
            if section not in values and not (section == "decoding" and version != FORMAT_VERSION):
                raise FileError(f"{self.config}: truncated or corrupt (it has no {section!r})")
        if version != FORMAT_VERSION:
            _modernise(values)
        try:
            return Config.from_dict(values, DEFAULTS[version]), Vocabulary.from_dict(names)
        except (KeyError, TypeError, AttributeError) as error:
            raise FileError(f"{self.vocabulary}: expected forms, chars and tasks, found others") from error

    def write_lemmas(self, dictionary: LemmaDictionary) -> None:
        """Write known lemmas."""
        with writing(self.lemmas) as stream:
            json.dump(dictionary.lemmas, stream, ensure_ascii=False)

    def read_lemmas(self) -> LemmaDictionary | None:
        """Read known lemmas, if there are any."""
        if not self.lemmas.exists():
            return None
        self.verify(self.lemmas)
        lemmas = self._parse(self.lemmas, json.loads, json.JSONDecodeError)
        rows = lemmas.values() if isinstance(lemmas, dict) else [lemmas]
        if not all(isinstance(own, dict) and all(isinstance(one, str) for one in own.values()) for own in rows):
            raise FileError(f"{self.lemmas}: expected lemmas by UPOS and form, found others")
        return LemmaDictionary(lemmas)

    def _parse(self, path: Path, parse: Any, failure: type[Exception]) -> Any:
        try:
            return parse(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise FileError(f"{path}: {error.strerror or error}") from error
        except (failure, UnicodeDecodeError) as error:
            raise FileError(f"{path}: truncated or corrupt ({error})") from error

    def write_checksums(self) -> None:
        """Write the checksums of all files that loading reads, but for weights, which hold their own."""
        found = [path for path in self.parts if path.exists()]
        found += [path for part in (self.int8, self.onnx) for path in sorted(part.glob("*"))]
        with writing(self.checksums) as stream:
            stream.writelines(f"{_sha256(path)}  {path.relative_to(self.path).as_posix()}\n" for path in found)

    def verify(self, part: Path) -> None:
        """Refuse a file, or a folder with one, whose checksum is another than the one that was written."""
        for path, expected in self._read_checksums():
            if part in (path, *path.parents) and path.exists() and (found := _sha256(path)) != expected:
                message = f"{path}: expected the checksum {expected[:SHOWN_DIGITS]}..., found {found[:SHOWN_DIGITS]}..."
                raise FileError(
                    f"{message}; the file is damaged (if it was meant to change, remove its line from {self.checksums})"
                )

    def network_checksum(self) -> str:
        """The checksum of the network in whichever form the folder has it, to tell models apart."""
        forms = (self.weights, self.onnx / "words.onnx", self.int8 / "words.onnx")
        return next((_sha256(path) for path in forms if path.exists()), "")

    def _read_checksums(self) -> Iterator[tuple[Path, str]]:
        if not self.checksums.exists():
            return
        for number, line in read_lines(self.checksums):
            digest, separator, name = line.partition("  ")
            if len(digest) != DIGITS or not separator or not name:
                raise FormatError(
                    str(self.checksums), number, "expected a SHA-256 checksum and a file name, found others"
                )
            yield self.path / name, digest


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


def _modernise(values: dict[str, Any]) -> None:
    """Settings of an older format as they are called now."""
    network, auxiliary = values["network"], values["auxiliary"]
    if isinstance(network, dict) and isinstance(auxiliary, dict):
        for name in RETIRED:
            auxiliary.pop(name, None)
        if ARC_DIM in auxiliary:
            network[ARC_DIM] = auxiliary.pop(ARC_DIM)


def _sha256(path: Path) -> str:
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise FileError(f"{path}: {error.strerror or error}") from error
