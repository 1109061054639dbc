from __future__ import annotations

import json
import pickle

import pytest
from hypothesis import given

from biplanar import Graph, Sentence, Tree, parse_conllu, read_conllu
from biplanar.data.graph import EnhancedHead
from biplanar.errors import BiplanarError, FormatError, GraphError
from tests.graph_files import ENHANCED, enhanced_files
from tests.strategies import graphs

CONTROL, RELATIVE, GAPPING, LEMMAS = read_conllu(ENHANCED)
FIRST = "1\tx\t_\t_\t_\t_\t0\troot\t{}\t_\n2\ty\t_\t_\t_\t_\t1\tobj\t1:obj\t_\n\n"


class TestTheValue:
    def test_heads_are_in_the_order_of_deps(self) -> None:
        graph = Graph(((("3.1", "x"), (3, "b"), (3, "a"), (0, "root")), (), ()), (("3.1", ()),))
        assert graph.heads[0] == ((0, "root"), (3, "a"), (3, "b"), ("3.1", "x"))

    def test_equal_graphs_are_equal_and_hashable(self) -> None:
        one, other = (Graph((heads, ((0, "root"),))) for heads in (((0, "a"), (2, "b")), ((2, "b"), (0, "a"))))
        assert len({one, other}) == 1

    @pytest.mark.parametrize(
        ("heads", "empty", "message"),
        [
            ([[(2, "x")]], [], "not in the sentence"),
            ([[("1.1", "x")]], [], "not in the sentence"),
            ([[(1, "x")]], [], "its own head"),
            ([[(0, "x"), (0, "x")]], [], "twice"),
            ([[(0, "x|y")]], [], "relation"),
            ([[(0, "")]], [], "relation"),
            ([[(0, "a>")]], [], "relation"),
            ([[(0, "root")]], [("1.1", []), ("1.1", [])], "id of another"),
        ],
    )
    def test_what_is_no_graph(self, heads, empty, message) -> None:
        with pytest.raises(GraphError, match=message):
            Graph(heads, empty)

    def test_cycles_and_several_roots_are_allowed(self) -> None:
        graph = Graph(([(0, "root"), (2, "x")], [(0, "root"), (1, "y")]))
        assert graph.roots == (1, 2)
        assert graph.unreachable == ()

    def test_words_that_the_root_does_not_lead_to(self) -> None:
        assert Graph(([(0, "root")], [(3, "x")], [(2, "y")], [])).unreachable == (2, 3, 4)

    def test_a_tree_as_a_graph(self) -> None:
        graph = Graph.from_tree(Tree((0, 1), ("root", "obj")))
        assert graph.heads == (((0, "root"),), ((1, "obj"),))

    @given(graphs())
    def test_generated_graphs_survive_pickling(self, graph: Graph) -> None:
        assert pickle.loads(pickle.dumps(graph)) == graph
        assert not graph.unreachable


class TestEmptyNodes:
    def test_paths_through_them(self) -> None:
        graph = GAPPING.graph
        assert graph is not None
        assert graph.empty == (("5.1", ((2, "conj:and"),)),)
        assert graph.collapsed().heads[5] == ((2, "conj:and>obj"),)

    def test_a_chain_and_a_cycle_of_them(self) -> None:
        empty = (("1.1", ((1, "a"), ("1.2", "c"))), ("1.2", (("1.1", "b"),)))
        graph = Graph((((0, "root"),), (("1.2", "d"),)), empty)
        assert graph.collapsed().heads[1] == ((1, "a>b>d"),)

    def test_a_path_back_to_its_word(self) -> None:
        graph = Graph((((0, "root"), ("1.1", "y")),), (("1.1", ((1, "x"),)),))
        assert graph.collapsed().heads[0] == ((0, "root"), (1, "x>y"))

    @given(graphs())
    def test_expanding_undoes_collapsing(self, graph: Graph) -> None:
        collapsed = graph.collapsed()
        assert not collapsed.empty
        assert collapsed.expanded().collapsed() == collapsed
        assert not collapsed.expanded().unreachable


class TestReading:
    def test_a_sentence_without_deps_has_no_graph(self) -> None:
        assert Sentence.from_words(["x"]).graph is None
        assert Sentence.from_words(["x"])[0].enhanced_heads == []
        with pytest.raises(FormatError, match="DEPS is empty"):
            Sentence.from_words(["x"]).needed_graph()

    def test_a_word_knows_its_heads(self) -> None:
        assert CONTROL[0].enhanced_heads == [(2, "nsubj"), (4, "nsubj:xsubj"), (6, "nsubj:xsubj")]
        assert GAPPING[5].enhanced_heads == [EnhancedHead("5.1", "obj")]

    @pytest.mark.parametrize(
        ("deps", "message"),
        [
            ("nsubj", "no head and relation"),
            ("0:", "no head and relation"),
            ("-1:x", "no head and relation"),
            ("01:x", "no head and relation"),
            ("²:x", "no head and relation"),
            ("0:root|", "no head and relation"),
            ("99999999999999:x", "no head and relation"),
            ("7:x", "not in the sentence"),
            ("2.1:x", "not in the sentence"),
            ("1:x", "its own head"),
            ("0:root|0:root", "twice"),
        ],
    )
    def test_bad_deps_are_kept_as_text_until_the_graph_is_asked_for(self, deps, message) -> None:
        text = "# a comment\n" + FIRST.format(deps)
        (sentence,) = parse_conllu(text, "file.conllu")
        assert sentence.to_conllu() == text
        assert sentence.tree.heads == (0, 1)
        assert sentence.to_dict()["words"][0]["deps"] == deps
        with pytest.raises(FormatError, match=rf"^file.conllu:2: .*{message}"):
            _ = sentence.graph

    def test_a_bad_empty_node(self) -> None:
        text = FIRST.format("0:root").replace("\n2\t", "\n1.1\t_\t_\t_\t_\t_\t_\t_\t9:x\t_\n2\t")
        (sentence,) = parse_conllu(text, "file.conllu")
        with pytest.raises(FormatError, match=r"^file.conllu:2: 1\.1 has the head 9"):
            _ = sentence.graph


class TestWriting:
    @pytest.mark.parametrize("sentence", [CONTROL, RELATIVE, GAPPING, LEMMAS], ids=lambda one: one.sent_id)
    def test_its_own_graph_changes_nothing(self, sentence: Sentence) -> None:
        assert sentence.with_graph(sentence.needed_graph()).to_conllu() == sentence.to_conllu()

    def test_windows_lines_stay(self) -> None:
        (sentence,) = parse_conllu(GAPPING.to_conllu().replace("\n", "\r\n"))
        assert sentence.with_graph(sentence.needed_graph()).to_conllu() == sentence.to_conllu()
        without = sentence.with_graph(Graph.from_tree(sentence.tree))
        assert "5.1" not in without.to_conllu()
        assert without.with_graph(sentence.needed_graph()).to_conllu().count("\r\n5.1\t") == 1

    def test_empty_nodes_come_and_go(self) -> None:
        tree = GAPPING.with_graph(Graph.from_tree(GAPPING.tree))
        assert tree.empty_nodes == {}
        again = tree.with_graph(GAPPING.needed_graph())
        assert again.graph == GAPPING.graph
        assert again.empty_nodes["5.1"][1:3] == ["_", "_"]

    def test_an_empty_node_before_a_multiword_token(self) -> None:
        rows = "1-2\txy\t_\t_\t_\t_\t_\t_\t_\t_\n" + FIRST.format("0:root")
        (sentence,) = parse_conllu(rows)
        graph = Graph((((0, "root"),), (("0.1", "x"),)), (("0.1", ((1, "y"),)), ("2.1", ((1, "z"),))))
        lines = sentence.with_graph(graph).to_conllu().split("\n")
        assert [line.partition("\t")[0] for line in lines] == ["0.1", "1-2", "1", "2", "2.1", "", ""]
        assert sentence.with_graph(graph).graph == graph

    def test_an_empty_node_behind_the_last_word_of_a_file_without_a_final_line_end(self) -> None:
        (sentence,) = parse_conllu(FIRST.format("0:root").rstrip("\n"))
        graph = Graph((((0, "root"),), (("2.1", "x"),)), (("2.1", ((1, "y"),)),))
        assert sentence.with_graph(graph).graph == graph

    def test_a_graph_of_another_length(self) -> None:
        with pytest.raises(GraphError, match="does not fit"):
            CONTROL.with_graph(Graph((((0, "root"),),)))

    @given(graphs())
    def test_every_graph_is_read_as_it_was_written(self, graph: Graph) -> None:
        sentence = Sentence.from_words(["x"] * len(graph)).with_graph(graph)
        assert sentence.graph == graph
        assert parse_conllu(sentence.to_conllu())[0].graph == graph


class TestConversions:
    def test_json(self) -> None:
        values = json.loads(GAPPING.to_json())
        assert values["words"][5]["enhanced_heads"] == [["5.1", "obj"]]
        assert [(node["id"], node["form"], node["deps"]) for node in values["empty"]] == [
            ("5.1", "likes", "2:conj:and")
        ]

    def test_a_data_frame(self) -> None:
        pytest.importorskip("pandas")
        frame = CONTROL.to_dataframe()
        assert frame["enhanced_heads"].tolist()[6] == [(4, "obj"), (6, "obj")]

    def test_networkx(self) -> None:
        pytest.importorskip("networkx")
        graph = GAPPING.to_networkx(enhanced=True)
        assert sorted(graph.successors("5.1")) == [4, 5, 6]
        assert graph.edges[2, "5.1", 0]["deprel"] == "conj:and"
        assert graph.nodes["5.1"]["lemma"] == "like"
        with pytest.raises(BiplanarError, match="DEPS is empty"):
            Sentence.from_words(["x"]).to_networkx(enhanced=True)


@pytest.mark.skipif(not enhanced_files(), reason="no treebanks with enhanced graphs")
@pytest.mark.parametrize("file", enhanced_files(), ids=lambda file: f"{file.parents[1].name}-{file.stem}")
def test_all_graphs_of_a_treebank_are_written_as_they_were(file) -> None:
    for sentence in read_conllu(file):
        graph = sentence.needed_graph()
        assert sentence.with_graph(graph).to_conllu() == sentence.to_conllu()
        assert not graph.unreachable
