"""Where words, and the rows of text under them, go on a line: in cells of a terminal or in pixels."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import NamedTuple

from biplanar.data.conllu import FEATS, LEMMA, UPOS, XPOS, Sentence
from biplanar.data.words import parse_feats
from biplanar.draw.arcs import PlacedArc
from biplanar.errors import check_name

Reach = tuple[int, int]  # how far something reaches to the left and to the right of a centre
Rows = Mapping[str, Sequence[str]]  # texts under the words, a text for each word behind a name

# The columns of CoNLL-U that can stand under the words.
COLUMNS = {"upos": UPOS, "xpos": XPOS, "feats": FEATS, "lemma": LEMMA}


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


class Stretch(NamedTuple):
    """A part of an arc's level line that no other arc cuts: it runs between two words, from port to port."""

    left: int
    right: int
    start: int
    stop: int

    def room(self, distances: Sequence[int]) -> int:
        """What lies between the ports."""
        return sum(distances[self.left : self.right]) + self.stop - self.start - 1


class Layout:
    """The columns of everything in a picture: words as near as they can be with every relation in full.

    `distances[w]` is that between the centres of words w and w + 1. Word 0 is the left margin, with room for the names
    of the rows, and for further `names`. A port is where an arc ends at a word, counted from the word's centre.
    """

    def __init__(
        self, words: Sequence[str], rows: Rows, arcs: Sequence[PlacedArc], measure: Measure, names: Sequence[str] = ()
    ) -> None:
        self.words, self.rows, self.arcs, self.measure = words, rows, arcs, measure
        self._ports: dict[tuple[int, int, Hashable], int] = {}  # by side, word and the arc's `port`
        self._extents: dict[tuple[int, int], tuple[int, int]] = {}  # by side and word: the first and the last port
        self._heights: dict[tuple[int, int], int] = {}  # by side and word: the level of the outermost arc
        self._place_ports()
        before, after = zip(*self._reaches(), strict=True)
        gutter = max((measure.label(name) + measure.gap for name in (*rows, *names)), default=0)
        between = (left + 1 + measure.gap + right for left, right in zip(after[:-1], before[1:], strict=True))
        self.distances = [gutter + before[0], *between]
        shortest_first = sorted(arcs, key=lambda arc: arc.length)
        self._stretches = {arc: self._make_room(arc) for arc in shortest_first if not arc.is_upright}
        self.centres: list[int] = [0, *accumulate(self.distances)]
        self.width = self.centres[-1] + after[-1] + 1

    def end(self, arc: PlacedArc, word: int) -> int:
        """The column of an arc's end at one of its words."""
        return self.centres[word] + self._port(arc, word)

    def relation_start(self, arc: PlacedArc) -> int:
        """The first column of an arc's relation."""
        width = self.measure.relation(arc.label)
        if arc.is_upright:
            return self.end(arc, arc.dependent) - halves(width)[0]
        stretch = self._stretches[arc]
        return self.centres[stretch.left] + stretch.start + 1 + (stretch.room(self.distances) - width) // 2

    def _port(self, arc: PlacedArc, word: int) -> int:
        return self._ports[arc.side, word, arc.port]

    def _place_ports(self) -> None:
        ends: dict[tuple[int, int], list[PlacedArc]] = defaultdict(list)
        for arc in self.arcs:
            for word in {arc.left, arc.right}:  # one and the same for an upright arc
                ends[arc.side, word].append(arc)
        for (side, word), arcs in ends.items():
            ports = _spread(word, arcs, halves(self.measure.word(self.words[word - 1])), self.measure)
            self._ports |= {(side, word, name): port for name, port in ports.items()}
            self._extents[side, word] = min(ports.values()), max(ports.values())
            self._heights[side, word] = max(arc.level for arc in arcs)

    def _reaches(self) -> Iterator[Reach]:
        """How far each word with all that belongs to it reaches to the left and to the right of its centre."""
        reaches: dict[int, list[Reach]] = defaultdict(list)
        for (_, word), (first, last) in self._extents.items():
            reaches[word].append((-first, last))
        for arc in self.arcs:
            if arc.is_upright:
                (left, right), port = halves(self.measure.relation(arc.label)), self._port(arc, arc.dependent)
                reaches[arc.dependent].append((left - port, right + port))
        for word, form in enumerate(self.words, 1):
            widths = [self.measure.word(form), *(self.measure.label(row[word - 1]) for row in self.rows.values())]
            lefts, rights = zip(*map(halves, widths), *reaches[word], strict=True)
            yield max(lefts), max(rights)

    def _make_room(self, arc: PlacedArc) -> Stretch:
        """The widest stretch of an arc; the gaps under it are widened, evenly, until the relation fits."""
        stretch = max(self._uncut(arc), key=lambda stretch: stretch.room(self.distances))
        gaps = stretch.right - stretch.left
        wanted = self.measure.relation(arc.label) + 2 * self.measure.line
        missing = max(wanted - stretch.room(self.distances), 0)
        for gap in range(gaps):
            self.distances[stretch.left + gap] += (missing + gap) // gaps
        return stretch

    def _uncut(self, arc: PlacedArc) -> Iterator[Stretch]:
        """A relation written across another arc's line would hide the crossing, so lines are cut where arcs cross."""
        inside = range(arc.left + 1, arc.right)
        crossed = [word for word in inside if self._heights.get((arc.side, word), 0) > arc.level]
        stops = {word: (self._port(arc, word),) * 2 for word in (arc.left, arc.right)}
        stops |= {word: self._extents[arc.side, word] for word in crossed}
        for left, right in pairwise(sorted(stops)):
            yield Stretch(left, right, stops[left][1], stops[right][0])


def halves(width: int) -> Reach:
    """How far a text of some width reaches to the left and to the right of its centre."""
    return (max(width, 1) - 1) // 2, max(width, 1) // 2


def _spread(word: int, arcs: list[PlacedArc], room: Reach, measure: Measure) -> dict[Hashable, int]:
    """Ports for the arcs of one word: the order in which they nest, that of its arc in the tree in the centre."""
    order = [arc.port for arc in sorted(arcs, key=lambda arc: _turn(arc, word))]
    middle = (len(order) - 1) / 2
    centre = order.index(word) if word in order else int(middle)
    before, after = centre, len(order) - 1 - centre
    fitting = [step for step in measure.steps if step * before <= room[0] and step * after <= room[1]]
    step = fitting[-1] if fitting else measure.steps[0]
    origin = middle if measure.shift and not fitting else centre
    return {port: round((at - origin) * step) for at, port in enumerate(order)}


def _turn(arc: PlacedArc, word: int) -> tuple[int, int]:
    """From left to right: left arcs, the shortest first, an upright one, right arcs, the longest first."""
    direction = (arc.right > word) - (arc.left < word)
    return direction, -direction * arc.length


# Columns of CoNLL-U under the words


def check_columns(names: Iterable[str]) -> None:
    """Raise an error if one of the names is that of no column."""
    for name in names:
        check_name("column", name, COLUMNS)


def columns_of(sentence: Sentence, names: Iterable[str]) -> dict[str, list[str]]:
    """Some columns of a sentence by their names: `upos`, `xpos`, `feats`, `lemma`."""
    names = list(names)
    check_columns(names)
    return {name: sentence.column(COLUMNS[name]) for name in names}


def compared_columns(gold: Rows, system: Rows) -> dict[str, list[str]]:
    """The gold values; where the system has another, both: `NOUN vs VERB`, and of features `Case=Nom vs Acc`."""
    return {
        name: [
            (_both_feats if name == "feats" else _both)(*pair) for pair in zip(gold[name], system[name], strict=True)
        ]
        for name in gold
    }


def column_rows(columns: Rows, *, whole_feats: bool = False) -> dict[str, tuple[str, ...]]:
    """A row for each column, and one for each feature in the place of `feats`; what has no values has no row."""
    rows: dict[str, Sequence[str]] = {}
    for name, values in columns.items():
        rows |= _feature_rows(values) if name == "feats" and not whole_feats else {name: values}
    shown = {name: tuple("" if value == "_" else value for value in row) for name, row in rows.items()}
    return {name: row for name, row in shown.items() if any(row)}


def _feature_rows(column: Sequence[str]) -> dict[str, list[str]]:
    """For each feature, in the order of the alphabet, its value at each word or `_`."""
    words = [parse_feats(feats) for feats in column]
    names = sorted({name for features in words for name in features}, key=lambda name: (name.lower(), name))
    return {name: [features.get(name, "_") for features in words] for name in names}


def _both(gold: str, system: str) -> str:
    return gold if gold == system else f"{gold} vs {system}"


def _both_feats(gold: str, system: str) -> str:
    wanted, found = parse_feats(gold), parse_feats(system)
    pairs = {name: _both(wanted.get(name, "_"), found.get(name, "_")) for name in wanted | found}
    return "|".join(f"{name}={value}" for name, value in pairs.items()) or "_"
