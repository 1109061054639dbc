"""The JSON interface: how `/api/parse` and `/api/compare` answer."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator

import numpy as np

from biplanar.data.conllu import Sentence, parse_conllu
from biplanar.data.forest import Column
from biplanar.data.tree import Tree as DataTree
from biplanar.decoding import get_decoder
from biplanar.decoding.search import finds_several_trees
from biplanar.draw import Entry, draw_comparison, paired
from biplanar.draw.arcs import planes_to_draw
from biplanar.draw.layout import COLUMNS, Rows, check_columns, columns_of
from biplanar.draw.sentences import Differences, label_rows, shown_planes
from biplanar.draw.svg import canvas_of, to_svg
from biplanar.draw.text import is_right_to_left
from biplanar.encodings import get_encoding
from biplanar.encodings.columns import GRAPHS
from biplanar.encodings.replay import replay
from biplanar.errors import FormatError
from biplanar.evaluation import evaluate
from biplanar.pipeline.options import ParseOptions
from biplanar.planes.crossings import is_projective
from biplanar.serve import ServerConfig
from biplanar.serve.jobs import RequestPlan, Trees
from biplanar.serve.models import Model, Models
from biplanar.serve.responses import refusal
from biplanar.serve.schemas import (
    SOURCES,
    ComparedSentence,
    CompareRequest,
    ParsedSentence,
    ParseRequest,
    Replay,
    Tree,
    read_json,
)

# What a word costs beyond parsing it, where 1 is what parsing it may take: the search for several trees, and for each
# tree its place in the answer, its picture and its decoding.
SEVERAL_TREES, SHOWN_TREE, DRAWN_TREE, REPLAYED_TREE = 3.0, 0.1, 0.25, 0.1


class ParseAnswer:
    """How a request for `/api/parse` is answered; the request is read and checked first."""

    def __init__(self, body: bytes, models: Models, config: ServerConfig) -> None:
        self.request, self.config = read_json(body, ParseRequest), config
        self.model = models.find(self.request.model)
        get_decoder(self.request.decoder)
        self.labels = self.request.labels or self.model.encoding  # the name of an encoding
        self.encoding = get_encoding(self.labels)
        self.columns = [name for name in self.request.columns.split(",") if name]  # to draw under the words
        check_columns(self.columns)
        _check(self.request, self.model, config)

    def plan(self) -> RequestPlan:
        """What is to be parsed, and how the answer is made."""
        request, model, sentences = self.request, self.model, self._sentences()
        options = ParseOptions(request.decoder, probabilities=request.probabilities, retag=request.retag)
        tree_cost = SHOWN_TREE + DRAWN_TREE * request.svg + REPLAYED_TREE * request.replay
        facts = {"model": model.name, "decoder": request.decoder, "labels": self.labels}
        return RequestPlan(
            model.parsable(sentences) if request.parse else sentences,
            self._render,
            _json(facts)[:-1] + b',"sentences":[',
            b",",
            lambda: b"]}",
            model.parsing(options, best=request.best) if request.parse else None,
            most_words=self.config.drawn_words // request.best if request.svg or request.best > 1 else None,
            cost=1 + (SEVERAL_TREES if request.best > 1 else 0) + request.best * tree_cost,
        )

    def _sentences(self) -> Iterator[Sentence]:
        if "text" in self.request.model_fields_set:
            if not self.model.takes_raw_text:
                raise refusal(f"text: the model {self.model.name} has no tokenizer, so it takes words or conllu")
            return self.model.segmented(self.request.text)
        if "conllu" in self.request.model_fields_set:
            return iter(parse_conllu(self.request.conllu, "conllu"))
        return map(Sentence.from_words, self.request.words)

    def _render(self, trees: Trees) -> Iterator[bytes]:
        yield _json(self._shown(trees[0][0]))[:-2]  # what ends an empty list of trees
        for number, (tree, score) in enumerate(trees):
            yield b"," * (number > 0) + _json(self._shown_tree(tree, score))
        yield b"]}"

    def _shown(self, sentence: Sentence) -> ParsedSentence:
        """A sentence without its trees."""
        columns = columns_of(sentence, COLUMNS)
        return {
            "text": Entry(1, sentence).text,
            "forms": sentence.forms,
            "upos": columns["upos"],
            "xpos": columns["xpos"],
            "feats": columns["feats"],
            "lemma": columns["lemma"],
            "conllu": sentence.to_conllu(),
            "nonprojective": not is_projective(sentence.tree),
            "rtl": is_right_to_left(sentence.forms),
            "trees": [],
        }

    def _shown_tree(self, sentence: Sentence, score: float | None) -> Tree:
        tree, request, rows = sentence.tree, self.request, self._rows(sentence)
        assigned = shown_planes(tree, self.labels) or planes_to_draw(tree)
        planes = [plane if head else 0 for head, plane in zip(tree.heads, assigned, strict=True)]
        return {
            "heads": tree.heads,
            "deprels": tree.deprels,
            "planes": planes,
            "tasks": None if rows is None else list(rows),
            "labels": None if rows is None else list(zip(*rows.values(), strict=True)),
            "log_probability": score if score is not None and math.isfinite(score) else None,
            "probabilities": self._probabilities(sentence),
            "svg": self._drawn(sentence, planes, rows) if request.svg else None,
            "replay": self._replayed(sentence, rows) if request.replay and rows else None,
            "conllu": sentence.to_conllu(),
        }

    def _drawn(self, sentence: Sentence, planes: list[int], rows: Rows | None) -> str:
        """The tree, with probabilities after its relations; arcs that only the labels have are hidden."""
        forms, tree, columns = sentence.forms, sentence.tree, columns_of(sentence, self.columns)
        if (likely := self._probabilities(sentence)) is not None:
            shown = zip(tree.deprels, likely, strict=True)
            tree = DataTree(tree.heads, tuple(f"{deprel} {_percent(one)}" for deprel, one in shown))
        extra = self._extra(sentence, planes, rows) if rows else []
        # Models that predict no graphs leave those of another tree; and a graph's relations would hide probabilities.
        graph = sentence.graph if GRAPHS in self.model.columns and likely is None else None
        canvas = canvas_of(
            forms, tree, planes=planes, labels=rows, columns=columns, annotated=True, extra=extra, graph=graph
        )
        return to_svg([canvas])

    def _extra(self, sentence: Sentence, planes: list[int], rows: Rows) -> list[tuple[int, int, int]]:
        """Arcs of the labels that the tree does not have: some encodings cannot express every tree."""
        columns, upos = [Column.of(row) for row in rows.values()], Column.of(sentence.upos)
        said = self.encoding.decode(columns, np.array([0, len(sentence)]), upos).tolist()
        arcs = zip(said, range(1, len(said) + 1), planes, sentence.heads, strict=True)
        wrong = ((head, word, plane) for head, word, plane, own in arcs if head >= 0 and head not in (own, word))
        return [(head, word, plane if head else 0) for head, word, plane in wrong]

    def _probabilities(self, sentence: Sentence) -> list[float] | None:
        """From MISC, if they were requested; None if a file has invalid values there."""
        try:
            found = sentence.head_probabilities if self.request.probabilities else None
        except ValueError:
            return None
        return found if found is not None and all(0 <= one <= 1 for one in found) else None

    def _replayed(self, sentence: Sentence, rows: Rows) -> Replay | None:
        """How the labels are decoded, step by step, if the encoding can show it."""
        shown = replay(self.encoding, *rows.values(), upos=sentence.upos)
        return {"stacks": shown.stacks, "first": shown.first, "steps": shown.steps} if shown else None

    def _rows(self, sentence: Sentence) -> Rows | None:
        """The labels by task; None if the encoding cannot express the tree."""
        try:
            return label_rows(sentence, self.labels)
        except FormatError:
            return None


def _check(request: ParseRequest, model: Model, config: ServerConfig) -> None:
    """Refuse fields that do not go together."""
    given = [name for name in SOURCES if name in request.model_fields_set]
    if len(given) != 1:
        raise refusal(f"send one of {', '.join(SOURCES)}, not {' and '.join(given) or 'none of them'}")
    if request.best > config.best:
        raise refusal(f"best: at most {config.best} trees of a sentence are allowed")
    encoding = model.parser.encoding
    if request.best > 1 and not finds_several_trees(encoding):
        raise refusal(f"best: must be 1, as the model {model.name} has the encoding {encoding.name}")
    if not request.parse and (given != ["conllu"] or request.best > 1):
        raise refusal("parse: false needs conllu with trees, and best 1")


def _percent(share: float) -> str:
    """A probability in whole percent; only 1 is 100 %."""
    return f"{min(round(100 * share), 99 if share < 1 else 100)} %"


def _json(value: object) -> bytes:
    """`vars` is for the steps of a replay."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=vars).encode()


# Comparing


def compare_plan(body: bytes, config: ServerConfig) -> RequestPlan:
    """Gold trees and a system's, side by side."""
    request = read_json(body, CompareRequest)
    pairs = list(paired(parse_conllu(request.gold, "gold"), parse_conllu(request.system, "system")))
    gold, system = ([pair[side] for pair in pairs] for side in (0, 1))
    others = iter(system)

    def render(trees: Trees) -> Iterator[bytes]:
        yield _json(_compared(trees[0][0], next(others)))

    def closing() -> bytes:
        scores = evaluate(gold, system).scores
        return b'],"scores":' + _json({name: scores[name].f1 for name in ("UAS", "LAS")}) + b"}"

    cost = SHOWN_TREE + 2 * DRAWN_TREE
    return RequestPlan(iter(gold), render, b'{"sentences":[', b",", closing, most_words=config.drawn_words, cost=cost)


def _compared(gold: Sentence, system: Sentence) -> ComparedSentence:
    differences = Differences.between(gold.tree, system.tree)
    return {
        "text": Entry(1, gold).text,
        "svg": draw_comparison(gold.forms, gold.tree, system.tree),
        "wrong": len(differences.heads) + len(differences.relations),
        "words": len(gold),
    }
