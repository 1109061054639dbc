"""Compressed files, read and written by their endings, and the size of their content."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from biplanar.data.formats import COMPRESSED
from biplanar.errors import need

STEP = 1 << 14  # compressed bytes that are decompressed at a time
SAMPLE = 1 << 22  # bytes by which the size of a compressed file's content is estimated


class CorruptError(Exception):
    """Compressed data that is truncated, damaged or followed by something else."""


class Decompressor:
    """Reads stream after stream; unlike Python's readers for .xz and .bz2, it refuses what else follows."""

    def __init__(self, file: IO[bytes], ending: str) -> None:
        self._file = file
        self._new_stream, self._failure = _decompressor(ending)
        self._stream: Any = None
        self._data = bytearray()

    def read(self, size: int) -> bytes:
        """The next `size` bytes, or fewer at the end."""
        while len(self._data) < size and (given := self._file.read(STEP)):
            self._decompress(given)
        if len(self._data) < size and self._stream is not None:
            raise CorruptError("it ends too early")
        data = bytes(self._data[:size])
        del self._data[:size]
        return data

    def _decompress(self, given: bytes) -> None:
        while given := given if self._stream else given.lstrip(b"\0"):  # zeros may pad the end of a stream
            self._stream = self._stream or self._new_stream()
            try:
                self._data += self._stream.decompress(given)
            except (self._failure, EOFError) as error:
                raise CorruptError(str(error)) from error
            given = self._stream.unused_data
            if self._stream.eof:
                self._stream = None


def _decompressor(ending: str) -> tuple[Callable[[], Any], type[Exception]]:
    """What makes a decompressor of one stream, and the error that it raises."""
    if ending == ".zst":
        zstandard = _zstandard()
        return lambda: zstandard.ZstdDecompressor().decompressobj(), zstandard.ZstdError
    known: dict[str, tuple[Callable[[], Any], type[Exception]]] = {
        ".gz": (lambda: zlib.decompressobj(zlib.MAX_WBITS | 16), zlib.error),
        ".xz": (lzma.LZMADecompressor, lzma.LZMAError),
        ".bz2": (bz2.BZ2Decompressor, OSError),
    }
    return known[ending]


def _zstandard() -> Any:
    return need("zstandard", "Zstandard (.zst)", "formats")


# Speed counts more than the last percent: trees compress well.
_WRITERS: dict[str, Callable[[IO[bytes]], Any]] = {
    ".gz": lambda stream: gzip.GzipFile(filename="", fileobj=stream, mode="wb", compresslevel=6, mtime=0),
    ".xz": lambda stream: lzma.LZMAFile(stream, "wb", preset=1),  # noqa: SIM115
    ".bz2": lambda stream: bz2.BZ2File(stream, "wb"),
    ".zst": lambda stream: _zstandard().ZstdCompressor(write_checksum=True).stream_writer(stream, closefd=False),
}


@contextmanager
def compressing(stream: IO[bytes], path: str | Path) -> Iterator[IO[bytes]]:
    """The stream, or one that compresses into it if the file's name says so."""
    if (writer := _WRITERS.get(Path(path).suffix)) is None:
        yield stream
        return
    with writer(stream) as compressed:
        yield compressed


def content_size(path: str | Path) -> int:
    """Bytes of a file's content; of a compressed file, estimated from its beginning."""
    size = Path(path).stat().st_size
    if Path(path).suffix not in COMPRESSED:
        return size
    with Path(path).open("rb") as file:
        try:
            content = Decompressor(file, Path(path).suffix).read(SAMPLE)
        except (OSError, CorruptError):  # reported when the file is read
            return size
        return len(content) if len(content) < SAMPLE else size * len(content) // file.tell()
