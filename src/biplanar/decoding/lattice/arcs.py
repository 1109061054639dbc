"""Arcs in the lattice: states that know what is on their stacks, so that every arc has its score when it is closed.

A stack is a node: its top word and the node below. Equal stacks are one node, so that states with equal stacks can
become one. Scores of arcs count as what they fall short of the word's best head. Labels that say on which side a word's
head is pay for the best head there at once (`prepaid_loss`), and for the rest when the arc is closed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from biplanar.compiled import compiled
from biplanar.data.arrays import Bools, Float32s, Float64s, Int32s, Int64s
from biplanar.decoding.lattice.states import CLOSES_RIGHT, HEADLESS, OPENS_LEFT, LabelEffects
from biplanar.encodings.stacks import POP_HEAD, is_push, stack_of

# Large odd numbers by which a state's numbers become one.
FACTORS = (-7046029254386353131, -4417276706812531889, 1609587929392839161, -8663945395140668459, 2870177450012600261)

# The log-probability of heads that are not among a word's likeliest, and of all that are less likely.
UNLIKELY = -12.0


class Arcs(NamedTuple):
    """What heads lose against each word's best; words of all sentences stand end to end."""

    known: bool  # whether states know their stacks; if not, nothing here is looked at
    heads: Int32s  # (words, heads): numbers of likely heads, 0 for the root
    losses: Float64s  # of these
    others: Float64s  # (words,): of any other head
    lefts: Float64s  # (words,): of the best head to the left
    rights: Float64s  # (words,): of the best head to the right


class Stacks(NamedTuple):
    """Nodes of stacks; the first four are empty stacks. There is room for all that a sentence can have."""

    words: Int32s
    below: Int32s
    last: Int32s  # the node that was last put on each; of the words that are put on it, only the last is asked for
    used: Int64s  # (1,): how many nodes there are


def no_arcs() -> Arcs:
    """For labels alone."""
    nothing = np.zeros(0)
    return Arcs(False, np.zeros((0, 0), dtype=np.int32), np.zeros((0, 0)), nothing, nothing, nothing)


@compiled()
def weigh_arcs(heads: Int32s, logs: Float32s, offsets: Int64s, weight: float) -> Arcs:
    """The losses of likely heads, best first, by their log-probabilities."""
    words, most = heads.shape
    losses, others = np.empty((words, most)), np.empty(words)
    lefts, rights = np.empty(words), np.empty(words)
    for s in range(len(offsets) - 1):
        for at in range(offsets[s], offsets[s + 1]):
            top = max(np.float64(logs[at, 0]), UNLIKELY)
            others[at] = weight * (top - UNLIKELY)
            lefts[at] = rights[at] = others[at]
            for place in range(most):
                losses[at, place] = weight * (top - max(np.float64(logs[at, place]), UNLIKELY))
                if heads[at, place] > at - offsets[s] + 1:
                    rights[at] = min(rights[at], losses[at, place])
                elif heads[at, place] > 0:
                    lefts[at] = min(lefts[at], losses[at, place])
    return Arcs(True, heads, losses, others, lefts, rights)


@compiled(inline=True)
def arc_loss(arcs: Arcs, at: int, head: int) -> float:
    """What a head loses; the word is one of all, the head's number its own sentence's."""
    for place in range(arcs.heads.shape[1]):
        if arcs.heads[at, place] == head:
            return float(arcs.losses[at, place])
    return float(arcs.others[at])


@compiled(inline=True)
def root_loss(arcs: Arcs, key: int, kind: int, at: int) -> float:
    """What the word before loses by being the root, if a word's labels say so."""
    if arcs.known and key & HEADLESS and not kind & OPENS_LEFT:
        return arc_loss(arcs, at - 1, 0)
    return 0.0


@compiled(inline=True)
def prepaid_loss(arcs: Arcs, kind: int, at: int) -> float:
    """What the best heads on the sides that a word's labels say lose, its own and the word's before."""
    loss = 0.0
    if arcs.known and kind & CLOSES_RIGHT:
        loss += arcs.lefts[at]
    if arcs.known and kind & OPENS_LEFT:
        loss += arcs.rights[at - 1]
    return loss


@compiled()
def empty_stacks(room: int) -> Stacks:
    """Room for so many nodes beside the empty stacks."""
    words, below, last = np.empty(room + 4, np.int32), np.empty(room + 4, np.int32), np.empty(room + 4, np.int32)
    stacks = Stacks(words, below, last, np.empty(1, np.int64))
    clear_stacks(stacks)
    return stacks


@compiled()
def clear_stacks(stacks: Stacks) -> None:
    """Forget all nodes but the empty stacks."""
    stacks.used[0] = 4
    for stack in range(4):
        stacks.words[stack], stacks.below[stack], stacks.last[stack] = 0, 0, -1


@compiled(inline=True)
def move_stacks(
    word: int, start: int, one: int, two: int, labels: LabelEffects, tops: Int32s, stacks: Stacks, arcs: Arcs
) -> float:
    """Do to the stacks, whose tops are changed, what a word's labels say, and give what arcs lose beyond the prepaid.

    The word counts from 0 in its sentence, which starts at `start` among all words.
    """
    loss = 0.0
    for plane in range(2):
        label = two if plane else one
        for place in range(labels.starts[label], labels.starts[label + 1]):
            move = labels.moves[place]
            stack = stack_of(move, plane)
            if is_push(move):
                tops[stack] = _put_on(tops[stack], word, stacks)
            else:
                partner = stacks.words[tops[stack]]
                tops[stack] = stacks.below[tops[stack]]
                if move == POP_HEAD:
                    loss += arc_loss(arcs, start + word, partner) - arcs.lefts[start + word]
                else:
                    loss += arc_loss(arcs, start + partner - 1, word + 1) - arcs.rights[start + partner - 1]
    return loss


@compiled(inline=True)
def _put_on(below: int, word: int, stacks: Stacks) -> int:
    """The node with a word on top of another node."""
    node = stacks.last[below]
    if node < 0 or stacks.words[node] != word:
        node = stacks.used[0]
        stacks.words[node], stacks.below[node], stacks.last[node] = word, below, -1
        stacks.last[below] = node
        stacks.used[0] += 1
    return int(node)


@compiled(inline=True)
def identity_of(key: int, tops: Int32s) -> int:
    """A number for a state with stacks; that two states share one by chance is as good as impossible."""
    identity = key * FACTORS[4]
    for stack in range(4):
        identity += tops[stack] * FACTORS[stack]
    return identity ^ (identity >> 32)


@compiled()
def closed_arcs(word: int, pair: Int32s, labels: LabelEffects, tops: Int32s, stacks: Stacks, closed: Int32s) -> int:
    """Write down dependents and heads of the arcs that a word's labels close, and say how many; `tops` are used up."""
    own, count = np.zeros(4, dtype=np.int64), 0  # how often the word before was put on each stack
    for plane in range(2):
        for place in range(labels.starts[pair[plane]], labels.starts[pair[plane] + 1]):
            move = labels.moves[place]
            stack = stack_of(move, plane)
            if is_push(move):
                own[stack] += 1
                continue
            partner = word
            if own[stack]:
                own[stack] -= 1
            else:
                partner = stacks.words[tops[stack]]
                tops[stack] = stacks.below[tops[stack]]
            dependent, head = (word + 1, partner) if move == POP_HEAD else (partner, word + 1)
            closed[count, 0], closed[count, 1] = dependent, head
            count += 1
    return count


@compiled()
def agree(heads: Int32s, likeliest: Int32s, offsets: Int64s) -> Bools:
    """In which sentences all heads are the likeliest."""
    same = np.ones(len(offsets) - 1, dtype=np.bool_)
    for s in range(len(same)):
        for at in range(offsets[s], offsets[s + 1]):
            if heads[at] != likeliest[at]:
                same[s] = False
                break
    return same
