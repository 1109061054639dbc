"""The shared task's metrics against the official script."""

from __future__ import annotations

import io
from itertools import islice, product
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from udtools import udeval

from biplanar.data.conllu import FEATS, LEMMA, UPOS, XPOS, parse_conllu, read_conllu
from biplanar.evaluation import Score, evaluate
from biplanar.evaluation.alignment import SpannedText, align
from biplanar.evaluation.metrics import conll18_scores
from tests.conftest import treebank_files
from tests.evaluation import strategies
from tests.evaluation.drafts import draft_of, perturbed, written
from tests.evaluation.sentences import (
    COFFEE,
    COFFEE_MISREAD,
    COFFEE_RECUT,
    HOUSE,
    HOUSE_RECUT,
    heads,
    sentences,
)

SEGMENTATION = ("Tokens", "Sentences", "Words")
TAGS = ("UPOS", "XPOS", "UFeats", "AllTags", "Lemmas")
SYNTAX = ("UAS", "LAS", "CLAS", "MLAS", "BLEX")
HAND_WRITTEN = [COFFEE + HOUSE, COFFEE_MISREAD + HOUSE, COFFEE_RECUT + HOUSE_RECUT, COFFEE + HOUSE_RECUT]

# Some sentences of each treebank will do: it is their variety that is wanted.
DEV_FILES = [path for path in treebank_files() if "-dev" in path.name]
SAMPLE = 40

Numbers = tuple[float | None, ...]


def official(gold: str, system: str) -> dict[str, Numbers]:
    """What the official script says: counts and shares."""
    loaded = [udeval.load_conllu(io.StringIO(text), "<text>", {"multiple_roots_okay": True}) for text in (gold, system)]
    scores = udeval.evaluate(*loaded)
    counts = ("correct", "gold_total", "system_total", "aligned_total")
    shares = ("precision", "recall", "f1", "aligned_accuracy")
    return {
        name: tuple(getattr(scores[name], part) for part in counts + shares) for name in SEGMENTATION + TAGS + SYNTAX
    }


def ours(gold: str, system: str) -> dict[str, Numbers]:
    """The same from Biplanar."""
    scores = conll18_scores(align(*(SpannedText.from_sentences(parse_conllu(text)) for text in (gold, system))))
    return {name: _numbers(score) for name, score in scores.items()}


def _numbers(score: Score) -> Numbers:
    counts = (score.correct, score.gold, score.system, score.aligned)
    return (*counts, score.precision, score.recall, score.f1, score.aligned_accuracy)


@pytest.mark.parametrize("gold", HAND_WRITTEN)
@pytest.mark.parametrize("system", HAND_WRITTEN)
def test_hand_written_sentences(gold: str, system: str) -> None:
    assert ours(gold, system) == official(gold, system)


def test_known_counts() -> None:
    evaluation = evaluate(sentences(COFFEE), sentences(COFFEE_MISREAD))
    assert {name: evaluation[name].correct for name in TAGS + SYNTAX} == {
        "UPOS": 6,  # been
        "XPOS": 6,  # served
        "UFeats": 6,  # coffee; what She has more is not universal
        "AllTags": 4,
        "Lemmas": 6,  # has
        "UAS": 5,  # cold, coffee
        "LAS": 5,  # subtypes do not count
        "CLAS": 2,  # She, served
        "MLAS": 1,  # served has a function word with the wrong tag
        "BLEX": 2,
    }


def test_any_lemma_will_do_where_gold_has_none() -> None:
    bare = COFFEE.replace("\thave\t", "\t_\t")
    assert evaluate(sentences(bare), sentences(COFFEE))["Lemmas"].correct == 7
    assert evaluate(sentences(COFFEE), sentences(bare))["Lemmas"].correct == 6


@pytest.mark.parametrize("columns", [(LEMMA,), (UPOS,), (XPOS,), (FEATS,), (LEMMA, UPOS, XPOS, FEATS)])
@pytest.mark.parametrize("missing_in", [("gold",), ("system",), ("gold", "system")], ids="+".join)
def test_missing_columns(columns: tuple[int, ...], missing_in: tuple[str, ...]) -> None:
    for one, other in product(HAND_WRITTEN, repeat=2):
        pair = {"gold": one, "system": other}
        gold, system = (_without(text, columns) if side in missing_in else text for side, text in pair.items())
        assert ours(gold, system) == official(gold, system)


def _without(text: str, columns: tuple[int, ...]) -> str:
    bare = (sentence.with_columns(dict.fromkeys(columns, ["_"] * len(sentence))) for sentence in sentences(text))
    return "".join(sentence.raw for sentence in bare)


@pytest.mark.parametrize(("metric", "column"), [("UPOS", UPOS), ("XPOS", XPOS), ("UFeats", FEATS), ("Lemmas", LEMMA)])
def test_each_column_has_its_metric(metric: str, column: int) -> None:
    """In a text with multiword tokens, one value made another: only metrics of that column fall."""
    gold = COFFEE + HOUSE
    other = {UPOS: "X", XPOS: "X", FEATS: "Case=Voc", LEMMA: "x"}[column]
    first, *rest = sentences(gold)
    changed = first.with_columns({column: [*first.column(column)[:-2], other, first.column(column)[-1]]})
    system = "".join(sentence.raw for sentence in (changed, *rest))
    found = ours(gold, system)
    assert found == official(gold, system)
    fallen = {name for name, numbers in found.items() if numbers != ours(gold, gold)[name]}
    behind = {"UPOS": {"AllTags", "MLAS"}, "XPOS": {"AllTags"}, "UFeats": {"AllTags", "MLAS"}, "Lemmas": {"BLEX"}}
    assert fallen == {metric} | behind[metric]


def test_several_roots() -> None:
    gold, system = heads(0, 0, 2, 3), heads(0, 1, 0, 3)
    assert ours(gold, system) == official(gold, system)


@settings(max_examples=100)
@given(strategies.relabeled_pairs())
def test_other_heads_and_labels(pair: strategies.Pair) -> None:
    assert ours(*pair) == official(*pair)


@settings(max_examples=200)
@given(strategies.recut_pairs())
def test_other_words_and_sentences(pair: strategies.Pair) -> None:
    assert ours(*pair) == official(*pair)


@settings(max_examples=200)
@given(strategies.unrelated_pairs())
def test_nothing_in_common_but_the_text(pair: strategies.Pair) -> None:
    assert ours(*pair) == official(*pair)


@pytest.mark.parametrize("seed", range(20))
def test_longer_documents(seed: int) -> None:
    random = Random(seed)
    gold = draft_of(sentences(*random.choices(HAND_WRITTEN, k=20)))
    system = perturbed(gold, random, labels=0.1, words=0.05 * (seed % 4), sentences=0.1)
    assert ours(written(gold), written(system)) == official(written(gold), written(system))


@pytest.mark.usefixtures("treebanks")
@pytest.mark.parametrize("file", DEV_FILES or [Path("none")], ids=lambda path: path.name)
@pytest.mark.parametrize(("labels", "words"), [(0.1, 0.0), (0.05, 0.05), (0.2, 0.3)])
def test_treebanks(file: Path, labels: float, words: float) -> None:
    first = list(islice(read_conllu(file), SAMPLE))
    gold = "".join(sentence.raw for sentence in first)
    system = written(perturbed(draft_of(first), Random(7), labels=labels, words=words, sentences=words))
    assert ours(gold, system) == official(gold, system)
