"""The words on one line, plane 1 above them and plane 2 below."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from rich.cells import cell_len

from biplanar.draw.arcs import ABOVE, BELOW, PlacedArc, highest
from biplanar.draw.cells import (
    BOXES,
    DIM,
    DOWN,
    LEFT,
    LEVEL,
    PLANE_STYLES,
    RIGHT,
    UP,
    UPRIGHT,
    Piece,
    Texts,
    join_line,
)

GAP = 2  # cells between neighbouring words, at least
ARROWS = {ABOVE: "▼", BELOW: "▲"}


@dataclass(frozen=True)
class Ports:
    """Where on a word the ends of its arcs stand: columns counted from the word's centre, by word and dependent."""

    columns: dict[tuple[int, int], int]
    extents: dict[tuple[int, int], tuple[int, int]]  # by side and word: the first and the last of them


@dataclass(frozen=True)
class Stretch:
    """A part of an arc's level line that no other arc cuts: it runs between two words, from port to port."""

    left: int
    right: int
    start: int
    stop: int

    def room(self, distances: Sequence[int]) -> int:
        """The cells between the ports."""
        return sum(distances[self.left : self.right]) + self.stop - self.start - 1


@dataclass(frozen=True)
class Layout:
    """A picture whose every column is settled. `distances[w]` lies between the centres of words w and w + 1;

    word 0 is the left margin.
    """

    texts: Texts
    arcs: Sequence[PlacedArc]
    ports: Ports
    stretches: dict[int, list[Stretch]]
    distances: list[int]
    after_last: int

    @property
    def centres(self) -> list[int]:
        """The column in which a word's own arc arrives, by word."""
        return [0, *accumulate(self.distances)]

    @property
    def width(self) -> int:
        """The cells of the widest line."""
        return sum(self.distances) + self.after_last + 1


def least_width(texts: Texts) -> int:
    """A quick bound: the words alone need as much."""
    return sum(map(cell_len, texts.words)) + GAP * (len(texts.words) - 1)


def lay_out(texts: Texts, arcs: Sequence[PlacedArc]) -> Layout:
    """Settle the columns: words as near as they can be with every label in full."""
    ports = _ports(texts, arcs)
    before, after = _extents(texts, arcs, ports)
    gutter = max((cell_len(name) + GAP for name in texts.rows), default=0)
    distances = [gutter + before[1], *(after[word] + before[word + 1] + 1 + GAP for word in range(1, len(texts.words)))]
    heights = _heights(arcs)
    stretches = {arc.dependent: list(_stretches(arc, ports, heights)) for arc in arcs if not arc.is_root}
    for arc in sorted(arcs, key=lambda arc: arc.length):
        if not arc.is_root:
            _make_room(_label(texts, arc), stretches[arc.dependent], distances)
    return Layout(texts, arcs, ports, stretches, distances, after[len(texts.words)])


def draw_horizontal(layout: Layout, *, colour: bool = False) -> str:
    """The picture, line by line from the top."""
    above, below = _side(layout, ABOVE), _side(layout, BELOW)
    lines = [*above, *_text_lines(layout), *reversed(below)]
    return "\n".join(join_line(line, colour=colour) for line in lines)


def halves(text: str) -> tuple[int, int]:
    """How far a text reaches to the left and to the right of its centre."""
    width = max(cell_len(text), 1)
    return (width - 1) // 2, width // 2


def _label(texts: Texts, arc: PlacedArc) -> str:
    return texts.relations[arc.dependent - 1]


def _ports(texts: Texts, arcs: Sequence[PlacedArc]) -> Ports:
    ends: dict[tuple[int, int], list[PlacedArc]] = defaultdict(list)
    for arc in arcs:
        for word in {arc.left, arc.right}:  # one and the same for the root
            ends[arc.side, word].append(arc)
    ports = Ports({}, {})
    for (side, word), here in ends.items():
        offsets = _spread(word, here, halves(texts.words[word - 1]))
        ports.columns.update({(word, dependent): offset for dependent, offset in offsets.items()})
        ports.extents[side, word] = min(offsets.values()), max(offsets.values())
    return ports


def _spread(word: int, arcs: list[PlacedArc], room: tuple[int, int]) -> dict[int, int]:
    """Columns for the arcs of one word, by dependent: the order in which they nest, the word's own in the centre."""
    order = [arc.dependent for arc in sorted(arcs, key=lambda arc: _turn(arc, word))]
    centre = order.index(word) if word in order else (len(order) - 1) // 2
    airy = 2 * centre <= room[0] and 2 * (len(order) - 1 - centre) <= room[1]
    return {dependent: (at - centre) * (1 + airy) for at, dependent in enumerate(order)}


def _turn(arc: PlacedArc, word: int) -> tuple[int, int]:
    """From left to right: arcs to the left, the shortest first, the root's, arcs to the right, the longest first."""
    direction = (arc.right > word) - (arc.left < word)
    return direction, -direction * arc.length


def _extents(texts: Texts, arcs: Sequence[PlacedArc], ports: Ports) -> tuple[dict[int, int], dict[int, int]]:
    """How far each word with all that belongs to it reaches to the left and to the right of its centre."""
    before: dict[int, int] = {}
    after: dict[int, int] = {}
    for arc in arcs:
        word = arc.dependent
        shown = [texts.words[word - 1], *(row[word - 1] for row in texts.rows.values())]
        reaches = [halves(text) for text in [*shown, *([_label(texts, arc)] if arc.is_root else [])]]
        reaches += [(-low, high) for low, high in (ports.extents.get((side, word), (0, 0)) for side in (ABOVE, BELOW))]
        before[word], after[word] = (max(reach) for reach in zip(*reaches, strict=True))
    return before, after


def _heights(arcs: Sequence[PlacedArc]) -> dict[tuple[int, int], int]:
    """By side and word: the level of the outermost arc that has an end there."""
    heights: dict[tuple[int, int], int] = defaultdict(int)
    for arc in arcs:
        for word in (arc.left, arc.right):
            heights[arc.side, word] = max(heights[arc.side, word], arc.level)
    return heights


def _stretches(arc: PlacedArc, ports: Ports, heights: dict[tuple[int, int], int]) -> Iterator[Stretch]:
    """A label written across another arc's line would hide the crossing, so lines are cut where arcs cross them."""
    crossed = [word for word in range(arc.left + 1, arc.right) if heights.get((arc.side, word), 0) > arc.level]
    ends = {word: (column := ports.columns[word, arc.dependent], column) for word in (arc.left, arc.right)}
    stops = ends | {word: ports.extents[arc.side, word] for word in crossed}
    for left, right in pairwise(sorted(stops)):
        yield Stretch(left, right, stops[left][1], stops[right][0])


def _make_room(label: str, stretches: list[Stretch], distances: list[int]) -> None:
    """Widen the gaps under an arc, evenly, until its label fits with a bit of line on either side."""
    stretch = max(stretches, key=lambda stretch: stretch.room(distances))
    gaps = stretch.right - stretch.left
    missing = max(cell_len(label) + 2 - stretch.room(distances), 0)
    for gap in range(gaps):
        distances[stretch.left + gap] += (missing + gap) // gaps


def _text_lines(layout: Layout) -> Iterator[list[Piece]]:
    yield _text_line(layout, "", layout.texts.words)
    for name, row in layout.texts.rows.items():
        yield _text_line(layout, name, row)


def _text_line(layout: Layout, name: str, texts: Sequence[str]) -> list[Piece]:
    places = zip(layout.centres[1:], texts, strict=True)
    pieces = [Piece(0, name, DIM), *(Piece(centre - halves(text)[0], text) for centre, text in places)]
    return [piece for piece in pieces if piece.text]


def _side(layout: Layout, side: int) -> list[list[Piece]]:
    """The lines of one side, the outermost first and the arrow heads last."""
    arcs = [arc for arc in layout.arcs if arc.side == side]
    if not arcs:
        return []
    centres = layout.centres
    levels = range(highest(arcs, side), 0, -1)
    return [*(_level_line(layout, arcs, level, centres) for level in levels), _arrow_line(layout, arcs, centres)]


def _level_line(layout: Layout, arcs: Sequence[PlacedArc], level: int, centres: list[int]) -> list[Piece]:
    strokes: dict[int, int] = defaultdict(int)
    styles: dict[int, str] = {}
    labels: list[Piece] = []
    for arc in arcs:
        if arc.level < level:
            continue
        left, right = (centres[word] + layout.ports.columns[word, arc.dependent] for word in (arc.left, arc.right))
        if arc.level == level:
            labels.append(_label_piece(layout, arc, centres))
        for column, stroke in _strokes(arc, level, left, right):
            strokes[column] |= stroke
            styles[column] = PLANE_STYLES[arc.plane]
    hidden = {column for label in labels for column in range(label.column, label.end)}
    lines = [Piece(column, BOXES[stroke], styles[column]) for column, stroke in strokes.items() if column not in hidden]
    return [*lines, *(label for label in labels if label.text)]


def _strokes(arc: PlacedArc, level: int, left: int, right: int) -> Iterator[tuple[int, int]]:
    """The lines that an arc adds to a level, cell by cell."""
    inwards = DOWN if arc.side == ABOVE else UP
    if arc.level > level:
        yield left, UPRIGHT
        yield right, UPRIGHT
    elif arc.is_root:
        yield left, UPRIGHT  # seen only where there is no label
    else:
        yield left, inwards | RIGHT
        yield right, inwards | LEFT
        yield from ((column, LEVEL) for column in range(left + 1, right))


def _label_piece(layout: Layout, arc: PlacedArc, centres: list[int]) -> Piece:
    label = _label(layout.texts, arc)
    if arc.is_root:
        return Piece(centres[arc.dependent] - halves(label)[0], label, DIM)
    stretch = max(layout.stretches[arc.dependent], key=lambda stretch: stretch.room(layout.distances))
    spare = stretch.room(layout.distances) - cell_len(label)
    return Piece(centres[stretch.left] + stretch.start + 1 + spare // 2, label, DIM)


def _arrow_line(layout: Layout, arcs: Sequence[PlacedArc], centres: list[int]) -> list[Piece]:
    pieces = []
    for arc in arcs:
        style = PLANE_STYLES[arc.plane]
        pieces.append(Piece(centres[arc.dependent], ARROWS[arc.side], style))
        if not arc.is_root:
            column = centres[arc.head] + layout.ports.columns[arc.head, arc.dependent]
            pieces.append(Piece(column, BOXES[UPRIGHT], style))
    return pieces
