"""Sentences as pictures, with columns of CoNLL-U and the labels of an encoding under their words if wanted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from biplanar.data.conllu import Sentence
from biplanar.data.forest import Forest
from biplanar.data.tree import Tree
from biplanar.decoding.labels import encode
from biplanar.draw.canvas import Canvas
from biplanar.draw.images import save_image
from biplanar.draw.markup import element
from biplanar.draw.svg import canvas_of, to_svg
from biplanar.draw.tags import columns_of
from biplanar.encodings import get_encoding
from biplanar.errors import TreeError


def draw_sentence(
    sentence: Sentence, *, encoding: str | None = None, columns: Sequence[str] = (), theme: str = "auto"
) -> str:
    """A parsed sentence as an SVG document, with columns and its labels in an encoding under the words if named.

    The columns are `upos`, `xpos`, `feats` and `lemma`, in any order.
    """
    return draw_sentences([sentence], encoding=encoding, columns=columns, theme=theme)


def save_sentence(
    sentence: Sentence,
    path: str | Path | None = None,
    *,
    encoding: str | None = None,
    columns: Sequence[str] = (),
    theme: str = "auto",
) -> str:
    """The same, and with a path it is written there: as SVG, PNG or PDF, by its ending."""
    svg = draw_sentence(sentence, encoding=encoding, columns=columns, theme=theme)
    if path is not None:
        save_image(svg, path)
    return svg


def draw_sentences(
    sentences: Iterable[Sentence],
    *,
    encoding: str | None = None,
    columns: Sequence[str] = (),
    theme: str = "auto",
) -> str:
    """Parsed sentences one under the other in one SVG document."""
    return to_svg([sentence_canvas(sentence, encoding=encoding, columns=columns) for sentence in sentences], theme)


def sentence_canvas(sentence: Sentence, *, encoding: str | None = None, columns: Sequence[str] = ()) -> Canvas:
    """What `draw_sentence` draws, before it is drawn."""
    tree, values = sentence.tree, columns_of(sentence, columns)
    if encoding is None:
        return canvas_of(sentence.forms, tree, columns=values)
    planes, labels = shown_planes(tree, encoding), label_rows(sentence, encoding)
    return canvas_of(sentence.forms, tree, planes=planes, labels=labels, columns=values)


def label_rows(sentence: Sentence, encoding: str) -> dict[str, tuple[str, ...]]:
    """A sentence's labels in an encoding, a row for each task; the relations, which arcs bear, are left out."""
    how = get_encoding(encoding)
    if how.needs_upos:
        sentence.check_tagged(encoding)
    try:
        rows = encode(sentence.tree, encoding, upos=sentence.upos if how.needs_upos else None)
    except TreeError as error:
        raise sentence.error_at(1, str(error)) from error
    return dict(zip(how.tasks, zip(*rows, strict=True), strict=False))


def shown_planes(tree: Tree, encoding: str) -> tuple[int, ...] | None:
    """The planes in which an encoding puts arcs, so that picture and labels agree; None if it knows none for a tree."""
    if encoding == "1p-brackets":
        return (1,) * len(tree)
    try:
        planes = get_encoding(encoding).planes(Forest.from_trees([tree]))
    except TreeError:
        return None
    return None if planes is None else tuple(planes.tolist())


def sentence_html(sentence: Sentence) -> str:
    """A parsed sentence for a notebook; what is too wide for it can be scrolled."""
    return scrolling(sentence_canvas(sentence), theme="auto")


def scrolling(canvas: Canvas, theme: str, *, style: bool = True) -> str:
    """A picture in HTML that scrolls from the side where its script begins."""
    attributes = {"class": "bp-scroll", "dir": "rtl" if canvas.mirrored else "ltr", "style": "overflow-x:auto"}
    return element("div", attributes, to_svg([canvas], theme, style=style))
