"""Data frames in and out."""

from __future__ import annotations

import pickle

import pandas as pd
import pytest

from biplanar.bulk import FrameTask
from biplanar.bulk.tables import SCHEMA
from biplanar.errors import BiplanarError
from tests.bulk.corpus import CONLLU, task_of

TASK = FrameTask(task_of(decoder="greedy"))


def test_a_row_a_sentence(monkeypatch):
    monkeypatch.setattr("biplanar.bulk.tables.CHUNK_CHARACTERS", 20)
    first = pd.DataFrame({"id": ["a", "b"], "text": ["Nobody came. Why?", ""]})
    frames = [first, pd.DataFrame({"id": [7], "text": ["It rained."]})]
    found = pd.concat(pickle.loads(pickle.dumps(TASK))(iter(frames)))
    assert list(found["sent_id"]) == ["a-1", "a-2", "7-1"]
    assert [list(forms) for forms in found["form"]] == [["Nobody", "came", "."], ["Why", "?"], ["It", "rained", "."]]
    assert list(found.columns) == [column.split(" ")[0] for column in SCHEMA.split(", ")]


def test_conllu_that_is_parsed_again_stays_what_it_was():
    (once,) = TASK([pd.DataFrame({"conllu": [CONLLU]})])
    assert len(once) == 40
    (twice,) = TASK([once])
    assert list(twice["conllu"]) == list(once["conllu"])


def test_a_frame_without_text():
    with pytest.raises(BiplanarError, match="'text' is missing"):
        list(TASK([pd.DataFrame({"body": ["Yes."]})]))
