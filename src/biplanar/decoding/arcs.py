"""From the vectors of words to their likeliest heads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from biplanar.compiled import compiled
from biplanar.data.arrays import Float32s, Float64s, Int32s, Int64s
from biplanar.decoding.candidates import FAST, log_total
from biplanar.decoding.scores import MOST_HEADS, UNLIKELY, LikelyHeads, Scores

# The longest sentences of which scores of all pairs of words are written down.
LONGEST_TABLE = 500


@dataclass(frozen=True)
class ArcProducts:
    """Arc scores as products of vectors, computed sentence by sentence when they are asked for."""

    offsets: Int64s
    dependents: Float32s  # (words, arc_dim)
    heads: Float32s
    roots: Float32s  # (words,): the score of the root as the head

    def likeliest(self) -> LikelyHeads:
        """Up to `MOST_HEADS` heads of each word."""
        words = len(self.dependents)
        heads = np.full((words, MOST_HEADS), -1, dtype=np.int32)
        logs = np.full((words, MOST_HEADS), -np.inf, dtype=np.float32)
        put_likeliest(self.offsets, self.dependents, self.heads, self.roots, heads, logs)
        return LikelyHeads(heads, logs)


@compiled()
def put_likeliest(
    offsets: Int64s, dependents: Float32s, governors: Float32s, roots: Float32s, heads: Int32s, logs: Float32s
) -> None:
    """Write down the likeliest heads of words, best first, the first of equal ones, and their log-probabilities."""
    most = heads.shape[1]
    for s in range(len(offsets) - 1):
        start, words = offsets[s], offsets[s + 1] - offsets[s]
        products = np.empty((1, words), dtype=np.float32)
        for at in range(start, offsets[s + 1]):
            _put_products(dependents, governors, at, start, products)
            products[0, at - start] = -np.inf  # no word is its own head
            heads[at, 0], logs[at, 0] = 0, roots[at]
            found, least = 1, np.float32(-np.inf)
            for head in range(words):
                score = products[0, head]
                if not score > least:
                    continue
                place = min(found, most - 1)
                while place > 0 and score > logs[at, place - 1]:
                    heads[at, place], logs[at, place] = heads[at, place - 1], logs[at, place - 1]
                    place -= 1
                heads[at, place], logs[at, place] = head + 1, score
                found = min(found + 1, most)
                if found == most:
                    least = logs[at, most - 1]
            shift = np.float32(np.logaddexp(log_total(products, 0, logs[at, 0]), roots[at]))
            for place in range(found):
                logs[at, place] -= shift


@compiled(fastmath=FAST)
def _put_products(dependents: Float32s, governors: Float32s, at: int, start: int, products: Float32s) -> None:
    """The scores of all words of a sentence as a word's head."""
    for head in range(products.shape[1]):
        product = np.float32(0)
        for feature in range(dependents.shape[1]):
            product += dependents[at, feature] * governors[start + head, feature]
        products[0, head] = product


def cut_scores(scores: Scores, most_words: int) -> list[Scores]:
    """The labels and arcs of some sentences at a time, so that their trees can be found side by side."""
    offsets, parts, first = scores.offsets, list[Scores](), 0
    likely = scores.likely_heads
    while first < len(offsets) - 1:
        last = max(first + 1, int(np.searchsorted(offsets, offsets[first] + most_words, side="right")) - 1)
        own = slice(int(offsets[first]), int(offsets[last]))
        arcs = None if likely is None else LikelyHeads(likely.heads[own], likely.logs[own])
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


def head_table(likely: LikelyHeads, words: slice) -> Float64s:
    """The log-probabilities of all heads of a sentence: (words, 1 + words)."""
    return np.asarray(table_of_heads(likely.heads[words], likely.logs[words]))


@compiled()
def table_of_heads(heads: Int32s, logs: Float32s) -> Float64s:
    """The same by the likeliest heads of its words."""
    table = np.full((len(heads), len(heads) + 1), 2 * UNLIKELY)
    for word in range(len(heads)):
        for place in range(heads.shape[1]):
            if heads[word, place] >= 0:
                table[word, heads[word, place]] = logs[word, place]
    return table
