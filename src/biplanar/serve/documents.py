"""The JSON interface: what may be asked of `/api/parse` and `/api/compare`, and how they answer."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, repeat, tee
from typing import Any

from biplanar.data.conllu import Sentence, parse_conllu
from biplanar.decoding import DEFAULT_DECODER, get_decoder
from biplanar.decoding.search import finds_several_trees
from biplanar.draw import Entry, draw_comparison, draw_svg, paired
from biplanar.draw.arcs import planes_to_draw
from biplanar.draw.compare import Differences
from biplanar.draw.metrics import is_right_to_left
from biplanar.draw.sentences import label_rows, shown_planes
from biplanar.draw.tags import COLUMNS, check_columns, columns_of
from biplanar.encodings import get_encoding
from biplanar.encodings.replay import replay
from biplanar.errors import FormatError, UnknownNameError
from biplanar.evaluation import evaluate
from biplanar.pipeline.options import ParseOptions
from biplanar.planes.crossings import is_projective
from biplanar.serve.config import ServerConfig
from biplanar.serve.jobs import RequestPlan
from biplanar.serve.models import Model, Models
from biplanar.serve.refusals import decoded, refusal

SOURCES: dict[str, type] = {"text": str, "words": list, "conllu": str}
SETTINGS: dict[str, Any] = {  # with their defaults
    "model": "",
    "decoder": DEFAULT_DECODER,
    "labels": "",
    "columns": "",
    "retag": False,
    "probabilities": False,
    "best": 1,
    "svg": False,
    "replay": False,
    "parse": True,
}
PARSE_FIELDS = SOURCES | {name: type(value) for name, value in SETTINGS.items()}
COMPARE_FIELDS: dict[str, type] = {"gold": str, "system": str}

NAMES = {str: "a string", list: "an array", bool: "true or false", int: "a whole number"}

# What a word costs beyond parsing it, where 1 is what parsing it may take: the search for several trees, and for each
# tree its place in the answer, its picture and its decoding.
SEVERAL_TREES, SHOWN_TREE, DRAWN_TREE, REPLAYED_TREE = 3.0, 0.1, 0.25, 0.1


# Reading requests


def read_object(body: bytes, fields: Mapping[str, type]) -> dict[str, Any]:
    """The fields of a JSON object; an unknown field, or a value of another type, is refused."""
    try:
        values = json.loads(decoded("body", body))
    except ValueError as error:
        raise refusal(f"body: expected JSON, found none ({error})") from error
    except RecursionError:
        raise refusal("body: expected JSON, found too deeply nested arrays or objects") from None
    if not isinstance(values, dict):
        raise refusal("body: expected a JSON object, found another value")
    for name, value in values.items():
        if name not in fields:
            raise UnknownNameError("field", name, fields)
        if type(value) is not fields[name]:  # `isinstance` would take true for a whole number
            raise refusal(f"{name}: expected {NAMES[fields[name]]}, found another kind of value")
        if isinstance(value, str) and not _is_unicode(value):
            raise refusal(f"{name}: expected Unicode text, found a lone surrogate")
    return values


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _source(values: Mapping[str, Any]) -> tuple[str, Any]:
    given = [name for name in SOURCES if name in values]
    if len(given) != 1:
        raise refusal(f"expected one of {', '.join(SOURCES)}, found {' and '.join(given) or 'none of them'}")
    return given[0], values[given[0]]


def _sentences(source: str, content: Any, model: Model) -> Iterator[Sentence]:
    if source == "text":
        if not model.takes_raw_text:
            raise refusal(f"text: the model {model.name} has no tokenizer, so it takes words or conllu")
        return model.segmented(content)
    if source == "conllu":
        return iter(parse_conllu(content, "conllu"))
    return (_sentence(number, words) for number, words in enumerate(content, 1))


def _sentence(number: int, words: Any) -> Sentence:
    if not isinstance(words, list) or not words or not all(isinstance(word, str) for word in words):
        raise refusal(f"words: sentence {number}: expected an array of one string or more, found another value")
    return Sentence.from_words(words)


# Parsing


@dataclass(frozen=True)
class ParseRequest:
    """A request for `/api/parse`."""

    model: Model
    source: str
    sentences: Iterator[Sentence]
    decoder: str
    labels: str
    columns: str
    retag: bool
    probabilities: bool
    best: int
    svg: bool
    replay: bool
    parse: bool

    @classmethod
    def read(cls, body: bytes, models: Models, config: ServerConfig) -> ParseRequest:
        """Read a request, or refuse it."""
        values = read_object(body, PARSE_FIELDS)
        source, content = _source(values)
        settings = SETTINGS | {name: value for name, value in values.items() if name in SETTINGS}
        model = models.find(values["model"]) if "model" in values else models.default
        settings |= {"model": model, "labels": values.get("labels", model.encoding)}
        get_decoder(settings["decoder"])
        get_encoding(settings["labels"])
        request = cls(source=source, sentences=_sentences(source, content, model), **settings)
        check_columns(request.column_names)
        request._check(config)
        return request

    @property
    def column_names(self) -> list[str]:
        """The columns to draw under the words."""
        return [name for name in self.columns.split(",") if name]

    def _check(self, config: ServerConfig) -> None:
        if not 1 <= self.best <= config.best:
            raise refusal(f"best: expected a number from 1 to {config.best}, found {self.best}")
        encoding = self.model.parser.encoding
        if self.best > 1 and not finds_several_trees(encoding):
            name = self.model.name
            raise refusal(f"best: expected 1, as {name} has the encoding {encoding.name}, found {self.best}")
        if not self.parse and (self.source != "conllu" or self.best > 1):
            raise refusal("parse: false needs conllu with trees, and best 1")

    def plan(self, config: ServerConfig) -> RequestPlan:
        """What there is to do for it."""
        sentences, originals = tee(self.model.parsable(self.sentences) if self.parse else self.sentences)
        options = ParseOptions(self.decoder, probabilities=self.probabilities, retag=self.retag)
        return RequestPlan(
            sentences,
            self._renderer(originals),
            _json({"model": self.model.name, "decoder": self.decoder, "labels": self.labels})[:-1] + b',"sentences":[',
            lambda: b"]}",
            self.model.parsing(options) if self.parse else None,
            most_words=config.drawn_words // self.best if self.svg or self.best > 1 else None,
            cost=1 + (SEVERAL_TREES if self.best > 1 else 0) + self.best * self._tree_cost(),
        )

    def _tree_cost(self) -> float:
        return SHOWN_TREE + DRAWN_TREE * self.svg + REPLAYED_TREE * self.replay

    def _renderer(self, originals: Iterator[Sentence]) -> Callable[[list[Sentence]], Iterator[bytes]]:
        separators = chain([b""], repeat(b","))

        def render(parsed: list[Sentence]) -> Iterator[bytes]:
            for sentence, original in zip(parsed, originals):  # noqa: B905
                yield next(separators) + _json(self._shown(sentence))[:-1] + b',"trees":['
                for number, (tree, score) in enumerate(self._trees(sentence, original)):
                    yield b"," * (number > 0) + _json(self._shown_tree(tree, score))
                yield b"]}"

        return render

    def _shown(self, sentence: Sentence) -> dict[str, Any]:
        """The JSON of a sentence without its trees."""
        return {
            "text": Entry(1, sentence).text,
            "forms": sentence.forms,
            **columns_of(sentence, COLUMNS),
            "conllu": sentence.to_conllu(),
            "nonprojective": not is_projective(sentence.tree),
            "rtl": is_right_to_left(sentence.forms),
        }

    def _trees(self, sentence: Sentence, original: Sentence) -> list[tuple[Sentence, float | None]]:
        """The tree that the decoder chose, then the best others, with their log-probabilities where these are known."""
        if self.best == 1:
            return [(sentence, None)]
        found = self.model.parser.several_trees(original, self.best, ParseOptions(retag=self.retag)).trees
        heads = sentence.heads
        own = next((score for tree, score in found if tree.heads == heads), None)
        return [(sentence, own), *((tree, score) for tree, score in found if tree.heads != heads)][: self.best]

    def _shown_tree(self, sentence: Sentence, score: float | None) -> dict[str, Any]:
        tree, rows = sentence.tree, self._rows(sentence)
        assigned = shown_planes(tree, self.labels) or planes_to_draw(tree)
        planes = [plane if head else 0 for head, plane in zip(tree.heads, assigned, strict=True)]
        return {
            "heads": tree.heads,
            "deprels": tree.deprels,
            "planes": planes,
            "labels": None if rows is None else list(zip(*rows.values(), strict=True)),
            "log_probability": score if score is not None and math.isfinite(score) else None,
            "probabilities": sentence.head_probabilities if self.probabilities and self.parse else None,
            "svg": self._drawn(sentence, planes, rows) if self.svg else None,
            "replay": self._replayed(rows) if self.replay and rows else None,
            "conllu": sentence.to_conllu(),
        }

    def _drawn(self, sentence: Sentence, planes: list[int], rows: dict[str, tuple[str, ...]] | None) -> str:
        columns = columns_of(sentence, self.column_names)
        return draw_svg(sentence.forms, sentence.tree, planes=planes, labels=rows, columns=columns)

    def _replayed(self, rows: dict[str, tuple[str, ...]]) -> dict[str, Any] | None:
        """How the labels are decoded, step by step, if they drive an automaton."""
        (labels, *_) = rows.values()
        shown = replay(get_encoding(self.labels), labels)
        if shown is None:
            return None
        steps = [vars(step) for step in shown.steps]
        return {"tasks": list(rows), "stacks": shown.stacks, "first": shown.first, "steps": steps}

    def _rows(self, sentence: Sentence) -> dict[str, tuple[str, ...]] | None:
        """The labels by task; None where the encoding has none for such a tree."""
        if get_encoding(self.labels).needs_upos and "_" in sentence.upos:
            return None
        try:
            return label_rows(sentence, self.labels)
        except FormatError:
            return None


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


# Comparing


def compare_plan(body: bytes, config: ServerConfig) -> RequestPlan:
    """Gold trees and a system's, side by side."""
    values = read_object(body, COMPARE_FIELDS)
    for name in COMPARE_FIELDS:
        if name not in values:
            raise refusal(f"{name}: expected CoNLL-U, found none")
    pairs = list(paired(*(parse_conllu(values[name], name) for name in COMPARE_FIELDS)))
    gold, system = ([pair[side] for pair in pairs] for side in (0, 1))
    others, separators = iter(system), chain([b""], repeat(b","))

    def render(sentences: list[Sentence]) -> Iterator[bytes]:
        for sentence in sentences:
            yield next(separators) + _json(_compared(sentence, next(others)))

    def closing() -> bytes:
        scores = evaluate(gold, system).scores
        return b'],"scores":' + _json({name: scores[name].f1 for name in ("UAS", "LAS")}) + b"}"

    cost = SHOWN_TREE + 2 * DRAWN_TREE
    return RequestPlan(iter(gold), render, b'{"sentences":[', closing, most_words=config.drawn_words, cost=cost)


def _compared(gold: Sentence, system: Sentence) -> dict[str, Any]:
    differences = Differences.between(gold.tree, system.tree)
    return {
        "text": Entry(1, gold).text,
        "svg": draw_comparison(gold.forms, gold.tree, system.tree),
        "wrong": len(differences.heads) + len(differences.relations),
        "words": len(gold),
    }
