"""Sentences as spaCy documents, and back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from biplanar.data.conllu import COLUMNS, DEPREL, EMPTY, FEATS, HEAD, ID, LEMMA, MISC, UPOS, XPOS, parse_conllu
from biplanar.data.sentence import Sentence
from biplanar.data.words import space_items
from biplanar.errors import needing

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span, Token
    from spacy.vocab import Vocab

# Dependents that belong to the noun chunk of their head: spaCy's own iterators know no Universal Dependencies.
IN_CHUNK = {"det", "amod", "nummod", "compound", "flat", "clf", "goeswith", "nmod:poss", "det:poss"}
NOMINAL = {"NOUN", "PROPN", "PRON"}

# The root's relation in Universal Dependencies and in spaCy.
ROOT, SPACY_ROOT = "root", "ROOT"


def to_spacy(sentences: Iterable[Sentence], vocab: Vocab) -> Doc:
    """A document with a token for each word; words of one multiword token stand side by side."""
    with needing("spacy", "spaCy"):
        import numpy as np
        from spacy.attrs import SENT_START
        from spacy.tokens import Doc
    kept = list(sentences)
    parsed = all(sentence.is_parsed for sentence in kept)
    starts = [word == 0 for sentence in kept for word in range(len(sentence))]
    doc = Doc(
        vocab,
        words=[form for sentence in kept for form in sentence.forms],
        spaces=[space for sentence in kept for space in _spaces(sentence)],
        tags=_values(kept, XPOS),
        pos=[_known_pos(tag) for tag in _values(kept, UPOS)],
        morphs=_values(kept, FEATS),
        lemmas=_values(kept, LEMMA),
        heads=list(_heads(kept)) if parsed else None,
        deps=[spacy_relation(one) for one in _values(kept, DEPREL)] if parsed else None,
    )
    # From heads spaCy infers where sentences start, but not always rightly if many arcs cross.
    marks: Any = np.where(np.array(starts, dtype=bool), 1, -1).astype(np.int64).view(np.uint64)
    doc.noun_chunks_iterator = noun_chunks  # type: ignore[attr-defined]
    return doc.from_array([SENT_START], marks.reshape(-1, 1)) if len(doc) else doc


def noun_chunks(part: Doc | Span) -> Iterator[tuple[int, int, int]]:
    """Base noun phrases in Universal Dependencies: the first token of each, the one behind it, and the label."""
    if not part.doc.has_annotation("DEP"):
        raise ValueError("noun chunks need a parsed document")
    label, done = part.doc.vocab.strings.add("NP"), 0
    for token in part:
        if token.pos_ in NOMINAL and token.i >= done and not _is_in_chunk(token):
            start, end = token.i, token.i + 1
            for child in reversed(list(token.lefts)):
                if _is_in_chunk(child) and child.right_edge.i + 1 == start and child.left_edge.i >= done:
                    start = child.left_edge.i
            for child in token.rights:
                if _is_in_chunk(child) and child.left_edge.i == end:
                    end = child.right_edge.i + 1
            yield start, end, label
            done = end


def _is_in_chunk(token: Token) -> bool:
    return token.dep_ in IN_CHUNK or token.dep_.partition(":")[0] in IN_CHUNK


def spacy_relation(deprel: str) -> str:
    """A relation as spaCy calls it."""
    return SPACY_ROOT if deprel == ROOT else deprel


def _values(sentences: Sequence[Sentence], column: int) -> list[str]:
    return ["" if value == EMPTY else value for sentence in sentences for value in sentence.column(column)]


def _known_pos(tag: str) -> str:
    from spacy.parts_of_speech import IDS

    return tag if tag in IDS else "X"


def _spaces(sentence: Sentence) -> Iterator[bool]:
    for token in sentence.tokens:
        yield from [False] * (token.last - token.first)
        yield bool(token.spaced[2])


def _heads(sentences: Sequence[Sentence]) -> Iterator[int]:
    """In the document, counted from 0; a root is its own head."""
    start = 0
    for sentence in sentences:
        yield from (start + (head or word) - 1 for word, head in enumerate(sentence.tree.heads, 1))
        start += len(sentence)


def from_spacy(doc: Doc) -> list[Sentence]:
    """The sentences of a document, or one of all its tokens; MISC keeps the white space that has tokens in spaCy."""
    spans = doc.sents if doc.has_annotation("SENT_START") else [doc[:]]
    chosen = [words for span in spans if (words := [token for token in span if not token.is_space])]
    blocks = [_block(number, words, doc) for number, words in enumerate(chosen, 1)]
    return parse_conllu("".join(blocks), "<spaCy>") if blocks else []


def _block(number: int, words: Sequence[Token], doc: Doc) -> str:
    numbers = {token.i: place for place, token in enumerate(words, 1)}
    span: Span = doc[words[0].i : words[-1].i + 1]
    rows = ["\t".join(_row(token, numbers, doc)) for token in words]
    return "\n".join([f"# sent_id = {number}", f"# text = {' '.join(span.text.split())}", *rows, "", ""])


def _row(token: Token, numbers: dict[int, int], doc: Doc) -> list[str]:
    row = [EMPTY] * len(COLUMNS)
    row[ID], form = str(numbers[token.i]), re.sub(r"\s+", " ", token.text)
    values = {1: form, LEMMA: token.lemma_, UPOS: token.pos_, XPOS: token.tag_, FEATS: str(token.morph)}
    for column, value in values.items():
        row[column] = " ".join(value.split()) or EMPTY
    if doc.has_annotation("DEP"):
        row[HEAD] = str(_head(token, numbers))
        row[DEPREL] = (ROOT if token.dep_ == SPACY_ROOT else token.dep_) or EMPTY
    row[MISC] = _misc(token, form, doc)
    return row


def _head(token: Token, numbers: dict[int, int]) -> int:
    """The number of the nearest word above it, as heads may be white space; 0 for a root."""
    above = token
    while above.head.i != above.i:
        above = above.head
        if above.i in numbers:
            return numbers[above.i]
    return 0


def _misc(token: Token, form: str, doc: Doc) -> str:
    """The white space around a token, as UDPipe writes it."""
    end, following = token.idx + len(token), token.i + 1
    while following < len(doc) and doc[following].is_space:
        following += 1
    after = doc.text[end : doc[following].idx if following < len(doc) else len(doc.text)]
    is_first = all(before.is_space for before in doc[: token.i])
    before, inside = doc.text[: token.idx] if is_first else "", token.text if form != token.text else ""
    return "|".join(space_items(after, before, inside)) or EMPTY
