"""Compressed files, in and out."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
import subprocess
import sys

import pytest
import zstandard

from biplanar.data.compression import Decompressor, compressing, content_size
from biplanar.data.conllu import read_conllu
from biplanar.errors import BiplanarError, FileError
from tests.bulk.corpus import CONLLU
from tests.commands import check_refused_with

READERS = {".gz": gzip.decompress, ".xz": lzma.decompress, ".bz2": bz2.decompress}


def compressed(ending: str, data: bytes) -> bytes:
    stream = io.BytesIO()
    with compressing(stream, f"x{ending}") as target:
        target.write(data)
    return stream.getvalue()


@pytest.mark.parametrize("ending", [".gz", ".xz", ".bz2", ".zst", ".conllu"])
def test_in_and_out(run, tmp_path, ending):
    (tmp_path / f"x.conllu{ending}").write_bytes(compressed(ending, CONLLU.encode()))
    (tmp_path / "x.conllu").write_text(CONLLU)
    plain, out = tmp_path / "plain.conllu", tmp_path / f"out.conllu{ending}"
    assert run("parse", tmp_path / "x.conllu", "-o", plain).code == 0
    assert run("parse", tmp_path / f"x.conllu{ending}", "-o", out).code == 0
    assert "".join(one.raw for one in read_conllu(out)) == plain.read_text()
    assert (out.stat().st_size < plain.stat().st_size / 3) == (ending != ".conllu")


@pytest.mark.parametrize("ending", READERS)
def test_others_can_read_it(ending):
    assert READERS[ending](compressed(ending, b"abc" * 100)) == b"abc" * 100


def test_zstd_of_several_frames_and_broken(tmp_path):
    frame = zstandard.compress(CONLLU.encode())
    (tmp_path / "x.conllu.zst").write_bytes(frame + frame)
    assert len(list(read_conllu(tmp_path / "x.conllu.zst"))) == 80
    frame = compressed(".zst", CONLLU.encode())
    for data in (b"no zstd", frame[:100] + b"xxxx" + frame[104:]):
        (tmp_path / "x.conllu.zst").write_bytes(data)
        with pytest.raises(FileError, match=r"x.conllu.zst: truncated or corrupt zst data"):
            list(read_conllu(tmp_path / "x.conllu.zst"))


def test_zstd_that_is_truncated(tmp_path):
    (tmp_path / "x.conllu.zst").write_bytes(zstandard.compress(CONLLU.encode())[:-10])
    with pytest.raises(FileError, match=r"x.conllu.zst: truncated or corrupt zst data"):
        list(read_conllu(tmp_path / "x.conllu.zst"))


def test_without_the_library(run, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(BiplanarError, match=r"Zstandard .* needs the extra 'formats'"):
        Decompressor(io.BytesIO(), ".zst")
    check_refused_with(run("parse", "--text", "Yes.", "-o", tmp_path / "x.conllu.zst"), "extra 'formats'")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ending", [".gz", ".xz", ".bz2", ".zst", ".conllu"])
def test_the_size_of_what_is_in_it_is_estimated(tmp_path, monkeypatch, ending):
    data = random.Random(1).randbytes(1_500_000).hex().encode()
    (tmp_path / f"x{ending}").write_bytes(compressed(ending, data))
    assert content_size(tmp_path / f"x{ending}") == len(data)
    monkeypatch.setattr("biplanar.data.compression.SAMPLE", 1_000_000)
    assert content_size(tmp_path / f"x{ending}") == pytest.approx(len(data), rel=0.5)


@pytest.mark.parametrize("ending", [*READERS, ".zst"])
def test_conllu_is_written_and_read_by_its_ending(tmp_path, ending):
    """In a process that has imported nothing but what reads and writes CoNLL-U."""
    path = tmp_path / f"x.conllu{ending}"
    program = "import sys; from biplanar.data.conllu import *; write_conllu(read_conllu(sys.argv[1]), sys.argv[2])"
    (tmp_path / "x.conllu").write_text(CONLLU, encoding="utf-8")
    command = [sys.executable, "-c", program, tmp_path / "x.conllu", path]
    subprocess.run(list(map(str, command)), check=True)
    assert path.read_bytes()[:2] != CONLLU.encode()[:2]
    assert "".join(sentence.raw for sentence in read_conllu(path)) == CONLLU
