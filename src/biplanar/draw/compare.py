"""Two trees of the same words: the gold one above and the system's below, with differences marked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from biplanar.data.conllu import Sentence
from biplanar.data.tree import Tree
from biplanar.draw.arcs import ABOVE, BELOW, PlacedArc, check_drawable, place_facing
from biplanar.draw.canvas import Canvas, Pen
from biplanar.draw.svg import MOST_LEVELS, shortened, to_svg
from biplanar.draw.tags import ColumnValues, column_rows

SIDES = {ABOVE: "gold", BELOW: "system"}


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


def draw_comparison(
    forms: Sequence[str],
    gold: Tree,
    system: Tree,
    *,
    columns: ColumnValues | None = None,
    theme: str = "auto",
    right_to_left: bool | None = None,
) -> str:
    """An SVG document: the gold tree above the words and the system's below.

    Arcs that the system missed are dashed, arcs that it made instead are solid, both in heavier lines; a relation that
    differs on an arc that is right is underlined. `columns` of CoNLL-U stand under the words: `upos`, `xpos`, `feats`,
    `lemma`.
    """
    canvas = compared_canvas(forms, gold, system, columns=columns, right_to_left=right_to_left)
    return to_svg([canvas], theme)


def compared_canvas(
    forms: Sequence[str],
    gold: Tree,
    system: Tree,
    *,
    columns: ColumnValues | None = None,
    right_to_left: bool | None = None,
) -> Canvas:
    """What `draw_comparison` draws, before it is drawn."""
    for tree in (gold, system):
        check_drawable(forms, tree, [0] * len(tree), columns or {})
    arcs = place_facing(shortened(gold), shortened(system), most_levels=MOST_LEVELS)
    pens = Differences.between(gold, system).pen
    return Canvas.of(forms, arcs, pens, columns=column_rows(columns or {}), sides=SIDES, right_to_left=right_to_left)


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
