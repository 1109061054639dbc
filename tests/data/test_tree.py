from __future__ import annotations

from dataclasses import FrozenInstanceError
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biplanar.data.forest import offsets_of
from biplanar.data.tree import Fault, Tree, find_fault
from biplanar.errors import BiplanarError, TreeError
from tests.strategies import random_heads, tree_of, trees

LONG = 100_000


def tree_with(*heads: int) -> Tree:
    return Tree(heads, ("dep",) * len(heads))


def fault_in(*sentences: list[int]) -> Fault | None:
    heads = np.array([head for sentence in sentences for head in sentence], dtype=np.int32)
    return find_fault(heads, offsets_of(map(len, sentences)))


class TestTree:
    def test_what_it_holds(self):
        tree = Tree((2, 0, 2), ("nsubj", "root", "obj"))
        assert (tree.heads, tree.deprels, tree.roots, len(tree)) == ((2, 0, 2), ("nsubj", "root", "obj"), (2,), 3)

    def test_one_word(self):
        assert tree_with(0).roots == (1,)

    def test_several_roots_are_allowed(self):
        assert tree_with(0, 1, 0, 3, 0).roots == (1, 3, 5)

    def test_lists_and_arrays_become_tuples_of_plain_numbers(self):
        tree = Tree(np.array([2, 0], dtype=np.int32), ["a", "b"])
        assert tree == Tree((2, 0), ("a", "b"))
        assert hash(tree) == hash(Tree((2, 0), ("a", "b")))
        assert [type(head) for head in tree.heads] == [int, int]

    def test_it_cannot_be_changed(self):
        with pytest.raises(FrozenInstanceError):
            tree_with(0).heads = (0,)

    @pytest.mark.parametrize(
        ("heads", "message"),
        [
            ((), "a tree needs at least one word"),
            ((0, 3), "word 2 has a head outside the sentence, which has 2 words"),
            ((-1, 0), "word 1 has a head outside the sentence, which has 2 words"),
            ((0, 1, 10**30), "word 3 has a head outside the sentence, which has 3 words"),
            ((0, 1, -(10**30)), "word 3 has a head outside the sentence, which has 3 words"),
            ((0, 2**32 + 1), "word 2 has a head outside the sentence, which has 2 words"),
            ((1,), "word 1 is its own head"),
            ((0, 1, 3), "word 3 is its own head"),
            ((2, 1), "no word has head 0 (the root)"),
            ((2, 3, 1), "no word has head 0 (the root)"),
            ((0, 3, 2), "the heads form a cycle: 2 -> 3 -> 2"),
            ((0, 3, 4, 5, 3), "the heads form a cycle: 3 -> 4 -> 5 -> 3"),
            ((3, 0, 4, 3), "the heads form a cycle: 3 -> 4 -> 3"),
        ],
    )
    def test_heads_that_are_no_tree(self, heads, message):
        with pytest.raises(TreeError) as caught:
            tree_with(*heads)
        assert str(caught.value) == message

    @pytest.mark.parametrize(("heads", "deprels"), [((0, 1), ("root",)), ((0,), ("root", "obj")), ((), ("root",))])
    def test_relations_and_heads_must_be_as_many(self, heads, deprels):
        with pytest.raises(TreeError) as caught:
            Tree(heads, deprels)
        assert str(caught.value) == f"{len(heads)} heads but {len(deprels)} relations"

    def test_its_errors_are_errors_of_biplanar(self):
        assert issubclass(TreeError, BiplanarError)


class TestLongSentences:
    @pytest.mark.parametrize("heads", [range(LONG), (*range(2, LONG + 1), 0)], ids=["to the right", "to the left"])
    def test_a_chain(self, heads):
        assert len(tree_with(*heads).roots) == 1

    def test_a_cycle_of_all_words_but_one(self):
        with pytest.raises(TreeError, match=r"^the heads form a cycle: 2 -> 100000 -> 99999 -> .* -> 3 -> 2$"):
            tree_with(0, LONG, *range(2, LONG))

    def test_arcs_that_cross_freely(self):
        heads = random_heads(LONG, Random(1))
        assert tree_of(heads).heads == heads


class TestFindFault:
    @pytest.mark.parametrize(
        ("sentences", "fault"),
        [
            ([], None),
            ([[0]], None),
            ([[0], [2, 0], [0, 0]], None),
            ([[0], [2, 1], [3]], Fault(1, 1, "no word has head 0 (the root)")),
            ([[0], [0, 3, 2], [5]], Fault(1, 2, "the heads form a cycle: 2 -> 3 -> 2")),
            ([[0], [0, 2], [0, 3, 2]], Fault(1, 2, "word 2 is its own head")),
            ([[0, 1], [], [1]], Fault(1, 0, "a tree needs at least one word")),
            ([[0, 3, 2], []], Fault(0, 2, "the heads form a cycle: 2 -> 3 -> 2")),
            ([[1], []], Fault(0, 1, "word 1 is its own head")),
            ([[]], Fault(0, 0, "a tree needs at least one word")),
            ([[0], [2]], Fault(1, 1, "word 1 has a head outside the sentence, which has 1 words")),
        ],
    )
    def test_the_first_sentence_that_is_no_tree_is_named(self, sentences, fault):
        assert fault_in(*sentences) == fault

    @given(st.lists(st.lists(st.integers(-2, 7), max_size=6), max_size=6))
    def test_any_numbers_agree_with_a_naive_check(self, sentences):
        self.check(sentences)

    @given(st.lists(trees(8).map(lambda tree: list(tree.heads)), min_size=1, max_size=6), st.data())
    def test_trees_with_a_wrong_head_agree_with_a_naive_check(self, sentences, data):
        sentence = data.draw(st.sampled_from(sentences))
        word = data.draw(st.integers(1, len(sentence)))
        sentence[word - 1] = data.draw(st.integers(-1, len(sentence) + 1))
        self.check(sentences)

    def check(self, sentences):
        problems = [naive_problem(sentence) for sentence in sentences]
        fault = fault_in(*sentences)
        if not any(problems):
            assert fault is None
            return
        assert fault.sentence == next(number for number, problem in enumerate(problems) if problem)
        assert problems[fault.sentence] in fault.message
        if problems[fault.sentence] == "the heads form a cycle":
            check_cycle(fault, sentences[fault.sentence])


def naive_problem(heads: list[int]) -> str | None:
    if not heads:
        return "a tree needs at least one word"
    for word, head in enumerate(heads, 1):
        if head < 0 or head > len(heads):
            return f"word {word} has a head outside the sentence, which has {len(heads)} words"
        if head == word:
            return f"word {word} is its own head"
    if 0 not in heads:
        return "no word has head 0 (the root)"
    for word in range(1, len(heads) + 1):
        for _ in heads:
            word = word and heads[word - 1]
        if word:
            return "the heads form a cycle"
    return None


def check_cycle(fault: Fault, heads: list[int]) -> None:
    *words, last = map(int, fault.message.removeprefix("the heads form a cycle: ").split(" -> "))
    assert fault.word == words[0] == last
    assert len(set(words)) == len(words)
    assert [heads[word - 1] for word in words] == [*words[1:], last]


def test_many_trees_are_checked_as_one_by_one():
    offsets = np.array([0, 3, 5], dtype=np.int64)
    deprels = ["a", "root", "b", "root", "c"]
    trees = Tree.many(np.array([2, 0, 2, 0, 1], dtype=np.int32), deprels, offsets)
    assert trees == [Tree((2, 0, 2), ("a", "root", "b")), Tree((0, 1), ("root", "c"))]
    with pytest.raises(TreeError, match="word 2 is its own head") as caught:
        Tree.many(np.array([2, 0, 2, 0, 2], dtype=np.int32), deprels, offsets)
    assert caught.value.sentence == 1
