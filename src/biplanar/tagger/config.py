"""All hyper-parameters in one place: as dataclasses, as TOML, and as `--section.key value` on the command line."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, get_type_hints

from biplanar.errors import BiplanarError, FileError, UnknownNameError


class ConfigError(BiplanarError):
    """A setting that is unknown or of the wrong kind."""


@dataclass(frozen=True)
class NetworkConfig:
    """Word embedding and character LSTM, stacked BiLSTMs, one output layer per task."""

    encoder: str = "bilstm"  # from words to vectors in their context
    word_dim: int = 100
    char_dim: int = 100
    char_hidden: int = 200  # per direction
    form_dim: int = 0  # width of a layer that projects word and spelling to one vector; 0: none
    hidden: int = 400  # per direction
    layers: int = 3
    output_hidden: int = 400  # width of a layer before each task's labels; 0: none
    dropout: float = 0.5  # the same mask for all words of a sentence
    word_dropout: float = 0.2  # share of words whose embedding is dropped, so that only their characters are seen
    arcs: bool = True  # scores of pairs of words, for decoding beside the labels
    attention: bool = True  # these scores, detached, as further features, in training and parsing
    arc_dim: int = 400  # width of what a word is as a dependent and as a head, in these scores
    depths: bool = True  # bracket encodings: how deep each stack is after each word, as further tasks
    relation_hidden: int = 200  # width of a layer before the relation given word and head; 0: none
    columns: str = "upos,xpos,feats,lemma"  # of CoNLL-U that are predicted beside the tree, where the treebank has them
    column_forms: bool = True  # columns see the word's form beside the word in its context
    column_hidden: int = 400  # width of a layer before the labels of all columns; 0: none
    treebank_dim: int = 0  # a vector for each training file, for every word of its sentences; 0: none


@dataclass(frozen=True)
class AuxiliaryConfig:
    """Weights of the losses beside the labels'; 0 switches one off."""

    arcs: float = 3.0  # biaffine scores of heads, of the network or for training only
    relations: float = 3.0  # biaffine scores of relations, given the head
    depths: float = 0.3  # of the network's stack depths
    columns: float = 1.0  # of each of the network's output columns
    relation_dim: int = 100


@dataclass(frozen=True)
class TrainingConfig:
    """Batches, learning rate, and when to stop."""

    epochs: int = 0  # 0: chosen by the size of the treebank, so that small ones get enough updates
    batch_words: int = 800
    learning_rate: float = 0.0  # 0: chosen by the size of the treebank, lower for large ones
    warmup: float = 0.05  # share of the updates
    clip: float = 5.0
    label_smoothing: float = 0.0
    average: float = 0.0  # decay of a running mean of the weights, which is then the model; 0: none
    taught: float = 0.7  # with teachers: the share of the loss that is on their soft targets
    evaluations: int = 20  # on the dev file, over the whole training
    patience: int = 0  # evaluations without progress before training stops early; 0: never
    segmenter_epochs: int = 10  # of UDPipe's tokenizer, at most: small treebanks get fewer; 0: none, and words only
    amp: bool = True  # half precision where the device gains from it


@dataclass(frozen=True)
class VocabularyConfig:
    """Which words and characters get vectors of their own."""

    min_form_count: int = 2
    min_char_count: int = 2
    vectors: str = ""  # word2vec (text or binary), fastText .vec or GloVe file
    vectors_limit: int = 0  # read so many vectors only; 0: all


@dataclass(frozen=True)
class DecodingConfig:
    """What decoding makes of the scores; 0: chosen on the dev file when training ends."""

    arc_weight: float = 0.0  # how much arc scores count beside labels
    tree_slope: float = 0.0  # of the log-odds of heads by trees, where heads have probabilities
    arc_slope: float = 0.0  # and by arcs
    temperature: float = 0.0  # of the scores of trees that are added up; 0: 3


@dataclass(frozen=True)
class Config:
    """All settings of a training but the data and the seed."""

    encoding: str = "2p-full"
    network: NetworkConfig = field(default_factory=NetworkConfig)
    auxiliary: AuxiliaryConfig = field(default_factory=AuxiliaryConfig)
    training: TrainingConfig = field(default_factory=TrainingConfig)
    vocabulary: VocabularyConfig = field(default_factory=VocabularyConfig)
    decoding: DecodingConfig = field(default_factory=DecodingConfig)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], base: Config | None = None) -> Config:
        """The defaults (or `base`), with some values replaced; unknown keys are refused."""
        config: Config = _replaced(base or cls(), values, "")
        return config

    def to_dict(self) -> dict[str, Any]:
        """As nested plain values."""
        return asdict(self)

    def to_flat_dict(self) -> dict[str, Any]:
        """As plain values by their full names, `section.key`."""
        flat: dict[str, Any] = {}
        for key, value in self.to_dict().items():
            flat |= {f"{key}.{name}": one for name, one in value.items()} if isinstance(value, dict) else {key: value}
        return flat

    def to_toml(self) -> str:
        """As TOML, every value written out."""
        plain, sections = [], []
        for key, value in self.to_dict().items():
            if isinstance(value, dict):
                lines = [f"{name} = {_toml_value(inner)}" for name, inner in value.items()]
                sections.append("\n".join([f"[{key}]", *lines]))
            else:
                plain.append(f"{key} = {_toml_value(value)}")
        return "\n\n".join(["\n".join(plain), *sections]) + "\n"


CONFIGS = {
    # The network of the paper: two BiLSTMs, plain dropout on words only, no auxiliary losses.
    "paper": Config(
        encoding="2p-greedy",
        network=NetworkConfig(
            layers=2,
            output_hidden=0,
            dropout=0.33,
            word_dropout=0.0,
            arcs=False,
            attention=False,
            depths=False,
            relation_hidden=0,
            columns="",
        ),
        auxiliary=AuxiliaryConfig(arcs=0.0, relations=0.0),
    ),
    "accurate": Config(),
    # A tagger and nothing else: labels alone decide, and time and memory grow with the length of a sentence only.
    # Of all encodings, this one was best on dev without arcs (docs/encodings.md).
    "pure": Config(encoding="4-bit+head", network=NetworkConfig(arcs=False, attention=False)),
    # For treebanks of 150,000 words and more.
    "large": Config(
        network=NetworkConfig(dropout=0.4), training=TrainingConfig(batch_words=1600, learning_rate=0.0025, epochs=40)
    ),
    # Small, to be distilled from larger models (`--distill`). With the padding of int8, vectors have 128 features.
    "fast": Config(
        network=NetworkConfig(
            char_hidden=100,
            form_dim=126,
            hidden=126,
            layers=2,
            output_hidden=0,
            dropout=0.1,
            attention=False,
            arc_dim=64,
            relation_hidden=64,
            column_hidden=0,
        ),
        training=TrainingConfig(batch_words=1600, learning_rate=0.003),
    ),
}


# Settings that must not be zero, and shares with an upper limit.
AT_LEAST_ONE = {
    *("word_dim", "char_dim", "char_hidden", "hidden", "layers", "arc_dim", "relation_dim"),
    *("batch_words", "evaluations", "min_form_count", "min_char_count"),
}
AT_MOST_ONE = {"taught"}
BELOW_ONE = {"average", "dropout", "word_dropout", "warmup", "label_smoothing"}


def read_config(source: str | Path | None, overrides: Mapping[str, str] | None = None) -> Config:
    """A named configuration or a TOML file, with `section.key` overrides as text."""
    config = _load(str(source)) if source else CONFIGS["accurate"]
    for key, text in (overrides or {}).items():
        config = _override(config, key, text)
    return config


def _load(source: str) -> Config:
    if source in CONFIGS:
        return CONFIGS[source]
    if not Path(source).exists() and not source.endswith(".toml"):
        raise UnknownNameError("configuration", source, CONFIGS)
    try:
        values = tomllib.loads(Path(source).read_text(encoding="utf-8"))
    except OSError as error:
        raise FileError(f"{source}: {error.strerror or error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{source}: expected TOML, found {error}") from error
    base = str(values.pop("base", "accurate"))
    if base not in CONFIGS:
        raise UnknownNameError("configuration", base, CONFIGS)
    return Config.from_dict(values, CONFIGS[base])


def _replaced(section: Any, values: Mapping[str, Any], path: str) -> Any:
    kinds = get_type_hints(type(section))
    known = {one.name for one in fields(section)}
    changes: dict[str, Any] = {}
    for key, value in values.items():
        if key not in known:
            raise UnknownNameError("setting", path + key, [path + name for name in sorted(known)])
        old = getattr(section, key)
        if isinstance(value, Mapping) and not isinstance(old, (int, float, str)):
            changes[key] = _replaced(old, value, f"{path}{key}.")
        else:
            changes[key] = _checked(value, kinds[key], path + key)
    return replace(section, **changes)


def _checked(value: Any, kind: type, name: str) -> Any:
    if kind is float and type(value) is int:
        value = float(value)
    if type(value) is not kind:
        raise ConfigError(f"{name}: expected a value of type {kind.__name__}, found {value!r}")
    if isinstance(value, (int, float)):
        if not 0 <= value < math.inf:
            raise ConfigError(f"{name}: expected 0 or more, found {value!r}")
        key = name.rpartition(".")[2]
        if key in AT_LEAST_ONE and value < 1:
            raise ConfigError(f"{name}: expected 1 or more, found {value!r}")
        if key in AT_MOST_ONE and value > 1:
            raise ConfigError(f"{name}: expected 1 or less, found {value!r}")
        if key in BELOW_ONE and value >= 1:
            raise ConfigError(f"{name}: expected less than 1, found {value!r}")
    return value


def _override(config: Config, key: str, text: str) -> Config:
    """The text is read as TOML where it can be, and taken as a string where not."""
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        value = text
    nested: Any = value
    for part in reversed(key.split(".")):
        nested = {part: nested}
    return Config.from_dict(nested, config)


def _toml_value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return repr(value)
