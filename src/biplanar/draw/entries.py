"""A sentence of a file with all that can be drawn of it, alone or against a system's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from biplanar.data.conllu import Sentence
from biplanar.draw.arcs import crossing_dependents
from biplanar.draw.canvas import Canvas
from biplanar.draw.compare import Differences, compared_canvas
from biplanar.draw.sentences import label_rows, sentence_canvas, shown_planes
from biplanar.draw.tags import columns_of, compared_columns
from biplanar.draw.terminal import draw_tree


@dataclass(frozen=True)
class Entry:
    """A sentence, numbered as in its file; `other` is the system's, where two are compared."""

    number: int
    sentence: Sentence
    other: Sentence | None = None

    @property
    def name(self) -> str:
        """What the file calls it, else its number."""
        return self.sentence.comment("sent_id") or f"sentence {self.number}"

    @property
    def text(self) -> str:
        """As it was written, else its words."""
        return self.sentence.comment("text") or " ".join(self.sentence.forms)

    @property
    def note(self) -> str:
        """What there is to see."""
        words = _count(len(self.sentence), "word")
        if self.other is None:
            return f"{words}, {_count(len(crossing_dependents(self.sentence.tree)), 'crossing arc')}"
        found = Differences.between(self.sentence.tree, self.other.tree)
        heads, relations = _count(len(found.heads), "wrong head"), _count(len(found.relations), "wrong relation")
        return f"{words}, {heads}, {relations}"

    def canvas(self, encoding: str | None = None, *, columns: Sequence[str] = ()) -> Canvas:
        """The picture for SVG, with columns and the labels of an encoding if named."""
        if self.other is None:
            return sentence_canvas(self.sentence, encoding=encoding, columns=columns)
        values = self._columns(columns)
        return compared_canvas(self.sentence.forms, self.sentence.tree, self.other.tree, columns=values)

    def lines(
        self,
        encoding: str | None = None,
        *,
        columns: Sequence[str] = (),
        width: int | None = None,
        colour: bool = False,
    ) -> str:
        """The picture for a terminal; compared trees are one picture, with a row for what the system has instead."""
        tree, planes, rows = self.sentence.tree, None, {}
        if encoding is not None:
            planes, rows = shown_planes(tree, encoding), label_rows(self.sentence, encoding)
        if self.other is not None:
            rows = {"system": self._instead(self.other)}
        values = self._columns(columns)
        forms = self.sentence.forms
        return draw_tree(forms, tree, planes=planes, rows=rows, columns=values, width=width, colour=colour)

    def _columns(self, names: Sequence[str]) -> dict[str, list[str]]:
        values = columns_of(self.sentence, names)
        return values if self.other is None else compared_columns(values, columns_of(self.other, names))

    def _instead(self, other: Sentence) -> tuple[str, ...]:
        found = Differences.between(self.sentence.tree, other.tree)
        forms = ["root", *self.sentence.forms]
        arcs = enumerate(zip(other.tree.heads, other.tree.deprels, strict=True), 1)
        return tuple(
            f"{deprel} ← {forms[head]}" if word in found.heads else deprel if word in found.relations else ""
            for word, (head, deprel) in arcs
        )


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"
