from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from biplanar.tagger.features import Corpus
from biplanar.tagger.teachers import ARCS, RELATION, SoftTargets, soft_targets
from tests.tagger.fixed_scorer import ONE, FixedScorer

FORMS = ["b", "a", "b", "a", "b", "a"]
CORPUS = Corpus.of([FORMS[:3], FORMS[3:4], FORMS[4:]])
HEADS = np.array([0, 1, 2, 0, 0, 1], dtype=np.int32)


def probabilities_of(targets: SoftTargets, word: int) -> dict[int, float]:
    return dict(zip(targets.labels[word].tolist(), targets.probabilities[word].tolist(), strict=True))


@pytest.mark.parametrize("batch_words", [1, 4, 100])
def test_targets_are_in_the_order_of_the_words(batch_words: int) -> None:
    targets = soft_targets(ONE, CORPUS, HEADS, batch_words)
    assert sorted(targets) == ["deprel", "plane1", RELATION]
    for task in ("plane1", "deprel"):
        for word, form in enumerate(FORMS):
            wanted = dict(enumerate(np.exp(ONE.by_form[form][task]).tolist()))
            assert probabilities_of(targets[task], word) == pytest.approx(wanted, abs=1e-5)
    assert targets[RELATION].labels.shape == (6, 2)
    third = probabilities_of(targets[RELATION], 2)  # "b" under "a": [2, 0] + [0, 1]
    assert third[0] == pytest.approx(np.exp(2) / (np.exp(2) + np.exp(1)), abs=1e-5)
    last = probabilities_of(targets[RELATION], 5)  # "a" under "b": [1, 0] + [0, 2]
    assert last[0] == pytest.approx(np.exp(1) / (np.exp(1) + np.exp(2)), abs=1e-5)


def test_a_teacher_that_knows_no_heads_teaches_no_relations_given_them() -> None:
    teacher = replace(ONE, as_dependent=None, as_head=None)
    assert sorted(soft_targets(teacher, CORPUS, HEADS, 4)) == ["deprel", "plane1"]


@pytest.mark.parametrize("batch_words", [1, 4, 100])
def test_heads_are_targets_of_teachers_that_know_arcs(batch_words: int) -> None:
    teacher = replace(ONE, in_arcs={"a": 1.0, "b": -1.0})
    targets = soft_targets(teacher, CORPUS, HEADS, batch_words)
    assert sorted(targets) == sorted([ARCS, "deprel", "plane1", RELATION])
    found = targets[ARCS]
    assert (found.labels.dtype, found.probabilities.dtype) == (np.int64, np.float32)
    assert (found.labels >= 0).all()  # where there are fewer heads, the root without a probability
    np.testing.assert_allclose(found.probabilities.sum(axis=1), 1, atol=1e-6)
    at = 0
    for words in (FORMS[:3], FORMS[3:4], FORMS[4:]):
        for row in np.exp(teacher.arcs_of(words)):
            dense = np.zeros(len(row))
            np.add.at(dense, found.labels[at], found.probabilities[at])
            np.testing.assert_allclose(dense, row, atol=1e-5)
            at += 1


def test_only_the_likeliest_labels_are_kept() -> None:
    many = {f"w{number}": {"plane1": np.linspace(0, 9, 20).tolist()} for number in range(3)}
    targets = soft_targets(FixedScorer(many), Corpus.of([list(many)]), np.zeros(3, dtype=np.int32), 100)
    assert sorted(targets["plane1"].labels[0].tolist()) == list(range(12, 20))
    np.testing.assert_allclose(targets["plane1"].probabilities.sum(axis=1), 1, atol=1e-6)
