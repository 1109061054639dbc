"""In this process and in several."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

import biplanar
from biplanar.bulk import EngineConfig, Task, engines, make_engine
from biplanar.bulk.chunks import Chunk
from biplanar.bulk.task import Result
from biplanar.data.conllu import parse_conllu, read_conllu
from biplanar.data.formats import INPUTS, OUTPUTS
from biplanar.errors import BiplanarError, FileError, UnknownNameError
from tests.bulk.corpus import CONLLU, CONTENT, RICH, TELESCOPE, parsed_file, sentences_of


class TestThisProcess:
    @pytest.mark.parametrize("cores", [1, 2])
    @pytest.mark.parametrize("kind", INPUTS)
    @pytest.mark.usefixtures("small_chunks")
    def test_inputs(self, parser, tmp_path, monkeypatch, kind, cores):
        monkeypatch.setattr(engines, "_cores", lambda: cores)
        (tmp_path / "x").write_text(CONTENT[kind])
        wanted = "".join(sentence.raw for sentence in parser.pipe(sentences_of(parser, tmp_path / "x", kind)))
        assert parsed_file(tmp_path / "x", kind) == wanted

    @pytest.mark.usefixtures("small_chunks")
    def test_outputs(self, parser, tmp_path):
        (tmp_path / "x").write_text(RICH + "\n" + CONLLU)
        trees = list(parser.pipe(read_conllu(tmp_path / "x")))
        rows = [json.loads(line) for line in parsed_file(tmp_path / "x", format="json").splitlines()]
        assert rows == [json.loads(sentence.to_json()) for sentence in trees]
        drawn = parsed_file(tmp_path / "x", format="tree", width=60)
        assert drawn == "".join(biplanar.draw.draw_tree(one.forms, one.tree, width=60) + "\n\n" for one in trees)
        assert parsed_file(tmp_path / "x", format="svg") == biplanar.draw.draw_sentences(trees) + "\n"
        page = parsed_file(tmp_path / "x", format="html")
        assert page.count("<svg") == len(trees)
        assert "<title>x</title>" in page

    def test_several_trees_of_a_file_without_a_blank_line_at_its_end(self, tmp_path):
        telescope = biplanar.Sentence.from_words(TELESCOPE.split(" "))
        (tmp_path / "x").write_text(telescope.raw.rstrip("\n"))
        found = parse_conllu(parsed_file(tmp_path / "x", best=3))
        assert [sentence.comment("tree_rank") for sentence in found] == ["1", "2", "3"]

    @pytest.mark.parametrize("output", [name for name in OUTPUTS if name not in ("png", "pdf", "parquet")])
    def test_text_without_sentences(self, tmp_path, output):
        (tmp_path / "x").write_text(" \n\n ")
        drawn = parsed_file(tmp_path / "x", "text", format=output)
        assert ("<svg" in drawn, "<html" in drawn) == (output == "svg", output == "html")

    def test_bad_requests(self, tmp_path):
        with pytest.raises(UnknownNameError, match="did you mean 'conllu'"):
            parsed_file(tmp_path / "x", "conlu")
        with pytest.raises(UnknownNameError, match="did you mean 'json'"):
            Task(format="jsn")
        with pytest.raises(FileError, match="No such file"):
            parsed_file(tmp_path / "x")


class TestProcesses:
    @pytest.mark.parametrize(
        ("kind", "options"),
        [
            ("conllu", {"probabilities": True}),
            ("text", {"best": 2}),
            ("lines", {}),
            ("horizontal", {"format": "svg"}),
            ("vertical", {"format": "json"}),
        ],
    )
    @pytest.mark.usefixtures("small_chunks")
    def test_the_same_as_one_process(self, tmp_path, kind, options):
        (tmp_path / "x").write_text(CONTENT[kind])
        assert parsed_file(tmp_path / "x", kind, workers=2, **options) == parsed_file(tmp_path / "x", kind, **options)

    def test_chunks_grow_with_the_file(self, tmp_path, monkeypatch):
        """Small at first, so that all workers have some; then larger, up to so many batches."""
        monkeypatch.setattr("biplanar.data.files.BUFFER", 100)
        sizes = []

        def no_work(_: Task, chunks: Iterator[Chunk], *__: object, **___: object) -> Iterator[Result]:
            sizes.extend(sum(map(len, chunk.conllu.args[0])) for chunk in chunks)
            yield from ()

        monkeypatch.setattr(engines, "work_in_order", no_work)
        (tmp_path / "x").write_text("a b c d e f g h i j\n" * 60_000)
        parsed_file(tmp_path / "x", "horizontal", workers=2)
        assert sizes[0] == engines.LEAST_WORDS
        assert sum(sizes) == 600_000
        assert sizes[:-1] == sorted(sizes[:-1])
        assert max(sizes) == engines.MOST_BATCHES * Task().batch_words

    @pytest.mark.usefixtures("small_chunks")
    def test_errors_are_the_same(self, tmp_path):
        for bad in (b"1\tx\n\n", b"# \xff\n"):
            (tmp_path / "x").write_bytes(CONLLU.encode() + bad + CONLLU.encode())
            messages = []
            for workers in (1, 2):
                with pytest.raises(BiplanarError) as error:
                    parsed_file(tmp_path / "x", workers=workers)
                messages.append((type(error.value), str(error.value)))
            assert messages[0] == messages[1]
        with pytest.raises(FileError, match="not a model folder"):
            parsed_file(tmp_path / "x", workers=2, model=tmp_path)


def test_an_unknown_engine():
    with pytest.raises(UnknownNameError, match="did you mean 'processes'"):
        make_engine(EngineConfig(), "proceses")
