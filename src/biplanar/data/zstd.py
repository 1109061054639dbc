"""Zstandard files, where the library for them is installed."""

from __future__ import annotations

from pathlib import Path
from typing import IO, Any

from biplanar.data.extras import need

ZSTD = ".zst"
BUFFER = 1 << 16  # bytes that are decompressed at a time


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
