"""The comparison of encodings: its plan, its results, and the tables in the docs."""

from __future__ import annotations

from study.common import read_json
from study.compare_encodings import ENCODINGS, plan
from study.queue import RESULTS

from biplanar.encodings import get_encoding
from study import compare_encodings, decode_encodings
from tests.paths import ROOT

PAGE = (ROOT / "docs" / "encodings.md").read_text(encoding="utf-8")


def test_the_tables_are_in_the_docs() -> None:
    decoded = decode_encodings.tables(read_json(decode_encodings.STORED))
    for table in [*compare_encodings.tables().values(), *decoded.values()]:
        assert table in PAGE


def test_every_encoding_of_the_plan_is_there() -> None:
    assert [get_encoding(name).name for name in ENCODINGS] == list(ENCODINGS)
    runs = list(plan())
    assert len({run.key for run in runs}) == len(runs) == 2 * 2 * 3 * len(ENCODINGS)


def test_every_run_has_a_result() -> None:
    stored = {path.stem for path in (RESULTS / "encodings").glob("*.json")}
    assert stored == {run.key for run in plan()}
