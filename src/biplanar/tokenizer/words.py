"""Text that is already cut into words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile

from biplanar.data.conllu import Sentence


def split_horizontal(lines: Iterable[str]) -> Iterator[list[str]]:
    """The words of sentences that stand a line each."""
    words = (re.split("[ \t]+", line.strip(" \t")) for line in lines)
    return (line for line in words if line != [""])


def split_vertical(lines: Iterable[str]) -> Iterator[list[str]]:
    """The words of sentences with a word a line, before any tab, and an empty line after each sentence."""
    words = (line.strip(" \t").partition("\t")[0] for line in lines)
    return ([word, *takewhile(bool, words)] for word in words if word)


def numbered(sentences: Iterable[list[str]]) -> Iterator[Sentence]:
    """Sentences of words, with their numbers and texts as comments."""
    for number, forms in enumerate(sentences, 1):
        yield Sentence.from_words(forms, comments=comments_for(number, forms))


def comments_for(number: int | str, forms: Sequence[str]) -> list[str]:
    """What is said of a sentence that came as words."""
    return [f"# sent_id = {number}", f"# text = {' '.join(forms)}"]
