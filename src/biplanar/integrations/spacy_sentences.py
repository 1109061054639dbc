"""Where the words and sentences of a spaCy document are, by the numbers of its tokens; white space is no word."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from spacy.attrs import IS_SPACE, ORTH, SENT_START, SPACY
from spacy.tokens import Doc

from biplanar.data.arrays import Bools, Int64s
from biplanar.data.conllu import Sentence, find_misfit
from biplanar.data.forest import offsets_of
from biplanar.data.raw_text import with_offsets
from biplanar.errors import FileError
from biplanar.pipeline.parser import Parser

PARAGRAPH = "\n\n"  # no sentence goes on over it


@dataclass(frozen=True)
class DocSentences:
    """The sentences of a document that have words."""

    doc: Doc
    texts: list[str]  # of all tokens
    words: Int64s  # tokens that are no white space
    spaces: Int64s  # tokens that are
    offsets: Int64s  # (sentences + 1,): the words of each sentence
    starts: Bools  # (tokens,): where sentences begin; white space before the first word belongs to the first one

    @classmethod
    def of(cls, docs: Sequence[Doc], parser: Parser) -> list[DocSentences]:
        """By the boundaries that documents have, or else by the model's tokenizer."""
        # Arrays of all tokens at once: an object for each token would take as long as the network.
        tables = [np.asarray(doc.to_array([ORTH, SPACY, IS_SPACE, SENT_START])).T for doc in docs]
        texts = [_texts(doc, table[0].tolist()) for doc, table in zip(docs, tables, strict=True)]
        begins = [table[3].astype(np.int64) == 1 for table in tables]
        unknown = [at for at, doc in enumerate(docs) if len(doc) and not doc.has_annotation("SENT_START")]
        found = _boundaries([_spaced(texts[at], tables[at][1].tolist()) for at in unknown], parser) if unknown else []
        for at, starts in zip(unknown, found, strict=True):
            begins[at] = starts
        return [cls._of(*each) for each in zip(docs, texts, (table[2] for table in tables), begins, strict=True)]

    @classmethod
    def _of(cls, doc: Doc, texts: list[str], is_space: Int64s, begins: Bools) -> DocSentences:
        words, spaces = np.flatnonzero(is_space == 0), np.flatnonzero(is_space)
        numbers = np.cumsum(begins)  # (tokens,): of each token's sentence
        firsts = np.flatnonzero(np.diff(numbers[words], prepend=-1))  # the first word of each sentence
        starts = np.zeros(len(doc), dtype=bool)
        starts[np.searchsorted(numbers, numbers[words[firsts]])] = True
        starts[: words[0] + 1 if len(words) else 0] = False
        starts[:1] = True
        return cls(doc, texts, words, spaces, np.append(firsts, len(words)), starts)

    def sentences(self, *, tags: bool) -> list[Sentence]:
        """Their words for the parser, with the tags that the document has if they are wanted."""
        forms = [self.texts[at] for at in self.words.tolist()] if len(self.spaces) else self.texts
        if find_misfit(forms) is not None:
            forms = [re.sub(r"\s", " ", form) for form in forms]
        upos = [self.doc[at].pos_ or "_" for at in self.words.tolist()] if tags else None
        bounds = list(pairwise(self.offsets.tolist()))
        return [Sentence.from_words(forms[a:b], upos=upos[a:b] if upos else None) for a, b in bounds]

    def heads_of_spaces(self) -> Int64s:
        """The word before each white space if it is in the same sentence, else the one behind it."""
        sentences = np.cumsum(self.starts)
        behind = np.searchsorted(self.words, self.spaces)
        before, after = self.words[np.maximum(behind - 1, 0)], self.words[np.minimum(behind, len(self.words) - 1)]
        fits = (before < self.spaces) & (sentences[before] == sentences[self.spaces])
        return np.where(fits, before, after)


def _texts(doc: Doc, orths: list[int]) -> list[str]:
    strings = doc.vocab.strings
    known = {orth: strings[orth] for orth in set(orths)}
    return [known[orth] for orth in orths]


def _spaced(texts: list[str], spaced: list[int]) -> list[str]:
    return [f"{text} " if space else text for text, space in zip(texts, spaced, strict=True)]


def _boundaries(docs: Sequence[list[str]], parser: Parser) -> list[Bools]:
    """At which tokens of each document the model's tokenizer starts a sentence; all are one text, as paragraphs."""
    if not parser.folder.takes_text:
        hint = "add a component that finds sentences before it, such as 'sentencizer'"
        raise FileError(f"{parser.folder.path}: this model has no tokenizer to find sentences with: {hint}")
    pieces = [piece for tokens in docs for piece in (*tokens, PARAGRAPH)]
    text = re.sub("^\ufeff", " ", "".join(pieces))  # a byte order mark would be dropped
    found = [sentence.offset for sentence in with_offsets(parser.segmenter.segment(text))]
    starts = np.zeros(len(pieces) + 1, dtype=bool)
    starts[np.searchsorted(offsets_of(map(len, pieces))[:-1], found)] = True
    ends = np.cumsum([len(tokens) + 1 for tokens in docs]).tolist()
    return [starts[end - len(tokens) - 1 : end - 1] for tokens, end in zip(docs, ends, strict=True)]
