"""Every block of code in the pages about large files and scale runs; the one about Spark needs Java."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys

import pytest

from biplanar.data.conllu import read_conllu
from tests.bulk.pages import blocks, commands


def check(folder, *command: str, shell: bool = False) -> subprocess.CompletedProcess[str]:
    line = command[0] if shell else list(command)
    done = subprocess.run(line, cwd=folder, shell=shell, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done


@pytest.mark.parametrize("line", commands("large-files.md"))
def test_commands(docs_folder, line, run, monkeypatch):
    monkeypatch.chdir(docs_folder)
    if "|" in line:
        check(docs_folder, line, shell=True)
    else:
        assert run(*shlex.split(line)[1:]).code == 0
    written = [path for path in docs_folder.rglob("parsed*") if path.is_file()] or list(
        (docs_folder / "parsed").iterdir()
    )
    assert all(list(read_conllu(path)) for path in written if not path.name.startswith("."))


def test_scripts(docs_folder):
    folder = docs_folder
    for number, code in enumerate(blocks("large-files.md", "python")):
        (folder / f"script{number}.py").write_text(code)
        check(folder, sys.executable, f"script{number}.py")
    assert (folder / "parsed.jsonl").read_text().count("\n") > 70
    assert len(list((folder / "shards").glob("*.parquet"))) == 2


@pytest.mark.skipif(not (shutil.which("java") or os.environ.get("JAVA_HOME")), reason="no Java, which Spark runs on")
def test_spark(docs_folder):
    """Half a minute: Spark starts Java, and that Python."""
    folder = docs_folder
    (script,) = blocks("scale.md", "python")
    (folder / "script.py").write_text(script)
    check(folder, sys.executable, "-W", "ignore", "script.py")
    import pyarrow.parquet as pq

    rows = pq.read_table(folder / "parsed").to_pylist()
    assert sorted((row["sent_id"], row["head"]) for row in rows) == [
        ("a-1", [2, 0, 2]),
        ("a-2", [0, 1]),
        ("b-1", [2, 0, 2]),
    ]
