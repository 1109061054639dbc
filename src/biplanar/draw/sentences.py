"""Sentences as pictures, alone or against a system's, with columns of CoNLL-U and labels under their words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from biplanar.data.conllu import Sentence
from biplanar.data.forest import Forest
from biplanar.data.graph import Graph
from biplanar.data.tree import Tree
from biplanar.draw.arcs import ABOVE, BELOW, PlacedArc, check_drawable, crossing_dependents, place_facing
from biplanar.draw.layout import Rows, columns_of, compared_columns
from biplanar.draw.svg import MOST_LEVELS, Canvas, Pen, canvas_of, shortened, to_svg
from biplanar.draw.terminal import draw_tree
from biplanar.draw.text import element
from biplanar.encodings import get_encoding
from biplanar.encodings.encoding import encoded
from biplanar.errors import TreeError

SIDES = {ABOVE: "gold", BELOW: "system"}


def draw_sentence(
    sentence: Sentence,
    *,
    encoding: str | None = None,
    columns: Sequence[str] = (),
    theme: str = "auto",
    graph: bool = False,
) -> str:
    """A parsed sentence as an SVG document, with columns and its labels in an encoding under the words if named.

    The columns are `upos`, `xpos`, `feats` and `lemma`, in any order. With `graph`, the enhanced graph is drawn too.
    """
    return draw_sentences([sentence], encoding=encoding, columns=columns, theme=theme, graph=graph)


def draw_sentences(
    sentences: Iterable[Sentence],
    *,
    encoding: str | None = None,
    columns: Sequence[str] = (),
    theme: str = "auto",
    graph: bool = False,
) -> str:
    """Parsed sentences one under the other in one SVG document."""
    entries = (Entry(1, sentence, graph=graph) for sentence in sentences)
    return to_svg([entry.canvas(encoding, columns=columns) for entry in entries], theme)


def draw_comparison(
    forms: Sequence[str],
    gold: Tree,
    system: Tree,
    *,
    columns: Rows | None = None,
    theme: str = "auto",
    right_to_left: bool | None = None,
) -> str:
    """An SVG document: the gold tree above the words and the system's below.

    Arcs that the system missed are dashed, arcs that it made instead are solid, both in heavier lines; a relation that
    differs on an arc that is right is underlined. `columns` of CoNLL-U stand under the words: `upos`, `xpos`, `feats`,
    `lemma`.
    """
    return to_svg([compared_canvas(forms, gold, system, columns, right_to_left)], theme)


def compared_canvas(
    forms: Sequence[str], gold: Tree, system: Tree, columns: Rows | None = None, right_to_left: bool | None = None
) -> Canvas:
    """What `draw_comparison` draws, before it is drawn."""
    for tree in (gold, system):
        check_drawable(forms, tree, [0] * len(tree), columns or {})
    arcs = place_facing(shortened(gold), shortened(system), most_levels=MOST_LEVELS)
    pens = Differences.between(gold, system).pen
    return Canvas(forms, arcs, pens, columns=columns, sides=SIDES, right_to_left=right_to_left)


@dataclass(frozen=True)
class Entry:
    """A sentence to draw, alone or against a system's."""

    number: int  # in its file
    sentence: Sentence
    other: Sentence | None = None  # the system's, where two are compared
    graph: bool = False  # whether the enhanced graph is drawn too, where there is one; not where two are compared

    @property
    def name(self) -> str:
        """What the file calls it, else its number."""
        return self.sentence.sent_id or f"sentence {self.number}"

    @property
    def text(self) -> str:
        """As it was written, else its words."""
        return self.sentence.comment("text") or " ".join(self.sentence.forms)

    @property
    def note(self) -> str:
        """What there is to see."""
        counts = {"word": len(self.sentence)}
        if self.other is None:
            counts["crossing arc"] = len(crossing_dependents(self.sentence.tree))
        else:
            found = Differences.between(self.sentence.tree, self.other.tree)
            counts |= {"wrong head": len(found.heads), "wrong relation": len(found.relations)}
        return ", ".join(f"{count} {thing}{'' if count == 1 else 's'}" for thing, count in counts.items())

    def canvas(self, encoding: str | None = None, *, columns: Sequence[str] = ()) -> Canvas:
        """The picture for SVG, with columns and the labels of an encoding if named."""
        forms, tree, values = self.sentence.forms, self.sentence.tree, self._columns(columns)
        if self.other is not None:
            return compared_canvas(forms, tree, self.other.tree, values)
        planes, labels = self._labels(encoding)
        return canvas_of(forms, tree, planes=planes, labels=labels, columns=values, graph=self._graph)

    def lines(
        self,
        encoding: str | None = None,
        *,
        columns: Sequence[str] = (),
        width: int | None = None,
        colour: bool = False,
    ) -> str:
        """The picture for a terminal; compared trees are one picture, with a row for what the system has instead."""
        forms, tree, values = self.sentence.forms, self.sentence.tree, self._columns(columns)
        planes, rows = self._labels(encoding)
        if self.other is not None:
            rows = {"system": self._instead(self.other)}
        return draw_tree(
            forms, tree, planes=planes, rows=rows, columns=values, width=width, colour=colour, graph=self._graph
        )

    def html(self, theme: str = "auto", *, style: bool = True, **options: Any) -> str:
        """The picture for a page; it scrolls if it is too wide, from the side where its script begins."""
        canvas = self.canvas(**options)
        attributes = {"class": "bp-scroll", "dir": "rtl" if canvas.mirrored else "ltr", "style": "overflow-x:auto"}
        return element("div", attributes, to_svg([canvas], theme, style=style))

    @property
    def _graph(self) -> Graph | None:
        return self.sentence.graph if self.graph and self.other is None else None

    def _labels(self, encoding: str | None) -> tuple[Sequence[int] | None, Rows]:
        if encoding is None:
            return None, {}
        return shown_planes(self.sentence.tree, encoding), label_rows(self.sentence, encoding)

    def _columns(self, names: Sequence[str]) -> dict[str, list[str]]:
        values = columns_of(self.sentence, names)
        return values if self.other is None else compared_columns(values, columns_of(self.other, names))

    def _instead(self, other: Sentence) -> list[str]:
        found = Differences.between(self.sentence.tree, other.tree)
        forms = ["root", *self.sentence.forms]
        arcs = enumerate(zip(other.tree.heads, other.tree.deprels, strict=True), 1)
        return [
            f"{deprel} ← {forms[head]}" if word in found.heads else deprel if word in found.relations else ""
            for word, (head, deprel) in arcs
        ]


def label_rows(sentence: Sentence, encoding: str) -> dict[str, tuple[str, ...]]:
    """A sentence's labels in an encoding, a row for each task; the relations, which arcs bear, are left out."""
    how = get_encoding(encoding)
    if how.needs_upos:
        sentence.check_tagged(encoding)
    forest = Forest.from_trees([sentence.tree], [sentence.upos] if how.needs_upos else None)
    columns = encoded(how, forest, [sentence])
    return {task: tuple(column.labels()) for task, column in zip(how.tasks, columns, strict=True)}


def shown_planes(tree: Tree, encoding: str) -> tuple[int, ...] | None:
    """The planes in which an encoding puts arcs, so that picture and labels agree; None if it knows none for a tree."""
    if encoding == "1p-brackets":
        return (1,) * len(tree)
    try:
        planes = get_encoding(encoding).planes(Forest.from_trees([tree]))
    except TreeError:
        return None
    return None if planes is None else tuple(planes.tolist())


@dataclass(frozen=True)
class Differences:
    """The words whose heads differ, and those that have the right head but another relation."""

    heads: frozenset[int]
    relations: frozenset[int]

    @classmethod
    def between(cls, gold: Tree, system: Tree) -> Differences:
        """Of two trees of the same words."""
        rows = enumerate(zip(gold.heads, system.heads, gold.deprels, system.deprels, strict=True), 1)
        found = [(word, wanted != head, relation != label) for word, (wanted, head, relation, label) in rows]
        heads = frozenset(word for word, other_head, _ in found if other_head)
        return cls(heads, frozenset(word for word, _, other_relation in found if other_relation) - heads)

    def pen(self, arc: PlacedArc) -> Pen:
        """Arcs that both trees have are grey. What is missing is dashed, what is wrong is solid."""
        colour = "one" if arc.side == ABOVE else "two"
        if arc.dependent in self.heads:
            return Pen(colour, colour, heavy=True, dashed=arc.side == ABOVE)
        wrong = arc.dependent in self.relations
        return Pen("soft", colour if wrong else "soft", underlined=wrong)


def paired(gold: Iterable[Sentence], system: Iterable[Sentence]) -> Iterator[tuple[Sentence, Sentence]]:
    """The sentences of two files side by side; an error says where their words begin to differ."""
    for one, other in zip_longest(gold, system):
        if one is None or other is None:
            raise (one or other).error_at(1, "the other file has no more sentences")
        _check_same_words(one, other)
        yield one, other


def _check_same_words(gold: Sentence, system: Sentence) -> None:
    for word, (wanted, found) in enumerate(zip_longest(gold.forms, system.forms), 1):
        if wanted != found:
            there = gold.error_at(min(word, len(gold)), "")
            shown = ["the end of the sentence" if form is None else repr(form) for form in (wanted, found)]
            message = f"{shown[1]} instead of {shown[0]}, as in {there.path}:{there.line}"
            raise system.error_at(min(word, len(system)), message)
