"""Tokenizing in another process gives what this one would give."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest

from biplanar.errors import FileError, UnfinishedError
from biplanar.serve.models import CHARACTERS_AT_ONCE, LARGE_TEXT, TokenizerProcess

PARAGRAPH = "Nobody came. Why? Because it rained,\nand rained, and rained.\n"
TEXTS = {
    "paragraphs": f"{PARAGRAPH}\n" * 600,
    "one paragraph": PARAGRAPH * 600,
    "no spaces": "abcdefghij" * 5000,
    "blank lines": "\n \n" * 20_000 + "Yes.",
    "byte order mark": "\ufeffYes. " * 4000,
    "nothing": "",
}


@pytest.fixture(scope="module")
def tokenizer(models) -> Iterator[TokenizerProcess]:
    process = TokenizerProcess(models.default.parser.folder.segmenter)
    yield process
    process.close()


@pytest.mark.parametrize("presegmented", [False, True])
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_the_sentences_are_the_same(models, tokenizer, text, presegmented):
    wanted = models.default.parser.segmenter.segment(text, presegmented=presegmented)
    found = tokenizer.stream(text, presegmented=presegmented)
    assert [sentence.raw for sentence in found] == [sentence.raw for sentence in wanted]
    assert len(TEXTS["paragraphs"]) > CHARACTERS_AT_ONCE


def test_only_large_texts_go_there(models, monkeypatch):
    monkeypatch.setattr(TokenizerProcess, "stream", lambda *_, **__: iter("elsewhere"))
    assert "".join(models.default.segmented("a" * (LARGE_TEXT + 1))) == "elsewhere"
    assert [sentence.forms for sentence in models.default.segmented("Nobody came.")] == [["Nobody", "came", "."]]


def test_a_process_that_was_killed_is_replaced(models):
    tokenizer = TokenizerProcess(models.default.parser.folder.segmenter)
    text = TEXTS["paragraphs"]
    try:
        sentences = tokenizer.stream(text)
        first = next(sentences)
        os.kill(tokenizer._worker.process.pid, signal.SIGKILL)
        tokenizer._worker.process.join()
        found = [first, *sentences]
    finally:
        tokenizer.close()
    assert [sentence.raw for sentence in found] == [
        sentence.raw for sentence in models.default.parser.segmenter.segment(text)
    ]


def test_a_process_that_always_ends_is_given_up(models, monkeypatch):
    class Ended:
        give = stop = staticmethod(lambda *_: None)

        def take(self):
            raise EOFError

    monkeypatch.setattr("biplanar.serve.models.WorkerProcess", lambda *_, **__: Ended())
    with pytest.raises(UnfinishedError, match="before its answer"):
        list(TokenizerProcess(models.default.parser.folder.segmenter).stream("Yes."))


def test_errors_come_from_there(tmp_path):
    tokenizer = TokenizerProcess(tmp_path / "none")
    try:
        with pytest.raises(FileError, match="none: No such file"):
            list(tokenizer.stream("Yes."))
    finally:
        tokenizer.close()
