"""The blocks of code in README and docs: what they are, and the commands in them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from tests.paths import ROOT

PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
_BLOCK = re.compile(r"^```(?P<language>\w*)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A block of code; without a language it is for a shell."""

    page: Path
    line: int
    language: str
    code: str

    @property
    def name(self) -> str:
        """Where it is."""
        return f"{self.page.name}:{self.line}"

    @property
    def is_session(self) -> bool:
        """Whether it shows prompts and what follows them."""
        return self.code.startswith((">>> ", "$ "))

    def commands(self) -> list[str]:
        """The commands of a shell, without comments."""
        prompted = self.code.startswith("$ ")
        lines = self.code.replace("\\\n", " ").splitlines()
        found = [line.removeprefix("$ ") for line in lines if line.startswith("$ ") or not prompted]
        return [re.sub(r"\s+#\s.*", "", line).strip() for line in found if line.strip()]

    def shown(self) -> list[str]:
        """What follows the only command of a session."""
        assert self.code.count("$ ") == 1
        body = self.code.replace("\\\n", " ").splitlines()[1:]
        return [line.rstrip() for line in body if line.strip()]


def blocks_of(page: Path) -> list[Block]:
    """All blocks of a page, in their order."""
    text = page.read_text(encoding="utf-8")
    return [
        Block(page, text.count("\n", 0, found.start()) + 1, found["language"], found["code"])
        for found in _BLOCK.finditer(text)
    ]
