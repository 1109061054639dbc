"""Sentences that are parsed together, and how they are gathered."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biplanar.data.conllu import RawConllu, cut_raw_conllu
from biplanar.errors import FormatError
from biplanar.pipeline.parser_io import ParserInput, chunked

ROW = "1\t{}\t_\t{}\t_\t_\t_\t_\t_\t_\n\n"
TEXT = ROW.format("a", "NOUN") + ROW.format("b", "VERB") + ROW.format("a", "VERB")


def read(text: str, *, plain: bool = True) -> ParserInput:
    return ParserInput.of(list(cut_raw_conllu([text.encode()], "x.conllu")), lambda _: plain)


@pytest.mark.parametrize(("text", "plain"), [(TEXT, True), (TEXT, False), (TEXT.replace("\n", "\r\n"), True)])
def test_bytes_and_sentences_have_the_same_words(text, plain):
    found = read(text, plain=plain)
    assert (found.table is not None) == (text == TEXT and plain)
    assert len(found) == 3
    assert list(found.corpus.forms) == ["a", "b"]
    assert found.corpus.words.tolist() == [0, 1, 0]
    assert found.corpus.words.dtype == "int64"
    assert found.corpus.offsets.tolist() == [0, 1, 2, 3]
    assert found.upos.labels() == ["NOUN", "VERB", "VERB"]


@pytest.mark.parametrize("blank", ["\n", "\r\n", " \n", "\t \r\n", "\ufeff\n", " \n\n \n"])
@pytest.mark.parametrize("size", [1, 7, 30])
def test_blocks_end_with_blank_lines_of_any_kind(blank, size):
    text = "".join([ROW.format(number, "X").removesuffix("\n") + blank for number in range(20)]).encode()
    blocks = list(cut_raw_conllu([text[at : at + size] for at in range(0, len(text), size)], "x.conllu"))
    assert b"".join(block.data for block in blocks) == text
    assert len(blocks) >= 12  # they come as soon as they can
    assert [block.line for block in blocks[1:]] == [block.next_line for block in blocks[:-1]]
    assert all(list(block.sentences()) for block in blocks)


def test_errors_are_those_of_the_sentences():
    blocks = [
        RawConllu(TEXT.encode(), "x.conllu", 1),
        RawConllu(b"1\tx\n\n", "x.conllu", 7),
        RawConllu(b"\xff", "x.conllu", 9),
    ]
    with pytest.raises(FormatError, match=r"^x.conllu:7: expected 10 columns, found 2$"):
        ParserInput.of(blocks, lambda _: True)


@given(st.lists(st.integers(0, 9)), st.integers(1, 20))
def test_chunks_are_large_enough_and_not_larger(items, enough):
    chunks = list(chunked(items, lambda item: item, lambda _: enough))
    assert [item for chunk in chunks for item in chunk] == items
    assert all(sum(chunk) >= enough > sum(chunk[:-1]) for chunk in chunks[:-1])


def test_chunks_may_grow():
    chunks = chunked([1] * 40, lambda item: item, lambda before: max(2, before // 2))
    assert [len(chunk) for chunk in chunks] == [2, 2, 2, 3, 4, 6, 9, 12]


def test_chunks_come_before_all_is_read():
    assert next(chunked(iter(int, 1), lambda _: 1, lambda _: 3)) == [0, 0, 0]
