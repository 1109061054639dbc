"""What a search needs to know of scores: the best of every word, and what else is likely.

For many sentences the best label of every word is all that decoding needs, and nothing is even exponentiated. What a
search needs beyond that is a value of its own, `TopCandidates`: the likeliest labels of each word and plane, and what a
relation, the root, and the depths of the stacks cost.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from biplanar.compiled import compiled
from biplanar.data.arrays import Bools, Float32s, Int8s, Int32s, Int64s
from biplanar.decoding.lattice.pairs import Candidates, Costs, Tops
from biplanar.decoding.scores import Scores
from biplanar.encodings.stacks import depth_tasks

Likeliest = tuple[Int64s, Int32s, Float32s]  # where each word's labels start, the labels, log-probabilities

# Of each word's labels, the likeliest are kept: up to this share of the probability, and so many.
MASS, MOST_LABELS = 1 - 1e-5, 64

# How far below a word's best label others are so unlikely that they are not even counted.
FARTHEST = 16.0

# How much the depths count beside the labels, which they only confirm.
DEPTH_WEIGHT = 0.25

# How much the labels of a second plane count where arcs are known.
SECOND_PLANE = np.float32(0.5)
STACKS_OF_ONE_PLANE = 2

# Sums may be taken in any order. Scores that are not numbers may come out anyhow, but infinite ones are numbers.
FAST = {"nnan", "nsz", "reassoc", "contract", "arcp", "afn"}


@dataclass(frozen=True)
class TopCandidates:
    """What search needs to know of each word's scores; words stand end to end."""

    planes: tuple[Likeliest, ...]
    relations: Float32s  # log-probability of the best relation that is not the root's
    roots: Float32s  # and of the best that is
    depths: Float32s  # (words, stacks, depths); no stacks where the network does not predict depths

    @classmethod
    def of(
        cls,
        scores: Scores,
        tasks: Sequence[str],
        roots: Bools,
        *,
        rows: Int64s | None = None,
        mass: float = MASS,
        rarest: float = 0.0,
        depth_weight: float = DEPTH_WEIGHT,
    ) -> TopCandidates:
        """The candidates of some words, or of all; `roots` says which relations are the root's.

        Labels that are not a word's best and less probable than `rarest` are left out.
        """
        rows = np.arange(len(scores.deprels)) if rows is None else rows
        least = math.log(rarest) if rarest else -math.inf
        planes = tuple(likeliest(scores.labels[task], rows, mass, least, MOST_LABELS) for task in tasks)
        relations, root = best_relations(scores.deprels, rows, roots)
        known = _depth_tables(scores, tasks)
        depths = np.empty((len(rows), len(known), known[0].shape[1] if known else 1), dtype=np.float32)
        for stack, table in enumerate(known):
            put_depths(table, rows, depth_weight, depths, stack)
        return cls(planes, relations, root, depths)

    def with_lighter_second_plane(self) -> TopCandidates:
        """The same with half the weight on the labels of a second plane, and none on the depths of its stacks.

        Labels there are rare, and networks too shy of them; where arcs are known, these may outvote them.
        """
        first, *others = self.planes
        planes = (first, *((starts, ids, logs * SECOND_PLANE) for starts, ids, logs in others))
        depths = self.depths.copy()
        depths[:, STACKS_OF_ONE_PLANE:] = 0
        return TopCandidates(planes, self.relations, self.roots, depths)

    @cached_property
    def candidates(self) -> Candidates:
        """As the compiled code takes them; where there is one plane, every word's label in the second is empty."""
        words = len(self.relations)
        nothing = (np.arange(words + 1), np.zeros(words, dtype=np.int32), np.zeros(words, dtype=np.float32))
        (starts, ids, logs), (more_starts, more_ids, more_logs) = (*self.planes, nothing)[:2]
        both = np.empty((2, words + 1), dtype=np.int64)
        both[0], both[1] = starts, more_starts + len(ids)
        return Candidates(both, np.concatenate([ids, more_ids]), np.concatenate([logs, more_logs]))

    @property
    def costs(self) -> Costs:
        """As the compiled code takes them."""
        return Costs(self.relations, self.roots, self.depths)


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


def best_labels(scores: Float32s) -> Int32s:
    """Each word's best label, the first of equal ones."""
    best = np.empty(len(scores), dtype=np.int32)
    put_best(scores, best)
    return best


def _depth_tables(scores: Scores, tasks: Sequence[str]) -> list[Float32s]:
    """The scores of the depths of all stacks, or of none."""
    return [scores.labels[name] for name in depth_tasks(tasks) if name in scores.labels]


def log_probabilities(scores: Float32s) -> Float32s:
    """Scores of shape (words, labels), normalised."""
    shifted = scores - scores.max(axis=1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)), dtype=np.float32)


@compiled()
def _best(scores: Float32s, word: int) -> int:
    best = 0
    for label in range(1, scores.shape[1]):
        if scores[word, label] > scores[word, best]:
            best = label
    return best


@compiled()
def put_best(scores: Float32s, best: Int32s) -> None:
    """Write down each word's best label, the first of equal ones."""
    for word in range(len(scores)):
        best[word] = _best(scores, word)


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
        shift = log_total(scores, word, scores[word, _best(scores, word)])
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
        top = scores[word, _best(scores, word)]
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
