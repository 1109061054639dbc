from __future__ import annotations

import bz2
import errno
import gzip
import io
import lzma
import os
import re
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from biplanar.data import files as text
from biplanar.data.files import (
    decode_utf8,
    is_plain_file,
    read_buffers,
    read_lines,
    read_text,
    whole_lines_of,
    write_all,
    writing,
)
from biplanar.errors import BiplanarError, FileError, FormatError, UnfinishedError

CONTENT = "Grüße an 猫 🐈\nzweite Zeile\r\n\n".encode()
COMPRESS = {"": bytes, ".gz": gzip.compress, ".xz": lzma.compress, ".bz2": bz2.compress}

every_ending = pytest.mark.parametrize("ending", COMPRESS)


def give_stdin(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def full_disk() -> OSError:
    return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
def test_plain_files(tmp_path):
    (tmp_path / "file").write_text("text")
    os.mkfifo(tmp_path / "pipe")
    names = ("file", "pipe", "nothing", "")
    assert [is_plain_file(tmp_path / name) for name in names] == [True, False, False, False]
    assert not is_plain_file("-")


class TestWholeLines:
    @every_ending
    @pytest.mark.parametrize("chunk", [1, 7, 1 << 20])
    def test_nothing_is_changed(self, tmp_path, monkeypatch, ending, chunk):
        monkeypatch.setattr(text, "BUFFER", chunk)
        path = tmp_path / f"words{ending}"
        path.write_bytes(COMPRESS[ending](CONTENT + b"\rend"))
        assert "".join(whole_lines_of(read_text(path), "x")) == CONTENT.decode() + "\rend"

    def test_a_broken_byte_is_found_in_its_line(self, monkeypatch):
        monkeypatch.setattr(text, "BUFFER", 4)
        give_stdin(monkeypatch, b"a\n\nbcdef\n\xff\n")
        with pytest.raises(FormatError, match=r"<stdin>:4: not UTF-8 text: byte 0xff"):
            list(whole_lines_of(read_text("-"), "<stdin>"))


class TestReadChunks:
    @every_ending
    @pytest.mark.parametrize("chunk", [1, 7, 1 << 20])
    def test_plain_and_compressed_files(self, tmp_path, monkeypatch, ending, chunk):
        monkeypatch.setattr(text, "BUFFER", chunk)
        path = tmp_path / f"words{ending}"
        path.write_bytes(COMPRESS[ending](CONTENT))
        chunks = list(read_buffers(path))
        assert b"".join(chunks) == CONTENT
        assert max(map(len, chunks)) <= chunk

    def test_a_path_may_be_a_string(self, tmp_path):
        (tmp_path / "words").write_bytes(CONTENT)
        assert b"".join(read_buffers(str(tmp_path / "words"))) == CONTENT

    def test_standard_input(self, monkeypatch):
        give_stdin(monkeypatch, CONTENT)
        assert b"".join(read_buffers("-")) == CONTENT

    @every_ending
    def test_an_empty_file_has_no_chunks(self, tmp_path, ending):
        path = tmp_path / f"empty{ending}"
        path.write_bytes(COMPRESS[ending](b""))
        assert list(read_buffers(path)) == []

    @pytest.mark.parametrize("ending", [".gz", ".xz", ".bz2"])
    def test_compressed_data_that_is_cut_off(self, tmp_path, ending):
        path = tmp_path / f"cut{ending}"
        path.write_bytes(COMPRESS[ending](os.urandom(5000))[:-20])
        with pytest.raises(FileError) as caught:
            list(read_buffers(path))
        assert str(caught.value).startswith(f"{path}: truncated or corrupt {ending[1:]} data")

    @pytest.mark.parametrize("ending", [".gz", ".xz", ".bz2"])
    @pytest.mark.parametrize("before", [False, True])
    def test_data_that_is_not_compressed_as_its_ending_says(self, tmp_path, ending, before):
        path = tmp_path / f"plain{ending}"
        path.write_bytes(COMPRESS[ending](CONTENT) * before + CONTENT)
        with pytest.raises(FileError, match=f"plain{ending}: truncated or corrupt {ending[1:]} data"):
            list(read_buffers(path))

    @pytest.mark.parametrize("ending", [".gz", ".xz"])
    def test_several_streams_and_padding(self, tmp_path, ending):
        path = tmp_path / f"x{ending}"
        path.write_bytes((COMPRESS[ending](CONTENT) + b"\0" * 8) * 2)
        assert b"".join(read_buffers(path)) == CONTENT * 2

    def test_compressed_data_with_a_wrong_byte(self, tmp_path):
        data = bytearray(gzip.compress(CONTENT * 100))
        data[-6] ^= 1
        path = tmp_path / "wrong.gz"
        path.write_bytes(data)
        with pytest.raises(FileError, match=r"wrong\.gz: truncated or corrupt gz data"):
            list(read_buffers(path))

    @every_ending
    def test_a_missing_file(self, tmp_path, ending):
        path = tmp_path / f"missing{ending}"
        with pytest.raises(FileError) as caught:
            list(read_buffers(path))
        assert str(caught.value) == f"{path}: No such file or directory"

    @every_ending
    def test_a_folder(self, tmp_path, ending):
        path = tmp_path / f"folder{ending}"
        path.mkdir()
        with pytest.raises(FileError) as caught:
            list(read_buffers(path))
        assert str(caught.value) == f"{path}: Is a directory"

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
    def test_a_file_that_may_not_be_read(self, tmp_path):
        path = tmp_path / "locked"
        path.touch(0)
        with pytest.raises(FileError, match=r"locked: Permission denied$"):
            list(read_buffers(path))

    @pytest.mark.parametrize("number", [errno.EACCES, errno.EIO])
    def test_whatever_the_system_refuses_names_the_file(self, monkeypatch, number):
        def refuse(*_: object) -> None:
            raise OSError(number, os.strerror(number))

        monkeypatch.setattr(Path, "open", refuse)
        with pytest.raises(FileError) as caught:
            list(read_buffers("words.gz"))
        assert str(caught.value) == f"words.gz: {os.strerror(number)}"


class TestReadLines:
    @every_ending
    @pytest.mark.parametrize("chunk", [1, 2, 3, 1 << 20])
    def test_lines_are_numbered_and_stripped_of_their_ends(self, tmp_path, monkeypatch, ending, chunk):
        monkeypatch.setattr(text, "BUFFER", chunk)
        path = tmp_path / f"words{ending}"
        path.write_bytes(COMPRESS[ending](CONTENT))
        assert list(read_lines(path)) == [(1, "Grüße an 猫 🐈"), (2, "zweite Zeile"), (3, "")]

    def test_a_last_line_without_an_end(self, monkeypatch):
        give_stdin(monkeypatch, b"a\nb")
        assert list(read_lines("-")) == [(1, "a"), (2, "b")]

    def test_only_line_feeds_end_lines(self, monkeypatch):
        line = "a\u2028b\u2029c\u0085d\x0be\x0cf\x1cg\x1dh\x1ei\rj"
        give_stdin(monkeypatch, f"{line}\nk\n".encode())
        assert list(read_lines("-")) == [(1, line), (2, "k")]

    def test_an_empty_file(self, monkeypatch):
        give_stdin(monkeypatch, b"")
        assert list(read_lines("-")) == []

    @pytest.mark.parametrize("chunk", [1, 2, 1 << 20])
    def test_broken_utf8_names_the_line(self, monkeypatch, chunk):
        monkeypatch.setattr(text, "BUFFER", chunk)
        give_stdin(monkeypatch, b"a\nb\nc\xff\nd\n")
        with pytest.raises(FormatError) as caught:
            list(read_lines("-"))
        assert str(caught.value).startswith("<stdin>:3: not UTF-8 text: byte 0xff")

    def test_utf8_that_is_cut_off(self, monkeypatch):
        give_stdin(monkeypatch, b"a\n" + "猫".encode()[:2])
        with pytest.raises(FormatError, match=r"^<stdin>:2: not UTF-8 text: byte 0xe7"):
            list(read_lines("-"))


TEXT = CONTENT.decode()


class TestTextEncodings:
    @every_ending
    @pytest.mark.parametrize("chunk", [1, 3, 1 << 20])
    @pytest.mark.parametrize("encoding", ["utf-16", "UTF-16-LE", "utf-16-be", "utf-32", "utf-8", "utf8", "gb18030"])
    def test_every_text_comes_as_utf8(self, tmp_path, monkeypatch, ending, chunk, encoding):
        monkeypatch.setattr(text, "BUFFER", chunk)
        path = tmp_path / f"words{ending}"
        path.write_bytes(COMPRESS[ending](TEXT.encode(encoding)))
        assert b"".join(read_text(path, encoding)) == CONTENT
        assert list(read_lines(path, encoding)) == [(1, "Grüße an 猫 🐈"), (2, "zweite Zeile"), (3, "")]

    def test_latin_1(self, monkeypatch):
        give_stdin(monkeypatch, "Grüße\n".encode("latin-1"))
        assert list(read_lines("-", "latin-1")) == [(1, "Grüße")]

    @pytest.mark.parametrize("chunk", [1, 4, 1 << 20])
    @pytest.mark.parametrize("data", ["a\nb\nc".encode("utf-16-le"), b"a\n\0", b"\xff\xfe" + "a".encode("utf-16-le")])
    def test_nul_characters_are_no_text(self, monkeypatch, chunk, data):
        monkeypatch.setattr(text, "BUFFER", chunk)
        give_stdin(monkeypatch, data)
        with pytest.raises(FormatError) as caught:
            list(read_text("-"))
        line = 1 + data[: data.index(b"\0")].count(b"\n")
        hint = "is it in another encoding, such as utf-16 (--text-encoding)?"
        assert str(caught.value) == f"<stdin>:{line}: not UTF-8 text: NUL character; {hint}"

    def test_nul_characters_in_another_encoding(self, monkeypatch):
        give_stdin(monkeypatch, "a\n\0".encode("utf-16"))
        with pytest.raises(FormatError, match=r"^<stdin>:2: not UTF-16 text: NUL character; "):
            list(read_lines("-", "utf-16"))

    @pytest.mark.parametrize("chunk", [1, 1 << 20])
    @pytest.mark.parametrize(
        ("encoding", "data", "message"),
        [
            ("ascii", b"a\nb\nc\xe4\n", "<stdin>:3: not ASCII text: byte 0xe4"),
            ("utf-16", "a\nb".encode("utf-16") + b"\xd8", "<stdin>:2: not UTF-16 text: byte 0xd8"),
            ("utf-16-le", b"a\0\n\0\0\xd8\n\0", "<stdin>:2: not UTF-16-LE text: byte 0x00"),
        ],
    )
    def test_broken_text_names_the_line(self, monkeypatch, chunk, encoding, data, message):
        monkeypatch.setattr(text, "BUFFER", chunk)
        give_stdin(monkeypatch, data)
        with pytest.raises(FormatError) as caught:
            list(read_text("-", encoding))
        assert str(caught.value) == message

    @pytest.mark.parametrize("name", ["utf-61", "hex", "rot13", "undefined", "", "utf-8\0"])
    def test_what_is_no_encoding_of_text(self, name):
        with pytest.raises(BiplanarError) as caught:
            list(read_lines("-", name))
        assert str(caught.value).startswith(f"unknown text encoding {name!r}: ")


def test_lines_are_counted():
    assert [text.count_lines(data) for data in (b"", b"a", b"\n", b"a\n\nb\r\n")] == [0, 0, 1, 3]


def test_decode_utf8_counts_lines_from_the_first():
    assert decode_utf8("ä\nö".encode(), "words", 5) == "ä\nö"
    with pytest.raises(FormatError, match=r"^words:7: not UTF-8 text: byte 0xa4"):
        decode_utf8(b"a\nb\n\xa4\n\xff", "words", 5)


def test_all_is_written_to_a_stream_that_takes_little_at_a_time():
    class Narrow(io.BytesIO):
        def write(self, data):
            return super().write(data[:3])

    stream = Narrow()
    write_all(stream, CONTENT)
    assert stream.getvalue() == CONTENT


class TestWriting:
    def test_a_new_file(self, tmp_path):
        with writing(tmp_path / "out") as stream:
            stream.write("Grüße\r\n🐈\n")
            assert not (tmp_path / "out").exists()
        assert (tmp_path / "out").read_bytes() == "Grüße\r\n🐈\n".encode()
        assert names_in(tmp_path) == ["out"]

    def test_a_name_alone_is_a_file_in_this_folder(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        with writing("out") as stream:
            stream.write("a")
        assert (tmp_path / "out").read_text() == "a"

    def test_the_longest_name_there_can_be(self, tmp_path):
        path = tmp_path / ("n" * 255)
        with writing(path) as stream:
            stream.write("a")
        assert path.read_text() == "a"

    @pytest.mark.parametrize("old", [None, "old"])
    @pytest.mark.parametrize("error", [KeyboardInterrupt(), ValueError("wrong")])
    def test_a_block_that_fails_leaves_things_as_they_were(self, tmp_path, old, error):
        self.check_untouched(tmp_path, old, error, type(error))

    def test_unfinished_work_is_kept_beside(self, tmp_path):
        target, part = tmp_path / "x", tmp_path / "x.part"
        target.write_text("old")
        with pytest.raises(UnfinishedError, match=f"^killed; what was finished is in {re.escape(str(part))}$"):
            self.write_and_fail(target, "half")
        assert (target.read_text(), part.read_text()) == ("old", "half")
        assert sorted(tmp_path.iterdir()) == [target, part]
        part.unlink()
        with pytest.raises(UnfinishedError, match=r"^killed$"):
            self.write_and_fail(target, "")
        assert list(tmp_path.iterdir()) == [target]

    def write_and_fail(self, path: Path, content: str) -> None:
        with writing(path) as stream:
            stream.write(content)
            raise UnfinishedError("killed")

    @pytest.mark.parametrize("old", [None, "old"])
    def test_a_disk_that_is_full_while_writing(self, tmp_path, old):
        message = self.check_untouched(tmp_path, old, full_disk(), FileError)
        assert message == f"{tmp_path / 'out'}: No space left on device"

    @pytest.mark.parametrize("old", [None, "old"])
    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
    def test_a_disk_that_is_full_when_the_file_is_closed(self, tmp_path, monkeypatch, old):
        def on_full_disk(handle, *arguments, **options):
            os.close(handle)
            return open("/dev/full", *arguments, **options)  # noqa: PTH123

        monkeypatch.setattr(os, "fdopen", on_full_disk)
        message = self.check_untouched(tmp_path, old, None, FileError)
        assert message == f"{tmp_path / 'out'}: No space left on device"

    @pytest.mark.parametrize("old", [None, "old"])
    def test_a_file_that_cannot_be_put_in_its_place(self, tmp_path, monkeypatch, old):
        def refuse(*_: object) -> None:
            raise full_disk()

        monkeypatch.setattr(os, "replace", refuse)
        message = self.check_untouched(tmp_path, old, None, FileError)
        assert message == f"{tmp_path / 'out'}: No space left on device"

    def check_untouched(self, folder, old, error, raised) -> str:
        """Write, fail, and see that the folder is as it was."""
        path = folder / "out"
        if old is not None:
            path.write_text(old)

        def write() -> None:
            with writing(path) as stream:
                stream.write("new")
                if error:
                    raise error

        with pytest.raises(raised) as caught:
            write()
        assert names_in(folder) == ([] if old is None else ["out"])
        assert old is None or path.read_text() == old
        return str(caught.value)

    @pytest.fixture
    def writer(self, tmp_path) -> Iterator[subprocess.Popen[bytes]]:
        """Another process that is writing a file and never comes to its end."""
        code = (
            "import sys, time\n"
            "from biplanar.data.files import writing\n"
            "with writing(sys.argv[1]) as stream:\n"
            "    stream.write('x' * 1_000_000)\n"
            "    print(flush=True)\n"
            "    time.sleep(600)\n"
        )
        with subprocess.Popen([sys.executable, "-c", code, tmp_path / "out"], stdout=subprocess.PIPE) as process:
            assert process.stdout.readline() == b"\n"
            yield process
            process.kill()

    def test_what_a_killed_process_left_is_removed_by_the_next(self, tmp_path, writer):
        writer.kill()
        writer.wait()
        (left,) = tmp_path.iterdir()
        assert left.name.startswith(".biplanar-")
        with writing(tmp_path / "out") as stream:
            stream.write("new")
            assert not left.exists()
        assert names_in(tmp_path) == ["out"]

    def test_what_a_live_process_is_writing_is_left_alone(self, tmp_path, writer):
        (other,) = tmp_path.iterdir()
        with writing(tmp_path / "out") as stream:
            stream.write("new")
        assert writer.poll() is None
        assert names_in(tmp_path) == [other.name, "out"]
        assert other.stat().st_size

    def test_files_within_each_other(self, tmp_path):
        with writing(tmp_path / "one") as one, writing(tmp_path / "other") as other:
            one.write("1")
            other.write("2")
        assert [(tmp_path / name).read_text() for name in ("one", "other")] == ["1", "2"]
        assert names_in(tmp_path) == ["one", "other"]

    def test_a_new_file_that_was_taken_for_an_abandoned_one(self, tmp_path, monkeypatch):
        lock, taken = text._lock, []

        def late(handle: int, *, wait: bool) -> bool:
            if not taken:
                taken.extend(tmp_path.iterdir())
                taken[0].unlink()
            return lock(handle, wait=wait)

        monkeypatch.setattr(text, "_lock", late)
        with writing(tmp_path / "out") as stream:
            stream.write("new")
        assert taken
        assert (tmp_path / "out").read_text() == "new"
        assert names_in(tmp_path) == ["out"]

    def test_a_file_system_without_locks(self, tmp_path, monkeypatch):
        def refuse(*_: object) -> None:
            raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

        monkeypatch.setattr(text.fcntl, "flock", refuse)
        (tmp_path / ".biplanar-old").touch()
        with writing(tmp_path / "out") as stream:
            stream.write("new")
        assert names_in(tmp_path) == [".biplanar-old", "out"]

    @pytest.mark.parametrize(
        ("path", "problem"),
        [
            ("missing/out", "No such file or directory"),
            ("file/out", "Not a directory"),
            ("folder", "Is a directory"),
        ],
    )
    def test_places_that_cannot_be_written_to(self, tmp_path, path, problem):
        (tmp_path / "file").touch()
        (tmp_path / "folder").mkdir()
        with pytest.raises(FileError) as caught, writing(tmp_path / path):
            pytest.fail("the block must not run")
        assert str(caught.value) == f"{tmp_path / path}: {problem}"
        assert names_in(tmp_path) == ["file", "folder"]
        assert names_in(tmp_path / "folder") == []

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
    def test_a_folder_that_may_not_be_written_to(self, tmp_path):
        folder = tmp_path / "locked"
        folder.mkdir(0o500)
        with pytest.raises(FileError, match=r"out: Permission denied$"), writing(folder / "out"):
            pytest.fail("the block must not run")

    @pytest.mark.parametrize(("mask", "wanted"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
    def test_new_files_get_the_usual_permissions(self, tmp_path, mask, wanted):
        before = os.umask(mask)
        try:
            with writing(tmp_path / "out"):
                pass
        finally:
            assert os.umask(before) == mask
        assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == wanted

    def test_old_files_keep_their_permissions(self, tmp_path):
        path = tmp_path / "out"
        path.touch(0o600)
        with writing(path) as stream:
            stream.write("new")
        assert stat.S_IMODE(path.stat().st_mode) == 0o600

    def test_a_link_stays_a_link(self, tmp_path):
        (tmp_path / "there").mkdir()
        target, link = tmp_path / "there" / "out", tmp_path / "link"
        target.write_text("old")
        link.symlink_to(target)
        with writing(link) as stream:
            stream.write("new")
        assert link.is_symlink()
        assert target.read_text() == "new"

    def test_a_pipe_is_written_to_and_not_replaced(self, tmp_path):
        """As `-o >(less)` and `-o /dev/null` ask for."""
        path, read = tmp_path / "pipe", []
        os.mkfifo(path)
        reader = threading.Thread(target=lambda: read.append(path.read_text()))
        reader.start()
        with writing(path) as stream:
            stream.write("new")
        reader.join(10)
        assert read == ["new"]
        assert path.is_fifo()

    def test_standard_output(self, tmp_path, monkeypatch, capsys):
        monkeypatch.chdir(tmp_path)
        with writing("-") as stream:
            stream.write("Grüße\n")
        assert capsys.readouterr().out == "Grüße\n"
        assert names_in(tmp_path) == []

    def test_standard_output_is_flushed(self, monkeypatch):
        buffer = io.BytesIO()
        monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(buffer))
        with writing("-") as stream:
            stream.write("a")
        assert buffer.getvalue() == b"a"
