"""Sentences of any length, made by joining the words of a treebank, and the time that each takes."""

from __future__ import annotations

import time
from itertools import cycle, islice
from pathlib import Path
from typing import TYPE_CHECKING

from biplanar.data.conllu import Sentence, read_conllu

if TYPE_CHECKING:
    from biplanar.pipeline.parser import Parser

LENGTHS = (10, 20, 50, 100, 200, 500, 1000, 2000)


def joined_sentences(path: Path, length: int, count: int) -> list[Sentence]:
    """So many sentences of one length; a file with too few words begins again."""
    forms = cycle([form for sentence in read_conllu(path) for form in sentence.forms])
    return [Sentence.from_words(list(islice(forms, length))) for _ in range(count)]


def parse_times(parser: Parser, sentences: list[Sentence]) -> list[float]:
    """Seconds that each sentence takes by itself, from its words to its tree.

    The quicker of two times: what the first of them needs may not be compiled yet.
    """
    return [min(_seconds(parser, sentence), _seconds(parser, sentence)) for sentence in sentences]


def _seconds(parser: Parser, sentence: Sentence) -> float:
    start = time.perf_counter()
    list(parser.pipe([sentence]))
    return time.perf_counter() - start
