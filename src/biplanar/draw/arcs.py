"""Where arcs go in a picture: on which side of the words, and how far from them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from biplanar.tree import Int32s, Tree

ABOVE, BELOW = 1, 2  # the sides bear the numbers of the planes that are drawn there


@dataclass(frozen=True)
class PlacedArc:
    """An arc in a picture. Level 1 is next to the words; plane 0 is for the root and for what fits in neither plane."""

    head: int
    dependent: int
    plane: int
    side: int
    level: int = 0

    @property
    def is_root(self) -> bool:
        """Whether the head is the dummy root, which has no place among the words."""
        return self.head == 0

    @property
    def left(self) -> int:
        """The first word that the arc touches."""
        return self.dependent if self.is_root else min(self.head, self.dependent)

    @property
    def right(self) -> int:
        """The last word that the arc touches."""
        return max(self.head, self.dependent)

    @property
    def length(self) -> int:
        """How many gaps between words the arc spans."""
        return self.right - self.left


@dataclass(frozen=True)
class Skyline:
    """How high the arcs reach that one side holds so far: word w at index 2w, the gap behind it at 2w + 1.

    Arcs that only touch are over different gaps, so they may share a level.
    """

    tops: Int32s
    used: dict[int, set[int]] = field(default_factory=lambda: defaultdict(set))  # the levels of each word's arcs

    def add(self, arc: PlacedArc, *, ends_apart: bool) -> PlacedArc:
        """Lay an arc on all that it overlaps; with `ends_apart` it shares no level with what it touches either."""
        # The root's arc stands on its word but has a label that needs room to both sides.
        over = slice(2 * arc.left - 1, 2 * arc.left + 2) if arc.is_root else slice(2 * arc.left + 1, 2 * arc.right)
        level = int(self.tops[over].max()) + 1
        while ends_apart and (level in self.used[arc.left] or level in self.used[arc.right]):
            level += 1
        self.tops[over] = level
        self.used[arc.left].add(level)
        self.used[arc.right].add(level)
        return replace(arc, level=level)


def place_arcs(tree: Tree, planes: Sequence[int], *, down_the_page: bool = False) -> list[PlacedArc]:
    """A side and a level for every arc, in the order of the dependents.

    Plane 1 goes above and plane 2 below; an arc of no plane goes where it crosses nothing, or else above.
    `down_the_page`, with one word a line, all ends at a word lie on one line, so they need levels of their own; the
    root's arcs are left out, as they need no place.
    """
    sides = _sides(tree, planes)
    rows = zip(tree.heads, range(1, len(tree) + 1), planes, sides, strict=True)
    arcs = [PlacedArc(head, dependent, plane if head else 0, side) for head, dependent, plane, side in rows]
    shown = [arc for arc in arcs if not (down_the_page and arc.is_root)]
    skylines = {side: Skyline(np.zeros(2 * len(tree) + 2, dtype=np.int32)) for side in (ABOVE, BELOW)}
    placed = [skylines[arc.side].add(arc, ends_apart=down_the_page) for arc in _shortest_first(shown)]
    return sorted(placed, key=lambda arc: arc.dependent)


def highest(arcs: Iterable[PlacedArc], side: int) -> int:
    """The outermost level in use on a side, 0 where there is no arc."""
    return max((arc.level for arc in arcs if arc.side == side), default=0)


def _shortest_first(arcs: list[PlacedArc]) -> list[PlacedArc]:
    """So that what is nested is laid before what lies over it."""
    longest: dict[tuple[int, int], int] = defaultdict(int)
    for arc in arcs:
        for word in (arc.left, arc.right):
            longest[arc.side, word] = max(longest[arc.side, word], arc.length)
    # A root's label stands over the arcs that its word has, and under those that only pass.
    return sorted(arcs, key=lambda arc: longest[ABOVE, arc.dependent] + 0.5 if arc.is_root else arc.length)


def _sides(tree: Tree, planes: Sequence[int]) -> list[int]:
    sides = [plane if head else ABOVE for head, plane in zip(tree.heads, planes, strict=True)]
    # By side and word: the furthest words to the left and to the right that an arc joins it with.
    words = np.arange(len(tree) + 1, dtype=np.int32)
    firsts, lasts = {ABOVE: words.copy(), BELOW: words.copy()}, {ABOVE: words.copy(), BELOW: words.copy()}
    homeless_last = sorted((at for at, head in enumerate(tree.heads) if head), key=lambda at: sides[at] == 0)
    for at in homeless_last:
        left, right = sorted((at + 1, tree.heads[at]))
        if sides[at] == 0:
            free = (side for side in (ABOVE, BELOW) if not _crosses(left, right, firsts[side], lasts[side]))
            sides[at] = next(free, ABOVE)
        firsts[sides[at]][right] = min(firsts[sides[at]][right], left)
        lasts[sides[at]][left] = max(lasts[sides[at]][left], right)
    return sides


def _crosses(left: int, right: int, firsts: Int32s, lasts: Int32s) -> bool:
    """Whether a word strictly inside is joined with one strictly outside."""
    inside = slice(left + 1, right)
    return bool((firsts[inside] < left).any() or (lasts[inside] > right).any())
