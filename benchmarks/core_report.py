"""The tables of `benchmarks.core`."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from benchmarks.output import Numbers, Sheet
from biplanar.planes.assignment import STRATEGIES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ENCODE_TARGET, DECODE_TARGET = 150_000, 500_000  # sentences a second
COMPILE_TARGET = 10  # seconds
SIZES = tuple(100 << doubling for doubling in range(8))
GROWTH_FROM = 1600  # below it the fixed cost of a call still shows
UNMET = " (missed)"  # beside a number that is not as good as its target


def reading_sheet(rows: list[Numbers]) -> Sheet:
    """Rates of the readers, and how many times faster Biplanar is than the faster of the others."""
    readers = ("biplanar", "conllu", "pyconll")
    cells = [
        [f"{row['file']}, {row['what']}", *(f"{row[name]:,.0f}" for name in readers), f"{row['ratio']:.1f}"]
        for row in rows
    ]
    return Sheet("Reading CoNLL-U, words/s", ("file", *readers, "ratio to the faster"), cells)


def labels_sheet(rows: list[Numbers]) -> Sheet:
    """Rates beside their targets."""
    title = f"Sentences/s (targets: encode {ENCODE_TARGET:,}, decode {DECODE_TARGET:,})"
    return Sheet(
        title, ("encoding", "encode", "decode", "encode_all", "decode_all"), [_labels_row(row) for row in rows]
    )


def _labels_row(row: Numbers) -> list[str]:
    return [
        f"`{row['encoding']}`",
        _against(row["encode"], ENCODE_TARGET),
        _against(row["decode"], DECODE_TARGET),
        f"{row['encode_all']:,.0f}",
        f"{row['decode_all']:,.0f}",
    ]


def _against(value: float, target: float) -> str:
    """A rate, and whether it misses its target."""
    return f"{value:,.0f}{'' if value >= target else UNMET}"


def compiling_sheet(results: Numbers) -> Sheet:
    """Import and first use, cold and warm."""
    title = f"First use of all encodings and decoders, s (target: {COMPILE_TARGET} with an empty cache)"
    rows = [
        [name, f"{row['import']:.2f}", f"{row['first use']:.2f}{UNMET if row['first use'] >= COMPILE_TARGET else ''}"]
        for name, row in results.items()
    ]
    return Sheet(title, ("cache of compiled code", "import", "encode and decode"), rows)


def growth_sheets(results: Numbers) -> list[Sheet]:
    """Milliseconds by size, one table a kind of tree, and the growth with each doubling of the longer sentences."""
    sheets = []
    for kind, sizes in results["kinds"].items():
        rows = [[f"{int(size):,}", *_milliseconds(times)] for size, times in sizes.items()]
        rows.append(["a doubling", *(f"× {_doubling(sizes, name):.2f}" for name in STRATEGIES)])
        sheets.append(Sheet(f"Plane assignment, {kind} trees, ms", ("words", *STRATEGIES), rows))
    long = [[f"{kind}, {size:,} words", *_milliseconds(times)] for kind, size, times in results["one-off"]]
    return [*sheets, Sheet("Plane assignment, long sentences, ms", ("tree", *STRATEGIES), long)]


def _milliseconds(times: dict[str, float]) -> Iterable[str]:
    return (f"{1000 * times[name]:.3f}" for name in STRATEGIES)


def _doubling(rows: dict[str, dict[str, float]], name: str) -> float:
    """By how much the time grows when the words double, on average over the longer sentences."""
    doublings = math.log2(SIZES[-1] / GROWTH_FROM)
    last, first = (rows[str(size)][name] for size in (SIZES[-1], GROWTH_FROM))
    return math.pow(last / first, 1 / doublings)


def draw_growth(results: Numbers, figure: Figure) -> None:
    """One panel a kind of tree, both axes logarithmic, with a line of linear growth to compare with."""
    panels = figure.subplots(1, len(results["kinds"]), sharey=True)
    for panel, (kind, rows) in zip(panels, results["kinds"].items(), strict=True):
        for name, marker in zip(STRATEGIES, "osv^D", strict=True):
            panel.loglog(
                SIZES, [1000 * rows[str(size)][name] for size in SIZES], marker=marker, markersize=4, label=name
            )
        last = 1000 * rows[str(SIZES[-1])]["2p-greedy"]
        linear = [last * size / SIZES[-1] for size in SIZES]
        panel.loglog(SIZES, linear, color="grey", linestyle="--", linewidth=1, label="linear")
        panel.set_title(f"{kind} trees")
        panel.set_xlabel("words")
        panel.grid(alpha=0.3)
    panels[0].set_ylabel("plane assignment, ms")
    panels[0].legend(fontsize="small")
