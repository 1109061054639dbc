"""A picture in pixels: where every line and every text of it stands."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache, partial
from typing import NamedTuple

from biplanar.draw.arcs import ABOVE, BELOW, PlacedArc, highest
from biplanar.draw.cells import Texts
from biplanar.draw.columns import Measure, PictureLayout, lay_out
from biplanar.draw.markup import element, escaped, plain
from biplanar.draw.metrics import is_right_to_left, shorten, text_width
from biplanar.draw.theme import Palette

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


class Pen(NamedTuple):
    """How an arc is drawn; `line` and `text` are names of a palette's colours."""

    line: str
    text: str
    heavy: bool = False
    dashed: bool = False
    underlined: bool = False  # the text


Pens = Callable[[PlacedArc], Pen]


@dataclass(frozen=True)
class Canvas:
    """A layout with heights and pens. `mirrored` puts the first word to the right; `sides` names what lies there.

    `columns` are the names of those rows that are no labels but columns of CoNLL-U. `annotated`, elements tell which
    arc, word or character of a label they are, for scripts: `data-arc`, `data-word`, `data-sign`.
    """

    forms: Sequence[str]
    layout: PictureLayout
    pens: Pens
    mirrored: bool
    sides: Mapping[int, str]
    columns: frozenset[str]
    annotated: bool = False

    @classmethod
    def of(
        cls,
        forms: Sequence[str],
        arcs: Sequence[PlacedArc],
        pens: Pens,
        *,
        rows: Mapping[str, Sequence[str]] | None = None,
        columns: Mapping[str, Sequence[str]] | None = None,
        sides: Mapping[int, str] | None = None,
        right_to_left: bool | None = None,
        annotated: bool = False,
    ) -> Canvas:
        """Compute the layout; very long texts are shortened."""
        columns = columns or {}
        rows = {**columns, **(rows or {})}
        if any(arc.is_cut for arc in arcs):  # these give the numbers of their heads
            rows = {"word": [str(word) for word in range(1, len(forms) + 1)], **rows}
        texts = Texts(
            tuple(shorten(plain(form), LONGEST_WORD, WORD_SIZE) for form in forms),
            (),
            {short(name): tuple(map(short, row)) for name, row in rows.items()},
        )
        layout = lay_out(texts, arcs, PIXELS, names=list((sides or {}).values()))
        mirrored = is_right_to_left(forms) if right_to_left is None else right_to_left
        return cls(forms, layout, pens, mirrored, sides or {}, frozenset(map(short, columns)), annotated)

    @cached_property
    def width(self) -> int:
        """Of the whole picture."""
        return self.layout.width + 2 * MARGIN

    @property
    def height(self) -> int:
        """Of the whole picture."""
        return self._bases[BELOW] + self._depth(BELOW) + MARGIN

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
        crossing = {"data-crossing": ""} if self.pens(arc).heavy else {}
        hidden = {"data-extra": "", "visibility": "hidden"} if arc.is_extra else {}
        return {"data-arc": f"{arc.head}-{arc.dependent}", "data-plane": arc.plane, **crossing, **hidden}

    @cached_property
    def _bases(self) -> dict[int, int]:
        """By side, where its arcs begin: over the words, and under their last row."""
        top = MARGIN + self._depth(ABOVE)
        return {ABOVE: top, BELOW: top + WORD_LINE + SMALL_LINE * len(self.layout.texts.rows)}

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
        pen, words = self.pens(arc), self.layout.texts.words
        head = "" if arc.is_root else f"{words[arc.head - 1]} → "
        yield element("title", {}, escaped(f"{head}{words[arc.dependent - 1]}: {arc.label}"))
        width = HEAVY_LINE if pen.heavy else LIGHT_LINE
        stroke = {"fill": "none", "stroke": "currentColor", "stroke-width": width}
        dashes = {"stroke-dasharray": DASHES} if pen.dashed else {}
        if self.annotated:  # a broad line to point at
            yield element(
                "path", {"d": self._line(arc), "fill": "none", "stroke": "transparent", "stroke-width": REACH}
            )
        line = element("path", {"d": self._line(arc), **stroke, **dashes})
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
        words = {"font-size": WORD_SIZE, **({"direction": "rtl"} if self.mirrored else {})}
        forms = (
            self._annotated_words(top) if self.annotated else self._row(self.layout.texts.words, top + WORD_BASELINE)
        )
        yield _coloured(colours, "ink", *forms, **words)
        for number, (name, row) in enumerate(self.layout.texts.rows.items()):
            y = top + WORD_LINE + SMALL_LINE * number + SMALL_BASELINE
            if name in self.columns:
                yield from self._values(colours, row, y, name)
            elif self.annotated:
                yield self._annotated_labels(colours, row, y, number - len(self.columns) + 1)
            else:
                yield from self._labels(colours, row, y)
            yield self._name(colours, name, y)
        for side, name in self.sides.items():
            yield self._name(colours, name, self._bases[side] - _inwards(side) * FIRST_LEVEL + SMALL_MIDDLE)

    @property
    def _unturned(self) -> dict[str, str]:
        """For text that is not of the words' script: HTML around a mirrored picture runs from right to left."""
        return {"direction": "ltr"} if self.mirrored else {}

    def _labels(self, colours: Mapping[str, str], row: Sequence[str], y: int) -> Iterator[str]:
        for colour, shown in (("soft", NO_LABEL), ("ink", set(row) - NO_LABEL)):
            texts = [text if text in shown else "" for text in row]
            yield _coloured(colours, colour, *self._row(texts, y), **{"font-family": MONOSPACE}, **self._unturned)

    def _annotated_words(self, top: int) -> Iterator[str]:
        for word, (centre, text) in enumerate(zip(self.layout.centres[1:], self.layout.texts.words, strict=True), 1):
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

    def _values(self, colours: Mapping[str, str], row: Sequence[str], y: int, name: str) -> Iterator[str]:
        """Lemmas are of the words' script; tags and features are not, and may end in signs that would be turned."""
        direction = {"direction": "rtl"} if self.mirrored and name == "lemma" else self._unturned
        yield _coloured(colours, "ink", *self._row(row, y), **direction)

    def _row(self, texts: Sequence[str], y: int) -> Iterator[str]:
        places = zip(self.layout.centres[1:], texts, strict=True)
        return (_text(self._x(centre), y, text) for centre, text in places if text)

    def _name(self, colours: Mapping[str, str], name: str, y: int) -> str:
        style = {"font-family": MONOSPACE, "text-anchor": "end" if self.mirrored else "start", **self._unturned}
        return _coloured(colours, "soft", _text(self._x(0), y, name), **style)


def short(text: str) -> str:
    """A relation, label or name of a length that fits under or over words."""
    return shorten(plain(text), LONGEST_LABEL, SMALL_SIZE)


def _inwards(side: int) -> int:
    """The direction from the arcs to the words, as a sign: downwards for those above."""
    return 1 if side == ABOVE else -1


def _coloured(colours: Mapping[str, str], name: str, *content: str, **attributes: object) -> str:
    return element("g", {"class": f"bp-{name}", "color": colours[name], **attributes}, *content) if content else ""


def _text(x: int, y: int, text: str, **attributes: object) -> str:
    return element("text", {"x": x, "y": y, "fill": "currentColor", **attributes}, escaped(text))
