from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given

from biplanar.data.forest import Forest
from biplanar.data.tree import Tree
from biplanar.planes.crossings import components, crossing_words, is_projective, nonprojective
from tests import reference
from tests.strategies import any_heads, any_projective_heads, many_rooted, random_heads, small_trees, tree_of

FIGURE_1 = (0, 1, 1, 2, 1, 3)

# What may count as a crossing, and the reference's word for it.
KINDS = {
    (False, False): reference.crosses,
    (True, False): reference.crosses_in_direction,
    (False, True): reference.crosses_closed_late,
    (True, True): reference.crosses_in_full,
}


def by_sentence(values: np.ndarray, forest: Forest) -> list[list]:
    return [part.tolist() for part in np.split(values, forest.offsets[1:-1])]


def nonprojective_words(tree: Tree) -> list[int]:
    return [word for word, flag in enumerate(nonprojective(Forest.from_trees([tree])), 1) if flag]


class TestByHand:
    def test_figure_1(self):
        tree = tree_of(FIGURE_1)
        assert crossing_words(tree) == [3, 4, 5, 6]
        assert nonprojective_words(tree) == [4, 6]
        assert not is_projective(tree)

    def test_no_arcs_of_a_projective_tree_cross(self):
        tree = tree_of((2, 0, 4, 2))
        assert is_projective(tree)
        assert crossing_words(tree) == nonprojective_words(tree) == []

    def test_one_word(self):
        assert is_projective(tree_of((0,)))

    def test_arcs_of_the_root_cross_nothing_but_words_under_them_are_looked_at(self):
        tree = tree_of((2, 4, 0, 3))  # the root stands inside 4 -> 2, which 4 does not dominate
        assert crossing_words(tree) == []
        assert nonprojective_words(tree) == [2]
        assert not is_projective(tree)

    def test_arcs_that_share_an_end_do_not_cross(self):
        assert crossing_words(tree_of((0, 1, 1, 1))) == []
        assert crossing_words(tree_of((4, 4, 4, 0))) == []
        assert crossing_words(tree_of((0, 1, 2, 3))) == []


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
        wanted = reference.nonprojective_words(heads)
        assert nonprojective_words(tree) == wanted
        assert is_projective(tree) == (not wanted)

    @given(many_rooted())
    def test_trees_with_several_roots_agree_with_the_definition(self, tree):
        assert nonprojective_words(tree) == reference.nonprojective_words(tree.heads)

    @given(any_projective_heads(60))
    def test_projective_trees_have_none(self, heads):
        assert is_projective(tree_of(heads))
        assert crossing_words(tree_of(heads)) == []


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
        assert crossing_words(tree_of(heads)) == wanted


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
