from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from benchmarks.parsers.gold import GoldFile
from benchmarks.parsers.peers import udpipe_sentences
from ufal.udpipe import ProcessingError, Sentences, Trainer

from tests.paths import TINY

# Enough to have a model, not to have a good one.
QUICK_TOKENIZER = "epochs=1;segment_size=10;batch_size=100;dimension=16"
QUICK_TAGGER = "models=1;iterations=1"
QUICK_PARSER = "iterations=10;hidden_layer=20;embedding_form=5;embedding_upostag=5;embedding_feats=5;embedding_deprel=5"


@pytest.fixture(scope="session")
def udpipe_model(tmp_path_factory) -> Path:
    """A model of UDPipe, trained in a second."""
    error, parts = ProcessingError(), (QUICK_TOKENIZER, QUICK_TAGGER, QUICK_PARSER)
    model = Trainer.train("morphodita_parsito", udpipe_sentences(TINY), Sentences(), *parts, error)
    assert not error.occurred(), error.message
    path = tmp_path_factory.mktemp("udpipe") / "tiny.udpipe"
    path.write_bytes(model)
    return path


@pytest.fixture(scope="session")
def gold() -> Iterator[GoldFile]:
    """Hand-written English."""
    with GoldFile.opened(TINY) as opened:
        yield opened


@pytest.fixture
def fake_module(tmp_path, monkeypatch):
    """A module that other processes import in the place of one that is, or is not, installed."""

    def fake(name: str, code: str, **submodules: str) -> None:
        folder = tmp_path / "fakes" / name
        folder.mkdir(parents=True)
        for file, content in {"__init__": code, **submodules}.items():
            (folder / f"{file}.py").write_text(content, encoding="utf-8")
        others = [path for path in [os.environ.get("PYTHONPATH")] if path]
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(folder.parent), *others]))

    return fake
