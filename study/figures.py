"""The plots of docs/study.md and docs/results.md."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from statistics import geometric_mean, mean
from typing import TYPE_CHECKING

from benchmarks.calibration import Calibration
from benchmarks.core_report import draw_growth
from benchmarks.parsers.picture import figure_of

from study.paper_tables import CROSSING, ONE_PLANE, ORDER, TWO_PLANES, tested
from study.plan import ENCODINGS, LARGER, PAPER, SWITCH_TREEBANKS
from study.significance import survivors
from study.speeds import CORE, GPU, Place, Rates, Timed, rates, system
from study.store import Store
from study.tables import measured_systems
from study.treebanks import Treebank

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = {
    "rel-pos": "#9a9a9a",
    "1p-brackets": "#3b4a5a",
    "2p-greedy": "#e08a1e",
    "2p-prop": "#2a9d8f",
    "2p-full": "#7b4fb5",
    "larger network": "#c0392b",
}
MARKERS = {"2p-greedy": "o", "2p-prop": "s", "2p-full": "D"}
DECODERS = ("paper", "search")

# Treebanks with nearly the same share of non-projective dependencies: where their names stand, in points.
APART = {"af": (-24, -4), "pt": (9, 17), "hu": (12, -16)}


def gain(store: Store, figure: Figure) -> None:
    """Gain over one plane against the share of non-projective dependencies."""
    for axes, decoder in zip(_pair(figure), DECODERS, strict=True):
        for encoding in TWO_PLANES:
            pairs = [(_crossing_share(store, t.code), _gain(store, t, encoding, decoder)) for t in ORDER]
            axes.plot(*zip(*pairs, strict=True), MARKERS[encoding], color=COLOURS[encoding], label=encoding, alpha=0.85)
        for treebank in ORDER:
            gains = [_gain(store, treebank, one, decoder) for one in TWO_PLANES]
            right, up = APART.get(treebank.code, (0, 7))
            at = (_crossing_share(store, treebank.code), max(gains) if up > 0 else min(gains))
            line = {"arrowstyle": "-", "color": "#888888", "linewidth": 0.6} if right else None
            axes.annotate(
                treebank.code, at, (right, up), textcoords="offset points", ha="center", fontsize=8, arrowprops=line
            )
        axes.axhline(0, color="#888888", linewidth=0.8)
        axes.margins(y=0.14)
        axes.set_title(f"decoder {decoder}")
        axes.set_xlabel("non-projective dependencies, % of the treebank")
    figure.axes[0].set_ylabel("test LAS above 1p-brackets, points")
    figure.axes[0].legend(frameon=False)


def differences(store: Store, figure: Figure) -> None:
    """LAS differences from one plane with 95% intervals."""
    left, right = _pair(figure)
    right.sharex(left)
    names = [(t.code, encoding, ONE_PLANE, one) for t in ORDER for encoding in TWO_PLANES for one in DECODERS]
    differences = tested(store, names)
    kept = survivors(differences)
    for axes, decoder in zip((left, right), DECODERS, strict=True):
        for shift, encoding in zip((-0.22, 0.0, 0.22), TWO_PLANES, strict=True):
            for row, treebank in enumerate(ORDER):
                name = (treebank.code, encoding, ONE_PLANE, decoder)
                found = differences[name]
                bars = [[found.points - found.low], [found.high - found.points]]
                axes.errorbar(
                    found.points,
                    row + shift,
                    xerr=bars,
                    fmt=MARKERS[encoding],
                    markersize=4.5,
                    markerfacecolor=COLOURS[encoding] if name in kept else "white",
                    color=COLOURS[encoding],
                    label=encoding if row == 0 else None,
                )
        axes.axvline(0, color="#888888", linewidth=0.8)
        axes.set_title(f"decoder {decoder}")
        axes.set_xlabel("test LAS above 1p-brackets, gold words")
        axes.set_yticks(range(len(ORDER)), [one.title for one in ORDER])
    left.invert_yaxis()
    figure.legend(*left.get_legend_handles_labels(), frameon=False, loc="outside lower center", ncols=len(TWO_PLANES))


def recall(store: Store, figure: Figure) -> None:
    """Recall of non-projective dependencies, with the printed figures as lines."""
    axes = figure.subplots()
    systems = [
        *((one, PAPER, one, "paper") for one in ENCODINGS[1:]),
        ("larger network", LARGER, "2p-full", "search"),
    ]
    width = 0.8 / len(systems)
    printed = store.printed["nonprojective_dependencies_pr"]["cells"]
    for number, (name, network, encoding, decoder) in enumerate(systems):
        places = [row - 0.4 + (number + 0.5) * width for row in range(len(CROSSING))]
        where = ("test", "raw text", decoder)
        values = [
            100 * store.pooled(t.code, encoding, where, "NonprojectiveDependencies", network).recall for t in CROSSING
        ]
        label = f"{name}, {decoder}" if network == LARGER else name
        axes.bar(places, values, width * 0.92, color=COLOURS[name], label=label)
        if network == PAPER and encoding in printed[CROSSING[0].name]:
            figures = [printed[t.name][encoding][1] for t in CROSSING]
            axes.hlines(
                figures,
                [place - width * 0.46 for place in places],
                [place + width * 0.46 for place in places],
                color="black",
                linewidth=1.6,
                label="printed" if encoding == ENCODINGS[1] else "_",
            )
    axes.set_xticks(range(len(CROSSING)), [one.title for one in CROSSING])
    axes.set_ylabel("recall of non-projective dependencies, %")
    axes.set_title("test, from raw text; decoder paper where no other is named")
    axes.legend(frameon=False)


def labels(store: Store, figure: Figure) -> None:
    """Sizes of label sets, the second plane's on top of the first's."""
    axes = figure.subplots()
    names = ENCODINGS[:4]
    width = 0.8 / len(names)
    for number, encoding in enumerate(names):
        sizes = [store.treebanks[t.code]["statistics"]["label_sizes"][encoding] for t in ORDER]
        places = [row - 0.4 + (number + 0.5) * width for row in range(len(ORDER))]
        first, second = ([size[plane] or 0 for size in sizes] for plane in (0, 1))
        axes.bar(places, first, width * 0.92, color=COLOURS[encoding], label=encoding)
        if any(second):
            axes.bar(places, second, width * 0.92, bottom=first, color=COLOURS[encoding], alpha=0.45)
    axes.set_xticks(range(len(ORDER)), [one.title for one in ORDER])
    axes.margins(y=0.06)
    axes.set_ylabel("labels on train and dev")
    axes.set_title("label sets; lighter: the second plane")
    axes.legend(frameon=False)


def speed(store: Store, figure: Figure) -> None:
    """Accuracy against speed: means over the treebanks on which the default configuration was measured, too."""
    from matplotlib.ticker import LogLocator

    found = rates(store)
    systems = [*((one, PAPER, one) for one in ENCODINGS), ("larger network", LARGER, "2p-full")]
    for axes, (name, place) in zip(
        _pair(figure), (("one core, int8", CORE), ("GPU and three cores", GPU)), strict=True
    ):
        for label, network, encoding in systems:
            points = [_speed_and_las(store, found, place, encoding, network, decoder) for decoder in DECODERS]
            axes.plot(*zip(*points, strict=True), "-", color=COLOURS[label], linewidth=0.8, alpha=0.6)
            for decoder, fill, (x, y) in zip(DECODERS, ("white", COLOURS[label]), points, strict=True):
                axes.plot(
                    x, y, "o", color=COLOURS[label], markerfacecolor=fill, label=label if decoder == "search" else None
                )
        axes.set_title(name)
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 3, 4, 6)))
        axes.xaxis.set_major_formatter("{x:,.0f}")
        axes.xaxis.set_minor_formatter("")
        axes.set_xlabel(f"sentences a second, file to file; mean of {', '.join(SWITCH_TREEBANKS)}")
    figure.axes[0].set_ylabel("test LAS, gold words")
    handles, names = figure.axes[0].get_legend_handles_labels()
    figure.legend(
        handles, names, frameon=False, loc="outside right center", title="hollow: decoder paper\nfilled: search"
    )


def _speed_and_las(
    store: Store, found: Rates, place: Place, encoding: str, network: str, decoder: str
) -> tuple[float, float]:
    what = f"file to file, {decoder}"
    speeds = [found[Timed(system(code, encoding, network), place, what)] for code in SWITCH_TREEBANKS]
    where = ("test", "gold words", decoder)
    cells = [store.cell("paper", code, network, encoding, where) for code in SWITCH_TREEBANKS]
    return geometric_mean(speeds), mean(one.mean for one in cells if one is not None)


def growth(store: Store, figure: Figure) -> None:
    """Plane assignment by the length of a sentence."""
    draw_growth(store.files["core"]["growth"], figure)


FIGURES: dict[str, tuple[Callable[[Store, Figure], None], tuple[float, float]]] = {
    "study-gain": (gain, (9.0, 3.8)),
    "study-differences": (differences, (9.0, 4.6)),
    "study-recall": (recall, (9.0, 4.0)),
    "study-labels": (labels, (9.0, 3.8)),
    "study-speed": (speed, (9.0, 3.6)),
    "growth": (growth, (12.0, 4.0)),
}


def draw_all(store: Store, folder: Path) -> None:
    """Write every plot as SVG; the same results give the same bytes."""
    import matplotlib
    from matplotlib.figure import Figure

    folder.mkdir(parents=True, exist_ok=True)
    with matplotlib.rc_context(
        {"svg.hashsalt": "study", "font.size": 9, "axes.spines.top": False, "axes.spines.right": False}
    ):
        for name, (draw, size) in FIGURES.items():
            figure = Figure(figsize=size, layout="constrained", facecolor="white")
            draw(store, figure)
            figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
        figure_of(measured_systems(store)).savefig(folder / "speed.svg", metadata={"Date": None})
    _calibration(store).draw(folder / "calibration.png")


def _calibration(store: Store) -> Calibration:
    bins = store.files["search"]["calibration"]["calibrated, test"]["bins"]
    counts = [one["count"] for one in bins]
    means, shares = ([one[name] or 0.0 for one in bins] for name in ("mean_probability", "share_right"))
    sums = tuple(one * count for one, count in zip(means, counts, strict=True))
    right = tuple(round(one * count) for one, count in zip(shares, counts, strict=True))
    return Calibration(tuple(counts), sums, right)


def _pair(figure: Figure) -> tuple[Axes, Axes]:
    left, right = figure.subplots(1, 2, sharey=True)
    return left, right


def _crossing_share(store: Store, treebank: str) -> float:
    return float(store.treebanks[treebank]["statistics"]["nonprojectivity"][1])


def _gain(store: Store, treebank: Treebank, encoding: str, decoder: str) -> float:
    """LAS from raw text above one plane."""
    where = ("test", "raw text", decoder)
    both = [store.cell("paper", treebank.code, PAPER, one, where) for one in (encoding, ONE_PLANE)]
    one, other = both
    return float("nan") if one is None or other is None else one.mean - other.mean
