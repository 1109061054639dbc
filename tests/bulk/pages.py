"""The blocks of code in the docs."""

from __future__ import annotations

import re

from tests.paths import ROOT


def blocks(page: str, language: str) -> list[str]:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def commands(page: str) -> list[str]:
    lines = "".join(blocks(page, "")).replace("\\\n", " ").splitlines()
    return [line.partition(" # ")[0].strip() for line in lines]
