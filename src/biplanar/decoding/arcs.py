"""From the vectors of words to their likeliest heads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from biplanar.compiled import compiled
from biplanar.data.arrays import Float32s, Float64s, Int32s, Int64s
from biplanar.decoding.candidates import log_total
from biplanar.decoding.lattice.arcs import UNLIKELY
from biplanar.decoding.scores import MOST_HEADS, LikelyHeads, Scores
from biplanar.decoding.spanning import best_tree

# The longest sentences of which scores of all pairs of words are written down.
LONGEST_TABLE = 500

# How many products are held at a time: the rows of a long sentence are gone through in blocks.
MOST_PRODUCTS = 1 << 20


@dataclass(frozen=True)
class ArcProducts:
    """Arc scores as products of vectors, computed sentence by sentence when they are asked for."""

    offsets: Int64s
    dependents: Float32s  # (words, arc_dim)
    heads: Float32s
    roots: Float32s  # (words,): the score of the root as the head

    def likeliest(self) -> LikelyHeads:
        """Up to `MOST_HEADS` heads of each word."""
        return self._likeliest

    @cached_property
    def _likeliest(self) -> LikelyHeads:
        words = len(self.dependents)
        heads = np.full((words, MOST_HEADS), -1, dtype=np.int32)
        logs = np.full((words, MOST_HEADS), -np.inf, dtype=np.float32)
        for start, end in pairwise(self.offsets.tolist()):
            rows = max(1, MOST_PRODUCTS // max(1, end - start))
            columns = self.heads[start:end].T
            for first in range(start, end, rows):
                some = slice(first, min(first + rows, end))
                products = self.dependents[some] @ columns
                put_likeliest(products, self.roots[some], first - start, heads[some], logs[some])
        return LikelyHeads(heads, logs)


@compiled()
def put_likeliest(products: Float32s, roots: Float32s, first: int, heads: Int32s, logs: Float32s) -> None:
    """Write down the likeliest heads of some words, best first, and their log-probabilities; of equal ones the first.

    `products` are the scores of a sentence's words as heads, (words, words of the sentence), which are used up;
    `first` is the number of the first of the words in its sentence, from 0. No word is its own head.
    """
    most = heads.shape[1]
    for word in range(len(products)):
        products[word, first + word] = -np.inf
        heads[word, 0], logs[word, 0] = 0, roots[word]
        found, least = 1, np.float32(-np.inf)
        for head in range(products.shape[1]):
            score = products[word, head]
            if not score > least:
                continue
            place = min(found, most - 1)
            while place > 0 and score > logs[word, place - 1]:
                heads[word, place], logs[word, place] = heads[word, place - 1], logs[word, place - 1]
                place -= 1
            heads[word, place], logs[word, place] = head + 1, score
            found = min(found + 1, most)
            if found == most:
                least = logs[word, most - 1]
        top = logs[word, 0]
        shift = np.float32(np.logaddexp(log_total(products, word, top), roots[word]))
        for place in range(found):
            logs[word, place] -= shift


@dataclass(frozen=True)
class KnownHeads:
    """Heads that are known already."""

    found: LikelyHeads

    def likeliest(self) -> LikelyHeads:
        """As they were given."""
        return self.found


def cut_scores(scores: Scores, most_words: int) -> list[Scores]:
    """The labels and arcs of some sentences at a time, so that their trees can be found side by side."""
    offsets, parts, first = scores.offsets, list[Scores](), 0
    likely = scores.likely_heads
    while first < len(offsets) - 1:
        last = max(first + 1, int(np.searchsorted(offsets, offsets[first] + most_words, side="right")) - 1)
        own = slice(int(offsets[first]), int(offsets[last]))
        arcs = None if likely is None else KnownHeads(LikelyHeads(likely.heads[own], likely.logs[own]))
        labels = {task: scores.labels[task][own] for task in scores.labels}
        parts.append(Scores(offsets[first : last + 1] - offsets[first], labels, arcs=arcs))
        first = last
    return parts


def average_heads(parts: Sequence[LikelyHeads]) -> LikelyHeads:
    """The likeliest heads by the mean of several probabilities; a head that a part leaves out has none there."""
    heads = np.concatenate([part.heads for part in parts], axis=1)
    probabilities = np.concatenate([np.exp(part.logs) for part in parts], axis=1) / len(parts)
    best = np.empty((len(heads), MOST_HEADS), dtype=np.int32)
    logs = np.empty((len(heads), MOST_HEADS), dtype=np.float32)
    put_sums(heads, probabilities.astype(np.float64), best, logs)
    return LikelyHeads(best, logs)


@compiled()
def put_sums(heads: Int32s, probabilities: Float64s, best: Int32s, logs: Float32s) -> None:
    """Add up the probabilities of equal heads, and write down the likeliest, best first; the tables are used up."""
    for word in range(len(heads)):
        for one in range(heads.shape[1]):
            for other in range(one):
                if heads[word, other] == heads[word, one]:
                    probabilities[word, other] += probabilities[word, one]
                    probabilities[word, one] = 0.0
                    break
        for place in range(best.shape[1]):
            found = np.argmax(probabilities[word])
            share = probabilities[word, found]
            best[word, place] = heads[word, found] if share > 0 else -1
            logs[word, place] = np.log(share) if share > 0 else -np.inf
            probabilities[word, found] = 0.0


def probability_of(likely: LikelyHeads, heads: Int32s) -> Float64s:
    """How likely each word's head is by its arcs alone; 0 if it is not among the likeliest."""
    same = likely.heads == heads[:, None]
    return np.asarray(np.where(same, np.exp(likely.logs.astype(np.float64)), 0.0).sum(axis=1))


def log_probability_of(likely: LikelyHeads, rows: Int64s, heads: Int32s) -> Float32s:
    """How likely heads of some words are, as the search counts it: what is less than `UNLIKELY` counts as that much."""
    same = likely.heads[rows] == heads[:, None]
    return np.asarray(np.where(same, likely.logs[rows], np.float32(UNLIKELY)).max(axis=1, initial=UNLIKELY))


def head_table(likely: LikelyHeads, words: slice) -> Float64s:
    """The log-probabilities of all heads of a sentence: (words, 1 + words)."""
    return np.asarray(_head_table(likely.heads[words], likely.logs[words]))


def arc_trees(likely: LikelyHeads, offsets: Int64s, sentences: Int64s) -> Int32s:
    """The heads of the best trees of some sentences by arcs alone, end to end."""
    return np.asarray(_arc_trees(likely.heads, likely.logs, offsets, sentences))


@compiled()
def _arc_trees(heads: Int32s, logs: Float32s, offsets: Int64s, sentences: Int64s) -> Int32s:
    total, at = 0, 0
    for sentence in sentences:
        total += offsets[sentence + 1] - offsets[sentence]
    found = np.empty(total, dtype=np.int32)
    for sentence in sentences:
        start, end = offsets[sentence], offsets[sentence + 1]
        found[at : at + end - start] = best_tree(_head_table(heads[start:end], logs[start:end]))
        at += end - start
    return found


@compiled()
def _head_table(heads: Int32s, logs: Float32s) -> Float64s:
    table = np.full((len(heads), len(heads) + 1), 2 * UNLIKELY)
    for word in range(len(heads)):
        for place in range(heads.shape[1]):
            if heads[word, place] >= 0:
                table[word, heads[word, place]] = logs[word, place]
    return table
