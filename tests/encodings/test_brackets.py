from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings

from biplanar.data.forest import Column, Forest, offsets_of
from biplanar.decoding.labels import encode, encode_all
from biplanar.encodings import ENCODINGS
from biplanar.errors import TreeError
from tests import reference
from tests.strategies import (
    any_heads,
    label_rows,
    many_rooted,
    projective_heads,
    random_heads,
    small_trees,
    tree_of,
)

every_encoding = pytest.mark.parametrize("name", reference.STRATEGIES)

FIGURE_1 = (0, 1, 1, 2, 1, 3)


def labels_of(heads: tuple[int, ...], name: str) -> list[tuple[str, ...]]:
    return [row[:-1] for row in encode(tree_of(heads), name)]


def asserted(rows: list[tuple[str, ...]], name: str) -> list[int]:
    """The heads before any repair, -1 for none."""
    columns = [Column.of(row[task] for row in rows) for task in range(len(ENCODINGS[name].tasks))]
    return ENCODINGS[name].decode(columns, offsets_of([len(rows)])).tolist()


class TestByHand:
    @pytest.mark.parametrize(
        ("name", "planes"),
        [
            ("1p-brackets", [("_", "///>", "/>", "/>", ">", ">")]),
            ("2p-greedy", [("_", "///>", ">", "_", ">", "_"), ("_", "_", "/", ">", "_", "_")]),
            ("2p-prop", [("_", "//>", ">", "/", "_", ">"), ("_", "/", "/", ">", ">", "_")]),
            # Not in the paper: 1 -> 3 and 2 -> 4 are closed before 2 -> 4 and 3 -> 6 are opened.
            ("2p-full", [("_", "///>", ">/", ">", ">", "_"), ("_", "_", "_", "/", "_", ">")]),
        ],
    )
    def test_figure_1(self, name, planes):
        assert labels_of(FIGURE_1, name) == list(zip(*planes, strict=True))

    @pytest.mark.parametrize(
        ("name", "wanted"),
        [
            ("1p-brackets", [-1, 1, 2, 3, 1, 1]),  # crossing arcs of one direction come back as others
            ("2p-greedy", [-1, 1, 1, 2, 1, -1]),
            ("2p-prop", [-1, 1, 1, 2, 1, 3]),
            ("2p-full", [-1, 1, 1, 2, 1, 3]),
        ],
    )
    def test_figure_1_comes_back(self, name, wanted):
        assert asserted(labels_of(FIGURE_1, name), name) == wanted

    def test_left_arcs(self):
        assert labels_of((3, 3, 0), "1p-brackets") == [("_",), ("<",), ("<\\\\",)]

    def test_right_arcs(self):
        assert labels_of((0, 1, 1), "1p-brackets") == [("_",), ("//>",), (">",)]

    def test_all_four_brackets_in_their_order(self):
        heads = (3, 4, 2, 0, 3)  # 3 -> 1, 4 -> 2, 2 -> 3 and 3 -> 5
        assert labels_of(heads, "1p-brackets") == [("_",), ("<",), ("</\\>",), ("/\\",), (">",)]

    def test_closers_with_a_partner_further_away_come_first(self):
        heads = (3, 4, 2, 0, 3)
        assert labels_of(heads, "2p-full") == [("_", "_"), ("<", "_"), ("\\</>", "_"), ("\\/", "_"), (">", "_")]
        assert asserted(labels_of(heads, "2p-full"), "2p-full") == [3, 4, 2, -1, 3]

    @every_encoding
    def test_one_word_has_an_empty_label(self, name):
        assert set(labels_of((0,), name)[0]) == {"_"}

    @pytest.mark.parametrize(
        ("labels", "wanted"),
        [
            ([">", "\\", "/<"], [-1, -1, -1]),  # nothing to match
            (["<", "\\", "_"], [-1, -1, -1]),  # `<` on the first word has no dependent before it
            (["<", "<", "\\\\\\"], [3, -1, -1]),
            (["/", ">", "_"], [-1, 0, -1]),  # `/` on the first word is the dummy root's
            (["_", "/<", ">\\"], [3, -1, 1]),
            (["_", "//", ">>"], [-1, -1, 1]),
            (["_", "/", "/>>"], [-1, -1, 1]),  # a later arc of a word replaces an earlier one
            (["_", "</>\\", "_"], [2, 1, -1]),
        ],
    )
    def test_unbalanced_labels(self, labels, wanted):
        assert asserted([(label,) for label in labels], "1p-brackets") == wanted
        assert asserted([(label, "_") for label in labels], "2p-prop") == wanted
        assert asserted([("_", label) for label in labels], "2p-prop") == wanted

    def test_planes_are_read_word_by_word_and_the_later_arc_stays(self):
        assert asserted([("_", "_"), ("/", "<"), (">", "\\")], "2p-prop") == [3, -1, 1]
        assert asserted([("_", "_"), ("/>", "_"), ("_", "/"), ("_", ">")], "2p-prop") == [-1, 1, -1, 2]
        assert asserted([("_", "_"), ("/", "/"), ("_", "/"), (">", ">")], "2p-prop") == [-1, -1, -1, 2]
        assert asserted([("_", "_"), ("_", "_"), ("<", "<"), ("\\", "_"), ("_", "\\")], "2p-prop") == [
            -1,
            5,
            -1,
            -1,
            -1,
        ]


class TestRoundTrip:
    """What got a plane comes back; what got none asserts nothing."""

    @pytest.mark.parametrize("name", reference.TWO_PLANES)
    def test_every_small_tree(self, name):
        forest = Forest.from_trees(small_trees())
        encoding = ENCODINGS[name]
        decoded = encoding.decode(encoding.encode(forest), forest.offsets)
        assert (decoded == np.where(encoding.planes(forest) > 0, forest.heads, -1)).all()

    @pytest.mark.parametrize("name", reference.TWO_PLANES)
    @given(heads=any_heads(60))
    def test_random_trees(self, heads, name):
        forest = Forest.from_trees([tree_of(heads)])
        encoding = ENCODINGS[name]
        decoded = encoding.decode(encoding.encode(forest), forest.offsets)
        assert (decoded == np.where(encoding.planes(forest) > 0, forest.heads, -1)).all()

    @given(any_heads(60))
    def test_one_plane_gives_back_what_crosses_no_arc_of_the_same_direction(self, heads):
        decoded = asserted(labels_of(heads, "1p-brackets"), "1p-brackets")
        neighbours = reference.crossings_graph(reference.arcs_of(heads), reference.crosses_in_direction)
        for (left, right, dependent), crossing in neighbours.items():
            if not crossing:
                assert decoded[dependent - 1] == (left if dependent == right else right)

    def test_propagation_gives_back_all_small_trees_that_fit_in_two_planes(self):
        fitting = [tree for tree in small_trees() if reference.fits_in_two_planes(reference.arcs_of(tree.heads))]
        forest = Forest.from_trees(fitting)
        encoding = ENCODINGS["2p-prop"]
        decoded = encoding.decode(encoding.encode(forest), forest.offsets)
        assert (decoded == np.where(forest.heads > 0, forest.heads, -1)).all()


class TestAgainstTheReference:
    @every_encoding
    def test_labels_of_every_small_tree(self, name):
        for tree, rows in zip(small_trees(), encode_all(small_trees(), name), strict=True):
            assert rows == reference.encode(tree.heads, tree.deprels, (), name)

    @every_encoding
    @given(heads=any_heads(60))
    def test_labels_of_random_trees(self, heads, name):
        tree = tree_of(heads)
        assert encode(tree, name) == reference.encode(heads, tree.deprels, (), name)

    @pytest.mark.parametrize("name", ["1p-brackets", "2p-full"])
    @given(rows=label_rows(planes=2, max_size=20))
    def test_heads_that_any_labels_assert(self, rows, name):
        wanted = reference.assert_heads(rows, name, ())
        assert asserted(rows, name) == [-1 if head is None else head for head in wanted]


class TestRefusals:
    @every_encoding
    @settings(max_examples=20)
    @given(tree=many_rooted())
    def test_several_roots(self, tree, name):
        with pytest.raises(TreeError, match=f"^{name} needs trees with one root.*{len(tree.roots)}"):
            encode_all([tree_of((0,)), tree], name)


class TestLongSentences:
    @every_encoding
    @pytest.mark.parametrize(
        "heads",
        [
            pytest.param(random_heads(10_000, Random(5)), id="10,000 words, arcs crossing freely"),
            pytest.param(projective_heads(100_000, Random(6)), id="100,000 words, projective"),
            pytest.param((0, *[1] * 4_999), id="5,000 words on the first"),
        ],
    )
    def test_all_arcs_with_a_plane_come_back_in_long_sentences(self, heads, name):
        encoding, forest = ENCODINGS[name], Forest.from_trees([tree_of(heads)])
        decoded = encoding.decode(encoding.encode(forest), forest.offsets)
        if name != "1p-brackets" or len(heads) != 10_000:
            assert (decoded == np.where(encoding.planes(forest) > 0, forest.heads, -1)).all()
