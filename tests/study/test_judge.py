"""The judge says what `biplanar.evaluation` says."""

from __future__ import annotations

import numpy as np
import pytest
from study.common import pack, unpack
from study.judge import Judge, with_any_tree

from biplanar import Tree, evaluate, parse_conllu, read_conllu
from biplanar.data.forest import Forest
from tests.study.conftest import TINY

METRICS = ("UAS", "LAS", "ExactLAS", "NonprojectiveSentences", "NonprojectiveDependencies")


def mixed_trees(sentences, gold):
    """Gold trees for every second sentence that has one of the same length, and chains with wrong relations."""
    rng = np.random.default_rng(0)
    trees = []
    for number, sentence in enumerate(sentences):
        size = len(sentence)
        if number % 2 and number < len(gold) and len(gold[number]) == size:
            trees.append(gold[number].tree)
            continue
        order = rng.permutation(size)
        heads = np.zeros(size, dtype=int)
        heads[order[1:]] = order[:-1] + 1
        trees.append(Tree(tuple(heads.tolist()), tuple("nmod:x" if head else "root" for head in heads)))
    return [sentence.with_tree(tree) for sentence, tree in zip(sentences, trees, strict=True)]


def cut_otherwise(gold):
    """The same text, with the first two sentences taken together and the last word of the third cut in two."""
    first, second, third, *rest = (sentence.forms for sentence in gold)
    joined = [*first, *second]
    split = [*third[:-1], *third[-1][:1], *third[-1][1:]]
    lines = [[f"{i}\t{form}" + "\t_" * 8 for i, form in enumerate(forms, 1)] for forms in (joined, split, *rest)]
    return parse_conllu("".join("\n".join([*rows, "", ""]) for rows in lines))


@pytest.mark.parametrize("words_of", [list, cut_otherwise], ids=["gold words", "other words"])
def test_counts_are_those_of_the_evaluation(words_of):
    gold = [sentence for sentence in read_conllu(TINY) if "-" not in "".join(r.split("\t")[0] for r in sentence.rows)]
    gold = parse_conllu("".join("\n".join([*sentence.rows, "", ""]) for sentence in gold))
    words = words_of(gold)
    system = mixed_trees(words, gold)
    forest = Forest.from_sentences(system)
    judge = Judge.of(gold, words)
    found = judge.counts(forest.heads, forest.deprels)
    expected = evaluate(gold, system)
    assert found == {m: [expected[m].correct, expected[m].gold, expected[m].system] for m in METRICS}
    assert found["NonprojectiveSentences"][1] > 0
    by_sentence = judge.by_sentence(forest.heads, forest.deprels)
    assert len(by_sentence) == len(gold)
    assert by_sentence.sum() == found["LAS"][0]


def test_any_tree_is_a_tree():
    sentence = next(iter(read_conllu(TINY)))
    assert with_any_tree(sentence).tree.heads[0] == 0


def test_packed_counts_come_back():
    counts = [0, 1, 300, 65535, 7]
    assert unpack(pack(counts)).tolist() == counts
