from __future__ import annotations

import pytest

from biplanar.cli.common import new_table, show
from biplanar.cli.evaluate import _table
from biplanar.evaluation import Score


@pytest.fixture(autouse=True)
def narrow(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")


def test_scores_of_millions_of_words_fit(capsys):
    many = Score(12_345_678, 23_456_789, 34_567_890)
    show(_table("Scores", {"NonprojectiveDependencies": many, "Words": Score(1, 1, 1)}))
    title, header, _, row, _ = capsys.readouterr().out.splitlines()
    assert title.strip() == "Scores"
    assert header.split() == ["P", "%", "R", "%", "F1", "%", "right", "gold", "system"]
    assert row.split() == ["NonprojectiveDependencies", "35.71", "52.63", "42.55", "12345678", "23456789", "34567890"]


def test_what_does_not_fit_is_wrapped_and_not_cut(capsys):
    name = "-".join(["relation"] * 20)
    table = new_table("Long", ["name", "count"], [[name, "7"]])
    show(table, new_table("Next", ["name"]))
    out = capsys.readouterr().out
    assert "…" not in out
    assert max(map(len, out.splitlines())) <= 80
    assert "".join(line.split(" ")[0] for line in out.splitlines()[3:-4]) == name
