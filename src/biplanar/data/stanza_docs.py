"""Sentences from Stanza's documents, by the attributes that Stanza documents; Stanza itself is not needed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from biplanar.data.conllu import EMPTY, parse_conllu
from biplanar.data.sentence import Sentence
from biplanar.data.words import space_items

_COLUMNS = ("text", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps")
_OFFSETS = ("start_char=", "end_char=")  # in the MISC of older versions


def from_stanza(doc: Any) -> list[Sentence]:
    """The sentences of a document, with their multiword tokens; MISC keeps the white space between tokens."""
    tokens = [token for sentence in doc.sentences for token in sentence.tokens]
    spaces = dict(zip(map(id, tokens), _spaces(doc.text, tokens), strict=True))
    blocks = [_block(number, sentence, spaces) for number, sentence in enumerate(doc.sentences, 1)]
    return parse_conllu("".join(blocks), "<Stanza>") if blocks else []


def _spaces(text: str | None, tokens: list[Any]) -> Iterator[list[str]]:
    """What MISC says of the white space around each token, where offsets tell it."""
    if text is None or any(getattr(token, "start_char", None) is None for token in tokens):
        yield from ([] for _ in tokens)
        return
    starts = [*(token.start_char for token in tokens), len(text)][1:]
    for place, (token, following) in enumerate(zip(tokens, starts, strict=True)):
        before = "" if place else text[: token.start_char]
        yield space_items(text[token.end_char : following], before)


def _block(number: int, sentence: Any, spaces: dict[int, list[str]]) -> str:
    comments = list(getattr(sentence, "comments", None) or [])
    for key, value in (("text", sentence.text), ("sent_id", getattr(sentence, "sent_id", None) or number)):
        if not any(comment.startswith(f"# {key} =") for comment in comments):
            comments.insert(0, f"# {key} = {' '.join(str(value).split())}")
    lines = [line for token in sentence.tokens for line in _lines(token, spaces[id(token)])]
    return "\n".join([*comments, *lines, "", ""])


def _lines(token: Any, spaces: list[str]) -> Iterator[str]:
    """The line of a multiword token, if it is one, and those of its words."""
    misc, first, last = _misc(token, spaces), token.words[0].id, token.words[-1].id
    if len(token.words) == 1:
        yield _line(token.words[0], misc)
        return
    yield "\t".join([f"{first}-{last}", _value(token.text), *[EMPTY] * 7, misc])
    for word in token.words:
        yield _line(word, _misc(word, []))


def _line(word: Any, misc: str) -> str:
    return "\t".join([str(word.id), *(_value(getattr(word, name, None)) for name in _COLUMNS), misc])


def _value(value: Any) -> str:
    return " ".join(str(value).split()) if value not in (None, "") else EMPTY


def _misc(item: Any, spaces: list[str]) -> str:
    """What Stanza has there, without offsets, and the white space."""
    given = (getattr(item, "misc", None) or "").split("|")
    dropped = (*_OFFSETS, *(["Space"] if spaces else []))
    return "|".join([*(one for one in given if one and not one.startswith(dropped)), *spaces]) or EMPTY
