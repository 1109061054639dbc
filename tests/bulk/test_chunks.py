"""The input in chunks."""

from __future__ import annotations

from itertools import pairwise

import pytest

from biplanar.bulk import Source
from biplanar.data.conllu import parse_conllu
from biplanar.data.files import INPUTS
from biplanar.data.raw_text import original_text
from biplanar.errors import UnknownNameError
from biplanar.tokenizer.segmenter import shift_numbers
from tests.bulk.corpus import CONLLU, CONTENT, TEXT, sentences_of


class TestChunks:
    @pytest.mark.parametrize("kind", INPUTS)
    @pytest.mark.usefixtures("small_chunks")
    def test_they_are_the_sentences_of_the_file_and_know_their_lines(self, parser, tmp_path, kind):
        (tmp_path / "x").write_text(CONTENT[kind])
        chunks = list(Source((tmp_path / "x",), kind).chunks(lambda _: 40))
        assert len(chunks) > 5
        text, number = "", 0
        for chunk in chunks:
            found = "".join(block.data.decode() for block in chunk.conllu(parser))
            text += shift_numbers(found, number) if chunk.gets_numbers else found
            number += found.count("# sent_id")
        assert [sentence.raw for sentence in parse_conllu(text)] == [
            sentence.raw for sentence in sentences_of(parser, tmp_path / "x", kind)
        ]
        places = [tuple(map(int, str(chunk.place).removeprefix(f"{tmp_path / 'x'}:").split("-"))) for chunk in chunks]
        assert places[0][0] == 1
        assert all(last + 1 == first for (_, last), (first, _) in pairwise(places))
        assert places[-1][1] - CONTENT[kind].rstrip("\n").count("\n") in (0, 1, 2)

    @pytest.mark.parametrize("kind", INPUTS)
    def test_a_text_in_place_of_a_file(self, parser, tmp_path, kind):
        (tmp_path / "x").write_text(CONTENT[kind])
        (chunk,) = Source(kind=kind, text=CONTENT[kind]).chunks(lambda _: 10_000)
        assert str(chunk.place).startswith("<text>:1-")
        text = "".join(block.data.decode() for block in chunk.conllu(parser))
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
            for block in chunk.conllu(parser)
            for sentence in block.sentences()
        ]
        assert original_text(found) == text
        for token in (token for sentence in found for token in sentence.tokens):
            start, end = map(int, token.misc.rpartition("TokenRange=")[2].split(":"))
            assert text[start:end] == token.form

    def test_several_files_come_one_after_the_other(self, tmp_path):
        (tmp_path / "a.conllu").write_text(CONLLU)
        (tmp_path / "b.txt").write_text(TEXT)
        source = Source((tmp_path / "a.conllu", tmp_path / "b.txt", tmp_path / "a.conllu"))
        found = [(chunk.place.path.rpartition("/")[2], chunk.gets_numbers) for chunk in source.chunks(lambda _: 10**6)]
        assert found == [("a.conllu", False), ("b.txt", True), ("a.conllu", False)]

    def test_an_unknown_kind(self):
        with pytest.raises(UnknownNameError, match="did you mean 'conllu'"):
            Source(kind="conlu")
