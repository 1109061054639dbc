from __future__ import annotations

from pathlib import Path

import pytest

from biplanar.errors import FileError
from biplanar.pipeline.model_folder import ModelFolder

srsly = pytest.importorskip("srsly")
from biplanar.integrations.carried_model import pack, parsing_files, unpack  # noqa: E402


class Owner:
    pass


def test_there_and_back():
    folder, owner = ModelFolder.find(), Owner()
    files = parsing_files(folder)
    copy = unpack(pack(files, folder.path), owner)
    assert all((copy / path.relative_to(folder.path)).read_bytes() == path.read_bytes() for path in files)
    del owner
    assert not copy.exists()


def test_what_only_training_needs_stays(tmp_path):
    for name in ("config.toml", "model.safetensors", "checkpoint.safetensors", "log.jsonl", "curves.png"):
        (tmp_path / name).write_text("")
    assert {path.name for path in parsing_files(ModelFolder(tmp_path))} == {"config.toml", "model.safetensors"}


@pytest.mark.parametrize("name", ["../x", "/tmp/x", "a/../../x", "..\\x"])
def test_names_that_lead_out_of_the_folder(name):
    with pytest.raises(FileError, match="not a file of a model"):
        unpack(srsly.msgpack_dumps({name: b""}), Owner())


def test_what_is_no_file():
    with pytest.raises(FileError, match="not a file of a model"):
        unpack(srsly.msgpack_dumps({"x": 1}), Owner())
    assert not Path("x").exists()
