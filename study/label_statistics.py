"""How the labels of all encodings compare, without a network: numbers, unseen ones, coverage, entropy.

    python -m study.label_statistics ../shared/ud-2.4

The folder holds treebanks (`UD_*`); those with a training and a dev file count. The numbers are stored as
study/results/label-statistics.json.
"""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from biplanar.encodings import ENCODINGS
from biplanar.errors import FileError
from biplanar.evaluation.statistics import read_treebank, treebank_statistics
from study.common import RESULTS, command, write_json
from study.tables import LIFTED

STORED = RESULTS / "label-statistics.json"

NAMES = (*ENCODINGS, *LIFTED)


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
        raise FileError(f"{folder}: no folder UD_* with a training and a dev file")
    return results


def main(arguments: Sequence[str]) -> None:
    """Measure and store."""
    parser = ArgumentParser(prog="python -m study.label_statistics", description="Compare the labels of all encodings.")
    parser.add_argument("treebanks", type=Path, help="a folder of treebanks (UD_*)")
    write_json(measure(parser.parse_args(arguments).treebanks), STORED)


if __name__ == "__main__":
    command(main, "label_statistics")
