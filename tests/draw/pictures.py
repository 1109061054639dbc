"""SVG read back: what its texts and lines are and where they stand, told from the markup alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple
from xml.etree import ElementTree

from biplanar.draw.text import text_width

SVG = "{http://www.w3.org/2000/svg}"
ASCENT, DESCENT = 0.95, 0.25  # of letters, in parts of their size


class Box(NamedTuple):
    """A text and the room it takes."""

    text: str
    left: float
    top: float
    right: float
    bottom: float
    middle: float
    size: float

    def overlaps(self, other: Box) -> bool:
        return (
            self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom
        )


class Stroke(NamedTuple):
    """A straight piece of a line."""

    x1: float
    y1: float
    x2: float
    y2: float

    def runs_through(self, box: Box) -> bool:
        """Whether it comes into a text; its own arc's line may begin at its edge, give or take a pixel."""
        left, right = sorted((self.x1, self.x2))
        top, bottom = sorted((self.y1, self.y2))
        return left < box.right - 1 and right > box.left + 1 and top < box.bottom - 1 and bottom > box.top + 1


class DrawnArc(NamedTuple):
    """An arc as it is drawn: where it begins (None for one that stands alone) and where its arrow points."""

    title: str
    label: str
    start: float | None
    arrow: tuple[float, float]
    is_above: bool
    width: float
    dashed: bool
    colour: str
    strokes: list[Stroke]


def parse(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)


def boxes(svg: str) -> list[Box]:
    """All texts; attributes are inherited as in a browser. Pictures on a sheet are not told apart here."""
    return list(_boxes(parse(svg), {}))


def _boxes(node: ElementTree.Element, above: dict[str, str]) -> Iterator[Box]:
    inherited = above | {name: node.attrib[name] for name in INHERITED if name in node.attrib}
    if node.tag == f"{SVG}text":
        yield _box(node, inherited)
    for child in node:
        yield from _boxes(child, inherited)


INHERITED = ("font-size", "font-family", "text-anchor", "direction")


def _box(node: ElementTree.Element, style: dict[str, str]) -> Box:
    text, x, y, size = node.text or "", float(node.attrib["x"]), float(node.attrib["y"]), float(style["font-size"])
    width = text_width(text, size, monospace="monospace" in style["font-family"].split(",")[-1])
    left = x - {"start": 0.0, "middle": 0.5, "end": 1.0}[style["text-anchor"]] * width
    return Box(text, left, y - ASCENT * size, left + width, y + DESCENT * size, left + width / 2, size)


def overlaps(svg: str) -> list[tuple[str, str]]:
    """Texts that lie over each other."""
    return [(one.text, other.text) for one, other in combinations(boxes(svg), 2) if one.overlaps(other)]


def outside(svg: str) -> list[str]:
    """Texts that stick out of the picture."""
    _, _, width, height = map(float, parse(svg).attrib["viewBox"].split())
    return [box.text for box in boxes(svg) if box.left < 0 or box.right > width or box.top < 0 or box.bottom > height]


def struck_through(svg: str) -> list[tuple[str, str]]:
    """Texts that a line of an arc runs through."""
    strokes = [(arc.title, stroke) for arc in arcs(svg) for stroke in arc.strokes]
    return [(box.text, title) for box in boxes(svg) for title, stroke in strokes if stroke.runs_through(box)]


def arcs(svg: str) -> list[DrawnArc]:
    """All arcs, in the order in which they are drawn."""
    return [_arc(node) for node in parse(svg).iter(f"{SVG}g") if node.attrib.get("class") == "bp-arc"]


def _arc(node: ElementTree.Element) -> DrawnArc:
    line, arrow = node.iter(f"{SVG}path")
    strokes = list(_strokes(line.attrib["d"]))
    x, y = map(float, re.match(r"M(\S+) ([^l]+)l", arrow.attrib["d"]).groups())
    text = node.find(f".//{SVG}text")
    title = node.find(f"{SVG}title")
    group = node.find(f"{SVG}g")
    return DrawnArc(
        title.text,
        "" if text is None else text.text,
        strokes[0].x1 if "q" in line.attrib["d"] else None,
        (x, y),
        min(stroke.y1 for stroke in strokes) < y,
        float(line.attrib["stroke-width"]),
        "stroke-dasharray" in line.attrib,
        group.attrib["class"],
        strokes,
    )


def _strokes(path: str) -> Iterator[Stroke]:
    """The straight pieces; a corner counts as the line between its ends."""
    x = y = 0.0
    for command, numbers in re.findall(r"([MVHq])([^MVHq]*)", path):
        values = [float(number) for number in numbers.split()]
        before = x, y
        if command == "M":
            x, y = values
            continue
        if command == "V":
            y = values[0]
        elif command == "H":
            x = values[0]
        else:
            x, y = x + values[2], y + values[3]
        yield Stroke(*before, x, y)


def read_heads(svg: str, forms: list[str]) -> tuple[int, ...]:
    """The heads by word, of a picture whose words are wide enough for all ends of arcs to stand over them."""
    words = {box.text: box for box in boxes(svg) if box.text in forms}
    found = {}
    for arc in arcs(svg):
        start = 0 if arc.start is None else _owner(arc.start, words, forms)
        found[_owner(arc.arrow[0], words, forms)] = start
    return tuple(found[word] for word in range(1, len(forms) + 1))


def _owner(x: float, words: dict[str, Box], forms: list[str]) -> int:
    (word,) = [number for number, form in enumerate(forms, 1) if words[form].left <= x <= words[form].right]
    return word
