"""From files to a file."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

import biplanar
from biplanar.bulk import Source, Task, ThisProcess, parse_files
from biplanar.bulk.task import ChunkParser
from biplanar.data.conllu import RawConllu, parse_conllu, read_conllu
from biplanar.decoding.inventory import LabelInventory
from biplanar.encodings import get_encoding
from biplanar.errors import BiplanarError, FormatError
from biplanar.pipeline.options import ParseOptions
from tests.bulk.corpus import CONLLU, RICH, SENTENCES, TELESCOPE, parsed_file, task_of


class TestConllu:
    """CoNLL-U, which stays bytes where it can."""

    @pytest.mark.parametrize(
        "text",
        [
            CONLLU,
            CONLLU + RICH,
            RICH + "\n" + CONLLU[:-2],
            CONLLU.replace("\n", "\r\n"),
            "\n\n\ufeff" + CONLLU + "\n\n" + RICH,
            (RICH + "\n" + CONLLU).replace("SpaceAfter=No", "HeadProb=high|X=1"),
        ],
        ids=["plain", "open end", "rich", "windows", "blanks", "probabilities"],
    )
    @pytest.mark.parametrize("probabilities", [True, False])
    @pytest.mark.usefixtures("small_chunks")
    def test_the_same_bytes_as_sentence_by_sentence(self, parser, tmp_path, text, probabilities):
        (tmp_path / "x.conllu").write_bytes(text.encode())
        options = {"decoder": "greedy", "batch_words": 30, "probabilities": probabilities}
        wanted = "".join(sentence.raw for sentence in parser.pipe(read_conllu(tmp_path / "x.conllu"), **options))
        assert parsed_file(tmp_path / "x.conllu", **options) == wanted
        assert ("HeadProb" in wanted) == probabilities

    @pytest.mark.parametrize("best", [1, 2])
    @pytest.mark.usefixtures("small_chunks")
    def test_how_the_trees_were_found_is_counted(self, tmp_path, best):
        (tmp_path / "x.conllu").write_text(CONLLU)
        outcome = parse_files(Source((tmp_path / "x.conllu",)), io.BytesIO(), task_of(best=best))
        assert outcome.sentences == len(SENTENCES)
        assert outcome.lost == 0

    def test_bytes_where_only_trees_change(self, parser):
        def window(text: str, encoding: str = "2p-full", *, probabilities: bool = False) -> object:
            untagged = {task: names for task, names in parser.inventory.names.items() if task != "upos"}
            inventory = LabelInventory(get_encoding(encoding), untagged)
            one = biplanar.Parser(parser.scorer, inventory, parser.folder, batch_words=500)
            return one.read([RawConllu(text.encode())], ParseOptions("greedy", probabilities=probabilities)).table

        tagged = "1\tyes\t_\tINTJ\t_\t_\t_\t_\t_\t_\n\n"
        assert window(RICH) is not None
        assert window(RICH, probabilities=True) is None
        assert window(RICH.replace("SpaceAfter=No", "HeadProb=0.1")) is None
        assert window(tagged, "rel-pos") is not None
        with pytest.raises(BiplanarError, match="no segmenter"):
            window(tagged.replace("INTJ", "_"), "rel-pos")  # such sentences are tagged, if that can be done

    @pytest.mark.usefixtures("small_chunks")
    def test_errors_come_when_all_before_is_written(self, tmp_path):
        (tmp_path / "x.conllu").write_text(CONLLU + "1\tx\n\n" + CONLLU)
        stream = io.BytesIO()
        with pytest.raises(FormatError, match=rf"x.conllu:{CONLLU.count(chr(10)) + 1}: expected 10 columns, found 2$"):
            parse_files(Source((tmp_path / "x.conllu",)), stream, Task())
        written = parse_conllu(stream.getvalue().decode())
        assert 0 < len(written) <= len(SENTENCES)
        assert [sentence.forms for sentence in written] == SENTENCES[: len(written)]

    @pytest.mark.parametrize(
        ("data", "message"),
        [
            (b"", r"x.conllu:1: the file has no sentences"),
            (b" \n\n\xef\xbb\xbf", r"x.conllu:1: the file has no sentences"),
            (
                CONLLU.encode() + b"# \xff",
                rf"x.conllu:{CONLLU.count(chr(10)) + 1}: not UTF-8 text: byte 0xff",
            ),
        ],
    )
    def test_broken_files(self, tmp_path, data, message):
        (tmp_path / "x.conllu").write_bytes(data)
        stream = io.BytesIO()
        with pytest.raises(BiplanarError, match=message):
            parse_files(Source((tmp_path / "x.conllu",)), stream, Task())
        with pytest.raises(BiplanarError, match=message):
            list(read_conllu(tmp_path / "x.conllu"))
        assert stream.getvalue() == b""

    def test_a_long_file_takes_no_more_memory(self, parser, tmp_path, monkeypatch):
        """Both are longer than what is read, parsed and written at a time."""
        monkeypatch.setattr("biplanar.bulk.engines.CHUNK_WORDS", 1000)
        monkeypatch.setattr("biplanar.bulk.engines.CHUNK_BATCHES", 0)
        task = task_of(decoder="greedy")
        engine = ThisProcess(loaded=ChunkParser(task, parser))
        peaks = []
        for times in (1, 60, 240):  # the first has everything loaded and compiled
            (tmp_path / "x").write_text(CONLLU * times)
            with (tmp_path / "out").open("wb") as stream:
                tracemalloc.start()
                try:
                    parse_files(Source((tmp_path / "x",), "conllu"), stream, task, engine)
                    peaks.append(tracemalloc.get_traced_memory()[1])
                finally:
                    tracemalloc.stop()
        assert peaks[2] < 1.2 * peaks[1]

    def test_chunks_that_are_parsed_side_by_side(self, tmp_path, monkeypatch):
        """As where a GPU leaves the cores to decoding."""
        monkeypatch.setattr("biplanar.bulk.engines.CHUNK_WORDS", 40)
        monkeypatch.setattr("biplanar.bulk.engines.CHUNK_BATCHES", 0)
        (tmp_path / "x").write_text(CONLLU * 9)
        task, parser, texts = task_of(), biplanar.load(), list[str]()
        for threads in (1, 2):
            monkeypatch.setattr(type(parser.scorer), "decoding_threads", threads)
            stream = io.BytesIO()
            parse_files(
                Source((tmp_path / "x",), "conllu"), stream, task, ThisProcess(loaded=ChunkParser(task, parser))
            )
            texts.append(stream.getvalue().decode())
        assert texts[0] == texts[1]

    def test_what_comes_through_a_pipe_is_parsed_chunk_by_chunk(self, tmp_path, monkeypatch):
        parser, found = biplanar.load(), list[int]()
        monkeypatch.setattr(type(parser.scorer), "decoding_threads", 2)
        monkeypatch.setattr("biplanar.bulk.engines.overlap", lambda *_, beside, **__: found.append(beside))
        os.mkfifo(tmp_path / "pipe")
        (tmp_path / "x").touch()
        for name in ("x", "pipe"):
            engine = ThisProcess(loaded=ChunkParser(task_of(), parser))
            engine.run(task_of(), Source((tmp_path / name,), "conllu"), lambda _: None)
        assert found == [2, 1]


class TestNumbers:
    """Sentences without numbers of their own get them by file."""

    def ids(self, source: Source, **settings: object) -> list[str | None]:
        stream = io.BytesIO()
        parse_files(source, stream, task_of(**settings))
        return [sentence.comment("sent_id") for sentence in parse_conllu(stream.getvalue().decode())]

    @pytest.mark.parametrize("kind", ["text", "lines", "horizontal"])
    @pytest.mark.usefixtures("small_chunks")
    def test_several_files_are_told_apart(self, tmp_path, kind):
        for name in ("a.txt", "b.txt"):
            (tmp_path / name).write_text("Nobody came . \n\nWhy ?\n\n" * 20)
        one = [str(number) for number in range(1, 41)]
        assert self.ids(Source((tmp_path / "a.txt",), kind)) == one
        both = Source((tmp_path / "a.txt", tmp_path / "b.txt"), kind)
        assert self.ids(both) == [f"{name}-{number}" for name in ("a.txt", "b.txt") for number in one]

    def test_those_of_conllu_are_kept(self, tmp_path):
        (tmp_path / "a.conllu").write_text(RICH.replace("# text", "# sent_id = mine\n# text"))
        assert self.ids(Source((tmp_path / "a.conllu", tmp_path / "a.conllu"))) == ["mine", "mine"]

    def test_several_trees_of_a_sentence_are_told_apart(self):
        source = Source(text=f"{TELESCOPE}\n\n{TELESCOPE}\n")
        assert self.ids(source, best=3) == ["1", "1-tree2", "1-tree3", "2", "2-tree2", "2-tree3"]
        stream = io.BytesIO()
        parse_files(source, stream, task_of(best=3))
        assert stream.getvalue().count(b"# newdoc") == 1
        assert stream.getvalue().count(b"# newpar") == 2


# The command with chunks so small that a short file has many, which come one by one.
COMMAND = """
import signal
import time
from biplanar.bulk import chunks, engines
from biplanar.data import files
from biplanar.cli import main

def slowly(source, enough):
    for chunk in all_chunks(source, enough):
        time.sleep(0.02)
        yield chunk

signal.signal(signal.SIGINT, signal.default_int_handler)  # which shells take from what runs in the background
all_chunks, chunks.Source.chunks = chunks.Source.chunks, slowly
engines.LEAST_WORDS, engines.LARGEST_SHARE, files.BUFFER = 50, 10**9, 1000
main()
"""


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="no /proc to find worker processes in")
class TestKilledWorkers:
    def start(self, folder: Path) -> subprocess.Popen[str]:
        (folder / "x.conllu").write_text(CONLLU * 15)
        options = ["parse", folder / "x.conllu", "-o", folder / "out.conllu", "--workers", "2", "--decoder", "greedy"]
        line = [sys.executable, "-c", COMMAND, *map(str, options)]
        return subprocess.Popen(line, stderr=subprocess.PIPE, text=True, start_new_session=True)

    def workers(self, process: subprocess.Popen[str]) -> list[int]:
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        try:
            found = [int(number) for number in children.read_text().split()]
            return [one for one in found if b"spawn_main" in Path(f"/proc/{one}/cmdline").read_bytes()]
        except OSError:
            return []

    def wait_until(self, condition: Callable[[], object]) -> None:
        end = time.monotonic() + 60
        while not condition():
            assert time.monotonic() < end
            time.sleep(0.01)

    def kill(self, process: subprocess.Popen[str], workers: set[int]) -> None:
        """All at once: meanwhile the parent gives no chunk of one to another."""
        process.send_signal(signal.SIGSTOP)
        for worker in workers:
            os.kill(worker, signal.SIGKILL)
        process.send_signal(signal.SIGCONT)

    def is_under_way(self, folder: Path) -> bool:
        return any(path.stat().st_size for path in folder.glob(".biplanar-*"))

    def test_one_that_is_killed_is_replaced(self, tmp_path):
        with self.start(tmp_path) as process:
            self.wait_until(lambda: self.is_under_way(tmp_path))
            os.kill(self.workers(process)[0], signal.SIGKILL)
            _, complaint = process.communicate(timeout=60)
        assert process.returncode == 0, complaint
        assert "(signal SIGKILL); another one" in complaint  # tries its chunk again, or takes the place of an idle one
        assert [one.forms for one in read_conllu(tmp_path / "out.conllu")] == SENTENCES * 15

    def test_all_that_are_killed_once_are_replaced(self, tmp_path):
        with self.start(tmp_path) as process:
            self.wait_until(lambda: self.is_under_way(tmp_path))
            first = set(self.workers(process))
            self.kill(process, first)
            self.wait_until(lambda: len(set(self.workers(process)) - first) == 2)
            self.kill(process, set(self.workers(process)) - first)  # the fresh ones, which have the same chunks
            _, complaint = process.communicate(timeout=60)
        assert process.returncode == 0, complaint
        assert [one.forms for one in read_conllu(tmp_path / "out.conllu")] == SENTENCES * 15

    def test_who_is_told_to_end_leaves_nothing_behind(self, tmp_path):
        with self.start(tmp_path) as process:
            self.wait_until(lambda: self.is_under_way(tmp_path))
            process.terminate()
            process.communicate(timeout=60)
        assert process.returncode == -signal.SIGTERM
        assert [path.name for path in tmp_path.iterdir()] == ["x.conllu"]

    def test_nobody_complains_of_an_interrupt(self, tmp_path):
        with self.start(tmp_path) as process:
            self.wait_until(lambda: self.workers(process))
            os.killpg(process.pid, signal.SIGINT)  # as a terminal does
            _, complaint = process.communicate(timeout=60)
        assert process.returncode == 130
        assert "Traceback" not in complaint

    def test_what_is_done_is_kept_when_they_are_killed_again_and_again(self, tmp_path):
        with self.start(tmp_path) as process:
            self.wait_until(lambda: self.is_under_way(tmp_path))
            while process.poll() is None:
                for worker in self.workers(process):
                    os.kill(worker, signal.SIGKILL)
                time.sleep(0.01)
            complaint = process.stderr.read()
        assert process.returncode == 2
        last = complaint.splitlines()[-1]
        assert last.startswith(f"biplanar: error: {tmp_path / 'x.conllu'}:")
        assert f"as did 2 before it; what was finished is in {tmp_path / 'out.conllu.part'}" in last
        assert sorted(path.name for path in tmp_path.iterdir()) == ["out.conllu.part", "x.conllu"]
        kept = list(read_conllu(tmp_path / "out.conllu.part"))
        assert [one.forms for one in kept] == (SENTENCES * 15)[: len(kept)]
        assert all(one.is_parsed for one in kept)
