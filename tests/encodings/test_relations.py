"""Relations of arcs that tree and graph share, by rule."""

from __future__ import annotations

from pathlib import Path

import pytest

from biplanar import Graph, Sentence, Tree, read_conllu
from biplanar.data.conllu import FEATS, LEMMA
from biplanar.encodings.relations import (
    ADD_CASE,
    ADD_LEMMA,
    PLAIN,
    RULES,
    SAME,
    AnnotatedTree,
    decode_relation,
    decode_relations,
    encode_relation,
    encode_relations,
)
from tests.graph_files import ENHANCED, enhanced_files

CONTROL, RELATIVE, GAPPING, LEMMAS = read_conllu(ENHANCED)
BOTH = ADD_LEMMA + ADD_CASE


def annotated(heads: str, deprels: str, lemmas: str, feats: str = "") -> AnnotatedTree:
    columns = deprels.split(), lemmas.split(), feats.split() or ["_"] * len(heads.split())
    return AnnotatedTree(list(map(int, heads.split())), *columns)


@pytest.mark.parametrize(
    ("relation", "label"),
    [("obl", PLAIN), ("obl:in", ADD_LEMMA), ("obl:loc", ADD_CASE), ("obl:in:loc", BOTH), ("obl:on", "obl:on")],
)
def test_rules_and_what_follows_from_none(relation: str, label: str) -> None:
    tree = annotated("0 3 1", "root case obl", "go in House", "_ _ Case=Loc|Number=Sing")
    assert encode_relation(relation, tree, 3) == label
    assert decode_relation(label, tree, 3) == relation


def test_suffixes_that_a_word_lacks_are_left_out() -> None:
    tree = annotated("0 1", "root obj", "see 7")
    assert [decode_relation(rule, tree, 2) for rule in RULES] == ["obj"] * 4


def test_a_fixed_expression_is_one_lemma() -> None:
    tree = annotated("0 4 2 1", "root case fixed obl", "go because of rain")
    assert tree.lemma(4) == "because_of"


def test_the_last_of_several_markers() -> None:
    assert annotated("0 4 4 1", "root case case obl", "come from behind house").lemma(4) == "behind"
    assert annotated("0 4 4 1", "root cc mark advcl", "go and if rain").lemma(4) == "if"


def test_conjuncts_share_a_conjunction() -> None:
    tree = annotated("0 1 4 1 1", "root conj cc conj conj", "a b and c d")
    assert [tree.lemma(word) for word in (2, 4, 5)] == ["and"] * 3
    assert annotated("0 1", "root conj", "a b").lemma(2) == ""


@pytest.mark.parametrize("lemma", ["/", "vs.", "c3", "_", "a__b"])
def test_a_lemma_that_no_relation_can_have(lemma: str) -> None:
    assert annotated("0 3 1", "root case obl", f"go {lemma} x").lemma(3) == ""


def test_letters_of_any_script_in_lower_case() -> None:
    assert annotated("0 3 1", "root case obl", "x Į y").lemma(3) == "į"
    assert annotated("0 3 1", "root case obl", "x في y").lemma(3) == "في"


def test_sentences() -> None:
    graph = LEMMAS.needed_graph()
    labels, others = encode_relations(graph, AnnotatedTree.of(LEMMAS))
    assert [label for label in labels if label != PLAIN] == [ADD_LEMMA] * 3
    assert set(others) == {"_"}
    _, others = encode_relations(CONTROL.needed_graph(), AnnotatedTree.of(CONTROL))
    assert [label for label in others if label != PLAIN] == ["nsubj:xsubj", SAME, SAME]


def test_a_conjunct_has_the_relations_of_the_first_one() -> None:
    tree = annotated("0 1 4 2 2", "root obl cc conj conj", "go house and garden x")
    graph = Graph(
        [[(0, "root")], [(1, "obl:in")], [(4, "cc")], [(1, "obl:in"), (2, "conj:and")], [(1, "obj"), (2, "conj")]]
    )
    labels, others = encode_relations(graph, tree)
    assert others == ["_", "_", "_", SAME, "obj"]
    arcs = [(head, word) for word, heads in enumerate(graph.heads, 1) for head, _ in heads]
    assert Graph(decode_relations(arcs, labels, others, tree)) == graph


def test_conjuncts_of_conjuncts_are_decoded_from_the_top() -> None:
    tree = annotated("0 4 2 1", "root conj conj obj", "a b c d")
    graph = Graph([[(0, "root")], [(1, "obj"), (4, "conj")], [(1, "obj"), (2, "conj")], [(1, "obj")]])
    labels, others = encode_relations(graph, tree)
    assert others == ["_", SAME, SAME, "_"]
    arcs = [(head, word) for word, heads in enumerate(graph.heads, 1) for head, _ in heads]
    assert Graph(decode_relations(arcs, labels, others, tree)) == graph


@pytest.mark.parametrize(("others", "found"), [("a|b", "ab?"), ("a", "aa"), ("_", "xx"), ("a|b|c", "ab")])
def test_the_last_label_stands_for_all_that_follow(others: str, found: str) -> None:
    tree = annotated("0 1 1 1", "root x y z", "a b c d")
    heads = decode_relations([(0, 1), (1, 2), (3, 2), (4, 2)], ["_"] * 4, ["_", others, "_", "_"], tree)[1]
    assert "".join(relation for _, relation in heads[1:]) == found.rstrip("?")


def test_relations_that_are_missing_or_wrong() -> None:
    tree = Tree((0, 1, 1), ("root", "x", "y"))
    sentence = Sentence.from_words(["a", "b", "c"], tree).with_columns({LEMMA: ["_"] * 3, FEATS: ["_"] * 3})
    arcs = [(0, 1), (1, 2), (3, 2), (0, 3), (2, 3)]
    heads = decode_relations(arcs, ["a|b", "_", "_"], ["_", "root", "obj|"], AnnotatedTree.of(sentence))
    assert heads == (((0, "root"),), ((1, "x"), (3, "dep")), ((0, "root"), (2, "dep")))
    assert not Graph(heads).unreachable


@pytest.mark.skipif(not enhanced_files(), reason="no treebanks with enhanced graphs")
@pytest.mark.parametrize("file", [file for file in enhanced_files() if "dev" in file.name], ids=lambda file: file.stem)
def test_nearly_all_relations_of_treebanks_follow_from_rules(file: Path) -> None:
    labels = [
        label
        for sentence in read_conllu(file)
        for label in encode_relations(sentence.needed_graph().collapsed(), AnnotatedTree.of(sentence))[0]
    ]
    assert sum(label in RULES for label in labels) >= 0.996 * len(labels)
