"""Compressed files: Zstandard as one more format that is read, and streams that compress what is written."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from biplanar.bulk.extras import need
from biplanar.data.files import BUFFER, CORRUPT, OPENERS

ZSTD = ".zst"
SAMPLE = 1 << 22  # bytes by which the size of a compressed file's content is estimated


class _ZstdReader:
    """Frame after frame; unlike the library's own reader, it tells a file that is truncated from one that ends."""

    def __init__(self, stream: IO[bytes], zstandard: Any) -> None:
        self._stream, self._zstandard = stream, zstandard
        self._frame: Any = None
        self._data = bytearray()

    def read(self, size: int) -> bytes:
        """So many bytes, or fewer at the end."""
        while len(self._data) < size and (given := self._stream.read(BUFFER)):
            self._decompress(given)
        if len(self._data) < size and self._frame is not None:
            raise EOFError("it ends within a frame")
        data = bytes(self._data[:size])
        del self._data[:size]
        return data

    def _decompress(self, given: bytes) -> None:
        while given:
            self._frame = self._frame or self._zstandard.ZstdDecompressor().decompressobj()
            try:
                self._data += self._frame.decompress(given)
            except self._zstandard.ZstdError as error:
                raise EOFError(str(error)) from error
            given = self._frame.unused_data
            if self._frame.eof:
                self._frame = None

    def __enter__(self) -> _ZstdReader:
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()


def open_zstd(file: str | Path | IO[bytes], mode: str = "rb") -> Any:
    """A Zstandard file, of one frame or several."""
    zstandard = need("zstandard", "Zstandard (.zst)", "formats")
    if mode != "rb":
        return zstandard.ZstdCompressor(write_checksum=True).stream_writer(file, closefd=False)
    return _ZstdReader(Path(file).open("rb") if isinstance(file, str | Path) else file, zstandard)


OPENERS[ZSTD] = open_zstd  # wherever files are read

# Speed counts more than the last percent: trees compress well.
_WRITERS: dict[str, Callable[[IO[bytes]], Any]] = {
    ".gz": lambda stream: gzip.GzipFile(filename="", fileobj=stream, mode="wb", compresslevel=6, mtime=0),
    ".xz": lambda stream: lzma.LZMAFile(stream, "wb", preset=1),  # noqa: SIM115
    ".bz2": lambda stream: bz2.BZ2File(stream, "wb"),
    ZSTD: lambda stream: open_zstd(stream, "wb"),
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
    if (opener := OPENERS.get(Path(path).suffix)) is None:
        return size
    with Path(path).open("rb") as file:
        try:
            content = opener(file).read(SAMPLE)
        except (OSError, *CORRUPT):  # which will be reported when it is read
            return size
        return len(content) if len(content) < SAMPLE else size * len(content) // file.tell()
