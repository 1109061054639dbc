"""The comparison of labels without a network."""

from __future__ import annotations

import pytest
from study.common import read_json
from study.label_statistics import NAMES, STORED, measure

from biplanar.encodings import ENCODINGS
from biplanar.errors import FileError
from tests.conftest import treebanks_folder


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
    with pytest.raises(FileError, match="no folder UD_"):
        measure(tmp_path)
