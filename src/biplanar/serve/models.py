"""The models of a server, and the names that requests may use for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from biplanar.data.conllu import Sentence
from biplanar.decoding import all_decoders
from biplanar.decoding.inventory import UPOS
from biplanar.decoding.labels import decode
from biplanar.decoding.search import finds_several_trees
from biplanar.draw import draw_sentence
from biplanar.draw.sentences import label_rows
from biplanar.encodings import all_encodings, get_encoding
from biplanar.encodings.replay import replay
from biplanar.errors import BiplanarError, FileError, UnknownNameError
from biplanar.pipeline.card import licence_of, read_card
from biplanar.pipeline.loading import load
from biplanar.pipeline.model_folder import BUNDLED
from biplanar.pipeline.options import ParseOptions
from biplanar.pipeline.parser import Parser
from biplanar.planes.crossings import is_projective
from biplanar.serve.jobs import Parsing
from biplanar.serve.responses import refusal
from biplanar.serve.schemas import ModelFacts

# The name by which clients of UDPipe know the bundled model.
MORE_NAMES = {BUNDLED: "english-ewt"}

CHARACTERS_AT_ONCE = 20_000  # of raw text, after which other requests get their turn


@dataclass(frozen=True)
class Model:
    """A parser with its name, and what its card says of it."""

    name: str
    parser: Parser
    card: dict[str, str]

    @classmethod
    def load(cls, name: str, folder: str | None, *, device: str, threads: int) -> Model:
        """Load and warm up a model, so that the first request is as fast as the next."""
        parser = load(folder, device=device, threads=threads)
        model = cls(name, parser, read_card(parser.folder))
        model.warm_up()
        return model

    def warm_up(self) -> None:
        """Load and compile what requests need."""
        sentence = Sentence.from_words(["Ready", "."], upos=["ADJ", "PUNCT"])
        # Contradictory labels, which other compiled searches handle.
        odd_sentence = Sentence.from_words(["so"] * 60, upos=["ADV"] * 60)
        for decoder in all_decoders():
            list(self.parser.pipe([odd_sentence], decoder=decoder, probabilities=True))
            for parsed in self.parser.pipe([sentence], decoder=decoder, probabilities=True):
                is_projective(parsed.tree)
                for encoding in all_encodings():
                    draw_sentence(parsed, encoding=encoding)
                    rows = label_rows(parsed, encoding).values()
                    replay(get_encoding(encoding), *rows, upos=parsed.upos)
                    decode(list(zip(*rows, parsed.tree.deprels, strict=True)), encoding, upos=parsed.upos)
        if finds_several_trees(self.parser.encoding):
            self.parser.several_trees(sentence, 2, chosen_first=True)
        if self.takes_raw_text:
            self.parser.segmenter.segment("Ready.")

    # What it can do

    @property
    def encoding(self) -> str:
        """The name of the encoding that its labels are in."""
        return self.parser.encoding.name

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the network predicts beside the tree: `upos`, ..."""
        return self.parser.inventory.output_columns

    @cached_property
    def takes_raw_text(self) -> bool:
        """Whether there is a tokenizer."""
        return self.parser.folder.takes_text

    @cached_property
    def has_udpipe_tagger(self) -> bool:
        """Whether UDPipe's tagger is there and used, as the network predicts no tags."""
        return UPOS not in self.columns and self.takes_raw_text and self.parser.segmenter.has_tagger

    @property
    def licence(self) -> str:
        """As its card says."""
        return licence_of(self.card)

    @property
    def facts(self) -> ModelFacts:
        """What clients are told about it."""
        treebank = self.card.get("trained on", "an unknown treebank")
        return {
            "name": self.name,
            "encoding": self.encoding,
            "raw_text": self.takes_raw_text,
            "several_trees": finds_several_trees(self.parser.encoding),
            "columns": self.columns,
            "description": f"trained on {treebank}; licence: {self.licence}",
        }

    # What it does

    def segmented(self, text: str, **options: Any) -> Iterator[Sentence]:
        """The sentences of raw text, with the options of `Segmenter.stream`."""
        return self.parser.segmenter.stream([text], size=CHARACTERS_AT_ONCE, **options)

    def parsable(self, sentences: Iterator[Sentence]) -> Iterator[Sentence]:
        """The same sentences; one without the part-of-speech tags that the model needs is refused."""
        needs_tags = self.parser.inventory.needs_tagger and not self.has_udpipe_tagger
        for sentence in sentences:
            if needs_tags and "_" in sentence.upos:
                message = f"the model {self.name} needs part-of-speech tags and has no tagger: send CoNLL-U with UPOS"
                raise refusal(message)
            yield sentence

    def parsing(self, options: ParseOptions, *, kept: tuple[int, ...] = (), best: int = 1) -> Parsing:
        """How it is to parse; if it predicts trees alone, requests that differ in tagging are parsed together."""
        return Parsing(self.parser, options if self.columns else options.changed(tags=True, retag=False), kept, best)


@dataclass(frozen=True)
class Models:
    """All models of a server; the first one is the default."""

    all: tuple[Model, ...]

    @classmethod
    def load(cls, chosen: Sequence[str], *, device: str = "cpu", threads: int = 1) -> Models:
        """Installed models by their names, and those of folders, named after the folder or by `NAME=FOLDER`."""
        folders = dict(map(_named, chosen))
        if len(folders) < len(chosen):
            raise BiplanarError("two models have the same name: rename one of them with NAME=FOLDER")
        wanted: dict[str, str | None] = {**folders} or {BUNDLED: None}
        return cls(tuple(Model.load(name, folder, device=device, threads=threads) for name, folder in wanted.items()))

    @property
    def default(self) -> Model:
        """The model of requests that name none."""
        return self.all[0]

    @cached_property
    def _by_alias(self) -> dict[str, Model]:
        """By whole names, and by their beginnings up to a hyphen: `english-ewt-2.4` is also `english`."""
        found = {model.name: model for model in self.all}
        for model in self.all:
            for name in (model.name, MORE_NAMES.get(model.name, model.name)):
                parts = name.split("-")
                for count in range(len(parts), 0, -1):
                    found.setdefault("-".join(parts[:count]), model)
        return found

    def find(self, name: str) -> Model:
        """The model of that name, or the first whose name begins with it and a hyphen; without a name, the default."""
        if not name:
            return self.default
        if name not in self._by_alias:
            raise UnknownNameError("model", name, [model.name for model in self.all])
        return self._by_alias[name]


def _named(model: str) -> tuple[str, str]:
    name, equals, folder = model.partition("=")
    if equals and not Path(model).exists():
        if not (name and folder):
            raise FileError(f"{model}: not a folder, and not NAME=FOLDER")
        return name, folder
    return Path(model).resolve().name, model
