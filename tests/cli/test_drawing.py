"""`biplanar draw` into files."""

from __future__ import annotations

import pytest

from biplanar.data.conllu import read_conllu, write_conllu
from biplanar.data.tree import Tree
from tests.commands import check_refused, check_refused_with
from tests.draw.pictures import arcs, boxes, parse
from tests.paths import ROOT

CROSSING = ROOT / "examples" / "crossing.conllu"
PARSED = ROOT / "examples" / "crossing-parsed.conllu"
TAGGED = ROOT / "examples" / "tagged.conllu"
TAGGED_PARSED = ROOT / "examples" / "tagged-parsed.conllu"


def sections(path) -> int:
    return path.read_text(encoding="utf-8").count("<section")


class TestFiles:
    def test_a_picture(self, run, tmp_path):
        path = tmp_path / "picture.svg"
        assert run("draw", CROSSING, "--first", 1, "-o", path) == (0, "", "")
        assert {"Magno", "legit", "nsubj"} <= {box.text for box in boxes(path.read_text(encoding="utf-8"))}

    def test_all_sentences_in_one_picture(self, run, tmp_path):
        path = tmp_path / "picture.svg"
        assert run("draw", CROSSING, "-o", path).code == 0
        assert len(arcs(path.read_text(encoding="utf-8"))) == sum(map(len, read_conllu(CROSSING)))

    def test_a_page(self, run, tmp_path):
        path = tmp_path / "page.html"
        assert run("draw", CROSSING, "-o", path) == (0, "", "")
        assert sections(path) == 3
        assert "<title>crossing.conllu</title>" in path.read_text(encoding="utf-8")

    def test_only_some_on_a_page(self, run, tmp_path):
        flat = next(read_conllu(CROSSING)).with_tree(Tree((0, *range(1, 9)), ("root",) + ("dep",) * 8))
        mixed, path = tmp_path / "mixed.conllu", tmp_path / "page.html"
        with mixed.open("w", encoding="utf-8") as stream:
            write_conllu([flat, *read_conllu(CROSSING)], stream)
        assert run("draw", mixed, "--only", "nonprojective", "--first", 2, "-o", path).code == 0
        text = path.read_text(encoding="utf-8")
        assert [f'id="s{number}"' in text for number in (1, 2, 3, 4)] == [False, True, True, False]

    def test_text(self, run, tmp_path):
        path = tmp_path / "trees.txt"
        assert run("draw", CROSSING, "-o", path) == (0, "", "")
        assert path.read_text(encoding="utf-8") == run("draw", CROSSING).out

    @pytest.mark.parametrize("output", ["x.svg", "x.html", "x.txt"])
    def test_labels(self, run, tmp_path, output):
        path = tmp_path / output
        assert run("draw", CROSSING, "--encoding", "2p-full", "-o", path).code == 0
        assert "plane2" in path.read_text(encoding="utf-8")

    @pytest.mark.parametrize("output", ["x.svg", "x.html", "x.txt"])
    def test_columns(self, run, tmp_path, output):
        path = tmp_path / output
        assert run("draw", TAGGED, "--columns", "upos, feats,lemma", "-o", path).code == 0
        text = path.read_text(encoding="utf-8")
        assert all(value in text for value in ("NOUN", "magnus", "Fem,Masc", "VerbForm"))
        assert "助詞" not in text  # of XPOS

    def test_themes(self, run, tmp_path):
        path = tmp_path / "x.svg"
        run("draw", CROSSING, "--theme", "dark", "-o", path)
        assert "bp-dark" in parse(path.read_text(encoding="utf-8")).attrib["class"]


class TestAgainst:
    def test_gold_and_system(self, run, tmp_path):
        path = tmp_path / "x.svg"
        assert run("draw", CROSSING, "--against", PARSED, "-o", path).code == 0
        assert sum(arc.dashed for arc in arcs(path.read_text(encoding="utf-8"))) == 3

    def test_only_what_differs(self, run, tmp_path):
        path = tmp_path / "x.html"
        assert run("draw", CROSSING, "--against", PARSED, "--only", "different", "-o", path).code == 0
        assert sections(path) == 2

    def test_in_the_terminal(self, run):
        assert "conj ← gelesen" in run("draw", CROSSING, "--against", PARSED).out

    def test_columns(self, run):
        assert "ADJ vs NOUN" in run("draw", TAGGED, "--against", TAGGED_PARSED, "--columns", "upos").out

    def test_other_words(self, run, tmp_path):
        other, path = tmp_path / "other.conllu", tmp_path / "x.html"
        other.write_text(PARSED.read_text(encoding="utf-8").replace("puer", "puella"), encoding="utf-8")
        wanted = f"{other}:5: 'puella' instead of 'puer', as in {CROSSING}:5"
        check_refused(run("draw", CROSSING, "--against", other, "-o", path), wanted)
        assert not path.exists()


class TestRefusals:
    def test_an_unknown_ending(self, run, tmp_path):
        check_refused_with(run("draw", CROSSING, "-o", tmp_path / "x.gif"), f"{tmp_path / 'x.gif'}: cannot draw")

    def test_nothing_to_compare_with(self, run):
        check_refused_with(run("draw", CROSSING, "--only", "different"), "--against")

    def test_labels_of_two_trees(self, run):
        wanted = "--encoding and --against cannot be combined"
        check_refused(run("draw", CROSSING, "--against", PARSED, "--encoding", "2p-full"), wanted)

    def test_an_unknown_column(self, run):
        wanted = "unknown column 'lemmas'; did you mean 'lemma'? (known: upos, xpos, feats, lemma)"
        check_refused(run("draw", CROSSING, "--columns", "upos,lemmas"), wanted)

    def test_an_unknown_theme(self, run):
        wanted = "unknown theme 'drak'; did you mean 'dark'? (known: auto, light, dark)"
        check_refused(run("draw", CROSSING, "--theme", "drak"), wanted)

    def test_no_sentence_to_draw(self, run, tmp_path):
        one = next(read_conllu(CROSSING)).with_tree(Tree((0, *range(1, 9)), ("root",) + ("dep",) * 8))
        path = tmp_path / "x.svg"
        result = run("draw", "--only", "nonprojective", "-o", path, stdin=one.raw)
        check_refused_with(result, "no sentences to draw")
        assert not path.exists()


def test_what_is_parsed_can_be_drawn(run):
    result = run("parse", "--format", "svg", "--text", "Nobody came. Why?")
    assert (result.code, result.err) == (0, "")
    assert [len(group) > 0 for group in parse(result.out).findall("{http://www.w3.org/2000/svg}g")] == [True, True]
    assert {"Nobody", "came", "Why"} <= {box.text for box in boxes(result.out)}
