"""`python -m benchmarks.parsers` from the outside."""

from __future__ import annotations

import json
import sys

import pytest
from benchmarks.parsers.__main__ import main

from biplanar.pipeline.model_folder import ModelFolder
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


class TestBenchmark:
    def test_numbers_tables_and_picture(self, run, tmp_path, udpipe_model):
        kept, plot = tmp_path / "speed.json", tmp_path / "speed.png"
        models = ["-m", f"again={ModelFolder.find().path},greedy,onnx", "--udpipe", udpipe_model]
        code, out, err = run(TINY, *models, "--rounds", 1, "--copies", 2, "--json", kept, "--plot", plot)
        assert code == 0
        assert err.splitlines()[0] == "round 1 of 1: bundled int8 search"
        numbers = json.loads(kept.read_text(encoding="utf-8"))
        assert numbers["treebank"] == {"file": TINY.name, "sentences": 22, "words": 190}
        assert numbers["rounds"] == 1
        assert numbers["machine"]["cores"] >= 1
        assert numbers["versions"]["ufal.udpipe"]
        measured = {system["name"]: system for system in numbers["systems"] if system["not_measured"] is None}
        assert list(measured) == [
            "bundled int8 search",
            "bundled int8 minimum-risk",
            "bundled int8 greedy",
            "bundled int8 paper",
            "again int8 search",
            "again int8 greedy",
            "UDPipe 1 tag+parse",
            "UDPipe 1 parse, gold tags",
        ]
        missing = {system["name"]: system["not_measured"] for system in numbers["systems"] if system["not_measured"]}
        assert "onnx" in missing.pop("again onnx search")  # which the bundled model has not
        assert missing == {
            "spaCy tag+parse": "no model was given (--spacy)",
            "SuPar biaffine": "no model was given (--supar)",
        }
        assert [stages["name"] for stages in numbers["stages"]] == ["bundled int8 search", "again int8 search"]
        assert numbers["workers"]["words"] == 380
        for text in (*measured, *missing, "no model was given (--supar)", "Stages", "Workers"):
            assert text in out
        assert plot.stat().st_size > 1000
        assert plot.with_suffix(".svg").stat().st_size > 1000

    @pytest.mark.parametrize(
        ("options", "part"),
        [
            (["missing.conllu"], "missing.conllu: No such file"),
            ([TINY, "-m", "fast=nowhere"], "nowhere: no such file or folder"),
            ([TINY, "-m", "=x"], "-m '=x': not of the form NAME=FOLDER"),
            ([TINY, "-m", "a=examples", "-m", "a=docs"], "two models are named 'a'"),
            ([TINY, "--udpipe", "nowhere"], "nowhere: no such file or folder"),
            ([TINY, "-m", "bundled=examples"], "two models are named 'bundled'"),
            ([TINY, "-m", "a=examples,greed"], "unknown runtime or decoder 'greed'; did you mean 'greedy'?"),
            ([TINY, "--plot", "nowhere/x.png"], "nowhere/x.png: no such folder"),
            ([TINY, "--json", "nowhere/x.json"], "nowhere/x.json: No such file"),
        ],
    )
    def test_what_cannot_be_is_refused_before_anything_is_measured(self, run, options, part):
        code, out, err = run(*options)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert part in err
