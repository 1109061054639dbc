"""Which arcs cross, and what follows from it: projectivity, 2-planarity, a lower bound on the planes needed.

An arc is named by its dependent. Two arcs cross if exactly one end of one lies strictly inside the other. Arcs from the
dummy root are left out, as they never get a bracket; only `nonprojective` looks at them too.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from biplanar.forest import Forest
from biplanar.tree import Int32s, Int64s, Tree


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
    """A lower bound on the planes that a tree needs: exact up to 2, beyond it the largest set of arcs that all cross."""
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
    part, side, odd = _components(forest.heads, forest.offsets, by_direction, closers_first)
    return Components(part, side, odd)


@njit(cache=True)
def _components(
    heads: Int32s, offsets: Int64s, by_direction: bool, closers_first: bool
) -> tuple[Int32s, NDArray[np.uint8], NDArray[np.bool_]]:
    total, longest = len(heads), 0
    for s in range(len(offsets) - 1):
        longest = max(longest, offsets[s + 1] - offsets[s])
    parent = np.arange(total, dtype=np.int32)  # union-find over all arcs, each with its side relative to its parent
    side = np.zeros(total, dtype=np.uint8)
    odd = np.zeros(total, dtype=np.bool_)
    opening = np.zeros(longest + 2, dtype=np.int32)  # first arc (dependent) that begins at a word, the longest first
    closing = np.zeros(longest + 2, dtype=np.int32)  # first arc that ends at a word, the shortest first
    next_opening = np.zeros(longest + 2, dtype=np.int32)
    next_closing = np.zeros(longest + 2, dtype=np.int32)
    below = np.zeros(longest + 2, dtype=np.int32)  # the open arcs, a list in the order of opening
    above = np.zeros(longest + 2, dtype=np.int32)
    rank = np.zeros(longest + 2, dtype=np.int32)  # when an arc was opened
    # Neighbouring open arcs that are known to lie on the same side form a block, so that a closing arc which
    # crosses all of them is joined to one of them only.
    block_first = np.zeros(longest + 2, dtype=np.int32)  # rank of the lowest arc
    block_top = np.zeros(longest + 2, dtype=np.int32)  # highest open arc
    block_size = np.zeros(longest + 2, dtype=np.int32)

    for s in range(len(offsets) - 1):
        base, n = offsets[s] - 1, offsets[s + 1] - offsets[s]
        for direction in (-1, 1) if by_direction else (0, 2):
            if direction == 2:
                break
            opening[: n + 2] = 0
            closing[: n + 2] = 0
            # Two radix passes over linked lists: by left end, then by right end, then by left end again.
            for d in range(1, n + 1):
                h = heads[base + d]
                if h > 0 and not (direction == -1 and h < d) and not (direction == 1 and h > d):
                    left = min(h, d)
                    next_opening[d] = opening[left]
                    opening[left] = d
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

            top, blocks, opened = 0, 0, 0
            for word in range(2, n + 1):
                # One label's brackets in their order: what closes early, what opens, what closes late.
                for phase in range(3):
                    if phase == 1:
                        a = opening[word - 1]
                        while a > 0:
                            opened += 1
                            rank[a] = opened
                            below[a] = top
                            if top > 0:
                                above[top] = a
                            above[a] = 0
                            top = a
                            block_first[blocks] = opened
                            block_top[blocks] = a
                            block_size[blocks] = 1
                            blocks += 1
                            a = next_opening[a]
                        continue
                    a = closing[word]
                    while a > 0:
                        early = closers_first and min(heads[base + a], a) != word - 1
                        if early != (phase == 0):
                            a = next_closing[a]
                            continue
                        own = blocks - 1
                        while block_first[own] > rank[a]:
                            own -= 1
                        # Everything opened after `a` and still open crosses it.
                        for b in range(own, blocks):
                            other = block_top[b]
                            if other != a:
                                x, y, parity = base + a, base + other, 1
                                while parent[x] != x:
                                    side[x] ^= side[parent[x]]
                                    parent[x] = parent[parent[x]]
                                    parity ^= side[x]
                                    x = parent[x]
                                while parent[y] != y:
                                    side[y] ^= side[parent[y]]
                                    parent[y] = parent[parent[y]]
                                    parity ^= side[y]
                                    y = parent[y]
                                if x == y:
                                    odd[x] |= parity == 1
                                else:
                                    parent[y] = x
                                    side[y] = parity
                                    odd[x] |= odd[y]
                        if own + 1 < blocks:
                            block_top[own + 1] = block_top[blocks - 1]
                            for b in range(own + 2, blocks):
                                block_size[own + 1] += block_size[b]
                            blocks = own + 2
                        # Close `a`.
                        if above[a] > 0:
                            below[above[a]] = below[a]
                        else:
                            top = below[a]
                        if below[a] > 0:
                            above[below[a]] = above[a]
                        if block_top[own] == a:
                            block_top[own] = below[a]
                        block_size[own] -= 1
                        if block_size[own] == 0:
                            if own + 1 < blocks:
                                block_first[own] = block_first[own + 1]
                                block_top[own] = block_top[own + 1]
                                block_size[own] = block_size[own + 1]
                            blocks -= 1
                        a = next_closing[a]

    part = np.empty(total, dtype=np.int32)
    sides = np.zeros(total, dtype=np.uint8)
    odds = np.zeros(total, dtype=np.bool_)
    for i in range(total):
        x, parity = i, 0
        while parent[x] != x:
            parity ^= side[x]
            x = parent[x]
        part[i], sides[i], odds[i] = x, parity, odd[x]
    return part, sides, odds


@njit(cache=True)
def _nonprojective(heads: Int32s, offsets: Int64s) -> NDArray[np.bool_]:
    result = np.zeros(len(heads), dtype=np.bool_)
    for s in range(len(offsets) - 1):
        base, n = offsets[s] - 1, offsets[s + 1] - offsets[s]
        # Number the words so that each subtree is a range: sizes from the leaves up, then numbers from the root down.
        size = np.ones(n + 1, dtype=np.int32)
        waiting = np.zeros(n + 1, dtype=np.int32)
        for d in range(1, n + 1):
            waiting[heads[base + d]] += 1
        order = np.empty(n, dtype=np.int32)
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
        number = np.zeros(n + 1, dtype=np.int32)
        free = np.ones(n + 1, dtype=np.int32)  # the next number inside each subtree, relative to its head's
        for at in range(n - 1, -1, -1):
            d = order[at]
            h = heads[base + d]
            number[d] = number[h] + free[h]
            free[h] += size[d]
        # Smallest and largest number in every window of 2^k words, to ask for those inside an arc at once.
        levels = 1
        while (1 << levels) <= n:
            levels += 1
        low = np.empty((levels, n + 1), dtype=np.int32)
        high = np.empty((levels, n + 1), dtype=np.int32)
        low[0], high[0] = number, number
        for k in range(1, levels):
            half = 1 << (k - 1)
            for i in range(n + 2 - 2 * half):
                low[k, i] = min(low[k - 1, i], low[k - 1, i + half])
                high[k, i] = max(high[k - 1, i], high[k - 1, i + half])
        for d in range(1, n + 1):
            h = heads[base + d]
            first, last = min(h, d) + 1, max(h, d) - 1
            if first <= last:
                k = 0
                while (2 << k) <= last - first + 1:
                    k += 1
                other = last - (1 << k) + 1
                least = min(low[k, first], low[k, other])
                most = max(high[k, first], high[k, other])
                result[base + d] = least < number[h] or most >= number[h] + size[h]
    return result
