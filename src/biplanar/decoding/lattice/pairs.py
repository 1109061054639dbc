"""What each word of a sentence may take: pairs of labels, one of each plane, with their scores."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from biplanar.compiled import compiled
from biplanar.data.arrays import Float32s, Float64s, Int8s, Int32s, Int64s
from biplanar.decoding.lattice.arcs import Arcs, prepaid_loss
from biplanar.decoding.lattice.states import DEEPEST, FIELD, LabelEffects, fit, unpacked

# The narrowest beam.
FEWEST = 8


class Candidates(NamedTuple):
    """The likeliest labels of each word, best first, the second plane's behind the first's."""

    starts: Int64s  # (2, words + 1)
    ids: Int32s
    logs: Float32s


class Tops(NamedTuple):
    """The best of each word's labels, relations and depths, if each is looked at alone."""

    planes: Int32s  # (2, words), labels of each plane
    leanings: Int8s  # 1: the root's relation is likelier than any other, -1: less likely, 0: as likely
    depths: Int32s  # (stacks, words); no stacks: not known
    deepest: int  # the depth that stands for all that are deeper


class Costs(NamedTuple):
    """Log-probabilities of what is no bracket label; words of all sentences stand end to end."""

    relations: Float32s  # of each word's best relation if it has a head
    roots: Float32s  # and if it is the root
    depths: Float32s  # (words, stacks, depths) of the stacks after each word; no stacks: not known


class Problem(NamedTuple):
    """What is known of some sentences' labels and arcs."""

    candidates: Candidates
    labels: LabelEffects
    costs: Costs
    arcs: Arcs


class SearchLimits(NamedTuple):
    """How much is looked at."""

    beam: int  # states that go on from a word
    margin: float  # how far below the best one, at most
    least: float  # log-probability of a label that is not a word's best, at least
    edges: int  # of a sentence's lattice, in all; the beam is made narrower until they suffice
    nodes: int  # looked at in search of a path without a cycle


class Pairs(NamedTuple):
    """One label of each plane, for each word, best first; what arcs lose in advance is part of the scores."""

    starts: Int64s  # (words + 1,)
    labels: Int32s  # (pairs, 2)
    scores: Float64s
    needs: Int64s
    changes: Int64s
    kinds: Int64s


@compiled()
def make_pairs(offsets: Int64s, problem: Problem, least: float) -> Pairs:
    """All pairs of one label of each plane that each word of some sentences may take."""
    candidates, labels = problem.candidates, problem.labels
    total = 0
    for at in range(offsets[0], offsets[-1]):
        ones = candidates.starts[0, at + 1] - candidates.starts[0, at]
        total += ones * (candidates.starts[1, at + 1] - candidates.starts[1, at])
    starts, chosen = np.zeros(offsets[-1] - offsets[0] + 1, dtype=np.int64), np.empty((total, 2), dtype=np.int32)
    scores, count = np.empty(total, dtype=np.float64), 0
    for s in range(len(offsets) - 1):
        for at in range(offsets[s], offsets[s + 1]):
            count = _word_pairs(at, at == offsets[s], problem, least, chosen, scores, count)
            starts[at - offsets[0] + 1] = count
    needs, changes = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64)
    kinds = np.empty(count, dtype=np.int64)
    for pair in range(count):
        one, two = chosen[pair, 0], chosen[pair, 1]
        needs[pair] = labels.needs[one] + labels.needs[two]
        changes[pair] = labels.changes[one] + labels.changes[two]
        kinds[pair] = labels.kinds[one] | labels.kinds[two]
    return Pairs(starts, chosen[:count], scores[:count], needs, changes, kinds)


@compiled()
def _word_pairs(
    at: int, is_first: bool, problem: Problem, least: float, chosen: Int32s, scores: Float64s, count: int
) -> int:
    """One word's pairs, put into their order one by one."""
    candidates, labels = problem.candidates, problem.labels
    begin, logs, ids = count, candidates.logs, candidates.ids
    first_one, first_two = candidates.starts[0, at], candidates.starts[1, at]
    for one in range(first_one, candidates.starts[0, at + 1]):
        if logs[one] < least and one > first_one:
            break
        for two in range(first_two, candidates.starts[1, at + 1]):
            if logs[two] < least and two > first_two:
                break
            kind, other = labels.kinds[ids[one]], labels.kinds[labels.second + ids[two]]
            if not fit(kind, other, is_first):
                continue
            place, score = count, np.float64(logs[one]) + np.float64(logs[two])
            score -= prepaid_loss(problem.arcs, kind | other, at)
            while place > begin and scores[place - 1] < score:
                scores[place] = scores[place - 1]
                chosen[place, 0], chosen[place, 1] = chosen[place - 1, 0], chosen[place - 1, 1]
                place -= 1
            scores[place] = score
            chosen[place, 0], chosen[place, 1] = ids[one], labels.second + ids[two]
            count += 1
    return count


@compiled()
def closable_depths(pairs: Pairs, first: int, words: int) -> Int64s:
    """How deep each stack may be after each word of a sentence, so that the words to come could still empty it.

    Four depths in one; `first` is where the sentence starts among all words that have pairs.
    """
    packed, room = np.zeros(words + 1, dtype=np.int64), np.zeros(4, dtype=np.int64)
    for word in range(words - 1, 0, -1):
        for stack in range(4):
            most = 0
            for pair in range(pairs.starts[first + word], pairs.starts[first + word + 1]):
                most = max(most, -unpacked(pairs.changes[pair], stack))
            room[stack] = min(room[stack] + most, DEEPEST)
            packed[word] |= room[stack] << (FIELD * stack)
    return packed


@compiled()
def count_moves(pairs: Pairs, first: int, end: int, labels: LabelEffects) -> int:
    """How many moves all pairs of some words have together."""
    count = 0
    for pair in range(pairs.starts[first], pairs.starts[end]):
        for label in pairs.labels[pair]:
            count += labels.starts[label + 1] - labels.starts[label]
    return count


@compiled()
def beam_for(limits: SearchLimits, pairs: int) -> int:
    """How many states may go on from each word of a sentence with so many pairs."""
    return min(limits.beam, max(FEWEST, limits.edges // max(pairs, 1)))
