from __future__ import annotations

import json

import pytest
from benchmarks.parsers.report import sheets

from tests.benchmarks.parsers.results import MEASURED, RESULTS


def rows_of(results):
    return {sheet.title: [list(row) for row in sheet.rows] for sheet in sheets(results)}


def test_rows():
    rows = rows_of(RESULTS)
    assert rows["Accuracy and speed"] == [
        ["fast int8 search", "84.13", "87.50", "25,000", "24,000", "2.50", "2,000", "0.50", "200", "15.0"],
        ["UDPipe 1 tag+parse", "84.13", "87.50", "10,000", "9,000", "1.00", "2,000", "0.50", "200", "15.0"],
    ]
    assert rows["Not measured"] == [["SuPar biaffine", "no model was given (--supar)"]]
    assert rows["Stages"] == [["fast int8 search", "0.0", "1.0", "2.0", "3.0", "4.0"]]
    assert rows["Workers"] == [["250,000", "10.00", "5.50", "1.82"]]


def test_without_udpipe_speeds_are_not_compared():
    (row,) = rows_of(RESULTS | {"systems": [MEASURED]})["Accuracy and speed"]
    assert row[5] == "–"


def test_kept_numbers_give_the_same_tables():
    assert rows_of(json.loads(json.dumps(RESULTS))) == rows_of(RESULTS)


def test_why_something_is_missing():
    (sheet,) = sheets({"workers": {"not_measured": "it failed"}})
    assert (sheet.rows, sheet.note) == ([], "Not measured: it failed")


@pytest.mark.parametrize("part", ["systems", "stages", "workers"])
def test_parts_stand_alone(part):
    assert rows_of({"rounds": 3, part: RESULTS[part]})
