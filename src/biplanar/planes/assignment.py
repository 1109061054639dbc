"""Plane assignment: to which of two planes each arc goes, by the strategies of the paper and the project's own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from biplanar.compiled import compiled
from biplanar.data.arrays import Bools, Bytes, Int8s, Int32s, Int64s
from biplanar.data.forest import Forest
from biplanar.data.tree import Tree
from biplanar.errors import check_name
from biplanar.planes.crossings import components

Planes = Int8s


@dataclass(frozen=True)
class Strategy:
    """How planes are given out. Arcs are visited by right end, the shortest first.

    `propagate`: Algorithm 2 (restrictions spread over the crossings graph) instead of Algorithm 1 (greedy).
    `switch_averse`: where both planes are free, the plane used last instead of the first.
    `full`: only arcs of one direction cross, closers come first (see `crossings.components`), and the parts of the
    crossings graph that do not fit in two planes are given out greedily.
    """

    propagate: bool = False
    switch_averse: bool = False
    full: bool = False


STRATEGIES = {
    "2p-greedy": Strategy(),
    "2p-greedy-switch": Strategy(switch_averse=True),
    "2p-prop": Strategy(propagate=True),
    "2p-prop-switch": Strategy(propagate=True, switch_averse=True),
    "2p-full": Strategy(propagate=True, full=True),
}


def planes_of(tree: Tree, strategy: str) -> tuple[int, ...]:
    """The plane (1 or 2) of every word's arc; 0 for the root's arc and for arcs that fit in neither plane."""
    check_name("strategy", strategy, STRATEGIES)
    return tuple(assign_planes(Forest.from_trees([tree]), STRATEGIES[strategy]).tolist())


def assign_planes(forest: Forest, strategy: Strategy) -> Planes:
    """The plane of every arc of a forest, 0 for none."""
    heads, offsets, full, averse = forest.heads, forest.offsets, strategy.full, strategy.switch_averse
    order, planes = _visiting_order(heads, offsets), np.zeros(len(heads), dtype=np.int8)
    greedy = np.ones(len(heads), dtype=np.bool_)
    if strategy.propagate:
        parts = components(forest, by_direction=full, closers_first=full)
        _propagate(offsets, order, parts.part, parts.side, parts.odd, averse, planes)
        greedy = parts.odd & full
    if greedy.any():
        _give_out_greedily(heads, offsets, order, greedy, full, averse, planes)
    return planes


@compiled()
def _visiting_order(heads: Int32s, offsets: Int64s) -> Int32s:
    """The arcs of each sentence by right end, the shortest first: as a stack closes them. -1 behind the last one."""
    order = np.full(len(heads), -1, dtype=np.int32)
    nearest = np.full(len(heads), -1, dtype=np.int32)  # the nearest left dependent of a word
    farther = np.empty(len(heads), dtype=np.int32)  # the next one behind a left dependent
    for s in range(len(offsets) - 1):
        base, count = offsets[s] - 1, offsets[s]
        for arc in range(offsets[s], offsets[s + 1]):
            head = base + heads[arc]
            if head > arc:
                farther[arc] = nearest[head]
                nearest[head] = arc
        for word in range(offsets[s], offsets[s + 1]):
            head = base + heads[word]
            pending = base < head < word  # the arc from its own head ends here too
            arc = nearest[word]
            while arc >= 0 or pending:
                if pending and head > arc:
                    order[count] = word
                    pending = False
                else:
                    order[count] = arc
                    arc = farther[arc]
                count += 1
    return order


@compiled()
def _next_free(free: Int32s, at: int) -> int:
    """The first word from `at` on that lies inside no arc of this plane; shortens the way for the next time."""
    while free[at] != at:
        free[at] = free[free[at]]
        at = free[at]
    return at


@compiled()
def _cover(free: Int32s, left: int, right: int) -> None:
    """Mark the words strictly between two words as lying inside an arc; `free` leads on from those."""
    at = _next_free(free, left + 1)
    while at < right:
        free[at] = at + 1
        at = _next_free(free, at + 1)


@compiled()
def _give_out_greedily(
    heads: Int32s, offsets: Int64s, order: Int32s, chosen: Bools, full: bool, switch_averse: bool, planes: Planes
) -> None:
    """Algorithm 1 over some arcs. An arc crosses an earlier one of a plane just if its left end lies strictly inside.

    If `full`, arcs of one direction cross only each other, and an arc that ends at a word leaves alone those that begin
    at the word before.
    """
    free = np.empty((6 if full else 3, len(heads) + 1), dtype=np.int32)  # by direction and plane
    free[:] = np.arange(len(heads) + 1)  # every word leads to itself: none lies inside an arc yet
    for s in range(len(offsets) - 1):
        preferred = 1
        for step in range(offsets[s], offsets[s + 1]):
            arc = order[step]
            if arc < 0:
                break
            if not chosen[arc]:
                continue
            head = offsets[s] - 1 + heads[arc]
            left, right, first_row = min(head, arc), max(head, arc), 3 if full and head < arc else 0
            planes[arc] = 0
            for plane in (preferred, 3 - preferred):
                row = free[first_row + plane]
                if row[left] == left:
                    _cover(row, left, right - 1 if full else right)
                    planes[arc] = plane
                    if switch_averse:
                        preferred = plane
                    break


@compiled()
def _propagate(
    offsets: Int64s, order: Int32s, part: Int32s, side: Bytes, odd: Bools, switch_averse: bool, planes: Planes
) -> None:
    """Algorithm 2. The first arc of each part of the crossings graph chooses, and so settles all others of its part:

    they go to the plane of their side, or, in a part with an odd cycle, where every other arc ends up forbidden from
    both planes, to none.
    """
    plane_of_side = np.zeros((len(order), 2), dtype=np.int8)  # by part
    for s in range(len(offsets) - 1):
        preferred = 1
        for step in range(offsets[s], offsets[s + 1]):
            arc = order[step]
            if arc < 0:
                break
            chosen = plane_of_side[part[arc]]
            if chosen[0] == 0:
                chosen[side[arc]] = preferred
                chosen[1 - side[arc]] = 3 - preferred
            elif odd[arc]:
                continue
            planes[arc] = chosen[side[arc]]
            if switch_averse:
                preferred = planes[arc]
