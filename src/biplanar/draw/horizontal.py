"""The words on one line, plane 1 above them and plane 2 below."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

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
    TextRun,
    Texts,
    join_line,
)
from biplanar.draw.columns import Measure, PictureLayout, halves

ARROWS = {ABOVE: "▼", BELOW: "▲"}
CELLS = Measure(word=cell_len, relation=cell_len, label=cell_len, gap=2, steps=(1, 2), line=1)


def least_width(texts: Texts) -> int:
    """A quick bound: the words alone need as much."""
    return sum(map(cell_len, texts.words)) + CELLS.gap * (len(texts.words) - 1)


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
