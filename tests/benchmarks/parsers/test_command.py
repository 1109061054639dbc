from __future__ import annotations

import pytest
from benchmarks.parsers.command import measure_memory, measure_start, measure_workers

from benchmarks.parsers import command


def test_start():
    start = measure_start(2)
    assert start["not_measured"] is None
    assert len(start["runs"]) == 2
    assert all(0 < run["seconds"] < 60 for run in start["runs"])


def test_workers(gold):
    workers = measure_workers(gold, "bundled", None, 1, 2)
    assert workers["not_measured"] is None
    assert workers["words"] == 2 * gold.words
    assert {count: len(runs) for count, runs in workers["runs"].items()} == {1: 1, 2: 1}
    assert workers["ratio"] == workers["best"][1] / workers["best"][2]


def test_memory(gold):
    memory = measure_memory(gold, "bundled", None, 3)
    assert memory["not_measured"] is None
    assert set(memory["peak_memory"]) == {1, 3}
    assert all(20 * 2**20 < peak < 2 * 2**30 for peak in memory["peak_memory"].values())
    assert 0.5 < memory["ratio"] < 1.5


@pytest.mark.parametrize(("measure", "numbers"), [(measure_workers, (1, 2)), (measure_memory, (2,))])
def test_trouble_is_told(gold, tmp_path, measure, numbers):
    result = measure(gold, "none", str(tmp_path / "nowhere"), *numbers)
    assert result["not_measured"].startswith("biplanar: error: ")
    assert str(tmp_path / "nowhere") in result["not_measured"]


def test_the_line_that_says_most():
    box = ["Usage: biplanar parse", "╭─ Error ────╮", "│ No such option: --x │", "╰──────╯"]
    assert command._complaint(box) == "No such option: --x"
    assert command._complaint([]) == "it failed and said nothing"
