"""Labels of enhanced graphs in files: `encode --graphs`, `decode --graphs`, `stats --graphs`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from biplanar import Graph, read_conllu, write_conllu
from biplanar.encodings.graphs import GRAPH_ENCODINGS
from tests.commands import Run
from tests.graph_files import ENHANCED

COVERED = [name for name in GRAPH_ENCODINGS if name != "graph-12-bit"]


@pytest.fixture
def trees(tmp_path: Path) -> Path:
    """The same sentences with trees only."""
    path = tmp_path / "trees.conllu"
    write_conllu([one.with_graph(Graph.from_tree(one.tree)) for one in read_conllu(ENHANCED)], path)
    return path


@pytest.mark.parametrize("name", COVERED)
@pytest.mark.parametrize("ending", ["tsv", "jsonl"])
def test_there_and_back(run: Run, tmp_path: Path, trees: Path, name: str, ending: str) -> None:
    labels, made = tmp_path / f"labels.{ending}", tmp_path / "made.conllu"
    assert run("encode", ENHANCED, "--graphs", "-e", name, "-o", labels).err == ""
    options = ("--graphs", "-e", name, "--input", ending, "--into", trees)
    assert run("decode", labels, *options, "-o", made).code == 0
    for one, other in zip(read_conllu(ENHANCED), read_conllu(made), strict=True):
        assert other.needed_graph().collapsed() == one.needed_graph().collapsed()
        assert other.tree == one.tree


def test_the_default_is_ways_through_the_tree(run: Run) -> None:
    lines = run("encode", ENHANCED, "--graphs").out.splitlines()
    assert lines[0] == "Anna\t^>xcomp|^>xcomp>conj\t_\tnsubj:xsubj"
    assert lines[5] == "read\t^^\t+lemma\t="


def test_what_does_not_come_back_is_counted(run: Run) -> None:
    err = run("encode", ENHANCED, "--graphs", "-e", "graph-12-bit").err
    assert "1 of 4 sentences have arcs that graph-12-bit cannot express" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("decode", "--graphs"), "--into"),
        (("encode", ENHANCED, "--graphs", "-e", "2p-full"), "unknown encoding of graphs"),
        (("stats", ENHANCED, "--graphs", "--encodings", "x"), "unknown encoding of graphs"),
        (("draw", ENHANCED, "--graphs", "--against", ENHANCED), "cannot be combined"),
    ],
)
def test_what_cannot_be_done(run: Run, arguments: tuple[object, ...], message: str) -> None:
    result = run(*arguments)
    assert result.code == 2
    assert message in result.err


def test_files_without_graphs_and_with_bad_ones(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "x.conllu"
    for deps, message in (("_", "DEPS is empty"), ("1:x", "its own head")):
        file.write_text(f"1\tx\t_\t_\t_\t_\t0\troot\t{deps}\t_\n\n")
        for command in ("encode", "stats"):
            result = run(command, file, "--graphs")
            assert (result.code, f"{file}:1:" in result.err, message in result.err) == (2, True, True)


def test_other_words_than_the_labels_have(run: Run, tmp_path: Path, trees: Path) -> None:
    labels = tmp_path / "labels.tsv"
    labels.write_text("Anna\t_\t_\t_\n\n")
    assert "8 words instead of the 1" in run("decode", labels, "--graphs", "--into", trees).err
    run("encode", ENHANCED, "--graphs", "-o", labels)
    longer = tmp_path / "longer.conllu"
    longer.write_text(trees.read_text() * 2)
    assert "more sentences" in run("decode", labels, "--graphs", "--into", longer).err


class TestStatistics:
    @pytest.fixture
    def treebank(self, tmp_path: Path) -> Path:
        train, test = tmp_path / "x-train.conllu", tmp_path / "x-test.conllu"
        sentences = list(read_conllu(ENHANCED))
        write_conllu(sentences[:3], train)
        write_conllu(sentences[1:], test)
        return tmp_path

    def test_json(self, run: Run, treebank: Path) -> None:
        numbers = json.loads(run("stats", treebank, "--graphs", "--json").out)
        assert numbers["graphs"]["train"] == {
            "sentences": 3,
            "words": 23,
            "arcs": 28,
            "empty_nodes": 1,
            "extra_arcs": 28.57,
            "dropped_arcs": 13.04,
        }
        assert list(numbers["encodings"]) == list(GRAPH_ENCODINGS)
        delta = numbers["encodings"]["delta"]
        assert (delta["covered_arcs"], delta["whole_sentences"]) == (100, 100)
        assert delta["unseen"]["test"] == {"delta": 0, "relation": 0, "extra": 0}
        assert numbers["encodings"]["graph-12-bit"]["whole_sentences"] == 66.67

    def test_tables(self, run: Run, treebank: Path) -> None:
        out = run("stats", treebank, "--graphs", "--encodings", "delta,graph-3p").out
        assert "dropped arcs %" in out
        assert "unseen test" in out
        assert "graph-2p" not in out

    def test_files(self, run: Run) -> None:
        assert "unseen test" not in run("stats", ENHANCED, ENHANCED, "--graphs").out

    def test_without_a_training_split(self, run: Run, treebank: Path) -> None:
        (treebank / "x-train.conllu").unlink()
        assert json.loads(run("stats", treebank, "--graphs", "--json").out)["encodings"] == {}
        assert "Labels" not in run("stats", treebank, "--graphs").out
