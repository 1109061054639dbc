"""From labels to heads, and whether these form a cycle."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from biplanar.compiled import compiled
from biplanar.data.arrays import Bools, Int32s, Int64s
from biplanar.decoding.lattice.pairs import Pairs, Tops
from biplanar.decoding.lattice.states import (
    CLOSES_RIGHT,
    DEPTHS,
    GUARDS,
    HEADLESS,
    OPENS_LEFT,
    LabelEffects,
    depth_of,
    fit,
    may_end,
    next_state,
)
from biplanar.encodings.stacks import POP_HEAD, apply_move, is_push, stack_of


class History(NamedTuple):
    """The arcs of a label sequence up to some word, and what its stacks hold."""

    heads: Int32s  # 0: none yet
    stacks: Int32s  # (4, as deep as any may get)
    depths: Int64s  # (4,)


@compiled()
def no_history(words: int, pairs: Pairs, labels: LabelEffects, needed: bool) -> History:
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
def remember(
    history: History,
    words: int,
    state: int,
    best_edge: Int32s,
    source_of: Int32s,
    pair_of: Int32s,
    pairs: Pairs,
    labels: LabelEffects,
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
def _follow(history: History, word: int, pair: Int32s, labels: LabelEffects) -> None:
    """Do what a word's labels say; words count from 0 here."""
    for plane in range(2):
        for place in range(labels.starts[pair[plane]], labels.starts[pair[plane] + 1]):
            apply_move(labels.moves[place], plane, word + 1, history.stacks, history.depths, history.heads)


@compiled()
def closes_cycle(history: History, word: int, pair: Int32s, labels: LabelEffects) -> bool:
    """Whether a word's labels would close a cycle where there was none; the history is left as it was."""
    heads, stacks, _ = history
    depths, own = history.depths.copy(), np.zeros(4, dtype=np.int64)  # what was there, and what the word puts on top
    changed = np.empty(depths.sum() + 8, dtype=np.int64)
    count, closed = 0, False
    for plane in range(2):
        for place in range(labels.starts[pair[plane]], labels.starts[pair[plane] + 1]):
            move = labels.moves[place]
            stack = stack_of(move, plane)
            if closed:
                break
            if is_push(move):
                own[stack] += 1
                continue
            partner = word
            if own[stack]:
                own[stack] -= 1
            else:
                depths[stack] -= 1
                partner = stacks[stack, depths[stack]]
            dependent, head = (word + 1, partner) if move == POP_HEAD else (partner, word + 1)
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
def heads_of(path: Int32s, pairs: Pairs, labels: LabelEffects) -> Int32s:
    """The heads that a path's labels assert, 0 where they assert none."""
    chosen = np.empty((2, len(path)), dtype=np.int32)
    put(path, pairs, labels, 0, chosen)
    return heads_of_labels(chosen, labels)


@compiled()
def heads_of_labels(chosen: Int32s, labels: LabelEffects) -> Int32s:
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
def put(path: Int32s, pairs: Pairs, labels: LabelEffects, start: int, chosen: Int32s) -> None:
    """Write down the labels of a path, one row a plane."""
    for word in range(len(path)):
        chosen[0, start + word] = pairs.labels[path[word], 0]
        chosen[1, start + word] = pairs.labels[path[word], 1] - labels.second


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
def argmax_trees(offsets: Int64s, tops: Tops, labels: LabelEffects, heads: Int32s) -> Bools:
    """Which sentences are trees if every word takes what is best for it; their heads are put into `heads`.

    No other labels, relations and depths are likelier than these, so there is nothing to search.
    """
    decided = np.zeros(len(offsets) - 1, dtype=np.bool_)
    for s in range(len(decided)):
        start, end = offsets[s], offsets[s + 1]
        if _argmax_is_tree(start, end, tops, labels):
            found = heads_of_labels(tops.planes[:, start:end], labels)
            decided[s] = not has_cycle(found)
            heads[start:end] = found
    return decided


@compiled()
def _argmax_is_tree(start: int, end: int, tops: Tops, labels: LabelEffects) -> bool:
    """Whether every word's best labels, relation and depths agree on heads, one for each but the root."""
    key = 0
    for at in range(start, end):
        one, two = tops.planes[0, at], labels.second + tops.planes[1, at]
        kind = labels.kinds[one] | labels.kinds[two]
        if not fit(labels.kinds[one], labels.kinds[two], at == start):
            return False
        if key & HEADLESS and tops.leanings[at - 1] * (1 if kind & OPENS_LEFT else -1) > 0:
            return False
        if kind & CLOSES_RIGHT and tops.leanings[at] > 0:
            return False
        need, change = labels.needs[one] + labels.needs[two], labels.changes[one] + labels.changes[two]
        key = next_state(key, need, change, kind, DEPTHS & ~GUARDS)
        if key < 0 or not _depths_agree(key, at, tops):
            return False
    if start == end:
        return True
    if key & DEPTHS or not may_end(key):
        return False
    return not key & HEADLESS or tops.leanings[end - 1] >= 0


@compiled()
def _depths_agree(key: int, at: int, tops: Tops) -> bool:
    for stack in range(len(tops.depths)):  # noqa: SIM110 (the compiler takes no generators)
        if depth_of(key, stack, tops.deepest) != tops.depths[stack, at]:
            return False
    return True
