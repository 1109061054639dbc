"""The comparison of encodings: its plan, and the tables in the docs."""

from __future__ import annotations

import pytest
from study.compare_encodings import ENCODINGS, plan, tables

from biplanar.encodings import get_encoding
from tests.paths import ROOT

PAGE = (ROOT / "docs" / "encodings.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("split", ["dev", "test"])
def test_the_tables_are_in_the_docs(split: str) -> None:
    las, *others = tables(split=split).split("\n\n")
    for table in [las] if split == "dev" else [las, *others]:
        assert table in PAGE


def test_every_encoding_of_the_plan_is_there() -> None:
    assert [get_encoding(name).name for name in ENCODINGS] == list(ENCODINGS)
    runs = list(plan())
    assert len({run.key for run in runs}) == len(runs) == 2 * 2 * 3 * len(ENCODINGS)
