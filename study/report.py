"""Rebuild every table, plot and verdict of docs/study.md from the stored results.

    python -m study.report

A block between `<!-- NAME -->` and `<!-- end -->` in docs/study.md is replaced by what is computed under that name;
all other text stays. A planned run that has no result is an error, unless study/results/missing.json says why; a reason
for a run that has a result is one, too.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from biplanar.data.files import writing
from biplanar.errors import BiplanarError
from study.common import command
from study.figures import draw_all
from study.plan import plan
from study.queue import RESULTS
from study.rates import Place, planned, rates
from study.store import Store
from study.tables import BLOCKS
from study.verdicts import verdicts

ROOT = Path(__file__).parent.parent
DOCUMENT = ROOT / "docs" / "study.md"
IMAGES = ROOT / "docs" / "images"
ALL_BLOCKS = {**BLOCKS, "verdicts": verdicts}
_BLOCK = re.compile(r"(<!-- (?P<name>[\w ]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def check_complete(store: Store) -> None:
    """That every planned run and speed has either a result or a reason why not."""
    explained = {key for keys in store.missing.values() for key in keys}
    there = store.runs.keys() | {_speed(timed.system, timed.place) for timed in rates(store)}
    wanted = {run.key for run in plan()} | {_speed(*one) for one in planned()}
    if unexplained := sorted(wanted - there - explained):
        raise BiplanarError(f"expected results of all planned runs, found none of {', '.join(unexplained)}")
    if outdated := sorted(explained & there):
        raise BiplanarError(f"missing.json: expected runs without results, found {', '.join(outdated)}")


def _speed(system: str, place: Place) -> str:
    return f"speed of {system} on {' '.join(place)}"


def check_alike(store: Store) -> None:
    """That all runs were trained by the same schedule, so that encodings can be compared."""
    first = next(iter(store.runs.values()))
    for key, run in store.runs.items():
        if run["schedule"] != first["schedule"]:
            raise BiplanarError(f"{key}: expected the schedule {first['schedule']}, found {run['schedule']}")


def rebuild(text: str, blocks: Mapping[str, Callable[[Store], str]], store: Store) -> str:
    """A document with all its blocks made anew."""

    def renewed(match: re.Match[str]) -> str:
        if match["name"] not in blocks:
            raise BiplanarError(f"expected one of {', '.join(blocks)} as a block, found {match['name']}")
        return f"{match[1]}\n{blocks[match['name']](store)}\n\n{match[3]}"

    return _BLOCK.sub(renewed, text)


def main(arguments: Sequence[str]) -> None:
    """Rebuild the report."""
    parser = argparse.ArgumentParser(prog="python -m study.report", description="Rebuild docs/study.md.")
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--document", type=Path, default=DOCUMENT)
    parser.add_argument("--images", type=Path, default=IMAGES)
    given = parser.parse_args(arguments)
    store = Store.read(given.results)
    check_complete(store)
    check_alike(store)
    text = rebuild(given.document.read_text(encoding="utf-8"), ALL_BLOCKS, store)
    draw_all(store, given.images)
    with writing(given.document) as stream:
        stream.write(text)


if __name__ == "__main__":
    command(main, "report")
