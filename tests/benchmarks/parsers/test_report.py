from __future__ import annotations

import json

import pytest
from benchmarks.parsers.report import sheets, to_markdown

from tests.benchmarks.parsers.results import RESULTS


def rows_of(results):
    return {sheet.title: [list(row) for row in sheet.rows] for sheet in sheets(results)}


def test_rows():
    rows = rows_of(RESULTS)
    assert rows["Accuracy and speed"] == [
        ["fast int8 search", "84.13", "87.50", "25,000", "24,000", "2,000", "0.50", "200", "15.0"]
    ]
    assert rows["Not measured"] == [["SuPar biaffine", "no model was given (--supar)"]]
    assert rows["Stages"] == [["fast int8 search", "0.0", "1.0", "2.0", "3.0", "4.0"]]
    assert rows["Growth with the length of a sentence"] == [["2,000", "500.0", "750.0", "250"]]
    assert rows["Workers"] == [["fast", "250,000", "10.00", "5.50", "1.82"]]
    assert rows["Memory on a long file"] == [["fast", "100", "200", "210", "1.05"]]
    assert rows["From start to answer"] == [["Hello.", "0.70", "0.80"]]


def test_kept_numbers_give_the_same_tables():
    assert rows_of(json.loads(json.dumps(RESULTS))) == rows_of(RESULTS)


def test_why_something_is_missing():
    notes = {sheet.title: sheet.note for sheet in sheets(RESULTS)}
    assert notes["Growth with the length of a sentence"] == "Not measured: accurate (no such folder)."
    start = {"start": {"text": "Hello.", "not_measured": "it failed"}}
    (sheet,) = sheets(start)
    assert (sheet.rows, sheet.note) == ([], "Not measured: the command (it failed).")


@pytest.mark.parametrize("part", ["systems", "stages", "growth", "workers", "memory", "start"])
def test_parts_stand_alone(part):
    head = {key: RESULTS[key] for key in ("machine", "versions", "treebank", "rounds")}
    assert rows_of(head | {part: RESULTS[part]})


def test_markdown():
    page = to_markdown(RESULTS)
    assert page.startswith(
        "`dev.conllu`: 2,000 sentences, 25,000 words. 3 rounds. processor Abacus, cores 2. python 3.11.\n"
    )
    assert "| SuPar biaffine | no model was given (--supar) |" in page
