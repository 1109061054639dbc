"""The comparison of labels, and the tables that docs/encodings.md shows of it."""

from __future__ import annotations

import pytest
from study.common import read_json
from study.label_statistics import NAMES, STORED, main, measure, tables

from biplanar.encodings import ENCODINGS
from biplanar.errors import FileError
from tests.conftest import treebanks_folder
from tests.paths import ROOT


def test_the_page_shows_the_stored_results():
    page = (ROOT / "docs" / "encodings.md").read_text(encoding="utf-8")
    for table in tables(read_json(STORED)).values():
        assert table in page


def test_every_encoding_is_stored():
    assert set(ENCODINGS) <= set(NAMES)
    for rows in read_json(STORED).values():
        assert list(rows) == list(NAMES)


@pytest.mark.usefixtures("treebanks")
def test_a_treebank_has_the_stored_numbers(tmp_path):
    """The smallest one."""
    (tmp_path / "UD_Lithuanian-HSE").symlink_to(treebanks_folder().absolute() / "UD_Lithuanian-HSE")
    assert measure(tmp_path)["Lithuanian-HSE"] == read_json(STORED)["Lithuanian-HSE"]


def test_a_folder_without_treebanks(tmp_path):
    with pytest.raises(FileError, match="expected folders UD_\\* with a training and a dev file, found none"):
        measure(tmp_path)


def test_show(capsys):
    main(["--show"])
    assert "| `covington` |" in capsys.readouterr().out
