"""The blocks of code in README and docs: what they are, the commands in them, and what these are said to print."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.paths import ROOT

PAGES = (ROOT / "README.md", ROOT / "benchmarks" / "README.md", *sorted((ROOT / "docs").glob("*.md")))
_BLOCK = re.compile(r"^```(?P<language>\w*)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"\s+#\s.*")

# Differs from one machine or run to the next: exact probabilities, counters of a server, a training's curves.
_VARYING = re.compile(r"\d+\.\d{4,}|(?<=_total )\d+|(?<=^epoch ).*|(?<=^dev, ).*|(?<=^test, ).*", re.MULTILINE)


@dataclass(frozen=True)
class Command:
    """A line for a shell, and the lines that the page shows below it."""

    line: str
    shown: list[str]

    def check(self, printed: str) -> None:
        """Lines may be left out of a page, but not changed; `...` and `…` stand for anything."""
        shown = [_VARYING.sub("#", line) for line in self.shown]
        printed = _VARYING.sub("#", printed)
        if shown and shown[0].startswith("{"):  # JSON, whose lines may be broken elsewhere
            assert re.fullmatch(r"\s*".join(map(_pattern, shown)), printed.strip(), re.DOTALL), printed
            return
        at = 0
        for line in shown:
            found = re.compile(rf"^{_pattern(line)}$", re.MULTILINE).search(printed, at)
            assert found, f"the page shows {line!r}, found:\n{printed[at:]}"
            at = found.end()


def _pattern(line: str) -> str:
    """A regular expression for a line of a page."""
    return ".*".join(map(re.escape, re.split(r"\.\.\.|…", line.rstrip()))) + r"[ \t]*"


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

    def commands(self) -> list[Command]:
        """Its commands; with prompts, what stands between them is what they print."""
        found: list[Command] = []
        lines = iter(self.code.splitlines())
        for line in lines:
            if self.is_session and not line.startswith("$ "):
                found[-1].shown.extend([line] if line.strip() else [])
            elif line.strip():
                found.append(Command(_whole(line.removeprefix("$ "), lines), []))
        return found

    def run(self, names: dict[str, Any]) -> int:
        """Run Python code; where a comment begins with a value, that of its line has to be equal. How many were."""
        shown, compared = _values_in_comments(self.code), 0
        for statement in ast.parse(self.code).body:
            if isinstance(statement, ast.Expr):
                value = eval(compile(ast.Expression(statement.value), self.name, "eval"), names)
            else:
                exec(compile(ast.Module([statement], []), self.name, "exec"), names)
            if statement.end_lineno in shown:
                wanted = shown[statement.end_lineno]
                value = names[statement.targets[0].id] if isinstance(statement, ast.Assign) else value
                if isinstance(wanted, list) and wanted[-1:] == [...]:
                    wanted, value = wanted[:-1], value[: len(wanted) - 1]
                assert value == wanted, f"{self.name}: the page shows {wanted!r}, found {value!r}"
                compared += 1
        return compared


def _values_in_comments(code: str) -> dict[int, Any]:
    """By line, the value that its comment begins with, which an explanation may follow: `# True; and so on`."""
    found = {}
    for token in tokenize.generate_tokens(io.StringIO(code).readline):
        if token.type == tokenize.COMMENT:
            text = token.string.lstrip("# ")
            for shown in (text, *(text[: end.start()] for end in re.finditer("[;:] ", text))):
                with suppress(SyntaxError, ValueError):
                    found[token.start[0]] = ast.literal_eval(shown)
    return found


def _whole(line: str, more: Iterator[str]) -> str:
    """A command to its end, without comments: lines go on behind a backslash, a pipe and within quotes."""
    line = _COMMENT.sub("", line)
    while line.endswith(("\\", "|")) or line.count("'") % 2:
        line = line.removesuffix("\\") + ("" if line.endswith("\\") else "\n") + _COMMENT.sub("", next(more))
    return line


def blocks_of(page: Path) -> list[Block]:
    """All blocks of a page, in their order."""
    text = page.read_text(encoding="utf-8")
    return [
        Block(page, text.count("\n", 0, found.start()) + 1, found["language"], found["code"])
        for found in _BLOCK.finditer(text)
    ]
