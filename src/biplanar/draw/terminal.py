"""A tree as text, in box-drawing characters: across where it fits, else down the page."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from rich.cells import cell_len

from biplanar.data.tree import Tree
from biplanar.draw.arcs import ABOVE, BELOW, PlacedArc, check_drawable, highest, place_arcs, planes_to_draw
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
    TextRun,
    Texts,
    join_line,
)
from biplanar.draw.columns import Measure, PictureLayout, halves, lay_out
from biplanar.draw.tags import ColumnValues, column_rows
from biplanar.draw.vertical import draw_vertical

WIDEST = 2000  # cells; wider lines of words are never drawn, even where no width is asked for
ARROWS = {ABOVE: "▼", BELOW: "▲"}
CELLS = Measure(word=cell_len, relation=cell_len, label=cell_len, gap=2, steps=(1, 2), line=1)


def draw_tree(
    forms: Sequence[str],
    tree: Tree,
    *,
    planes: Sequence[int] | None = None,
    rows: Mapping[str, Sequence[str]] | None = None,
    columns: ColumnValues | None = None,
    width: int | None = None,
    colour: bool = False,
) -> str:
    """The tree as lines of text: plane 1 above the words and plane 2 below, an arrow head into each dependent.

    `planes` gives the plane of each word's arc (0 for none), by default such that no two arcs of one plane cross.
    `rows` stand under the words, a label for each word behind a name, and over them `columns` of CoNLL-U: `upos`,
    `xpos`, `feats`, `lemma`. What is wider than `width` cells is drawn one word a line instead.
    """
    rows, columns = rows or {}, columns or {}
    planes = planes_to_draw(tree) if planes is None else planes
    check_drawable(forms, tree, planes, {**columns, **rows})
    texts = Texts.of(forms, tree.deprels, column_rows(columns) | dict(rows))
    limit = WIDEST if width is None else width
    least = sum(map(cell_len, texts.words)) + CELLS.gap * (len(texts.words) - 1)  # of the words alone
    if least <= limit:
        layout = lay_out(texts, place_arcs(tree, planes), CELLS)
        if layout.width <= limit:
            return draw_horizontal(layout, colour=colour)
    arcs = place_arcs(tree, planes, down_the_page=True)
    values = column_rows(columns, whole_feats=True)
    feats = {name: values.pop(name) for name in ("feats",) if name in values}
    texts = Texts.of(forms, tree.deprels, values | dict(rows) | feats)
    return draw_vertical(texts, arcs, width=width, colour=colour, cut_last=bool(feats))


# The words on one line


def draw_horizontal(layout: PictureLayout, *, colour: bool = False) -> str:
    """The picture, line by line from the top."""
    above, below = _side(layout, ABOVE), _side(layout, BELOW)
    lines = [*above, *_text_lines(layout), *reversed(below)]
    return "\n".join(join_line(line, colour=colour) for line in lines)


def _text_lines(layout: PictureLayout) -> Iterator[list[TextRun]]:
    yield _text_line(layout, "", layout.texts.words)
    for name, row in layout.texts.rows.items():
        yield _text_line(layout, name, row)


def _text_line(layout: PictureLayout, name: str, texts: Sequence[str]) -> list[TextRun]:
    places = zip(layout.centres[1:], texts, strict=True)
    runs = [TextRun(0, name, DIM), *(TextRun(centre - halves(cell_len(text))[0], text) for centre, text in places)]
    return [run for run in runs if run.text]


def _side(layout: PictureLayout, side: int) -> list[list[TextRun]]:
    """The lines of one side, the outermost first and the arrow heads last."""
    arcs = [arc for arc in layout.arcs if arc.side == side]
    if not arcs:
        return []
    levels = range(highest(arcs, side), 0, -1)
    return [*(_level_line(layout, arcs, level) for level in levels), _arrow_line(layout, arcs)]


def _level_line(layout: PictureLayout, arcs: Sequence[PlacedArc], level: int) -> list[TextRun]:
    strokes: dict[int, int] = defaultdict(int)
    styles: dict[int, str] = {}
    labels: list[TextRun] = []
    for arc in arcs:
        if arc.level < level:
            continue
        if arc.level == level:
            labels.append(TextRun(layout.relation_start(arc), arc.label, DIM))
        for column, stroke in _strokes(arc, level, *layout.ends(arc)):
            strokes[column] |= stroke
            styles[column] = PLANE_STYLES[arc.plane]
    hidden = {column for label in labels for column in range(label.column, label.end)}
    lines = [
        TextRun(column, BOXES[stroke], styles[column]) for column, stroke in strokes.items() if column not in hidden
    ]
    return [*lines, *(label for label in labels if label.text)]


def _strokes(arc: PlacedArc, level: int, left: int, right: int) -> Iterator[tuple[int, int]]:
    """The lines that an arc adds to a level, cell by cell."""
    inwards = DOWN if arc.side == ABOVE else UP
    if arc.level > level:
        yield left, UPRIGHT
        yield right, UPRIGHT
    elif arc.is_upright:
        yield left, UPRIGHT  # seen only where there is no label
    else:
        yield left, inwards | RIGHT
        yield right, inwards | LEFT
        yield from ((column, LEVEL) for column in range(left + 1, right))


def _arrow_line(layout: PictureLayout, arcs: Sequence[PlacedArc]) -> list[TextRun]:
    runs = []
    for arc in arcs:
        style = PLANE_STYLES[arc.plane]
        runs.append(TextRun(layout.end(arc, arc.dependent), ARROWS[arc.side], style))
        if not arc.is_upright:
            runs.append(TextRun(layout.end(arc, arc.head), BOXES[UPRIGHT], style))
    return runs
