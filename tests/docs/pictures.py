"""Draw the picture at the top of README: a text, the labels of its words, and the graph that they give.

python -m tests.docs.pictures docs/images

The analysis is written down here, as in English-EWT, so that the picture does not change with the bundled model. The
labels are those that the library gives, and the graph is drawn as `biplanar draw --graphs` draws it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import biplanar
from biplanar.draw import save_image
from biplanar.draw.arcs import ABOVE, BELOW
from biplanar.draw.svg import MARGIN, MONOSPACE, PIXELS, SANS, canvas_of, get_palette, style_sheet
from biplanar.draw.text import element, escaped

NAME = "overview.svg"

CONLLU = """\
# text = A hearing is scheduled on the issue today.
1	A	a	DET	DT	Definite=Ind|PronType=Art	2	det	2:det	_
2	hearing	hearing	NOUN	NN	Number=Sing	4	nsubj:pass	4:nsubj:pass	_
3	is	be	AUX	VBZ	Mood=Ind|Number=Sing|Person=3|Tense=Pres|VerbForm=Fin	4	aux:pass	4:aux:pass	_
4	scheduled	schedule	VERB	VBN	Tense=Past|VerbForm=Part|Voice=Pass	0	root	0:root	_
5	on	on	ADP	IN	_	7	case	7:case	_
6	the	the	DET	DT	Definite=Def|PronType=Art	7	det	7:det	_
7	issue	issue	NOUN	NN	Number=Sing	2	nmod	2:nmod:on	_
8	today	today	NOUN	NN	Number=Sing	4	obl:unmarked	4:obl:unmarked	SpaceAfter=No
9	.	.	PUNCT	.	_	4	punct	4:punct	_

"""

# Rows of labels: their names, and the colours in which their arcs are drawn.
ROWS = {"plane 1": "one", "plane 2": "two", "relation": "ink"}

NOTE = ("Heavy arcs cross: the issue is that of the", "hearing, on the other side of the verb.")

TEXT_SIZE, LABEL_SIZE, CAPTION_SIZE = 18, 13, 13  # of letters
TEXT_BOX, STEP, WORD_LINE, CHIP, CHIP_LINE = 44, 50, 22, 22, 27  # heights
PADDING = 14  # around everything, beside the margin that the drawing of the graph has
LEFT = PADDING + MARGIN
COLOURS = asdict(get_palette("auto"))


def overview() -> str:
    """The picture as an SVG document."""
    sentence = biplanar.parse_conllu(CONLLU)[0]
    rows = dict(zip(ROWS, zip(*biplanar.encode(sentence.tree, "2p-full"), strict=True), strict=True))
    graph = canvas_of(sentence.forms, sentence.tree, labels={"relation": rows["relation"]}, graph=sentence.graph)
    graph.layout.rows = {"upos": sentence.upos}  # in the place of the relations, which stand further up
    graph.sides = {ABOVE: "plane 1", BELOW: "plane 2"}
    centres = [LEFT + centre for centre in graph.layout.centres[1:]]
    width, middle = graph.width + 2 * PADDING, (centres[0] + centres[-1]) / 2

    top = LEFT
    parts = [*text_box(sentence.text, middle, top)]
    top += TEXT_BOX
    parts += step("a tagger gives each word a few labels", middle, top)
    top += STEP
    parts += label_rows(sentence.forms, rows, centres, top)
    top += WORD_LINE + CHIP_LINE * len(rows)
    parts += step("brackets become arcs, which may cross", middle, top)
    top += STEP - MARGIN
    parts.append(element("g", {"transform": f"translate({PADDING} {top})"}, graph.draw(get_palette("auto"))))
    height = top + graph.height + PADDING
    for line, y in zip(NOTE, (height - LEFT - 22, height - LEFT - 5), strict=True):
        parts.append(coloured("soft", written(centres[0] - 10, y, line, **{"text-anchor": "start"})))
    return document(sentence.text, width, height, parts)


def document(text: str, width: int, height: int, parts: list[str]) -> str:
    """All parts on a card of their own, which is legible on a light and on a dark page."""
    frame = {"x": 0.5, "y": 0.5, "width": width - 1, "height": height - 1, "rx": 12}
    attributes = {
        "xmlns": "http://www.w3.org/2000/svg",
        "viewBox": f"0 0 {width} {height}",
        "width": width,
        "height": height,
        "class": "biplanar bp-auto",
        "role": "img",
        "aria-label": f"{text} The text, the labels of its words, and its graph with crossing arcs",
        "font-family": SANS,
        "font-size": 12,
        "text-anchor": "middle",
    }
    paper = element("rect", {"class": "bp-paper", **frame, "fill": COLOURS["paper"]})
    border = coloured("line", element("rect", {**frame, "fill": "none", "stroke": "currentColor"}))
    return element("svg", attributes, element("style", {}, style_sheet("auto")), paper, border, *parts)


def text_box(text: str, middle: float, top: float) -> Iterator[str]:
    """The text as it comes in."""
    width = PIXELS.word(text) * TEXT_SIZE / 16 + 36
    yield coloured("soft", chip(middle, top, width, TEXT_BOX, opacity=0.12, radius=TEXT_BOX / 2))
    yield coloured("ink", written(middle, top + TEXT_BOX / 2 + 6, text), **{"font-size": TEXT_SIZE})


def step(caption: str, middle: float, top: float) -> Iterator[str]:
    """An arrow down, and what happens there."""
    start, end = top + 8, top + STEP - 10
    line = {"d": f"M{middle} {start}V{end - 6}", "stroke": "currentColor", "stroke-width": 1.6}
    arrow = {"d": f"M{middle} {end}l-5 -8h10z", "fill": "currentColor"}
    words = written(middle + 16, (start + end) / 2 + 4, caption, **{"text-anchor": "start"})
    yield coloured("soft", element("path", line), element("path", arrow), words, **{"font-size": CAPTION_SIZE})


def label_rows(forms: list[str], rows: dict[str, tuple[str, ...]], centres: list[int], top: float) -> Iterator[str]:
    """The words, and their labels under them; those of a plane in the colour of its arcs."""
    words = (written(x, top + 14, form) for x, form in zip(centres, forms, strict=True))
    yield coloured("ink", *words, **{"font-size": LABEL_SIZE})
    for number, (name, labels) in enumerate(rows.items()):
        y = top + WORD_LINE + CHIP_LINE * number
        style = {"font-family": MONOSPACE}
        yield coloured("soft", written(LEFT, y + 15, name, **{"text-anchor": "start"}), **style)
        for x, label in zip(centres, labels, strict=True):
            is_none = label == "_"
            box = chip(x, y, max(PIXELS.label(label) + 8, 30), CHIP, opacity=0.06 if is_none else 0.12)
            yield coloured("soft" if is_none else ROWS[name], box, written(x, y + 15, label), **style)


def chip(middle: float, top: float, width: float, height: float, *, opacity: float, radius: float = 5) -> str:
    """A box with a tint of the colour that it is in."""
    place = {"x": middle - width / 2, "y": top, "width": width, "height": height, "rx": radius}
    return element("rect", {**place, "fill": "currentColor", "fill-opacity": opacity})


def written(x: float, y: float, text: str, **attributes: object) -> str:
    """Text in the colour that it is in."""
    return element("text", {"x": x, "y": y, "fill": "currentColor", **attributes}, escaped(text))


def coloured(name: str, *content: str, **attributes: object) -> str:
    """A group in one of the colours of pictures, which follows the reader's theme."""
    return element("g", {"class": f"bp-{name}", "color": COLOURS[name], **attributes}, *content)


if __name__ == "__main__":
    save_image(overview(), Path(sys.argv[1]) / NAME)
