"""The encodings since 2020: every small tree, random longer ones, and any labels."""

from __future__ import annotations

from itertools import product
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biplanar.data.forest import Column, Forest
from biplanar.data.tree import Tree
from biplanar.decoding.labels import decode, encode
from biplanar.decoding.lattice.automaton import accepted
from biplanar.decoding.lattice.trees import forms_tree
from biplanar.encodings import ENCODINGS, PROJECTIVE, get_encoding
from biplanar.encodings.encoding import AUTOMATON
from biplanar.errors import TreeError
from tests.encodings.forests import come_back, every_projective_tree, every_tree, projective_sentences
from tests.reference import is_tree
from tests.strategies import MALFORMED, any_heads, any_projective_heads, projective_heads, tree_of

NEW = [name for name, encoding in ENCODINGS.items() if encoding.kind == AUTOMATON]
ALL_TREES = ("hierarchical", "covington")
FIGURE_1 = tree_of((0, 1, 1, 2, 1, 3))
every_new = pytest.mark.parametrize("name", NEW)


def back(name: str, forest: Forest) -> np.ndarray:
    encoding = get_encoding(name)
    return come_back(forest, encoding.decode(encoding.encode(forest), forest.offsets))


def test_there_are_as_many_projective_trees_as_there_should_be() -> None:
    counts = [len(every_projective_tree(words)) for words in range(1, 8)]
    assert counts == [1, 2, 7, 30, 143, 728, 3876]
    assert projective_sentences(every_projective_tree(7)).all()
    assert projective_sentences(every_tree(5)).sum() == 143


class TestEverySmallTree:
    @every_new
    @pytest.mark.parametrize("words", range(1, 8))
    def test_projective_ones_come_back(self, name, words):
        assert back(name, every_projective_tree(words)).all()

    @pytest.mark.parametrize("name", ALL_TREES)
    @pytest.mark.parametrize("words", range(1, 7))
    def test_crossing_ones_too(self, name, words):
        assert back(name, every_tree(words)).all()

    @pytest.mark.parametrize(("name", "wanted"), [("7-bit", 6315), ("7-bit-full", 7511)])
    def test_how_many_fit_in_two_planes(self, name, wanted):
        forest = every_tree(6)
        covered = np.logical_and.reduceat(get_encoding(name).planes(forest) > 0, forest.offsets[:-1])
        assert covered.sum() == wanted
        assert back(name, forest)[covered].all()

    @pytest.mark.parametrize("name", PROJECTIVE)
    def test_arcs_of_the_others_are_lifted(self, name):
        assert (back(name, every_tree(6)) == projective_sentences(every_tree(6))).all()

    @pytest.mark.parametrize(("name", "labels"), [("4-bit", 16), ("hierarchical", 12), ("hexatags", 8)])
    def test_how_many_labels_projective_ones_need(self, name, labels):
        (column,) = get_encoding(name).encode(every_projective_tree(7))
        assert len(column.names) == labels


class TestLongerTrees:
    @pytest.mark.parametrize("name", NEW)
    @settings(max_examples=30)
    @given(heads=any_projective_heads(80))
    def test_projective_ones_come_back(self, name, heads):
        tree = tree_of(heads)
        assert decode(encode(tree, name), name) == tree

    @pytest.mark.parametrize("name", ALL_TREES)
    @settings(max_examples=30)
    @given(heads=any_heads(40))
    def test_crossing_ones_too(self, name, heads):
        tree = tree_of(heads)
        assert decode(encode(tree, name), name) == tree

    @pytest.mark.parametrize("name", ["7-bit", "7-bit-full"])
    @settings(max_examples=30)
    @given(heads=any_heads(40))
    def test_those_whose_arcs_have_planes_too(self, name, heads):
        tree = tree_of(heads)
        if get_encoding(name).planes(Forest.from_trees([tree])).all():
            assert decode(encode(tree, name), name) == tree

    @pytest.mark.parametrize("name", NEW)
    def test_a_very_long_one_does(self, name):
        tree = tree_of(projective_heads(2000, Random(1)))
        assert decode(encode(tree, name), name) == tree


class TestLabels:
    def test_of_the_papers_figure(self):
        """Each label of `covington` is about the next word."""
        assert [row[0] for row in encode(FIGURE_1, "covington")] == ["R", "NR", "NR", "NNNR", "NNR", "_"]

    @pytest.mark.parametrize(
        ("name", "labels"),
        [
            ("4-bit", "0100 1111 0100 1110"),
            ("hierarchical", "< >^/^ < >^"),
            ("hexatags", "llR rlL lrR rlL"),
            ("arc-standard", "_ L _ LRR"),
            ("arc-hybrid", "L _ L RR"),
            ("arc-eager", "SL R SL R"),
            ("covington", "L _ LR _"),
        ],
    )
    def test_of_a_projective_tree(self, name, labels):
        assert [row[0] for row in encode(Tree((2, 0, 4, 2), tuple("abcd")), name)] == labels.split()

    @every_new
    def test_several_roots_are_refused(self, name):
        with pytest.raises(TreeError, match=f"^{name} needs trees with one root.*2"):
            encode(Tree((0, 0), ("root", "root")), name)


class TestAnyLabels:
    @every_new
    @given(data=st.data())
    def test_give_trees(self, name, data):
        (column,) = get_encoding(name).encode(every_tree(4))
        label = st.one_of(
            st.sampled_from(column.names), st.sampled_from([*MALFORMED, ">^9\\^1<3", "RRRLLLDDD", "1111"])
        )
        rows = data.draw(st.lists(st.tuples(label, st.sampled_from(["root", "x"])), min_size=1, max_size=9))
        for decoder in ("greedy", "paper"):
            assert is_tree(decode(rows, name, decoder=decoder).heads)


class TestAutomata:
    """What the search takes for a tree."""

    @every_new
    @pytest.mark.parametrize("words", range(1, 7))
    def test_labels_of_trees_are_accepted(self, name, words):
        """But for those with long indices, and those whose arcs got no plane."""
        encoding, forest = get_encoding(name), every_tree(words)
        (column,) = encoding.encode(forest)
        found = accepted(column.ids, forest.offsets, encoding.automaton(column.names))
        if name.startswith("7-bit"):
            found = found[np.logical_and.reduceat(encoding.planes(forest) > 0, forest.offsets[:-1])]
        assert found.mean() > (0.99 if name == "hierarchical" and words == 6 else 0.999999)

    @every_new
    @pytest.mark.parametrize("words", range(1, 5))
    def test_what_is_accepted_gives_each_word_one_head(self, name, words):
        """Of all label sequences; and no cycles where trees are projective, for which those sequences are all."""
        encoding, projective = get_encoding(name), name in PROJECTIVE
        (column,) = encoding.encode(every_tree(words))
        if len(column.names) ** words > 100_000:
            column = encoding.encode(every_projective_tree(words))[0]
        ids = np.array(list(product(range(len(column.names)), repeat=words)), dtype=np.int32)
        offsets = np.arange(len(ids) + 1, dtype=np.int64) * words
        found = accepted(ids.reshape(-1), offsets, encoding.automaton(column.names))
        heads = encoding.decode([Column(ids.reshape(-1), column.names)], offsets).reshape(-1, words)[found]
        assert ((heads <= 0).sum(axis=1) == 1).all()
        if projective:
            assert all(map(forms_tree, heads))
            assert len(np.unique(heads, axis=0)) == len(every_projective_tree(words))
