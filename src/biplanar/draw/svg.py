"""Trees as SVG: plane 1 above the words and plane 2 below, crossing arcs in heavier lines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate

from biplanar.data.tree import Tree
from biplanar.draw.arcs import ABOVE, BELOW, PlacedArc, check_drawable, crossing_dependents, place_arcs, planes_to_draw
from biplanar.draw.canvas import SANS, SMALL_SIZE, Canvas, Pen, short
from biplanar.draw.markup import element
from biplanar.draw.tags import ColumnValues, column_rows
from biplanar.draw.theme import Palette, get_palette, style_sheet

MOST_LEVELS = 30  # on each side; an arc that lies further out gives the number of its head instead


def draw_svg(
    forms: Sequence[str],
    tree: Tree,
    *,
    planes: Sequence[int] | None = None,
    labels: Mapping[str, Sequence[str]] | None = None,
    columns: ColumnValues | None = None,
    theme: str = "auto",
    right_to_left: bool | None = None,
) -> str:
    """The tree as an SVG document, in which no text lies over another.

    `planes` gives the plane of each word's arc (0 for none), by default such that no two arcs of one plane cross.
    `labels` stand under the words, a row behind each name, and over them `columns` of CoNLL-U: `upos`, `xpos`, `feats`,
    `lemma`. The themes are light, dark, and auto, which is the reader's. Scripts that run from right to left are
    recognized if `right_to_left` is not given.
    """
    canvas = canvas_of(forms, tree, planes=planes, labels=labels, columns=columns, right_to_left=right_to_left)
    return to_svg([canvas], theme)


def canvas_of(
    forms: Sequence[str],
    tree: Tree,
    *,
    planes: Sequence[int] | None = None,
    labels: Mapping[str, Sequence[str]] | None = None,
    columns: ColumnValues | None = None,
    right_to_left: bool | None = None,
    annotated: bool = False,
    extra: Iterable[tuple[int, int, int]] = (),
) -> Canvas:
    """What `draw_svg` draws, before it is drawn.

    `annotated`, elements tell in `data-` attributes what they are. Arcs of `extra` (head, dependent and plane) are not
    of the tree, and hidden.
    """
    planes = planes_to_draw(tree) if planes is None else planes
    check_drawable(forms, tree, planes, {**(columns or {}), **(labels or {})})
    crossing = crossing_dependents(tree)

    def pens(arc: PlacedArc) -> Pen:
        colour = "ink" if arc.is_root else ("soft", "one", "two")[arc.plane]
        return Pen(colour, colour, heavy=arc.dependent in crossing and not arc.is_extra, dashed=arc.is_extra)

    others = [PlacedArc(*arc, side=BELOW if arc[2] == BELOW else ABOVE, is_extra=True) for arc in extra]
    arcs = place_arcs(shortened(tree), planes, extra=others, most_levels=MOST_LEVELS)
    rows = column_rows(columns or {})
    return Canvas.of(forms, arcs, pens, rows=labels, columns=rows, right_to_left=right_to_left, annotated=annotated)


def shortened(tree: Tree) -> Tree:
    """The tree with relations of a length that fits over words."""
    return Tree(tree.heads, tuple(map(short, tree.deprels)))


def to_svg(canvases: Sequence[Canvas], theme: str = "auto", *, style: bool = True) -> str:
    """An SVG document of pictures one under the other; without `style`, the page around it has to have the theme's."""
    palette, rules = get_palette(theme), style_sheet(theme)
    width = max((canvas.width for canvas in canvases), default=0)
    *tops, height = accumulate((canvas.height for canvas in canvases), initial=0)
    attributes = {
        "xmlns": "http://www.w3.org/2000/svg",
        "viewBox": f"0 0 {width} {height}",
        "width": width,
        "height": height,
        "class": f"biplanar bp-{theme}",
        "role": "img",
        "aria-label": " ".join(form for canvas in canvases for form in canvas.forms),
        "font-family": SANS,
        "font-size": SMALL_SIZE,
        "text-anchor": "middle",
    }
    return element(
        "svg",
        attributes,
        element("style", {}, rules) if rules and style else "",
        element("rect", {"class": "bp-paper", "width": width, "height": height, "rx": 8, "fill": palette.paper}),
        *(_moved(canvas, width, top, palette) for top, canvas in zip(tops, canvases, strict=True)),
    )


def _moved(canvas: Canvas, width: int, top: int, palette: Palette) -> str:
    """A picture at its place on the sheet: on the side where its script begins."""
    left = width - canvas.width if canvas.mirrored else 0
    return element("g", {"transform": f"translate({left} {top})"} if left or top else {}, canvas.draw(palette))
