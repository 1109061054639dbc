"""The runs with output columns, and the table that docs/columns.md shows of them."""

from __future__ import annotations

from study.columns import CODES, RESULTS, plan, table

from tests.paths import ROOT


def test_every_planned_run_has_a_result():
    stored = {path.stem for path in (RESULTS / "columns").glob("*.json")}
    assert stored == {run.key for run in plan()}


def test_the_page_shows_the_stored_results():
    page = (ROOT / "docs" / "columns.md").read_text(encoding="utf-8")
    assert table() in page
    assert table().count("\n") == len(CODES) + 1


def test_trees_are_no_worse_with_columns():
    for row in table().splitlines()[2:]:
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        assert float(cells[5]) > float(cells[6]), row
