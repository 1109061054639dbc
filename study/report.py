"""Rebuild every table, plot and verdict of docs/study.md from the stored results.

    python -m study.report

A block between `<!-- NAME -->` and `<!-- end -->` in docs/study.md is replaced by what is computed under that name;
all other text stays. A planned run that has no result is an error, unless study/results/missing.json says why.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from biplanar.data.files import writing
from biplanar.errors import BiplanarError
from study.common import command, read_json
from study.figures import draw_all
from study.plan import plan
from study.queue import RESULTS
from study.store import Store
from study.tables import BLOCKS

ROOT = Path(__file__).parent.parent
DOCUMENT = ROOT / "docs" / "study.md"
IMAGES = ROOT / "docs" / "images"
_BLOCK = re.compile(r"(<!-- (?P<name>[\w ]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def check_complete(store: Store, reasons: dict[str, str]) -> None:
    """That every planned run has a result, or a reason why not; reasons are given by patterns of keys."""
    missing = [run.key for run in plan() if run.key not in store.runs]
    unexplained = [key for key in missing if not any(fnmatch(key, pattern) for pattern in reasons)]
    if unexplained:
        raise BiplanarError(f"expected results of all planned runs, found none of {', '.join(unexplained)}")


def rebuild(text: str, blocks: dict[str, Callable[[Store], str]], store: Store) -> str:
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
    reasons: Any = read_json(given.results / "missing.json") if (given.results / "missing.json").exists() else {}
    check_complete(store, reasons)
    text = rebuild(given.document.read_text(encoding="utf-8"), BLOCKS, store)
    draw_all(store, given.images)
    with writing(given.document) as stream:
        stream.write(text)


if __name__ == "__main__":
    command(main, "report")
