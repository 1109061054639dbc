"""The best path of a sentence without its whole lattice: only states that fall little short of the best labels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from biplanar.compiled import compiled
from biplanar.data.arrays import Float32s, Float64s, Int32s, Int64s
from biplanar.decoding.lattice.arcs import Stacks, clear_stacks, empty_stacks, identity_of, move_stacks, root_loss
from biplanar.decoding.lattice.pairs import (
    FEWEST,
    Costs,
    Pairs,
    Problem,
    SearchLimits,
    beam_for,
    closable_depths,
    count_moves,
)
from biplanar.decoding.lattice.states import (
    CLOSES_RIGHT,
    HEADLESS,
    NUMBER,
    OPENS_LEFT,
    STAMP,
    LabelEffects,
    depth_of,
    find_slot,
    may_end,
    next_state,
)

EMPTY_STACKS = np.arange(4, dtype=np.int32)

# How much less likely than the best labels of all a path is that is looked for, before a whole lattice is built.
SHORTFALLS = (2.0, 5.0, 12.0, 30.0)


class Shortfalls(NamedTuple):
    """How much less likely than the best of its kind each choice is; choices that are the best cost nothing."""

    pairs: Float64s  # of labels
    relations: Float64s  # (words, 2): of having a head, of being the root
    tops: Float32s  # (words, stacks): the best of the depths
    depths: Float32s  # (words, stacks, depths), as they are


class Workspace(NamedTuple):
    """Room for the states of one sentence after the other."""

    keys: Int64s
    identities: Int64s  # by which states are told apart: their keys, or these and their stacks
    tops: Int32s  # (states, 4): the stacks of each state, if they are known
    losses: Float64s  # of the best way to each state
    sources: Int32s
    pairs: Int32s
    table: Int64s  # in which a word's states are found
    stamp: Int64s  # (1,): how many words have used the table
    stacks: Stacks


@compiled()
def shortfalls_of(pairs: Pairs, start: int, costs: Costs) -> Shortfalls:
    """Of all words that have pairs, the first of which is word `start`."""
    words, stacks = len(pairs.starts) - 1, costs.depths.shape[1]
    depths = costs.depths[start : start + words]
    of_pairs, relations = np.empty(len(pairs.scores)), np.empty((words, 2))
    tops = np.empty((words, stacks), dtype=np.float32)
    for word in range(words):
        for pair in range(pairs.starts[word], pairs.starts[word + 1]):
            of_pairs[pair] = pairs.scores[pairs.starts[word]] - pairs.scores[pair]
        relation, root = np.float64(costs.relations[start + word]), np.float64(costs.roots[start + word])
        relations[word, 0], relations[word, 1] = max(root - relation, 0.0), max(relation - root, 0.0)
        for stack in range(stacks):
            top = depths[word, stack, 0]
            for depth in range(1, depths.shape[2]):
                top = max(top, depths[word, stack, depth])
            tops[word, stack] = top
    return Shortfalls(of_pairs, relations, tops, depths)


@compiled()
def workspace_for(offsets: Int64s, pairs: Pairs, limits: SearchLimits, labels: LabelEffects, known: bool) -> Workspace:
    """Room for any of the sentences, and for any word's states before only the best of them go on.

    `known` says whether states know their stacks.
    """
    room, most_new, nodes = 0, 0, 0
    for s in range(len(offsets) - 1):
        first, end, most = offsets[s] - offsets[0], offsets[s + 1] - offsets[0], 0
        for word in range(first, end):
            most = max(most, pairs.starts[word + 1] - pairs.starts[word])
        beam = beam_for(limits, pairs.starts[end] - pairs.starts[first])
        room, most_new = max(room, beam * (end - first + most)), max(most_new, beam * most)
        if known:
            nodes = max(nodes, beam * count_moves(pairs, first, end, labels))
    slots = 256
    while slots < 2 * most_new:
        slots *= 2
    keys, losses = np.empty(room + 2, dtype=np.int64), np.empty(room + 2)
    identities = np.empty(room + 2, dtype=np.int64) if known else keys
    tops = np.empty((room + 2 if known else 1, 4), dtype=np.int32)
    sources, by = np.empty(room + 2, dtype=np.int32), np.empty(room + 2, dtype=np.int32)
    table, stamp = np.zeros(slots, dtype=np.int64), np.zeros(1, dtype=np.int64)
    return Workspace(keys, identities, tops, losses, sources, by, table, stamp, empty_stacks(nodes))


@compiled()
def quickest(
    first: int,
    start: int,
    words: int,
    pairs: Pairs,
    lost: Shortfalls,
    problem: Problem,
    limits: SearchLimits,
    work: Workspace,
) -> Int32s:
    """The pairs on the best path if it is not too far below the best labels of all; or nothing.

    The sentence starts at `first` among all words that have pairs, and at `start` among all words.
    """
    beam = beam_for(limits, pairs.starts[first + words] - pairs.starts[first])
    closable = closable_depths(pairs, first, words)
    path, most = np.zeros(0, dtype=np.int32), np.inf
    if problem.arcs.known:
        for states, margin in ((min(FEWEST, beam), limits.margin / 2), (beam, limits.margin)):
            state = find_path(first, start, words, pairs, lost, problem, closable, most, margin, states, work)
            if state >= 0:
                path, most = _spell_out(state, words, work), work.losses[state]
        return path
    for shortfall in SHORTFALLS:
        state = find_path(first, start, words, pairs, lost, problem, closable, shortfall, np.inf, beam, work)
        if state >= 0:
            return _spell_out(state, words, work)
    return path


@compiled()
def _spell_out(state: int, words: int, work: Workspace) -> Int32s:
    """The pairs on the best way to a state."""
    path = np.empty(words, dtype=np.int32)
    for word in range(words - 1, -1, -1):
        path[word], state = work.pairs[state], work.sources[state]
    return path


@compiled()
def find_path(
    first: int,
    start: int,
    words: int,
    pairs: Pairs,
    lost: Shortfalls,
    problem: Problem,
    closable: Int64s,
    most: float,
    margin: float,
    beam: int,
    work: Workspace,
) -> int:
    """The last state of the best path of a sentence, if what it falls short of the best is within `most`; or -1.

    It is the best path of the lattice as well: states that have lost more already cannot be on it.
    """
    arcs, tops = problem.arcs, np.zeros(4, dtype=np.int32)
    clear_stacks(work.stacks)
    work.keys[0], work.losses[0] = 0, 0.0
    work.tops[0] = EMPTY_STACKS
    begin, states = 0, 1
    for word in range(words):
        at, end, highest = first + word, states, most
        work.stamp[0] += 1
        stamp = work.stamp[0]
        for source in range(begin, end):
            key, base = work.keys[source], work.losses[source]
            for pair in range(pairs.starts[at], pairs.starts[at + 1]):
                loss = base + lost.pairs[pair]
                if loss > highest:
                    break
                after = next_state(key, pairs.needs[pair], pairs.changes[pair], pairs.kinds[pair], closable[word + 1])
                if after < 0:
                    continue
                loss += _loss_beside(key, after, pairs.kinds[pair], at, lost)
                loss += root_loss(arcs, key, pairs.kinds[pair], start + word)
                if loss > highest:
                    continue
                identity = after
                if arcs.known:
                    for stack in range(4):
                        tops[stack] = work.tops[source, stack]
                    loss += move_stacks(
                        word,
                        start,
                        pairs.labels[pair, 0],
                        pairs.labels[pair, 1],
                        problem.labels,
                        tops,
                        work.stacks,
                        arcs,
                    )
                    if loss > highest:
                        continue
                    identity = identity_of(after, tops)
                highest = min(highest, loss + margin)
                slot = find_slot(identity, work.table, work.identities, stamp)
                state = work.table[slot] & NUMBER
                if work.table[slot] >> STAMP != stamp:
                    state = states
                    work.table[slot] = stamp << STAMP | state
                    work.keys[state], work.losses[state] = after, np.inf
                    work.sources[state], work.pairs[state] = source, pair
                    if arcs.known:
                        work.identities[state] = identity
                        for stack in range(4):
                            work.tops[state, stack] = tops[stack]
                    states += 1
                if loss < work.losses[state]:
                    work.losses[state], work.sources[state], work.pairs[state] = loss, source, pair
        begin, states = end, _narrow(end, states, beam, work)
    last = lost.relations[first + words - 1, 1] + root_loss(arcs, HEADLESS, 0, start + words)
    return _best_end(begin, states, last, most, work)


@compiled(inline=True)
def _loss_beside(key: int, after: int, kind: int, at: int, lost: Shortfalls) -> float:
    """What relations and depths lose by a pair of labels that leads from one state to another."""
    loss = 0.0
    if key & HEADLESS:
        loss += lost.relations[at - 1, 0 if kind & OPENS_LEFT else 1]
    if kind & CLOSES_RIGHT:
        loss += lost.relations[at, 0]
    for stack in range(lost.depths.shape[1]):
        depth = depth_of(after, stack, lost.depths.shape[2] - 1)
        loss += lost.tops[at, stack] - lost.depths[at, stack, depth]
    return loss


@compiled()
def _best_end(begin: int, end: int, root_loss: float, most: float, work: Workspace) -> int:
    """The best of the last word's states with which a sentence may end; `root_loss` is the cost of its being root."""
    best = -1
    for state in range(begin, end):
        if work.keys[state] & HEADLESS:
            work.losses[state] += root_loss
        if (
            may_end(work.keys[state])
            and work.losses[state] <= most
            and (best < 0 or work.losses[state] < work.losses[best])
        ):
            best = state
    return best


@compiled()
def _narrow(begin: int, end: int, beam: int, work: Workspace) -> int:
    """Keep the best of one word's states, and say where they end."""
    if end - begin <= beam:
        return end
    lowest, count = np.empty(beam), 0
    for state in range(begin, end):
        loss = work.losses[state]
        if count < beam:
            count += 1
        elif loss >= lowest[beam - 1]:
            continue
        place = count - 1
        while place > 0 and lowest[place - 1] > loss:
            lowest[place] = lowest[place - 1]
            place -= 1
        lowest[place] = loss
    kept, equal = begin, 0  # of those as good as the worst that is kept, the first are
    for place in range(beam):
        equal += lowest[place] == lowest[beam - 1]
    for state in range(begin, end):
        loss = work.losses[state]
        if kept - begin < beam and (loss < lowest[beam - 1] or (loss == lowest[beam - 1] and equal > 0)):
            equal -= loss == lowest[beam - 1]
            work.keys[kept], work.losses[kept] = work.keys[state], loss
            work.sources[kept], work.pairs[kept] = work.sources[state], work.pairs[state]
            if len(work.tops) > 1:
                for stack in range(4):
                    work.tops[kept, stack] = work.tops[state, stack]
            kept += 1
    return kept
