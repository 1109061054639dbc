"""Which arcs cross, and what follows from it: projectivity, 2-planarity, a lower bound on the planes needed.

An arc is named by its dependent. Two arcs cross if exactly one end of one lies strictly inside the other. Arcs from the
dummy root are left out, as they never get a bracket; only `nonprojective` looks at them too.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from biplanar.compiled import compiled
from biplanar.data.arrays import Int32s, Int64s
from biplanar.data.forest import Forest
from biplanar.data.tree import Tree

BOTH, LEFT, RIGHT = 0, 1, 2  # directions of arcs


class Arc(NamedTuple):
    """A head and its dependent, as word numbers from 1."""

    head: int
    dependent: int

    @property
    def left(self) -> int:
        """The end nearer to the sentence's start."""
        return min(self)

    @property
    def right(self) -> int:
        """The end nearer to the sentence's end."""
        return max(self)


@dataclass(frozen=True)
class Components:
    """The connected parts of the crossings graph, arc by arc (indexed as words are in a forest).

    Arcs of one part have the same number in `part`. A part that is not `odd` can be drawn in two planes, the arcs of
    `side` 0 in one and those of side 1 in the other, and in no other way.
    """

    part: Int32s
    side: NDArray[np.uint8]
    odd: NDArray[np.bool_]

    def crossed(self) -> NDArray[np.bool_]:
        """Whether an arc crosses any other."""
        return np.asarray(np.bincount(self.part, minlength=len(self.part))[self.part] > 1)


def is_projective(tree: Tree) -> bool:
    """Whether every head dominates all words between itself and each of its dependents."""
    return not nonprojective(Forest.from_trees([tree])).any()


def nonprojective_arcs(tree: Tree) -> list[Arc]:
    """Arcs with a word strictly inside that the head does not dominate; the root's arc counts too."""
    flags = nonprojective(Forest.from_trees([tree]))
    return [Arc(tree.heads[at], at + 1) for at in np.flatnonzero(flags).tolist()]


def crossing_arcs(tree: Tree) -> list[Arc]:
    """The arcs that cross another."""
    forest = Forest.from_trees([tree])
    return [Arc(tree.heads[at], at + 1) for at in np.flatnonzero(components(forest).crossed()).tolist()]


def is_two_planar(tree: Tree) -> bool:
    """Whether the arcs fit in two planes: whether the crossings graph has no odd cycle."""
    return not components(Forest.from_trees([tree])).odd.any()


def planes_needed_at_least(tree: Tree) -> int:
    """A lower bound on the planes a tree needs: exact up to 2, beyond it the largest set of arcs that all cross."""
    parts = components(Forest.from_trees([tree]))
    if not parts.crossed().any():
        return 1
    if not parts.odd.any():
        return 2
    odd = (Arc(tree.heads[at], at + 1) for at in np.flatnonzero(parts.odd).tolist())
    arcs = sorted(odd, key=lambda arc: (arc.left, -arc.right))  # of one left end the longest first: they do not cross
    return max(3, *(1 + _longest_crossing_chain(arc, arcs) for arc in arcs))


def _longest_crossing_chain(first: Arc, arcs: list[Arc]) -> int:
    """How many arcs that cross `first` from the right also cross each other: their left and right ends both rise."""
    lowest_ends: list[int] = []  # of the chains of each length, as in patience sorting
    for arc in arcs:
        if first.left < arc.left < first.right < arc.right:
            at = bisect_left(lowest_ends, arc.right)
            lowest_ends[at : at + 1] = [arc.right]
    return len(lowest_ends)


def nonprojective(forest: Forest) -> NDArray[np.bool_]:
    """For every word, whether its arc is non-projective."""
    return np.asarray(_nonprojective(forest.heads, forest.offsets))


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
    heads: Int32s,
    offsets: Int64s,
    direction: int,
    closers_first: bool,
    parent: Int32s,
    side: NDArray[np.uint8],
    odd: NDArray[np.bool_],
) -> None:
    """Sweep over the words with a list of open arcs: when one closes, it crosses what was opened after it and is open.

    Neighbouring open arcs that are known to lie on the same side form a block. A closing arc that crosses a block is
    joined to one of its arcs only, and the blocks that it crosses become one: the work is near-linear in the words, not
    in the crossings.
    """
    longest = 0
    for s in range(len(offsets) - 1):
        longest = max(longest, offsets[s + 1] - offsets[s])
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
    for word in range(n + 2):
        opening[word] = 0
        closing[word] = 0
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
def _root(parent: Int32s, side: NDArray[np.uint8], arc: int) -> tuple[int, int]:
    """The arc that stands for a part, and on which side of it an arc lies; shortens the way for the next time."""
    parity = 0
    while parent[arc] != arc:
        side[arc] ^= side[parent[arc]]
        parent[arc] = parent[parent[arc]]
        parity ^= side[arc]
        arc = parent[arc]
    return arc, parity


@compiled()
def _join(parent: Int32s, side: NDArray[np.uint8], odd: NDArray[np.bool_], one: int, other: int) -> None:
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
def _resolve(
    parent: Int32s, side: NDArray[np.uint8], odd: NDArray[np.bool_]
) -> tuple[Int32s, NDArray[np.uint8], NDArray[np.bool_]]:
    part = np.empty(len(parent), dtype=np.int32)
    sides = np.empty(len(parent), dtype=np.uint8)
    odds = np.empty(len(parent), dtype=np.bool_)
    for arc in range(len(parent)):
        part[arc], sides[arc] = _root(parent, side, arc)
        odds[arc] = odd[part[arc]]
    return part, sides, odds


@compiled()
def _nonprojective(heads: Int32s, offsets: Int64s) -> NDArray[np.bool_]:
    """Subtrees are ranges of a numbering from the root down; each arc asks for the lowest and highest number inside."""
    result = np.zeros(len(heads), dtype=np.bool_)
    longest, levels = 0, 1
    for s in range(len(offsets) - 1):
        longest = max(longest, offsets[s + 1] - offsets[s])
    while (1 << levels) <= longest:
        levels += 1
    width = longest + 1
    size = np.zeros(width, dtype=np.int32)
    waiting = np.zeros(width, dtype=np.int32)
    order = np.zeros(width, dtype=np.int32)
    number = np.zeros(width, dtype=np.int32)
    low = np.zeros(levels * width, dtype=np.int32)  # lowest number in the 2^k words from each word on
    high = np.zeros(levels * width, dtype=np.int32)
    for s in range(len(offsets) - 1):
        base, n = offsets[s] - 1, offsets[s + 1] - offsets[s]
        _number_subtrees(heads, base, n, size, waiting, order, number)
        for word in range(n + 1):
            low[word] = high[word] = number[word]
        k = 1
        while (1 << k) <= n:
            half, here, before = 1 << (k - 1), k * width, (k - 1) * width
            for word in range(n + 2 - 2 * half):
                low[here + word] = min(low[before + word], low[before + word + half])
                high[here + word] = max(high[before + word], high[before + word + half])
            k += 1
        for d in range(1, n + 1):
            h = heads[base + d]
            first, last = min(h, d) + 1, max(h, d) - 1
            if first > last:
                continue
            k = 0
            while (2 << k) <= last - first + 1:
                k += 1
            one, other = k * width + first, k * width + last - (1 << k) + 1
            lowest, highest = min(low[one], low[other]), max(high[one], high[other])
            result[base + d] = lowest < number[h] or highest >= number[h] + size[h]
    return result


@compiled()
def _number_subtrees(
    heads: Int32s, base: int, n: int, size: Int32s, waiting: Int32s, order: Int32s, number: Int32s
) -> None:
    """Number the words so that each word's subtree has the numbers from its own on: sizes from the leaves up first."""
    for word in range(n + 1):
        size[word] = 1
        waiting[word] = 0
    for d in range(1, n + 1):
        waiting[heads[base + d]] += 1
    filled = 0
    for d in range(1, n + 1):
        if waiting[d] == 0:
            order[filled] = d
            filled += 1
    for at in range(n):
        h = heads[base + order[at]]
        size[h] += size[order[at]]
        waiting[h] -= 1
        if h > 0 and waiting[h] == 0:
            order[filled] = h
            filled += 1
    for word in range(n + 1):
        waiting[word] = 1  # from here on: the next free number inside a word's subtree, counted from the word's own
    number[0] = 0
    for at in range(n - 1, -1, -1):
        d = order[at]
        h = heads[base + d]
        number[d] = number[h] + waiting[h]
        waiting[h] += size[d]
