"""Documents that can be cut, glued and changed at random and stay valid: gold texts, and what a system makes of them.

A draft is a list of sentences, a sentence a list of tokens. Heads are words, not numbers, to survive new cuts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import pairwise
from random import Random

from biplanar.data.conllu import Sentence, parse_conllu
from tests.strategies import random_heads

LEMMAS = ("_", "a", "b")
UPOS = ("NOUN", "VERB", "ADP")
XPOS = ("_", "N", "V")
FEATS = ("_", "Case=Nom", "Case=Nom|Foo=Bar", "Foo=Bar", "Number=Sing|Case=Nom", "Case=Nom|Number=Sing", "Case")
RELATIONS = ("nsubj", "nsubj:pass", "obj", "det", "det:poss", "case", "aux", "punct", "nosuch", "root")
COLUMNS = (LEMMAS, UPOS, XPOS, FEATS, RELATIONS)


@dataclass(eq=False)
class DraftWord:
    form: str
    labels: list[str]  # LEMMA, UPOS, XPOS, FEATS, DEPREL
    head: DraftWord | None = None


@dataclass
class DraftToken:
    text: str
    words: list[DraftWord]
    multiword: bool = False


@dataclass
class DraftSentence:
    tokens: list[DraftToken] = field(default_factory=list)

    @property
    def words(self) -> list[DraftWord]:
        return [word for token in self.tokens for word in token.words]

    def settle(self) -> None:
        """Make a tree with one root of what the heads have become."""
        words = self.words
        for word in words:
            word.head = word.head if word.head in words else None
        for word in words:
            seen, above = [word], word.head
            while above is not None and above not in seen:
                seen.append(above)
                above = above.head
            if above is not None:
                above.head = None
        root, *others = [word for word in words if word.head is None]
        for word in others:
            word.head = root


Draft = list[DraftSentence]


def draft_of(sentences: list[Sentence]) -> Draft:
    """Sentences as a draft; comments, empty nodes, DEPS and MISC are left behind."""
    draft = []
    for sentence in sentences:
        words = [DraftWord(row.form, [row.lemma, row.upos, row.xpos, row.feats, row.deprel]) for row in sentence.words]
        for word, head in zip(words, sentence.heads, strict=True):
            word.head = words[head - 1] if head else None
        tokens, done = [], 0
        for first, last, text in re.findall(r"^(\d+)-(\d+)\t([^\t]+)", sentence.raw, re.MULTILINE):
            tokens += [DraftToken(word.form, [word]) for word in words[done : int(first) - 1]]
            tokens.append(DraftToken(text, words[int(first) - 1 : int(last)], multiword=True))
            done = int(last)
        draft.append(DraftSentence([*tokens, *(DraftToken(word.form, [word]) for word in words[done:])]))
    return draft


def written(draft: Draft) -> str:
    """A draft as CoNLL-U."""
    return "".join(_written(sentence) for sentence in draft)


def _written(sentence: DraftSentence) -> str:
    numbers = {word: number for number, word in enumerate(sentence.words, 1)}
    lines = []
    for token in sentence.tokens:
        if token.multiword:
            bounds = f"{numbers[token.words[0]]}-{numbers[token.words[-1]]}"
            lines.append("\t".join([bounds, token.text, *"________"]))
        for word in token.words:
            head = 0 if word.head is None else numbers[word.head]
            form = word.form if token.multiword else token.text
            lines.append("\t".join([str(numbers[word]), form, *word.labels[:4], str(head), word.labels[4], "_", "_"]))
    return "\n".join([*lines, "", ""])


def copied(draft: Draft) -> Draft:
    """A draft of its own, to be changed."""
    return draft_of(parse_conllu(written(draft)))


# Documents out of nothing


def random_draft(text: str, random: Random) -> Draft:
    """A text cut at random into sentences, tokens and words, with random trees and labels."""
    return [_random_sentence(piece, random) for piece in _cut(text, random, 0.15)]


def _random_sentence(text: str, random: Random) -> DraftSentence:
    sentence = DraftSentence([_random_token(piece, random) for piece in _cut(text, random, 0.5)])
    words = sentence.words
    for word, head in zip(words, random_heads(len(words), random), strict=True):
        word.head = words[head - 1] if head else None
    return sentence


def _random_token(text: str, random: Random) -> DraftToken:
    spaced = text[0] + "".join(random.choice(["", "", "", "", " ", "\u00a0", "\u3000"]) + sign for sign in text[1:])
    if random.random() < 0.7:
        return DraftToken(spaced, [DraftWord(spaced, _random_labels(random))])
    forms = random.choice([_cut(text, random, 0.7), [random.choice(["a", "B", "ab", "a b"]) for _ in range(3)]])
    return DraftToken(spaced, [DraftWord(form, _random_labels(random)) for form in forms], multiword=True)


def _random_labels(random: Random) -> list[str]:
    return [random.choice(labels) for labels in COLUMNS]


def _cut(text: str, random: Random, chance: float) -> list[str]:
    places = [0, *(place for place in range(1, len(text)) if random.random() < chance), len(text)]
    return [text[start:end] for start, end in pairwise(places)]


# What a system makes of a gold document


def perturbed(
    draft: Draft, random: Random, *, labels: float = 0.0, words: float = 0.0, sentences: float = 0.0
) -> Draft:
    """The same text with some heads and labels changed, some words split or glued, some sentence ends moved."""
    result = copied(draft)
    for sentence in result:
        _recut_tokens(sentence, random, words)
    result = _recut_sentences(result, random, sentences)
    for sentence in result:
        _relabel(sentence, random, labels)
        sentence.settle()
    return result


def _relabel(sentence: DraftSentence, random: Random, chance: float) -> None:
    for word in sentence.words:
        for column, labels in enumerate(COLUMNS):
            if random.random() < chance:
                word.labels[column] = random.choice(labels)
        if random.random() < chance:
            word.head = random.choice(sentence.words)


def _recut_tokens(sentence: DraftSentence, random: Random, chance: float) -> None:
    tokens: list[DraftToken] = []
    for token in sentence.tokens:
        if random.random() >= chance:
            tokens.append(token)
            continue
        change = random.choice([_split, _glue, _expand, _contract])
        change(tokens, token, random)
    sentence.tokens = tokens


def _split(tokens: list[DraftToken], token: DraftToken, random: Random) -> None:
    """A token becomes two, each a word."""
    if len(token.text) == 1 or " " in token.text:
        tokens.append(token)
        return
    place = random.randrange(1, len(token.text))
    word = DraftWord(token.text[place:], _random_labels(random), token.words[0])
    tokens += [DraftToken(token.text[:place], token.words[:1]), DraftToken(token.text[place:], [word])]


def _glue(tokens: list[DraftToken], token: DraftToken, random: Random) -> None:
    """A token and the one before it become one, with one word or with the words of both."""
    if not tokens:
        tokens.append(token)
    elif random.random() < 0.5:
        tokens[-1] = DraftToken(tokens[-1].text + token.text, tokens[-1].words[:1])
    else:
        tokens[-1] = DraftToken(tokens[-1].text + token.text, tokens[-1].words + token.words, multiword=True)


def _expand(tokens: list[DraftToken], token: DraftToken, random: Random) -> None:
    """A token becomes a multiword token, with a word more."""
    word = DraftWord(random.choice([token.words[0].form, token.text[-1], "a"]), _random_labels(random), token.words[0])
    tokens.append(DraftToken(token.text, random.choice([[*token.words, word], [word, *token.words]]), multiword=True))


def _contract(tokens: list[DraftToken], token: DraftToken, random: Random) -> None:
    """A multiword token becomes a plain one."""
    tokens.append(DraftToken(token.text, [random.choice(token.words)]))


def _recut_sentences(draft: Draft, random: Random, chance: float) -> Draft:
    result: Draft = []
    for sentence in draft:
        if result and random.random() < chance:
            result[-1].tokens += sentence.tokens
        else:
            result.append(sentence)
        place = random.randint(1, len(result[-1].tokens))
        if random.random() < chance and place < len(result[-1].tokens):
            result.append(DraftSentence(result[-1].tokens[place:]))
            del result[-2].tokens[place:]
    return result
