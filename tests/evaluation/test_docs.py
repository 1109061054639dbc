"""The output in the docs is what the command above it prints."""

from __future__ import annotations

import re

from tests.paths import ROOT

PAGE = (ROOT / "docs" / "evaluation.md").read_text(encoding="utf-8")


def test_the_example_is_up_to_date(run, monkeypatch):
    monkeypatch.chdir(ROOT)
    (block,) = re.findall(r"^```\n\$ biplanar (.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    command, *shown = block.splitlines()
    printed = [line.rstrip() for line in run(*command.split()).out.splitlines()]
    assert len(shown) > 10
    places = [printed.index(line) for line in shown if line != "..."]
    assert places == sorted(places)
