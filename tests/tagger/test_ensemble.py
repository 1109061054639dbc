from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from biplanar.errors import BiplanarError
from biplanar.tagger.distill import RELATION, teach
from biplanar.tagger.ensemble import Ensemble, Member
from biplanar.tagger.features import Batch, Corpus
from biplanar.tagger.predict import DEPENDENT, GOVERNOR

TASKS = {"plane1": ("x", "y", "z"), "deprel": ("root", "obj")}


@dataclass(frozen=True)
class Fixed:
    """A scorer whose scores of a word depend on its form only."""

    by_form: dict[str, dict[str, list[float]]]

    def represent(self, forms: Sequence[str]) -> Sequence[str]:
        return forms

    def score(self, forms: Sequence[str], batch: Batch) -> dict[str, np.ndarray]:
        words = [forms[number] for number in batch.words[batch.mask]]
        tasks = next(iter(self.by_form.values()))
        return {task: np.array([self.by_form[word][task] for word in words], dtype=np.float32) for task in tasks}

    def relate(self, dependents: np.ndarray, heads: np.ndarray, governors: np.ndarray) -> np.ndarray:
        return np.concatenate([np.full((1, heads.shape[1]), 9, dtype=np.float32), heads])[governors] + dependents


def log(*chances: float) -> list[float]:
    return np.log(chances).tolist()


ONE = Fixed(
    {
        "a": {"plane1": log(0.5, 0.25, 0.25), "deprel": log(0.9, 0.1), DEPENDENT: [1, 0], GOVERNOR: [0, 1]},
        "b": {"plane1": log(0.1, 0.1, 0.8), "deprel": log(0.2, 0.8), DEPENDENT: [2, 0], GOVERNOR: [0, 2]},
    }
)
# Calls the same labels by other numbers, and has one of its own.
OTHER = Fixed(
    {
        "a": {"plane1": log(0.3, 0.3, 0.1, 0.3), "deprel": log(0.5, 0.5), DEPENDENT: [0, 0], GOVERNOR: [0, 0]},
        "b": {"plane1": log(0.6, 0.1, 0.1, 0.2), "deprel": log(0.5, 0.5), DEPENDENT: [0, 3], GOVERNOR: [0, 0]},
    }
)
MEMBERS = [Member(ONE, TASKS), Member(OTHER, TASKS | {"plane1": ("z", "y", "own", "x")})]


def test_probabilities_are_averaged_by_name() -> None:
    ensemble, corpus = Ensemble(MEMBERS, TASKS), Corpus.of([["a", "b"], ["b"]])
    scores = ensemble.score(ensemble.represent(corpus.forms), corpus.batch([0, 1]))
    found = np.exp(scores["plane1"])
    np.testing.assert_allclose(found[0] * 1.9, [0.5 + 0.3, 0.25 + 0.3, 0.25 + 0.3], atol=1e-5)
    np.testing.assert_allclose(found[1] * 1.9, [0.1 + 0.2, 0.1 + 0.1, 0.8 + 0.6], atol=1e-5)
    np.testing.assert_allclose(found[1], found[2])
    np.testing.assert_allclose(np.exp(scores["deprel"][0]), [0.7, 0.3], atol=1e-5)


def test_relations_are_averaged_given_the_head() -> None:
    ensemble, corpus = Ensemble(MEMBERS, TASKS), Corpus.of([["a", "b"]])
    scores = ensemble.score(ensemble.represent(corpus.forms), corpus.batch([0]))
    found = np.exp(ensemble.relate(scores[DEPENDENT], scores[GOVERNOR], np.array([0, 1])))

    def softmax(*scores: float) -> np.ndarray:
        return np.exp(scores) / np.exp(scores).sum()

    np.testing.assert_allclose(found[0], (softmax(10, 9) + softmax(9, 9)) / 2, atol=1e-5)
    np.testing.assert_allclose(found[1], (softmax(2, 1) + softmax(0, 3)) / 2, atol=1e-5)


def test_a_member_that_lacks_a_task_is_refused() -> None:
    with pytest.raises(BiplanarError, match="found one without plane1"):
        Ensemble([Member(ONE, {"deprel": ("root", "obj")})], TASKS)


def test_lessons_are_in_the_order_of_the_words() -> None:
    corpus = Corpus.of([["b", "a", "b"], ["a"], ["b", "a"]])
    lessons = teach(ONE, corpus, np.array([0, 1, 2, 0, 0, 1], dtype=np.int32), 4)
    assert sorted(lessons) == ["deprel", "plane1", RELATION]
    for word, form in enumerate(["b", "a", "b", "a", "b", "a"]):
        lesson = lessons["plane1"]
        found = dict(zip(lesson.labels[word].tolist(), lesson.chances[word].tolist(), strict=True))
        assert found == pytest.approx(dict(enumerate(np.exp(ONE.by_form[form]["plane1"]).tolist())), abs=1e-5)
    assert lessons[RELATION].labels.shape == (6, 2)
    third = dict(zip(lessons[RELATION].labels[2].tolist(), lessons[RELATION].chances[2].tolist(), strict=True))
    assert third[0] == pytest.approx(np.exp(2) / (np.exp(2) + np.exp(1)), abs=1e-5)  # "b" under "a": [2, 0] + [0, 1]


def test_only_the_likeliest_labels_are_taught() -> None:
    many = {f"w{number}": {"plane1": np.linspace(0, 9, 20).tolist()} for number in range(3)}
    lessons = teach(Fixed(many), Corpus.of([list(many)]), np.zeros(3, dtype=np.int32), 100)
    assert sorted(lessons["plane1"].labels[0].tolist()) == list(range(12, 20))
    np.testing.assert_allclose(lessons["plane1"].chances.sum(axis=1), 1, atol=1e-6)
