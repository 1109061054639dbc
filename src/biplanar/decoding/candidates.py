"""What a search needs to know of scores: the best of every word, and what else is likely."""

from __future__ import annotations

import numpy as np

from biplanar.compiled import compiled
from biplanar.data.arrays import Bools, Float32s, Int32s, Int64s

Likeliest = tuple[Int64s, Int32s, Float32s]  # where each word's labels start, the labels, log-probabilities

# How many of each word's labels are kept, the likeliest, at most.
MOST_LABELS = 64

# How far below a word's best label others are so unlikely that they are not even counted.
FARTHEST = 16.0

# Sums may be taken in any order. Scores that are not numbers may come out anyhow, but infinite ones are numbers.
FAST = {"nnan", "nsz", "reassoc", "contract", "arcp", "afn"}


@compiled()
def best_labels(scores: Float32s) -> Int32s:
    """Each word's best label, the first of equal ones.

    Compilers find the highest of many whole numbers at a time, but not of floats. So the bits of scores are taken as
    numbers in the same order, and the label's number is put behind them.
    """
    best, bits = np.empty(len(scores), dtype=np.int32), scores.view(np.int32)
    sign, others = np.int32(31), np.int32(0x7FFFFFFF)
    for word in range(len(scores)):
        top = np.int64(-(1 << 63))
        for label in range(scores.shape[1]):
            score = bits[word, label]
            ordered = np.int64(score ^ ((score >> sign) & others))
            top = max(top, (ordered << np.int64(32)) - np.int64(label))
        best[word] = np.int32(-top & np.int64(0xFFFFFFFF))
    return best


@compiled(fastmath=FAST)
def log_total(scores: Float32s, word: int, top: np.float32) -> np.float32:
    """The logarithm of the sum of a word's exponentials, right to about 1e-6; `top` is its best score.

    e^x is the sixteenth power of a polynomial for e^(x/16), which compilers, unlike `exp`, can do for many x at once.
    """
    total = np.float32(0)
    for label in range(scores.shape[1]):
        below = scores[word, label] - top
        x = max(below, np.float32(-FARTHEST)) * np.float32(1 / 16)  # in [-1, 0]
        power = x * np.float32(1 / 40320) + np.float32(1 / 5040)
        power = power * x + np.float32(1 / 720)
        power = power * x + np.float32(1 / 120)
        power = power * x + np.float32(1 / 24)
        power = power * x + np.float32(1 / 6)
        power = power * x + np.float32(1 / 2)
        power = (power * x + np.float32(1)) * x + np.float32(1)
        power *= power
        power *= power
        power *= power
        power *= power
        total += power if below > np.float32(-FARTHEST) else np.float32(0)
    return top + np.float32(np.log(total))


@compiled()
def best_two(scores: Float32s, word: int, roots: Bools, some: bool, others: bool) -> tuple[np.float32, np.float32]:
    """The best relation that is not the root's, and the best that is; where there are `some` or `others` at all.

    Where there are none, the best of all counts.
    """
    relation, root = np.float32(-np.inf), np.float32(-np.inf)
    for label in range(scores.shape[1]):
        score = scores[word, label]
        if roots[label] or not some:
            root = max(root, score)
        if not roots[label] or not others:
            relation = max(relation, score)
    return relation, root


@compiled()
def best_relations(scores: Float32s, roots: Bools) -> tuple[Float32s, Float32s]:
    """Log-probabilities of each word's best relation that is not the root's, and of the best that is."""
    relations, as_roots = np.empty(len(scores), dtype=np.float32), np.empty(len(scores), dtype=np.float32)
    some, others = bool(roots.any()), not roots.all()
    for word in range(len(scores)):
        relation, root = best_two(scores, word, roots, some, others)
        shift = log_total(scores, word, max(relation, root))
        relations[word], as_roots[word] = relation - shift, root - shift
    return relations, as_roots


@compiled()
def best_given_heads(scores: Float32s, heads: Int32s, roots: Bools) -> Int32s:
    """Each word's best relation, the first of equal ones: a root's if it has no head, another if it has, or any."""
    best = np.zeros(len(scores), dtype=np.int32)
    some, others = bool(roots.any()), not roots.all()
    for word in range(len(scores)):
        found = -1
        for label in range(scores.shape[1]):
            allowed = (roots[label] or not some) if heads[word] == 0 else (not roots[label] or not others)
            if allowed and (found < 0 or scores[word, label] > scores[word, found]):
                found = label
        best[word] = found
    return best


@compiled()
def likeliest(scores: Float32s, tops: Int32s, wanted: Bools, offsets: Int64s, mass: float, least: float) -> Likeliest:
    """The likeliest labels of the words of wanted sentences, best first: starts, labels, log-probabilities.

    `tops` are the best labels of all words. Labels are taken up to a share of the probability: at least one label a
    word, at most `MOST_LABELS`, and no others whose log-probability is below the least.
    """
    starts, room, count = np.zeros(len(scores) + 1, dtype=np.int64), 4 * len(scores) + MOST_LABELS, 0
    ids, logs = np.empty(room, dtype=np.int32), np.empty(room, dtype=np.float32)
    near = np.empty(scores.shape[1] + 1, dtype=np.int32)
    for s in range(len(wanted)):
        for word in range(offsets[s], offsets[s + 1]):
            starts[word + 1] = count
            if not wanted[s]:
                continue
            if count + MOST_LABELS > len(ids):
                ids = np.concatenate((ids, np.empty(len(ids), dtype=np.int32)))
                logs = np.concatenate((logs, np.empty(len(logs), dtype=np.float32)))
            top = scores[word, tops[word]]
            shift = log_total(scores, word, top)
            lowest, found = min(np.float32(max(top - FARTHEST, shift + least)), top), 0
            for label in range(scores.shape[1]):
                near[found] = label  # whether it stays or the next one takes its place: without a branch
                found += scores[word, label] >= lowest
            if not found:  # scores that are not numbers
                near[0], found = 0, 1
            seen, taken = 0.0, 0
            while taken < min(found, MOST_LABELS) and seen < mass:
                best = taken
                for other in range(taken + 1, found):
                    if scores[word, near[other]] > scores[word, near[best]]:
                        best = other
                label = near[best]
                # the others keep their order, so that the first of equal labels comes first
                for place in range(best, taken, -1):
                    near[place] = near[place - 1]
                near[taken] = label
                ids[count], logs[count] = label, scores[word, label] - shift
                seen += np.exp(logs[count])
                taken, count = taken + 1, count + 1
            starts[word + 1] = count
    return starts, ids[:count], logs[:count]
