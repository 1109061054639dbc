"""The input in chunks."""

from __future__ import annotations

from itertools import pairwise

import pytest

from biplanar.bulk import Source
from biplanar.bulk.chunks import Chunk
from biplanar.bulk.output import with_ids
from biplanar.data.conllu import RawConllu, parse_conllu
from biplanar.data.conllu_bytes import ConlluTable
from biplanar.data.formats import INPUTS
from biplanar.data.raw_text import original_text
from biplanar.errors import UnknownNameError
from biplanar.pipeline.parser import Parser
from tests.bulk.corpus import CONLLU, CONTENT, TEXT, sentences_of


def blocks_of(chunk: Chunk, parser: Parser) -> list[RawConllu]:
    """The sentences of a chunk as they would be written."""
    found = chunk.conllu(parser)
    return [RawConllu(found.data)] if isinstance(found, ConlluTable) else found


class TestChunks:
    @pytest.mark.parametrize("kind", INPUTS)
    @pytest.mark.usefixtures("small_chunks")
    def test_they_are_the_sentences_of_the_file_and_know_their_lines(self, parser, tmp_path, kind):
        (tmp_path / "x").write_text(CONTENT[kind])
        chunks = list(Source((tmp_path / "x",), kind).chunks(lambda _: 40))
        assert len(chunks) > 5
        text, number = "", 0
        for chunk in chunks:
            found = "".join(block.data.decode() for block in blocks_of(chunk, parser))
            numbered, number = with_ids(found.encode(), number) if chunk.needs_ids else (found.encode(), number)
            text += numbered.decode()
        assert [sentence.raw for sentence in parse_conllu(text)] == [
            sentence.raw for sentence in sentences_of(parser, tmp_path / "x", kind)
        ]
        assert chunks[0].first_line == 1
        assert all(one.last_line + 1 == two.first_line for one, two in pairwise(chunks))
        assert chunks[-1].last_line - CONTENT[kind].rstrip("\n").count("\n") in (0, 1, 2)

    @pytest.mark.parametrize("kind", INPUTS)
    def test_a_text_in_place_of_a_file(self, parser, tmp_path, kind):
        (tmp_path / "x").write_text(CONTENT[kind])
        (chunk,) = Source(format=kind, text=CONTENT[kind]).chunks(lambda _: 10_000)
        assert str(chunk).startswith("<text>:1-")
        text = b"".join(raw.data for raw in blocks_of(chunk, parser))
        text = (with_ids(text, 0)[0] if chunk.needs_ids else text).decode()
        assert text == "".join(sentence.raw for sentence in sentences_of(parser, tmp_path / "x", kind))

    @pytest.mark.parametrize("kind", ["text", "lines"])
    @pytest.mark.parametrize("enough", [1, 10, 10_000])
    @pytest.mark.usefixtures("small_chunks")
    def test_text_is_kept_to_the_byte_and_ranges_count_from_its_start(self, parser, tmp_path, kind, enough):
        text = " \n\tNobody  came.\r\n \r\nWhy?\u2028Yes.\x0c\n\n\n" * 9 + "It\xa0rained — a lot.\t\n \nNo"
        (tmp_path / "x").write_bytes(text.encode())
        found = [
            sentence
            for chunk in Source((tmp_path / "x",), kind, ranges=True).chunks(lambda _: enough)
            for block in blocks_of(chunk, parser)
            for sentence in block.sentences()
        ]
        assert original_text(found) == text
        for token in (token for sentence in found for token in sentence.tokens):
            start, end = map(int, token.misc.rpartition("TokenRange=")[2].split(":"))
            assert text[start:end] == token.form

    def test_a_carriage_return_among_the_spaces_behind_a_line(self, parser):
        (chunk,) = Source(format="lines", text="a\r \nb.").chunks(lambda _: 100)
        found = [sentence for raw in blocks_of(chunk, parser) for sentence in raw.sentences()]
        assert found[0].forms == ["a"]
        assert original_text(found) == "a\r \nb."

    def test_several_files_come_one_after_the_other(self, tmp_path):
        (tmp_path / "a.conllu").write_text(CONLLU)
        (tmp_path / "b.txt").write_text(TEXT)
        source = Source((tmp_path / "a.conllu", tmp_path / "b.txt", tmp_path / "a.conllu"))
        found = [(chunk.path.rpartition("/")[2], chunk.needs_ids) for chunk in source.chunks(lambda _: 10**6)]
        assert found == [("a.conllu", False), ("b.txt", True), ("a.conllu", False)]

    def test_an_unknown_kind(self):
        with pytest.raises(UnknownNameError, match="did you mean 'conllu'"):
            Source(format="conlu")
