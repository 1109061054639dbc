"""CONTRIBUTING names functions and rooms that there are."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.paths import ROOT, TINY
from tests.test_layers import FLOORS

PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
STEP = r"^\d+\. `([\w.]+)` \(`([\w/.]+)`\)"
STEPS = re.findall(STEP, PAGE, re.MULTILINE)


def names_in(path: str) -> set[str]:
    """Functions and classes of a module, and methods behind the name of their class."""
    tree = ast.parse((ROOT / "src" / "biplanar" / path).read_text(encoding="utf-8"))
    found = {node.name for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef)}
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    return found | {f"{one.name}.{node.name}" for one in classes for node in one.body if isinstance(node, functions)}


@pytest.mark.parametrize(("name", "path"), STEPS)
def test_a_step_of_a_walk_is_there(name: str, path: str) -> None:
    assert name in names_in(path)


def test_walks_are_short() -> None:
    parts = re.split(r"^(?=1\. )", PAGE.partition("## Three walks")[2].partition("## Adding")[0], flags=re.MULTILINE)[
        1:
    ]
    assert len(parts) == 3
    assert all(len(re.findall(r"^\d+\. ", part, re.MULTILINE)) <= 15 for part in parts)


def test_the_graph_has_the_floors_that_imports_keep_to() -> None:
    graph = PAGE.partition("know each other.")[2].split("```")[1]
    rows = [line[:38].split() for line in graph.splitlines() if re.search(r"\w", line)]
    assert [set(row) for row in rows] == [rooms for rooms in reversed(FLOORS) if "__init__" not in rooms]


# Runs code in a process of its own, where nobody else looks at calls, and prints all functions of the package.
TRACE = """
import sys, threading

package, code, called = sys.argv.pop(1), compile(sys.argv.pop(1), "code", "exec"), []

def note(frame, event, _):
    if event == "call" and frame.f_code.co_filename.startswith(package):
        called.append(frame.f_code.co_qualname + " " + frame.f_code.co_filename.removeprefix(package))

threading.setprofile(note)
sys.setprofile(note)
try:
    exec(code)
finally:
    sys.setprofile(None)
    print(*dict.fromkeys(called), sep="\\n")
"""

COMMAND = "import biplanar.cli; biplanar.cli.main()"

REQUEST = """
from biplanar.serve.models import Models
from tests.serve.conftest import serving

with serving(Models.load([])) as server:
    server.client.post("/api/parse", json={"text": "Nobody came."}).raise_for_status()
"""


def check_walk(title: str, code: str, *arguments: str | Path, in_order: int | None = None) -> None:
    """All functions of a walk are called, and the first ones (or all) in its order."""
    walk = re.search(rf"^{re.escape(title)}.*:\n\n((?:\d.*\n)+)", PAGE, re.MULTILINE)
    assert walk
    steps = re.findall(STEP, walk[1], re.MULTILINE)
    command = [sys.executable, "-c", TRACE, f"{ROOT / 'src' / 'biplanar'}/", code, *map(str, arguments)]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    called = result.stdout.splitlines()
    names = [f"{name}.__init__" if name[0].isupper() and "." not in name else name for name, _ in steps]
    firsts = [called.index(f"{name} {path}") for name, (_, path) in zip(names, steps, strict=True)]
    assert firsts[:in_order] == sorted(firsts[:in_order])


def test_a_parse_walks_as_it_says(tmp_path: Path) -> None:
    text, output = tmp_path / "text.txt", tmp_path / "out.conllu"
    text.write_text("Nobody came. The house was empty.\n", encoding="utf-8")
    # Behind the sixth, reading, parsing and writing run side by side.
    check_walk("`biplanar parse text.txt -o out.conllu`", COMMAND, "parse", text, "-o", output, in_order=6)
    assert output.read_text(encoding="utf-8").count("\n\n") == 2


@pytest.mark.slow
def test_a_training_walks_as_it_says(tmp_path: Path) -> None:
    for split in ("train", "dev"):
        shutil.copy(TINY, tmp_path / f"en_tiny-ud-{split}.conllu")
    sizes = ("--network.hidden=8", "--network.layers=1", "--training.updates=2", "--segmenter.updates=2")
    check_walk("`biplanar train UD_FOLDER -o model`", COMMAND, "train", tmp_path, "-o", tmp_path / "model", *sizes)


def test_a_request_walks_as_it_says() -> None:
    check_walk("`POST /api/parse`", REQUEST)
