"""One word a line, plane 1 to the left and plane 2 to the right: for sentences too long for one line of words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate

from rich.cells import cell_len

from biplanar.draw.arcs import ABOVE, BELOW, PlacedArc, highest
from biplanar.draw.cells import (
    BOXES,
    DIM,
    DOWN,
    LEVEL,
    PLAIN,
    PLANE_STYLES,
    RIGHT,
    UP,
    UPRIGHT,
    TextRun,
    Texts,
    cut,
    cut_line,
    join_line,
)

MOST_LEVELS = 12  # on each side; what lies further out is given as the number of the head
SHORTEST_CUT = 8  # words are not cut below that many cells to make room for arcs
ROOT_MARK = "●"
MIRROR = str.maketrans("▶┘┐┤└┌├╴╶", "◀└┌├┘┐┤╶╴")

Cell = tuple[str, str]  # a character and its style


@dataclass(frozen=True)
class Frame:
    """The columns of a picture: which levels are drawn, and how wide the columns of text are."""

    levels: int
    left: int
    right: int
    numbers: int
    words: int
    texts: tuple[int, ...]

    @property
    def starts(self) -> list[int]:
        """Where the words begin, and each column of text behind them."""
        first = self.numbers + (2 * self.left + 1 if self.left else 0)
        behind = self.words + (2 * self.right + 1 if self.right else 0) + 2
        return [first, *accumulate((width + 2 for width in self.texts[:-1]), initial=first + behind)]

    @property
    def width(self) -> int:
        """The cells of the widest line."""
        return self.starts[-1] + self.texts[-1]

    @property
    def spare(self) -> int:
        """The cells that may be cut from the last column of text."""
        return max(self.texts[-1] - SHORTEST_CUT, 0)


@dataclass(frozen=True)
class Ends:
    """What arcs do on one side of one line: they enter its word, leave it, or pass."""

    entering: list[PlacedArc] = field(default_factory=list)
    leaving: list[PlacedArc] = field(default_factory=list)
    passing: list[PlacedArc] = field(default_factory=list)


def draw_vertical(
    texts: Texts,
    arcs: Sequence[PlacedArc],
    *,
    width: int | None = None,
    colour: bool = False,
    cut_last: bool = False,
) -> str:
    """The picture, word by word; where it would not fit, outer arcs give way to numbers, then text is cut with a ….

    With `cut_last`, the last column of text is cut before arcs give way.
    """
    if width is not None:
        longest = max(SHORTEST_CUT, width // 3)
        texts = replace(texts, words=tuple(cut(word, longest) for word in texts.words))
    frame = _fitting_frame(texts, arcs, width, cut_last=cut_last)
    lines = _lines(texts, arcs, frame)
    limit = frame.width if width is None else width
    return "\n".join(join_line(cut_line(line, limit), colour=colour) for line in lines)


def _fitting_frame(texts: Texts, arcs: Sequence[PlacedArc], width: int | None, *, cut_last: bool) -> Frame:
    most = min(MOST_LEVELS, max(highest(arcs, ABOVE), highest(arcs, BELOW)))
    frames = (_frame(texts, arcs, levels) for levels in range(most, 0, -1))
    fitting = (frame for frame in frames if width is None or frame.width - cut_last * frame.spare <= width)
    return next(fitting, _frame(texts, arcs, 0))


def _frame(texts: Texts, arcs: Sequence[PlacedArc], levels: int) -> Frame:
    hidden = any(arc.level > levels for arc in arcs)
    columns = [_relations(texts, arcs, levels), *([name, *row] for name, row in texts.rows.items())]
    return Frame(
        levels,
        min(levels, highest(arcs, ABOVE)),
        min(levels, highest(arcs, BELOW)),
        len(str(len(texts.words))) + 1 if hidden else 0,
        max(map(cell_len, texts.words)),
        tuple(max(map(cell_len, column)) for column in columns),
    )


def _relations(texts: Texts, arcs: Sequence[PlacedArc], levels: int) -> list[str]:
    """The relations, with the head's number where its arc is not drawn."""
    relations = list(texts.relations)
    for arc in arcs:
        if arc.level > levels:
            relations[arc.dependent - 1] += f" (head {arc.head})"
    return relations


def _lines(texts: Texts, arcs: Sequence[PlacedArc], frame: Frame) -> Iterator[list[TextRun]]:
    word_start, *starts = frame.starts
    if texts.rows:
        yield [TextRun(start, name, DIM) for start, name in zip(starts[1:], texts.rows, strict=True)]
    ends = _ends(arcs, frame.levels)
    dependents = {arc.dependent for arc in arcs}
    columns = [_relations(texts, arcs, frame.levels), *texts.rows.values()]
    for word, form in enumerate(texts.words, 1):
        left = _cells(ends[ABOVE, word], word, frame.left, 0)
        if left and word not in dependents:
            left[-1] = ROOT_MARK, PLAIN
        right = _mirror(_cells(ends[BELOW, word], word, frame.right, frame.words - cell_len(form)))
        yield [
            *([TextRun(0, f"{word:>{frame.numbers - 1}}", DIM)] if frame.numbers else []),
            *_runs(frame.numbers, left),
            TextRun(word_start, form),
            *_runs(word_start + cell_len(form) + 1, right),
            TextRun(starts[0], columns[0][word - 1], DIM),
            *(TextRun(start, column[word - 1]) for start, column in zip(starts[1:], columns[1:], strict=True)),
        ]


def _runs(start: int, cells: list[Cell]) -> Iterator[TextRun]:
    return (TextRun(start + column, text, style) for column, (text, style) in enumerate(cells) if text != " ")


def _ends(arcs: Sequence[PlacedArc], levels: int) -> dict[tuple[int, int], Ends]:
    """By side and word. Arcs on one level do not overlap, so this is linear in words times levels."""
    ends: dict[tuple[int, int], Ends] = defaultdict(Ends)
    for arc in arcs:
        if arc.level <= levels:
            ends[arc.side, arc.dependent].entering.append(arc)
            ends[arc.side, arc.head].leaving.append(arc)
            for word in range(arc.left + 1, arc.right):
                ends[arc.side, word].passing.append(arc)
    return ends


def _cells(ends: Ends, word: int, levels: int, padding: int) -> list[Cell]:
    """The cells to the left of a word, the outermost first; `padding` more lie between the arcs and the word.

    A head's arcs join to one line into the word. Its own arc comes in from outside with an arrow head, which stands
    before the first of those; a longer one of them seems to run under it.
    """
    strokes, styles = [0] * (2 * levels + padding), [PLAIN] * (2 * levels + padding)
    for arc in ends.passing:
        strokes[_column(arc, levels)] = UPRIGHT
        styles[_column(arc, levels)] = PLANE_STYLES[arc.plane]
    for arc in sorted([*ends.leaving, *ends.entering], key=lambda arc: -arc.level):
        corner = _column(arc, levels)
        joined = 0 if arc.dependent == word else strokes[corner]
        strokes[corner] = joined | RIGHT | (UP if arc.right == word else DOWN)
        strokes[corner + 1 :] = [stroke | LEVEL for stroke in strokes[corner + 1 :]]
        styles[corner:] = [PLANE_STYLES[arc.plane]] * len(styles[corner:])
    cells = [(BOXES[stroke], style) for stroke, style in zip(strokes, styles, strict=True)]
    for arc in ends.entering:
        joins = [_column(other, levels) for other in ends.leaving if other.level < arc.level]
        cells[min(joins, default=len(cells)) - 1] = "▶", PLANE_STYLES[arc.plane]
    return cells


def _column(arc: PlacedArc, levels: int) -> int:
    """Every other cell, so that there is always one for an arrow head between two arcs."""
    return 2 * (levels - arc.level)


def _mirror(cells: list[Cell]) -> list[Cell]:
    return [(character.translate(MIRROR), style) for character, style in reversed(cells)]
