"""States of a label sequence: the depths of the stacks, whether the root was used, whether the last word is headless.

Whether brackets balance depends only on how deep each stack is. Four depths are packed into one number, so that a label
is checked and applied to all stacks at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from biplanar.compiled import compiled
from biplanar.data.arrays import Bytes, Int64s
from biplanar.encodings.stacks import POP_HEAD, PUSH_DEPENDENT, PUSH_HEAD, Moves, is_push, stack_of

# Four depths in one number, each with a guard bit above it: one subtraction compares all four.
FIELD = 15
DEEPEST = (1 << (FIELD - 1)) - 1
GUARDS = sum(1 << (FIELD * stack + FIELD - 1) for stack in range(4))
DEPTHS = (1 << (4 * FIELD)) - 1
ROOT_USED, HEADLESS = 1 << (4 * FIELD), 1 << (4 * FIELD + 1)

# Hash tables of states hold their numbers with a stamp above them; entries with older stamps are overlooked.
STAMP = 32
NUMBER = (1 << STAMP) - 1

# What a label does, beside what it takes from the stacks and puts there; the last is what no tree allows.
OPENS_LEFT, CLOSES_RIGHT, OPENS_RIGHT, IMPOSSIBLE = 1, 2, 4, 8


class LabelEffects(NamedTuple):
    """What each label does, the second plane's labels behind the first's."""

    needs: Int64s  # how deep each stack must be, four in one number
    changes: Int64s  # how much deeper each stack gets, four in one
    kinds: Int64s  # OPENS_LEFT, CLOSES_RIGHT, OPENS_RIGHT, IMPOSSIBLE
    moves: Bytes  # of all labels, end to end
    starts: Int64s  # where each label's moves start
    second: int  # the first label of the second plane


def describe_labels(moves: Moves) -> LabelEffects:
    """What the labels of one or two planes need, change and mean; of a second plane that is missing all are empty."""
    starts, first_label = moves.starts, moves.first_label
    if len(first_label) == 2:
        starts, first_label = np.append(starts, starts[-1]), np.append(first_label, first_label[-1] + 1)
    rows = [
        _describe(moves.moves[starts[label] : starts[label + 1]].tolist(), plane)
        for plane in range(2)
        for label in range(first_label[plane], first_label[plane + 1])
    ]
    needs, changes, kinds = (np.array(column, dtype=np.int64) for column in zip(*rows, strict=True))
    return LabelEffects(needs, changes, kinds, moves.moves, starts, int(first_label[1]))


def _describe(moves: Sequence[int], plane: int) -> tuple[int, int, int]:
    """A label's needs, changes and kind, by doing what it says."""
    needs, changes = [0] * 4, [0] * 4
    for move in moves:
        stack = stack_of(move, plane)
        changes[stack] += 1 if is_push(move) else -1
        needs[stack] = max(needs[stack], -changes[stack])
    opened, closed = moves.count(PUSH_DEPENDENT), moves.count(POP_HEAD)
    kind = OPENS_LEFT * opened + CLOSES_RIGHT * closed + OPENS_RIGHT * (PUSH_HEAD in moves)
    if opened > 1 or closed > 1 or max(map(abs, (*needs, *changes))) > DEEPEST:
        kind = IMPOSSIBLE
        needs = changes = [0] * 4
    return _packed(needs), _packed(changes), kind


def _packed(numbers: Sequence[int]) -> int:
    return sum(number << (FIELD * place) for place, number in enumerate(numbers))


@compiled(inline=True)
def unpacked(packed: int, stack: int) -> int:
    """One of four signed numbers in one."""
    half = 1 << (FIELD - 1)
    bias = half | half << FIELD | half << (2 * FIELD) | half << (3 * FIELD)
    return ((packed + bias) >> (FIELD * stack) & ((1 << FIELD) - 1)) - half


@compiled(inline=True)
def fit(one: int, two: int, is_first: bool) -> bool:
    """A word has one head, and so has the word before it; before the first word there is none that could have arcs."""
    either, both = one | two, one & two
    if either & IMPOSSIBLE or both & (OPENS_LEFT | CLOSES_RIGHT):
        return False
    return not (is_first and either & (OPENS_LEFT | OPENS_RIGHT))


@compiled(inline=True)
def next_state(key: int, need: int, change: int, kind: int, closable: int) -> int:
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


@compiled(inline=True)
def depth_of(key: int, stack: int, deepest: int) -> int:
    """How deep a stack is in a state, as far as a table of depths goes."""
    return min(key >> (FIELD * stack) & DEEPEST, deepest)


@compiled(inline=True)
def may_end(key: int) -> bool:
    """Whether a sentence may end in a state, if its last word is the root where it has no head."""
    return (key & HEADLESS != 0) != (key & ROOT_USED != 0)


@compiled(inline=True)
def find_slot(identity: int, table: Int64s, identities: Int64s, stamp: int, mask: int) -> int:
    """Where a state stands in a hash table, or belongs; only entries with the stamp count."""
    slot = ((identity ^ (identity >> 29)) * 0x9E3779B97F4A7C15 >> 33) & mask
    while table[slot] >> STAMP == stamp and identities[table[slot] & NUMBER] != identity:
        slot = (slot + 1) & mask
    return slot
