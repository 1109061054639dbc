from __future__ import annotations

import json
import subprocess
import sys

import pytest

from biplanar.benchmark import command
from biplanar.benchmark.command import measure_memory, measure_start, measure_workers, repeat


def test_start():
    start = measure_start(2)
    assert start["not_measured"] is None
    assert len(start["runs"]) == 2
    assert all(0 < run["seconds"] < 60 for run in start["runs"])


def test_workers(treebank):
    workers = measure_workers(treebank, "embedded", None, 1, 2)
    assert workers["not_measured"] is None
    assert workers["words"] == 2 * treebank.words
    assert {count: len(runs) for count, runs in workers["runs"].items()} == {1: 1, 2: 1}
    assert workers["ratio"] == workers["best"][1] / workers["best"][2]


def test_memory(treebank):
    memory = measure_memory(treebank, "embedded", None, 3)
    assert memory["not_measured"] is None
    assert set(memory["peak_memory"]) == {1, 3}
    assert all(20 * 2**20 < peak < 2 * 2**30 for peak in memory["peak_memory"].values())
    assert 0.5 < memory["ratio"] < 1.5


@pytest.mark.parametrize(("measure", "numbers"), [(measure_workers, (1, 2)), (measure_memory, (2,))])
def test_trouble_is_told(treebank, tmp_path, measure, numbers):
    result = measure(treebank, "none", str(tmp_path / "nowhere"), *numbers)
    assert result["not_measured"].startswith("biplanar: error: ")
    assert str(tmp_path / "nowhere") in result["not_measured"]


def test_repeat(tmp_path):
    (tmp_path / "one").write_bytes(b"text\n")
    repeat(tmp_path / "one", 3, tmp_path / "three")
    assert (tmp_path / "three").read_bytes() == b"text\n" * 3


def test_the_line_that_says_most():
    box = ["Usage: biplanar parse", "╭─ Error ────╮", "│ No such option: --x │", "╰──────╯"]
    assert command._complaint(box) == "No such option: --x"
    assert command._complaint([]) == "it failed and said nothing"


class TestWatch:
    def watch(self, *arguments):
        line = [sys.executable, "-m", "biplanar.benchmark.watch", sys.executable, "-c", *arguments]
        return json.loads(subprocess.run(line, capture_output=True, check=True).stdout)

    def test_time_and_memory_of_the_command(self):
        answer = self.watch("import time; text = b'x' * 200_000_000; time.sleep(0.2)")
        assert answer["code"] == 0
        assert answer["seconds"] > 0.2
        assert 200_000_000 < answer["peak_memory"] < 400_000_000

    def test_the_watcher_itself_is_small(self):
        assert self.watch("pass")["peak_memory"] < 40_000_000

    def test_failure(self):
        answer = self.watch("import sys; sys.exit('so it goes')")
        assert (answer["code"], answer["complaints"]) == (1, "so it goes\n")
