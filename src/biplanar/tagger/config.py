"""All hyper-parameters in one place: as dataclasses, as TOML, and as `--section.key value` on the command line."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_type_hints

from biplanar.errors import BiplanarError, UnknownNameError, check_name, file_errors


class ConfigError(BiplanarError):
    """A setting that is of the wrong type or out of bounds."""


@dataclass(frozen=True)
class Bounds:
    """The least and the largest value of a setting."""

    least: float
    largest: float

    def __str__(self) -> str:
        return f" from {self.least:,} to {self.largest:,}"


Auto = Literal["auto"]
AUTO: Auto = "auto"
NONE = "none"  # how TOML and the command line say None

Width = Annotated[int, Bounds(1, 16_384)]
Count = Annotated[int, Bounds(1, 1_000_000_000)]
Share = Annotated[float, Bounds(0, 1)]
ShareBelowOne = Annotated[float, Bounds(0, 0.999999)]
Positive = Annotated[float, Bounds(1e-15, 1000)]
Weight = Annotated[float, Bounds(0, 1000)]

# How a word is made of its sub-words.
POOLINGS = MEAN, FIRST = "mean", "first"

# Kinds of segmenters.
SEGMENTERS = TAGGER, UDPIPE, NO_SEGMENTER = "tagger", "udpipe", "none"

# How messages name the types of settings.
TYPES = {int: "a whole number", float: "a number", bool: "true or false", str: "a text"}


@dataclass(frozen=True)
class TransformerConfig:
    """A pre-trained encoder for `network.encoder transformer`, and how it is fine-tuned."""

    model: str | None = None  # its name on the Hugging Face hub, or a folder
    local_files_only: bool = False  # take it from the cache, without asking the hub
    pooling: str = MEAN  # a word is the `mean` of its sub-words, or the `first`
    frozen: bool = False  # its weights stay as they are
    learning_rate: Positive = 1e-4  # of its weights, while `training.learning_rate` is that of all others
    layer_decay: Annotated[float, Bounds(0.1, 1)] = 1.0  # the learning rate of a layer, as a share of that above
    accumulate: Count = 1  # batches whose gradients are added up for one update
    checkpointing: bool = False  # training takes less memory and more time: activations are computed again


@dataclass(frozen=True)
class NetworkConfig:
    """Word embedding and character LSTM, stacked BiLSTMs, one output layer per task."""

    encoder: str = "bilstm"  # from words to vectors in their context: `bilstm` or `transformer`
    word_dim: Width | None = 100  # width of a word embedding
    char_dim: Width | None = 100  # width of a character embedding
    char_hidden: Width = 200  # width of the character LSTM, per direction
    form_dim: Width | None = None  # width of a layer that projects word, spelling and sub-words to one vector
    hidden: Width = 400  # width of the LSTM layers, per direction
    layers: Annotated[int, Bounds(1, 100)] = 3  # LSTM layers
    output_hidden: Width | None = 400  # width of a layer before each task's labels
    dropout: ShareBelowOne = 0.5  # the same mask for all words of a sentence
    word_dropout: ShareBelowOne = 0.2  # share of words whose embedding is dropped, so that only their spelling is seen
    arcs: bool = True  # scores of pairs of words, for decoding beside the labels
    attention: bool = True  # these scores, detached, as further features, in training and parsing
    arc_dim: Width = 400  # width of a word's vectors as a dependent and as a head, in these scores
    depths: bool = True  # bracket encodings: how deep each stack is after each word, as further tasks
    relation_hidden: Width | None = 200  # width of a layer before the relation given word and head
    columns: str = "upos,xpos,feats,lemma"  # of CoNLL-U that are predicted beside the tree, where the treebank has them
    column_forms: bool = True  # columns see the word's form beside the word in its context
    column_hidden: Width | None = 400  # width of a layer before the labels of all columns
    treebank_dim: Width | None = None  # width of a vector for each training file, for every word of its sentences
    transformer: TransformerConfig = field(default_factory=TransformerConfig)  # a section of its own


@dataclass(frozen=True)
class AuxiliaryConfig:
    """Weights of the losses beside the labels'; 0 switches one off."""

    arcs: Weight = 3.0  # biaffine scores of heads, of the network or for training only
    relations: Weight = 3.0  # biaffine scores of relations, given the head
    depths: Weight = 0.3  # of the network's stack depths
    columns: Weight = 1.0  # of each of the network's output columns
    relation_dim: Width = 100  # width of a word in the scores of relations


@dataclass(frozen=True)
class TrainingConfig:
    """Batches, learning rate, and when to stop."""

    epochs: Count | Auto = AUTO  # auto: 16, and as many more as make up `updates`, so that small treebanks get enough
    updates: Count = 4500  # see epochs
    batch_words: Count = 800  # words of a batch
    learning_rate: Positive | Auto = AUTO  # by the size of the treebank, lower for large ones
    warmup: ShareBelowOne = 0.05  # share of the updates during which the learning rate rises
    clip: Positive = 5.0  # largest norm of a gradient
    label_smoothing: ShareBelowOne = 0.0  # share of the targets that is spread over all labels
    average: ShareBelowOne | None = None  # decay of a running mean of the weights, which is then the model
    taught: Share = 0.7  # with teachers: the share of the loss that is on their soft targets
    evaluations: Count = 20  # on dev, over the whole training
    patience: Count | None = None  # evaluations without progress before training stops early
    amp: bool = True  # half precision where the device gains from it


@dataclass(frozen=True)
class VocabularyConfig:
    """Which words and characters get vectors of their own."""

    min_form_count: Count = 2  # rarer forms share one vector
    min_char_count: Count = 2  # and rarer characters
    vectors: str | None = None  # word2vec (text or binary), fastText .vec or GloVe file
    vectors_limit: Count | None = None  # read up to n vectors


@dataclass(frozen=True)
class SegmenterConfig:
    """From text to words: a tagger over units of text, smaller than the parser's."""

    kind: str = TAGGER  # or `udpipe`: UDPipe's tokenizer; or `none`: the model takes words only
    hidden: Width = 94  # width of the LSTM layers, per direction, and of a unit
    layers: Annotated[int, Bounds(1, 100)] = 2  # LSTM layers
    dropout: ShareBelowOne = 0.3  # the same mask for all units of a window
    updates: Count = 4000  # steps of training
    batch_units: Count = 3200  # units of a batch, at most: small treebanks have smaller ones
    learning_rate: Positive = 0.006  # the highest, after the warm-up

    @property
    def network(self) -> NetworkConfig:
        """The network's settings."""
        return NetworkConfig(
            word_dim=self.hidden // 2,
            char_dim=self.hidden // 3,
            char_hidden=self.hidden // 2,
            form_dim=self.hidden,
            hidden=self.hidden,
            layers=self.layers,
            output_hidden=None,
            dropout=self.dropout,
            word_dropout=0.6,  # new forms are cut by their spelling
            arcs=False,
            attention=False,
            depths=False,
            relation_hidden=None,
            columns="",
        )


@dataclass(frozen=True)
class DecodingConfig:
    """How decoding uses the scores; what is `auto` is chosen on dev when training ends."""

    arc_weight: Weight | Auto = AUTO  # of arc scores, beside those of labels
    tree_slope: Weight | Auto = AUTO  # of the log-odds of heads by trees, where heads have probabilities
    arc_slope: Weight | Auto = AUTO  # and by arcs
    temperature: Positive | Auto = AUTO  # of the scores of trees that are added up; auto: 3


@dataclass(frozen=True)
class Config:
    """All settings of a training but the data and the seed."""

    encoding: str = "2p-full"  # how trees become labels
    network: NetworkConfig = field(default_factory=NetworkConfig)
    auxiliary: AuxiliaryConfig = field(default_factory=AuxiliaryConfig)
    training: TrainingConfig = field(default_factory=TrainingConfig)
    vocabulary: VocabularyConfig = field(default_factory=VocabularyConfig)
    decoding: DecodingConfig = field(default_factory=DecodingConfig)
    segmenter: SegmenterConfig = field(default_factory=SegmenterConfig)

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
        return dict(_flat(self.to_dict(), ""))

    def to_toml(self) -> str:
        """As TOML, with every value."""
        import tomli_w  # only training writes settings

        return tomli_w.dumps(_without_none(self.to_dict()))


CONFIGS = {
    # The network of the paper: two BiLSTMs, plain dropout on words only, no auxiliary losses.
    "paper": Config(
        encoding="2p-greedy",
        network=NetworkConfig(
            layers=2,
            output_hidden=None,
            dropout=0.33,
            word_dropout=0.0,
            arcs=False,
            attention=False,
            depths=False,
            relation_hidden=None,
            columns="",
        ),
        auxiliary=AuxiliaryConfig(arcs=0.0, relations=0.0),
        segmenter=SegmenterConfig(kind=UDPIPE),
    ),
    "accurate": Config(),
    # A tagger and nothing else: labels alone decide, and time and memory grow with the length of a sentence only.
    # Of all encodings, this one is the best on dev without arcs (docs/results.md).
    "pure": Config(encoding="4-bit+head", network=NetworkConfig(arcs=False, attention=False)),
    # For treebanks of 150,000 words and more.
    "large": Config(
        network=NetworkConfig(dropout=0.4), training=TrainingConfig(batch_words=1600, learning_rate=0.0025, epochs=40)
    ),
    # Small: for training on a CPU, and to be distilled from larger models (`--distill`). With the padding of int8,
    # vectors have 128 features.
    "fast": Config(
        network=NetworkConfig(
            char_hidden=100,
            form_dim=126,
            hidden=126,
            layers=2,
            output_hidden=None,
            dropout=0.33,
            attention=False,
            arc_dim=64,
            relation_hidden=64,
            column_hidden=None,
        ),
        auxiliary=AuxiliaryConfig(relation_dim=50),
        training=TrainingConfig(updates=1800, batch_words=1600, learning_rate=0.005),
    ),
    # A pre-trained encoder below two BiLSTMs. `network.transformer.model` names it.
    "transformer": Config(
        network=NetworkConfig(
            encoder="transformer",
            word_dim=None,
            char_dim=None,
            form_dim=400,
            layers=2,
            dropout=0.33,
            column_forms=False,
        ),
        training=TrainingConfig(epochs=15, batch_words=640, learning_rate=0.002, warmup=0.08),
    ),
}


def _flat(values: Mapping[str, Any], path: str) -> Iterator[tuple[str, Any]]:
    for key, value in values.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{path}{key}.")
        else:
            yield path + key, value


def _without_none(values: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: _without_none(value) if isinstance(value, dict) else NONE if value is None else value
        for key, value in values.items()
    }


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
        with file_errors(source):
            values = tomllib.loads(Path(source).read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:  # also a number with thousands of digits, or deep nesting
        raise ConfigError(f"{source}: not valid TOML: {error}") from error
    base = str(values.pop("base", "accurate"))
    check_name("configuration", base, CONFIGS)
    try:
        return Config.from_dict(values, CONFIGS[base])
    except ConfigError as error:
        raise ConfigError(f"{source}: {error}") from error


def _override(config: Config, key: str, text: str) -> Config:
    """The text is read as TOML where it can be, and taken as a string where not."""
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except (ValueError, RecursionError):
        value = text
    nested: Any = value
    for part in reversed(key.split(".")):
        nested = {part: nested}
    return Config.from_dict(nested, config)


def _replaced(section: Any, values: Mapping[str, Any], path: str) -> Any:
    """A section with some values replaced, each of them checked."""
    hints = get_type_hints(type(section), include_extras=True)
    known = {one.name for one in fields(section)}
    changes: dict[str, Any] = {}
    for key, value in values.items():
        if key not in known:
            raise UnknownNameError("setting", path + key, [path + name for name in sorted(known)])
        old = getattr(section, key)
        if not is_dataclass(old):
            changes[key] = _checked(value, hints[key], path + key)
        elif isinstance(value, Mapping):
            changes[key] = _replaced(old, value, f"{path}{key}.")
        else:
            raise ConfigError(f"{path}{key} is a section of settings, not a setting")
    return replace(section, **changes)


def _checked(value: Any, hint: Any, name: str) -> Any:
    """A value, if it is what the hint allows: a type, perhaps with bounds, perhaps or None or `auto`."""
    others = {NONE: None} if NoneType in get_args(hint) else {AUTO: AUTO} if Auto in get_args(hint) else {}
    if value is None or isinstance(value, str):
        for text, other in others.items():
            if value in (text, other):
                return other
    kind = get_args(hint)[0] if others else hint  # int, or Annotated[int, Bounds(...)]
    bounds: Bounds | None = None
    if get_args(kind):
        kind, bounds = get_args(kind)
    whole = kind is float and type(value) is int
    if (type(value) is kind or whole) and (bounds is None or bounds.least <= value <= bounds.largest):
        return float(value) if whole else value
    more = "".join(f", or {text}" for text in others)
    raise ConfigError(f"{name} must be {TYPES[kind]}{bounds or ''}{more}")
