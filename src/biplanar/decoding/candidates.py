"""What a search needs to know of scores: the best of every word, and what else is likely.

For many sentences the best label of every word is all that decoding needs, and nothing is even exponentiated.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from biplanar.compiled import compiled
from biplanar.data.arrays import Bools, Float32s, Int8s, Int32s, Int64s
from biplanar.decoding.beam import Beam
from biplanar.decoding.lattice.pairs import Candidates, Costs, Tops
from biplanar.decoding.scores import Scores, best_label, put_best
from biplanar.encodings.stacks import depth_tasks

Likeliest = tuple[Int64s, Int32s, Float32s]  # where each word's labels start, the labels, log-probabilities

# How many of each word's labels are kept, the likeliest, at most.
MOST_LABELS = 64

# How far below a word's best label others are so unlikely that they are not even counted.
FARTHEST = 16.0

# How much the labels of a second plane count with arc scores.
SECOND_PLANE = np.float32(0.5)
STACKS_OF_ONE_PLANE = 2

# Sums may be taken in any order. Scores that are not numbers may come out anyhow, but infinite ones are numbers.
FAST = {"nnan", "nsz", "reassoc", "contract", "arcp", "afn"}


def top_candidates(
    scores: Scores, tasks: Sequence[str], roots: Bools, rows: Int64s, beam: Beam, *, lighter: bool = False
) -> tuple[Candidates, Costs]:
    """The likeliest labels of some words, and what relations, the root and depths cost; `roots` are its relations.

    With one plane, every word's label in the second is empty. If `lighter`, the labels of a second plane have half the
    weight, and the depths of its stacks none: networks under-predict labels there, and arc scores may outvote them.
    """
    least = math.log(beam.rarest) if beam.rarest else -math.inf
    planes = [likeliest(scores.labels[task], rows, beam.mass, least, MOST_LABELS) for task in tasks]
    nothing = (np.arange(len(rows) + 1), np.zeros(len(rows), dtype=np.int32), np.zeros(len(rows), dtype=np.float32))
    (starts, ids, logs), (more_starts, more_ids, more_logs) = (*planes, nothing)[:2]
    both = np.empty((2, len(rows) + 1), dtype=np.int64)
    both[0], both[1] = starts, more_starts + len(ids)
    if lighter:
        more_logs = more_logs * SECOND_PLANE
    known = _depth_tables(scores, tasks)
    depths = np.empty((len(rows), len(known), known[0].shape[1] if known else 1), dtype=np.float32)
    for stack, table in enumerate(known):
        put_depths(table, rows, beam.depth_weight, depths, stack)
    if lighter:
        depths[:, STACKS_OF_ONE_PLANE:] = 0
    candidates = Candidates(both, np.concatenate([ids, more_ids]), np.concatenate([logs, more_logs]))
    return candidates, Costs(*best_relations(scores.deprels, rows, roots), depths)


def find_tops(scores: Scores, tasks: Sequence[str], roots: Bools) -> Tops:
    """What is best for every word, each task by itself."""
    words = len(scores.deprels)
    planes = np.zeros((2, words), dtype=np.int32)
    for plane, task in enumerate(tasks):
        put_best(scores.labels[task], planes[plane])
    known = _depth_tables(scores, tasks)
    depths = np.empty((len(known), words), dtype=np.int32)
    for stack, table in enumerate(known):
        put_best(table, depths[stack])
    return Tops(planes, lean(scores.deprels, roots), depths, known[0].shape[1] - 1 if known else 0)


def _depth_tables(scores: Scores, tasks: Sequence[str]) -> list[Float32s]:
    """The scores of the depths of all stacks, or of none."""
    return [scores.labels[name] for name in depth_tasks(tasks) if name in scores.labels]


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
def _best_two(scores: Float32s, word: int, roots: Bools, some: bool, others: bool) -> tuple[np.float32, np.float32]:
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
def lean(scores: Float32s, roots: Bools) -> Int8s:
    """1 for words to which the root's relation is the best, -1 where it is not, 0 where others are as good."""
    leanings = np.empty(len(scores), dtype=np.int8)
    some, others = bool(roots.any()), not roots.all()
    for word in range(len(scores)):
        relation, root = _best_two(scores, word, roots, some, others)
        leanings[word] = 1 if root > relation else -1 if root < relation else 0
    return leanings


@compiled()
def best_relations(scores: Float32s, rows: Int64s, roots: Bools) -> tuple[Float32s, Float32s]:
    """Log-probabilities of some words' best relation that is not the root's, and of the best that is."""
    relations, as_roots = np.empty(len(rows), dtype=np.float32), np.empty(len(rows), dtype=np.float32)
    some, others = bool(roots.any()), not roots.all()
    for at in range(len(rows)):
        relation, root = _best_two(scores, rows[at], roots, some, others)
        shift = log_total(scores, rows[at], max(relation, root))
        relations[at], as_roots[at] = relation - shift, root - shift
    return relations, as_roots


@compiled()
def put_depths(scores: Float32s, rows: Int64s, weight: float, depths: Float32s, stack: int) -> None:
    """Write down the weighed log-probabilities of one stack's depths: (words, stacks, depths)."""
    for at in range(len(rows)):
        word = rows[at]
        shift = log_total(scores, word, scores[word, best_label(scores, word)])
        for depth in range(scores.shape[1]):
            depths[at, stack, depth] = (scores[word, depth] - shift) * np.float32(weight)


@compiled()
def best_given_heads(scores: Float32s, heads: Int32s, roots: Bools) -> Int32s:
    """Each word's best relation: one of the root's if it has no head, another if it has one; any where there is none.

    Of equal ones it is the first.
    """
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
def likeliest(scores: Float32s, rows: Int64s, mass: float, least: float, most: int) -> Likeliest:
    """Some words' likeliest labels, best first, up to a share of the probability: starts, labels, log-probabilities.

    At least one label a word, and no others whose log-probability is below the least.
    """
    starts = np.zeros(len(rows) + 1, dtype=np.int64)
    ids = np.empty(len(rows) * 4 + most, dtype=np.int32)
    logs = np.empty(len(ids), dtype=np.float32)
    near = np.empty(scores.shape[1] + 1, dtype=np.int32)
    count = 0
    for at in range(len(rows)):
        word = rows[at]
        top = scores[word, best_label(scores, word)]
        shift = log_total(scores, word, top)
        found = _near(scores, word, min(np.float32(max(top - FARTHEST, shift + least)), top), near)
        if count + most > len(ids):
            ids = np.concatenate((ids, np.empty(len(ids) + most, dtype=np.int32)))
            logs = np.concatenate((logs, np.empty(len(logs) + most, dtype=np.float32)))
        seen, taken = 0.0, 0
        while taken < min(found, most) and seen < mass:
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
            count += 1
            taken += 1
        starts[at + 1] = count
    return starts, ids[:count].copy(), logs[:count].copy()


@compiled()
def _near(scores: Float32s, word: int, lowest: float, near: Int32s) -> int:
    """Write down a word's labels whose scores are not below the lowest, and say how many there are; at least one."""
    found = 0
    for label in range(scores.shape[1]):
        near[found] = label  # whether it stays or the next one takes its place: without a branch
        found += scores[word, label] >= lowest
    if not found:  # scores that are not numbers
        near[0] = 0
    return max(found, 1)
