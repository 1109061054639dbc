"""A model's folder: what lies in it, and its settings as text. Nothing in it is executed when it is read."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from biplanar.data.files import writing
from biplanar.errors import FileError, FormatError
from biplanar.tagger.config import Config, NetworkConfig
from biplanar.tagger.features import Vocabulary

FORMAT_VERSION = 2

# What settings are where a folder says nothing of them: models of format 1 have no parts that came later.
DEFAULTS = {
    1: Config(network=NetworkConfig(attention=False, depths=False, relation_hidden=0, treebank_dim=0)),
    FORMAT_VERSION: Config(),
}


@dataclass(frozen=True)
class ModelFolder:
    """Where the parts of a model are."""

    path: Path

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
        """The network for ONNX Runtime, in floats: a folder."""
        return self.path / "onnx"

    @property
    def int8(self) -> Path:
        """The network for ONNX Runtime, in bytes: a folder."""
        return self.path / "int8"

    @property
    def segmenter(self) -> Path:
        """UDPipe's tokenizer, and its tagger where the encoding needs tags."""
        return self.path / "tokenizer.udpipe"

    @property
    def card(self) -> Path:
        """What the model was made of, and how good it is."""
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
        """Where training stands; gone when it has ended."""
        return self.path / "checkpoint.safetensors"

    def write_settings(self, config: Config, vocabulary: Vocabulary) -> None:
        """Write configuration and vocabulary."""
        with writing(self.config) as stream:
            stream.write(f"format = {FORMAT_VERSION}\n{config.to_toml()}")
        with writing(self.vocabulary) as stream:
            json.dump(vocabulary.to_dict(), stream, ensure_ascii=False)

    def read_settings(self) -> tuple[Config, Vocabulary]:
        """Read configuration and vocabulary; a folder of another format's version is refused."""
        if not self.config.exists():
            raise FileError(f"{self.path}: expected a model folder with a config.toml, found none")
        values = self._parse(self.config, tomllib.loads, tomllib.TOMLDecodeError)
        version = values.pop("format", None)
        if version not in tuple(DEFAULTS):
            message = f"expected model format {FORMAT_VERSION} or older, found {version}"
            raise FormatError(str(self.config), 1, message)
        names = self._parse(self.vocabulary, json.loads, json.JSONDecodeError)
        for section in Config().to_dict():
            if section not in values:
                raise FileError(f"{self.config}: truncated or corrupt (it has no {section!r})")
        try:
            return Config.from_dict(values, DEFAULTS[version]), Vocabulary.from_dict(names)
        except (KeyError, TypeError, AttributeError) as error:
            raise FileError(f"{self.vocabulary}: expected forms, chars and tasks, found others") from error

    def _parse(self, path: Path, parse: Any, failure: type[Exception]) -> Any:
        try:
            return parse(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise FileError(f"{path}: {error.strerror or error}") from error
        except (failure, UnicodeDecodeError) as error:
            raise FileError(f"{path}: truncated or corrupt ({error})") from error
