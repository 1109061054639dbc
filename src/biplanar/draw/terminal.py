"""A tree as text, in box-drawing characters: across where it fits, else down the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from biplanar.draw.arcs import place_arcs
from biplanar.draw.cells import Texts
from biplanar.draw.horizontal import draw_horizontal, lay_out, least_width
from biplanar.draw.vertical import draw_vertical
from biplanar.errors import LabelError, TreeError
from biplanar.planes import planes_of
from biplanar.tree import Tree

WIDEST = 2000  # cells; a wider line of words is of use to nobody, even where no width is asked for


def draw_tree(
    forms: Sequence[str],
    tree: Tree,
    *,
    planes: Sequence[int] | None = None,
    rows: Mapping[str, Sequence[str]] | None = None,
    width: int | None = None,
    colour: bool = False,
) -> str:
    """The tree as lines of text: plane 1 above the words and plane 2 below, an arrow head into each dependent.

    `planes` gives the plane of each word's arc (0 for none), by default those of `2p-prop`. `rows` stand under the
    words, a label for each word behind a name. What is wider than `width` cells is drawn one word a line instead.
    """
    rows = rows or {}
    planes = planes_of(tree, "2p-prop") if planes is None else planes
    _check(forms, tree, planes, rows)
    texts = Texts.of(forms, tree.deprels, rows)
    limit = WIDEST if width is None else width
    if least_width(texts) <= limit:
        layout = lay_out(texts, place_arcs(tree, planes))
        if layout.width <= limit:
            return draw_horizontal(layout, colour=colour)
    return draw_vertical(texts, place_arcs(tree, planes, down_the_page=True), width=width, colour=colour)


def _check(forms: Sequence[str], tree: Tree, planes: Sequence[int], rows: Mapping[str, Sequence[str]]) -> None:
    if len(forms) != len(tree):
        raise TreeError(f"expected a tree of {len(forms)} words, found one of {len(tree)}")
    for name, row in {"planes": planes, **rows}.items():
        if len(row) != len(tree):
            raise LabelError(f"{name}: expected {len(tree)} labels, one for each word, found {len(row)}")
    if unknown := set(planes) - {0, 1, 2}:
        raise LabelError(f"planes: expected 0, 1 or 2, found {min(unknown)}")
