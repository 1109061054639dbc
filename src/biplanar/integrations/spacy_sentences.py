"""Where the words and sentences of a spaCy document are, by the numbers of its tokens; white space is no word."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from spacy.attrs import IS_SPACE, SENT_START
from spacy.tokens import Doc

from biplanar.data.arrays import Bools, Int64s
from biplanar.data.conllu import Sentence, find_misfit
from biplanar.data.raw_text import placed
from biplanar.errors import FileError
from biplanar.pipeline.parser import Parser


@dataclass(frozen=True)
class DocSentences:
    """The sentences of a document that have words."""

    doc: Doc
    words: Int64s  # tokens that are no white space
    spaces: Int64s  # tokens that are
    offsets: Int64s  # (sentences + 1,): the words of each sentence
    starts: Bools  # (tokens,): where sentences begin; white space before the first word belongs to the first one

    @classmethod
    def of(cls, doc: Doc, parser: Parser) -> DocSentences:
        """By the boundaries that the document has, or else by the model's tokenizer."""
        is_space = np.asarray(doc.to_array([IS_SPACE]), dtype=bool).reshape(-1)
        words, spaces = np.flatnonzero(~is_space), np.flatnonzero(is_space)
        begins = np.cumsum(_boundaries(doc, parser))  # (tokens,): the number of each token's sentence
        firsts = np.flatnonzero(np.diff(begins[words], prepend=-1))  # the first word of each sentence
        starts = np.zeros(len(doc), dtype=bool)
        starts[np.searchsorted(begins, begins[words[firsts]])] = True
        starts[: words[0] + 1 if len(words) else 0] = False
        starts[:1] = True
        return cls(doc, words, spaces, np.append(firsts, len(words)), starts)

    def sentences(self, *, tags: bool) -> list[Sentence]:
        """Their words for the parser, with the tags that the document has if they are wanted."""
        tokens = [self.doc[at] for at in self.words.tolist()] if len(self.spaces) else list(self.doc)
        forms = [token.text for token in tokens]
        if find_misfit(forms) is not None:
            forms = [re.sub(r"\s", " ", form) for form in forms]
        upos = [token.pos_ or "_" for token in tokens] if tags else None
        bounds = list(pairwise(self.offsets.tolist()))
        return [Sentence.from_words(forms[a:b], upos=upos[a:b] if upos else None) for a, b in bounds]

    def heads_of_spaces(self) -> Int64s:
        """The word before each white space if it is in the same sentence, else the one behind it."""
        sentences = np.cumsum(self.starts)
        behind = np.searchsorted(self.words, self.spaces)
        before, after = self.words[np.maximum(behind - 1, 0)], self.words[np.minimum(behind, len(self.words) - 1)]
        fits = (before < self.spaces) & (sentences[before] == sentences[self.spaces])
        return np.where(fits, before, after)


def _boundaries(doc: Doc, parser: Parser) -> Bools:
    """At which tokens the document says, or the tokenizer finds, that a sentence starts."""
    if doc.has_annotation("SENT_START"):
        return np.asarray(np.asarray(doc.to_array([SENT_START])).reshape(-1).astype(np.int64) == 1)
    if not parser.folder.segmenter.exists():
        hint = "add a component that finds sentences before it, such as 'sentencizer'"
        raise FileError(f"{parser.folder.path}: this model has no tokenizer to find sentences with: {hint}")
    places = [token.idx for token in doc]
    found = [sentence.offset for sentence in placed(parser.segmenter.segment(doc.text))]
    starts = np.zeros(len(doc) + 1, dtype=bool)
    starts[np.searchsorted(places, found)] = True
    return starts[:-1]
