from __future__ import annotations

import json

import pytest
from benchmarks.output import Sheet, described, keep, markdown_table, show

from biplanar.errors import FileError

SHEET = Sheet("Title", ("a", "b"), [["1", "[2]"]], "A note.")


def test_markdown():
    assert markdown_table(["a", "b"], [[1, None]]) == "| a | b |\n| --- | --- |\n| 1 |  |"


def test_in_the_terminal(capsys):
    show([SHEET])
    shown = capsys.readouterr().out
    assert [line.split() for line in shown.splitlines() if "1" in line] == [["│", "1", "│", "[2]", "│"]]
    assert "Title" in shown
    assert "A note." in shown


def test_described():
    assert described({"processor": "Abacus", "cores": 2, "spacy": None}) == "processor Abacus, cores 2"


def test_numbers_are_kept_where_a_file_is_given(tmp_path):
    keep({"seconds": 0.5}, None)
    keep({"seconds": 0.5}, tmp_path / "numbers.json")
    assert json.loads((tmp_path / "numbers.json").read_text(encoding="utf-8")) == {"seconds": 0.5}
    with pytest.raises(FileError, match="nowhere"):
        keep({}, tmp_path / "nowhere" / "numbers.json")
