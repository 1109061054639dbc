"""Which model is meant, and where its network runs."""

from __future__ import annotations

import os
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import pytest

import biplanar
from biplanar.bulk import Task
from biplanar.errors import BiplanarError, FileError, UnknownNameError
from biplanar.pipeline import loading, model_folder
from biplanar.pipeline.loading import BATCH_WORDS, DEVICE_BATCH_WORDS, Placement
from biplanar.pipeline.model_folder import ModelFolder

BUNDLED = ModelFolder.find().path
REGISTERED = ("pt = tests.pipeline.test_loading:BUNDLED", "lost = tests.nowhere:folder")


@pytest.fixture
def machine_with_gpu(monkeypatch) -> None:
    monkeypatch.setattr(loading, "find_device", lambda name: "cuda" if name == "auto" else name)


@pytest.mark.usefixtures("machine_with_gpu")
def test_a_model_without_weights_stays_on_the_cpu(tmp_path):
    """Then its batches, and the chunks that are read, are those of a CPU."""
    place = Placement.of(None, "auto")
    assert (place.device, place.runtime, place.batch_words) == ("cpu", "int8", BATCH_WORDS)
    assert Task(device="auto").batch_words == BATCH_WORDS
    (tmp_path / "model.safetensors").touch()
    place = Placement.of(tmp_path, "auto")
    assert (place.device, place.runtime, place.batch_words) == ("cuda", "torch", DEVICE_BATCH_WORDS)
    assert Placement.of(tmp_path, "auto", "onnx").device == "cpu"
    assert Task(tmp_path, device="auto").batch_words == DEVICE_BATCH_WORDS


@pytest.mark.usefixtures("machine_with_gpu")
def test_what_does_not_go_together_is_refused():
    with pytest.raises(BiplanarError, match="cuda needs the runtime torch"):
        Placement.of(None, "cuda", "int8")
    with pytest.raises(UnknownNameError, match="did you mean 'int8'"):
        Placement.of(None, "cpu", "int")


def test_more_threads_than_cores_are_not_started(monkeypatch):
    """They would wait for each other for minutes."""
    given = list[int]()
    monkeypatch.setattr("biplanar.tagger.runtime.OnnxTagger.__init__", lambda *_, threads, **__: given.append(threads))
    biplanar.load(threads=10_000)
    assert given == [os.cpu_count()]


class TestNames:
    @pytest.fixture(autouse=True)
    def packages(self, monkeypatch, tmp_path):
        """Language packages, and a working directory of its own."""
        entries = (EntryPoint(*line.split(" = "), "biplanar.models") for line in REGISTERED)
        monkeypatch.setattr(model_folder, "entry_points", lambda group: EntryPoints(entries).select(group=group))
        monkeypatch.chdir(tmp_path)

    def test_the_bundled_model_and_those_of_packages_have_names(self):
        assert ModelFolder.find("en").path == ModelFolder.find("pt").path == BUNDLED
        assert len(biplanar.load("en")("Nobody came.")) == 1

    def test_an_unknown_name_lists_what_there_is(self):
        with pytest.raises(FileError, match=r"no model named 'lt'.* installed: en, lost, pt"):
            biplanar.load("lt")

    def test_a_package_without_its_folder_is_named(self):
        with pytest.raises(FileError, match="'lost'"):
            ModelFolder.find("lost")

    def test_a_model_folder_comes_before_a_name_and_any_other_folder_behind(self):
        Path("en").mkdir()
        assert ModelFolder.find("en").path == BUNDLED
        assert ModelFolder.find("./en").path == Path("en")
        assert ModelFolder.find(Path("en")).path == Path("en")
        Path("en/config.toml").touch()
        assert ModelFolder.find("en").path == Path("en")
        assert ModelFolder.find().path == BUNDLED
