"""The search over labels and arcs: what arcs change, where they alone decide, and where nothing is searched."""

from __future__ import annotations

from dataclasses import astuple

import numpy as np
import pytest

from biplanar.data.forest import offsets_of
from biplanar.decoding import stack_search
from biplanar.decoding.beam import Beam, Outcome
from biplanar.decoding.inventory import Weights
from biplanar.decoding.scores import LikelyHeads, Scores
from tests.decoding.arc_tables import likeliest, random_table, sure_table
from tests.decoding.enumeration import EVERY_LABEL, LABEL_SETS, Planes, near_certain, prepared, random_tables, searching
from tests.reference import is_tree
from tests.strategies import all_trees

ONE_PLANE = LABEL_SETS["one plane"]
LABELS, HEADS = [("_",), ("<\\",), ("/>",)], [2, 0, 2]
OTHER_HEADS = [2, 3, 0]


def with_arcs(scores: Scores, *heads: list[int], sure: float = 8.0) -> Scores:
    return Scores(scores.offsets, scores.labels, arcs=likeliest([sure_table(one, sure) for one in heads]))


def noise(planes: Planes, lengths: list[int], seed: int, *, depths: bool = True) -> Scores:
    rng = np.random.default_rng(seed)
    tables = random_tables(rng, sum(lengths), planes, depths=depths)
    return Scores(offsets_of(lengths), tables, arcs=likeliest([random_table(rng, words) for words in lengths]))


def some_of(scores: Scores, sentence: int) -> Scores:
    own = slice(*scores.offsets[sentence : sentence + 2])
    found = scores.arcs.likeliest()
    arcs = LikelyHeads(found.heads[own], found.logs[own])
    return Scores(offsets_of([own.stop - own.start]), {task: t[own] for task, t in scores.labels.items()}, arcs=arcs)


class TestLabelsAndArcs:
    SURE = near_certain(LABELS, ONE_PLANE, ["dep", "root", "dep"])

    def test_where_they_agree_nothing_is_searched(self):
        found = searching(ONE_PLANE)(with_arcs(self.SURE, HEADS)).search()
        assert found.outcome == Outcome(argmax=1)
        assert found.heads.tolist() == HEADS

    def test_where_they_differ_all_is_weighed(self):
        for weight, wanted in ((0.5, HEADS), (3.0, OTHER_HEADS)):
            search = searching(ONE_PLANE, Beam(rarest=0.0), mass=EVERY_LABEL, weights=Weights(arcs=weight))
            found = search(with_arcs(self.SURE, OTHER_HEADS, sure=10.0)).search()
            assert found.outcome == Outcome(best=1)
            assert found.heads.tolist() == wanted

    def test_without_a_weight_arcs_are_not_even_asked_for(self):
        class Silent:
            def likeliest(self) -> LikelyHeads:
                pytest.fail("asked for arcs")

        scores = Scores(self.SURE.offsets, self.SURE.labels, arcs=Silent())
        trees = searching(ONE_PLANE, weights=Weights(arcs=0.0))(scores)
        heads, outcome = trees.best()
        assert (heads.tolist(), outcome) == (HEADS, Outcome(argmax=1))
        assert trees.probabilities(heads).min() > 0.9
        assert trees.several(1)[0][0][0].tolist() == HEADS

    def test_only_sentences_that_differ_are_searched(self):
        tables = {task: np.concatenate([table] * 3) for task, table in self.SURE.labels.items()}
        scores = with_arcs(Scores(offsets_of([3, 3, 3]), tables), HEADS, OTHER_HEADS, HEADS, sure=1.0)
        found = searching(ONE_PLANE)(scores).search()
        assert found.outcome == Outcome(argmax=2, best=1)
        assert found.heads.tolist() == HEADS * 3

    @pytest.mark.parametrize("weight", [0.25, 1.0, 3.0])
    def test_any_weight(self, weight):
        for name in ("one plane", "few labels in two planes"):
            made = prepared(name, 5, True, 3, arcs=True, arc_weight=weight)
            ((heads, score),) = made.search(made.scores).several(1)[0]
            assert tuple(heads.tolist()) == made.sequences[0].heads
            assert score == pytest.approx(made.sequences[0].score, abs=1e-3)


CYCLE, CYCLIC_HEADS = [("_",), ("<\\",), ("_",), ("</\\>",), ("/>",)], [2, 0, 4, 3, 4]


class TestCycles:
    """Labels and arcs agree on heads of which two are each other's."""

    SCORES = with_arcs(near_certain(CYCLE, ONE_PLANE, ["dep", "root", "dep", "dep", "dep"]), CYCLIC_HEADS)

    def test_a_later_sequence_has_none(self):
        found = searching(ONE_PLANE, Beam(margin=np.inf, rarest=0.0), mass=EVERY_LABEL)(self.SCORES).search()
        assert found.outcome == Outcome(next_best=1)
        assert is_tree(found.heads.tolist())

    def test_if_none_is_found_the_arcs_alone_have_none(self):
        search = searching(ONE_PLANE, Beam(nodes=1))
        found = search(self.SCORES).search()
        assert found.outcome == Outcome(lost=1)
        assert not found.heads.any()
        assert found.lost.tolist() == [0]
        heads, _ = search(self.SCORES).best()
        assert is_tree(heads.tolist())
        assert (heads == CYCLIC_HEADS).sum() == 4

    def test_counts_are_plain_numbers(self):
        outcome = searching(ONE_PLANE, Beam(nodes=1))(self.SCORES).search().outcome
        assert {type(count) for count in astuple(outcome)} == {int}


class TestLost:
    """No label closes an arc, so no sequence is a tree."""

    PLANES = (("/", "<"),)

    def scores(self, *tables: np.ndarray) -> Scores:
        words = sum(map(len, tables))
        labels = {task: np.zeros((words, 2), np.float32) for task in ("plane1", "deprel")}
        return Scores(offsets_of(list(map(len, tables))), labels, arcs=likeliest(tables))

    def test_the_best_tree_of_the_arcs_alone(self):
        rng = np.random.default_rng(4)
        tables = [random_table(rng, words) for words in (1, 2, 3, 4, 5, 5, 5)]
        heads, outcome = searching(self.PLANES)(self.scores(*tables)).best()
        assert outcome == Outcome(lost=7, widened=7)
        wanted = []
        for table in tables:
            words = np.arange(len(table))
            wanted += max(all_trees(len(table)), key=lambda one: table[words, one].sum())
        assert heads.tolist() == wanted

    def test_no_labels_no_likelihoods(self):
        trees = searching(self.PLANES)(self.scores(sure_table(HEADS)))
        assert trees.several(3) == [[]]
        assert np.isnan(trees.probabilities(np.array(HEADS, dtype=np.int32))).all()
        assert trees.least_risk()[0].tolist() == HEADS

    def test_long_sentences_are_repaired(self, monkeypatch):
        monkeypatch.setattr(stack_search, "LONGEST_TABLE", 2)
        scores = self.scores(sure_table(HEADS), sure_table([0, 1]))
        heads, _ = searching(self.PLANES)(scores).best()
        alone = Scores(scores.offsets, scores.labels)
        repaired, _ = searching(self.PLANES)(alone).best()
        assert heads.tolist() == [*repaired.tolist()[:3], 0, 1]
        assert heads.tolist()[:3] != HEADS

    def test_heads_beyond_the_likeliest_are_as_unlikely_as_can_be_but_allowed(self):
        """All want the first word as their head, and so does the first: any tree needs one root."""
        table = sure_table([2, 1, 1, 1], 30.0)
        found = likeliest([table])
        first = LikelyHeads(
            np.where(np.arange(8) > 0, -1, found.heads), np.where(np.arange(8) > 0, -np.inf, found.logs)
        )
        scores = self.scores(table)
        heads, _ = searching(self.PLANES)(Scores(scores.offsets, scores.labels, arcs=first)).best()
        assert is_tree(heads.tolist())
        assert (heads == np.array([2, 1, 1, 1])).sum() == 3


LENGTHS = [1, 2, 3, 5, 8, 13, 21, 34, 1, 4, 6, 9, 30, 2]


@pytest.mark.parametrize("name", list(LABEL_SETS))
@pytest.mark.parametrize("beam", [Beam(), Beam(states=2, wider=2, nodes=50)], ids=["default", "narrow"])
def test_any_scores_give_trees_with_one_root(name: str, beam: Beam) -> None:
    for seed in range(4):
        scores = noise(LABEL_SETS[name], LENGTHS * 3, seed)
        trees = searching(LABEL_SETS[name], beam)(scores)
        best, outcome = trees.best()
        voted, _ = trees.least_risk()
        assert outcome.sentences == len(LENGTHS) * 3
        for start, end in zip(scores.offsets, scores.offsets[1:], strict=False):
            for heads in (best[start:end].tolist(), voted[start:end].tolist()):
                assert heads.count(0) == 1
                assert is_tree(heads)


@pytest.mark.parametrize("name", ["one plane", "many closers"])
def test_sentences_are_as_they_are_alone(name: str) -> None:
    scores = noise(LABEL_SETS[name], LENGTHS, 7)
    search = searching(LABEL_SETS[name])
    together = search(scores)
    best, outcome = together.best()
    voted, _ = together.least_risk()
    likely, several, total = together.probabilities(best), together.several(3), Outcome()
    for sentence, (start, end) in enumerate(zip(scores.offsets, scores.offsets[1:], strict=False)):
        alone = search(some_of(scores, sentence))
        heads, ended = alone.best()
        total += ended
        assert heads.tolist() == best[start:end].tolist()
        assert alone.least_risk()[0].tolist() == voted[start:end].tolist()
        np.testing.assert_array_equal(alone.probabilities(heads), likely[start:end])
        for (tree, score), (wanted, wanted_score) in zip(alone.several(3)[0], several[sentence], strict=True):
            assert tree.tolist() == wanted.tolist()
            assert score == pytest.approx(wanted_score, abs=1e-4)
    assert total == outcome
    assert total.lost < total.sentences


def test_no_words_and_no_sentences() -> None:
    for lengths in ([0], []):
        trees = searching(ONE_PLANE)(noise(ONE_PLANE, lengths, 0))
        heads, outcome = trees.best()
        assert (heads.tolist(), outcome.sentences) == ([], len(lengths))
        assert trees.probabilities(heads).tolist() == trees.least_risk()[0].tolist() == []
