"""Where a model's network runs, decided once."""

from __future__ import annotations

import os

import pytest

from biplanar.bulk import Task
from biplanar.errors import BiplanarError, UnknownNameError
from biplanar.pipeline import loading
from biplanar.pipeline.loading import BATCH_WORDS, DEVICE_BATCH_WORDS, Placement, load


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
    with pytest.raises(BiplanarError, match="expected the runtime torch for the device cuda, found int8"):
        Placement.of(None, "cuda", "int8")
    with pytest.raises(UnknownNameError, match="did you mean 'int8'"):
        Placement.of(None, "cpu", "int")


def test_more_threads_than_cores_are_not_started(monkeypatch):
    """They would wait for each other for minutes."""
    given = list[int]()
    monkeypatch.setattr("biplanar.tagger.runtime.OnnxTagger.__init__", lambda *_, threads: given.append(threads))
    load(threads=10_000)
    assert given == [os.cpu_count()]
