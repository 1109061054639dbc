"""Sentences laid end to end, every word at its place in the text; spaces do not count."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from biplanar.data.arrays import Int64s
from biplanar.data.conllu import DEPREL, Sentence, Token
from biplanar.data.forest import Forest
from biplanar.errors import BiplanarError, FormatError

# Where a head is that is no word: above a root, or not among the aligned words.
ROOT, NOWHERE = -1, -2

# All characters of Unicode's category Zs: the metric deletes these, and no other white space.
_SPACES = re.compile("[ \u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]+")


class PlacedWord(NamedTuple):
    """A word and the characters that it stands for; the words of a multiword token all stand for the whole token."""

    start: int
    end: int
    form: str
    multiword: bool


@dataclass(frozen=True)
class PlacedText:
    """The text of some sentences without its spaces, and their words in it. Words count from 0, over all sentences."""

    sentences: tuple[Sentence, ...]
    characters: str
    words: tuple[PlacedWord, ...]

    @classmethod
    def from_sentences(cls, sentences: Iterable[Sentence]) -> PlacedText:
        """Multiword tokens are read from the sentences' lines, and must be ranges that do not overlap."""
        kept, texts, words, start = tuple(sentences), [], [], 0
        if not kept:
            raise BiplanarError("expected at least one sentence to evaluate, found none")
        for sentence in kept:
            for token in sentence.tokens:
                text = _without_spaces(sentence, token)
                end = start + len(text)
                # Only words outside of multiword tokens lose their spaces: a quirk of the official script.
                forms = sentence.forms[token.first - 1 : token.last] if token.is_multiword else [text]
                words += [PlacedWord(start, end, form, token.is_multiword) for form in forms]
                texts.append(text)
                start = end
        return cls(kept, "".join(texts), tuple(words))

    def column(self, number: int) -> list[str]:
        """One column of all words (`UPOS`, `LEMMA`, ...)."""
        return [value for sentence in self.sentences for value in sentence.column(number)]

    def has_values(self, column: int) -> bool:
        """Whether any word has something in a column."""
        return any(value != "_" for sentence in self.sentences for value in sentence.column(column))

    @cached_property
    def relations(self) -> list[str]:
        """The relations without their subtypes, as the shared task compares them."""
        return [deprel.partition(":")[0] for deprel in self.column(DEPREL)]

    @cached_property
    def forest(self) -> Forest:
        """The trees; an error says where there is none."""
        return Forest.from_sentences(self.sentences)

    @cached_property
    def lengths(self) -> Int64s:
        """How many words each sentence has."""
        return np.diff(self.forest.offsets)

    @cached_property
    def sentence_of(self) -> Int64s:
        """For every word the number of its sentence."""
        return np.repeat(np.arange(len(self.sentences)), self.lengths)

    @cached_property
    def heads(self) -> Int64s:
        """For every word its head's place among all words, or `ROOT`."""
        first = np.repeat(self.forest.offsets[:-1], self.lengths)
        return np.where(self.forest.heads == 0, ROOT, first + self.forest.heads - 1)

    @cached_property
    def sentence_spans(self) -> list[tuple[int, int]]:
        """Where each sentence starts and ends in the text."""
        bounds = zip(self.forest.offsets[:-1].tolist(), self.forest.offsets[1:].tolist(), strict=True)
        return [(self.words[first].start, self.words[end - 1].end) for first, end in bounds]

    def error_at(self, character: int, message: str) -> FormatError:
        """An error that points to the line of the word at a place in the text."""
        place = next((i for i, word in enumerate(self.words) if character < word.end), len(self.words) - 1)
        sentence = int(self.sentence_of[place])
        return self.sentences[sentence].error_at(place - int(self.forest.offsets[sentence]) + 1, message)


def _without_spaces(sentence: Sentence, token: Token) -> str:
    if text := _SPACES.sub("", token.form):
        return text
    raise sentence.error_at(token.first, f"expected a FORM with more than spaces in it, found {token.form!r}")
