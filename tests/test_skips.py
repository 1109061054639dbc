"""Skipped tests in and outside of CI, in a pytest of their own."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from tests.paths import ROOT

TESTS = """
import pytest

@pytest.fixture
def browser():
    pytest.skip("no browser: looked for chromium")

def test_browser(browser): pass
def test_treebanks(): pytest.skip("no treebanks in ../shared")
@pytest.mark.skipif(True, reason="no Afrikaans-AfriBooms")
def test_one_treebank(): pass
@pytest.mark.skipif(True, reason="there is no CUDA")
def test_cuda(): pass
def test_root(): pytest.skip("root may read everything")
@pytest.mark.xfail(reason="not yet")
def test_expected(): assert False
def test_passes(): pass
"""
MODULE = """
import pytest
pytest.importorskip("no_such_browser_driver", reason="no Playwright")
def test_page(): pass
"""


@pytest.fixture
def counts(tmp_path, monkeypatch):
    """Runs a file of tests: how many ended in which way, and what was printed."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])))
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # they take long to load

    def run(code: str) -> tuple[dict[str, int], str]:
        (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
        (tmp_path / "test_it.py").write_text(code, encoding="utf-8")
        command = [sys.executable, "-m", "pytest", "-p", "tests.skips", "-p", "no:cacheprovider", "test_it.py"]
        printed = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False).stdout
        last = printed.strip().splitlines()[-1]
        return {name.rstrip("s"): int(count) for count, name in re.findall(r"(\d+) ([a-z]+)", last)}, printed

    return run


def test_skips_stay_skips_elsewhere(counts, monkeypatch):
    monkeypatch.delenv("BIPLANAR_CI", raising=False)
    assert counts(TESTS)[0] == {"passed": 1, "skipped": 5, "xfailed": 1}
    assert counts(MODULE)[0] == {"skipped": 1}


def test_in_ci_only_what_the_machine_cannot_do_is_skipped(counts, monkeypatch):
    monkeypatch.setenv("BIPLANAR_CI", "1")
    found, printed = counts(TESTS)
    assert found == {"passed": 1, "skipped": 2, "xfailed": 1, "failed": 1, "error": 2}
    for reason in ("no browser: looked for chromium", "no treebanks in ../shared", "no Afrikaans-AfriBooms"):
        assert reason in printed


def test_in_ci_no_module_is_skipped(counts, monkeypatch):
    monkeypatch.setenv("BIPLANAR_CI", "1")
    found, printed = counts(MODULE)
    assert found["error"] == 1
    assert "passed" not in found
    assert "no Playwright" in printed
