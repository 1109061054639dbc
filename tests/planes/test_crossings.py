from __future__ import annotations

from itertools import combinations
from random import Random

import numpy as np
import pytest
from hypothesis import given

from biplanar.data.forest import Forest
from biplanar.data.tree import Tree
from biplanar.planes.crossings import (
    Arc,
    components,
    crossing_arcs,
    is_projective,
    is_two_planar,
    nonprojective,
    nonprojective_arcs,
    planes_needed_at_least,
)
from tests import reference
from tests.strategies import any_heads, any_projective_heads, many_rooted, random_heads, small_trees, tree_of

FIGURE_1 = (0, 1, 1, 2, 1, 3)
THREE_MUTUALLY_CROSSING = (0, 1, 1, 1, 2, 3)  # 1 -> 4, 2 -> 5 and 3 -> 6

# What may count as a crossing, and the reference's word for it.
KINDS = {
    (False, False): reference.crosses,
    (True, False): reference.crosses_in_direction,
    (False, True): reference.crosses_closed_late,
    (True, True): reference.crosses_in_full,
}


def by_sentence(values: np.ndarray, forest: Forest) -> list[list]:
    return [part.tolist() for part in np.split(values, forest.offsets[1:-1])]


def planes_needed_by_trying(heads: tuple[int, ...]) -> int:
    arcs = reference.arcs_of(heads)
    if not any(reference.crosses(*pair) for pair in combinations(arcs, 2)):
        return 1
    return 2 if reference.fits_in_two_planes(arcs) else max(3, reference.largest_crossing_set(arcs))


def test_an_arc_knows_its_ends():
    assert (Arc(5, 2).left, Arc(5, 2).right) == (2, 5)
    assert (Arc(2, 5).left, Arc(2, 5).right) == (2, 5)


class TestByHand:
    def test_figure_1(self):
        tree = tree_of(FIGURE_1)
        assert crossing_arcs(tree) == [Arc(1, 3), Arc(2, 4), Arc(1, 5), Arc(3, 6)]
        assert nonprojective_arcs(tree) == [Arc(2, 4), Arc(3, 6)]
        assert not is_projective(tree)
        assert is_two_planar(tree)
        assert planes_needed_at_least(tree) == 2

    def test_three_arcs_that_all_cross_need_three_planes(self):
        tree = tree_of(THREE_MUTUALLY_CROSSING)
        assert not is_two_planar(tree)
        assert planes_needed_at_least(tree) == 3

    def test_four_arcs_that_all_cross_need_four_planes(self):
        tree = tree_of((0, 1, 1, 1, 1, 2, 3, 4))
        assert planes_needed_at_least(tree) == 4

    def test_a_projective_tree_needs_one_plane(self):
        tree = tree_of((2, 0, 4, 2))
        assert is_projective(tree)
        assert is_two_planar(tree)
        assert crossing_arcs(tree) == nonprojective_arcs(tree) == []
        assert planes_needed_at_least(tree) == 1

    def test_one_word(self):
        tree = tree_of((0,))
        assert is_projective(tree)
        assert planes_needed_at_least(tree) == 1

    def test_arcs_of_the_root_cross_nothing_but_words_under_them_are_looked_at(self):
        tree = tree_of((2, 4, 0, 3))  # the root stands inside 4 -> 2, which 4 does not dominate
        assert crossing_arcs(tree) == []
        assert nonprojective_arcs(tree) == [Arc(4, 2)]
        assert not is_projective(tree)

    def test_arcs_that_share_an_end_do_not_cross(self):
        assert crossing_arcs(tree_of((0, 1, 1, 1))) == []
        assert crossing_arcs(tree_of((4, 4, 4, 0))) == []
        assert crossing_arcs(tree_of((0, 1, 2, 3))) == []


class TestNonprojectiveArcs:
    def test_every_small_tree_agrees_with_the_definition(self):
        forest = Forest.from_trees(small_trees())
        found = by_sentence(nonprojective(forest), forest)
        for tree, flags in zip(small_trees(), found, strict=True):
            assert [word for word, flag in enumerate(flags, 1) if flag] == reference.nonprojective_words(tree.heads), (
                tree
            )

    @given(any_heads(60))
    def test_random_trees_agree_with_the_definition(self, heads):
        tree = tree_of(heads)
        wanted = [Arc(heads[word - 1], word) for word in reference.nonprojective_words(heads)]
        assert nonprojective_arcs(tree) == wanted
        assert is_projective(tree) == (not wanted)

    @given(many_rooted())
    def test_trees_with_several_roots_agree_with_the_definition(self, tree):
        assert [arc.dependent for arc in nonprojective_arcs(tree)] == reference.nonprojective_words(tree.heads)

    @given(any_projective_heads(60))
    def test_projective_trees_have_none(self, heads):
        assert is_projective(tree_of(heads))
        assert crossing_arcs(tree_of(heads)) == []


class TestComponents:
    @pytest.mark.parametrize(("by_direction", "closers_first"), KINDS)
    def test_every_small_tree_agrees_with_all_pairs(self, by_direction, closers_first):
        check_components(list(small_trees()), by_direction, closers_first)

    @pytest.mark.parametrize(("by_direction", "closers_first"), KINDS)
    def test_random_trees_agree_with_all_pairs(self, by_direction, closers_first):
        random = Random(1)
        many = [tree_of(random_heads(random.randint(1, 60), random)) for _ in range(50)]
        check_components(many, by_direction, closers_first)

    @pytest.mark.parametrize(("by_direction", "closers_first"), KINDS)
    @given(heads=any_heads(25))
    def test_mildly_crossing_trees_agree_with_all_pairs(self, heads, by_direction, closers_first):
        check_components([tree_of(heads)], by_direction, closers_first)

    @given(any_heads(60))
    def test_crossing_arcs_are_those_that_have_neighbours(self, heads):
        neighbours = reference.crossings_graph(reference.arcs_of(heads))
        wanted = sorted(arc[2] for arc in neighbours if neighbours[arc])
        assert [arc.dependent for arc in crossing_arcs(tree_of(heads))] == wanted


def check_components(many: list[Tree], by_direction: bool, closers_first: bool) -> None:
    """The parts are those of the graph of all pairs, and the sides of each that is not odd are a way to draw it."""
    forest = Forest.from_trees(many)
    found = components(forest, by_direction=by_direction, closers_first=closers_first)
    columns = (by_sentence(values, forest) for values in (found.part, found.side, found.odd, found.crossed()))
    for tree, part, side, odd, crossed in zip(many, *columns, strict=True):
        neighbours = reference.crossings_graph(reference.arcs_of(tree.heads), KINDS[by_direction, closers_first])
        parts = reference.parts_of(neighbours)
        assert len({part[arc[2] - 1] for arc in neighbours}) == len(parts)
        for arcs in parts:
            words = [arc[2] - 1 for arc in arcs]
            assert len({part[word] for word in words}) == 1
            assert {odd[word] for word in words} == {not reference.is_bipartite(arcs, neighbours)}
            assert {crossed[word] for word in words} == {len(arcs) > 1}
        for arc, others in neighbours.items():
            if not odd[arc[2] - 1]:
                assert all(side[arc[2] - 1] != side[other[2] - 1] for other in others)


class TestPlanesNeeded:
    def test_every_small_tree_agrees_with_trying_all_planes(self):
        for tree in small_trees():
            needed = planes_needed_by_trying(tree.heads)
            assert planes_needed_at_least(tree) == needed, tree
            assert is_two_planar(tree) == (needed <= 2), tree

    @given(any_heads(9))
    def test_random_trees_agree_with_trying_all_planes(self, heads):
        assert planes_needed_at_least(tree_of(heads)) == planes_needed_by_trying(heads)
