"""Reading and writing files: compressed, in any text encoding, standard input and output; nothing half-written."""

from __future__ import annotations

import codecs
import os
import stat
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import IO, Protocol, TextIO, cast

from biplanar.data.compression import CorruptError, Decompressor
from biplanar.data.formats import COMPRESSED
from biplanar.errors import BiplanarError, FileError, FormatError, UnfinishedError, file_errors

if sys.platform != "win32":
    import fcntl

BUFFER = 1 << 16  # bytes that are read at once; they fit in the CPU cache

UTF_8 = "utf-8"  # the default text encoding of files

# The temporary files of this process, and how such files are called.
_unfinished: set[str] = set()
_UNFINISHED_PREFIX = ".biplanar-"


def display_name(path: str | Path) -> str:
    """How messages and ids name a file: `-` is standard input, and what cannot be printed is escaped."""
    name = "<stdin>" if str(path) == "-" else str(path)
    return name if name.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in name)


def is_plain_file(path: str | Path) -> bool:
    """Whether reading it never blocks on another process, as reading a pipe or a terminal may."""
    return str(path) != "-" and Path(path).is_file()


def read_buffers(path: str | Path, start: int = 0, end: int | None = None) -> Iterator[bytes]:
    """The bytes of a file (`-`: standard input), decompressed by its ending, a buffer at a time.

    Of a file that is not compressed, `start` and `end` choose some.
    """
    name, left = display_name(path), sys.maxsize if end is None else end - start
    try:
        with file_errors(name), _open(path) as stream:
            if start:
                stream.seek(start)
            while buffer := stream.read(min(BUFFER, left)):
                left -= len(buffer)
                yield buffer
    except CorruptError as error:
        raise FileError(f"{name}: truncated or corrupt {Path(name).suffix[1:]} data ({error})") from error


@contextmanager
def _open(path: str | Path) -> Iterator[IO[bytes]]:
    if str(path) == "-":
        yield sys.stdin.buffer
        return
    with Path(path).open("rb") as stream:
        ending = Path(path).suffix
        yield cast("IO[bytes]", Decompressor(stream, ending)) if ending in COMPRESSED else stream


def read_text(
    path: str | Path, text_encoding: str = UTF_8, start: int = 0, end: int | None = None, first_line: int = 1
) -> Iterator[bytes]:
    """The text of a file as UTF-8, a buffer at a time; NUL characters are refused.

    What is in UTF-8 already is not decoded here: `read_lines`, `whole_lines_of` and the readers of CoNLL-U check it.
    """
    name, line = display_name(path), first_line
    buffers = read_buffers(path, start, end)
    for buffer in buffers if is_utf8(text_encoding) else _decoded(buffers, name, text_encoding):
        if b"\0" in buffer:
            line += buffer.count(b"\n", 0, buffer.index(b"\0"))
            hint = "is it in another encoding, such as utf-16 (--text-encoding)?"
            raise FormatError(name, line, f"not {text_encoding.upper()} text: NUL character; {hint}")
        yield buffer
        line += count_lines(buffer)


def is_utf8(text_encoding: str) -> bool:
    """Whether this is a name of UTF-8; an error if Python has no text encoding of that name."""
    try:
        "a".encode(text_encoding)
        codecs.getincrementaldecoder(text_encoding)
        return codecs.lookup(text_encoding).name == UTF_8
    except (LookupError, ValueError) as error:
        hint = "use one that Python knows, such as utf-8, utf-16 or latin-1"
        raise BiplanarError(f"unknown text encoding {text_encoding!r}: {hint}") from error


def _decoded(buffers: Iterable[bytes], name: str, text_encoding: str) -> Iterator[bytes]:
    """Text of any encoding, in UTF-8."""
    decoder, line = codecs.getincrementaldecoder(text_encoding)(), 1
    for buffer, is_last in chain(((buffer, False) for buffer in buffers), [(b"", True)]):
        try:
            text = decoder.decode(buffer, is_last).encode()
        except UnicodeError as error:
            found, more = _first_broken(error)
            raise FormatError(name, line + more, f"not {text_encoding.upper()} text: {found}") from error
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
    import numpy as np  # here, as the command line imports this module when it starts

    return int(np.count_nonzero(np.frombuffer(data, dtype=np.uint8) == ord("\n")))


def read_lines(path: str | Path, text_encoding: str = UTF_8) -> Iterator[tuple[int, str]]:
    """Numbered lines of a file, without their line ends."""
    name = display_name(path)
    for number, line in raw_lines_of(read_text(path, text_encoding)):
        yield number, decode_utf8(line, name, number)


def raw_lines_of(buffers: Iterable[bytes], first_line: int = 1) -> Iterator[tuple[int, bytes]]:
    """Numbered lines without their line ends, as bytes."""
    rest, number = b"", first_line
    for buffer in buffers:
        *lines, rest = (rest + buffer).split(b"\n")
        for line in lines:
            yield number, line.removesuffix(b"\r")
            number += 1
    if rest:
        yield number, rest.removesuffix(b"\r")


def whole_lines_of(buffers: Iterable[bytes], name: str) -> Iterator[str]:
    """Text as it is, some whole lines at a time."""
    rest, number = b"", 1
    for buffer in buffers:
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
        hint = "is it in another encoding, such as latin-1 (--text-encoding)?"
        raise FormatError(name, line, f"not UTF-8 text: byte 0x{data[error.start]:02x}; {hint}") from error


class Sink(Protocol):
    """Something that bytes can be written to."""

    def write(self, data: bytes, /) -> int:
        """Take some; how many were taken."""


def write_all(stream: Sink, data: bytes) -> None:
    """Write bytes to a stream that may take fewer at a time, as unbuffered standard output does."""
    done = stream.write(data)
    while done < len(data):
        done += stream.write(data[done:])


@contextmanager
def writing(path: str | Path) -> Iterator[TextIO]:
    """A stream to a file (`-`: standard output); the file appears whole when the block ends well, or not at all.

    What was written before an `UnfinishedError` is kept beside it, with the ending `.part`.
    """
    if str(path) == "-":
        yield sys.stdout
        sys.stdout.flush()
        return
    target = Path(path)
    with file_errors(target):
        in_place = target.exists() and not target.is_file()  # a pipe or a device is written to, never replaced
        with target.open("w", encoding="utf-8", newline="") if in_place else _replacing(target) as stream:
            yield stream


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
            raise UnfinishedError(f"{error}; what was finished is in {part}") from error
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
    """Lock a file until it is closed or its process ends; False if another process has it, or without file locks."""
    if sys.platform == "win32":
        return False
    with suppress(OSError):
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        return True
    return False


@contextmanager
def _lock_kept(handle: int) -> Iterator[None]:
    """Keep a file locked after it is closed, until it has its final name."""
    if sys.platform == "win32":  # no such locks, and open files cannot be renamed
        yield
        return
    again = os.dup(handle)
    try:
        yield
    finally:
        os.close(again)


def _rename(path: str, target: Path) -> None:
    """Keep the permissions of the old file, or give those of any other new file; `mkstemp` makes private ones."""
    if target.exists():
        mode = stat.S_IMODE(target.stat().st_mode)
    else:
        mask = os.umask(0)
        os.umask(mask)
        mode = 0o666 & ~mask
    os.chmod(path, mode)
    os.replace(path, target)


def remove_unfinished() -> None:
    """Remove files that are being written, as the process is about to end."""
    for path in list(_unfinished):
        Path(path).unlink(missing_ok=True)
