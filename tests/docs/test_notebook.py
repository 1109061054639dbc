"""The notebook's cells run in their order, and each ends in something to look at."""

from __future__ import annotations

import ast
import json
from typing import Any

import pytest

from tests.paths import ROOT

CELLS = [
    cell
    for cell in json.loads((ROOT / "examples" / "tutorial.ipynb").read_text(encoding="utf-8"))["cells"]
    if cell["cell_type"] == "code"
]


@pytest.fixture(scope="module")
def values() -> list[Any]:
    """What the last expressions of the cells give."""
    pytest.importorskip("pandas")
    names: dict[str, Any] = {}
    return [run_cell("".join(cell["source"]), names) for cell in CELLS]


def run_cell(source: str, names: dict[str, Any]) -> Any:
    """As a notebook does: the last expression is what is shown."""
    *body, last = ast.parse(source).body
    assert isinstance(last, ast.Expr)
    exec(compile(ast.Module(body, []), "tutorial.ipynb", "exec"), names)
    return eval(compile(ast.Expression(last.value), "tutorial.ipynb", "eval"), names)


def test_no_outputs_are_stored() -> None:
    assert CELLS
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in CELLS)


def test_each_cell_shows_something(values: list[Any]) -> None:
    assert all(len(value) for value in values)


def test_sentences_show_their_trees(values: list[Any]) -> None:
    sentences = [value for value in values if type(value).__name__ == "Sentence"]
    assert len(sentences) == 3
    assert all("<svg" in sentence._repr_html_() for sentence in sentences)
    assert sum(hasattr(value, "_repr_html_") for value in values) > 2  # data frames, too


def test_what_the_text_says(values: list[Any]) -> None:
    assert values[2] == (["did", "you", "saw", "?"], False)
    assert [token.form for token in values[4]] == ["They", "don't", "want", "to", "leave", "."]
    assert max(len(heads) for _, heads in values[5]) > 1
    assert values[-1] == ["came", "rained"]
