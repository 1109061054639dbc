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
from numpy.typing import NDArray

from biplanar.compiled import compiled
from biplanar.data.arrays import Float64s, Int32s, Int64s

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

# How a sentence was decided: the best path was a tree; it had a cycle; it is far below the best labels of all, and was
# not looked for; no path was found.
BEST, CYCLIC, FAR, LOST = range(4)

# How much less likely than the best labels of all a path is that is looked for, before a whole lattice is built.
SHORTFALLS = (2.0, 5.0, 12.0, 30.0)


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


class Tops(NamedTuple):
    """The best of each word's labels, relations and depths, if each is looked at alone."""

    planes: NDArray[np.int32]  # (2, words), labels of each plane
    leanings: NDArray[np.int8]  # 1: the root's relation is likelier than any other, -1: less likely, 0: as likely
    depths: NDArray[np.int32]  # (stacks, words); no stacks: not known
    deepest: int  # the depth that stands for all that are deeper


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
    scores: Float64s
    needs: Int64s
    changes: Int64s
    kinds: Int64s


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


@compiled()
def make_pairs(offsets: Int64s, candidates: Candidates, labels: Labels, least: float) -> Pairs:
    """All pairs of one label of each plane that each word of some sentences may take."""
    total = 0
    for at in range(offsets[0], offsets[-1]):
        ones = candidates.starts[0, at + 1] - candidates.starts[0, at]
        total += ones * (candidates.starts[1, at + 1] - candidates.starts[1, at])
    starts, chosen = np.zeros(offsets[-1] - offsets[0] + 1, dtype=np.int64), np.empty((total, 2), dtype=np.int32)
    scores, count = np.empty(total, dtype=np.float64), 0
    for s in range(len(offsets) - 1):
        for at in range(offsets[s], offsets[s + 1]):
            count = _word_pairs(at, at == offsets[s], candidates, labels, least, chosen, scores, count)
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
    at: int,
    is_first: bool,
    candidates: Candidates,
    labels: Labels,
    least: float,
    chosen: NDArray[np.int32],
    scores: Float64s,
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


@compiled()
def _fit(one: int, two: int, is_first: bool) -> bool:
    """A word has one head, and so has the word before it; before the first word there is none that could have arcs."""
    either, both = one | two, one & two
    if either & IMPOSSIBLE or both & (OPENS_LEFT | CLOSES_RIGHT):
        return False
    return not (is_first and either & (OPENS_LEFT | OPENS_RIGHT))


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
                most = max(most, -_unpacked(pairs.changes[pair], stack))
            room[stack] = min(room[stack] + most, DEEPEST)
            packed[word] |= room[stack] << (FIELD * stack)
    return packed


@compiled()
def _unpacked(packed: int, stack: int) -> int:
    """One of four signed numbers in one."""
    half = 1 << (FIELD - 1)
    bias = half | half << FIELD | half << (2 * FIELD) | half << (3 * FIELD)
    return ((packed + bias) >> (FIELD * stack) & ((1 << FIELD) - 1)) - half


@compiled()
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
def _depth_score(key: int, at: int, depths: NDArray[np.float32]) -> float:
    score = np.float64(0.0)
    for stack in range(depths.shape[1]):
        score += depths[at, stack, min(key >> (FIELD * stack) & DEEPEST, depths.shape[2] - 1)]
    return score


@compiled()
def build_lattice(start: int, pairs: Pairs, labels: Labels, costs: Costs, limits: Limits, acyclic: bool) -> Lattice:
    """Extend states word by word; equal ones become one, and the best go on.

    Where no way leads to the end, `states` is 0. If `acyclic`, labels that would close a cycle on the best way to a
    state are not taken from there, so that the best path has none; but ways that are lost so are not looked for.
    """
    words, beam = len(pairs.starts) - 1, _beam(limits, len(pairs.scores))
    room, slots = _room(pairs, beam)
    table = np.zeros(slots, dtype=np.int32)
    keys, bests, owns, score_of = np.empty(room, np.int64), np.empty(room), np.empty(room), np.empty(room)
    best_edge, last_edge, next_edge = np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room, np.int32)
    source_of, pair_of = np.empty(room, np.int32), np.empty(room, np.int32)
    history = _no_history(words, pairs, labels, acyclic)
    closable = closable_depths(pairs, 0, words)
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


@compiled()
def lattice_of(start: int, words: int, problem: Problem, limits: Limits, acyclic: bool) -> tuple[Pairs, Lattice]:
    """A sentence's pairs of labels, and its lattice."""
    offsets = np.array([start, start + words])
    pairs = make_pairs(offsets, problem.candidates, problem.labels, limits.least)
    return pairs, build_lattice(start, pairs, problem.labels, problem.costs, limits, acyclic)


@compiled()
def _beam(limits: Limits, pairs: int) -> int:
    """How many states may go on from each word of a sentence with so many pairs."""
    return min(limits.beam, max(FEWEST, limits.edges // max(pairs, 1)))


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
    lattice: Lattice, pairs: Pairs, labels: Labels, wanted: int, most: int
) -> tuple[NDArray[np.int32], NDArray[np.int32], Float64s]:
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


@compiled()
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


@compiled()
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


@compiled()
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


@compiled()
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


@compiled()
def heads_of(path: Int32s, pairs: Pairs, labels: Labels) -> Int32s:
    """The heads that a path's labels assert, 0 where they assert none."""
    chosen = np.empty((2, len(path)), dtype=np.int32)
    _put(path, pairs, labels, 0, chosen)
    return _heads(chosen, labels)


@compiled()
def _heads(chosen: NDArray[np.int32], labels: Labels) -> Int32s:
    """The same of labels of both planes."""
    words, room = chosen.shape[1], 0
    pair = np.empty(2, dtype=np.int32)
    for word in range(words):
        for plane in range(2):
            label = chosen[plane, word] + plane * labels.second
            room += labels.starts[label + 1] - labels.starts[label]
    history = History(np.zeros(words, np.int32), np.empty((4, room), np.int32), np.zeros(4, np.int64))
    for word in range(words):
        pair[0], pair[1] = chosen[0, word], labels.second + chosen[1, word]
        _follow(history, word, pair, labels)
    return history.heads


@compiled()
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


@compiled()
def argmax_trees(offsets: Int64s, tops: Tops, labels: Labels, heads: Int32s) -> NDArray[np.bool_]:
    """Which sentences are trees if every word takes what is best for it; their heads are put into `heads`.

    No other labels, relations and depths are likelier than these, so there is nothing to search.
    """
    decided = np.zeros(len(offsets) - 1, dtype=np.bool_)
    for s in range(len(decided)):
        start, end = offsets[s], offsets[s + 1]
        if _argmax_is_tree(start, end, tops, labels):
            found = _heads(tops.planes[:, start:end], labels)
            decided[s] = not has_cycle(found)
            heads[start:end] = found
    return decided


@compiled()
def _argmax_is_tree(start: int, end: int, tops: Tops, labels: Labels) -> bool:
    """Whether every word's best labels, relation and depths agree on heads, one for each but the root."""
    key = 0
    for at in range(start, end):
        one, two = tops.planes[0, at], labels.second + tops.planes[1, at]
        kind = labels.kinds[one] | labels.kinds[two]
        if not _fit(labels.kinds[one], labels.kinds[two], at == start):
            return False
        if key & HEADLESS and tops.leanings[at - 1] * (1 if kind & OPENS_LEFT else -1) > 0:
            return False
        if kind & CLOSES_RIGHT and tops.leanings[at] > 0:
            return False
        need, change = labels.needs[one] + labels.needs[two], labels.changes[one] + labels.changes[two]
        key = _after(key, need, change, kind, DEPTHS & ~GUARDS)
        if key < 0 or not _depths_agree(key, at, tops):
            return False
    if start == end:
        return True
    if key & DEPTHS or (key & HEADLESS != 0) == (key & ROOT_USED != 0):
        return False
    return not key & HEADLESS or tops.leanings[end - 1] >= 0


@compiled()
def _depths_agree(key: int, at: int, tops: Tops) -> bool:
    for stack in range(len(tops.depths)):
        if min(key >> (FIELD * stack) & DEEPEST, tops.deepest) != tops.depths[stack, at]:
            return False
    return True


class Shortfalls(NamedTuple):
    """How much less likely than the best of its kind each choice is; choices that are the best cost nothing."""

    pairs: Float64s  # of labels
    relations: Float64s  # (words, 2): of having a head, of being the root
    tops: NDArray[np.float32]  # (words, stacks): the best of the depths
    depths: NDArray[np.float32]  # (words, stacks, depths), as they are


class Work(NamedTuple):
    """Room for the states of one sentence after the other."""

    keys: Int64s
    losses: Float64s  # of the best way to each state
    sources: Int32s
    pairs: Int32s
    table: Int32s  # in which a word's states are found by their keys; what it holds of other words is overlooked


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
def _work_for(offsets: Int64s, pairs: Pairs, limits: Limits) -> Work:
    """Room for any of the sentences, and for any word's states before only the best of them go on."""
    room, most_new = 0, 0
    for s in range(len(offsets) - 1):
        first, end, most = offsets[s] - offsets[0], offsets[s + 1] - offsets[0], 0
        for word in range(first, end):
            most = max(most, pairs.starts[word + 1] - pairs.starts[word])
        beam = _beam(limits, pairs.starts[end] - pairs.starts[first])
        room, most_new = max(room, beam * (end - first + most)), max(most_new, beam * most)
    slots = 256
    while slots < 2 * most_new:
        slots *= 2
    keys, losses = np.empty(room + 2, dtype=np.int64), np.empty(room + 2)
    sources, by = np.empty(room + 2, dtype=np.int32), np.empty(room + 2, dtype=np.int32)
    return Work(keys, losses, sources, by, np.zeros(slots, dtype=np.int32))


@compiled()
def find_path(
    first: int, words: int, pairs: Pairs, lost: Shortfalls, closable: Int64s, most: float, beam: int, work: Work
) -> int:
    """The last state of the best path of a sentence, if what it falls short of the best is within `most`; or -1.

    It is the best path of the lattice as well: states that have lost more already cannot be on it. The sentence starts
    at `first` among all words that have pairs.
    """
    slots = len(work.table)
    work.keys[0], work.losses[0] = 0, 0.0
    begin, states = 0, 1
    for word in range(words):
        at, end = first + word, states
        for source in range(begin, end):
            key, base = work.keys[source], work.losses[source]
            for pair in range(pairs.starts[at], pairs.starts[at + 1]):
                loss = base + lost.pairs[pair]
                if loss > most:
                    break
                after = _after(key, pairs.needs[pair], pairs.changes[pair], pairs.kinds[pair], closable[word + 1])
                if after < 0:
                    continue
                loss += _loss_beside(key, after, pairs.kinds[pair], at, lost)
                if loss > most:
                    continue
                slot = ((after ^ (after >> 29)) * 0x9E3779B97F4A7C15 >> 33) & (slots - 1)
                while end <= work.table[slot] < states and work.keys[work.table[slot]] != after:
                    slot = (slot + 1) & (slots - 1)
                state = work.table[slot]
                if not end <= state < states:
                    state = states
                    work.table[slot], work.keys[state], work.losses[state] = state, after, np.inf
                    states += 1
                if loss < work.losses[state]:
                    work.losses[state], work.sources[state], work.pairs[state] = loss, source, pair
        begin, states = end, _narrow(end, states, beam, work)
    return _best_end(begin, states, lost.relations[first + words - 1, 1], most, work)


@compiled()
def _loss_beside(key: int, after: int, kind: int, at: int, lost: Shortfalls) -> float:
    """What relations and depths lose by a pair of labels that leads from one state to another."""
    loss = 0.0
    if key & HEADLESS:
        loss += lost.relations[at - 1, 0 if kind & OPENS_LEFT else 1]
    if kind & CLOSES_RIGHT:
        loss += lost.relations[at, 0]
    for stack in range(lost.depths.shape[1]):
        depth = min(after >> (FIELD * stack) & DEEPEST, lost.depths.shape[2] - 1)
        loss += lost.tops[at, stack] - lost.depths[at, stack, depth]
    return loss


@compiled()
def _best_end(begin: int, end: int, root_loss: float, most: float, work: Work) -> int:
    """The best of the last word's states with which a sentence may end; `root_loss` is the cost of its being root."""
    best = -1
    for state in range(begin, end):
        headless, used = work.keys[state] & HEADLESS != 0, work.keys[state] & ROOT_USED != 0
        if headless:
            work.losses[state] += root_loss
        if headless != used and work.losses[state] <= most and (best < 0 or work.losses[state] < work.losses[best]):
            best = state
    return best


@compiled()
def _narrow(begin: int, end: int, beam: int, work: Work) -> int:
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
        if loss < lowest[beam - 1] or (loss == lowest[beam - 1] and equal > 0):
            equal -= loss == lowest[beam - 1]
            work.keys[kept], work.losses[kept] = work.keys[state], loss
            work.sources[kept], work.pairs[kept] = work.sources[state], work.pairs[state]
            kept += 1
    return kept


@compiled()
def search_all(
    offsets: Int64s, problem: Problem, limits: Limits, chosen: NDArray[np.int32], heads: Int32s
) -> NDArray[np.int8]:
    """Put the best labels and heads of every sentence into `chosen` and `heads`, and say how they were found.

    `chosen` has a row for each plane. Where the best path has a cycle or is too far off, the labels are each word's
    best.
    """
    candidates, labels, costs = problem
    outcomes = np.empty(len(offsets) - 1, dtype=np.int8)
    pairs = make_pairs(offsets, candidates, labels, limits.least)
    work, lost = _work_for(offsets, pairs, limits), shortfalls_of(pairs, offsets[0], costs)
    for s in range(len(outcomes)):
        start, words = offsets[s], offsets[s + 1] - offsets[s]
        path = _quickest(start - offsets[0], words, pairs, lost, limits, work)
        if len(path) == words:
            outcomes[s] = _take(path, pairs, start, problem, chosen, heads)
        else:
            outcomes[s] = FAR
            _put_tops(start, words, candidates, chosen)
    return outcomes


@compiled()
def _quickest(first: int, words: int, pairs: Pairs, lost: Shortfalls, limits: Limits, work: Work) -> Int32s:
    """The pairs on the best path if it is not too far below the best labels of all; or nothing."""
    beam = _beam(limits, pairs.starts[first + words] - pairs.starts[first])
    closable = closable_depths(pairs, first, words)
    for most in SHORTFALLS:
        state = find_path(first, words, pairs, lost, closable, most, beam, work)
        if state >= 0:
            path = np.empty(words, dtype=np.int32)
            for word in range(words - 1, -1, -1):
                path[word], state = work.pairs[state], work.sources[state]
            return path
    return np.zeros(0, dtype=np.int32)


@compiled()
def _take(path: Int32s, pairs: Pairs, start: int, problem: Problem, chosen: NDArray[np.int32], heads: Int32s) -> int:
    """Put the labels and heads of a path where they belong, if it is a tree, and say whether it is."""
    _put(path, pairs, problem.labels, start, chosen)
    found = _heads(chosen[:, start : start + len(path)], problem.labels)
    heads[start : start + len(path)] = found
    if not has_cycle(found):
        return BEST
    _put_tops(start, len(path), problem.candidates, chosen)
    return CYCLIC


@compiled()
def _put_tops(start: int, words: int, candidates: Candidates, chosen: NDArray[np.int32]) -> None:
    for at in range(start, start + words):
        chosen[0, at] = candidates.ids[candidates.starts[0, at]]
        chosen[1, at] = candidates.ids[candidates.starts[1, at]]


@compiled()
def _put(path: Int32s, pairs: Pairs, labels: Labels, start: int, chosen: NDArray[np.int32]) -> None:
    for word in range(len(path)):
        chosen[0, start + word] = pairs.labels[path[word], 0]
        chosen[1, start + word] = pairs.labels[path[word], 1] - labels.second


# What follows is for the few sentences whose best path has a cycle or is far off, and is compiled when one comes.


@compiled()
def search_lattice(
    start: int, words: int, problem: Problem, limits: Limits, chosen: NDArray[np.int32], heads: Int32s
) -> int:
    """The best path of a sentence's whole lattice, and how it was found."""
    pairs, lattice = lattice_of(start, words, problem, limits, False)
    if not lattice.states:
        return LOST
    return _take(best_path(lattice, words), pairs, start, problem, chosen, heads)


@compiled()
def search_next_best(
    start: int, words: int, problem: Problem, limits: Limits, chosen: NDArray[np.int32], heads: Int32s
) -> bool:
    """The best path without a cycle, if it is among the first that can be looked at."""
    pairs, lattice = lattice_of(start, words, problem, limits, False)
    paths, trees, _ = next_paths(lattice, pairs, problem.labels, 1, limits.nodes)
    if len(paths):
        _put(paths[0], pairs, problem.labels, start, chosen)
        heads[start : start + words] = trees[0]
    return len(paths) > 0


@compiled()
def search_without_cycles(
    start: int, words: int, problem: Problem, limits: Limits, chosen: NDArray[np.int32], heads: Int32s
) -> bool:
    """A good path without a cycle, from a lattice that is checked for cycles word by word."""
    # Each state of such a lattice costs as much as there are words before it.
    beam = min(limits.beam, max(FEWEST, STEPS_WITHOUT_CYCLES // words**2))
    narrower = Limits(beam, limits.margin, limits.least, limits.edges, limits.nodes)
    pairs, lattice = lattice_of(start, words, problem, narrower, True)
    if lattice.states:
        path = best_path(lattice, words)
        _put(path, pairs, problem.labels, start, chosen)
        heads[start : start + words] = heads_of(path, pairs, problem.labels)
    return lattice.states > 0


@compiled()
def best_trees(
    start: int, words: int, problem: Problem, limits: Limits, wanted: int
) -> tuple[NDArray[np.int32], Float64s]:
    """The heads of the best trees of a sentence, best first, with the scores of their best label sequences."""
    pairs, lattice = lattice_of(start, words, problem, limits, False)
    if not lattice.states:
        return np.zeros((0, words), dtype=np.int32), np.zeros(0)
    _, trees, scores = next_paths(lattice, pairs, problem.labels, wanted, limits.nodes * wanted)
    return trees, scores


@compiled()
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


@compiled()
def _forward_sums(lattice: Lattice) -> Float64s:
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


@compiled()
def _draw(words: int, lattice: Lattice, sums: Float64s) -> Int32s:
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
