"""`python -m benchmarks.parsers` from the outside."""

from __future__ import annotations

import json
import sys

import pytest
from benchmarks.parsers.__main__ import ALL_DECODERS, ALL_RUNTIMES, main

from tests.paths import TINY


@pytest.fixture
def run(monkeypatch, capsys):
    """Runs the command in this process: its exit code, standard output and standard error."""

    def run(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["parsers", *map(str, arguments)])
        try:
            main()
        except SystemExit as left:
            return left.code, *capsys.readouterr()
        return 0, *capsys.readouterr()

    return run


def test_the_default_decoder_is_first_and_the_fastest_runtime_last():
    assert sorted(ALL_DECODERS) == ["greedy", "minimum-risk", "paper", "search"]
    assert (ALL_DECODERS[0], ALL_RUNTIMES) == ("search", ("torch", "onnx", "int8"))


class TestBenchmark:
    def test_numbers_tables_and_picture(self, run, tmp_path, udpipe_model):
        kept, plot = tmp_path / "speed.json", tmp_path / "speed.png"
        options = ["--decoders", "search,greedy", "--only", "systems,stages", "--rounds", 1]
        code, out, err = run(TINY, "--udpipe", udpipe_model, *options, "--json", kept, "--plot", plot)
        assert code == 0
        assert err.splitlines()[:2] == ["systems", "round 1 of 1: bundled search"]
        numbers = json.loads(kept.read_text(encoding="utf-8"))
        assert numbers["treebank"] == {"file": TINY.name, "sentences": 22, "words": 190}
        assert numbers["rounds"] == 1
        assert numbers["machine"]["cores"] >= 1
        assert numbers["versions"]["ufal.udpipe"]
        measured = {system["name"]: system for system in numbers["systems"] if system["not_measured"] is None}
        assert list(measured) == [
            "bundled search",
            "bundled greedy",
            "UDPipe 1 tag+parse",
            "UDPipe 1 tag+parse, beam 1",
            "UDPipe 1 parse, gold tags",
        ]
        missing = {system["name"]: system["not_measured"] for system in numbers["systems"] if system["not_measured"]}
        assert missing == {
            "spaCy tag+parse": "no model was given (--spacy)",
            "spaCy parse": "no model was given (--spacy)",
            "SuPar biaffine": "no model was given (--supar)",
        }
        assert [stages["name"] for stages in numbers["stages"]] == ["bundled search", "bundled greedy"]
        for text in (*measured, *missing, "no model was given (--supar)", "Stages"):
            assert text in out
        assert plot.stat().st_size > 1000
        assert plot.with_suffix(".svg").stat().st_size > 1000

    def test_a_part_that_fails_is_told(self, run, tmp_path):
        (tmp_path / "empty").mkdir()
        code, out, _ = run(TINY, "-m", f"none={tmp_path / 'empty'}", "--only", "growth")
        assert code == 0
        assert "Not measured: none (" in " ".join(out.split())

    @pytest.mark.parametrize(
        ("options", "part"),
        [
            (["missing.conllu"], "missing.conllu: No such file"),
            ([TINY, "-m", "fast=nowhere"], "nowhere: no such file or folder"),
            ([TINY, "-m", "=x"], "-m '=x': not of the form NAME=FOLDER"),
            ([TINY, "-m", "a=examples", "-m", "a=docs"], "two models are named 'a'"),
            ([TINY, "--udpipe", "nowhere"], "nowhere: no such file or folder"),
            ([TINY, "--only", "sistems"], "unknown part 'sistems'; did you mean 'systems'?"),
            ([TINY, "--runtimes", "int4"], "unknown runtime 'int4'; did you mean 'int8'?"),
            ([TINY, "--decoders", "greed"], "unknown decoder 'greed'; did you mean 'greedy'?"),
            ([TINY, "--only", "start", "--plot", "x.png"], "--plot shows what --only systems measures"),
            ([TINY, "--plot", "nowhere/x.png"], "nowhere/x.png: no such folder"),
            ([TINY, "--json", "nowhere/x.json"], "nowhere/x.json: No such file"),
        ],
    )
    def test_what_cannot_be_is_refused_before_anything_is_measured(self, run, options, part):
        code, out, err = run(*options)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert part in err
