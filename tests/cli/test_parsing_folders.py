"""`biplanar parse` into folders, and how far it is."""

from __future__ import annotations

import io
import sys

import pytest

from biplanar.cli.parse import byte_progress
from tests.commands import check_refused_with


@pytest.fixture
def texts(tmp_path):
    """A folder with two files."""
    for name in ("a.txt", "b/c.txt"):
        (tmp_path / "in" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "in" / name).write_text("Nobody came. Why?\n")
    return tmp_path / "in"


def test_a_file_for_each_input(run, texts, tmp_path):
    out = tmp_path / "out"
    assert run("parse", texts, "--output-dir", out, "--format", "conllu.gz").err == f"biplanar: 2 shards in {out}\n"
    assert sorted(str(path.relative_to(out)) for path in out.rglob("*.gz")) == ["a.conllu.gz", "b/c.conllu.gz"]
    again = run("parse", texts, "--output-dir", out, "--format", "conllu.gz")
    assert again.err == f"biplanar: 2 shards in {out}, 2 of them from before\n"


def test_folders_into_one_file(run, texts):
    printed = run("parse", texts).out
    assert [line for line in printed.splitlines() if "sent_id" in line] == [
        f"# sent_id = {name}.txt-{number}" for name in "ac" for number in (1, 2)
    ]


def test_refused(run, texts, tmp_path):
    both = ("-o", tmp_path / "x", "--output-dir", tmp_path / "y")
    check_refused_with(run("parse", texts, *both), "--output-dir cannot be combined")
    check_refused_with(run("parse", texts, "--output-dir", both[3], "--format", "svg"), "conllu.zst, parquet")
    assert not (tmp_path / "y").exists()


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_sees_bytes_and_the_time_left(run, texts, tmp_path, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    with byte_progress(2000) as advance:
        advance(500)
        advance(1500)
    assert "2.0/2.0 kB" in terminal.getvalue()
    terminal.truncate(0)
    for output in ("-o", "--output-dir"):
        run("parse", texts / "a.txt", output, tmp_path / output.strip("-"))
        assert "18/18 bytes" in terminal.getvalue()
        terminal.truncate(0)
