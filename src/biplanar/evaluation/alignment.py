"""Which word of the system's is which gold word, as the CoNLL 2018 shared task decides it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from biplanar.data.arrays import Bools, Int64s
from biplanar.errors import FormatError
from biplanar.evaluation.placed import NOWHERE, ROOT, PlacedText, PlacedWord
from biplanar.evaluation.score import Score

Words = Sequence[PlacedWord]

# How much of two differing texts a message quotes.
QUOTED = 20


@dataclass(frozen=True)
class Alignment:
    """Pairs of a gold word and a system word that are the same word, in the order of the text."""

    gold: PlacedText
    system: PlacedText
    gold_at: Int64s
    system_at: Int64s

    @property
    def sides(self) -> tuple[PlacedText, PlacedText]:
        """The gold text and the system's."""
        return self.gold, self.system

    def agree(self, labels: Callable[[PlacedText], Sequence[object]]) -> Bools:
        """For every pair, whether its words have the same label."""
        gold, system = labels(self.gold), labels(self.system)
        pairs = zip(self.gold_at.tolist(), self.system_at.tolist(), strict=True)
        return np.array([gold[g] == system[s] for g, s in pairs], dtype=np.bool_)

    def agree_in(self, column: int) -> Bools:
        """For every pair, whether its words have the same in a column (`UPOS`, `LEMMA`, ...)."""
        return self.agree(lambda text: text.column(column))

    def score(self, right: Bools) -> Score:
        """The score of something that every word has; `right` says in which pairs the system found it."""
        return Score(int(right.sum()), len(self.gold.words), len(self.system.words), len(right))

    @cached_property
    def gold_words(self) -> Int64s:
        """For every system word the gold word that it is, or `NOWHERE`."""
        places = np.full(len(self.system.words), NOWHERE)
        places[self.system_at] = self.gold_at
        return places

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
        """For every gold sentence the system sentence that is the same stretch of text, or `NOWHERE`."""
        numbers = {span: number for number, span in enumerate(self.system.sentence_spans)}
        return np.array([numbers.get(span, NOWHERE) for span in self.gold.sentence_spans], dtype=np.int64)


def align(gold: PlacedText, system: PlacedText) -> Alignment:
    """Words outside of multiword tokens are the same if they are the same characters; for the others see `_region`."""
    if gold.characters != system.characters:
        raise _difference(gold, system)
    pairs = np.array(list(_pairs(gold.words, system.words)), dtype=np.int64).reshape(-1, 2)
    return Alignment(gold, system, pairs[:, 0], pairs[:, 1])


def _difference(gold: PlacedText, system: PlacedText) -> FormatError:
    """An error that says where two texts part, and how they go on."""
    texts = [text.characters for text in (gold, system)]
    same = (one == other for one, other in zip(*texts, strict=False))
    at = next((place for place, equal in enumerate(same) if not equal), min(map(len, texts)))
    wanted, found = (repr(text[at : at + QUOTED]) if text[at:] else "the end" for text in texts)
    there = gold.error_at(at, "")
    return system.error_at(at, f"expected {wanted}, as in {there.path}:{there.line}, found {found}")


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
