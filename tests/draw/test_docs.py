"""The pictures in the docs are what the commands beside them make."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.paths import ROOT

TEXT = "".join((ROOT / "docs" / page).read_text(encoding="utf-8") for page in ("drawing.md", "graphs.md"))
COMMANDS = re.findall(r"^biplanar (draw .*) -o (docs/images/\S+\.svg)$", TEXT, re.MULTILINE)


@pytest.mark.parametrize(("command", "image"), COMMANDS, ids=[Path(image).stem for _, image in COMMANDS])
def test_a_picture_is_up_to_date(run, monkeypatch, tmp_path, command, image):
    monkeypatch.chdir(ROOT)
    made = tmp_path / "made.svg"
    assert run(*shlex.split(command), "-o", made).code == 0
    assert made.read_text(encoding="utf-8") == (ROOT / image).read_text(encoding="utf-8"), (
        f"biplanar {command} -o {image}"
    )


def test_every_picture_is_made_and_shown():
    shown = re.findall(r"\]\((images/\S+)\)", TEXT)
    assert len(shown) >= 5
    assert sorted(f"docs/{image}" for image in shown) == sorted(image for _, image in COMMANDS)
