"""Relations of arcs that tree and graph share, by rule."""

from __future__ import annotations

from pathlib import Path

import pytest

from biplanar import Graph, Tree, read_conllu
from biplanar.data.forest import Column, Forest
from biplanar.data.graph import parse_deps, read_graph
from biplanar.encodings.relations import (
    ADD_CASE,
    ADD_LEMMA,
    PLAIN,
    RULES,
    SAME,
    AnnotatedTrees,
    decode_deps,
    encode_relations,
)
from tests.graph_files import ENHANCED, enhanced_files

CONTROL, _, _, LEMMAS = read_conllu(ENHANCED)
BOTH = ADD_LEMMA + ADD_CASE


def annotated(heads: str, deprels: str, lemmas: str, feats: str = "") -> AnnotatedTrees:
    tree = Tree(tuple(map(int, heads.split())), tuple(deprels.split()))
    columns = lemmas.split(), feats.split() or ["_"] * len(tree)
    return AnnotatedTrees(Forest.from_trees([tree]), *map(Column.of, columns))


def lemmas_of(trees: AnnotatedTrees) -> list[str]:
    return trees.lemma_suffixes.labels()


def own_deps(rule: str, trees: AnnotatedTrees) -> list[str]:
    words = len(trees.forest.heads)
    return decode_deps({}, Column.of([rule] * words), Column.of(["_"] * words), trees).labels()


@pytest.mark.parametrize(
    ("relation", "label"),
    [("obl", PLAIN), ("obl:in", ADD_LEMMA), ("obl:loc", ADD_CASE), ("obl:in:loc", BOTH), ("obl:on", "obl:on")],
)
def test_rules_and_what_follows_from_none(relation: str, label: str) -> None:
    trees = annotated("0 3 1", "root case obl", "go in House", "_ _ Case=Loc|Number=Sing")
    graph = Graph([[(0, "root")], [(3, "case")], [(1, relation)]])
    labels, _ = encode_relations([graph], trees)
    assert labels.labels() == [PLAIN, PLAIN, label]
    assert own_deps(label, trees)[2] == f"1:{relation}"


def test_suffixes_that_a_word_lacks_are_left_out() -> None:
    trees = annotated("0 1", "root obj", "see 7")
    assert [own_deps(rule, trees)[1] for rule in RULES] == ["1:obj"] * 4


def test_a_fixed_expression_is_one_lemma() -> None:
    trees = annotated("0 4 2 1", "root case fixed obl", "go because of rain")
    assert lemmas_of(trees) == ["", "", "", "because_of"]


def test_the_last_of_several_markers() -> None:
    assert lemmas_of(annotated("0 4 4 1", "root case case obl", "come from behind house"))[3] == "behind"
    assert lemmas_of(annotated("0 4 4 1", "root cc mark advcl", "go and if rain"))[3] == "if"
    assert lemmas_of(annotated("0 4 4 1", "root mark cc advcl", "go if and rain"))[3] == "if"
    assert lemmas_of(annotated("0 4 4 1", "root cc cc advcl", "go either or rain"))[3] == "or"


def test_conjuncts_share_a_conjunction() -> None:
    assert lemmas_of(annotated("0 1 4 1 1", "root conj cc conj conj", "a b and c d")) == ["", "and", "", "and", "and"]
    assert lemmas_of(annotated("0 1 1 2 3", "root conj conj cc cc", "a b c or and")) == ["", "or", "and", "", ""]
    assert lemmas_of(annotated("0 1", "root conj", "a b")) == ["", ""]


@pytest.mark.parametrize("lemma", ["/", "vs.", "c3", "_", "a__b"])
def test_a_lemma_that_no_relation_can_have(lemma: str) -> None:
    assert lemmas_of(annotated("0 3 1", "root case obl", f"go {lemma} x"))[2] == ""


def test_letters_of_any_script_in_lower_case() -> None:
    assert lemmas_of(annotated("0 3 1", "root case obl", "x Į y"))[2] == "į"
    assert lemmas_of(annotated("0 3 1", "root case obl", "x في y"))[2] == "في"


def test_sentences() -> None:
    trees = AnnotatedTrees.of([LEMMAS, CONTROL])
    labels, others = encode_relations([LEMMAS.needed_graph(), CONTROL.needed_graph()], trees)
    own, further = labels.labels(), others.labels()
    assert [label for label in own[: len(LEMMAS)] if label != PLAIN] == [ADD_LEMMA] * 3
    assert set(further[: len(LEMMAS)]) == {"_"}
    assert [label for label in further[len(LEMMAS) :] if label != PLAIN] == ["nsubj:xsubj", SAME, SAME]


def decoded(graph: Graph, trees: AnnotatedTrees) -> Graph:
    """The graph that comes back of its heads and the labels of its relations."""
    heads = {place: [int(head) for head, _ in heads] for place, heads in enumerate(graph.heads)}
    return read_graph(decode_deps(heads, *encode_relations([graph], trees), trees).labels(), {})


def test_a_conjunct_has_the_relations_of_the_first_one() -> None:
    trees = annotated("0 1 4 2 2", "root obl cc conj conj", "go house and garden x")
    graph = Graph(
        [[(0, "root")], [(1, "obl:in")], [(4, "cc")], [(1, "obl:in"), (2, "conj:and")], [(1, "obj"), (2, "conj")]]
    )
    assert encode_relations([graph], trees)[1].labels() == ["_", "_", "_", SAME, "obj"]
    assert decoded(graph, trees) == graph


def test_conjuncts_of_conjuncts_are_decoded_from_the_top() -> None:
    trees = annotated("0 4 2 1", "root conj conj obj", "a b c d")
    graph = Graph([[(0, "root")], [(1, "obj"), (4, "conj")], [(1, "obj"), (2, "conj")], [(1, "obj")]])
    assert encode_relations([graph], trees)[1].labels() == ["_", SAME, SAME, "_"]
    assert decoded(graph, trees) == graph


def test_a_long_chain_of_conjuncts() -> None:
    words = 5_000
    tree = Tree(tuple(range(words)), ("root", *["conj"] * (words - 1)))
    trees = AnnotatedTrees(Forest.from_trees([tree]), Column.of(["x"] * words), Column.of(["_"] * words))
    heads = {place: [place, 0] for place in range(words - 1, 0, -1)}
    deps = decode_deps(heads, Column.of(["_"] * words), Column.of([SAME] * words), trees).labels()
    assert deps[-1] == f"0:root|{words - 1}:conj"


@pytest.mark.parametrize(("others", "found"), [("a|b", "ab?"), ("a", "aa"), ("_", "xx"), ("a|b|c", "ab")])
def test_the_last_label_stands_for_all_that_follow(others: str, found: str) -> None:
    trees = annotated("0 1 1 1", "root x y z", "a b c d")
    deps = decode_deps({1: [1, 3, 4]}, Column.of(["_"] * 4), Column.of(["_", others, "_", "_"]), trees).labels()
    heads = parse_deps(deps[1], 2)
    assert "".join(relation for _, relation in heads[1:]) == found.rstrip("?")


def test_relations_that_are_missing_or_wrong() -> None:
    trees = annotated("0 1 1", "root x y", "_ _ _")
    labels = Column.of(["a|b", "_", "_"]), Column.of(["_", "root", "obj|"])
    deps = decode_deps({1: [1, 3], 2: [0, 2]}, *labels, trees).labels()
    assert deps == ["0:root", "1:x|3:dep", "0:root|2:dep"]


@pytest.mark.skipif(not enhanced_files(), reason="no treebanks with enhanced graphs")
@pytest.mark.parametrize("file", [file for file in enhanced_files() if "dev" in file.name], ids=lambda file: file.stem)
def test_nearly_all_relations_of_treebanks_follow_from_rules(file: Path) -> None:
    sentences = list(read_conllu(file))
    graphs = [sentence.needed_graph().collapsed() for sentence in sentences]
    labels = encode_relations(graphs, AnnotatedTrees.of(sentences))[0].labels()
    assert sum(label in RULES for label in labels) >= 0.996 * len(labels)
