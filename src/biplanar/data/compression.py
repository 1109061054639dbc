"""Streams that compress what is written, and how large the content of compressed files is."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from biplanar.data.files import CORRUPT, OPENERS
from biplanar.data.zstd import ZSTD, open_zstd

SAMPLE = 1 << 22  # bytes by which the size of a compressed file's content is estimated


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
