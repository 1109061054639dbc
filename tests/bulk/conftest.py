"""What the tests of whole files share."""

from __future__ import annotations

import lzma
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import biplanar
from tests.bulk.corpus import CONLLU, TEXT


@pytest.fixture(scope="module")
def parser() -> biplanar.Parser:
    return biplanar.load()


@pytest.fixture
def loaded_once(parser, monkeypatch) -> None:
    """Tasks share a parser."""
    monkeypatch.setattr("biplanar.bulk.task.load", lambda *_, **__: parser)


@pytest.fixture
def small_chunks(monkeypatch) -> None:
    """Files are read in many chunks, wherever they are read."""
    monkeypatch.setattr("biplanar.data.files.BUFFER", 500)
    for name in ("biplanar.pipeline.parser", "biplanar.bulk.engines"):
        monkeypatch.setattr(f"{name}.CHUNK_WORDS", 40)
        monkeypatch.setattr(f"{name}.CHUNK_BATCHES", 0)
    monkeypatch.setattr("biplanar.bulk.chunks.LEAST_WORDS", 40)
    monkeypatch.setattr("biplanar.bulk.engines.LEAST_WORDS", 40)


@pytest.fixture
def docs_folder(tmp_path, monkeypatch) -> Path:
    """What the docs parse, and the command."""
    (tmp_path / "corpus.conllu").write_text(CONLLU)
    (tmp_path / "corpus.conllu.xz").write_bytes(lzma.compress(CONLLU.encode()))
    (tmp_path / "texts").mkdir()
    for name in ("corpus.txt", "one.txt", "two.txt", "texts/three.txt"):
        (tmp_path / name).write_text(TEXT)
    (tmp_path / "documents.jsonl").write_text('{"id": "a", "text": "Nobody came. Why?"}\n{"text": "It rained."}\n')
    documents = [{"id": "a", "text": "Nobody came. Why?"}, {"id": "b", "text": "It rained."}]
    pq.write_table(pa.Table.from_pylist(documents), tmp_path / "documents.parquet")
    subprocess.run(["gzip", "--keep", "corpus.txt"], cwd=tmp_path, check=True)
    (tmp_path / "biplanar").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m biplanar "$@"\n')
    (tmp_path / "biplanar").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    return tmp_path
