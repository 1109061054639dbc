"""Every block of code in the pages runs, and what it shows is what is printed.

Commands of `biplanar` run in a folder that has the files which they name; trainings are made short. What would take
minutes (benchmarks) or change the machine (`pip`, `make`) is asked whether it knows the options, extras and targets
that are named. Pages with sessions of Python are doctests.
"""

from __future__ import annotations

import doctest
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

import biplanar
from biplanar.serve.models import Models
from tests.docs.blocks import PAGES, Block, blocks_of
from tests.docs.conftest import Terminal, possible_here
from tests.paths import ROOT
from tests.serve.conftest import serving

ELSEWHERE = {"large-files.md", "scale.md"}  # their blocks run in tests/bulk/test_docs.py
GENERATED = {"cli.md"}  # its blocks are those of `--help`, which tests/cli/test_cli.py checks
SESSIONS = {"labels.md": (), "objects.md": ("pandas", "networkx"), "spacy.md": ("spacy",), "tutorial.md": ()}

VALUES = {"README.md": 3, "parsing.md": 1}  # how many at least are shown in comments

ALL = [block for page in PAGES if page.name not in ELSEWHERE | GENERATED for block in blocks_of(page)]
REQUESTS = [block for block in ALL if not block.language and "curl" in block.code]
COMMANDS = [block for block in ALL if not block.language and "curl" not in block.code]
SCRIPTS = [block for block in ALL if block.language == "python" and not block.is_session]


def test_no_block_is_left_out() -> None:
    sessions = [block for block in ALL if block.language == "python" and block.is_session]
    assert {block.page.name for block in sessions} == set(SESSIONS)
    assert len(REQUESTS) + len(COMMANDS) + len(SCRIPTS) + len(sessions) == len(ALL) > 40
    assert all(block.commands() for block in COMMANDS)
    assert all(page in (ROOT / "tests" / "bulk" / "test_docs.py").read_text() for page in ELSEWHERE)


@pytest.mark.parametrize("block", COMMANDS, ids=lambda block: block.name)
def test_commands(block: Block, folder: Path, terminal: Terminal) -> None:  # noqa: ARG001
    for command in block.commands():
        program, *words = shlex.split(command.line)
        if program in CHECKS:
            assert not command.shown
            CHECKS[program](words)
        else:
            command.check(terminal(command.line))


def check_module(words: list[str]) -> None:
    """A benchmark is there, and its code names the options."""
    assert words[0] == "-m"
    spec = find_spec(words[1])
    assert spec
    assert spec.origin
    path = Path(spec.origin)
    files = path.parent.glob("*.py") if path.name == "__init__.py" else [path]
    known = set(re.findall(r'"(--?[a-z][a-z-]*)"', "".join(file.read_text() for file in files)))
    assert {word for word in words[2:] if word.startswith("-")} <= known


def check_pip(words: list[str]) -> None:
    """Only extras that there are."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for extras in re.findall(r"\[(.*?)\]", " ".join(words)):
        assert set(extras.split(",")) <= set(project["optional-dependencies"])


def check_make(words: list[str]) -> None:
    """Only targets that there are."""
    for target in words:
        assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE)


def check_docker(words: list[str]) -> None:
    """There is a Dockerfile, and the server takes the arguments that a container is given."""
    assert (ROOT / "Dockerfile").exists()
    command = words[words.index("biplanar") + 1 :]
    if words[0] == "run" and command:
        assert command[0] == "biplanar"
        possible_here(command[1:])


CHECKS = {"python": check_module, "pip": check_pip, "make": check_make, "docker": check_docker}


@pytest.mark.skipif(shutil.which("curl") is None, reason="no curl")
def test_requests(folder: Path) -> None:
    with serving(Models.load([])) as served:
        for block in REQUESTS:
            for command in block.commands():
                line = re.sub(r"localhost:8001", served.address.removeprefix("http://"), command.line)
                line = re.sub("^python3|(?<= )python3", shlex.quote(sys.executable), line).replace("-s ", "-sS --fail ")
                done = subprocess.run(["bash", "-c", line], cwd=folder, capture_output=True, text=True, check=False)
                assert (done.returncode, done.stderr) == (0, ""), command.line
                command.check(done.stdout)


@pytest.mark.parametrize("page", sorted({block.page for block in SCRIPTS}), ids=lambda page: page.name)
def test_scripts(page: Path, folder: Path) -> None:  # noqa: ARG001
    """The blocks of a page, one after the other, with the names that the page speaks of."""
    sentence = next(biplanar.read_conllu("examples/tagged.conllu"))
    names = {
        "biplanar": biplanar,
        "sentence": sentence,
        "forms": list(sentence.forms),
        "tree": sentence.tree,
        "gold": sentence.tree,
        "system": sentence.tree,
        "planes": biplanar.planes_of(sentence.tree, "2p-prop"),
    }
    blocks = [replace(block, code=block.code.replace("[...]", "[*forms]")) for block in SCRIPTS if block.page == page]
    compared = sum(block.run(names) for block in blocks)
    assert compared >= VALUES.get(page.name, 0)


def test_a_wrong_value_in_a_comment_is_noticed() -> None:
    Block(ROOT, 1, "python", "1 + 1  # 2: the sum\nx = [1, 2]  # [1, ...]\n").run({})
    for code in ("1 + 1  # 3; wrong", "x = [1, 2]  # [2, ...]"):
        with pytest.raises(AssertionError, match="the page shows"):
            Block(ROOT, 1, "python", code).run({})


@pytest.mark.parametrize("page", sorted(SESSIONS))
def test_sessions(page: str, folder: Path) -> None:  # noqa: ARG001
    for library in SESSIONS[page]:
        pytest.importorskip(library)
    result = doctest.testfile(str(ROOT / "docs" / page), module_relative=False, encoding="utf-8")
    assert result.attempted > 10
    assert result.failed == 0
