"""Where words go on a line so that everything that belongs to them finds room, in cells of a terminal or in pixels."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise

from biplanar.draw.arcs import ABOVE, BELOW, PlacedArc
from biplanar.draw.cells import Texts

Reach = tuple[int, int]  # how far something reaches to the left and to the right of a centre


@dataclass(frozen=True)
class Measure:
    """How much room things take."""

    word: Callable[[str], int]
    relation: Callable[[str], int]
    label: Callable[[str], int]  # one of a row under the words
    gap: int  # between neighbouring words, at least
    steps: tuple[int, ...]  # between the ends of arcs at one word: the last that fits over the word, or else the first
    line: int  # what is seen of an arc's line on either side of its relation, at least
    shift: bool = False  # whether ends that do not fit over their word spread evenly to both sides of it


@dataclass(frozen=True)
class Ports:
    """Where on a word the ends of its arcs stand, counted from the word's centre."""

    columns: dict[tuple[int, int, int], int]  # by side, word and dependent
    extents: dict[tuple[int, int], tuple[int, int]]  # by side and word: the first and the last of them

    def column(self, arc: PlacedArc, word: int) -> int:
        """Where an arc ends at one of its two words."""
        return self.columns[arc.side, word, arc.dependent]


@dataclass(frozen=True)
class Stretch:
    """A part of an arc's level line that no other arc cuts: it runs between two words, from port to port."""

    left: int
    right: int
    start: int
    stop: int

    def room(self, distances: Sequence[int]) -> int:
        """What lies between the ports."""
        return sum(distances[self.left : self.right]) + self.stop - self.start - 1


@dataclass(frozen=True)
class PictureLayout:
    """The columns of everything in a picture.

    `distances[w]` is that between the centres of words w and w + 1; word 0 is the left margin.
    """

    texts: Texts
    arcs: Sequence[PlacedArc]
    measure: Measure
    ports: Ports
    stretches: dict[PlacedArc, Stretch]  # where each relation is written
    distances: list[int]
    after_last: int

    @cached_property
    def centres(self) -> list[int]:
        """The column of the middle of each word."""
        return [0, *accumulate(self.distances)]

    @property
    def width(self) -> int:
        """Of all that is drawn."""
        return sum(self.distances) + self.after_last + 1

    def ends(self, arc: PlacedArc) -> tuple[int, int]:
        """The columns of an arc's left and right end."""
        return self.end(arc, arc.left), self.end(arc, arc.right)

    def end(self, arc: PlacedArc, word: int) -> int:
        """The column of an arc's end at one of its words."""
        return self.centres[word] + self.ports.column(arc, word)

    def relation_start(self, arc: PlacedArc) -> int:
        """The first column of an arc's relation."""
        if arc.is_upright:
            return self.end(arc, arc.dependent) - halves(self.measure.relation(arc.label))[0]
        stretch = self.stretches[arc]
        spare = stretch.room(self.distances) - self.measure.relation(arc.label)
        return self.centres[stretch.left] + stretch.start + 1 + spare // 2


def lay_out(texts: Texts, arcs: Sequence[PlacedArc], measure: Measure, names: Sequence[str] = ()) -> PictureLayout:
    """Compute the columns: words as near as they can be with every relation in full.

    To the left there is room for the names of the texts' rows, and for further `names`.
    """
    ports = _ports(texts, arcs, measure)
    before, after = zip(*_reaches(texts, arcs, ports, measure), strict=True)
    gutter = max((measure.label(name) + measure.gap for name in (*texts.rows, *names)), default=0)
    between = (left + 1 + measure.gap + right for left, right in zip(after[:-1], before[1:], strict=True))
    distances = [gutter + before[0], *between]
    heights = _heights(arcs)
    stretches = {}
    for arc in sorted(arcs, key=lambda arc: arc.length):
        if not arc.is_upright:
            stretches[arc] = _make_room(arc, list(_stretches(arc, ports, heights)), distances, measure)
    return PictureLayout(texts, arcs, measure, ports, stretches, distances, after[-1])


def halves(width: int) -> Reach:
    """How far a text of some width reaches to the left and to the right of its centre."""
    return (max(width, 1) - 1) // 2, max(width, 1) // 2


def _ports(texts: Texts, arcs: Sequence[PlacedArc], measure: Measure) -> Ports:
    ends: dict[tuple[int, int], list[PlacedArc]] = defaultdict(list)
    for arc in arcs:
        for word in {arc.left, arc.right}:  # one and the same for an upright arc
            ends[arc.side, word].append(arc)
    ports = Ports({}, {})
    for (side, word), here in ends.items():
        offsets = _spread(word, here, halves(measure.word(texts.words[word - 1])), measure)
        ports.columns.update({(side, word, dependent): offset for dependent, offset in offsets.items()})
        ports.extents[side, word] = min(offsets.values()), max(offsets.values())
    return ports


def _spread(word: int, arcs: list[PlacedArc], room: Reach, measure: Measure) -> dict[int, int]:
    """Columns for the arcs of one word, by dependent: the order in which they nest, the word's own in the centre."""
    order = [arc.dependent for arc in sorted(arcs, key=lambda arc: _turn(arc, word))]
    middle = (len(order) - 1) / 2
    centre = order.index(word) if word in order else int(middle)
    before, after = centre, len(order) - 1 - centre
    fitting = [step for step in measure.steps if step * before <= room[0] and step * after <= room[1]]
    step = fitting[-1] if fitting else measure.steps[0]
    origin = middle if measure.shift and not fitting else centre
    return {dependent: round((at - origin) * step) for at, dependent in enumerate(order)}


def _turn(arc: PlacedArc, word: int) -> tuple[int, int]:
    """From left to right: left arcs, the shortest first, an upright one, right arcs, the longest first."""
    direction = (arc.right > word) - (arc.left < word)
    return direction, -direction * arc.length


def _reaches(texts: Texts, arcs: Sequence[PlacedArc], ports: Ports, measure: Measure) -> Iterator[Reach]:
    """How far each word with all that belongs to it reaches to the left and to the right of its centre."""
    upright: dict[int, list[Reach]] = defaultdict(list)
    for arc in arcs:
        if arc.is_upright:
            left, right = halves(measure.relation(arc.label))
            column = ports.column(arc, arc.dependent)
            upright[arc.dependent].append((left - column, right + column))
    for word, form in enumerate(texts.words, 1):
        widths = [measure.word(form), *(measure.label(row[word - 1]) for row in texts.rows.values())]
        extents = (ports.extents.get((side, word), (0, 0)) for side in (ABOVE, BELOW))
        reaches = [*map(halves, widths), *upright[word], *((-first, last) for first, last in extents)]
        yield max(left for left, _ in reaches), max(right for _, right in reaches)


def _heights(arcs: Sequence[PlacedArc]) -> dict[tuple[int, int], int]:
    """By side and word: the level of the outermost arc that has an end there."""
    heights: dict[tuple[int, int], int] = defaultdict(int)
    for arc in arcs:
        for word in (arc.left, arc.right):
            heights[arc.side, word] = max(heights[arc.side, word], arc.level)
    return heights


def _stretches(arc: PlacedArc, ports: Ports, heights: dict[tuple[int, int], int]) -> Iterator[Stretch]:
    """A relation written across another arc's line would hide the crossing, so lines are cut where arcs cross them."""
    crossed = [word for word in range(arc.left + 1, arc.right) if heights.get((arc.side, word), 0) > arc.level]
    ends = {word: (column := ports.column(arc, word), column) for word in (arc.left, arc.right)}
    stops = ends | {word: ports.extents[arc.side, word] for word in crossed}
    for left, right in pairwise(sorted(stops)):
        yield Stretch(left, right, stops[left][1], stops[right][0])


def _make_room(arc: PlacedArc, stretches: list[Stretch], distances: list[int], measure: Measure) -> Stretch:
    """Widen the gaps under an arc, evenly, until its relation fits into the widest stretch; returns that stretch."""
    stretch = max(stretches, key=lambda stretch: stretch.room(distances))
    gaps = stretch.right - stretch.left
    missing = max(measure.relation(arc.label) + 2 * measure.line - stretch.room(distances), 0)
    for gap in range(gaps):
        distances[stretch.left + gap] += (missing + gap) // gaps
    return stretch
