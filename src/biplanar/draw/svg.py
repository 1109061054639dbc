"""Trees as SVG: plane 1 above the words and plane 2 below, crossing arcs in heavier lines.

Every coloured group of a picture has both a colour of its own and a class. So a picture in one theme is right in any
program, and for one that follows its reader's theme, a few rules for the classes suffice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache, partial
from itertools import accumulate
from typing import NamedTuple

from biplanar.data.graph import Graph
from biplanar.data.tree import Tree
from biplanar.draw.arcs import (
    ABOVE,
    BELOW,
    Enhanced,
    PlacedArc,
    check_drawable,
    crossing_dependents,
    highest,
    place_arcs,
    planes_to_draw,
)
from biplanar.draw.layout import Layout, Measure, Rows, column_rows
from biplanar.draw.text import element, escaped, is_right_to_left, plain, shorten, text_width
from biplanar.errors import check_name

MOST_LEVELS = 30  # on each side; an arc that lies further out gives the number of its head instead
WORD_SIZE, SMALL_SIZE = 16, 12  # of letters; the small ones are those of relations, labels and names
WORD_LINE, SMALL_LINE = 26, 18  # the heights of lines of text
WORD_BASELINE, SMALL_BASELINE, SMALL_MIDDLE = 19, 12, 4  # the first two from a line's top, the last from its middle
FIRST_LEVEL, LEVEL = 26, 20  # from the words to the first level, from level to level
CORNER_WIDTH, CORNER_HEIGHT = 12, 15
ARROW_LENGTH, ARROW_WIDTH = 7, 7
LIGHT_LINE, HEAVY_LINE, DASHES = 1.4, 2.4, "5 3"
REACH = 14  # the width of what can be pointed at
MARGIN = 14
LONGEST_WORD, LONGEST_LABEL = 320, 200
NO_LABEL = {"_"}  # drawn in grey

SANS = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'DejaVu Sans', Arial, sans-serif"
MONOSPACE = "ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace"

_width = lru_cache(maxsize=8192)(text_width)
PIXELS = Measure(
    word=partial(_width, size=WORD_SIZE),
    relation=partial(_width, size=SMALL_SIZE),
    label=partial(_width, size=SMALL_SIZE, monospace=True),
    gap=16,
    steps=(5, 6, 7, 8, 9),
    line=CORNER_WIDTH,
    shift=True,
)


def draw_svg(
    forms: Sequence[str],
    tree: Tree,
    *,
    planes: Sequence[int] | None = None,
    labels: Rows | None = None,
    columns: Rows | None = None,
    theme: str = "auto",
    right_to_left: bool | None = None,
    graph: Graph | None = None,
) -> str:
    """The tree as an SVG document, in which no text lies over another.

    `planes` gives the plane of each word's arc (0 for none), by default such that no two arcs of one plane cross.
    `labels` stand under the words, a row behind each name, and over them `columns` of CoNLL-U: `upos`, `xpos`, `feats`,
    `lemma`. The themes are light, dark, and auto, which is the reader's. Scripts that run from right to left are
    recognized if `right_to_left` is not given. Arcs that only the enhanced `graph` has are drawn under the words, in a
    colour of their own, and arcs that it lacks are dashed.
    """
    canvas = canvas_of(
        forms, tree, planes=planes, labels=labels, columns=columns, right_to_left=right_to_left, graph=graph
    )
    return to_svg([canvas], theme)


def canvas_of(
    forms: Sequence[str],
    tree: Tree,
    *,
    planes: Sequence[int] | None = None,
    labels: Rows | None = None,
    columns: Rows | None = None,
    right_to_left: bool | None = None,
    annotated: bool = False,
    extra: Iterable[tuple[int, int, int]] = (),
    graph: Graph | None = None,
) -> Canvas:
    """What `draw_svg` draws, before it is drawn. Arcs of `extra` (head, dependent, plane) are hidden."""
    planes = planes_to_draw(tree) if planes is None else planes
    check_drawable(forms, tree, planes, {**(columns or {}), **(labels or {})})
    crossing, enhanced = crossing_dependents(tree), Enhanced.of(tree, graph)

    def pens(arc: PlacedArc) -> Pen:
        if arc.is_enhanced:
            return Pen("three", "three")
        colour = "ink" if arc.is_root else ("soft", "one", "two")[arc.plane]
        dashed = arc.is_extra or arc.dependent in enhanced.dropped
        return Pen(colour, colour, heavy=arc.dependent in crossing and not arc.is_extra, dashed=dashed)

    others = [PlacedArc(*arc, side=BELOW if arc[2] == BELOW else ABOVE, is_extra=True) for arc in extra]
    others += [replace(arc, label=short(arc.label)) for arc in enhanced.arcs]
    arcs = place_arcs(shortened(enhanced.tree), planes, extra=others, most_levels=MOST_LEVELS)
    return Canvas(forms, arcs, pens, labels=labels, columns=columns, right_to_left=right_to_left, annotated=annotated)


def shortened(tree: Tree) -> Tree:
    """The tree with relations of a length that fits over words."""
    return Tree(tree.heads, tuple(map(short, tree.deprels)))


def short(text: str) -> str:
    """A relation, label or name of a length that fits under or over words."""
    return shorten(plain(text), LONGEST_LABEL, SMALL_SIZE)


def to_svg(canvases: Sequence[Canvas], theme: str = "auto", *, style: bool = True) -> str:
    """An SVG document of pictures one under the other; without `style`, the page around it has to have the theme's."""
    has_graphs = any(arc.is_enhanced for canvas in canvases for arc in canvas.layout.arcs)
    palette, rules = get_palette(theme), style_sheet(theme, has_graphs=has_graphs)
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
    drawn = [
        element("style", {}, rules) if rules and style else "",
        element("rect", {"class": "bp-paper", "width": width, "height": height, "rx": 8, "fill": palette.paper}),
    ]
    for top, canvas in zip(tops, canvases, strict=True):
        left = width - canvas.width if canvas.mirrored else 0  # on the side where its script begins
        place = {"transform": f"translate({left} {top})"} if left or top else {}
        drawn.append(element("g", place, canvas.draw(palette)))
    return element("svg", attributes, *drawn)


# Colours


@dataclass(frozen=True)
class Palette:
    """Colours by what they are for, which are told apart with every common kind of colour blindness."""

    paper: str
    ink: str
    soft: str
    line: str  # around things
    one: str
    two: str
    three: str  # arcs of an enhanced graph that are not in the tree


LIGHT = Palette("#ffffff", "#1b1f24", "#6a737d", "#dfe3e8", one="#0072b2", two="#b95000", three="#00795a")
DARK = Palette("#0d1117", "#e6edf3", "#8d96a0", "#2b3138", one="#58b4ea", two="#f0a030", three="#45cfa4")
THEMES = ("auto", "light", "dark")


def get_palette(theme: str) -> Palette:
    """The colours that a picture has by itself; with `auto` its reader's theme may change them."""
    check_name("theme", theme, THEMES)
    return DARK if theme == "dark" else LIGHT


def style_sheet(theme: str, *, has_graphs: bool = False) -> str:
    """Rules for readers who prefer dark pages, where the theme leaves it to them."""
    if theme != "auto":
        return ""
    used = [name for name in asdict(DARK) if has_graphs or name != "three"]
    names = {name: "fill" if name == "paper" else "color" for name in used}
    rules = (f".bp-auto .bp-{name}{{{kind}:{getattr(DARK, name)}}}" for name, kind in names.items())
    return f"@media (prefers-color-scheme:dark){{{''.join(rules)}}}"


# A picture


class Pen(NamedTuple):
    """How an arc is drawn; `line` and `text` are names of a palette's colours."""

    line: str
    text: str
    heavy: bool = False
    dashed: bool = False
    underlined: bool = False  # the text


Pens = Callable[[PlacedArc], Pen]


class Canvas:
    """A layout in pixels with heights and pens. `mirrored` puts the first word to the right.

    `labels` and `columns` of CoNLL-U stand under the words; `sides` names what lies above and below. `annotated`,
    elements tell which arc, word or character of a label they are, for scripts: `data-arc`, `data-word`, `data-sign`.
    Arcs that only the enhanced graph has name their relation in `data-enhanced`. Very long texts are shortened.
    """

    def __init__(
        self,
        forms: Sequence[str],
        arcs: Sequence[PlacedArc],
        pens: Pens,
        *,
        labels: Rows | None = None,
        columns: Rows | None = None,
        sides: Mapping[int, str] | None = None,
        right_to_left: bool | None = None,
        annotated: bool = False,
    ) -> None:
        self.forms, self.pens, self.sides, self.annotated = forms, pens, sides or {}, annotated
        self.mirrored = is_right_to_left(forms) if right_to_left is None else right_to_left
        self._turned = {"direction": "rtl"} if self.mirrored else {}
        # For text that is not of the words' script: HTML around a mirrored picture runs from right to left.
        self._unturned = {"direction": "ltr"} if self.mirrored else {}
        values = column_rows(columns or {})
        self._columns, self._tasks = list(map(short, values)), list(map(short, labels or {}))
        rows = {**values, **(labels or {})}
        if any(arc.is_cut for arc in arcs):  # these give the numbers of their heads
            rows = {"word": [str(word) for word in range(1, len(forms) + 1)], **rows}
        words = [shorten(plain(form), LONGEST_WORD, WORD_SIZE) for form in forms]
        texts = {short(name): list(map(short, row)) for name, row in rows.items()}
        self.layout = Layout(words, texts, arcs, PIXELS, names=list(self.sides.values()))
        self.width = self.layout.width + 2 * MARGIN
        top = MARGIN + self._depth(ABOVE)
        # By side, where its arcs begin: over the words, and under their last row.
        self._bases = {ABOVE: top, BELOW: top + WORD_LINE + SMALL_LINE * len(texts)}
        self.height = self._bases[BELOW] + self._depth(BELOW) + MARGIN

    def draw(self, palette: Palette) -> str:
        """All elements. Heavy lines come last and so lie over the others."""
        colours = asdict(palette)
        arcs = sorted(self.layout.arcs, key=lambda arc: self.pens(arc).heavy)
        drawn = (element("g", {"class": "bp-arc", **self._about(arc)}, *self._arc(arc, colours)) for arc in arcs)
        return "".join([*drawn, *self._texts(colours)])

    def _about(self, arc: PlacedArc) -> dict[str, object]:
        """What the annotation says of an arc."""
        if not self.annotated:
            return {}
        if arc.is_enhanced:
            return {"data-arc": f"{arc.head}-{arc.dependent}", "data-enhanced": arc.label}
        crossing = {"data-crossing": ""} if self.pens(arc).heavy else {}
        hidden = {"data-extra": "", "visibility": "hidden"} if arc.is_extra else {}
        return {"data-arc": f"{arc.head}-{arc.dependent}", "data-plane": arc.plane, **crossing, **hidden}

    def _depth(self, side: int) -> int:
        levels = highest(self.layout.arcs, side)
        return FIRST_LEVEL + (levels - 1) * LEVEL + SMALL_SIZE // 2 if levels else 0

    def _x(self, column: int) -> int:
        return self.width - MARGIN - column if self.mirrored else MARGIN + column

    def _y(self, arc: PlacedArc) -> int:
        """The height of an arc's level line."""
        return self._bases[arc.side] - _inwards(arc.side) * (FIRST_LEVEL + (arc.level - 1) * LEVEL)

    def _relation_x(self, arc: PlacedArc) -> int:
        return self._x(self.layout.relation_start(arc) + PIXELS.relation(arc.label) // 2)

    def _arc(self, arc: PlacedArc, colours: Mapping[str, str]) -> Iterator[str]:
        pen, words = self.pens(arc), self.layout.words
        head = "" if arc.is_root else f"{words[arc.head - 1]} → "
        yield element("title", {}, escaped(f"{head}{words[arc.dependent - 1]}: {arc.label}"))
        width = HEAVY_LINE if pen.heavy else LIGHT_LINE
        stroke = {"d": self._line(arc), "fill": "none", "stroke": "currentColor", "stroke-width": width}
        dashes = {"stroke-dasharray": DASHES} if pen.dashed else {}
        if self.annotated:  # a broad line to point at
            yield element("path", stroke | {"stroke": "transparent", "stroke-width": REACH})
        line = element("path", stroke | dashes)
        arrow = element("path", {"d": self._arrow(arc), "fill": "currentColor"})
        yield _coloured(colours, pen.line, line, arrow)
        if arc.label:
            style = {"text-decoration": "underline"} if pen.underlined else {}
            text = _text(self._relation_x(arc), self._y(arc) + SMALL_MIDDLE, arc.label, **style)
            yield _coloured(colours, pen.text, text)

    def _line(self, arc: PlacedArc) -> str:
        """Away from the head, around a corner, on to the relation, and behind it back to the dependent."""
        inwards, base, y = _inwards(arc.side), self._bases[arc.side], self._y(arc)
        tip = base - inwards * (ARROW_LENGTH - 1)  # the line ends inside of the arrow head
        dependent = self._x(self.layout.end(arc, arc.dependent))
        if arc.is_upright:
            return f"M{dependent} {y + inwards * (SMALL_SIZE // 2 + 3)}V{tip}"
        head = self._x(self.layout.end(arc, arc.head))
        onward = 1 if head < dependent else -1
        middle, half = self._relation_x(arc), onward * (PIXELS.relation(arc.label) // 2)
        right, down = onward * CORNER_WIDTH, inwards * CORNER_HEIGHT
        there = f"M{head} {base}V{y + down}q0 {-down} {right} {-down}H{middle - half}"
        back = f"M{middle + half} {y}H{dependent - right}q{right} 0 {right} {down}V{tip}"
        return there + back

    def _arrow(self, arc: PlacedArc) -> str:
        x, y = self._x(self.layout.end(arc, arc.dependent)), self._bases[arc.side]
        return f"M{x} {y}l{-ARROW_WIDTH / 2} {-_inwards(arc.side) * ARROW_LENGTH}h{ARROW_WIDTH}z"

    def _texts(self, colours: Mapping[str, str]) -> Iterator[str]:
        """The words, the rows under them, and the names to their left."""
        top = self._bases[ABOVE]
        words = self._annotated_words(top) if self.annotated else self._row(self.layout.words, top + WORD_BASELINE)
        yield _coloured(colours, "ink", *words, **{"font-size": WORD_SIZE}, **self._turned)
        for number, (name, row) in enumerate(self.layout.rows.items()):
            y = top + WORD_LINE + SMALL_LINE * number + SMALL_BASELINE
            if name in self._columns:
                # Lemmas are of the words' script; tags and features are not, and may end in signs that would be turned.
                direction = self._turned if name == "lemma" else self._unturned
                yield _coloured(colours, "ink", *self._row(row, y), **direction)
            elif self.annotated and name in self._tasks:
                yield self._annotated_labels(colours, row, y, self._tasks.index(name) + 1)
            else:
                yield from self._labels(colours, row, y)
            yield self._name(colours, name, y)
        for side, name in self.sides.items():
            yield self._name(colours, name, self._bases[side] - _inwards(side) * FIRST_LEVEL + SMALL_MIDDLE)

    def _labels(self, colours: Mapping[str, str], row: Sequence[str], y: int) -> Iterator[str]:
        for colour, shown in (("soft", NO_LABEL), ("ink", set(row) - NO_LABEL)):
            texts = [text if text in shown else "" for text in row]
            yield _coloured(colours, colour, *self._row(texts, y), **{"font-family": MONOSPACE}, **self._unturned)

    def _annotated_words(self, top: int) -> Iterator[str]:
        for word, (centre, text) in enumerate(zip(self.layout.centres[1:], self.layout.words, strict=True), 1):
            x, width = self._x(centre), PIXELS.word(text) + 8
            place = {"x": x - width / 2, "y": top, "width": width, "height": WORD_LINE - 2, "rx": 6}
            tile = element("rect", {"class": "bp-tile", **place, "fill": "none"})
            yield element("g", {"data-word": word}, tile, _text(x, top + WORD_BASELINE, text))

    def _annotated_labels(self, colours: Mapping[str, str], row: Sequence[str], y: int, task: int) -> str:
        """Labels character by character: `data-sign` has word, task and place in the label."""
        texts = []
        for word, (centre, label) in enumerate(zip(self.layout.centres[1:], row, strict=True), 1):
            signs = (
                element("tspan", {"data-sign": f"{word}.{task}.{at}"}, escaped(sign)) for at, sign in enumerate(label)
            )
            about = {"x": self._x(centre), "y": y, "fill": "currentColor", "class": "bp-label"}
            content = escaped(label) if label in NO_LABEL else "".join(signs)
            texts.append(_coloured(colours, "soft" if label in NO_LABEL else "ink", element("text", about, content)))
        return element("g", {"font-family": MONOSPACE, **self._unturned}, *texts)

    def _row(self, texts: Sequence[str], y: int) -> Iterator[str]:
        places = zip(self.layout.centres[1:], texts, strict=True)
        return (_text(self._x(centre), y, text) for centre, text in places if text)

    def _name(self, colours: Mapping[str, str], name: str, y: int) -> str:
        style = {"font-family": MONOSPACE, "text-anchor": "end" if self.mirrored else "start", **self._unturned}
        return _coloured(colours, "soft", _text(self._x(0), y, name), **style)


def _inwards(side: int) -> int:
    """The direction from the arcs to the words, as a sign: downwards for those above."""
    return 1 if side == ABOVE else -1


def _coloured(colours: Mapping[str, str], name: str, *content: str, **attributes: object) -> str:
    return element("g", {"class": f"bp-{name}", "color": colours[name], **attributes}, *content) if content else ""


def _text(x: int, y: int, text: str, **attributes: object) -> str:
    return element("text", {"x": x, "y": y, "fill": "currentColor", **attributes}, escaped(text))
