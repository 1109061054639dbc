"""The lattice of well-formed label sequences of a sentence: its best path, its n best, and draws from its posterior.

Whether brackets balance depends only on how deep each stack is, so the label sequences of a sentence are paths through
states: the depths of the stacks, whether the root was used, and whether the previous word still has no head. A path
that ends with empty stacks and one root gives each word one head. Whether heads form a cycle only the whole path tells:
cyclic paths are passed over when paths are read off.
"""

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from biplanar.tree import Int32s, Int64s

Floats = NDArray[np.float64]

# Four depths in one number, each with a guard bit above it: one subtraction compares all four.
FIELD = 15
DEEPEST = (1 << (FIELD - 1)) - 1
GUARDS = sum(1 << (FIELD * stack + FIELD - 1) for stack in range(4))
DEPTHS = (1 << (4 * FIELD)) - 1
ROOT_USED, HEADLESS = 1 << (4 * FIELD), 1 << (4 * FIELD + 1)

# What a label does, beside what it takes from the stacks and puts there; the last is what no tree allows.
OPENS_LEFT, CLOSES_RIGHT, OPENS_RIGHT, IMPOSSIBLE = 1, 2, 4, 8

# The narrowest beam.
FEWEST = 8

# How many words of histories are gone through, at most, to build a lattice without cycles.
STEPS_WITHOUT_CYCLES = 16_000_000

# How a sentence was decided: the argmax was a tree; the best path was; the best path had a cycle; no path was found.
ARGMAX, BEST, CYCLIC, LOST = range(4)


class Labels(NamedTuple):
    """What each label does, the second plane's labels behind the first's."""

    needs: Int64s  # how deep each stack must be, four in one number
    changes: Int64s  # how much deeper each stack gets, four in one
    kinds: Int64s  # OPENS_LEFT, CLOSES_RIGHT, OPENS_RIGHT, IMPOSSIBLE
    symbols: NDArray[np.uint8]  # the brackets of all labels, end to end
    starts: Int64s  # where each label's brackets start
    second: int  # the first label of the second plane


class Candidates(NamedTuple):
    """The likeliest labels of each word, best first, the second plane's behind the first's."""

    starts: Int64s  # (2, words + 1)
    ids: Int32s
    logs: NDArray[np.float32]


class Costs(NamedTuple):
    """Log-probabilities of what is no bracket label; words of all sentences stand end to end."""

    relations: NDArray[np.float32]  # of each word's best relation if it has a head
    roots: NDArray[np.float32]  # and if it is the root
    depths: NDArray[np.float32]  # (words, stacks, depths) of the stacks after each word; no stacks: not known


class Problem(NamedTuple):
    """What is known of some sentences' labels."""

    candidates: Candidates
    labels: Labels
    costs: Costs


class Limits(NamedTuple):
    """How much is looked at."""

    beam: int  # states that go on from a word
    margin: float  # how far below the best one, at most
    least: float  # log-probability of a label that is not a word's best, at least
    edges: int  # of a sentence's lattice, in all; the beam is made narrower until they suffice
    nodes: int  # looked at in search of a path without a cycle


class Pairs(NamedTuple):
    """One label of each plane, for each word, best first."""

    starts: Int64s  # (words + 1,)
    labels: NDArray[np.int32]  # (pairs, 2)
    scores: Floats
    needs: Int64s
    changes: Int64s
    kinds: Int64s


class Lattice(NamedTuple):
    """States word by word; state 0 is the beginning, the last one the end. Edges into a state are a linked list."""

    states: int
    bests: Floats  # of all ways to a state
    owns: Floats  # a state's own score
    best_edge: Int32s
    last_edge: Int32s
    next_edge: Int32s
    source: Int32s
    pair: Int32s
    score: Floats


@njit(cache=True)
def likeliest(scores: NDArray[np.float32], mass: float, most: int) -> tuple[Int64s, Int32s, NDArray[np.float32]]:
    """Each word's likeliest labels, best first, up to a share of the probability: starts, labels, log-probabilities.

    At least one label a word. Labels too unlikely to matter are not even exponentiated.
    """
    words, labels = scores.shape
    starts = np.zeros(words + 1, dtype=np.int64)
    ids = np.empty(words * 4 + most, dtype=np.int32)
    logs = np.empty(len(ids), dtype=np.float32)
    order = np.empty(labels, dtype=np.int32)
    count = 0
    for word in range(words):
        row = scores[word]
        top = row[0]
        for label in range(labels):
            top = max(top, row[label])
        near, total = 0, 0.0
        for label in range(labels):
            if row[label] > top - 16:
                total += np.exp(row[label] - top)
                order[near] = label
                near += 1
        shift = top + np.log(total)
        if count + most > len(ids):
            ids = np.concatenate((ids, np.empty(len(ids) + most, dtype=np.int32)))
            logs = np.concatenate((logs, np.empty(len(logs) + most, dtype=np.float32)))
        seen, taken = 0.0, 0
        while taken < min(near, most) and seen < mass:
            best = taken
            for at in range(taken + 1, near):
                if row[order[at]] > row[order[best]]:
                    best = at
            label = order[best]
            # the others keep their order, so that the first of equal labels comes first
            for at in range(best, taken, -1):
                order[at] = order[at - 1]
            order[taken] = label
            ids[count] = label
            logs[count] = row[label] - shift
            seen += np.exp(row[label] - shift)
            count += 1
            taken += 1
        starts[word + 1] = count
    return starts, ids[:count].copy(), logs[:count].copy()


@njit(cache=True)
def make_pairs(start: int, words: int, candidates: Candidates, labels: Labels, least: float) -> Pairs:
    """All pairs of one label of each plane that each word may take."""
    total = 0
    for at in range(start, start + words):
        ones = candidates.starts[0, at + 1] - candidates.starts[0, at]
        total += ones * (candidates.starts[1, at + 1] - candidates.starts[1, at])
    starts, chosen = np.zeros(words + 1, dtype=np.int64), np.empty((total, 2), dtype=np.int32)
    scores, count = np.empty(total, dtype=np.float64), 0
    for word in range(words):
        count = _word_pairs(start + word, word == 0, candidates, labels, least, chosen, scores, count)
        starts[word + 1] = count
    needs, changes = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64)
    kinds = np.empty(count, dtype=np.int64)
    for pair in range(count):
        one, two = chosen[pair, 0], chosen[pair, 1]
        needs[pair] = labels.needs[one] + labels.needs[two]
        changes[pair] = labels.changes[one] + labels.changes[two]
        kinds[pair] = labels.kinds[one] | labels.kinds[two]
    return Pairs(starts, chosen[:count], scores[:count], needs, changes, kinds)


@njit(cache=True)
def _word_pairs(
    at: int,
    is_first: bool,
    candidates: Candidates,
    labels: Labels,
    least: float,
    chosen: NDArray[np.int32],
    scores: Floats,
    count: int,
) -> int:
    """One word's pairs, put into their order one by one."""
    begin, logs, ids = count, candidates.logs, candidates.ids
    first_one, first_two = candidates.starts[0, at], candidates.starts[1, at]
    for one in range(first_one, candidates.starts[0, at + 1]):
        if logs[one] < least and one > first_one:
            break
        for two in range(first_two, candidates.starts[1, at + 1]):
            if logs[two] < least and two > first_two:
                break
            if not _fit(labels.kinds[ids[one]], labels.kinds[labels.second + ids[two]], is_first):
                continue
            place, score = count, np.float64(logs[one]) + np.float64(logs[two])
            while place > begin and scores[place - 1] < score:
                scores[place] = scores[place - 1]
                chosen[place, 0], chosen[place, 1] = chosen[place - 1, 0], chosen[place - 1, 1]
                place -= 1
            scores[place] = score
            chosen[place, 0], chosen[place, 1] = ids[one], labels.second + ids[two]
            count += 1
    return count


@njit(cache=True)
def _fit(one: int, two: int, is_first: bool) -> bool:
    """A word has one head, and so has the word before it; before the first word there is none that could have arcs."""
    either, both = one | two, one & two
    if either & IMPOSSIBLE or both & (OPENS_LEFT | CLOSES_RIGHT):
        return False
    return not (is_first and either & (OPENS_LEFT | OPENS_RIGHT))


@njit(cache=True)
def closable_depths(pairs: Pairs) -> Int64s:
    """How deep each stack may be after each word, so that the words to come could still empty it; four in one."""
    words = len(pairs.starts) - 1
    packed, room = np.zeros(words + 1, dtype=np.int64), np.zeros(4, dtype=np.int64)
    for word in range(words - 1, 0, -1):
        for stack in range(4):
            most = 0
            for pair in range(pairs.starts[word], pairs.starts[word + 1]):
                most = max(most, -_unpacked(pairs.changes[pair], stack))
            room[stack] = min(room[stack] + most, DEEPEST)
            packed[word] |= room[stack] << (FIELD * stack)
    return packed


@njit(cache=True)
def _unpacked(packed: int, stack: int) -> int:
    """One of four signed numbers in one."""
    half = 1 << (FIELD - 1)
    bias = half | half << FIELD | half << (2 * FIELD) | half << (3 * FIELD)
    return ((packed + bias) >> (FIELD * stack) & ((1 << FIELD) - 1)) - half


@njit(cache=True)
def _after(key: int, need: int, change: int, kind: int, closable: int) -> int:
    """The state that a pair of labels leads to, -1 if to none."""
    depths = key & DEPTHS
    if ((depths | GUARDS) - need) & GUARDS != GUARDS:
        return -1
    after = depths + change
    if after & GUARDS or ((closable | GUARDS) - after) & GUARDS != GUARDS:
        return -1
    after |= key & ROOT_USED
    if key & HEADLESS:
        if not kind & OPENS_LEFT:
            if key & ROOT_USED:
                return -1
            after |= ROOT_USED
    elif kind & OPENS_LEFT:
        return -1
    return after if kind & CLOSES_RIGHT else after | HEADLESS


@njit(cache=True)
def _relation_score(key: int, kind: int, at: int, costs: Costs) -> float:
    """The relations that a pair of labels decides on: the word's own, if it closes its arc, and the previous word's."""
    score = np.float64(0.0)
    if key & HEADLESS:
        score += costs.relations[at - 1] if kind & OPENS_LEFT else costs.roots[at - 1]
    if kind & CLOSES_RIGHT:
        score += costs.relations[at]
    return score


@njit(cache=True)
def _depth_score(key: int, at: int, depths: NDArray[np.float32]) -> float:
    score = np.float64(0.0)
    for stack in range(depths.shape[1]):
        score += depths[at, stack, min(key >> (FIELD * stack) & DEEPEST, depths.shape[2] - 1)]
    return score


@njit(cache=True)
def build_lattice(start: int, pairs: Pairs, labels: Labels, costs: Costs, limits: Limits, acyclic: bool) -> Lattice:
    """Extend states word by word; equal ones become one, and the best go on.

    Where no way leads to the end, `states` is 0. If `acyclic`, labels that would close a cycle on the best way to a
    state are not taken from there, so that the best path has none; but ways that are lost so are not looked for.
    """
    words, beam = len(pairs.starts) - 1, min(limits.beam, max(FEWEST, limits.edges // max(len(pairs.scores), 1)))
    room, slots = _room(pairs, beam)
    table = np.zeros(slots, dtype=np.int32)
    keys, bests, owns, score_of = np.empty(room, np.int64), np.empty(room), np.empty(room), np.empty(room)
    best_edge, last_edge, next_edge = np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room, np.int32)
    source_of, pair_of = np.empty(room, np.int32), np.empty(room, np.int32)
    history = _no_history(words, pairs, labels, acyclic)
    closable = closable_depths(pairs)
    keys[0], bests[0], owns[0], last_edge[0] = 0, 0.0, 0.0, -1
    kept, states, edges = np.zeros(1, dtype=np.int64), 1, 0
    for word in range(words):
        first, highest = states, -np.inf
        for source in kept:
            key, base = keys[source], bests[source]
            if acyclic:
                _remember(history, word, int(source), best_edge, source_of, pair_of, pairs, labels)
            for pair in range(pairs.starts[word], pairs.starts[word + 1]):
                if base + pairs.scores[pair] < highest - limits.margin:
                    break
                after = _after(key, pairs.needs[pair], pairs.changes[pair], pairs.kinds[pair], closable[word + 1])
                if after < 0:
                    continue
                score = pairs.scores[pair] + _relation_score(key, pairs.kinds[pair], start + word, costs)
                if base + score < highest - limits.margin:
                    continue
                if acyclic and _closes_cycle(history, word, pairs.labels[pair], labels):
                    continue
                highest = max(highest, base + score)
                slot = ((after ^ (after >> 29)) * 0x9E3779B97F4A7C15 >> 33) & (slots - 1)
                while table[slot] >= first and keys[table[slot]] != after:
                    slot = (slot + 1) & (slots - 1)
                if table[slot] < first:  # states of earlier words do not count
                    table[slot] = states
                    keys[states], bests[states], last_edge[states] = after, -np.inf, -1
                    owns[states] = _depth_score(after, start + word, costs.depths)
                    states += 1
                state = table[slot]
                next_edge[edges], source_of[edges], pair_of[edges] = last_edge[state], source, pair
                last_edge[state], score_of[edges] = edges, score
                if base + score > bests[state]:
                    bests[state], best_edge[state] = base + score, edges
                edges += 1
        kept = _best_states(first, states, bests, owns, beam)
    end = states
    bests[end], owns[end], last_edge[end] = -np.inf, 0.0, -1
    for source in kept:
        headless, used = keys[source] & HEADLESS != 0, keys[source] & ROOT_USED != 0
        if headless != used:
            score = np.float64(costs.roots[start + words - 1]) if headless else 0.0
            next_edge[edges], source_of[edges], pair_of[edges] = last_edge[end], source, -1
            last_edge[end], score_of[edges] = edges, score
            if bests[source] + score > bests[end]:
                bests[end], best_edge[end] = bests[source] + score, edges
            edges += 1
    found = end + 1 if last_edge[end] >= 0 else 0
    return Lattice(found, bests, owns, best_edge, last_edge, next_edge, source_of, pair_of, score_of)


@njit(cache=True)
def lattice_of(start: int, words: int, problem: Problem, limits: Limits, acyclic: bool) -> tuple[Pairs, Lattice]:
    """A sentence's pairs of labels, and its lattice."""
    pairs = make_pairs(start, words, problem.candidates, problem.labels, limits.least)
    return pairs, build_lattice(start, pairs, problem.labels, problem.costs, limits, acyclic)


@njit(cache=True)
def _room(pairs: Pairs, beam: int) -> tuple[int, int]:
    """How many states and edges there may be, and how large a table finds a word's states quickly."""
    most = 0
    for word in range(len(pairs.starts) - 1):
        most = max(most, pairs.starts[word + 1] - pairs.starts[word])
    slots = 256
    while slots < 2 * beam * most:
        slots *= 2
    return beam * (len(pairs.scores) + 1) + 2, slots


@njit(cache=True)
def _best_states(first: int, end: int, bests: Floats, owns: Floats, beam: int) -> Int64s:
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


@njit(cache=True)
def best_path(lattice: Lattice, words: int) -> Int32s:
    """The pairs on the best path."""
    path, state = np.empty(words, dtype=np.int32), lattice.source[lattice.best_edge[lattice.states - 1]]
    for word in range(words - 1, -1, -1):
        edge = lattice.best_edge[state]
        path[word], state = lattice.pair[edge], lattice.source[edge]
    return path


@njit(cache=True)
def next_paths(
    lattice: Lattice, pairs: Pairs, labels: Labels, wanted: int, most: int
) -> tuple[NDArray[np.int32], NDArray[np.int32], Floats]:
    """Read paths off the lattice, best first, until `wanted` different trees came, or `most` nodes were looked at.

    Paths are searched backwards; as the best way to each state is known already, they come in order of their scores.
    """
    words, found = len(pairs.starts) - 1, 0
    paths, trees = np.empty((wanted, words), dtype=np.int32), np.empty((wanted, words), dtype=np.int32)
    scores = np.empty(wanted)
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


@njit(cache=True)
def _spell_out(node: int, nodes: list[tuple[int, int, int, float]], lattice: Lattice, words: int) -> Int32s:
    """The pairs on the path from a node on."""
    path = np.empty(words, dtype=np.int32)
    for word in range(words):
        _, after, edge, _ = nodes[node]
        path[word], node = lattice.pair[edge], after
    return path


@njit(cache=True)
def _among(heads: Int32s, trees: NDArray[np.int32]) -> bool:
    for tree in trees:  # noqa: SIM110 (the compiler takes no generators)
        if (tree == heads).all():
            return True
    return False


class History(NamedTuple):
    """The arcs of a label sequence up to some word, and what its stacks hold."""

    heads: Int32s  # 0: none yet
    stacks: NDArray[np.int32]  # (4, as deep as any may get)
    depths: Int64s  # (4,)


@njit(cache=True)
def _no_history(words: int, pairs: Pairs, labels: Labels, needed: bool) -> History:
    """Room for any sequence of some words' labels."""
    room = 0
    if needed:
        for word in range(words):
            most = 0
            for pair in range(pairs.starts[word], pairs.starts[word + 1]):
                one, two = pairs.labels[pair]
                size = labels.starts[one + 1] - labels.starts[one] + labels.starts[two + 1] - labels.starts[two]
                most = max(most, size)
            room += most
    return History(np.zeros(words, np.int32), np.empty((4, room), np.int32), np.zeros(4, np.int64))


@njit(cache=True)
def _remember(
    history: History,
    words: int,
    state: int,
    best_edge: Int32s,
    source_of: Int32s,
    pair_of: Int32s,
    pairs: Pairs,
    labels: Labels,
) -> None:
    """The best way to a state, which stands behind so many words."""
    path = np.empty(words, dtype=np.int32)
    for word in range(words - 1, -1, -1):
        edge = best_edge[state]
        path[word], state = pair_of[edge], source_of[edge]
    history.heads[:] = 0
    history.depths[:] = 0
    for word in range(words):
        _follow(history, word, pairs.labels[path[word]], labels)


@njit(cache=True)
def _follow(history: History, word: int, pair: Int32s, labels: Labels) -> None:
    """Do what a word's labels say."""
    heads, stacks, depths = history
    for plane in range(2):
        for place in range(labels.starts[pair[plane]], labels.starts[pair[plane] + 1]):
            symbol = labels.symbols[place]
            stack = 2 * plane + (symbol & 1)  # `<` and `\` have one, `/` and `>` the other
            if symbol < 2:
                stacks[stack, depths[stack]] = word  # the previous word, counted from 1
                depths[stack] += 1
            elif depths[stack] > 0:
                depths[stack] -= 1
                partner = stacks[stack, depths[stack]]
                if symbol == 3:
                    heads[word] = partner
                elif partner > 0:
                    heads[partner - 1] = word + 1


@njit(cache=True)
def _closes_cycle(history: History, word: int, pair: Int32s, labels: Labels) -> bool:
    """Whether a word's labels would close a cycle where there was none; the history is left as it was."""
    heads, stacks, _ = history
    depths, own = history.depths.copy(), np.zeros(4, dtype=np.int64)  # what was there, and what the word puts on top
    changed = np.empty(depths.sum() + 8, dtype=np.int64)
    count, closed = 0, False
    for plane in range(2):
        for place in range(labels.starts[pair[plane]], labels.starts[pair[plane] + 1]):
            symbol = labels.symbols[place]
            stack = 2 * plane + (symbol & 1)
            if closed:
                break
            if symbol < 2:
                own[stack] += 1
                continue
            partner = word
            if own[stack]:
                own[stack] -= 1
            else:
                depths[stack] -= 1
                partner = stacks[stack, depths[stack]]
            dependent, head = (word + 1, partner) if symbol == 3 else (partner, word + 1)
            at = head
            while at > 0 and at != dependent:
                at = heads[at - 1]
            closed = at == dependent
            heads[dependent - 1] = head
            changed[count] = dependent
            count += 1
    for number in range(count):
        heads[changed[number] - 1] = 0
    return closed


@njit(cache=True)
def heads_of(path: Int32s, pairs: Pairs, labels: Labels) -> Int32s:
    """The heads that a path's labels assert, 0 where they assert none."""
    room = 0
    for pair in path:
        for plane in range(2):
            label = pairs.labels[pair, plane]
            room += labels.starts[label + 1] - labels.starts[label]
    history = History(np.zeros(len(path), np.int32), np.empty((4, room), np.int32), np.zeros(4, np.int64))
    for word in range(len(path)):
        _follow(history, word, pairs.labels[path[word]], labels)
    return history.heads


@njit(cache=True)
def has_cycle(heads: Int32s) -> bool:
    """Whether some word is above itself."""
    marks = np.zeros(len(heads), dtype=np.int32)
    for origin in range(len(heads)):
        at = int(origin)
        while at >= 0 and marks[at] == 0:
            marks[at] = origin + 1
            at = int(heads[at]) - 1
        if at >= 0 and marks[at] == origin + 1:
            return True
    return False


@njit(cache=True)
def _argmax_is_tree(start: int, words: int, candidates: Candidates, labels: Labels, costs: Costs) -> bool:
    """Whether every word's likeliest labels, relation and depths agree on one tree."""
    key = 0
    for at in range(start, start + words):
        one, two = _tops(at, candidates, labels)
        kind = labels.kinds[one] | labels.kinds[two]
        if not _fit(labels.kinds[one], labels.kinds[two], at == start) or not _relations_agree(key, kind, at, costs):
            return False
        need, change = labels.needs[one] + labels.needs[two], labels.changes[one] + labels.changes[two]
        key = _after(key, need, change, kind, DEPTHS & ~GUARDS)
        if key < 0 or not _depths_agree(key, at, costs.depths):
            return False
    last = start + words - 1
    if key & DEPTHS or (key & HEADLESS != 0) == (key & ROOT_USED != 0):
        return False
    return not key & HEADLESS or costs.roots[last] >= costs.relations[last]


@njit(cache=True)
def _tops(at: int, candidates: Candidates, labels: Labels) -> tuple[int, int]:
    return candidates.ids[candidates.starts[0, at]], labels.second + candidates.ids[candidates.starts[1, at]]


@njit(cache=True)
def _relations_agree(key: int, kind: int, at: int, costs: Costs) -> bool:
    if key & HEADLESS and (costs.relations[at - 1] >= costs.roots[at - 1]) != (kind & OPENS_LEFT != 0):
        return False
    return not kind & CLOSES_RIGHT or costs.relations[at] >= costs.roots[at]


@njit(cache=True)
def _depths_agree(key: int, at: int, depths: NDArray[np.float32]) -> bool:
    for stack in range(depths.shape[1]):
        own = depths[at, stack, min(key >> (FIELD * stack) & DEEPEST, depths.shape[2] - 1)]
        for score in depths[at, stack]:
            if score > own:
                return False
    return True


@njit(cache=True)
def search_all(offsets: Int64s, problem: Problem, limits: Limits, chosen: NDArray[np.int32]) -> NDArray[np.int8]:
    """Put the best labels of every sentence into `chosen`, which has a row for each plane, and say how they were found.

    Where a cycle or no way to the end was found, the labels are each word's best.
    """
    candidates, labels, costs = problem
    outcomes = np.zeros(len(offsets) - 1, dtype=np.int8)
    for s in range(len(outcomes)):
        start, words = offsets[s], offsets[s + 1] - offsets[s]
        for at in range(start, start + words):
            one, two = _tops(at, candidates, labels)
            chosen[0, at], chosen[1, at] = one, two - labels.second
        if words == 0 or (
            _argmax_is_tree(start, words, candidates, labels, costs)
            and not has_cycle(_argmax_heads(start, words, candidates, labels))
        ):
            continue
        pairs, lattice = lattice_of(start, words, problem, limits, False)
        if not lattice.states:
            outcomes[s] = LOST
            continue
        path = best_path(lattice, words)
        if has_cycle(heads_of(path, pairs, labels)):
            outcomes[s] = CYCLIC
            continue
        outcomes[s] = BEST
        _put(path, pairs, labels, start, chosen)
    return outcomes


@njit(cache=True)
def _put(path: Int32s, pairs: Pairs, labels: Labels, start: int, chosen: NDArray[np.int32]) -> None:
    for word in range(len(path)):
        chosen[0, start + word] = pairs.labels[path[word], 0]
        chosen[1, start + word] = pairs.labels[path[word], 1] - labels.second


# What follows is for the few sentences whose best path has a cycle, and is compiled when the first one comes.


@njit(cache=True)
def search_next_best(start: int, words: int, problem: Problem, limits: Limits, chosen: NDArray[np.int32]) -> bool:
    """The best path without a cycle, if it is among the first that can be looked at."""
    pairs, lattice = lattice_of(start, words, problem, limits, False)
    paths, _, _ = next_paths(lattice, pairs, problem.labels, 1, limits.nodes)
    if len(paths):
        _put(paths[0], pairs, problem.labels, start, chosen)
    return len(paths) > 0


@njit(cache=True)
def search_without_cycles(start: int, words: int, problem: Problem, limits: Limits, chosen: NDArray[np.int32]) -> bool:
    """A good path without a cycle, from a lattice that is checked for cycles word by word."""
    # Each state of such a lattice costs as much as there are words before it.
    beam = min(limits.beam, max(FEWEST, STEPS_WITHOUT_CYCLES // words**2))
    narrower = Limits(beam, limits.margin, limits.least, limits.edges, limits.nodes)
    pairs, lattice = lattice_of(start, words, problem, narrower, True)
    if lattice.states:
        _put(best_path(lattice, words), pairs, problem.labels, start, chosen)
    return lattice.states > 0


@njit(cache=True)
def _argmax_heads(start: int, words: int, candidates: Candidates, labels: Labels) -> Int32s:
    tops = np.empty((words, 2), dtype=np.int32)
    for word in range(words):
        tops[word, 0], tops[word, 1] = _tops(start + word, candidates, labels)
    none = np.zeros(0, dtype=np.int64)
    pairs = Pairs(none, tops, np.zeros(0), none, none, none)
    return heads_of(np.arange(words).astype(np.int32), pairs, labels)


@njit(cache=True)
def best_trees(
    start: int, words: int, problem: Problem, limits: Limits, wanted: int
) -> tuple[NDArray[np.int32], Floats]:
    """The heads of the best trees of a sentence, best first, with the scores of their best label sequences."""
    pairs, lattice = lattice_of(start, words, problem, limits, False)
    if not lattice.states:
        return np.zeros((0, words), dtype=np.int32), np.zeros(0)
    _, trees, scores = next_paths(lattice, pairs, problem.labels, wanted, limits.nodes * wanted)
    return trees, scores


@njit(cache=True)
def draw_trees(start: int, words: int, problem: Problem, limits: Limits, wanted: int, seed: int) -> NDArray[np.int32]:
    """Trees drawn from the posterior of well-formed label sequences, as rows of heads.

    A drawn sequence with a cycle is thrown away; after ten times as many as are wanted, fewer come back.
    """
    pairs, lattice = lattice_of(start, words, problem, limits, False)
    trees, found = np.empty((wanted, words), dtype=np.int32), 0
    if lattice.states:
        sums = _forward_sums(lattice)
        np.random.seed(seed)  # the compiled code's own generator
        for _ in range(10 * wanted):
            heads = heads_of(_draw(words, lattice, sums), pairs, problem.labels)
            if not has_cycle(heads):
                trees[found] = heads
                found += 1
                if found == wanted:
                    break
    return trees[:found]


@njit(cache=True)
def _forward_sums(lattice: Lattice) -> Floats:
    """The log of the summed probabilities of all ways to each state, its own score left out."""
    sums = np.full(lattice.states, -np.inf)
    sums[0] = 0.0
    for state in range(1, lattice.states):
        highest, edge = -np.inf, lattice.last_edge[state]
        while edge >= 0:
            source = lattice.source[edge]
            highest = max(highest, sums[source] + lattice.owns[source] + lattice.score[edge])
            edge = lattice.next_edge[edge]
        total, edge = 0.0, lattice.last_edge[state]
        while edge >= 0:
            source = lattice.source[edge]
            total += np.exp(sums[source] + lattice.owns[source] + lattice.score[edge] - highest)
            edge = lattice.next_edge[edge]
        sums[state] = highest + np.log(total)
    return sums


@njit(cache=True)
def _draw(words: int, lattice: Lattice, sums: Floats) -> Int32s:
    """The pairs on a path, each drawn by its probability given those behind it."""
    path, state = np.empty(words, dtype=np.int32), lattice.states - 1
    for left in range(words, -1, -1):
        edge, chance = lattice.last_edge[state], np.random.random()
        while True:
            source = lattice.source[edge]
            chance -= np.exp(sums[source] + lattice.owns[source] + lattice.score[edge] - sums[state])
            if chance < 0 or lattice.next_edge[edge] < 0:
                break
            edge = lattice.next_edge[edge]
        if left < words:
            path[left] = lattice.pair[edge]
        state = int(lattice.source[edge])
    return path
