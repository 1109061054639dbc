"""What the tests of whole files share."""

from __future__ import annotations

import pytest

import biplanar


@pytest.fixture(scope="module")
def parser() -> biplanar.Parser:
    return biplanar.load()


@pytest.fixture
def small_chunks(monkeypatch) -> None:
    """Files are read in many chunks, wherever they are read."""
    monkeypatch.setattr("biplanar.data.files.BUFFER", 500)
    for name in ("biplanar.pipeline.parser", "biplanar.bulk.engines"):
        monkeypatch.setattr(f"{name}.CHUNK_WORDS", 40)
        monkeypatch.setattr(f"{name}.CHUNK_BATCHES", 0)
    monkeypatch.setattr("biplanar.bulk.chunks.LEAST_WORDS", 40)
    monkeypatch.setattr("biplanar.bulk.engines.LEAST_WORDS", 40)
