"""`biplanar parse` and `train` from the outside."""

from __future__ import annotations

import json
import os
from dataclasses import replace

import pytest

from biplanar.data.conllu import parse_conllu
from biplanar.decoding.beam import Outcome
from biplanar.pipeline.parser import Parser
from tests.commands import check_refused_with
from tests.paths import ROOT, TINY
from tests.serve.tiny import ALL_COLUMNS, train_tiny

TEXT = "Nobody came. Why?"
TAGGED = ROOT / "examples" / "tagged.conllu"


class TestParse:
    def test_text(self, run):
        result = run("parse", "--text", TEXT)
        assert (result.code, result.err) == (0, "")
        assert [len(sentence) for sentence in parse_conllu(result.out)] == [3, 2]

    @pytest.mark.parametrize(
        ("source", "text", "lengths"),
        [
            ("text", "Nobody came. Why?\n", [3, 2]),
            ("lines", "Nobody came. Why?\n\nYes.\n", [5, 2]),
            ("horizontal", "Nobody came .\nWhy ?\n", [3, 2]),
            ("vertical", "Nobody\ncame\n.\n\nWhy\n?\n", [3, 2]),
            ("conllu", "1\tWhy\t_\t_\t_\t_\t_\t_\t_\t_\n\n", [1]),
        ],
    )
    def test_inputs(self, run, source, text, lengths):
        result = run("parse", "--input", source, stdin=text)
        assert (result.code, result.err) == (0, "")
        sentences = parse_conllu(result.out)
        assert [len(sentence) for sentence in sentences] == lengths
        assert all(sentence.tree.roots for sentence in sentences)

    @pytest.mark.parametrize("decoder", ["search", "minimum-risk", "greedy", "paper"])
    def test_decoders(self, run, decoder):
        result = run("parse", "--text", TEXT, "--decoder", decoder)
        assert (result.code, result.err) == (0, "")
        assert [sentence.tree.heads for sentence in parse_conllu(result.out)] == [(2, 0, 2), (0, 1)]

    def test_probabilities(self, run):
        result = run("parse", "--text", TEXT, "--probabilities")
        chances = [word.misc.split("HeadProb=")[1] for sentence in parse_conllu(result.out) for word in sentence.words]
        assert all(0 < float(chance) < 1 for chance in chances)
        result = run("parse", "--text", TEXT, "--probabilities", "--format", "json")
        words = [word for line in result.out.splitlines() for word in json.loads(line)["words"]]
        assert [f"{word['head_probability']:.3f}" for word in words] == chances

    def test_probabilities_of_another_tree_are_dropped(self, run):
        row = "1\tWhy\t_\t_\t_\t_\t_\t_\t_\tHeadProb=high|X=1\n\n"
        result = run("parse", "--input", "conllu", "--format", "json", stdin=row)
        (word,) = json.loads(result.out)["words"]
        assert word["misc"] == "X=1"
        assert "head_probability" not in word

    def test_a_file_and_a_text(self, run):
        check_refused_with(run("parse", TINY, "--text", TEXT), "--text")

    def test_several_trees(self, run):
        text = "I saw the man with the telescope."
        result = run("parse", "--text", text, "--best", "3", "--probabilities")
        sentences = parse_conllu(result.out)
        assert len({sentence.tree.heads for sentence in sentences}) == len(sentences) == 3
        scores = [float(sentence.comments[1].removeprefix("# tree_score = ")) for sentence in sentences]
        assert scores == sorted(scores, reverse=True)
        assert [sentence.comments[0] for sentence in sentences] == [f"# tree_rank = {rank}" for rank in (1, 2, 3)]
        assert sentences[0].tree == parse_conllu(run("parse", "--text", text).out)[0].tree
        assert "HeadProb=" in sentences[2].words[0].misc

    def test_several_trees_are_searched_for(self, run):
        check_refused_with(
            run("parse", "--text", TEXT, "--best", "2", "--decoder", "greedy"), "--best needs --decoder search"
        )

    def test_sentences_that_the_search_gives_up_are_counted(self, run, monkeypatch):
        parse = Parser.parse

        def lose_all(parser, given, *options):
            output = parse(parser, given, *options)
            return replace(output, parsed=replace(output.parsed, outcome=Outcome(lost=len(given))))

        monkeypatch.setattr(Parser, "parse", lose_all)
        result = run("parse", "--text", TEXT, "--verbose")
        assert result.code == 0
        assert all(sentence.tree.roots for sentence in parse_conllu(result.out))
        assert "2 sentences\nbiplanar: for 2 of them" in result.err
        assert run("parse", "--text", TEXT) == (0, result.out, "")

    @pytest.mark.parametrize("decoder", ["search", "minimum-risk", "greedy", "paper"])
    def test_every_decoder_counts_sentences(self, run, decoder):
        assert "2 sentences" in run("parse", "--text", TEXT, "--verbose", "--decoder", decoder).err

    def test_sentences_that_were_found_are_counted_beside_those_that_were_not(self, run, monkeypatch):
        several_trees = Parser.several_trees

        def lose_the_first(parser, sentence, *options):
            found = several_trees(parser, sentence, *options)
            return replace(found, outcome=Outcome(lost=1)) if sentence.forms[0] == "Nobody" else found

        monkeypatch.setattr(Parser, "several_trees", lose_the_first)
        result = run("parse", "--text", TEXT, "--best", "2", "--verbose")
        assert "2 sentences\nbiplanar: for 1 of them" in result.err

    @pytest.mark.parametrize(
        ("name", "beginning"),
        [
            ("x.svg", "<svg"),
            ("x.json", '{"sent_id": "1", "text": "Nobody came.", '),
            ("x.jsonl", '{"sent_id": "1", '),
            ("x.html", "<!DOCTYPE html>"),
            ("x.conllu", "# newdoc"),
        ],
    )
    def test_the_ending_says_what_is_written(self, run, tmp_path, name, beginning):
        assert run("parse", "--text", TEXT, "-o", tmp_path / name).code == 0
        assert (tmp_path / name).read_text().lower().startswith(beginning.lower())
        assert run("parse", "--text", TEXT, "-o", tmp_path / name, "--format", "conllu").code == 0
        assert (tmp_path / name).read_text().startswith("# newdoc")

    def test_several_files(self, run, tmp_path):
        for name in ("a.txt", "b.txt"):
            (tmp_path / name).write_text("Yes. No.\n")
        result = run("parse", tmp_path / "a.txt", tmp_path / "b.txt", TINY)
        found = [sentence.comment("sent_id") for sentence in parse_conllu(result.out)]
        assert found[:4] == ["a.txt-1", "a.txt-2", "b.txt-1", "b.txt-2"]
        assert len(found) == 4 + len(parse_conllu(TINY.read_text()))

    def test_lines_are_numbered_through(self, run):
        result = run("parse", "--input", "lines", stdin="Yes.\nNo.\n")
        assert result.out.count("# sent_id = 1\n") == 1
        assert "# sent_id = 2\n" in result.out

    def test_json(self, run):
        result = run("parse", "--format", "json", "--text", TEXT)
        sentences = [json.loads(line) for line in result.out.splitlines()]
        assert [(one["sent_id"], one["text"], "newpar" in one) for one in sentences] == [
            ("1", "Nobody came.", True),
            ("2", "Why?", False),
        ]
        assert sentences[0]["words"][1]["form"] == "came"
        assert sentences[0]["words"][1]["head"] == 0

    def test_json_of_several_files_is_numbered_like_conllu(self, run, tmp_path):
        for name in ("a.txt", "b.txt"):
            (tmp_path / name).write_text("Yes. No.\n")
        result = run("parse", tmp_path / "a.txt", tmp_path / "b.txt", "--format", "json", "--best", 2)
        numbers = [json.loads(line)["sent_id"] for line in result.out.splitlines()]
        assert numbers[:2] == ["a.txt-1", "a.txt-1-tree2"]
        assert numbers[-1].startswith("b.txt-2")
        assert json.loads(result.out.splitlines()[0])["comments"]["tree_rank"] == "1"

    def test_predicted_columns(self, run, tmp_path):
        model = train_tiny(tmp_path / "model", columns=ALL_COLUMNS)
        result = run("parse", "-m", model, "--text", "The cat sleeps.", "--format", "json")
        words = json.loads(result.out)["words"]
        assert [(word["upos"], word["xpos"], word["feats"], word["lemma"]) for word in words[1:3]] == [
            ("NOUN", "no", "Number=Sing", "cat"),
            ("VERB", "ve", "Mood=Ind|VerbForm=Fin", "sleep"),
        ]
        without = run("parse", "-m", model, "--text", "The cat sleeps.", "--format", "json", "--no-tags")
        assert {word["upos"] for word in json.loads(without.out)["words"]} == {"_"}
        drawn = run("parse", "-m", model, "--text", "The cat sleeps.", "--format", "tree", "--columns", "upos,lemma")
        assert ["upos", "DET", "NOUN", "VERB", "PUNCT"] in [line.split() for line in drawn.out.splitlines()]

    @pytest.mark.parametrize("workers", [1, 2])
    @pytest.mark.parametrize("output", ["tree", "svg", "html"])
    def test_columns_of_drawings(self, run, output, workers):
        shown = run("parse", TAGGED, "--format", output, "--columns", "upos, lemma", "--workers", workers)
        assert (shown.code, shown.err) == (0, "")
        plain = run("parse", TAGGED, "--format", output)
        for text in ("ADJ", "magnus"):
            assert text in shown.out
            assert text not in plain.out

    def test_columns_are_for_drawings(self, run):
        check_refused_with(run("parse", TAGGED, "--columns", "upos"), "--columns is for drawings")
        wanted = "unknown column 'lemmas'; did you mean 'lemma'?"
        check_refused_with(run("parse", TAGGED, "--format", "svg", "--columns", "lemmas"), wanted)

    def test_tree(self, run):
        result = run("parse", "--format", "tree", "--text", TEXT)
        assert "root" in result.out
        assert "▼" in result.out

    @pytest.mark.parametrize(
        ("name", "start"),
        [
            ("x.png", b"\x89PNG"),
            ("x.pdf", b"%PDF"),
            ("x.parquet", b"PAR1"),
            ("x.svg", b"<svg"),
            ("x.json", b'{"sent_id"'),
        ],
    )
    def test_a_file_is_what_its_ending_says(self, run, tmp_path, name, start):
        result = run("parse", "--text", TEXT, "-o", tmp_path / name)
        assert (result.code, result.err) == (0, "")
        assert (tmp_path / name).read_bytes().startswith(start)

    def test_odd_file_names(self, run, tmp_path):
        names = ["a\nb.txt", os.fsdecode(b"caf\xe9.txt")]
        for name in names:
            (tmp_path / name).write_text("Yes.")
        result = run("parse", *(tmp_path / name for name in names))
        assert (result.code, result.err) == (0, "")
        assert [one.sent_id for one in parse_conllu(result.out)] == ["a\\nb.txt-1", "caf\\udce9.txt-1"]

    def test_a_conllu_file_is_known_by_its_name(self, run, tmp_path):
        out = tmp_path / "out.conllu"
        assert run("parse", TINY, "-o", out).code == 0
        assert len(parse_conllu(out.read_text())) == len(parse_conllu(TINY.read_text()))

    def test_workers(self, run, tmp_path):
        one, two = tmp_path / "1.conllu", tmp_path / "2.conllu"
        for workers, out in (1, one), (2, two):
            result = run("parse", TINY, "-o", out, "--workers", workers)
            assert (result.code, result.out, result.err) == (0, "", "")
        assert one.read_text() == two.read_text()
        check_refused_with(
            run("parse", "--workers", 2, "--input", "conllu", stdin="1\tx\n"), "<stdin>:1: expected 10 columns"
        )

    def test_bad_requests(self, run, tmp_path):
        check_refused_with(run("parse", "--input", "horizntal"), "'horizntal'; did you mean 'horizontal'?")
        check_refused_with(run("parse", "--format", "jsn"), "'jsn'; did you mean 'json'?")
        for name in ("x.xyz", "x.doc", "x.xyz.gz"):
            check_refused_with(run("parse", "--text", "Yes.", "-o", tmp_path / name), "--format")
        assert list(tmp_path.iterdir()) == []
        check_refused_with(run("parse", "-m", tmp_path), "not a model folder")
        check_refused_with(run("parse", tmp_path / "none.conllu"), "No such file or directory")
        check_refused_with(run("parse", "Nobody came." * 100), "--text")
        out = tmp_path / "out.conllu"
        check_refused_with(
            run("parse", "--input", "conllu", "-o", out, stdin="1\tx\n"), "<stdin>:1: expected 10 columns"
        )
        assert not out.exists()


class TestTrain:
    SMALL = (
        "--network.hidden",
        8,
        "--network.char_hidden=4",
        "--network.layers",
        1,
        "--segmenter.kind",
        "none",
    )

    def test_a_model_from_the_command_line(self, run, tmp_path):
        options = ("--train", TINY, "--dev", TINY, "-o", tmp_path / "model", "--device", "cpu", "-e", "2p-prop")
        result = run("train", "paper", *options, *self.SMALL, "--training.epochs", 2)
        assert result.code == 0, result.err
        assert "epoch 2/2" in result.err
        assert 'encoding = "2p-prop"' in (tmp_path / "model" / "config.toml").read_text()
        result = run("evaluate", TINY, "-m", tmp_path / "model", "--json")
        assert json.loads(result.out)["scores"]["Words"]["f1"] == 1
        check_refused_with(run("train", *options), "a model is there already")

    def test_bad_requests(self, run, tmp_path):
        check_refused_with(run("train"), "--dev")
        files = ("--train", TINY, "--dev", TINY, "-o", tmp_path / "model")
        check_refused_with(run("train", *files, "--network.hiden", 3), "unknown setting 'network.hiden'; did you mean")
        check_refused_with(run("train", *files, "--network.hidden"), "--network.hidden needs a value")
        check_refused_with(run("train", *files, "-e", "2p-gredy"), "did you mean '2p-greedy'?")
        check_refused_with(run("train", *files, "--device", "abacus"), "no device 'abacus'")
        check_refused_with(run("train", "acurate", *files), "did you mean 'accurate'?")
        assert not (tmp_path / "model").exists()
