"""The beam: states of a sentence's label sequences, word by word, and the best ways to them.

The label sequences of a sentence are paths through states. A path that ends with empty stacks and one root gives each
word one head; whether heads form a cycle only the whole path tells. Where arcs count, states know what is on their
stacks, so that every arc has its score when it is closed. A stack is a node: its top word and the node below. Equal
stacks are one node, so that states with equal stacks can become one.

The loop reads and writes arrays that are named before it: tuples of arrays that are passed on inside would be counted.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from biplanar.compiled import compiled
from biplanar.data.arrays import Float64s, Int32s, Int64s
from biplanar.decoding.lattice.problem import FEWEST, Problem, SearchLimits, beam_for
from biplanar.decoding.lattice.states import (
    CLOSES_RIGHT,
    DEEPEST,
    FIELD,
    HEADLESS,
    NUMBER,
    OPENS_LEFT,
    ROOT_USED,
    STAMP,
    find_slot,
    next_state,
    unpacked,
)
from biplanar.decoding.lattice.trees import closes_cycle, no_history, remember
from biplanar.encodings.stacks import POP_HEAD, is_push, stack_of

# Large odd numbers by which a state's numbers become one.
FACTORS = (-7046029254386353131, -4417276706812531889, 1609587929392839161, -8663945395140668459, 2870177450012600261)

# How much less likely than the best labels of all a path is that is looked for, before a whole lattice is built.
SHORTFALLS = (2.0, 5.0, 12.0, 30.0)

# What is looked for: the best path; all ways to all states; the best path of which no part has a cycle.
BEST, ALL, ACYCLIC = range(3)


class Beams(NamedTuple):
    """Room for the states of one sentence after the other; state 0 is the beginning."""

    keys: Int64s
    identities: Int64s  # by which states are told apart: their keys, or these and their stacks
    tops: Int32s  # (states, 4): the stacks of each state, if they are known
    losses: Float64s  # of the best way to each state
    sources: Int32s  # the state before, on the best way
    pairs: Int32s  # and the pair of labels that leads from there
    table: Int64s  # in which a word's states are found
    stamp: Int64s  # (1,): how many words have used the table
    words: Int32s  # of nodes of stacks, the first four of which are empty stacks
    below: Int32s
    last: Int32s  # the node that was last put on each; of the words that are put on it, only the last is asked for
    bounds: Float64s  # (words + 1, 4): what is to come loses at least, by whether the last word is headless, root used
    closable: Int64s  # (words + 1,)
    roots: Float64s  # (words,): what each word loses by being the root
    # All edges, if they are wanted; those into a state are a linked list.
    last_edge: Int32s
    next_edge: Int32s
    edge_source: Int32s
    edge_pair: Int32s  # -1: to the end
    edge_loss: Float64s


@compiled()
def beams_for(offsets: Int64s, problem: Problem, limits: SearchLimits, mode: int) -> Beams:
    """Room for any of the sentences, and for any word's states before only the best of them go on."""
    starts, pairs, moves_of = problem.starts, problem.pairs, problem.labels.starts
    room, most_new, nodes, edges, longest = 0, 0, 0, 0, 0
    for s in range(len(offsets) - 1):
        most, moves, total = 0, 0, starts[offsets[s + 1]] - starts[offsets[s]]
        for at in range(offsets[s], offsets[s + 1]):
            most = max(most, starts[at + 1] - starts[at])
        for pair in range(starts[offsets[s]], starts[offsets[s + 1]]):
            for plane in range(2):
                moves += moves_of[pairs[pair, plane] + 1] - moves_of[pairs[pair, plane]]
        beam, words = beam_for(limits, total), offsets[s + 1] - offsets[s]
        room, most_new = max(room, beam * (words + most)), max(most_new, beam * most)
        nodes, edges, longest = max(nodes, beam * moves), max(edges, beam * (total + 1)), max(longest, words)
    slots = 256
    while slots < 2 * most_new:
        slots *= 2
    room, nodes, edges = room + 2, nodes + 4 if problem.known else 4, edges + 2 if mode == ALL else 0
    keys = np.empty(room, np.int64)
    return Beams(
        keys,
        np.empty(room, np.int64) if problem.known else keys,
        np.empty((room if problem.known else 1, 4), np.int32),
        np.empty(room),
        np.empty(room, np.int32),
        np.empty(room, np.int32),
        np.zeros(slots, np.int64),
        np.zeros(1, np.int64),
        np.empty(nodes, np.int32),
        np.empty(nodes, np.int32),
        np.empty(nodes, np.int32),
        np.zeros((longest + 1, 4)),
        np.zeros(longest + 1, np.int64),
        np.empty(longest),
        np.empty(room if edges else 0, np.int32),
        np.empty(edges, np.int32),
        np.empty(edges, np.int32),
        np.empty(edges, np.int32),
        np.empty(edges),
    )


@compiled(inline=True)
def _flags(key: int) -> int:
    return (key & HEADLESS != 0) + 2 * (key & ROOT_USED != 0)


@compiled()
def prepare(start: int, words: int, problem: Problem, mode: int, beams: Beams) -> None:
    """What is known of a sentence before it is searched, from its end to its beginning.

    That is how deep each stack may be after each word, so that the words to come could still empty it, four depths in
    one; and what these lose at least by pairs, relations and the root's arc, whatever the stacks hold.
    """
    starts, losses, changes, kinds = problem.starts, problem.losses, problem.changes, problem.kinds
    relations, heads, arcs, others = problem.relations, problem.heads, problem.arcs, problem.others
    bounds, closable, roots, least = beams.bounds, beams.closable, beams.roots, np.empty(4)
    room, most = np.zeros(4, dtype=np.int64), np.zeros(4, dtype=np.int64)
    closable[words] = 0
    for flags in range(4):
        bounds[0, flags] = bounds[words, flags] = 0.0
    for word in range(words - 1, -1, -1):
        at = start + word
        root = relations[at, 1]
        if problem.known:
            arc = others[at]
            for place in range(heads.shape[1]):
                if heads[at, place] == 0:
                    arc = arcs[at, place]
            root += arc
        roots[word] = root
        if word == words - 1:  # one word is the root, and only one
            bounds[words, 0], bounds[words, 1], bounds[words, 3] = np.inf, root, np.inf
        elif mode == BEST:
            # of the next word's pairs, which open this word's arc, close the next one's own, or both
            bounds[word + 1, 1] = min(
                relations[at, 0] + min(least[1] + bounds[word + 2, 1], least[3] + bounds[word + 2, 0]),
                root + min(least[0] + bounds[word + 2, 3], least[2] + bounds[word + 2, 2]),
            )
            bounds[word + 1, 3] = relations[at, 0] + min(least[1] + bounds[word + 2, 3], least[3] + bounds[word + 2, 2])
            bounds[word + 1, 0] = min(least[0] + bounds[word + 2, 1], least[2] + bounds[word + 2, 0])
            bounds[word + 1, 2] = min(least[0] + bounds[word + 2, 3], least[2] + bounds[word + 2, 2])
        else:
            bounds[word + 1] = 0.0
        least[:] = np.inf
        most[:] = 0
        for pair in range(starts[at], starts[at + 1]):
            kind = kinds[pair] & (OPENS_LEFT | CLOSES_RIGHT)
            least[kind] = min(least[kind], losses[pair] + (relations[at, 0] if kind & CLOSES_RIGHT else 0.0))
            for stack in range(4):
                most[stack] = max(most[stack], -unpacked(changes[pair], stack))
        closable[word] = 0
        for stack in range(4):
            room[stack] = min(room[stack] + most[stack], DEEPEST)
            closable[word] |= room[stack] << (FIELD * stack)


@compiled()
def find_paths(
    start: int, words: int, problem: Problem, most: float, margin: float, beam: int, mode: int, beams: Beams
) -> tuple[int, float]:
    """Extend states word by word; equal ones become one, and the best go on, as far as `margin` below the best.

    Gives the last state of the best path, if that loses no more than `most`, or -1; and what paths lose at least that
    were left out on the way. With `ALL`, the state behind all last ones.
    """
    labels, starts, pairs, losses_of, needs, changes, kinds, relations, depths_of = problem[:9]
    known, heads, arcs, others, lefts, rights = problem[9:15]
    moves, moves_of = labels.moves, labels.starts
    keys, identities, all_tops, losses, sources, chosen, table, stamps, node_words, below, last = beams[:11]
    bounds, closable, roots, last_edge, next_edge, edge_source, edge_pair, edge_loss = beams[11:]
    tops, lowest = np.zeros(4, dtype=np.int32), np.empty(beam)
    stacks, deepest, most_heads, mask = depths_of.shape[1], depths_of.shape[2] - 1, heads.shape[1], len(table) - 1
    history = no_history(start, words, problem, mode == ACYCLIC)
    for stack in range(4):
        node_words[stack], below[stack], last[stack], all_tops[0, stack] = 0, 0, -1, stack
    keys[0], losses[0], dropped = 0, 0.0, np.inf
    if mode == ALL:
        last_edge[0] = -1
    begin, states, nodes, edges = 0, 1, 4, 0
    for word in range(words):
        at, end, to_come = start + word, states, bounds[word + 1].min()
        highest = most - to_come
        stamps[0] += 1
        stamp = stamps[0]
        for source in range(begin, end):
            key, base = keys[source], losses[source]
            if mode == ACYCLIC:
                remember(history, word, source, sources, chosen, problem)
            for pair in range(starts[at], starts[at + 1]):
                loss = base + losses_of[pair]
                if not loss <= highest:
                    dropped = min(dropped, loss + to_come)
                    break
                kind = kinds[pair]
                after = next_state(key, needs[pair], changes[pair], kind, closable[word + 1])
                if after < 0:
                    continue
                bound = bounds[word + 1, _flags(after)]
                if key & HEADLESS and kind & OPENS_LEFT:
                    loss += relations[at - 1, 0]
                elif key & HEADLESS:
                    loss += roots[word - 1]
                if kind & CLOSES_RIGHT:
                    loss += relations[at, 0]
                own = 0.0  # of the depths of stacks; the margin of whole lattices does not count it
                for stack in range(stacks):
                    own += depths_of[at, stack, min(after >> (FIELD * stack) & DEEPEST, deepest)]
                if mode == BEST:
                    loss, own = loss + own, 0.0
                if not (loss <= highest and loss + bound <= most):
                    dropped = min(dropped, loss + bound)
                    continue
                identity = after
                if known:
                    for stack in range(4):
                        tops[stack] = all_tops[source, stack]
                    for plane in range(2):
                        label = pairs[pair, plane]
                        for number in range(moves_of[label], moves_of[label + 1]):
                            move = moves[number]
                            stack = stack_of(move, plane)
                            top = tops[stack]
                            if is_push(move):
                                node = last[top]
                                if node < 0 or node_words[node] != word:
                                    node = nodes
                                    node_words[node], below[node], last[node], last[top] = word, top, -1, node
                                    nodes += 1
                                tops[stack] = node
                                continue
                            partner = node_words[top]
                            tops[stack] = below[top]
                            dependent, head = at, partner
                            if move == POP_HEAD:
                                loss -= lefts[dependent]
                            else:
                                dependent, head = start + partner - 1, word + 1
                                loss -= rights[dependent]
                            arc = others[dependent]
                            for place in range(most_heads):
                                if heads[dependent, place] == head:
                                    arc = arcs[dependent, place]
                                    break
                            loss += arc
                    if not (loss <= highest and loss + bound <= most):
                        dropped = min(dropped, loss + bound)
                        continue
                    identity = after * FACTORS[4]
                    for stack in range(4):
                        identity += tops[stack] * FACTORS[stack]
                    identity ^= identity >> 32
                if mode == ACYCLIC and closes_cycle(history, word, pairs[pair], labels):
                    continue
                highest = min(highest, loss + margin)
                loss += own
                slot = find_slot(identity, table, identities, stamp, mask)
                state = table[slot] & NUMBER
                if table[slot] >> STAMP != stamp:
                    state = states
                    table[slot] = stamp << STAMP | state
                    keys[state], losses[state], sources[state], chosen[state] = after, np.inf, source, pair
                    if known:
                        identities[state] = identity
                        for stack in range(4):
                            all_tops[state, stack] = tops[stack]
                    if mode == ALL:
                        last_edge[state] = -1
                    states += 1
                if loss < losses[state]:
                    losses[state], sources[state], chosen[state] = loss, source, pair
                if mode == ALL:
                    next_edge[edges], edge_source[edges], edge_pair[edges] = last_edge[state], source, pair
                    edge_loss[edges], last_edge[state] = loss - base, edges
                    edges += 1
        begin = end
        if mode != BEST:  # whole lattices go on best first, so that the margin leaves out what it can
            order = end + np.argsort(losses[end:states], kind="mergesort")[:beam]
            states = end + len(order)
            keys[end:states], losses[end:states] = keys[order], losses[order]
            sources[end:states], chosen[end:states] = sources[order], chosen[order]
            if known:
                all_tops[end:states] = all_tops[order]
            if mode == ALL:
                last_edge[end:states] = last_edge[order]
            continue
        if states - end <= beam:
            continue
        count = 0
        for state in range(end, states):
            loss = losses[state]
            if count < beam:
                count += 1
            elif not loss < lowest[beam - 1]:
                continue
            place = count - 1
            while place > 0 and lowest[place - 1] > loss:
                lowest[place] = lowest[place - 1]
                place -= 1
            lowest[place] = loss
        kept, limit, equal = end, lowest[beam - 1], 0  # of those as good as the worst that is kept, the first are
        for place in range(beam):
            equal += lowest[place] == limit
        for state in range(end, states):
            loss = losses[state]
            if kept - end < beam and (loss < limit or (loss == limit and equal > 0)):
                equal -= loss == limit
                keys[kept], losses[kept], sources[kept], chosen[kept] = keys[state], loss, sources[state], chosen[state]
                if known:
                    for stack in range(4):
                        all_tops[kept, stack] = all_tops[state, stack]
                kept += 1
            else:
                dropped = min(dropped, loss + bounds[word + 1, _flags(keys[state])])
        states = kept
    best, total = -1, most
    if mode == ALL:
        last_edge[states] = -1
    for state in range(begin, states):
        loss = losses[state] + bounds[words, _flags(keys[state])]
        if loss < np.inf and (loss < total or (best < 0 and loss == total)):
            best, total = state, loss
        if mode == ALL and loss < np.inf:
            next_edge[edges], edge_source[edges], edge_pair[edges] = last_edge[states], state, -1
            edge_loss[edges], last_edge[states] = loss - losses[state], edges
            edges += 1
    if best >= 0 and mode == ALL:
        losses[states], sources[states] = total, best
        best = states
    elif best >= 0:
        losses[best] = total
    return best, dropped


@compiled()
def quickest(start: int, words: int, problem: Problem, limits: SearchLimits, beams: Beams) -> Int32s:
    """The pairs on the best path if it is not too far below the best labels of all; or nothing."""
    beam = beam_for(limits, problem.starts[start + words] - problem.starts[start])
    path, most = np.zeros(0, dtype=np.int32), np.inf
    prepare(start, words, problem, BEST, beams)
    if problem.known:
        for states, margin in ((min(FEWEST, beam), limits.margin / 2), (beam, limits.margin)):
            state, dropped = find_paths(start, words, problem, most, margin, states, BEST, beams)
            if state >= 0:
                path, most = spell_out(state, words, beams), beams.losses[state]
            if most <= dropped:  # nothing that was left out could be better
                break
        return path
    for shortfall in SHORTFALLS:
        state, _ = find_paths(start, words, problem, shortfall, np.inf, beam, BEST, beams)
        if state >= 0:
            return spell_out(state, words, beams)
    return path


@compiled()
def lattice_of(start: int, words: int, problem: Problem, limits: SearchLimits, mode: int) -> tuple[int, Beams]:
    """All ways to all states of a sentence, or the best without cycles; and the last state, -1 if there is none."""
    beams = beams_for(np.array([start, start + words]), problem, limits, mode)
    beam = beam_for(limits, problem.starts[start + words] - problem.starts[start])
    prepare(start, words, problem, mode, beams)
    return find_paths(start, words, problem, np.inf, limits.margin, beam, mode, beams)[0], beams


@compiled()
def spell_out(state: int, words: int, beams: Beams) -> Int32s:
    """The pairs on the best way to a state."""
    path = np.empty(words, dtype=np.int32)
    for word in range(words - 1, -1, -1):
        path[word], state = beams.pairs[state], beams.sources[state]
    return path
