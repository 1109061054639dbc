"""The lattice of well-formed label sequences of a sentence: its best path, its n best, and how likely its edges are.

The label sequences of a sentence are paths through states. A path that ends with empty stacks and one root gives each
word one head. Whether heads form a cycle only the whole path tells: cyclic paths are passed over when they are read.
"""

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np

from biplanar.compiled import compiled
from biplanar.data.arrays import Float32s, Float64s, Int32s, Int64s
from biplanar.decoding.lattice.arcs import Stacks, closed_arcs, empty_stacks, identity_of, move_stacks, root_loss
from biplanar.decoding.lattice.pairs import (
    Costs,
    Pairs,
    Problem,
    SearchLimits,
    beam_for,
    closable_depths,
    count_moves,
    make_pairs,
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
from biplanar.decoding.lattice.trees import closes_cycle, has_cycle, heads_of, no_history, remember

# What arcs are less likely than this is not added up.
LEAST_LIKELY = 1e-6


class Lattice(NamedTuple):
    """States word by word; state 0 is the beginning, the last one the end. Edges into a state are a linked list."""

    states: int
    bests: Float64s  # of all ways to a state
    owns: Float64s  # a state's own score
    best_edge: Int32s
    last_edge: Int32s
    next_edge: Int32s
    source: Int32s
    pair: Int32s
    score: Float64s
    keys: Int64s
    tops: Int32s  # (states, 4): each state's stacks, if they are known
    stacks: Stacks


@compiled()
def lattice_of(start: int, words: int, problem: Problem, limits: SearchLimits, acyclic: bool) -> tuple[Pairs, Lattice]:
    """A sentence's pairs of labels, and its lattice."""
    offsets = np.array([start, start + words])
    pairs = make_pairs(offsets, problem, limits.least)
    return pairs, build_lattice(start, pairs, problem, limits, acyclic)


@compiled()
def build_lattice(start: int, pairs: Pairs, problem: Problem, limits: SearchLimits, acyclic: bool) -> Lattice:
    """Extend states word by word; equal ones become one, and the best go on.

    Where no way leads to the end, `states` is 0. If `acyclic`, labels that would close a cycle on the best way to a
    state are not taken from there, so that the best path has none; but ways that are lost so are not looked for.
    """
    labels, costs, arcs = problem.labels, problem.costs, problem.arcs
    words, beam = len(pairs.starts) - 1, beam_for(limits, len(pairs.scores))
    room, slots = _room(pairs, beam)
    table = np.zeros(slots, dtype=np.int64)
    keys, bests, owns, score_of = np.empty(room, np.int64), np.empty(room), np.empty(room), np.empty(room)
    identities = np.empty(room, np.int64) if arcs.known else keys
    all_tops, tops = np.empty((room if arcs.known else 1, 4), np.int32), np.empty(4, np.int32)
    stacks = empty_stacks(beam * count_moves(pairs, 0, words, labels) if arcs.known else 0)
    for stack in range(4):
        all_tops[0, stack] = stack
    best_edge, last_edge, next_edge = np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room, np.int32)
    source_of, pair_of = np.empty(room, np.int32), np.empty(room, np.int32)
    history = no_history(words, pairs, labels, acyclic)
    closable = closable_depths(pairs, 0, words)
    keys[0], bests[0], owns[0], last_edge[0] = 0, 0.0, 0.0, -1
    kept, states, edges = np.zeros(1, dtype=np.int64), 1, 0
    for word in range(words):
        first, highest = states, -np.inf
        for source in kept:
            key, base = keys[source], bests[source]
            if acyclic:
                remember(history, word, int(source), best_edge, source_of, pair_of, pairs, labels)
            for pair in range(pairs.starts[word], pairs.starts[word + 1]):
                if base + pairs.scores[pair] < highest - limits.margin:
                    break
                after = next_state(key, pairs.needs[pair], pairs.changes[pair], pairs.kinds[pair], closable[word + 1])
                if after < 0:
                    continue
                score = pairs.scores[pair] + _relation_score(key, pairs.kinds[pair], start + word, costs)
                score -= root_loss(arcs, key, pairs.kinds[pair], start + word)
                if base + score < highest - limits.margin:
                    continue
                identity = after
                if arcs.known:
                    for stack in range(4):
                        tops[stack] = all_tops[source, stack]
                    score -= move_stacks(
                        word, start, pairs.labels[pair, 0], pairs.labels[pair, 1], labels, tops, stacks, arcs
                    )
                    if base + score < highest - limits.margin:
                        continue
                    identity = identity_of(after, tops)
                if acyclic and closes_cycle(history, word, pairs.labels[pair], labels):
                    continue
                highest = max(highest, base + score)
                slot = find_slot(identity, table, identities, word + 1)
                if table[slot] >> STAMP != word + 1:
                    table[slot] = (word + 1) << STAMP | states
                    keys[states], bests[states], last_edge[states], best_edge[states] = after, -np.inf, -1, edges
                    owns[states] = _depth_score(after, start + word, costs.depths)
                    if arcs.known:
                        identities[states] = identity
                        for stack in range(4):
                            all_tops[states, stack] = tops[stack]
                    states += 1
                state = table[slot] & NUMBER
                next_edge[edges], source_of[edges], pair_of[edges] = last_edge[state], source, pair
                last_edge[state], score_of[edges] = edges, score
                if base + score > bests[state]:
                    bests[state], best_edge[state] = base + score, edges
                edges += 1
        kept = _best_states(first, states, bests, owns, beam)
    end = states
    bests[end], owns[end], last_edge[end], best_edge[end] = -np.inf, 0.0, -1, edges
    for source in kept:
        if may_end(keys[source]):
            score = np.float64(costs.roots[start + words - 1]) if keys[source] & HEADLESS else 0.0
            score -= root_loss(arcs, keys[source], 0, start + words)
            next_edge[edges], source_of[edges], pair_of[edges] = last_edge[end], source, -1
            last_edge[end], score_of[edges] = edges, score
            if bests[source] + score > bests[end]:
                bests[end], best_edge[end] = bests[source] + score, edges
            edges += 1
    found = end + 1 if last_edge[end] >= 0 else 0
    return Lattice(
        found, bests, owns, best_edge, last_edge, next_edge, source_of, pair_of, score_of, keys, all_tops, stacks
    )


@compiled()
def _relation_score(key: int, kind: int, at: int, costs: Costs) -> float:
    """The relations that a pair of labels decides on: the word's own, if it closes its arc, and the previous word's."""
    score = np.float64(0.0)
    if key & HEADLESS:
        score += costs.relations[at - 1] if kind & OPENS_LEFT else costs.roots[at - 1]
    if kind & CLOSES_RIGHT:
        score += costs.relations[at]
    return score


@compiled()
def _depth_score(key: int, at: int, depths: Float32s) -> float:
    score = np.float64(0.0)
    for stack in range(depths.shape[1]):
        score += depths[at, stack, depth_of(key, stack, depths.shape[2] - 1)]
    return score


@compiled()
def _room(pairs: Pairs, beam: int) -> tuple[int, int]:
    """How many states and edges there may be, and how large a table finds a word's states quickly."""
    most = 0
    for word in range(len(pairs.starts) - 1):
        most = max(most, pairs.starts[word + 1] - pairs.starts[word])
    slots = 256
    while slots < 2 * beam * most:
        slots *= 2
    return beam * (len(pairs.scores) + 1) + 2, slots


@compiled()
def _best_states(first: int, end: int, bests: Float64s, owns: Float64s, beam: int) -> Int64s:
    """Of one word's states, whose own scores are added here, the best, best first."""
    kept, count = np.empty(min(beam, end - first), dtype=np.int64), 0
    for state in range(first, end):
        bests[state] += owns[state]
        if count < len(kept):
            count += 1
        elif bests[state] <= bests[kept[count - 1]]:
            continue
        place = count - 1
        while place > 0 and bests[kept[place - 1]] < bests[state]:
            kept[place] = kept[place - 1]
            place -= 1
        kept[place] = state
    return kept


@compiled()
def best_path(lattice: Lattice, words: int) -> Int32s:
    """The pairs on the best path."""
    path, state = np.empty(words, dtype=np.int32), lattice.source[lattice.best_edge[lattice.states - 1]]
    for word in range(words - 1, -1, -1):
        edge = lattice.best_edge[state]
        path[word], state = lattice.pair[edge], lattice.source[edge]
    return path


@compiled()
def next_paths(
    lattice: Lattice, pairs: Pairs, labels: LabelEffects, wanted: int, most: int
) -> tuple[Int32s, Int32s, Float64s]:
    """Read paths off the lattice, best first, until `wanted` different trees came, or `most` nodes were looked at.

    Paths are searched backwards; as the best way to each state is known already, they come in order of their scores.
    """
    words, found = len(pairs.starts) - 1, 0
    paths, trees = np.empty((wanted, words), dtype=np.int32), np.empty((wanted, words), dtype=np.int32)
    scores = np.empty(wanted)
    if not lattice.states:  # the path that a quicker search found may be beyond this lattice's beam
        return paths[:0], trees[:0], scores[:0]
    goal = lattice.states - 1
    nodes = [(goal, -1, -1, 0.0)]  # state, the node after it, the edge to that, the score from here to the end
    agenda = [(-lattice.bests[goal], 0)]
    while agenda and found < wanted and len(nodes) < most:
        rank, node = heapq.heappop(agenda)
        state, _, _, score = nodes[node]
        if state == 0:
            path = _spell_out(node, nodes, lattice, words)
            heads = heads_of(path, pairs, labels)
            if not has_cycle(heads) and not _among(heads, trees[:found]):
                paths[found], trees[found], scores[found] = path, heads, -rank
                found += 1
            continue
        edge = int(lattice.last_edge[state])
        while edge >= 0:
            source, onward = int(lattice.source[edge]), score + lattice.score[edge] + lattice.owns[state]
            nodes.append((source, node, edge, onward))
            heapq.heappush(agenda, (-(lattice.bests[source] + onward), len(nodes) - 1))
            edge = int(lattice.next_edge[edge])
    return paths[:found], trees[:found], scores[:found]


@compiled()
def _spell_out(node: int, nodes: list[tuple[int, int, int, float]], lattice: Lattice, words: int) -> Int32s:
    """The pairs on the path from a node on."""
    path = np.empty(words, dtype=np.int32)
    for word in range(words):
        _, after, edge, _ = nodes[node]
        path[word], node = lattice.pair[edge], after
    return path


@compiled()
def _among(heads: Int32s, trees: Int32s) -> bool:
    for tree in trees:  # noqa: SIM110 (the compiler takes no generators)
        if (tree == heads).all():
            return True
    return False


class Edges(NamedTuple):
    """How likely edges are, and which arcs they close."""

    likelihoods: Float64s  # by edge
    starts: Int64s  # where each edge's arcs start
    arcs: Int32s  # (arcs, 2): dependents and heads, 0 for the root


@compiled()
def likely_edges(lattice: Lattice, pairs: Pairs, labels: LabelEffects, share: float) -> Edges:
    """How likely the edges of a lattice are whose states know their stacks, by all paths that lead through them.

    All scores count `share` times: below 1, what is likely becomes less so.
    """
    sums, after = _forward_sums(lattice, share), np.full(lattice.states, -np.inf)
    after[-1] = 0.0  # of all ways from each state to the end
    edges = lattice.last_edge[lattice.states - 1] + 1  # the last one leads to the end
    likelihoods = np.zeros(edges)
    for state in range(lattice.states - 1, 0, -1):
        onward, edge = after[state] + share * lattice.owns[state], lattice.last_edge[state]
        while edge >= 0 and after[state] > -np.inf:
            source = lattice.source[edge]
            way = onward + share * lattice.score[edge]
            after[source] = np.logaddexp(after[source], way)
            likelihoods[edge] = np.exp(sums[source] + way - sums[-1])
            edge = lattice.next_edge[edge]
    return _closed_by(likelihoods, lattice, pairs, labels)


@compiled()
def _closed_by(likelihoods: Float64s, lattice: Lattice, pairs: Pairs, labels: LabelEffects) -> Edges:
    """The arcs of all edges that are at all likely."""
    word_of = np.zeros(lattice.states, dtype=np.int32)
    for state in range(1, lattice.states):
        word_of[state] = word_of[lattice.source[lattice.last_edge[state]]] + 1
    starts, tops = np.zeros(len(likelihoods) + 1, dtype=np.int64), np.empty(4, dtype=np.int32)
    arcs, count = np.empty((4 * len(likelihoods) + 64, 2), dtype=np.int32), 0
    for edge in range(len(likelihoods)):
        if likelihoods[edge] > LEAST_LIKELY:
            source, pair = lattice.source[edge], lattice.pair[edge]
            word, most = word_of[source], 1
            if pair >= 0:
                for label in pairs.labels[pair]:
                    most += labels.starts[label + 1] - labels.starts[label]
            if count + most > len(arcs):
                arcs = np.concatenate((arcs, np.empty((len(arcs) + most, 2), dtype=np.int32)))
            if lattice.keys[source] & HEADLESS and (pair < 0 or not pairs.kinds[pair] & OPENS_LEFT):
                arcs[count, 0], arcs[count, 1] = word, 0
                count += 1
            if pair >= 0:
                tops[:] = lattice.tops[source]
                count += closed_arcs(word, pairs.labels[pair], labels, tops, lattice.stacks, arcs[count:])
        starts[edge + 1] = count
    return Edges(likelihoods, starts, arcs[:count])


@compiled()
def _forward_sums(lattice: Lattice, share: float) -> Float64s:
    """The log of the summed probabilities of all ways to each state, its own score included."""
    sums = np.full(lattice.states, -np.inf)
    sums[0] = 0.0
    for state in range(1, lattice.states):
        highest, edge = -np.inf, lattice.last_edge[state]
        while edge >= 0:
            highest = max(highest, sums[lattice.source[edge]] + share * lattice.score[edge])
            edge = lattice.next_edge[edge]
        total, edge = 0.0, lattice.last_edge[state]
        while edge >= 0:
            total += np.exp(sums[lattice.source[edge]] + share * lattice.score[edge] - highest)
            edge = lattice.next_edge[edge]
        sums[state] = highest + np.log(total) + share * lattice.owns[state]
    return sums
