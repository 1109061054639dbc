"""Tokens as labels of units, and back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biplanar.errors import LabelError
from biplanar.tagger.features import Vocabulary
from biplanar.tokenizer.labels import CUT, END, TASKS, WORDS, Tokens, check_tasks, decode_tokens, encode_tokens
from biplanar.tokenizer.training import Rendering, paragraphs_of_sentences
from biplanar.tokenizer.units import Units
from tests.tokenizer.treebank import SENTENCES


def scores_of(labels):
    """Scores by which the given labels are the best."""
    return {task: np.eye(len(column.names), dtype=np.float32)[column.ids] for task, column in labels.items()}


def last_units(units: Units) -> np.ndarray:
    ends = np.zeros(len(units), dtype=bool)
    ends[units.offsets[1:] - 1] = True
    return ends


def round_trip(units: Units, tokens: Tokens) -> Tokens:
    labels = encode_tokens(units, tokens)
    names = {task: column.names for task, column in labels.items()}
    return decode_tokens(units, scores_of(labels), names, ends_sentence=last_units(units))


def same(one: Tokens, other: Tokens) -> bool:
    arrays = ((one.starts, other.starts), (one.ends, other.ends), (one.closes, other.closes))
    return all(a.tolist() == b.tolist() for a, b in arrays) and list(one.rules) == list(other.rules)


def test_the_labels_of_a_text():
    text = "I can't. No"
    units = Units.of([text])
    places = [(0, 1), (2, 4), (4, 7), (7, 8), (9, 11)]
    tokens = Tokens(*np.array(places).T, np.array([False, False, False, True, True]))
    labels = encode_tokens(units, tokens)
    assert labels[END].labels() == ["token", "inside", "inside", "token", "sentence", "sentence"]
    assert labels[CUT].labels() == ["none", "1", "none", "none", "none", "none"]
    assert same(round_trip(units, tokens), tokens)


@pytest.mark.parametrize("seed", [None, 1, 2, 3, 4, 5])
def test_a_treebank_comes_back_however_it_is_rendered(seed):
    rng = None if seed is None else np.random.default_rng(seed)
    rendering = Rendering.of(paragraphs_of_sentences(SENTENCES), rng)
    assert same(round_trip(rendering.units, rendering.tokens), rendering.tokens)
    assert rendering.tokens.rules


@given(st.text("ab1.' \n猫", max_size=40), st.data())
def test_any_labels_give_tokens(text, data):
    units = Units.of([text])
    names = {
        END: ("inside", "spaces", "token", "sentence"),
        CUT: ("none", "1", "2 1", "9"),
        WORDS: ("none", "<1<e >1>"),
    }
    draw = {
        task: data.draw(st.lists(st.integers(0, len(names[task]) - 1), min_size=len(units), max_size=len(units)))
        for task in TASKS
    }
    scores = {task: np.eye(len(names[task]), dtype=np.float32)[np.array(draw[task], dtype=np.int64)] for task in TASKS}
    found = decode_tokens(units, scores, names, ends_sentence=last_units(units) if len(units) else np.zeros(0, bool))
    places = list(zip(found.starts.tolist(), found.ends.tolist(), strict=True))
    covered = "".join(text[start:end] for start, end in places)
    assert "".join(covered.split()) == "".join(text.split())
    assert all(start < end for start, end in places)
    assert not len(places) or found.closes[-1]


def test_tokens_go_on_over_spaces_only_where_the_treebank_has_such():
    units = Units.of(["a b"])
    scores = {END: np.array([[9, 1, 0], [0, 0, 1]], np.float32), CUT: np.ones((2, 1)), WORDS: np.ones((2, 1))}
    names = {END: ("inside", "token", "sentence"), CUT: ("none",), WORDS: ("none",)}
    assert decode_tokens(units, scores, names, ends_sentence=last_units(units)).ends.tolist() == [1, 3]
    names[END] = ("spaces", "token", "sentence")
    assert decode_tokens(units, scores, names, ends_sentence=last_units(units)).ends.tolist() == [3]


@pytest.mark.parametrize(
    "tasks",
    [
        {},
        {END: ("token", "sentence"), CUT: ("none",)},
        {END: ("token",), CUT: ("none",), WORDS: ("none",)},
        {END: ("token", "sentence"), CUT: ("1",), WORDS: ("none",)},
        {END: ("token", "sentence"), CUT: ("none",), WORDS: ("none",), "deprel": ("x",)},
    ],
)
def test_labels_of_something_else_are_refused(tasks):
    with pytest.raises(LabelError, match="segmenter"):
        check_tasks(Vocabulary((), (), tasks))
