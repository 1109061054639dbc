from __future__ import annotations

import json

import pytest

from biplanar.benchmark.report import Sheet, sheets, to_markdown
from biplanar.benchmark.stages import STAGES

MEASURED = {
    "name": "fast int8 search",
    "las": 84.126,
    "uas": 87.5,
    "words_per_second": {"best": 25_000.4, "median": 24_000.0},
    "sentences_per_second": {"best": 2_000.0, "median": 1_900.0},
    "load_seconds": 0.5,
    "peak_memory": 200 * 2**20,
    "model_bytes": 15 * 2**20,
    "not_measured": None,
}
MISSING = {"name": "SuPar biaffine", "not_measured": "no model was given (--supar)"}
RESULTS = {
    "machine": {"processor": "Abacus", "cores": 2},
    "versions": {"python": "3.11", "spacy": None},
    "treebank": {"file": "dev.conllu", "sentences": 2000, "words": 25_000},
    "rounds": 3,
    "systems": [MEASURED, MISSING],
    "stages": [
        {
            "name": "fast int8 search",
            "seconds": {stage: number / 10 for number, stage in enumerate(STAGES)},
            "words": 100_000,
            "not_measured": None,
        }
    ],
    "growth": [
        {"model": "fast", "lengths": [{"words": 2000, "median": 0.5, "slowest": 0.75}], "not_measured": None},
        {"model": "accurate", "lengths": [], "not_measured": "no such folder"},
    ],
    "workers": [{"model": "fast", "words": 250_000, "best": {1: 10.0, 2: 5.5}, "ratio": 1.82, "not_measured": None}],
    "memory": [
        {
            "model": "fast",
            "copies": 100,
            "peak_memory": {1: 200 * 2**20, 100: 210 * 2**20},
            "ratio": 1.05,
            "not_measured": None,
        }
    ],
    "start": {"text": "Hello.", "runs": [{"seconds": 0.9}, {"seconds": 0.7}, {"seconds": 0.8}], "not_measured": None},
}


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
    sheet = Sheet("Title", ("a", "b"), [["1", "2"]], "A note.")
    assert sheet.to_markdown() == "### Title\n\n| a | b |\n|---|---:|\n| 1 | 2 |\n\nA note.\n"
    page = to_markdown(RESULTS)
    assert page.startswith(
        "`dev.conllu`: 2,000 sentences, 25,000 words. 3 rounds. processor Abacus, cores 2. python 3.11.\n"
    )
    assert "| SuPar biaffine | no model was given (--supar) |" in page
