"""The time that one sentence takes, parsed alone."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import TYPE_CHECKING

from biplanar.data.conllu import Sentence

if TYPE_CHECKING:
    from biplanar.pipeline.parser import Parser


def parse_times(parser: Parser, sentences: Iterable[list[str]]) -> list[float]:
    """Seconds of each sentence, from its words to its tree: the shorter of two times, as the first may compile."""
    prepared = map(Sentence.from_words, sentences)
    return [min(_seconds(parser, sentence), _seconds(parser, sentence)) for sentence in prepared]


def _seconds(parser: Parser, sentence: Sentence) -> float:
    start = time.perf_counter()
    list(parser.pipe([sentence]))
    return time.perf_counter() - start
