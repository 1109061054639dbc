"""From labels to heads, and whether these form a cycle."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from biplanar.compiled import compiled
from biplanar.data.arrays import Int32s, Int64s
from biplanar.decoding.lattice.problem import Problem
from biplanar.decoding.lattice.states import LabelEffects
from biplanar.encodings.stacks import POP_HEAD, apply_move, is_push, stack_of


class History(NamedTuple):
    """The arcs of a label sequence up to some word, and what its stacks hold."""

    heads: Int32s  # 0: none yet
    stacks: Int32s  # (4, as deep as any may get)
    depths: Int64s  # (4,)


@compiled()
def no_history(start: int, words: int, problem: Problem, needed: bool) -> History:
    """Room for any sequence of some words' labels."""
    room, labels = 0, problem.labels
    if needed:
        for word in range(start, start + words):
            most = 0
            for pair in range(problem.starts[word], problem.starts[word + 1]):
                most = max(most, count_moves(problem.pairs[pair], labels))
            room += most
    return History(np.zeros(words, np.int32), np.empty((4, room), np.int32), np.zeros(4, np.int64))


@compiled()
def count_moves(pair: Int32s, labels: LabelEffects) -> int:
    """How many moves a pair of labels has."""
    one, two = pair[0], pair[1]
    return int(labels.starts[one + 1] - labels.starts[one] + labels.starts[two + 1] - labels.starts[two])


@compiled()
def remember(history: History, words: int, state: int, sources: Int32s, chosen: Int32s, problem: Problem) -> None:
    """The best way to a state, which stands behind `words` words."""
    path = np.empty(words, dtype=np.int32)
    for word in range(words - 1, -1, -1):
        path[word], state = chosen[state], sources[state]
    history.heads[:] = 0
    history.depths[:] = 0
    for word in range(words):
        _follow(history, word, problem.pairs[path[word]], problem.labels)


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
def heads_of_labels(chosen: Int32s, start: int, words: int, labels: LabelEffects) -> Int32s:
    """The heads that the labels of some words assert, 0 where they assert none: `chosen` has a row for each plane."""
    pair, room = np.empty(2, dtype=np.int32), 0
    for at in range(start, start + words):
        pair[0], pair[1] = chosen[0, at], labels.second + chosen[1, at]
        room += count_moves(pair, labels)
    history = History(np.zeros(words, np.int32), np.empty((4, room), np.int32), np.zeros(4, np.int64))
    for word in range(words):
        pair[0], pair[1] = chosen[0, start + word], labels.second + chosen[1, start + word]
        _follow(history, word, pair, labels)
    return history.heads


@compiled()
def put_labels(path: Int32s, problem: Problem, start: int, chosen: Int32s) -> None:
    """Write down the labels of a path."""
    for word in range(len(path)):
        chosen[0, start + word] = problem.pairs[path[word], 0]
        chosen[1, start + word] = problem.pairs[path[word], 1] - problem.labels.second


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
def forms_tree(heads: Int32s) -> bool:
    """Whether heads form a tree with one root, which may be a word without a head (-1)."""
    roots = 0
    for head in heads:
        roots += head <= 0
    return roots == 1 and not has_cycle(np.maximum(heads, 0).astype(np.int32))
