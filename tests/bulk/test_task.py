"""From file to file, in one process and in several."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest

import biplanar
from biplanar.bulk import task as bulk
from biplanar.bulk.task import Task, parse_file, read_pieces
from biplanar.data.conllu import Block, parse_conllu, read_conllu
from biplanar.data.files import INPUTS
from biplanar.encodings import get_encoding
from biplanar.errors import BiplanarError, FileError, FormatError, UnknownNameError
from biplanar.tokenizer.segmentation import read_horizontal, read_vertical

LINE = "The old man who lives near the river saw a very large dog yesterday , did n't he ?"
TELESCOPE = "I saw the man with the telescope ."
WORDS = LINE.split(" ")
SENTENCES = [WORDS[: 1 + 7 * number % 19] for number in range(40)]
CONLLU = "".join(
    sentence.raw for sentence in (biplanar.Sentence.from_words(words, comments=["# x = é"]) for words in SENTENCES)
)
RICH = """\
# text = She can't sing.
1\tShe\tshe\tPRON\t_\t_\t_\t_\t_\t_
2-3\tcan't\t_\t_\t_\t_\t_\t_\t_\t_
2\tca\tcan\tAUX\t_\t_\t7\tx\t_\t_
3\tn't\tnot\tPART\t_\t_\t_\t_\t_\t_
3.1\tsongs\tsong\tNOUN\t_\t_\t_\t_\t4:obj\t_
4\tsing\tsing\tVERB\t_\t_\t_\t_\t_\tSpaceAfter=No
"""
TEXT = "\n\n".join(" ".join(words) for words in SENTENCES) + "\n"
CONTENT = {
    "conllu": CONLLU,
    "text": TEXT + "Nobody came. Why?\nYes. " + "\n \n" + TEXT,
    "lines": TEXT.replace("\n\n", "\n") + "\n\nNobody came. Why?\n",
    "horizontal": "\ufeff" + TEXT + "  two  words \n",
    "vertical": "\n\n".join("\n".join(words) for words in SENTENCES),
}


@pytest.fixture(scope="module")
def parser() -> biplanar.Parser:
    return biplanar.load()


@pytest.fixture
def small_pieces(monkeypatch) -> None:
    """Files are read in many pieces, wherever they are read."""
    monkeypatch.setattr("biplanar.data.files.CHUNK", 500)
    monkeypatch.setattr("biplanar.pipeline.parser.WINDOW_WORDS", 40)
    monkeypatch.setattr("biplanar.pipeline.parser.WINDOW_BATCHES", 0)
    monkeypatch.setattr("biplanar.bulk.task.LEAST_WORDS", 40)


def parsed_file(path: Path, kind: str = "conllu", *, workers: int = 1, **options: object) -> str:
    stream = io.BytesIO()
    parse_file(path, stream, Task(**options), kind=kind, workers=workers)
    return stream.getvalue().decode()


def sentences_of(parser: biplanar.Parser, path: Path, kind: str) -> Iterator[biplanar.Sentence]:
    """The sentences of a file as other parts of the package read them."""
    if kind in ("text", "lines"):
        return parser.segmenter.stream([path.read_text()], presegmented=kind == "lines")
    return {"conllu": read_conllu, "horizontal": read_horizontal, "vertical": read_vertical}[kind](path)


class TestParser:
    """`Parser.parse_file`, which knows CoNLL-U only."""

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
    @pytest.mark.usefixtures("small_pieces")
    def test_the_same_bytes_as_sentence_by_sentence(self, parser, tmp_path, text, probabilities):
        (tmp_path / "x.conllu").write_bytes(text.encode())
        options = {"decoder": "greedy", "batch_words": 30, "probabilities": probabilities}
        wanted = "".join(sentence.raw for sentence in parser.pipe(read_conllu(tmp_path / "x.conllu"), **options))
        stream = io.BytesIO()
        parser.parse_file(tmp_path / "x.conllu", stream, **options)
        assert stream.getvalue() == wanted.encode()
        assert ("HeadProb" in wanted) == probabilities

    def test_how_the_searches_fared_is_counted(self, parser, tmp_path):
        (tmp_path / "x.conllu").write_text(CONLLU)
        before = parser.outcome.sentences
        parser.parse_file(tmp_path / "x.conllu", io.BytesIO())
        assert parser.outcome.sentences == before + len(SENTENCES)

    def test_bytes_where_only_trees_change(self, parser):
        def window(text: str, encoding: str = "2p-full", *, probabilities: bool = False) -> object:
            one = biplanar.Parser(parser.scorer, get_encoding(encoding), parser.vocabulary, parser.folder)
            return one.read_window([Block(text.encode())], one.tree_decoder("greedy", None, probabilities)).chunk

        tagged = "1\tyes\t_\tINTJ\t_\t_\t_\t_\t_\t_\n\n"
        assert window(RICH) is not None
        assert window(RICH, probabilities=True) is None
        assert window(RICH.replace("SpaceAfter=No", "HeadProb=0.1")) is None
        assert window(tagged, "rel-pos") is not None
        with pytest.raises(BiplanarError, match="expected a UDPipe model with a tagger"):
            window(tagged.replace("INTJ", "_"), "rel-pos")  # such sentences are tagged, if that can be done

    @pytest.mark.usefixtures("small_pieces")
    def test_errors_come_when_all_before_is_written(self, parser, tmp_path):
        (tmp_path / "x.conllu").write_text(CONLLU + "1\tx\n\n" + CONLLU)
        stream = io.BytesIO()
        with pytest.raises(FormatError, match=rf"x.conllu:{CONLLU.count(chr(10)) + 1}: expected 10 columns, found 2$"):
            parser.parse_file(tmp_path / "x.conllu", stream)
        written = parse_conllu(stream.getvalue().decode())
        assert 0 < len(written) <= len(SENTENCES)
        assert [sentence.forms for sentence in written] == SENTENCES[: len(written)]

    @pytest.mark.parametrize(
        ("data", "message"),
        [
            (b"", r"x.conllu:1: expected at least one sentence, found an empty file"),
            (b" \n\n\xef\xbb\xbf", r"x.conllu:1: expected at least one sentence, found an empty file"),
            (
                CONLLU.encode() + b"# \xff",
                rf"x.conllu:{CONLLU.count(chr(10)) + 1}: expected UTF-8 text, found byte 0xff",
            ),
        ],
    )
    def test_broken_files(self, parser, tmp_path, data, message):
        (tmp_path / "x.conllu").write_bytes(data)
        stream = io.BytesIO()
        with pytest.raises(BiplanarError, match=message):
            parser.parse_file(tmp_path / "x.conllu", stream)
        with pytest.raises(BiplanarError, match=message):
            list(read_conllu(tmp_path / "x.conllu"))
        assert stream.getvalue() == b""

    def test_a_long_file_takes_no_more_memory(self, parser, tmp_path, monkeypatch):
        """Both are longer than what is read, parsed and written at a time."""
        monkeypatch.setattr("biplanar.pipeline.parser.WINDOW_WORDS", 1000)
        monkeypatch.setattr("biplanar.pipeline.parser.WINDOW_BATCHES", 0)
        peaks = []
        for name, times in (("short", 20), ("long", 120)):
            (tmp_path / name).write_text(CONLLU * times)
            with (tmp_path / "out").open("wb") as stream:
                tracemalloc.start()
                try:
                    parser.parse_file(tmp_path / name, stream, decoder="greedy")
                    peaks.append(tracemalloc.get_traced_memory()[1])
                finally:
                    tracemalloc.stop()
        assert peaks[1] < 1.2 * peaks[0]


class TestPieces:
    @pytest.mark.parametrize("kind", INPUTS)
    @pytest.mark.usefixtures("small_pieces")
    def test_they_are_the_sentences_of_the_file_and_know_their_lines(self, parser, tmp_path, kind):
        (tmp_path / "x").write_text(CONTENT[kind])
        pieces = list(read_pieces(tmp_path / "x", kind, lambda _: 40))
        assert len(pieces) > 5
        text, number = "", 0
        for piece in pieces:
            found = "".join(block.data.decode() for block in piece.blocks(parser))
            text += bulk.shift_numbers(found, number) if kind in ("text", "lines") else found
            number += found.count("# sent_id")
        assert [sentence.raw for sentence in parse_conllu(text)] == [
            sentence.raw for sentence in sentences_of(parser, tmp_path / "x", kind)
        ]
        places = [tuple(map(int, str(piece).removeprefix(f"{tmp_path / 'x'}:").split("-"))) for piece in pieces]
        assert places[0][0] == 1
        assert all(last + 1 == first for (_, last), (first, _) in pairwise(places))
        assert places[-1][1] - CONTENT[kind].rstrip("\n").count("\n") in (0, 1, 2)

    @pytest.mark.parametrize("kind", INPUTS)
    def test_a_text_in_place_of_a_file(self, parser, tmp_path, kind):
        (tmp_path / "x").write_text(CONTENT[kind])
        (piece,) = read_pieces("-", kind, lambda _: 10_000, text=CONTENT[kind])
        assert str(piece).startswith("<text>:1-")
        text = "".join(block.data.decode() for block in piece.blocks(parser))
        assert text == "".join(sentence.raw for sentence in sentences_of(parser, tmp_path / "x", kind))


class TestOneProcess:
    @pytest.mark.parametrize("kind", INPUTS)
    @pytest.mark.usefixtures("small_pieces")
    def test_inputs(self, parser, tmp_path, kind):
        (tmp_path / "x").write_text(CONTENT[kind])
        wanted = "".join(sentence.raw for sentence in parser.pipe(sentences_of(parser, tmp_path / "x", kind)))
        assert parsed_file(tmp_path / "x", kind) == wanted

    @pytest.mark.usefixtures("small_pieces")
    def test_outputs(self, parser, tmp_path):
        (tmp_path / "x").write_text(RICH + "\n" + CONLLU)
        trees = list(parser.pipe(read_conllu(tmp_path / "x")))
        rows = [json.loads(line) for line in parsed_file(tmp_path / "x", output="json").splitlines()]
        assert rows == [[word._asdict() for word in sentence.words] for sentence in trees]
        drawn = parsed_file(tmp_path / "x", output="tree", width=60)
        assert drawn == "".join(biplanar.draw.draw_tree(one.forms, one.tree, width=60) + "\n\n" for one in trees)
        assert parsed_file(tmp_path / "x", output="svg") == biplanar.draw.draw_sentences(trees) + "\n"

    def test_several_trees_of_a_file_without_a_blank_line_at_its_end(self, tmp_path):
        telescope = biplanar.Sentence.from_words(TELESCOPE.split(" "))
        (tmp_path / "x").write_text(telescope.raw.rstrip("\n"))
        found = parse_conllu(parsed_file(tmp_path / "x", best=3))
        assert [sentence.comment("tree_rank") for sentence in found] == ["1", "2", "3"]

    @pytest.mark.parametrize("output", ["conllu", "json", "tree", "svg"])
    def test_text_without_sentences(self, tmp_path, output):
        (tmp_path / "x").write_text(" \n\n ")
        assert ("<svg" in parsed_file(tmp_path / "x", "text", output=output)) == (output == "svg")

    def test_bad_requests(self, tmp_path):
        with pytest.raises(UnknownNameError, match="did you mean 'conllu'"):
            parsed_file(tmp_path / "x", "conlu")
        with pytest.raises(UnknownNameError, match="did you mean 'json'"):
            Task(output="jsn")
        with pytest.raises(BiplanarError, match="--best needs --decoder search, found greedy"):
            Task(best=2, decoder="greedy")
        with pytest.raises(FileError, match="No such file"):
            parsed_file(tmp_path / "x")


class TestWorkers:
    @pytest.mark.parametrize(
        ("kind", "options"),
        [
            ("conllu", {"probabilities": True}),
            ("text", {"best": 2}),
            ("lines", {}),
            ("horizontal", {"output": "svg"}),
            ("vertical", {"output": "json"}),
        ],
    )
    @pytest.mark.usefixtures("small_pieces")
    def test_the_same_as_one_process(self, tmp_path, kind, options):
        (tmp_path / "x").write_text(CONTENT[kind])
        assert parsed_file(tmp_path / "x", kind, workers=2, **options) == parsed_file(tmp_path / "x", kind, **options)

    def test_pieces_grow_with_the_file(self, tmp_path, monkeypatch):
        """Small at first, so that all workers have some; then larger, up to so many batches."""
        monkeypatch.setattr("biplanar.data.files.CHUNK", 100)
        sizes = []

        def no_work(_: Task, pieces: Iterator[bulk.Piece], *__: object, **___: object) -> Iterator[bulk.Result]:
            sizes.extend(sum(len(sentence) for sentence in piece.sentences) for piece in pieces)
            yield from ()

        monkeypatch.setattr(bulk, "work_in_order", no_work)
        (tmp_path / "x").write_text("a b c d e f g h i j\n" * 60_000)
        parsed_file(tmp_path / "x", "horizontal", workers=2)
        assert sizes[0] == bulk.LEAST_WORDS
        assert sum(sizes) == 600_000
        assert sizes[:-1] == sorted(sizes[:-1])
        assert max(sizes) == bulk.MOST_BATCHES * Task().batch_size

    @pytest.mark.usefixtures("small_pieces")
    def test_errors_are_the_same(self, tmp_path):
        for bad in (b"1\tx\n\n", b"# \xff\n"):
            (tmp_path / "x").write_bytes(CONLLU.encode() + bad + CONLLU.encode())
            messages = []
            for workers in (1, 2):
                with pytest.raises(BiplanarError) as error:
                    parsed_file(tmp_path / "x", workers=workers)
                messages.append((type(error.value), str(error.value)))
            assert messages[0] == messages[1]
        with pytest.raises(FileError, match=r"expected a model folder with a config.toml, found none"):
            parsed_file(tmp_path / "x", workers=2, model=tmp_path)


# The command with pieces so small that a short file has many, which come one by one.
COMMAND = """
import signal
import time
from biplanar.bulk import task as bulk
from biplanar.data import files as text
from biplanar.cli import main

def slowly(*arguments, **options):
    for piece in read_pieces(*arguments, **options):
        time.sleep(0.02)
        yield piece

signal.signal(signal.SIGINT, signal.default_int_handler)  # which shells take from what runs in the background
read_pieces, bulk.read_pieces = bulk.read_pieces, slowly
bulk.LEAST_WORDS, bulk.LARGEST_SHARE, text.CHUNK = 50, 10**9, 1000
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

    def is_under_way(self, folder: Path) -> bool:
        return any(path.stat().st_size for path in folder.glob(".biplanar-*"))

    def test_one_that_is_killed_is_replaced(self, tmp_path):
        with self.start(tmp_path) as process:
            self.wait_until(lambda: self.is_under_way(tmp_path))
            os.kill(self.workers(process)[0], signal.SIGKILL)
            _, complaint = process.communicate(timeout=60)
        assert process.returncode == 0, complaint
        assert f"biplanar: {tmp_path / 'x.conllu'}:" in complaint
        assert "ended with signal SIGKILL; another one tries again\n" in complaint
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
        assert f"and so had one before it; what was done before is in {tmp_path / 'out.conllu.part'}" in last
        assert sorted(path.name for path in tmp_path.iterdir()) == ["out.conllu.part", "x.conllu"]
        kept = list(read_conllu(tmp_path / "out.conllu.part"))
        assert [one.forms for one in kept] == (SENTENCES * 15)[: len(kept)]
        assert all(one.is_parsed for one in kept)
