"""CONTRIBUTING names functions and rooms that there are."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.paths import ROOT
from tests.test_layers import FLOORS

PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
STEPS = re.findall(r"^\d+\. `([\w.]+)` \(`([\w/.]+)`\)", PAGE, re.MULTILINE)


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


def test_the_graph_has_all_rooms() -> None:
    graph = PAGE.partition("know each other.")[2].partition("`study/`")[0]
    for room in set().union(*FLOORS) - {"__init__", "__main__"}:
        assert re.search(rf"\b{room}\b", graph), room


# Runs a command in a process of its own, where nobody else looks at calls, and prints all functions of the package.
TRACE = """
import sys, threading
import biplanar.cli

package, called = sys.argv.pop(1), []

def note(frame, event, _):
    if event == "call" and frame.f_code.co_filename.startswith(package):
        called.append(frame.f_code.co_qualname + " " + frame.f_code.co_filename.removeprefix(package))

threading.setprofile(note)
sys.setprofile(note)
try:
    biplanar.cli.main()
finally:
    sys.setprofile(None)
    print(*dict.fromkeys(called), sep="\\n")
"""


def test_a_parse_walks_as_it_says(tmp_path: Path) -> None:
    walk = PAGE.partition("from the command to the file:")[2].partition("`biplanar train")[0]
    steps = [f"{name} {path}" for name, path in STEPS if f"`{name}` (`{path}`)" in walk]
    text, output = tmp_path / "text.txt", tmp_path / "out.conllu"
    text.write_text("Nobody came. The house was empty.\n", encoding="utf-8")
    command = [sys.executable, "-c", TRACE, f"{ROOT / 'src' / 'biplanar'}/", "parse", str(text), "-o", str(output)]
    called = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert output.read_text(encoding="utf-8").count("\n\n") == 2
    assert set(steps) <= set(called)
    # Reading, parsing and writing run side by side, so only the order of what starts them is certain.
    firsts = [called.index(step) for step in steps[:6]]
    assert firsts == sorted(firsts)
