"""Labels of graphs: what they cover comes back, and any labels whatever give a valid graph."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biplanar import Graph, Sentence, Tree, read_conllu, write_conllu
from biplanar.data.conllu import EMPTY
from biplanar.data.forest import Column, Forest
from biplanar.encodings.graphs import (
    EXTRA,
    GRAPH_ENCODINGS,
    RELATION,
    Changes,
    Delta,
    decode_graphs,
    encode_graphs,
    get_graph_encoding,
)
from biplanar.encodings.relations import RULES
from biplanar.errors import UnknownNameError
from tests.graph_files import ENHANCED, enhanced_files
from tests.strategies import MALFORMED, SIGNS, graphs, trees

SENTENCES = list(read_conllu(ENHANCED))
PLANES = {"paths": 0, "delta": 2, "graph-2p": 2, "graph-3p": 3, "graph-12-bit": 2, "graph-18-bit": 3}
RELATIONS = (*RULES, "nsubj", "root", "conj:and>obj", "obj|nsubj", "", "a b", ">", "|", "\ud800")

# The share of a treebank's sentences that each encoding may miss.
MISSED = {"paths": 0.001, "delta": 0.01, "graph-2p": 0.03, "graph-3p": 0.01, "graph-12-bit": 0.07, "graph-18-bit": 0.02}

LABELS = ["_", r"<\>", "//", r"<\>", "<//>", "_", r"<\\>", ">"]  # of the second sentence, in brackets

Arcs = list[tuple[int, int]]


def arcs_of(graph: Graph) -> Arcs:
    return [(int(head), word) for word, heads in enumerate(graph.heads, 1) for head, _ in heads]


def arcs_with(changes: Changes, forest: Forest) -> Arcs:
    """The arcs of all words, by their places, from 1."""
    basic = [[head] for head in forest.heads.tolist()]
    return [(head, place + 1) for place, own in enumerate(basic) for head in changes.get(place, own)]


def is_covered(name: str, arcs: Arcs, tree: Tree) -> bool:
    """Whether all arcs get a plane, by comparing each with all before it."""
    if name == "paths":
        return all(head != word for head, word in arcs)
    if name == "delta":
        arcs = list((Counter(arcs) - Counter(zip(tree.heads, range(1, len(tree) + 1), strict=True))).elements())
    planes: list[Arcs] = [[] for _ in range(PLANES[name])]
    for arc in sorted(arcs, key=sorted):
        free = [plane for plane in planes if not any(clash(arc, other, name) for other in plane)]
        if not free or arc[0] == arc[1]:
            return False
        free[0].append(arc)
    return True


def clash(one: tuple[int, int], other: tuple[int, int], name: str) -> bool:
    (a, b), (c, d) = sorted(one), sorted(other)
    crosses = a < c < b < d or c < a < d < b
    return (one[0] < one[1]) == (other[0] < other[1]) and (crosses or (name.endswith("bit") and one[1] == other[1]))


def sentence_of(tree: Tree, graph: Graph) -> Sentence:
    return Sentence.from_words(["x"] * len(tree), tree).with_graph(graph)


@pytest.mark.parametrize("name", GRAPH_ENCODINGS)
class TestEveryEncoding:
    def test_hand_written_graphs_come_back(self, name: str) -> None:
        encoding = GRAPH_ENCODINGS[name]
        back = decode_graphs(encode_graphs(SENTENCES, encoding), SENTENCES, encoding)
        for sentence, found in zip(SENTENCES, back, strict=True):
            graph = sentence.needed_graph().collapsed()
            assert is_covered(name, arcs_of(graph), sentence.tree) == (found.collapsed() == graph)

    @given(graphs(empty=False), st.data())
    def test_covered_graphs_come_back(self, name: str, graph: Graph, data: st.DataObject) -> None:
        tree = data.draw(trees(len(graph)).filter(lambda tree: len(tree) == len(graph)))
        encoding, forest = GRAPH_ENCODINGS[name], Forest.from_trees([tree])
        back = encoding.decode(encoding.encode([graph], forest), forest)
        if is_covered(name, arcs_of(graph), tree):
            assert sorted(arcs_with(back, forest)) == sorted(arcs_of(graph))

    @given(
        graphs(), st.lists(st.text(f"{SIGNS}-*01_", max_size=18) | st.sampled_from(MALFORMED), min_size=10), st.data()
    )
    def test_any_labels_give_a_valid_graph(
        self, name: str, graph: Graph, labels: list[str], data: st.DataObject
    ) -> None:
        tree = data.draw(trees(len(graph)))
        sentence, rows = sentence_of(tree, Graph.from_tree(tree)), st.lists(st.sampled_from(RELATIONS), min_size=10)
        columns = {GRAPH_ENCODINGS[name].task: labels, RELATION: data.draw(rows), EXTRA: data.draw(rows)}
        given_labels = {task: Column.of(column[: len(tree)]) for task, column in columns.items()}
        (found,) = decode_graphs(given_labels, [sentence], GRAPH_ENCODINGS[name])
        assert not found.unreachable
        assert sentence.with_graph(found).graph == found
        for _, heads in found.nodes():
            assert all((head == 0) == relation.startswith("root") for head, relation in heads)

    def test_a_label_without_a_name_says_nothing(self, name: str) -> None:
        forest = Forest.from_sentences(SENTENCES)
        nothing = Column(forest.heads * 0 - 1, ("//",))
        assert GRAPH_ENCODINGS[name].decode(nothing, forest) == {}

    def test_thousands_of_random_labels_make_files_that_udtools_accepts(self, name: str, tmp_path: Path) -> None:
        from udtools import Validator

        encoding, random = GRAPH_ENCODINGS[name], Random(1)
        sentences = [
            sentence.with_comments({"sent_id": f"{sentence.sent_id}-{number}"})
            for number in range(100)
            for sentence in SENTENCES
        ]
        words = sum(map(len, sentences))
        known = (*encode_graphs(SENTENCES, encoding)[encoding.task].names, "-", "->", "/</", "\\>*", ">>*")
        labels = {
            encoding.task: Column.of(random.choices(known, k=words)),
            RELATION: Column.of(random.choices([*RULES, "obl:with"], k=words)),
            EXTRA: Column.of(random.choices([EMPTY, "nsubj:xsubj", "conj:and>obj|root", "root", "ref"], k=words)),
        }
        path = tmp_path / "random.conllu"
        decoded = zip(sentences, decode_graphs(labels, sentences, encoding), strict=True)
        write_conllu([sentence.with_graph(graph) for sentence, graph in decoded], path)
        state = Validator(lang="en", level=2, output=None).validate_files([str(path)])
        assert [str(error.message) for error in state.error_tracker] == []


class TestBrackets:
    def test_the_labels_of_a_graph(self) -> None:
        columns = encode_graphs(SENTENCES[1:2], get_graph_encoding("graph-2p"))
        assert columns["brackets"].labels() == LABELS

    def test_arcs_of_different_directions_share_a_plane(self) -> None:
        tree = Tree((0, 1, 1, 1), ("root", "x", "x", "x"))
        graph = Graph((((0, "root"), (3, "y")), ((1, "x"),), ((1, "x"),), ((1, "x"), (2, "y"))))
        labels = GRAPH_ENCODINGS["delta"].encode([graph], Forest.from_trees([tree])).labels()
        assert labels == ["_", "<", "/\\", ">"]

    def test_crossing_arcs_of_one_direction_take_two_planes(self) -> None:
        tree = Tree((0, 1, 1, 1), ("root", "x", "x", "x"))
        graph = Graph((((0, "root"), (3, "y")), ((1, "x"), (4, "y")), ((1, "x"),), ((1, "x"),)))
        labels = GRAPH_ENCODINGS["delta"].encode([graph], Forest.from_trees([tree])).labels()
        assert labels == ["_", "<", "\\<*", "\\*"]


class TestDelta:
    def test_a_tree_needs_no_labels(self) -> None:
        trees = [Graph.from_tree(sentence.tree) for sentence in SENTENCES]
        assert GRAPH_ENCODINGS["delta"].encode(trees, Forest.from_sentences(SENTENCES)).names == (EMPTY,)

    def test_an_arc_that_the_root_needs_is_not_dropped(self) -> None:
        forest = Forest.from_trees([Tree((0, 1, 2), ("root", "x", "y"))])
        delta = Delta()
        assert delta.decode(Column.of(["_", "-", "_"]), forest) == {}
        assert delta.decode(Column.of(["_", "_", "-/>"]), forest) == {2: [2]}
        assert delta.decode(Column.of(["_", "_", "->"]), forest) == {2: [0]}

    def test_only_words_with_further_heads_are_touched(self) -> None:
        trees = [Tree((0, 1), ("root", "x"))] * 3
        labels = Column.of(["_", "_", "_", ">", "_", "_"])
        assert Delta().decode(labels, Forest.from_trees(trees)) == {3: [1, 0]}


@pytest.mark.parametrize("way", ["^>obj0", "^>conj0", "^>obj2", "^^^", ">obj"])
def test_a_way_that_leads_nowhere_says_nothing(way: str) -> None:
    forest = Forest.from_trees([Tree((2, 0, 2), ("nsubj", "root", "obj"))])
    assert GRAPH_ENCODINGS["paths"].decode(Column.of([way, "_", "_"]), forest) == {}


def test_an_unknown_name() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'graph-2p'"):
        get_graph_encoding("graph2p")


@pytest.mark.skipif(not enhanced_files(), reason="no treebanks with enhanced graphs")
@pytest.mark.parametrize("file", enhanced_files(), ids=lambda file: f"{file.parents[1].name}-{file.stem}")
def test_all_covered_graphs_of_a_treebank_come_back(file: Path) -> None:
    sentences = list(read_conllu(file))
    graphs = [sentence.needed_graph().collapsed() for sentence in sentences]
    for name in GRAPH_ENCODINGS if "dev" in file.name else ["delta"]:
        encoding, missed = GRAPH_ENCODINGS[name], 0
        found = decode_graphs(encode_graphs(sentences, encoding), sentences, encoding)
        for sentence, graph, back in zip(sentences, graphs, found, strict=True):
            if is_covered(name, arcs_of(graph), sentence.tree):
                assert back.collapsed() == graph
            else:
                missed += 1
        assert missed <= MISSED[name] * len(sentences)
