"""Which word of the system's text is which gold word (CoNLL 2018 shared task), and scores: counts that add."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from os.path import commonprefix
from typing import Any, NamedTuple

import numpy as np

from biplanar.data.arrays import Bools, Int64s
from biplanar.data.conllu import DEPREL, Sentence
from biplanar.data.forest import Forest
from biplanar.errors import BiplanarError, FormatError

# How many characters of two differing texts a message quotes.
QUOTED = 20

# In place of a word's number: the head of a root, and what is not among the aligned words.
ROOT, NOWHERE = -1, -2

# All characters of Unicode's category Zs: the shared task deletes these, and no other white space.
_SPACES = re.compile("[ \u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]+")


@dataclass(frozen=True, slots=True)
class Score:
    """How many are right, of how many in the gold text, in the system's, and, if words were aligned, in both."""

    correct: int
    gold: int
    system: int
    aligned: int | None = None

    def __add__(self, other: Score) -> Score:
        both = None if self.aligned is None or other.aligned is None else self.aligned + other.aligned
        return Score(self.correct + other.correct, self.gold + other.gold, self.system + other.system, both)

    @property
    def precision(self) -> float:
        """The share of what the system found that is right."""
        return self.correct / self.system if self.system else 0.0

    @property
    def recall(self) -> float:
        """The share of the gold that the system found."""
        return self.correct / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        total = self.gold + self.system
        return 2 * self.correct / total if total else 0.0

    @property
    def aligned_accuracy(self) -> float | None:
        """The share of the aligned that is right; None for metrics without an alignment."""
        if self.aligned is None:
            return None
        return self.correct / self.aligned if self.aligned else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Shares and counts, for JSON."""
        shares = {"precision": self.precision, "recall": self.recall, "f1": self.f1}
        return {**shares, "aligned_accuracy": self.aligned_accuracy, **asdict(self)}


class WordSpan(NamedTuple):
    """A word, and its offsets in the text; the words of a multiword token all have those of the token."""

    start: int
    end: int
    form: str
    multiword: bool


Words = Sequence[WordSpan]


@dataclass(frozen=True)
class SpannedText:
    """The text of some sentences without its spaces, and their words in it, numbered from 0 over all sentences."""

    sentences: tuple[Sentence, ...]
    characters: str
    words: tuple[WordSpan, ...]

    @classmethod
    def from_sentences(cls, sentences: Iterable[Sentence]) -> SpannedText:
        """Multiword tokens are read from the sentences' lines, and must be ranges that do not overlap."""
        kept, texts, words, start = tuple(sentences), [], [], 0
        if not kept:
            raise BiplanarError("no sentences to evaluate")
        for sentence in kept:
            for token in sentence.tokens:
                text = _SPACES.sub("", token.form)
                if not text:
                    raise sentence.error_at(token.first, f"FORM is nothing but spaces: {token.form!r}")
                end = start + len(text)
                # Only words outside of multiword tokens lose their spaces: a quirk of the official script.
                forms = sentence.forms[token.first - 1 : token.last] if token.is_multiword else [text]
                words += [WordSpan(start, end, form, token.is_multiword) for form in forms]
                texts.append(text)
                start = end
        return cls(kept, "".join(texts), tuple(words))

    def column(self, number: int) -> list[str]:
        """One column of all words (`UPOS`, `LEMMA`, ...)."""
        return [value for sentence in self.sentences for value in sentence.column(number)]

    def has_values(self, column: int) -> bool:
        """Whether any word has something in a column."""
        return any(value != "_" for value in self.column(column))

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
        """For every word the number of its head, or `ROOT`."""
        first = np.repeat(self.forest.offsets[:-1], self.lengths)
        return np.where(self.forest.heads == 0, ROOT, first + self.forest.heads - 1)

    @cached_property
    def sentence_spans(self) -> list[tuple[int, int]]:
        """The offsets of each sentence in the text."""
        bounds = zip(self.forest.offsets[:-1].tolist(), self.forest.offsets[1:].tolist(), strict=True)
        return [(self.words[first].start, self.words[end - 1].end) for first, end in bounds]

    def error_at(self, offset: int, message: str) -> FormatError:
        """An error that names the line of the word at an offset in the text."""
        number = next((i for i, word in enumerate(self.words) if offset < word.end), len(self.words) - 1)
        sentence = int(self.sentence_of[number])
        return self.sentences[sentence].error_at(number - int(self.forest.offsets[sentence]) + 1, message)


@dataclass(frozen=True)
class Alignment:
    """Pairs of a gold word and the same word of the system, in the order of the text."""

    gold: SpannedText
    system: SpannedText
    gold_at: Int64s
    system_at: Int64s

    @property
    def sides(self) -> tuple[SpannedText, SpannedText]:
        """The gold text and the system's."""
        return self.gold, self.system

    def agree(self, labels: Callable[[SpannedText], Sequence[object]]) -> Bools:
        """For every pair, whether its words have the same label."""
        gold, system = labels(self.gold), labels(self.system)
        pairs = zip(self.gold_at.tolist(), self.system_at.tolist(), strict=True)
        return np.array([gold[g] == system[s] for g, s in pairs], dtype=np.bool_)

    def agree_in(self, column: int) -> Bools:
        """For every pair, whether its words have the same value in a column (`UPOS`, `LEMMA`, ...)."""
        return self.agree(lambda text: text.column(column))

    def score(self, right: Bools) -> Score:
        """The score of something that every word has; `right` says in which pairs the system found it."""
        return Score(int(right.sum()), len(self.gold.words), len(self.system.words), len(right))

    @cached_property
    def gold_words(self) -> Int64s:
        """For every system word the gold word that it is, or `NOWHERE`."""
        numbers = np.full(len(self.system.words), NOWHERE)
        numbers[self.system_at] = self.gold_at
        return numbers

    @cached_property
    def gold_heads(self) -> Int64s:
        """For every system word the gold word that its head is, or `ROOT`, or `NOWHERE`."""
        heads = self.system.heads
        return np.where(heads == ROOT, ROOT, self.gold_words[heads])

    @cached_property
    def right_heads(self) -> Bools:
        """For every pair, whether the system found the head."""
        return np.asarray(self.gold.heads[self.gold_at] == self.gold_heads[self.system_at])

    @cached_property
    def right_arcs(self) -> Bools:
        """For every pair, whether the system found head and relation; subtypes of relations do not count."""
        return self.right_heads & self.agree(lambda text: text.relations)

    @cached_property
    def twin_sentences(self) -> Int64s:
        """For every gold sentence the system sentence with the same offsets, or `NOWHERE`."""
        numbers = {span: number for number, span in enumerate(self.system.sentence_spans)}
        return np.array([numbers.get(span, NOWHERE) for span in self.gold.sentence_spans], dtype=np.int64)


def align(gold: SpannedText, system: SpannedText) -> Alignment:
    """Words outside of multiword tokens are the same if they are the same characters; for the others see `_region`."""
    if gold.characters != system.characters:
        raise _first_difference(gold, system)
    pairs = np.array(list(_pairs(gold.words, system.words)), dtype=np.int64).reshape(-1, 2)
    return Alignment(gold, system, pairs[:, 0], pairs[:, 1])


def _first_difference(gold: SpannedText, system: SpannedText) -> FormatError:
    """An error that says where two texts begin to differ."""
    texts = [text.characters for text in (gold, system)]
    at = len(commonprefix(texts))  # noqa: RUF071  # characters, not paths
    wanted, found = (repr(text[at : at + QUOTED]) if text[at:] else "the end" for text in texts)
    there = gold.error_at(at, "")
    return system.error_at(at, f"not the gold text: {found}, where {there.path}:{there.line} has {wanted}")


def _pairs(gold: Words, system: Words) -> Iterator[tuple[int, int]]:
    g = s = 0
    while g < len(gold) and s < len(system):
        wanted, found = gold[g], system[s]
        if wanted.multiword or found.multiword:
            (g, s), ends = _region(gold, system, g, s)
            forms = [[word.form.lower() for word in words] for words in (gold[g : ends[0]], system[s : ends[1]])]
            yield from ((g + i, s + j) for i, j in _longest_common_subsequence(*forms))
            g, s = ends
        elif (wanted.start, wanted.end) == (found.start, found.end):
            yield g, s
            g, s = g + 1, s + 1
        elif wanted.start <= found.start:
            g += 1
        else:
            s += 1


def _region(gold: Words, system: Words, g: int, s: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """The words to be aligned by their forms: from a multiword token on, until none sticks out on either side.

    Returns the first words and those after the last. Only one word that starts before the token is passed over: the
    official script does so too, and so may take in some words more.
    """
    if gold[g].multiword:
        end = gold[g].end
        s += not system[s].multiword and system[s].start < gold[g].start
    else:
        end = system[s].end
        g += gold[g].start < system[s].start
    first = g, s
    while _reaches_into(gold, g, end) or _reaches_into(system, s, end):
        if s == len(system) or (g < len(gold) and gold[g].start <= system[s].start):
            word, g = gold[g], g + 1
        else:
            word, s = system[s], s + 1
        if word.multiword:
            end = max(end, word.end)
    return first, (g, s)


def _reaches_into(words: Words, at: int, end: int) -> bool:
    """Whether a word belongs to a region that ends there: a multiword token with its start, another word as a whole."""
    if at == len(words):
        return False
    return words[at].start < end if words[at].multiword else words[at].end <= end


def _longest_common_subsequence(gold: Sequence[str], system: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Of several longest ones, the one that skips gold words first."""
    longest = [[0] * (len(system) + 1) for _ in range(len(gold) + 1)]  # of what follows gold word g and system word s
    for g in reversed(range(len(gold))):
        for s in reversed(range(len(system))):
            same = gold[g] == system[s]
            longest[g][s] = longest[g + 1][s + 1] + 1 if same else max(longest[g + 1][s], longest[g][s + 1])
    g = s = 0
    while g < len(gold) and s < len(system):
        if gold[g] == system[s]:
            yield g, s
            g, s = g + 1, s + 1
        elif longest[g][s] == longest[g + 1][s]:
            g += 1
        else:
            s += 1
