from __future__ import annotations

from collections.abc import Iterator
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings

from biplanar.data.forest import Forest
from biplanar.data.tree import Tree
from biplanar.errors import UnknownNameError
from biplanar.planes.assignment import STRATEGIES, assign_planes, planes_of
from tests import reference
from tests.strategies import any_heads, any_projective_heads, projective_heads, random_heads, small_trees, tree_of

every_strategy = pytest.mark.parametrize("strategy", reference.TWO_PLANES)

FIGURE_1 = (0, 1, 1, 2, 1, 3)
THREE_MUTUALLY_CROSSING = (0, 1, 1, 1, 2, 3)  # 1 -> 4, 2 -> 5 and 3 -> 6


def small_trees_with_planes(strategy: str) -> Iterator[tuple[Tree, list[int]]]:
    forest = Forest.from_trees(small_trees())
    planes = np.split(assign_planes(forest, STRATEGIES[strategy]), forest.offsets[1:-1])
    return zip(small_trees(), (row.tolist() for row in planes), strict=True)


def test_the_reference_knows_every_strategy():
    assert set(STRATEGIES) == set(reference.TWO_PLANES)


def test_an_unknown_strategy_is_refused_with_the_nearest_name():
    with pytest.raises(UnknownNameError, match="unknown strategy '2p-gredy'; did you mean '2p-greedy'"):
        planes_of(tree_of(FIGURE_1), "2p-gredy")


class TestByHand:
    @pytest.mark.parametrize(
        ("strategy", "planes"),
        [
            ("2p-greedy", (0, 1, 1, 2, 1, 0)),
            ("2p-prop", (0, 1, 1, 2, 2, 1)),
            ("2p-greedy-switch", (0, 1, 1, 2, 2, 1)),
            ("2p-prop-switch", (0, 1, 1, 2, 2, 1)),
            ("2p-full", (0, 1, 1, 1, 1, 2)),
        ],
    )
    def test_figure_1(self, strategy, planes):
        assert planes_of(tree_of(FIGURE_1), strategy) == planes

    @pytest.mark.parametrize(
        ("strategy", "planes"),
        [
            # Visited: 1 -> 2, 1 -> 3, 1 -> 4, 2 -> 5 (crosses the two before it), 3 -> 6 (crosses the two before it).
            ("2p-greedy", (0, 1, 1, 1, 2, 0)),
            ("2p-prop", (0, 1, 1, 0, 0, 0)),  # the part is odd: its first arc has a plane, all others have none
            ("2p-full", (0, 1, 1, 1, 2, 1)),  # 3 -> 6 begins at the word before the one where 1 -> 4 ends
        ],
    )
    def test_three_arcs_that_all_cross(self, strategy, planes):
        assert planes_of(tree_of(THREE_MUTUALLY_CROSSING), strategy) == planes

    @pytest.mark.parametrize(
        ("strategy", "planes"),
        [("2p-greedy", (0, 1, 1, 2, 1)), ("2p-greedy-switch", (0, 1, 1, 2, 2))],
    )
    def test_switch_averse_stays_in_the_plane_used_last(self, strategy, planes):
        assert planes_of(tree_of((0, 1, 1, 2, 4)), strategy) == planes

    def test_crossing_arcs_of_different_directions_need_one_plane_only(self):
        heads = (3, 0, 2, 2)  # 3 -> 1 and 2 -> 4
        assert planes_of(tree_of(heads), "2p-greedy") == (1, 0, 1, 2)
        assert planes_of(tree_of(heads), "2p-full") == (1, 0, 1, 1)


class TestAgainstTheReference:
    @every_strategy
    def test_every_small_tree(self, strategy):
        for tree, planes in small_trees_with_planes(strategy):
            assert planes == reference.planes_of(tree.heads, strategy), tree

    @every_strategy
    @given(heads=any_heads(60))
    def test_random_trees(self, heads, strategy):
        assert list(planes_of(tree_of(heads), strategy)) == reference.planes_of(heads, strategy)

    @every_strategy
    def test_trees_are_given_planes_one_by_one(self, strategy):
        random = Random(2)
        many = [random_heads(random.randint(1, 30), random) for _ in range(100)]
        at_once = assign_planes(Forest.from_trees([tree_of(heads) for heads in many]), STRATEGIES[strategy]).tolist()
        assert at_once == [plane for heads in many for plane in planes_of(tree_of(heads), strategy)]


class TestCoverage:
    @every_strategy
    @given(heads=any_heads(40))
    def test_arcs_of_one_plane_do_not_conflict(self, heads, strategy):
        planes = planes_of(tree_of(heads), strategy)
        conflict = reference.crosses_in_full if strategy == "2p-full" else reference.crosses
        for plane in (1, 2):
            arcs = [arc for arc in reference.arcs_of(heads) if planes[arc[2] - 1] == plane]
            assert not any(reference.crossings_graph(arcs, conflict).values())

    @pytest.mark.parametrize("strategy", ["2p-prop", "2p-prop-switch"])
    def test_propagation_covers_just_the_trees_that_fit_in_two_planes(self, strategy):
        for tree, planes in small_trees_with_planes(strategy):
            assert (planes.count(0) == 1) == reference.fits_in_two_planes(reference.arcs_of(tree.heads)), tree

    def test_full_covers_just_the_trees_whose_conflicts_fit_in_two_planes(self):
        for tree, planes in small_trees_with_planes("2p-full"):
            arcs = reference.arcs_of(tree.heads)
            assert (planes.count(0) == 1) == reference.fits_in_two_planes(arcs, reference.crosses_in_full), tree

    @given(any_heads(40))
    def test_propagation_keeps_one_arc_of_each_part_that_does_not_fit(self, heads):
        planes = planes_of(tree_of(heads), "2p-prop")
        neighbours = reference.crossings_graph(reference.arcs_of(heads))
        for part in reference.parts_of(neighbours):
            covered = sum(planes[arc[2] - 1] > 0 for arc in part)
            assert covered == (len(part) if reference.is_bipartite(part, neighbours) else 1)

    @given(any_heads(40))
    def test_full_never_covers_less_than_propagation(self, heads):
        tree = tree_of(heads)
        assert planes_of(tree, "2p-full").count(0) <= planes_of(tree, "2p-prop").count(0)

    @every_strategy
    @given(heads=any_projective_heads())
    def test_projective_trees_need_the_first_plane_only(self, heads, strategy):
        assert planes_of(tree_of(heads), strategy) == tuple(int(head > 0) for head in heads)


class TestLongSentences:
    @every_strategy
    @pytest.mark.parametrize(
        "heads",
        [
            pytest.param(random_heads(10_000, Random(3)), id="10,000 words, arcs crossing freely"),
            pytest.param(projective_heads(100_000, Random(4)), id="100,000 words, projective"),
            pytest.param(tuple(range(20_000)), id="20,000 words, a chain"),
            pytest.param((0, *[1] * 9_999, *range(2, 10_001)), id="20,000 words, half of them crossing all others"),
        ],
    )
    def test_long_sentences(self, heads, strategy):
        tree = tree_of(heads)
        planes = planes_of(tree, strategy)
        assert len(planes) == len(heads)

    @every_strategy
    def test_many_dependents_of_one_word(self, strategy):
        tree = tree_of((0, *[1] * 49_999))
        planes = planes_of(tree, strategy)
        assert planes == (0, *[1] * 49_999)

    @every_strategy
    @settings(max_examples=5)
    @given(heads=any_heads(300))
    def test_longer_trees_agree_with_the_reference(self, heads, strategy):
        assert list(planes_of(tree_of(heads), strategy)) == reference.planes_of(heads, strategy)
