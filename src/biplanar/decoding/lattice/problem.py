"""What each word of a sentence may take: pairs of labels, one of each plane, and what they and arcs lose.

Losses are what a choice falls short of the word's best one, in log-probability: the best choices lose nothing. Labels
that say on which side a word's head is pay for the best head there at once, and for the rest when the arc is closed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from biplanar.compiled import compiled
from biplanar.data.arrays import Bools, Float32s, Float64s, Int32s, Int64s
from biplanar.decoding.candidates import Likeliest, best_two, likeliest
from biplanar.decoding.lattice.states import CLOSES_RIGHT, OPENS_LEFT, LabelEffects, fit
from biplanar.decoding.scores import UNLIKELY

# The narrowest beam.
FEWEST = 8

# How much the labels of a second plane count with arc scores: networks under-predict them, and arcs may outvote them.
SECOND_PLANE = np.float32(0.5)
STACKS_OF_ONE_PLANE = 2


class Tables(NamedTuple):
    """What a network says of some sentences, whose words stand end to end, and what its labels do."""

    offsets: Int64s
    labels: LabelEffects
    first: Float32s  # (words, labels): scores of the labels of the first plane
    second: Float32s  # and of the second; of one label if there is none
    tops: Int32s  # (2, words): each word's best labels of both
    relations: Float32s  # (words, relations)
    roots: Bools  # which relations are the root's
    depths: Float32s  # (stacks, words, depths): of the stacks after each word; no stacks: not known
    heads: Int32s  # (words, heads): the likeliest heads, best first; none if arcs do not count
    logs: Float32s  # their log-probabilities
    weight: float  # how much arcs count beside labels


class SearchLimits(NamedTuple):
    """How much is looked at."""

    beam: int  # states that go on from a word
    margin: float  # how far below the best one, at most
    mass: float  # of each word's labels, the likeliest are kept, up to this share of the probability
    least: float  # log-probability of a label that is not a word's best, at least
    depth_weight: float  # how much the depths of stacks count beside the labels
    edges: int  # of a sentence's lattice, in all; the beam is made narrower until they suffice
    nodes: int  # looked at in search of a path without a cycle


class Problem(NamedTuple):
    """What may be chosen, and what it loses, for the words of some of the sentences; the others have no pairs."""

    labels: LabelEffects
    starts: Int64s  # (words + 1,): where each word's pairs start
    pairs: Int32s  # (pairs, 2): one label of each plane, best first
    losses: Float64s  # of pairs; what arcs lose in advance is part of it
    needs: Int64s
    changes: Int64s
    kinds: Int64s
    relations: Float64s  # (words, 2): of having a head, of being the root
    depths: Float32s  # (words, stacks, depths)
    known: bool  # whether states know what is on their stacks; if not, arcs are not looked at
    heads: Int32s  # (words, heads): numbers of likely heads, 0 for the root
    arcs: Float64s  # (words, heads): of these
    others: Float64s  # (words,): of any other head
    lefts: Float64s  # (words,): of the best head to the left
    rights: Float64s  # (words,): of the best head to the right
    best: Float64s  # (words,): the log-probability of the best pair, less what arcs lose in advance


@compiled()
def make_problem(wanted: Bools, tables: Tables, limits: SearchLimits, known: bool) -> Problem:
    """What the words of the wanted sentences may take; states know their stacks if `known`, or if arcs count."""
    offsets, labels, first, second, tops, relations, roots, depths, heads, logs, weight = tables
    with_arcs = heads.shape[1] > 0
    arcs, others, lefts, rights = _weigh_arcs(wanted, offsets, heads, logs, weight)
    ones = likeliest(first, tops[0], wanted, offsets, limits.mass, limits.least)
    share = SECOND_PLANE if with_arcs else np.float32(1)
    # Where many trees are looked for, labels of the second plane are as rare as their weight makes them.
    least = limits.least / float(share) if known else limits.least
    twos = likeliest(second, tops[1], wanted, offsets, limits.mass, least)
    starts, pairs, losses, best = _pair(offsets, ones, twos, share, labels.kinds, labels.second, lefts, rights)
    needs, changes, kinds = np.empty((3, len(pairs)), dtype=np.int64)
    for pair in range(len(pairs)):
        one, two = pairs[pair, 0], pairs[pair, 1]
        needs[pair] = labels.needs[one] + labels.needs[two]
        changes[pair] = labels.changes[one] + labels.changes[two]
        kinds[pair] = labels.kinds[one] | labels.kinds[two]
    return Problem(
        labels,
        starts,
        pairs,
        losses,
        needs,
        changes,
        kinds,
        _weigh_relations(wanted, offsets, relations, roots),
        _weigh_depths(wanted, offsets, depths, limits.depth_weight, STACKS_OF_ONE_PLANE if with_arcs else 4),
        known or with_arcs,
        heads,
        arcs,
        others,
        lefts,
        rights,
        best,
    )


@compiled()
def _pair(
    offsets: Int64s,
    first: Likeliest,
    second: Likeliest,
    share: np.float32,
    kinds: Int64s,
    second_label: int,
    lefts: Float64s,
    rights: Float64s,
) -> tuple[Int64s, Int32s, Float64s, Float64s]:
    """Where each word's pairs start, the pairs, best first, what they lose, and the log-probability of the best."""
    (starts, ids, logs), (more_starts, more_ids, more_logs) = first, second
    words, room, count = len(starts) - 1, 0, 0
    for at in range(words):
        room += (starts[at + 1] - starts[at]) * (more_starts[at + 1] - more_starts[at])
    begins, pairs = np.zeros(words + 1, dtype=np.int64), np.empty((room, 2), dtype=np.int32)
    losses, best = np.empty(room), np.zeros(words)
    for s in range(len(offsets) - 1):
        for at in range(offsets[s], offsets[s + 1]):
            begin = count
            for one in range(starts[at], starts[at + 1]):
                for two in range(more_starts[at], more_starts[at + 1]):
                    kind, other = kinds[ids[one]], kinds[second_label + more_ids[two]]
                    if not fit(kind, other, at == offsets[s]):
                        continue
                    place, loss = count, -np.float64(logs[one]) - np.float64(more_logs[two] * share)
                    if (kind | other) & CLOSES_RIGHT:
                        loss += lefts[at]
                    if (kind | other) & OPENS_LEFT:
                        loss += rights[at - 1]
                    while place > begin and losses[place - 1] > loss:
                        losses[place] = losses[place - 1]
                        pairs[place, 0], pairs[place, 1] = pairs[place - 1, 0], pairs[place - 1, 1]
                        place -= 1
                    losses[place] = loss
                    pairs[place, 0], pairs[place, 1] = ids[one], second_label + more_ids[two]
                    count += 1
            if count > begin:
                best[at] = -losses[begin]
            for pair in range(begin, count):
                losses[pair] += best[at]
            begins[at + 1] = count
    return begins, pairs[:count], losses[:count], best


@compiled()
def _weigh_arcs(
    wanted: Bools, offsets: Int64s, heads: Int32s, logs: Float32s, weight: float
) -> tuple[Float64s, Float64s, Float64s, Float64s]:
    """What heads lose against each word's likeliest: the likely ones, all others, the best to the left and right."""
    words, most = heads.shape
    arcs, others, lefts, rights = np.empty((words, most)), np.zeros(words), np.zeros(words), np.zeros(words)
    for s in range(len(wanted) if most else 0):
        for at in range(offsets[s], offsets[s + 1] if wanted[s] else offsets[s]):
            top = max(np.float64(logs[at, 0]), UNLIKELY)
            others[at] = lefts[at] = rights[at] = weight * (top - UNLIKELY)
            for place in range(most):
                arcs[at, place] = weight * (top - max(np.float64(logs[at, place]), UNLIKELY))
                if heads[at, place] > at - offsets[s] + 1:
                    rights[at] = min(rights[at], arcs[at, place])
                elif heads[at, place] > 0:
                    lefts[at] = min(lefts[at], arcs[at, place])
    return arcs, others, lefts, rights


@compiled()
def _weigh_relations(wanted: Bools, offsets: Int64s, relations: Float32s, roots: Bools) -> Float64s:
    """What words lose by having a head, and by being the root."""
    losses, some, others = np.empty((len(relations), 2)), bool(roots.any()), not roots.all()
    for s in range(len(wanted)):
        for at in range(offsets[s], offsets[s + 1] if wanted[s] else offsets[s]):
            relation, root = best_two(relations, at, roots, some, others)
            loss = np.float64(root - relation)
            losses[at, 0], losses[at, 1] = max(loss, 0.0), max(-loss, 0.0)
    return losses


@compiled()
def _weigh_depths(wanted: Bools, offsets: Int64s, depths: Float32s, weight: float, stacks: int) -> Float32s:
    """What the depths of each word's stacks lose; those of further stacks lose nothing."""
    losses = np.zeros((depths.shape[1], min(stacks, depths.shape[0]), depths.shape[2]), dtype=np.float32)
    for s in range(len(wanted)):
        for at in range(offsets[s], offsets[s + 1] if wanted[s] else offsets[s]):
            for stack in range(losses.shape[1]):
                top = depths[stack, at, 0]
                for depth in range(1, depths.shape[2]):
                    top = max(top, depths[stack, at, depth])
                for depth in range(depths.shape[2]):
                    losses[at, stack, depth] = (top - depths[stack, at, depth]) * np.float32(weight)
    return losses


@compiled()
def beam_for(limits: SearchLimits, pairs: int) -> int:
    """How many states may go on from each word of a sentence with that number of pairs."""
    return min(limits.beam, max(FEWEST, limits.edges // max(pairs, 1)))
