from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biplanar.data.conllu import Sentence, parse_conllu
from biplanar.data.forest import Column, Forest, distinct_pairs, offsets_of
from biplanar.data.tree import Tree
from biplanar.errors import FormatError, LabelError
from tests.strategies import many_rooted, trees

CAT = Tree((2, 0), ("det", "root"))
DOGS = Tree((0, 0, 2), ("root", "root", "det"))


def block(*heads: int | str) -> str:
    return "".join(f"{i}\tw{i}\t_\tT{i}\t_\t_\t{head}\tdep\t_\t_\n" for i, head in enumerate(heads, 1)) + "\n"


class TestColumn:
    def test_labels_are_numbered_as_they_appear(self):
        column = Column.of(["b", "a", "b", "", "a"])
        assert column.ids.tolist() == [0, 1, 0, 2, 1]
        assert column.ids.dtype == np.int32
        assert column.names == ("b", "a", "")

    @given(st.lists(st.text(max_size=2)))
    def test_labels_come_back(self, labels):
        assert Column.of(labels).labels() == labels

    def test_a_label_without_a_name(self):
        assert Column(np.array([1, -1, 0], dtype=np.int32), ("a", "b")).labels() == ["b", "_", "a"]

    def test_no_labels(self):
        assert Column.of([]).labels() == []


class TestFromTrees:
    def test_trees_stand_end_to_end(self):
        forest = Forest.from_trees([CAT, DOGS], [["DET", "NOUN"], ["NOUN", "X", "DET"]])
        assert len(forest) == 2
        assert forest.offsets.tolist() == [0, 2, 5]
        assert forest.heads.tolist() == [2, 0, 0, 0, 2]
        assert forest.deprels.labels() == ["det", "root", "root", "root", "det"]
        assert forest.upos.labels() == ["DET", "NOUN", "NOUN", "X", "DET"]
        assert (forest.offsets.dtype, forest.heads.dtype) == (np.int64, np.int32)

    def test_tags_are_not_needed(self):
        assert Forest.from_trees([CAT]).upos is None

    def test_roots_are_counted(self):
        assert Forest.from_trees([CAT, DOGS]).roots().tolist() == [1, 2]

    @given(st.lists(st.one_of(trees(), many_rooted()), max_size=5))
    def test_trees_come_back(self, many):
        forest = Forest.from_trees(many)
        assert forest.trees() == many
        assert forest.roots().tolist() == [len(tree.roots) for tree in many]

    def test_no_trees(self):
        forest = Forest.from_trees([], [])
        assert (len(forest), forest.trees(), forest.roots().tolist()) == (0, [], [])

    @pytest.mark.parametrize(
        ("upos", "message"),
        [
            ([["A", "B"]], "tags of 1 sentences for 2 trees"),
            ([["A", "B"], ["C", "D"]], "sentence 2: 2 tags for 3 words"),
            ([["A", "B", "C"], ["D", "E"]], "sentence 1: 3 tags for 2 words"),
            ([[], ["A", "B", "C", "D", "E"]], "sentence 1: 0 tags for 2 words"),
        ],
    )
    def test_tags_must_fit_each_tree(self, upos, message):
        with pytest.raises(LabelError) as caught:
            Forest.from_trees([CAT, DOGS], iter(upos))
        assert str(caught.value) == message


class TestFromSentences:
    def test_trees_and_tags_of_sentences(self):
        forest = Forest.from_sentences(parse_conllu(block(2, 0) + block(0, 0, 2)))
        assert forest.offsets.tolist() == [0, 2, 5]
        assert forest.heads.tolist() == [2, 0, 0, 0, 2]
        assert forest.deprels.labels() == ["dep"] * 5
        assert forest.upos.labels() == ["T1", "T2", "T1", "T2", "T3"]

    @given(st.lists(trees(), min_size=1, max_size=5))
    def test_it_agrees_with_the_trees_one_by_one(self, many):
        sentences = [Sentence.from_words(["w"] * len(tree), tree) for tree in many]
        assert Forest.from_sentences(sentences).trees() == many == [sentence.tree for sentence in sentences]

    def test_no_sentences(self):
        forest = Forest.from_sentences([])
        assert (len(forest), forest.trees(), forest.roots().tolist()) == (0, [], [])

    @pytest.mark.parametrize(
        ("bad", "message"),
        [
            (block(2, 2), "5: word 2 is its own head"),
            (block(2, 1), "4: no word has head 0 (the root)"),
            (block(3, 3, 4, 3, 0), "6: the heads form a cycle: 3 -> 4 -> 3"),
            (block(0, 3), "5: expected a HEAD from 0 to 2, found 3"),
            (block(0, "x"), "5: expected a whole number as HEAD, found 'x'"),
            (block("_", "_"), "4: expected a whole number as HEAD, found '_'"),
            ("# a comment\n1-2\tw" + "\t_" * 8 + "\n" + block(0, 2), "7: word 2 is its own head"),
        ],
    )
    def test_the_first_bad_tree_is_named_with_file_and_line(self, bad, message):
        sentences = parse_conllu(block(2, 0) + bad + block(1), "words.conllu")
        with pytest.raises(FormatError) as caught:
            Forest.from_sentences(sentences)
        assert str(caught.value) == f"words.conllu:{message}"


def test_offsets_say_where_sequences_start_and_end():
    assert offsets_of([3, 0, 2]).tolist() == [0, 3, 3, 5]
    assert offsets_of(iter([])).tolist() == [0]
    assert offsets_of([1]).dtype == np.int64


def test_distinct_pairs() -> None:
    one, other = Column.of("abab"), Column.of("xyxx")
    pairs, numbers = distinct_pairs(one, other)
    assert sorted(pairs) == [("a", "x"), ("b", "x"), ("b", "y")]
    assert [pairs[number] for number in numbers] == list(zip("abab", "xyxx", strict=True))
