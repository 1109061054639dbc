from __future__ import annotations

from random import Random
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biplanar.decoding import spanning
from biplanar.decoding.spanning import spanning_tree
from biplanar.errors import LabelError
from tests.reference import is_tree
from tests.strategies import all_trees, random_heads

FORBIDDEN = -np.inf


def totals(heads: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """The forbidden arcs and the sum of all other scores of each row of heads: (trees, 2)."""
    chosen = scores[np.arange(len(scores)), heads]  # (trees, words)
    allowed = chosen > FORBIDDEN
    return np.stack([(~allowed).sum(axis=1), np.where(allowed, chosen, 0).sum(axis=1)], axis=1)


def best_total(scores: np.ndarray) -> tuple[float, float]:
    """The best of all single-rooted trees: as few forbidden arcs as can be, and then the highest score."""
    forbidden, score = totals(np.array(all_trees(len(scores))), scores).T
    fewest = forbidden.min()
    return fewest, score[forbidden == fewest].max()


def check(scores: np.ndarray) -> list[int]:
    """The tree that is found, once it is known to be one, with one root, and as good as any."""
    heads = spanning_tree(scores)
    assert is_tree(heads.tolist())
    assert (heads == 0).sum() == 1
    (found,) = totals(heads[None], scores)
    wanted = best_total(scores)
    assert found[0] == wanted[0]
    assert found[1] == pytest.approx(wanted[1], rel=1e-12, abs=1e-12)
    return heads.tolist()


def planted(size: int, random: Random, *, tempting: float = 0.5) -> tuple[np.ndarray, float]:
    """Whole-number scores whose best trees are full of nested cycles, and the sum of a best tree's scores.

    The words, in some order, form nested sets, each with a price for every arc that enters it, and a tree grows along
    with the sets, so that one arc of it enters each. No tree can pay less than one price a set. Arcs of the tree pay
    nothing else, nor do they the other way round, nor do some of the others: which makes cycles of any subtree.
    """
    order = list(range(size))
    random.shuffle(order)
    place = np.empty(size + 1, dtype=np.int64)
    place[0] = size
    place[[word + 1 for word in order]] = range(size)
    price = np.array([random.randint(1, 9) for _ in range(size)])
    paid = np.concatenate([[0], np.cumsum(price)])  # (size + 1,)
    inner, outer = place[1:, None], place[None, :]  # of dependents and of heads
    cost = np.where(outer > inner, paid[outer] - paid[inner], 0)  # (words, 1 + words)
    generator = np.random.default_rng(random.randrange(1 << 32))
    extra = np.where(generator.random(cost.shape) < tempting, 0, generator.integers(1, 20, cost.shape))
    for at in range(1, size):
        one, other = order[at], order[random.randrange(at)]
        extra[one, other + 1] = extra[other, one + 1] = 0
    extra[random.randrange(size), 0] = 0
    own = generator.integers(-50, 50, (size, 1))
    return -(cost + extra + own).astype(np.float64), -float(price.sum() + own.sum())


class TestByHand:
    def test_a_cycle_pays_until_the_root_must_come_in(self):
        scores = np.array([[1.0, 0, 10, 0], [5.0, 10, 0, 0], [0.0, 3, 2, 0]])
        assert check(scores) == [2, 0, 1]

    def test_a_second_root_never_pays(self):
        scores = np.zeros((4, 5))
        scores[:, 0] = [1e6, 2e6, 3e6, 1e6]
        assert check(scores).index(0) == 2

    def test_one_word_and_none(self):
        assert check(np.array([[-5.0, 9.0]])) == [0]
        assert check(np.array([[FORBIDDEN, 9.0]])) == [0]
        assert spanning_tree(np.zeros((0, 1))).tolist() == []

    def test_small_differences_beside_large_scores(self):
        scores = np.zeros((3, 4))
        scores[:, 0] = 1e9
        scores[2, 2] = 1e-6
        assert check(scores)[2] == 2

    def test_no_tree_without_forbidden_arcs(self):
        assert check(np.full((4, 5), FORBIDDEN)).count(0) == 1
        scores = np.full((3, 4), FORBIDDEN)
        scores[0, 2] = scores[1, 1] = scores[2, 1] = 4.0  # a cycle of two, on which the third word hangs
        assert check(scores) in ([0, 1, 1], [2, 0, 1])

    def test_no_root_without_forbidden_arcs(self):
        scores = np.ones((3, 4))
        scores[:, 0] = FORBIDDEN
        scores[2, 1] = 5.0
        assert check(scores)[2] == 1

    def test_what_is_no_number(self):
        scores = np.array([[0, 0, np.nan], [0, np.inf, 0]])
        assert spanning_tree(scores).tolist() == [0, 1]
        assert check(np.where(np.isnan(scores), FORBIDDEN, np.minimum(scores, 1e300))) == [0, 1]
        for everywhere in (np.nan, np.inf, -1.7e308, 1.7e308):
            assert is_tree(spanning_tree(np.full((30, 31), everywhere)).tolist())

    def test_the_scores_stay_as_they_are(self):
        scores = np.random.default_rng(3).normal(size=(20, 21))
        scores[3, 4] = FORBIDDEN
        before = scores.copy()
        spanning_tree(scores)
        assert (scores == before).all()

    def test_any_memory_order(self):
        scores = np.random.default_rng(4).normal(size=(12, 13))
        wanted = spanning_tree(scores).tolist()
        assert spanning_tree(np.asfortranarray(scores)).tolist() == wanted
        assert spanning_tree(np.pad(scores, 2)[2:-2, 2:-2]).tolist() == wanted

    @pytest.mark.parametrize("shape", [(3, 3), (3, 5), (3,), (2, 3, 4)])
    def test_another_shape_is_refused(self, shape):
        with pytest.raises(LabelError, match=r"expected the scores of all heads of . words as \(., .\), found \("):
            spanning_tree(np.zeros(shape))


class TestAgainstAllTrees:
    @pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
    @pytest.mark.parametrize("kind", ["any", "ties", "forbidden", "mostly forbidden"])
    def test_random_scores(self, size, kind):
        generator = np.random.default_rng(size)
        for _ in range(300):
            scores = generator.normal(size=(size, size + 1))
            if kind != "any":
                scores = generator.integers(-2, 3, scores.shape).astype(np.float64)
            if "forbidden" in kind:
                scores[generator.random(scores.shape) < (0.3 if kind == "forbidden" else 0.8)] = FORBIDDEN
            check(scores)

    @given(st.data(), st.integers(1, 5))
    def test_chosen_scores(self, data, size):
        some = st.sampled_from([FORBIDDEN, -1e12, -3.5, -1.0, 0.0, 0.25, 1.0, 2.0, 7.0, 1e12])
        row = st.lists(some, min_size=size + 1, max_size=size + 1)
        check(np.array(data.draw(st.lists(row, min_size=size, max_size=size))))

    def test_five_words_with_nested_cycles(self):
        random = Random(5)
        for _ in range(300):
            scores, total = planted(5, random)
            check(scores)
            assert best_total(scores) == (0, total)


class TestLongSentences:
    @pytest.mark.parametrize("size", [6, 10, 40, 150])
    def test_nested_cycles(self, size):
        random = Random(size)
        for tempting in (0.0, 0.05, 0.5, 1.0):
            for _ in range(10):
                scores, total = planted(size, random, tempting=tempting)
                heads = spanning_tree(scores)
                assert is_tree(heads.tolist())
                assert (heads == 0).sum() == 1
                assert totals(heads[None], scores).tolist() == [[0, total]]

    def test_a_tree_that_stands_out_is_found(self):
        random = Random(6)
        generator = np.random.default_rng(6)
        for size in (6, 50, 300):
            wanted = random_heads(size, random)
            scores = generator.random((size, size + 1))
            scores[np.arange(size), wanted] += 1
            assert spanning_tree(scores).tolist() == list(wanted)

    def test_only_one_tree_is_allowed(self):
        for size in (6, 50, 300):
            wanted = random_heads(size, Random(size))
            scores = np.full((size, size + 1), FORBIDDEN)
            scores[np.arange(size), wanted] = np.random.default_rng(size).normal(size=size)
            assert spanning_tree(scores).tolist() == list(wanted)

    def test_equal_scores_give_the_same_tree_each_time(self):
        assert spanning_tree(np.zeros((50, 51))).tolist() == spanning_tree(np.zeros((50, 51))).tolist()

    @pytest.mark.parametrize("kind", ["any", "equal", "nested", "forbidden"])
    def test_two_thousand_words(self, kind):
        size = 2000
        scores = np.random.default_rng(7).normal(size=(size, size + 1))
        if kind == "equal":
            scores[:] = 0
        elif kind == "nested":
            scores, total = planted(size, Random(7))
        elif kind == "forbidden":
            scores[np.random.default_rng(8).random(scores.shape) < 0.9995] = FORBIDDEN
        heads = spanning_tree(scores)
        assert is_tree(heads.tolist())
        assert (heads == 0).sum() == 1
        if kind == "nested":
            assert totals(heads[None], scores).tolist() == [[0, total]]

    def test_as_many_rows_are_looked_through_as_there_are_words_and_cycles(self):
        """Each row once for its best head, and once more where it is contracted: so the work is quadratic."""
        size = 200
        scores, total = planted(size, Random(7))
        penalties = np.zeros(scores.shape, dtype=np.int32)
        penalties[:, 0] = size + 1
        with (
            mock.patch.object(spanning, "_best_head", wraps=spanning._best_head) as looked,
            mock.patch.object(spanning, "_contract", wraps=spanning._contract) as contracted,
        ):
            heads = spanning._spanning_tree.py_func(penalties, scores.copy())
        assert totals(heads[None], scores).tolist() == [[0, total]]
        cycles = [len(call.args[0]) for call in contracted.call_args_list]
        assert len(cycles) > 10
        assert looked.call_count == size + len(cycles)
        assert sum(cycles) < 2 * size
