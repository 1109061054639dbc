"""A tree as text, in box-drawing characters: across where it fits, else down the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from biplanar.data.tree import Tree
from biplanar.draw.arcs import check_drawable, place_arcs, planes_to_draw
from biplanar.draw.cells import Texts
from biplanar.draw.columns import lay_out
from biplanar.draw.horizontal import CELLS, draw_horizontal, least_width
from biplanar.draw.tags import ColumnValues, column_rows
from biplanar.draw.vertical import draw_vertical

WIDEST = 2000  # cells; a wider line of words is of use to nobody, even where no width is asked for


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
    if least_width(texts) <= limit:
        layout = lay_out(texts, place_arcs(tree, planes), CELLS)
        if layout.width <= limit:
            return draw_horizontal(layout, colour=colour)
    arcs = place_arcs(tree, planes, down_the_page=True)
    values = column_rows(columns, whole_feats=True)
    feats = {name: values.pop(name) for name in ("feats",) if name in values}
    texts = Texts.of(forms, tree.deprels, values | dict(rows) | feats)
    return draw_vertical(texts, arcs, width=width, colour=colour, cut_last=bool(feats))
