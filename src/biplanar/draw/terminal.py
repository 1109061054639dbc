"""A tree as text, in box-drawing characters: across where it fits, else down the page with one word a line."""

from __future__ import annotations

import unicodedata
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, groupby
from typing import NamedTuple

from rich.cells import cell_len

from biplanar.data.graph import Graph
from biplanar.data.tree import Tree
from biplanar.draw.arcs import (
    ABOVE,
    BELOW,
    ENHANCED,
    Enhanced,
    PlacedArc,
    check_drawable,
    highest,
    place_arcs,
    planes_to_draw,
)
from biplanar.draw.layout import Layout, Measure, Rows, column_rows, halves
from biplanar.draw.text import JOINER, clean

WIDEST = 2000  # cells; wider lines of words are never drawn, even where no width is asked for
MOST_LEVELS = 12  # on each side of words down the page; what lies further out is given as the number of the head
SHORTEST_CUT = 8  # words are not cut below that many cells to make room for arcs
CELLS = Measure(word=cell_len, relation=cell_len, label=cell_len, gap=2, steps=(1, 2), line=1)

UP, DOWN, LEFT, RIGHT = 1, 2, 4, 8
UPRIGHT, LEVEL = UP | DOWN, LEFT | RIGHT
BOXES = " ╵╷│╴┘┐┤╶└┌├─┴┬┼"  # by the sum of the directions in which a line leaves the cell
ROOT_MARK = "●"

PLAIN, DIM = "", "2"
# Blue, orange and green are told apart with every common kind of colour blindness.
PLANE_STYLES = {0: PLAIN, 1: "38;5;33", 2: "38;5;208", ENHANCED: "38;5;36"}

_LEFT_TO_RIGHT_MARK = "\u200e"  # takes no cell


def draw_tree(
    forms: Sequence[str],
    tree: Tree,
    *,
    planes: Sequence[int] | None = None,
    rows: Rows | None = None,
    columns: Rows | None = None,
    width: int | None = None,
    colour: bool = False,
    graph: Graph | None = None,
) -> str:
    """The tree as lines of text: plane 1 above the words and plane 2 below, an arrow head into each dependent.

    `planes` gives the plane of each word's arc (0 for none), by default such that no two arcs of one plane cross.
    `rows` stand under the words, a label for each word behind a name, and over them `columns` of CoNLL-U: `upos`,
    `xpos`, `feats`, `lemma`. What is wider than `width` cells is drawn one word a line instead. Arcs that only the
    enhanced `graph` has lie below all others.
    """
    rows, columns = rows or {}, columns or {}
    planes = planes_to_draw(tree) if planes is None else planes
    check_drawable(forms, tree, planes, {**columns, **rows})
    words, enhanced = list(map(clean, forms)), Enhanced.of(tree, graph)
    tree = enhanced.tree
    limit = WIDEST if width is None else width
    least = sum(map(cell_len, words)) + CELLS.gap * (len(words) - 1)  # of the words alone
    if least <= limit:
        arcs = place_arcs(tree, planes, extra=enhanced.arcs)
        layout = Layout(words, _clean(column_rows(columns) | dict(rows)), arcs, CELLS)
        if layout.width <= limit:
            return _joined(draw_across(layout), colour)
    arcs = place_arcs(tree, planes, extra=enhanced.arcs, down_the_page=True)
    rows = {**rows, **_enhanced_row(words, enhanced.arcs)}
    values = column_rows(columns, whole_feats=True)
    feats = {name: values.pop(name) for name in ("feats",) if name in values}
    texts = [("", list(map(clean, tree.deprels))), *_clean(values | dict(rows) | feats).items()]
    return _joined(draw_down(words, texts, arcs, width=width, cut_last=bool(feats)), colour)


def _enhanced_row(words: Sequence[str], arcs: Sequence[PlacedArc]) -> dict[str, list[str]]:
    """What the arcs of the graph say of each word, where they bear no relations themselves."""
    texts, forms = [list[str]() for _ in words], ["root", *words]
    for arc in arcs:
        texts[arc.dependent - 1].append(f"{arc.label} ← {forms[arc.head]}")
    return {"enhanced": list(map(", ".join, texts))} if arcs else {}


def _clean(rows: Rows) -> dict[str, list[str]]:
    return {clean(name): list(map(clean, row)) for name, row in rows.items()}


def _joined(lines: Iterable[Line], colour: bool) -> str:
    return "\n".join(join_line(line, colour=colour) for line in lines)


# Lines


class TextRun(NamedTuple):
    """Text of one style that stands at a column of a line."""

    column: int
    text: str
    style: str = PLAIN

    @property
    def end(self) -> int:
        """The first column behind the text."""
        return self.column + cell_len(self.text)


Line = list[TextRun]


class Grid:
    """Lines of text and strokes. Strokes that meet in a cell are joined, and text hides them."""

    def __init__(self, height: int) -> None:
        self._texts: list[Line] = [[] for _ in range(height)]
        self._strokes: list[dict[int, tuple[int, str]]] = [{} for _ in range(height)]  # directions and style

    def write(self, row: int, column: int, text: str, style: str = PLAIN) -> None:
        """Put text on a line."""
        if text:
            self._texts[row].append(TextRun(column, text, style))

    def stroke(self, row: int, column: int, directions: int, style: str, *, alone: bool = False) -> None:
        """Let a line leave a cell in some directions; `alone` drops other strokes there."""
        before, _ = self._strokes[row].get(column, (0, PLAIN))
        self._strokes[row][column] = directions | (0 if alone else before), style

    def lines(self) -> Iterator[Line]:
        """All lines, from the top."""
        for texts, strokes in zip(self._texts, self._strokes, strict=True):
            hidden = {column for run in texts for column in range(run.column, run.end)}
            seen = [item for item in strokes.items() if item[0] not in hidden]
            yield [*texts, *(TextRun(column, BOXES[directions], style) for column, (directions, style) in seen)]


def cut(text: str, width: int) -> str:
    """The text, or as much of its start as fits, with a … that says so."""
    if cell_len(text) <= width:
        return text
    if width <= 0:
        return ""
    end = bisect_left(range(len(text)), width, key=lambda end: cell_len(text[:end])) - 1
    return text[:end].rstrip(JOINER) + "…"  # a joiner would draw the … into the character before


def cut_line(runs: Line, width: int) -> Line:
    """The runs of a line in their order, or as many as fit, again with a … for the rest."""
    line = sorted(runs)
    if not line or line[-1].end <= width:
        return line
    kept = [run for run in line if run.end < width]
    over = line[len(kept)]
    column = min(over.column, max(width - 1, 0))
    return [*kept, over._replace(column=column, text=cut(over.text + "…", width - column))]


def join_line(runs: Line, *, colour: bool = False) -> str:
    """The runs of one line with the spaces between them."""
    groups = groupby(_with_spaces(runs), key=lambda run: run.style if colour else PLAIN)
    texts = ((style, "".join(_kept_in_place(run.text) for run in group)) for style, group in groups)
    return "".join(f"\x1b[{style}m{text}\x1b[0m" if style else text for style, text in texts)


def _with_spaces(runs: Line) -> Iterator[TextRun]:
    column = 0
    for run in sorted(runs):
        if run.column > column:
            yield TextRun(column, " " * (run.column - column))
        yield run
        column = run.end


def _kept_in_place(text: str) -> str:
    """Marks around text that runs from right to left, or a terminal that turns such text would turn whole lines."""
    turned = not text.isascii() and any(unicodedata.bidirectional(character) in ("R", "AL") for character in text)
    return f"{_LEFT_TO_RIGHT_MARK}{text}{_LEFT_TO_RIGHT_MARK}" if turned else text


# The words on one line


def draw_across(layout: Layout) -> Iterator[Line]:
    """The picture, line by line from the top."""
    above, below = (highest(layout.arcs, side) for side in (ABOVE, BELOW))
    top = above + 1 if above else 0  # where the words stand
    bottom = top + len(layout.rows)
    grid = Grid(bottom + 1 + (below + 1 if below else 0))
    for number, (name, texts) in enumerate([("", layout.words), *layout.rows.items()], top):
        grid.write(number, 0, name, DIM)
        for centre, text in zip(layout.centres[1:], texts, strict=True):
            grid.write(number, centre - halves(cell_len(text))[0], text)
    for arc in layout.arcs:
        _draw_across(grid, layout, arc, top - 1 if arc.side == ABOVE else bottom + 1)
    return grid.lines()


def _draw_across(grid: Grid, layout: Layout, arc: PlacedArc, base: int) -> None:
    """An arc that begins at a line, where its arrow head stands."""
    outwards, inwards, arrow = (-1, DOWN, "▼") if arc.side == ABOVE else (1, UP, "▲")
    style, row = PLANE_STYLES[arc.plane], base + outwards * arc.level
    left, right = layout.end(arc, arc.left), layout.end(arc, arc.right)
    for level in range(arc.level):
        for column in (left, right):
            grid.stroke(base + outwards * level, column, UPRIGHT, style)
    grid.write(base, layout.end(arc, arc.dependent), arrow, style)
    if arc.is_upright:
        grid.stroke(row, left, UPRIGHT, style)  # seen only where there is no label
    else:
        grid.stroke(row, left, inwards | RIGHT, style)
        grid.stroke(row, right, inwards | LEFT, style)
        for column in range(left + 1, right):
            grid.stroke(row, column, LEVEL, style)
    grid.write(row, layout.relation_start(arc), arc.label, DIM)


# One word a line, plane 1 to the left and plane 2 to the right


def draw_down(
    words: Sequence[str],
    texts: Sequence[tuple[str, Sequence[str]]],
    arcs: Sequence[PlacedArc],
    *,
    width: int | None = None,
    cut_last: bool = False,
) -> Iterator[Line]:
    """The picture, word by word; where it would not fit, outer arcs give way to numbers, then text is cut with a ….

    `texts` are columns behind the words, with their names; the first one has the relations. With `cut_last`, the last
    one is cut before arcs give way.
    """
    if width is not None:
        words = [cut(word, max(SHORTEST_CUT, width // 3)) for word in words]
    most = min(MOST_LEVELS, max(highest(arcs, ABOVE), highest(arcs, BELOW)))
    pictures = (DownThePage(words, texts, arcs, levels) for levels in range(most, -1, -1))
    fits = (one for one in pictures if width is None or one.width - cut_last * one.spare <= width or not one.levels)
    picture = next(fits)
    header, *lines = picture.draw().lines()
    limit = picture.width if width is None else width
    return (cut_line(line, limit) for line in ([header, *lines] if len(texts) > 1 else lines))


class DownThePage:
    """A picture in which arcs up to a level are drawn on each side: where its columns are, and how wide it is."""

    def __init__(
        self, words: Sequence[str], texts: Sequence[tuple[str, Sequence[str]]], arcs: Sequence[PlacedArc], levels: int
    ) -> None:
        self.words, self.arcs, self.levels = words, [arc for arc in arcs if arc.level <= levels], levels
        self._roots = set(range(1, len(words) + 1)) - {arc.dependent for arc in arcs if not arc.is_enhanced}
        (name, relations), *rest = texts
        relations = list(relations)
        for arc in arcs:
            if arc.level > levels and not arc.is_enhanced:
                relations[arc.dependent - 1] += f" (head {arc.head})"
        self.texts = [(name, relations), *rest]
        self._numbers = len(str(len(words))) + 1 if len(self.arcs) < len(arcs) else 0
        left, right = (2 * highest(self.arcs, side) for side in (ABOVE, BELOW))
        self._left = self._numbers + left  # behind the arcs on this side
        self._start = self._left + 1 if left else self._left  # of the words
        self._end = self._start + max(map(cell_len, words))
        widths = [max(map(cell_len, (name, *column))) for name, column in self.texts]
        first = self._end + (right + 1 if right else 0) + 2
        self._starts = list(accumulate((width + 2 for width in widths[:-1]), initial=first))  # of the texts
        self.width = self._starts[-1] + widths[-1]
        self.spare = max(widths[-1] - SHORTEST_CUT, 0)  # cells that may be cut from the last column of text

    def draw(self) -> Grid:
        """A line for each word, below one for the names of the texts."""
        grid = Grid(len(self.words) + 1)
        for word, form in enumerate(self.words, 1):
            if self._numbers:
                grid.write(word, 0, f"{word:>{self._numbers - 1}}", DIM)
            grid.write(word, self._start, form)
            if word in self._roots and self._left > self._numbers:
                grid.write(word, self._left - 1, ROOT_MARK)
        for at, (start, (name, column)) in enumerate(zip(self._starts, self.texts, strict=True)):
            grid.write(0, start, name, DIM)
            for word, text in enumerate(column, 1):
                grid.write(word, start, text, PLAIN if at else DIM)
        self._draw_arcs(grid)
        return grid

    def _draw_arcs(self, grid: Grid) -> None:
        """Arcs on one level do not overlap, so this is linear in words times levels."""
        leaving: dict[tuple[int, int], list[int]] = defaultdict(list)  # levels, by side and head
        for arc in self.arcs:
            leaving[arc.side, arc.head].append(arc.level)
            for word in range(arc.left + 1, arc.right):
                grid.stroke(word, self._corner(arc.side, arc.level), UPRIGHT, PLANE_STYLES[arc.plane])
        for arc in sorted(self.arcs, key=lambda arc: -arc.level):
            self._draw_ends(grid, arc, [level for level in leaving[arc.side, arc.dependent] if level < arc.level])

    def _draw_ends(self, grid: Grid, arc: PlacedArc, inner: list[int]) -> None:
        """A head's arcs join to one line into the word.

        Its own arc comes in from outside with an arrow head, which stands before the first of those inside of it; a
        longer one of them seems to run under it.
        """
        step, inwards, arrow = (1, RIGHT, "▶") if arc.side == ABOVE else (-1, LEFT, "◀")
        style, corner = PLANE_STYLES[arc.plane], self._corner(arc.side, arc.level)
        for word in (arc.head, arc.dependent):
            edge = self._left - 1 if arc.side == ABOVE else self._start + cell_len(self.words[word - 1]) + 1
            turn = inwards | (UP if arc.right == word else DOWN)
            grid.stroke(word, corner, turn, style, alone=word == arc.dependent and not arc.is_enhanced)
            for column in range(corner + step, edge + step, step):
                grid.stroke(word, column, LEVEL, style)
        grid.write(arc.dependent, self._corner(arc.side, max(inner)) - step if inner else edge, arrow, style)

    def _corner(self, side: int, level: int) -> int:
        """Every other cell, so that there is always one for an arrow head between two arcs."""
        return self._left - 2 * level if side == ABOVE else self._end + 2 * level
