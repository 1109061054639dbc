"""ELAS and EULAS against the official script, and the kinds of enhancements."""

from __future__ import annotations

import io
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from udtools import udeval

from biplanar import Graph, Sentence, parse_conllu, read_conllu
from biplanar.data.conllu import DEPREL, DEPS, HEAD
from biplanar.data.graph import EnhancedHead
from biplanar.errors import FormatError
from biplanar.evaluation import Evaluation, evaluate
from biplanar.evaluation.metrics import ENHANCEMENTS
from tests.graph_files import ENHANCED, enhanced_files
from tests.strategies import graphs, trees

SENTENCES = list(read_conllu(ENHANCED))
METRICS = ("ELAS", "EULAS")
COUNTS = ("correct", "gold_total", "system_total", "f1")


def official(gold: list[Sentence], system: list[Sentence]) -> dict[str, tuple[float, ...]]:
    """What the official script says of graphs without empty nodes."""
    texts = ["".join(_without_empty_nodes(one).raw for one in side) for side in (gold, system)]
    options = {"multiple_roots_okay": True, "no_empty_nodes": True}
    scores = udeval.evaluate(*(udeval.load_conllu(io.StringIO(text), "<text>", options) for text in texts))
    return {metric: tuple(getattr(scores[metric], part) for part in COUNTS) for metric in METRICS}


def _without_empty_nodes(sentence: Sentence) -> Sentence:
    return sentence.with_graph(sentence.graph.collapsed()) if sentence.graph else sentence


def ours(evaluation: Evaluation) -> dict[str, tuple[float, ...]]:
    """The same from Biplanar."""
    scores = {metric: evaluation[metric] for metric in METRICS}
    return {metric: (one.correct, one.gold, one.system, one.f1) for metric, one in scores.items()}


def disturbed(sentence: Sentence, random: Random) -> Sentence:
    """Some heads lost, some added, some relations without their subtypes."""
    graph, words = sentence.needed_graph(), []
    for word, heads in enumerate(graph.heads, 1):
        new = [one for one in heads if random.random() < 0.9]
        new = [EnhancedHead(head, one.partition(":")[0]) if random.random() < 0.2 else (head, one) for head, one in new]
        other = random.randint(0, len(sentence))
        if random.random() < 0.2 and other != word:
            new.append(EnhancedHead(other, random.choice(["nsubj", "nsubj:xsubj", "conj>obj:x"])))
        words.append(tuple(dict.fromkeys(new)))
    return sentence.with_graph(Graph(tuple(words), graph.empty))


def test_hand_written_sentences() -> None:
    for seed in range(30):
        system = [disturbed(sentence, Random(seed)) for sentence in SENTENCES]
        assert ours(evaluate(SENTENCES, system)) == official(SENTENCES, system)
        assert ours(evaluate(system, SENTENCES)) == official(system, SENTENCES)


@given(graphs(6), graphs(6), trees(6))
def test_generated_graphs(one: Graph, other: Graph, tree) -> None:
    size = min(map(len, (one, other, tree)))
    if not len(one) == len(other) == len(tree) == size:
        return
    sides = [[Sentence.from_words(["x"] * size, tree).with_graph(graph)] for graph in (one, other)]
    assert ours(evaluate(*sides)) == official(*sides)


def test_words_that_the_system_cut_otherwise() -> None:
    text = SENTENCES[0].to_conllu()
    merged = text.replace("7\tbooks", "7\tbooks.").replace("8\t.\t.\tPUNCT\t_\t_\t2\tpunct\t2:punct\t_\n", "")
    merged = merged.replace("SpaceAfter=No", "_")
    system = parse_conllu(merged)
    assert ours(evaluate(SENTENCES[:1], system)) == official(SENTENCES[:1], system)


@pytest.mark.parametrize("file", [file for file in enhanced_files() if "dev" in file.name], ids=lambda file: file.stem)
def test_treebanks(file: Path) -> None:
    gold = list(read_conllu(file))[:400]
    system = [disturbed(sentence, Random(number)) for number, sentence in enumerate(gold)]
    assert ours(evaluate(gold, system)) == official(gold, system)


WITHOUT = [sentence.with_columns({DEPS: ["_"] * len(sentence)}) for sentence in SENTENCES[:2]]


class TestWhereThereAreNoGraphs:
    def test_in_either_text(self) -> None:
        for sides in ((WITHOUT, SENTENCES[:2]), (SENTENCES[:2], WITHOUT)):
            result = evaluate(*sides, by=["enhancement"])
            assert not set(METRICS) & set(result.scores)
            assert result.breakdowns["enhancement"] == {}

    def test_copied_ones_do_not_count(self) -> None:
        assert "ELAS" not in evaluate(SENTENCES, SENTENCES, predicted=(HEAD, DEPREL)).scores
        assert "ELAS" in evaluate(SENTENCES, SENTENCES, predicted=(HEAD, DEPREL, DEPS)).scores

    def test_deps_that_are_no_graph(self) -> None:
        broken = [SENTENCES[0].with_columns({DEPS: ["?"] * len(SENTENCES[0])})]
        assert "ELAS" not in evaluate(SENTENCES[:1], broken).scores
        with pytest.raises(FormatError, match="no head and relation"):
            evaluate(SENTENCES[:1], broken, by=["enhancement"])


class TestEnhancements:
    def test_which_there_are(self) -> None:
        rows = evaluate(SENTENCES, SENTENCES, by=["enhancement"]).breakdowns["enhancement"]
        assert {name: row.gold for name, row in rows.items()} == {
            "tree": 25,
            "lemma or case": 4,
            "coordination": 2,  # read and books
            "control": 2,
            "relative clause": 2,
            "gapping": 3,
        }

    def test_they_add_up_to_elas(self) -> None:
        result = evaluate(SENTENCES, [disturbed(one, Random(7)) for one in SENTENCES], by=["enhancement"])
        rows = result.breakdowns["enhancement"]
        assert set(rows) <= set(ENHANCEMENTS)
        for part in ("correct", "gold", "system"):
            assert sum(getattr(row, part) for row in rows.values()) == getattr(result["ELAS"], part)


def test_a_graph_with_the_same_arc_in_two_relations() -> None:
    rows = "1\tx\t_\t_\t_\t_\t0\troot\t0:root\t_\n2\ty\t_\t_\t_\t_\t1\tnsubj\t{}\t_\n\n"
    gold, system = (parse_conllu(rows.format(deps)) for deps in ("1:nsubj|1:nsubj:xsubj", "1:nsubj:pass|1:nsubj:xsubj"))
    assert ours(evaluate(gold, system)) == official(gold, system)
