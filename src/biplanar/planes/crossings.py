"""Which arcs cross, and what follows from it: projectivity, and whether two planes suffice.

An arc is named by its dependent. Two arcs cross if exactly one end of one lies strictly inside the other. Arcs from the
dummy root are left out, as they never get a bracket; only `nonprojective` looks at them too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from biplanar.compiled import compiled
from biplanar.data.arrays import Bools, Bytes, Int32s, Int64s
from biplanar.data.forest import Forest, longest_sentence
from biplanar.data.tree import Tree

BOTH, LEFT, RIGHT = 0, 1, 2  # directions of arcs


@dataclass(frozen=True)
class Components:
    """The connected parts of the crossings graph, arc by arc (indexed as words are in a forest).

    Arcs of one part have the same number in `part`. A part that is not `odd` can be drawn in two planes, the arcs of
    `side` 0 in one and those of side 1 in the other, and in no other way.
    """

    part: Int32s
    side: Bytes
    odd: Bools

    def crossed(self) -> Bools:
        """Whether an arc crosses any other."""
        return np.asarray(np.bincount(self.part, minlength=len(self.part))[self.part] > 1)


def is_projective(tree: Tree) -> bool:
    """Whether every head dominates all words between itself and each of its dependents."""
    return not nonprojective(Forest.from_trees([tree])).any()


def crossing_words(tree: Tree) -> list[int]:
    """The words whose arcs cross another one."""
    crossed = components(Forest.from_trees([tree])).crossed()
    return [at + 1 for at in np.flatnonzero(crossed).tolist()]


def components(forest: Forest, *, by_direction: bool = False, closers_first: bool = False) -> Components:
    """The parts of the crossings graph.

    `by_direction`: only arcs of the same direction are taken to cross. `closers_first`: an arc that ends at a word is
    closed before those that begin at the word before it are opened, so these two do not cross.
    """
    total = len(forest.heads)
    parent = np.arange(total, dtype=np.int32)  # union-find over the arcs, each with its side relative to its parent's
    side, odd = np.zeros(total, dtype=np.uint8), np.zeros(total, dtype=np.bool_)
    for direction in (LEFT, RIGHT) if by_direction else (BOTH,):
        _join_crossing(forest.heads, forest.offsets, direction, closers_first, parent, side, odd)
    return Components(*_resolve(parent, side, odd))


@compiled()
def _join_crossing(
    heads: Int32s, offsets: Int64s, direction: int, closers_first: bool, parent: Int32s, side: Bytes, odd: Bools
) -> None:
    """Sweep over the words with a list of open arcs: when one closes, it crosses what was opened after it and is open.

    Neighbouring open arcs that are known to lie on the same side form a block. A closing arc that crosses a block is
    joined to one of its arcs only, and the blocks that it crosses become one: the work is near-linear in the words, not
    in the crossings.
    """
    longest = longest_sentence(offsets)
    opening = np.zeros(longest + 2, dtype=np.int32)  # first arc that begins at a word, the longest first
    closing = np.zeros(longest + 2, dtype=np.int32)  # first arc that ends at a word, the shortest first
    next_opening = np.zeros(longest + 2, dtype=np.int32)
    next_closing = np.zeros(longest + 2, dtype=np.int32)
    below = np.zeros(longest + 2, dtype=np.int32)  # the open arcs as a list, in the order of opening
    above = np.zeros(longest + 2, dtype=np.int32)
    rank = np.zeros(longest + 2, dtype=np.int32)  # when an arc was opened
    block_first = np.zeros(longest + 2, dtype=np.int32)  # rank of the lowest arc
    block_top = np.zeros(longest + 2, dtype=np.int32)  # highest open arc
    block_size = np.zeros(longest + 2, dtype=np.int32)

    for s in range(len(offsets) - 1):
        base, n = offsets[s] - 1, offsets[s + 1] - offsets[s]
        _list_arcs(heads, base, n, direction, opening, closing, next_opening, next_closing)
        top, blocks, opened = 0, 0, 0
        for word in range(2, n + 1):
            # One label's brackets in their order: what closes early, what opens, what closes late.
            for phase in range(3):
                arc = opening[word - 1] if phase == 1 else 0
                while arc > 0:
                    opened += 1
                    rank[arc], below[arc], above[arc] = opened, top, 0
                    above[top] = arc
                    top = arc
                    block_first[blocks], block_top[blocks], block_size[blocks] = opened, arc, 1
                    blocks += 1
                    arc = next_opening[arc]
                arc = 0 if phase == 1 else closing[word]
                while arc > 0:
                    early = closers_first and min(heads[base + arc], arc) != word - 1
                    if early != (phase == 0):
                        arc = next_closing[arc]
                        continue
                    own = blocks - 1
                    while block_first[own] > rank[arc]:
                        own -= 1
                    for block in range(own, blocks):
                        if block_top[block] != arc:
                            _join(parent, side, odd, base + arc, base + block_top[block])
                    for block in range(own + 2, blocks):
                        block_size[own + 1] += block_size[block]
                    if own + 1 < blocks:
                        block_top[own + 1] = block_top[blocks - 1]
                        blocks = own + 2
                    above[below[arc]] = above[arc]
                    if above[arc] > 0:
                        below[above[arc]] = below[arc]
                    else:
                        top = below[arc]
                    if block_top[own] == arc:
                        block_top[own] = below[arc]
                    block_size[own] -= 1
                    if block_size[own] == 0:
                        if own + 1 < blocks:
                            block_first[own] = block_first[own + 1]
                            block_top[own] = block_top[own + 1]
                            block_size[own] = block_size[own + 1]
                        blocks -= 1
                    arc = next_closing[arc]


@compiled()
def _list_arcs(
    heads: Int32s,
    base: int,
    n: int,
    direction: int,
    opening: Int32s,
    closing: Int32s,
    next_opening: Int32s,
    next_closing: Int32s,
) -> None:
    """List the arcs of a direction by left end, longest first, and by right end, shortest first: a radix sort."""
    opening[: n + 2] = 0
    closing[: n + 2] = 0
    for d in range(1, n + 1):
        h = heads[base + d]
        if h > 0 and (direction == BOTH or (h > d) == (direction == LEFT)):
            next_opening[d] = opening[min(h, d)]
            opening[min(h, d)] = d
    for left in range(1, n + 1):
        d = opening[left]
        while d > 0:
            right = max(heads[base + d], d)
            next_closing[d] = closing[right]
            closing[right] = d
            d = next_opening[d]
        opening[left] = 0
    for right in range(1, n + 1):
        d = closing[right]
        while d > 0:
            left = min(heads[base + d], d)
            next_opening[d] = opening[left]
            opening[left] = d
            d = next_closing[d]


@compiled()
def _root(parent: Int32s, side: Bytes, arc: int) -> tuple[int, int]:
    """The arc that stands for a part, and on which side of it an arc lies; shortens the way for the next time."""
    parity = 0
    while parent[arc] != arc:
        side[arc] ^= side[parent[arc]]
        parent[arc] = parent[parent[arc]]
        parity ^= side[arc]
        arc = parent[arc]
    return arc, parity


@compiled()
def _join(parent: Int32s, side: Bytes, odd: Bools, one: int, other: int) -> None:
    """Two arcs cross: they belong to one part, on different sides."""
    root, parity = _root(parent, side, one)
    second, second_parity = _root(parent, side, other)
    if root == second:
        odd[root] |= parity == second_parity
    else:
        parent[second] = root
        side[second] = 1 ^ parity ^ second_parity
        odd[root] |= odd[second]


@compiled()
def _resolve(parent: Int32s, side: Bytes, odd: Bools) -> tuple[Int32s, Bytes, Bools]:
    part, sides = np.empty_like(parent), np.empty_like(side)
    for arc in range(len(parent)):
        part[arc], sides[arc] = _root(parent, side, arc)
    return part, sides, odd[part]


def nonprojective(forest: Forest) -> Bools:
    """For every word, whether its arc is non-projective: whether the head does not dominate all words inside."""
    return np.asarray(_nonprojective(forest.heads, forest.offsets))


@compiled()
def _nonprojective(heads: Int32s, offsets: Int64s) -> Bools:
    result = np.zeros(len(heads), dtype=np.bool_)
    for s in range(len(offsets) - 1):
        own = heads[offsets[s] : offsets[s + 1]]
        for at in range(len(own)):
            result[offsets[s] + at] = is_arc_nonprojective(own, at + 1)
    return result


@compiled()
def is_arc_nonprojective(heads: Int32s, word: int) -> bool:
    """The same for one word (from 1) of a sentence. It suffices to look at words inside whose heads are not."""
    head = heads[word - 1]
    left, right = min(head, word), max(head, word)
    for inside in range(left + 1, right):
        at = heads[inside - 1]
        if at < left or at > right:
            while at != head and at > 0:
                at = heads[at - 1]
            if at != head:
                return True
    return False
