"""What a sentence tells people; reading, writing and changing it is in `test_conllu`."""

from __future__ import annotations

import pickle

import pytest

import biplanar
from biplanar import Sentence, Tree, parse_conllu, planes_of
from tests.data.test_words import TEXT

# The nmod crosses the root.
CROSSING = Sentence.from_words(
    ["A", "hearing", "is", "scheduled", "on", "the", "issue", "today", "."],
    Tree((2, 4, 4, 0, 7, 7, 2, 4, 4), ["det", "nsubj:pass", "aux", "root", "case", "det", "nmod", "obl", "punct"]),
)


def test_it_is_a_sequence_of_words():
    assert [word.form for word in CROSSING] == CROSSING.forms
    assert CROSSING[1].form == "hearing"
    assert CROSSING[-1].form == "."
    assert [word.form for word in CROSSING[4:6]] == ["on", "the"]
    assert CROSSING.words == list(CROSSING)
    with pytest.raises(IndexError):
        _ = CROSSING[9]


def test_text_and_id():
    (sentence,) = parse_conllu(TEXT)
    assert (sentence.text, sentence.sent_id) == ("She can't  sing.", "s1")
    bare = sentence.without_comments(["text", "sent_id"])
    assert (bare.text, bare.sent_id) == ("She can't  sing.", None)


def test_its_tree():
    assert CROSSING.root.form == "scheduled"
    assert not CROSSING.is_projective
    assert sorted(CROSSING.planes[6:8]) == [1, 2]  # they cross
    assert CROSSING.planes[3] == 0
    assert CROSSING.planes == list(planes_of(CROSSING.tree, "2p-prop"))
    assert Sentence.from_words(["a", "b"], Tree((0, 1), ("root", "x"))).is_projective


def test_probabilities_of_heads_are_told_if_all_are_known():
    assert parse_conllu(TEXT)[0].head_probabilities is None
    told = CROSSING.with_misc("HeadProb", ["0.5"] * 9)
    assert told.head_probabilities == [0.5] * 9


def test_changes_keep_the_place_in_the_document():
    moved = CROSSING.with_offset(10)
    assert moved.start_char == 10
    assert moved.with_tree(moved.tree).with_comments({"a": "b"}).without_comments(["a"]).start_char == 10
    assert moved == CROSSING


def test_repr():
    assert repr(CROSSING) == "<Sentence 'A hearing is scheduled on the issue today .', 9 words>"
    assert repr(Sentence.from_words(["x" * 100])) == f"<Sentence '{'x' * 59}…', 1 word>"


def test_it_is_pickled_as_it_is():
    again = pickle.loads(pickle.dumps(CROSSING))
    assert again == CROSSING
    assert again.rows == CROSSING.rows


def test_it_draws_itself(tmp_path):
    svg = CROSSING.draw(columns=["upos"], theme="light")
    assert svg == biplanar.draw.draw_sentence(CROSSING, columns=["upos"], theme="light")
    CROSSING.draw(tmp_path / "tree.svg", encoding="2p-full")
    assert "plane2" in (tmp_path / "tree.svg").read_text()
