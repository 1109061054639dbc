"""How the labels of all encodings compare, without a network: numbers, unseen ones, coverage, entropy.

    python -m study.label_statistics ../shared/ud-2.4
    python -m study.label_statistics --show

The folder holds treebanks (`UD_*`); those with a training and a dev file count. The numbers are stored as
study/results/label-statistics.json. With `--show`, they are printed as the tables in docs/encodings.md.
"""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from biplanar.encodings import ENCODINGS
from biplanar.errors import FileError
from biplanar.evaluation.statistics import read_treebank, treebank_statistics
from study.common import command, read_json, write_json
from study.queue import RESULTS
from study.tables import table

STORED = RESULTS / "label-statistics.json"

# Lifting changes relations and coverage in the same way, whichever encoding it is put before.
LIFTED = tuple(f"4-bit+{scheme}" for scheme in ("head", "path", "head+path"))
NAMES = (*ENCODINGS, *LIFTED)

# What the numbers of one encoding on one treebank are shown as, with their decimals.
MEASURES: dict[str, tuple[Callable[[dict[str, Any]], float], int]] = {
    "labels": (lambda row: sum(row["labels"]), 0),
    "relations": (lambda row: row["relations"], 0),
    "unseen in dev %": (lambda row: row["unseen"]["dev"], 3),
    "arcs %": (lambda row: row["coverage_before_repair"], 2),
    "sentences %": (lambda row: row["whole_sentences"], 2),
    "bits": (lambda row: row["entropy"], 2),
    "bits with relation": (lambda row: row["entropy_with_relation"], 2),
}
BY_TREEBANK = ("labels", "unseen in dev %", "sentences %")


def measure(folder: Path) -> dict[str, Any]:
    """The numbers of all encodings, by treebank."""
    results = {}
    for place in sorted(folder.glob("UD_*")):
        treebank = read_treebank(place)
        if {"train", "dev"} <= set(treebank.splits):
            numbers = treebank_statistics(treebank, NAMES)
            rows = {name: numbers["encodings"][name] | numbers["labels"][name] for name in NAMES}
            results[place.name.removeprefix("UD_")] = rows
    if not results:
        raise FileError(f"{folder}: expected folders UD_* with a training and a dev file, found none")
    return results


def tables(results: dict[str, Any]) -> dict[str, str]:
    """Means over the treebanks, and some of the measures treebank by treebank, as Markdown."""
    means = (
        [f"`{name}`", *(_shown(measure, (rows[name] for rows in results.values())) for measure in MEASURES)]
        for name in NAMES
    )
    return {"means": table(["encoding", *MEASURES], means)} | {
        measure: _by_treebank(results, measure) for measure in BY_TREEBANK
    }


def _by_treebank(results: dict[str, Any], measure: str) -> str:
    rows = (
        [f"`{name}`", *(_shown(measure, [one[name]]) for one in results.values())]
        for name in NAMES
        if measure == "sentences %" or name not in LIFTED
    )
    return table([measure, *(name.partition("-")[0] for name in results)], rows)


def _shown(measure: str, rows: Any) -> str:
    value, decimals = MEASURES[measure]
    return f"{mean(map(value, rows)):,.{decimals}f}"


def main(arguments: Sequence[str]) -> None:
    """Measure and store, or show what is stored."""
    parser = ArgumentParser(prog="python -m study.label_statistics", description="Compare the labels of all encodings.")
    parser.add_argument("treebanks", type=Path, nargs="?", help="a folder of treebanks (UD_*)")
    parser.add_argument("--show", action="store_true", help="print the stored results as tables")
    given = parser.parse_args(arguments)
    if given.treebanks is None and not given.show:
        parser.error("expected a folder of treebanks, or --show")
    if given.treebanks is not None:
        write_json(measure(given.treebanks), STORED)
    if given.show:
        print("\n\n".join(tables(read_json(STORED)).values()))


if __name__ == "__main__":
    command(main, "label_statistics")
