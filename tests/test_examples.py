from __future__ import annotations

import re
import runpy
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


def test_train_and_parse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    script = str(EXAMPLES / "train_and_parse.py")
    monkeypatch.setattr(sys, "argv", [script, "--output", str(tmp_path)])
    runpy.run_path(script, run_name="__main__")
    printed = capsys.readouterr().out
    assert "epoch 50: dev UAS 100.00, LAS 100.00" in printed
    assert "\tstove\t" in printed
