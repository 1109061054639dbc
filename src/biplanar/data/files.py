"""Files in and out: plain and compressed, of any text encoding, standard input and output, nothing half-written."""

from __future__ import annotations

import bz2
import codecs
import gzip
import lzma
import os
import stat
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import IO, Any, TextIO

from biplanar.data.zstd import ZSTD, open_zstd
from biplanar.errors import BiplanarError, FileError, UnfinishedError

if sys.platform != "win32":
    import fcntl

BUFFER = 1 << 16  # bytes that are read at once: they fit in the CPU cache, so that looking through them is fast

UTF_8 = "utf-8"  # what files are in if nothing else is said

# What can be parsed, and what becomes of it.
INPUTS = ("text", "lines", "horizontal", "vertical", "conllu")
OUTPUTS = ("conllu", "json", "tree", "svg", "html")

OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".xz": lzma.open, ".bz2": bz2.open, ZSTD: open_zstd}

# What the decompressors raise on data that is truncated or in another format.
CORRUPT = (EOFError, lzma.LZMAError, zlib.error, gzip.BadGzipFile)

# Files that are being written, before they get their names, and how these are called.
_unfinished: set[str] = set()
_UNFINISHED_PREFIX = ".biplanar-"


def display_name(path: str | Path) -> str:
    """How messages name a file: `-` reads as standard input."""
    return "<stdin>" if str(path) == "-" else str(path)


def is_plain_file(path: str | Path) -> bool:
    """Whether reading it never blocks on another process, as reading a pipe or a terminal may."""
    return str(path) != "-" and Path(path).is_file()


def read_buffers(path: str | Path) -> Iterator[bytes]:
    """The bytes of a file (`-`: standard input), decompressed by its ending, some at a time."""
    name = display_name(path)
    try:
        with _open(path) as stream:
            while buffer := stream.read(BUFFER):
                yield buffer
    except CORRUPT as error:
        raise FileError(f"{name}: truncated or corrupt {Path(name).suffix[1:]} data ({error})") from error
    except OSError as error:
        raise FileError(f"{name}: {error.strerror or error}") from error


@contextmanager
def _open(path: str | Path) -> Iterator[IO[bytes]]:
    if str(path) == "-":
        yield sys.stdin.buffer
        return
    opener = OPENERS.get(Path(path).suffix, open)
    with opener(path, "rb") as stream:
        yield stream


def read_text(path: str | Path, text_encoding: str = UTF_8) -> Iterator[bytes]:
    """The text of a file as UTF-8, some at a time; NUL characters, which no text has, are refused.

    What is in UTF-8 already is not decoded here: that it is valid is left to those who take it apart.
    """
    name, line = display_name(path), 1
    for buffer in read_buffers(path) if is_utf8(text_encoding) else _decoded(path, text_encoding):
        if b"\0" in buffer:
            line += buffer.count(b"\n", 0, buffer.index(b"\0"))
            hint = "is it in another encoding, such as utf-16 (--text-encoding)?"
            raise FileError(f"{name}:{line}: expected {text_encoding.upper()} text, found a NUL character; {hint}")
        yield buffer
        line += count_lines(buffer)


def is_utf8(text_encoding: str) -> bool:
    """Whether this is a name of UTF-8; an error if it is none that Python knows as an encoding of text."""
    try:
        "a".encode(text_encoding)
        codecs.getincrementaldecoder(text_encoding)
        return codecs.lookup(text_encoding).name == UTF_8
    except (LookupError, ValueError) as error:
        wanted = "expected one that Python knows, such as utf-8, utf-16 or latin-1"
        raise BiplanarError(f"unknown text encoding {text_encoding!r}: {wanted}") from error


def _decoded(path: str | Path, text_encoding: str) -> Iterator[bytes]:
    """A file of any text encoding, in UTF-8."""
    decoder, line = codecs.getincrementaldecoder(text_encoding)(), 1
    for buffer, is_last in chain(((buffer, False) for buffer in read_buffers(path)), [(b"", True)]):
        try:
            text = decoder.decode(buffer, is_last).encode()
        except UnicodeError as error:
            found, more = _first_broken(error)
            message = f"expected {text_encoding.upper()} text, found {found}"
            raise FileError(f"{display_name(path)}:{line + more}: {message}") from error
        yield text
        line += count_lines(text)


def _first_broken(error: UnicodeError) -> tuple[str, int]:
    """What could not be decoded, and how many lines of the buffer come before it."""
    if not isinstance(error, UnicodeDecodeError):
        return str(error), 0
    good = error.object[: error.start].decode(error.encoding, errors="ignore")
    return f"byte 0x{error.object[error.start]:02x}", good.count("\n")


def count_lines(data: bytes) -> int:
    """How many lines end in some bytes; several times faster than `bytes.count`."""
    import numpy as np  # here, as the command line reads this module's constants when it starts

    return int(np.count_nonzero(np.frombuffer(data, dtype=np.uint8) == ord("\n")))


def read_lines(path: str | Path, text_encoding: str = UTF_8) -> Iterator[tuple[int, str]]:
    """Numbered lines of a file, without their line ends."""
    name, rest, number = display_name(path), b"", 0
    for buffer in read_text(path, text_encoding):
        *lines, rest = (rest + buffer).split(b"\n")
        for line in lines:
            number += 1
            yield number, decode_utf8(line, name, number).removesuffix("\r")
    if rest:
        yield number + 1, decode_utf8(rest, name, number + 1).removesuffix("\r")


def read_whole_lines(path: str | Path, text_encoding: str = UTF_8) -> Iterator[str]:
    """The text of a file as it is, some lines at a time."""
    name, rest, number = display_name(path), b"", 1
    for buffer in read_text(path, text_encoding):
        lines, end, rest = (rest + buffer).rpartition(b"\n")
        yield decode_utf8(lines + end, name, number)
        number += count_lines(lines + end)
    yield decode_utf8(rest, name, number)


def decode_utf8(data: bytes, name: str, first_line: int) -> str:
    """The text of some lines, or an error that names the line of the first broken byte."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = first_line + data.count(b"\n", 0, error.start)
        raise FileError(f"{name}:{line}: expected UTF-8 text, found byte 0x{data[error.start]:02x}") from error


def write_all(stream: IO[bytes], data: bytes) -> None:
    """Write bytes to a stream that may take fewer at a time, as Python's standard output does when it has no buffer."""
    rest = memoryview(data)
    while rest:
        rest = rest[stream.write(rest) :]


@contextmanager
def writing(path: str | Path) -> Iterator[TextIO]:
    """A stream to a file (`-`: standard output); the file appears whole when the block ends well, or not at all.

    What was done before an `UnfinishedError` is kept beside it, with the ending `.part`.
    """
    if str(path) == "-":
        yield sys.stdout
        sys.stdout.flush()
        return
    target = Path(path)
    try:
        in_place = target.exists() and not target.is_file()  # a pipe or a device is written to, never replaced
        with target.open("w", encoding="utf-8", newline="") if in_place else _replacing(target) as stream:
            yield stream
    except OSError as error:
        raise FileError(f"{target}: {error.strerror or error}") from error


@contextmanager
def _replacing(path: Path) -> Iterator[TextIO]:
    """Write beside the file, then put the new one in its place in one step; a link to the file stays a link."""
    target = Path(os.path.realpath(path))
    _remove_abandoned(target.parent)
    handle, beside = _new_file(target.parent)
    _unfinished.add(beside)
    with _lock_kept(handle):
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="") as stream:
                yield stream
            _rename(beside, target)
        except UnfinishedError as error:
            if not Path(beside).stat().st_size:
                raise
            part = target.with_name(f"{target.name}.part")
            _rename(beside, part)
            raise UnfinishedError(f"{error}; what was done before is in {part}") from error
        finally:
            Path(beside).unlink(missing_ok=True)
            _unfinished.discard(beside)


def _new_file(folder: Path) -> tuple[int, str]:
    """An empty file, open and locked."""
    while True:
        handle, path = tempfile.mkstemp(prefix=_UNFINISHED_PREFIX, dir=folder)
        _lock(handle, wait=True)
        if Path(path).exists():  # else another process removed it as abandoned before it was locked
            return handle, path
        os.close(handle)


def _remove_abandoned(folder: Path) -> None:
    """Remove the unfinished files of killed processes: those that no process has locked."""
    for path in folder.glob(f"{_UNFINISHED_PREFIX}*"):
        with suppress(OSError), path.open("rb") as stream:
            if _lock(stream.fileno(), wait=False):
                path.unlink(missing_ok=True)


def _lock(handle: int, *, wait: bool) -> bool:
    """Lock a file until it is closed or its process ends; False if another one has it, or if there are no locks."""
    if sys.platform == "win32":
        return False
    with suppress(OSError):
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        return True
    return False


@contextmanager
def _lock_kept(handle: int) -> Iterator[None]:
    """Keep a file locked after it is closed, until it has its final name."""
    if sys.platform == "win32":  # which has no such locks, and renames no open files
        yield
        return
    again = os.dup(handle)
    try:
        yield
    finally:
        os.close(again)


def _rename(path: str, target: Path) -> None:
    os.chmod(path, _permissions(target))
    os.replace(path, target)


def remove_unfinished() -> None:
    """Remove files that are being written, as the process is about to end."""
    for path in list(_unfinished):
        Path(path).unlink(missing_ok=True)


def _permissions(target: Path) -> int:
    """Those of the old file, or those that any other new file gets; `mkstemp` by itself makes private ones."""
    if target.exists():
        return stat.S_IMODE(target.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
