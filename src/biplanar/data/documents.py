"""Sentences as spaCy documents, and sentences from those of spaCy and of Stanza, which itself is not needed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from biplanar.data.conllu import DEPREL, EMPTY, FEATS, LEMMA, UPOS, XPOS, parse_conllu
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

# The attributes of Stanza's words, and what older versions have in MISC.
_STANZA_COLUMNS = ("text", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps")
_STANZA_OFFSETS = ("start_char=", "end_char=")


def to_spacy(sentences: Iterable[Sentence], vocab: Vocab) -> Doc:
    """A document with a token for each word; words of one multiword token stand side by side."""
    with needing("spacy", "spaCy"):
        import numpy as np
        from spacy.attrs import SENT_START
        from spacy.parts_of_speech import IDS
        from spacy.tokens import Doc
    kept = list(sentences)
    parsed = all(sentence.is_parsed for sentence in kept)
    doc = Doc(
        vocab,
        words=[form for sentence in kept for form in sentence.forms],
        spaces=[space for sentence in kept for space in _spaces(sentence)],
        tags=_values(kept, XPOS),
        pos=[tag if tag in IDS else "X" for tag in _values(kept, UPOS)],
        morphs=_values(kept, FEATS),
        lemmas=_values(kept, LEMMA),
        heads=list(_heads(kept)) if parsed else None,
        deps=[spacy_relation(one) for one in _values(kept, DEPREL)] if parsed else None,
    )
    # From heads spaCy infers where sentences start, but not always rightly if many arcs cross.
    starts = [-1 if word else 1 for sentence in kept for word in range(len(sentence))]
    marks: Any = np.array(starts, dtype=np.int64).view(np.uint64)
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
    blocks = [_spacy_block(number, words, doc) for number, words in enumerate(chosen, 1)]
    return parse_conllu("".join(blocks), "<spaCy>") if blocks else []


def _spacy_block(number: int, words: Sequence[Token], doc: Doc) -> str:
    numbers = {token.i: place for place, token in enumerate(words, 1)}
    span: Span = doc[words[0].i : words[-1].i + 1]
    rows = ["\t".join(_row(token, numbers, doc)) for token in words]
    return "\n".join([f"# sent_id = {number}", f"# text = {' '.join(span.text.split())}", *rows, "", ""])


def _row(token: Token, numbers: dict[int, int], doc: Doc) -> list[str]:
    form, head, deprel = re.sub(r"\s+", " ", token.text), EMPTY, EMPTY
    if doc.has_annotation("DEP"):
        head, deprel = str(_head(token, numbers)), (ROOT if token.dep_ == SPACY_ROOT else token.dep_) or EMPTY
    values = map(_value, (form, token.lemma_, token.pos_, token.tag_, token.morph))
    return [str(numbers[token.i]), *values, head, deprel, EMPTY, _spacy_misc(token, form, doc)]


def _head(token: Token, numbers: dict[int, int]) -> int:
    """The number of the nearest word above it, as heads may be white space; 0 for a root."""
    above = token
    while above.head.i != above.i:
        above = above.head
        if above.i in numbers:
            return numbers[above.i]
    return 0


def _spacy_misc(token: Token, form: str, doc: Doc) -> str:
    """The white space around a token, as UDPipe writes it."""
    end, following = token.idx + len(token), token.i + 1
    while following < len(doc) and doc[following].is_space:
        following += 1
    after = doc.text[end : doc[following].idx if following < len(doc) else len(doc.text)]
    is_first = all(before.is_space for before in doc[: token.i])
    before, inside = doc.text[: token.idx] if is_first else "", token.text if form != token.text else ""
    return "|".join(space_items(after, before, inside)) or EMPTY


def from_stanza(doc: Any) -> list[Sentence]:
    """The sentences of a document, with their multiword tokens; MISC keeps the white space between tokens."""
    tokens = [token for sentence in doc.sentences for token in sentence.tokens]
    spaces = dict(zip(map(id, tokens), _stanza_spaces(doc.text, tokens), strict=True))
    blocks = [_stanza_block(number, sentence, spaces) for number, sentence in enumerate(doc.sentences, 1)]
    return parse_conllu("".join(blocks), "<Stanza>") if blocks else []


def _stanza_spaces(text: str | None, tokens: list[Any]) -> Iterator[list[str]]:
    """What MISC says of the white space around each token, where offsets tell it."""
    if text is None or any(getattr(token, "start_char", None) is None for token in tokens):
        yield from ([] for _ in tokens)
        return
    starts = [*(token.start_char for token in tokens), len(text)][1:]
    for place, (token, following) in enumerate(zip(tokens, starts, strict=True)):
        before = "" if place else text[: token.start_char]
        yield space_items(text[token.end_char : following], before)


def _stanza_block(number: int, sentence: Any, spaces: dict[int, list[str]]) -> str:
    comments = list(getattr(sentence, "comments", None) or [])
    for key, value in (("text", sentence.text), ("sent_id", getattr(sentence, "sent_id", None) or number)):
        if not any(comment.startswith(f"# {key} =") for comment in comments):
            comments.insert(0, f"# {key} = {' '.join(str(value).split())}")
    lines = [line for token in sentence.tokens for line in _lines(token, spaces[id(token)])]
    return "\n".join([*comments, *lines, "", ""])


def _lines(token: Any, spaces: list[str]) -> Iterator[str]:
    """The line of a multiword token, if it is one, and those of its words."""
    misc, first, last = _stanza_misc(token, spaces), token.words[0].id, token.words[-1].id
    if len(token.words) == 1:
        yield _line(token.words[0], misc)
        return
    yield "\t".join([f"{first}-{last}", _value(token.text), *[EMPTY] * 7, misc])
    for word in token.words:
        yield _line(word, _stanza_misc(word, []))


def _line(word: Any, misc: str) -> str:
    return "\t".join([str(word.id), *(_value(getattr(word, name, None)) for name in _STANZA_COLUMNS), misc])


def _value(value: Any) -> str:
    """In one line, with single spaces."""
    return " ".join(str(value).split()) or EMPTY if value is not None else EMPTY


def _stanza_misc(item: Any, spaces: list[str]) -> str:
    """What Stanza has there, without offsets, and the white space."""
    given = (getattr(item, "misc", None) or "").split("|")
    dropped = (*_STANZA_OFFSETS, *(["Space"] if spaces else []))
    return "|".join([*(one for one in given if one and not one.startswith(dropped)), *spaces]) or EMPTY
