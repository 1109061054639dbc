from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from biplanar.errors import FileError
from biplanar.pipeline.model_folder import ModelFolder

srsly = pytest.importorskip("srsly")
from biplanar.integrations.spacy import BiplanarParser, CarriedModel, unpack  # noqa: E402


class Owner:
    pass


class Carried(CarriedModel):
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def files(self):
        return ModelFolder(self.folder), [self.folder / "config.toml", self.folder / "int8" / "a", self.folder / "none"]

    def from_disk(self, path, **_):
        return Carried(path)


def test_there_and_back(tmp_path):
    (tmp_path / "int8").mkdir()
    for name in ("config.toml", "int8/a", "log.jsonl"):
        (tmp_path / name).write_text(name)
    owner = Owner()
    copy = unpack(Carried(tmp_path).to_bytes(), owner)
    Carried(tmp_path).to_disk(tmp_path / "copy")
    for folder in (copy, tmp_path / "copy"):
        files = {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()}
        assert files == {"config.toml": "config.toml", "int8/a": "int8/a"}
    del owner
    assert not copy.exists()


def test_the_files_of_a_pre_trained_encoder_travel(tmp_path):
    (tmp_path / "encoder").mkdir()
    (tmp_path / "encoder" / "config.json").write_text("{}")
    component = BiplanarParser(None)
    component.parser = SimpleNamespace(folder=ModelFolder(tmp_path))
    component.to_disk(tmp_path / "copy")
    assert (tmp_path / "copy" / "encoder" / "config.json").read_text() == "{}"


@pytest.mark.parametrize("name", ["../x", "/tmp/x", "a/../../x", "..\\x"])
def test_names_that_lead_out_of_the_folder(name):
    with pytest.raises(FileError, match="not a file of a model"):
        unpack(srsly.msgpack_dumps({name: b""}), Owner())


def test_what_is_no_file():
    with pytest.raises(FileError, match="not a file of a model"):
        unpack(srsly.msgpack_dumps({"x": 1}), Owner())
    assert not Path("x").exists()
