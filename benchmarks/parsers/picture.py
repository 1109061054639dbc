"""Accuracy over speed as a picture: every system a point with its name beside it, and the front that none surpasses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.output import Numbers
from biplanar.errors import BiplanarError, FileError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Annotation
    from matplotlib.transforms import Bbox

Point = tuple[float, float]

# Okabe and Ito's colours, which all eyes tell apart, and shapes besides.
STYLES = (
    ("#0072b2", "o"),
    ("#d55e00", "s"),
    ("#009e73", "^"),
    ("#cc79a7", "D"),
    ("#e69f00", "v"),
    ("#56b4e9", "P"),
    ("#000000", "X"),
)
FRONT = "#999999"
POINTS_PER_INCH = 72
RASTER = 160  # dots an inch of the PNG
POINT_SIZE, LINE_WIDTH = 7, 1.2
GAP = 5  # dots between a name and anything else

# Where a name may stand beside its point, and how far, in points; to a far one a line leads.
DIRECTIONS = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 0.6), (1, -0.6), (-1, 0.6), (-1, -0.6), (0.6, 1), (0.6, -1))
DISTANCES = (7, 11, 16, 22, 29, 37, 46, 56, 68, 82, 98, 116, 136)
NEAR = 8

WORDS_A_SECOND = "words a second on one core, file to file"
LEGEND = "filled and on the line: none is both faster and better"

# The decoder that names need not tell.
USUAL = " search"


@dataclass(frozen=True)
class Mark:
    """A system in the picture; systems of one family share a colour."""

    name: str
    family: str
    speed: float
    las: float

    @property
    def place(self) -> Point:
        """Where it stands."""
        return self.speed, self.las


def marks_of(systems: Sequence[Numbers]) -> list[Mark]:
    """The systems that were measured."""
    return [
        Mark(one["name"].removesuffix(USUAL), one["family"], one["words_per_second"]["best"], one["las"])
        for one in systems
        if one["not_measured"] is None
    ]


def draw(systems: Sequence[Numbers], path: str | Path) -> list[Path]:
    """Write the picture as PNG and as SVG, whichever of the two the path names."""
    target, rc_context = Path(path), _matplotlib().rc_context
    figure = figure_of(systems)
    written = [target.with_suffix(suffix) for suffix in (".png", ".svg")]
    try:
        # Without a date and with names that are not made by chance, equal numbers give equal files. Text stays text.
        with rc_context({"svg.hashsalt": "biplanar", "svg.fonttype": "none"}):
            for file in written:
                figure.savefig(file, dpi=RASTER, metadata={"Date": None} if file.suffix == ".svg" else None)
    except OSError as error:
        raise FileError(f"{error.filename or target}: {error.strerror or error}") from error
    return written


def figure_of(systems: Sequence[Numbers]) -> Figure:
    """The picture of some systems."""
    _matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.ticker import LogLocator, NullFormatter

    marks = marks_of(systems)
    if not marks:
        raise BiplanarError("no system was measured, so there is nothing to draw")
    figure = Figure(figsize=(8.5, 6.3), dpi=RASTER, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    axes.set(xscale="log", xlabel=f"{WORDS_A_SECOND}\n{LEGEND}", ylabel="LAS")
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.grid(alpha=0.25, linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    _draw_points(axes, marks)
    _draw_names(figure, axes, marks)
    return figure


def check_drawable(path: str | Path) -> None:
    """Complain now of what would go wrong when all has been measured."""
    _matplotlib()
    if not Path(path).parent.is_dir():
        raise FileError(f"{path}: no such folder")


def _matplotlib() -> Any:
    try:
        return import_module("matplotlib")
    except ImportError as error:
        raise BiplanarError(f"plots need matplotlib: pip install matplotlib ({error})") from error


def pareto_front(points: Sequence[Point]) -> list[Point]:
    """Points than which no other is as good in both and better in one, from slow to fast."""
    front: list[Point] = []
    for point in sorted(set(points), reverse=True):
        if not front or point[1] > front[-1][1]:
            front.append(point)
    return front[::-1]


def _draw_points(axes: Axes, marks: Sequence[Mark]) -> None:
    front = pareto_front([mark.place for mark in marks])
    for start, end in _lines(front):
        axes.plot(*zip(start, end, strict=True), color=FRONT, linewidth=LINE_WIDTH, zorder=1)
    families = list(dict.fromkeys(mark.family for mark in marks))
    for mark in marks:
        colour, shape = STYLES[families.index(mark.family) % len(STYLES)]
        face = colour if mark.place in front else "white"
        axes.plot(*mark.place, shape, color=colour, markerfacecolor=face, markersize=POINT_SIZE, zorder=3)
    axes.margins(x=0.16, y=0.12)


def _lines(front: Sequence[Point]) -> Iterator[tuple[Point, Point]]:
    """The lines of a front: from each point down, then to the right."""
    for (slow, better), (fast, worse) in pairwise(front):
        yield (slow, better), (slow, worse)
        yield (slow, worse), (fast, worse)


def _draw_names(figure: Figure, axes: Axes, marks: Sequence[Mark]) -> None:
    """Each name at the nearest place where it meets nothing that is drawn, and no edge; a line leads to a far one."""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")  # what was measured must stay where it is
    taken = [_box_of_point(axes, mark.place) for mark in marks]
    taken += [_box_of_line(axes, *line) for line in _lines(pareto_front([mark.place for mark in marks]))]
    for mark in sorted(marks, key=lambda mark: mark.speed):
        name = _placed_name(figure, axes, mark, taken)
        taken.append(_box(figure, name))


def _placed_name(figure: Figure, axes: Axes, mark: Mark, taken: Sequence[Bbox]) -> Annotation:
    """The name at its first free place; if there is none, where it covers least."""
    costs: list[tuple[float, Point]] = []
    for shift in _shifts():
        name = _name(axes, mark, shift)
        cost = _covered(_box(figure, name).padded(GAP), taken, axes.bbox)
        if cost == 0:
            return name
        name.remove()
        costs.append((cost, shift))
    return _name(axes, mark, min(costs)[1])


def _covered(box: Bbox, taken: Sequence[Bbox], frame: Bbox) -> float:
    """The area of a box that is not its own: what lies outside the frame, and what others have taken."""
    from matplotlib.transforms import Bbox

    def common(other: Bbox) -> float:
        shared = Bbox.intersection(box, other)
        return 0.0 if shared is None else float(shared.width * shared.height)

    return box.width * box.height - common(frame) + sum(map(common, taken))


def _shifts() -> Iterator[Point]:
    """Where a name may stand, in points from its system's, from near to far; beside it first."""
    for distance in DISTANCES:
        for right, up in DIRECTIONS:
            yield right * distance, up * distance


def _name(axes: Axes, mark: Mark, shift: Point) -> Annotation:
    right, up = shift
    across = "left" if right > 0 else "right" if right < 0 else "center"
    line: dict[str, Any] = {"arrowstyle": "-", "color": FRONT, "linewidth": 0.6, "shrinkA": 1, "shrinkB": 4}
    line["relpos"] = ({"left": 0, "center": 0.5, "right": 1}[across], 0.5)  # where it meets the name
    return axes.annotate(
        mark.name,
        mark.place,
        xytext=shift,
        textcoords="offset points",
        fontsize=8,
        color="#222222",
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5},  # lines do not run through it
        ha=across,
        va="center" if abs(up) < abs(right) / 2 else "bottom" if up > 0 else "top",
        arrowprops=line if max(abs(right), abs(up)) > NEAR else None,
        zorder=4,
    )


def _box(figure: Figure, name: Annotation) -> Bbox:
    """Where the text of a name is, in dots; without the line that leads to it."""
    from matplotlib.text import Text

    renderer = figure.canvas.get_renderer()  # type: ignore[attr-defined]
    name.update_positions(renderer)
    return Text.get_window_extent(name, renderer)


def _box_of_point(axes: Axes, point: Point) -> Bbox:
    from matplotlib.transforms import Bbox

    x, y = axes.transData.transform(point)
    half = POINT_SIZE / 2 * axes.figure.dpi / POINTS_PER_INCH
    return Bbox.from_extents(x - half, y - half, x + half, y + half)


def _box_of_line(axes: Axes, start: Point, end: Point) -> Bbox:
    from matplotlib.transforms import Bbox

    (left, top), (right, bottom) = axes.transData.transform([start, end])
    return Bbox.from_extents(left, bottom, right, top).padded(LINE_WIDTH / 2 * axes.figure.dpi / POINTS_PER_INCH)
