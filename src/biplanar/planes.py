"""Plane assignment: to which of two planes each arc goes, by the strategies of the paper and the project's own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from biplanar.crossings import components
from biplanar.errors import UnknownNameError
from biplanar.forest import Forest
from biplanar.tree import Int32s, Int64s, Tree

Planes = NDArray[np.int8]


@dataclass(frozen=True)
class Strategy:
    """How planes are given out. Arcs are visited by right end, the shortest first.

    `propagate`: Algorithm 2 (restrictions spread over the crossings graph) instead of Algorithm 1 (greedy).
    `switch_averse`: where both planes are free, the plane used last instead of the first.
    `rescue`: greedy inside the parts of the crossings graph that do not fit in two planes.
    `by_direction`, `closers_first`: what counts as crossing, see `crossings.components`.
    """

    propagate: bool = False
    switch_averse: bool = False
    rescue: bool = False
    by_direction: bool = False
    closers_first: bool = False


STRATEGIES = {
    "2p-greedy": Strategy(),
    "2p-greedy-switch": Strategy(switch_averse=True),
    "2p-prop": Strategy(propagate=True),
    "2p-prop-switch": Strategy(propagate=True, switch_averse=True),
    "2p-full": Strategy(propagate=True, rescue=True, by_direction=True, closers_first=True),
}


def planes_of(tree: Tree, strategy: str) -> tuple[int, ...]:
    """The plane (1 or 2) of every word's arc; 0 for the root's arc and for arcs that fit in neither plane."""
    if strategy not in STRATEGIES:
        raise UnknownNameError("strategy", strategy, STRATEGIES)
    return tuple(assign_planes(Forest.from_trees([tree]), STRATEGIES[strategy]).tolist())


def assign_planes(forest: Forest, strategy: Strategy) -> Planes:
    """The plane of every arc of a forest, 0 for none."""
    if not strategy.propagate:
        return np.asarray(_greedy(forest.heads, forest.offsets, strategy.switch_averse))
    parts = components(forest, by_direction=strategy.by_direction, closers_first=strategy.closers_first)
    planes = _propagate(forest.heads, forest.offsets, parts.part, parts.side, parts.odd, strategy.switch_averse)
    if strategy.rescue and parts.odd.any():
        _rescue(forest.heads, forest.offsets, parts.odd, planes)
    return np.asarray(planes)


@njit(cache=True)
def _visiting_order(heads: Int32s, base: int, n: int, order: Int32s, first: Int32s, following: Int32s) -> int:
    """Fill `order` with the dependents of all arcs by right end, the shortest first: as a stack closes them."""
    for word in range(n + 2):
        first[word] = 0
    for d in range(1, n + 1):
        h = heads[base + d]
        if h > d:
            following[d] = first[h]  # left dependents of h, the nearest first
            first[h] = d
    count = 0
    for right in range(1, n + 1):
        own = heads[base + right]
        pending = 0 < own < right
        d = first[right]
        while d > 0:
            if pending and own > d:
                order[count] = right
                count += 1
                pending = False
            order[count] = d
            count += 1
            d = following[d]
        if pending:
            order[count] = right
            count += 1
    return count


@njit(cache=True)
def _next_free(free: Int32s, at: int) -> int:
    """The first word from `at` on that lies inside no arc of this plane; shortens the way for the next time."""
    while free[at] != at:
        free[at] = free[free[at]]
        at = free[at]
    return at


@njit(cache=True)
def _cover(free: Int32s, left: int, right: int) -> None:
    """Mark the words strictly between two words as lying inside an arc; `free` leads on from those."""
    at = _next_free(free, left + 1)
    while at < right:
        free[at] = at + 1
        at = _next_free(free, at + 1)


@njit(cache=True)
def _greedy(heads: Int32s, offsets: Int64s, switch_averse: bool) -> Planes:
    """Algorithm 1. An arc crosses an earlier one of a plane just if its left end lies strictly inside one."""
    longest = 0
    for s in range(len(offsets) - 1):
        longest = max(longest, offsets[s + 1] - offsets[s])
    planes = np.zeros(len(heads), dtype=np.int8)
    order = np.zeros(longest + 2, dtype=np.int32)
    first = np.zeros(longest + 2, dtype=np.int32)
    following = np.zeros(longest + 2, dtype=np.int32)
    free = np.zeros((3, longest + 2), dtype=np.int32)
    for s in range(len(offsets) - 1):
        base, n = offsets[s] - 1, offsets[s + 1] - offsets[s]
        for at in range(n + 2):
            free[1, at] = at
            free[2, at] = at
        preferred = 1
        for step in range(_visiting_order(heads, base, n, order, first, following)):
            d = order[step]
            left, right = min(heads[base + d], d), max(heads[base + d], d)
            plane = preferred
            if free[plane, left] != left:
                plane = 3 - plane
                if free[plane, left] != left:
                    continue
            _cover(free[plane], left, right)
            planes[base + d] = plane
            if switch_averse:
                preferred = plane
    return planes


@njit(cache=True)
def _propagate(
    heads: Int32s,
    offsets: Int64s,
    part: Int32s,
    side: NDArray[np.uint8],
    odd: NDArray[np.bool_],
    switch_averse: bool,
) -> Planes:
    """Algorithm 2. The first arc of each part of the crossings graph chooses, and so settles all others of its part:

    they go to the plane of their side, or, in a part with an odd cycle, where every other arc ends up forbidden from
    both planes, to none.
    """
    longest = 0
    for s in range(len(offsets) - 1):
        longest = max(longest, offsets[s + 1] - offsets[s])
    planes = np.zeros(len(heads), dtype=np.int8)
    order = np.zeros(longest + 2, dtype=np.int32)
    first = np.zeros(longest + 2, dtype=np.int32)
    following = np.zeros(longest + 2, dtype=np.int32)
    plane_of_side = np.zeros((len(heads), 2), dtype=np.int8)  # by part
    for s in range(len(offsets) - 1):
        base, n = offsets[s] - 1, offsets[s + 1] - offsets[s]
        preferred = 1
        for step in range(_visiting_order(heads, base, n, order, first, following)):
            arc = base + order[step]
            chosen = plane_of_side[part[arc]]
            if chosen[0] == 0:
                chosen[side[arc]] = preferred
                chosen[1 - side[arc]] = 3 - preferred
            elif odd[arc]:
                continue
            planes[arc] = chosen[side[arc]]
            if switch_averse:
                preferred = planes[arc]
    return planes


@njit(cache=True)
def _rescue(heads: Int32s, offsets: Int64s, odd: NDArray[np.bool_], planes: Planes) -> None:
    """Greedy over the arcs of the parts that do not fit in two planes.

    Here arcs of one direction cross only each other, and an arc that ends at a word leaves alone those that begin at
    the word before.
    """
    longest = 0
    for s in range(len(offsets) - 1):
        longest = max(longest, offsets[s + 1] - offsets[s])
    order = np.zeros(longest + 2, dtype=np.int32)
    first = np.zeros(longest + 2, dtype=np.int32)
    following = np.zeros(longest + 2, dtype=np.int32)
    free = np.zeros((6, longest + 2), dtype=np.int32)  # by direction and plane
    for s in range(len(offsets) - 1):
        base, n = offsets[s] - 1, offsets[s + 1] - offsets[s]
        for row in range(6):
            for word in range(n + 2):
                free[row, word] = word
        for step in range(_visiting_order(heads, base, n, order, first, following)):
            d = order[step]
            if not odd[base + d]:
                continue
            left, right = min(heads[base + d], d), max(heads[base + d], d)
            planes[base + d] = 0
            for plane in (1, 2):
                row = free[plane + (3 if heads[base + d] < d else 0)]
                if row[left] == left:
                    _cover(row, left, right - 1)
                    planes[base + d] = plane
                    break
