"""Where arcs go in a picture: on which side of the words, and how far from them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from biplanar.data.arrays import Int32s
from biplanar.data.graph import Graph
from biplanar.data.tree import Tree
from biplanar.draw.text import clean
from biplanar.errors import GraphError, LabelError, TreeError
from biplanar.planes.assignment import planes_of
from biplanar.planes.crossings import crossing_words

ABOVE, BELOW = 1, 2  # the sides bear the numbers of the planes that are drawn there
ENHANCED = 3  # in place of a plane: of arcs that are in the enhanced graph and not in the tree


@dataclass(frozen=True)
class PlacedArc:
    """An arc in a picture. Level 1 is next to the words; plane 0 is for the root and for what fits in neither plane."""

    head: int
    dependent: int
    plane: int
    side: int
    label: str = ""
    level: int = 0
    is_cut: bool = False  # its head is named in its label instead of being led to
    is_extra: bool = False  # not of the tree: it lies outside of all others, and is hidden at first

    @property
    def is_enhanced(self) -> bool:
        """Whether only the enhanced graph has it; it lies outside of all others."""
        return self.plane == ENHANCED

    @property
    def port(self) -> Hashable:
        """What tells its end at a word from the others there: a word has one arc in the tree, and any in the graph."""
        return (self.head, self.dependent, self.label) if self.is_enhanced else self.dependent

    @property
    def is_root(self) -> bool:
        """Whether the head is the dummy root, which has no place among the words."""
        return self.head == 0

    @property
    def is_upright(self) -> bool:
        """Whether it is a line that stands on its dependent and leads nowhere."""
        return self.is_root or self.is_cut

    @property
    def left(self) -> int:
        """The first word that the arc touches."""
        return self.dependent if self.is_upright else min(self.head, self.dependent)

    @property
    def right(self) -> int:
        """The last word that the arc touches."""
        return self.dependent if self.is_upright else max(self.head, self.dependent)

    @property
    def length(self) -> int:
        """How many gaps between words the arc spans."""
        return self.right - self.left


@dataclass(frozen=True)
class Skyline:
    """How high the arcs on one side reach; arcs that only touch are over different gaps and may share a level."""

    tops: Int32s  # over word w at index 2w, over the gap behind it at 2w + 1
    used: dict[int, set[int]] = field(default_factory=lambda: defaultdict(set))  # the levels of each word's arcs

    def add(self, arc: PlacedArc, *, ends_apart: bool) -> PlacedArc:
        """Lay an arc on all that it overlaps; with `ends_apart` it shares no level with what it touches either."""
        over = slice(2 * arc.left, 2 * arc.left + 1) if arc.is_upright else slice(2 * arc.left + 1, 2 * arc.right)
        # An upright arc has a label as wide as its word may be, which stands over the other arcs that begin there.
        under = slice(2 * arc.left - 1, 2 * arc.left + 2) if arc.is_upright else over
        level = int(self.tops[under].max()) + 1
        while ends_apart and (level in self.used[arc.left] or level in self.used[arc.right]):
            level += 1
        self.tops[over] = level
        self.used[arc.left].add(level)
        self.used[arc.right].add(level)
        return replace(arc, level=level)


def check_drawable(forms: Sequence[str], tree: Tree, planes: Sequence[int], rows: Mapping[str, Sequence[str]]) -> None:
    """Raise an error if words, tree, planes and rows do not fit together."""
    if len(forms) != len(tree):
        raise TreeError(f"a tree of {len(tree)} words does not fit {len(forms)} forms")
    for name, row in {"planes": planes, **rows}.items():
        if len(row) != len(tree):
            raise LabelError(f"{name}: {len(row)} values for {len(tree)} words")
    if unknown := set(planes) - {0, 1, 2}:
        raise LabelError(f"there is no plane {min(unknown)}, only 0 (none), 1 and 2")


def planes_to_draw(tree: Tree) -> list[int]:
    """A plane for every arc, so that no two of one plane cross; 0 for those that fit in neither, and for the root's.

    `2p-prop` finds two planes for all arcs where there are any. Where there are none it leaves out more arcs than
    must be, and those that fit are given back.
    """
    return _fill(tree, planes_of(tree, "2p-prop"))


@dataclass(frozen=True)
class Enhanced:
    """A tree and the enhanced graph of the same words, to be drawn in one picture."""

    tree: Tree  # with the relations that its arcs have in the graph
    arcs: tuple[PlacedArc, ...]  # that the tree does not have, under the words
    dropped: frozenset[int]  # words whose arcs in the tree are not in the graph

    @classmethod
    def of(cls, tree: Tree, graph: Graph | None) -> Enhanced:
        """Paths through empty nodes are drawn as one arc; without a graph, there is nothing but the tree."""
        if graph is None:
            return cls(tree, (), frozenset())
        if len(graph) != len(tree):
            raise GraphError(f"a graph of {len(graph)} words does not fit a tree of {len(tree)}")
        deprels, arcs, dropped = list(tree.deprels), list[PlacedArc](), set[int]()
        for word, heads in enumerate(graph.collapsed().heads, 1):
            own = next((one for one in heads if one.head == tree.heads[word - 1]), None)
            if own is None:
                dropped.add(word)
            else:
                deprels[word - 1] = own.relation
            others = ((int(one.head), one.relation) for one in heads if one not in (own, (word, one.relation)))
            arcs += [PlacedArc(head, word, ENHANCED, BELOW, clean(relation)) for head, relation in others]
        return cls(Tree(tree.heads, tuple(deprels)), tuple(arcs), frozenset(dropped))


def crossing_dependents(tree: Tree) -> set[int]:
    """The words whose arcs cross another one: none if the tree is projective, and two at least if it is not.

    The root's arc comes from an artificial root before the first word, so that it is crossed by what passes over it.
    """
    crossing = set(crossing_words(tree))
    for dependent, head in enumerate(tree.heads, 1):
        over = [root for root in tree.roots if head and min(head, dependent) < root < max(head, dependent)]
        crossing.update(over, [dependent] if over else [])
    return crossing


def place_arcs(
    tree: Tree,
    planes: Sequence[int],
    *,
    extra: Iterable[PlacedArc] = (),
    down_the_page: bool = False,
    most_levels: int | None = None,
) -> list[PlacedArc]:
    """A side and a level for every arc, in the order of the dependents.

    Plane 1 goes above and plane 2 below; an arc of no plane goes where it crosses nothing, or else above. Those of
    `extra`, which are not of the tree, have a side already.
    `down_the_page`, with one word a line, all ends at a word lie on one line, so they need levels of their own; the
    root's arcs are left out, as they need no place. Arcs beyond `most_levels` are cut: only their dependents have an
    end of them, and a label that names the head.
    """
    arcs = _arcs(tree, planes, [plane or ABOVE for plane in _fill(tree, planes)])
    shown = [arc for arc in (*arcs, *extra) if not (down_the_page and arc.is_root)]
    return _lay(shown, len(tree), ends_apart=down_the_page, most_levels=most_levels)


def place_facing(above: Tree, below: Tree, *, most_levels: int | None = None) -> list[PlacedArc]:
    """The arcs of two trees of the same words, one on each side, all in no plane."""
    words, none = len(above), [0] * len(above)
    arcs = [*_arcs(above, none, [ABOVE] * words), *_arcs(below, none, [BELOW] * words)]
    return _lay(arcs, words, most_levels=most_levels)


def highest(arcs: Iterable[PlacedArc], side: int) -> int:
    """The outermost level in use on a side, 0 where there is no arc."""
    return max((arc.level for arc in arcs if arc.side == side), default=0)


def _arcs(tree: Tree, planes: Sequence[int], sides: Sequence[int]) -> list[PlacedArc]:
    rows = zip(tree.heads, planes, sides, map(clean, tree.deprels), strict=True)
    return [
        PlacedArc(head, dependent, plane if head else 0, side, label)
        for dependent, (head, plane, side, label) in enumerate(rows, 1)
    ]


def _lay(
    arcs: list[PlacedArc], words: int, *, ends_apart: bool = False, most_levels: int | None = None
) -> list[PlacedArc]:
    skylines = {side: Skyline(np.zeros(2 * words + 2, dtype=np.int32)) for side in (ABOVE, BELOW)}
    placed = [skylines[arc.side].add(arc, ends_apart=ends_apart) for arc in _shortest_first(arcs)]
    if most_levels is not None and any(arc.level > most_levels and not arc.is_upright for arc in placed):
        return _lay([_cut(arc) if arc.level > most_levels else arc for arc in placed], words, ends_apart=ends_apart)
    return sorted(placed, key=lambda arc: arc.dependent)


def _cut(arc: PlacedArc) -> PlacedArc:
    return arc if arc.is_root else replace(arc, label=f"{arc.label} (head {arc.head})".lstrip(), is_cut=True)


def _shortest_first(arcs: list[PlacedArc]) -> list[PlacedArc]:
    """So that what is nested is laid before what lies over it."""
    longest: dict[tuple[int, int], int] = defaultdict(int)
    for arc in arcs:
        for word in (arc.left, arc.right):
            longest[arc.side, word] = max(longest[arc.side, word], arc.length)

    def turn(arc: PlacedArc) -> tuple[bool, float]:
        # An upright arc's label stands over the arcs that its word has, and under those that only pass.
        outside = arc.is_extra or arc.is_enhanced
        return outside, longest[arc.side, arc.dependent] + 0.5 if arc.is_upright else arc.length

    return sorted(arcs, key=turn)


def _fill(tree: Tree, planes: Sequence[int]) -> list[int]:
    """The planes, with one for each arc that has none and fits into one; 0 for the root's."""
    filled = [plane if head else 0 for head, plane in zip(tree.heads, planes, strict=True)]
    # By plane and word: the furthest words to the left and to the right that an arc joins it with.
    words = np.arange(len(tree) + 1, dtype=np.int32)
    firsts, lasts = {1: words.copy(), 2: words.copy()}, {1: words.copy(), 2: words.copy()}
    unassigned_last = sorted((at for at, head in enumerate(tree.heads) if head), key=lambda at: planes[at] == 0)
    for at in unassigned_last:
        left, right = sorted((at + 1, tree.heads[at]))
        if planes[at] == 0:
            free = (plane for plane in (1, 2) if not _crosses(left, right, firsts[plane], lasts[plane]))
            filled[at] = next(free, 0)
        if plane := filled[at]:
            firsts[plane][right] = min(firsts[plane][right], left)
            lasts[plane][left] = max(lasts[plane][left], right)
    return filled


def _crosses(left: int, right: int, firsts: Int32s, lasts: Int32s) -> bool:
    """Whether a word strictly inside is joined with one strictly outside."""
    inside = slice(left + 1, right)
    return bool((firsts[inside] < left).any() or (lasts[inside] > right).any())
