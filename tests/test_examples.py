from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from biplanar import read_conllu
from biplanar.planes.crossings import is_projective

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "examples"


def test_tiny_treebank_is_valid_and_has_crossing_arcs() -> None:
    sentences = list(read_conllu(EXAMPLES / "tiny.conllu"))
    assert len(sentences) >= 20
    assert all(len(sentence.tree.roots) == 1 for sentence in sentences)
    assert sum(not is_projective(sentence.tree) for sentence in sentences) >= 3


def test_tag_with_scikit_learn() -> None:
    pytest.importorskip("sklearn")
    command = [sys.executable, str(EXAMPLES / "tag_with_scikit_learn.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = re.search(r"UAS ([\d.]+), LAS ([\d.]+)", done.stdout)
    assert found, done.stdout
    assert float(found[1]) >= 95
    assert float(found[2]) >= 95


@pytest.mark.parametrize(("page", "folder"), [("encodings", ROOT), ("objects", None), ("spacy", None)])
def test_session_in_the_documentation(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, page: str, folder: Path | None
) -> None:
    monkeypatch.chdir(folder or tmp_path)  # one reads an example file, the others write
    for library in {"objects": ("pandas", "networkx"), "spacy": ("spacy",)}.get(page, ()):
        pytest.importorskip(library)
    result = doctest.testfile(str(ROOT / "docs" / f"{page}.md"), module_relative=False, encoding="utf-8")
    assert result.attempted > 10
    assert result.failed == 0


def test_train_and_parse(tmp_path: Path) -> None:
    command = [sys.executable, str(EXAMPLES / "train_and_parse.py"), "--output", str(tmp_path)]
    one_thread = os.environ | {"OMP_NUM_THREADS": "1"}  # more would wait for each other on a busy machine
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=one_thread)
    assert done.returncode == 0, done.stderr
    assert "epoch 50: dev UAS 100.00, LAS 100.00" in done.stdout
    assert "\tstove\t" in done.stdout
