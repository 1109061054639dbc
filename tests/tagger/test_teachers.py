from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from biplanar.decoding.scores import Scores
from biplanar.errors import BiplanarError
from biplanar.tagger.features import Corpus
from biplanar.tagger.teachers import Ensemble, Member
from tests.decoding.arc_tables import likeliest
from tests.tagger.fixed_scorer import ONE, TASKS, FixedScorer, log

# Calls the same labels by other numbers, and has one of its own.
OTHER = FixedScorer(
    {
        "a": {"plane1": log(0.3, 0.3, 0.1, 0.3), "deprel": log(0.5, 0.5)},
        "b": {"plane1": log(0.6, 0.1, 0.1, 0.2), "deprel": log(0.5, 0.5)},
    },
    as_dependent={"a": [0, 0], "b": [0, 3]},
    as_head={"a": [0, 0], "b": [0, 0]},
)
OTHER_TASKS = TASKS | {"plane1": ("z", "y", "own", "x")}
MEMBERS = [Member(ONE, TASKS), Member(OTHER, OTHER_TASKS)]


def scores_of(members: list[Member], sentences: list[list[str]]) -> Scores:
    ensemble, corpus = Ensemble(members, TASKS), Corpus.of(sentences)
    return ensemble.score(ensemble.represent(corpus.forms), corpus.batch(range(len(sentences))))


def test_probabilities_are_averaged_by_name() -> None:
    scores = scores_of(MEMBERS, [["a", "b"], ["b"]])
    assert scores.offsets.tolist() == [0, 2, 3]
    assert list(scores.labels) == list(TASKS)
    found = np.exp(scores.labels["plane1"])
    np.testing.assert_allclose(found[0] * 1.9, [0.5 + 0.3, 0.25 + 0.3, 0.25 + 0.3], atol=1e-5)
    np.testing.assert_allclose(found[1] * 1.9, [0.1 + 0.2, 0.1 + 0.1, 0.8 + 0.6], atol=1e-5)
    np.testing.assert_allclose(found[1], found[2])
    np.testing.assert_allclose(np.exp(scores.deprels[0]), [0.7, 0.3], atol=1e-5)


def test_relations_are_averaged_given_the_head() -> None:
    scores = scores_of(MEMBERS, [["a", "b"]])
    assert scores.knows_heads
    found = np.exp(scores.relate(np.array([0, 1], dtype=np.int32)))

    def softmax(*scores: float) -> np.ndarray:
        return np.exp(scores) / np.exp(scores).sum()

    np.testing.assert_allclose(found[0], (softmax(10, 9) + softmax(9, 9)) / 2, atol=1e-5)
    np.testing.assert_allclose(found[1], (softmax(2, 1) + softmax(0, 3)) / 2, atol=1e-5)


def test_relations_are_by_the_word_alone_unless_all_members_know_heads() -> None:
    without_heads = replace(OTHER, as_dependent=None, as_head=None)
    for members in ([MEMBERS[0], Member(without_heads, OTHER_TASKS)], [Member(without_heads, OTHER_TASKS), MEMBERS[0]]):
        scores = scores_of(members, [["a", "b"]])
        assert not scores.knows_heads
        np.testing.assert_allclose(np.exp(scores.relate(np.array([0, 1]))), [[0.7, 0.3], [0.35, 0.65]], atol=1e-5)


def test_heads_are_averaged() -> None:
    one, other = replace(ONE, in_arcs={"a": 1.0, "b": -1.0}), replace(OTHER, in_arcs={"a": 0.0, "b": 3.0})
    sentences = [["a", "b", "b"], ["b"]]
    found = scores_of([Member(one, TASKS), Member(other, OTHER_TASKS)], sentences).arcs.likeliest()
    shares = [(np.exp(one.arcs_of(words)) + np.exp(other.arcs_of(words))) / 2 for words in sentences]
    wanted = likeliest([np.log(share, where=share > 0, out=np.full_like(share, -np.inf)) for share in shares])
    assert found.heads.tolist() == wanted.heads.tolist()
    np.testing.assert_allclose(found.logs, wanted.logs, atol=1e-5)
    assert found.heads[0, 0] == 2  # which the first member would not have chosen
    assert one.arcs_of(sentences[0])[0].argmax() == 0


def test_heads_are_unknown_unless_all_members_know_them() -> None:
    with_arcs = Member(replace(ONE, in_arcs={"a": 1.0, "b": -1.0}), TASKS)
    assert scores_of([with_arcs, MEMBERS[1]], [["a", "b"]]).arcs is None
    assert scores_of(MEMBERS, [["a", "b"]]).arcs is None


def test_a_member_that_lacks_a_task_is_refused() -> None:
    with pytest.raises(BiplanarError, match="predict plane1"):
        Ensemble([Member(ONE, {"deprel": ("root", "obj")})], TASKS)
