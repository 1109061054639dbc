"""The tables and the picture of docs/speed.md, from what `python -m benchmarks.parsers --json` has kept.

    python -m benchmarks.parsers.page RESULTS.json [MORE.json ...] [--plot docs/images/speed.png] [--page docs/speed.md]

Parts of later files take the place of the same parts of earlier ones; their systems are put together. In the page, what
stands between its two marks is renewed.
"""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.arguments import ArgumentParser
from benchmarks.output import Numbers
from benchmarks.parsers.picture import draw
from benchmarks.parsers.report import to_markdown
from biplanar.errors import BiplanarError

BEGIN, END = "<!-- tables: written by benchmarks/parsers/page.py -->", "<!-- end of tables -->"


def combined(results: list[Numbers]) -> Numbers:
    """One result of several, which must be of the same file."""
    files = {json.dumps(result["treebank"]) for result in results}
    if len(files) > 1:
        raise BiplanarError(f"expected results of one treebank, found {' and '.join(sorted(files))}")
    systems = {system["name"]: system for result in results for system in result.get("systems", [])}
    together: Numbers = {}
    for result in results:
        together |= result
    return together | ({"systems": list(systems.values())} if systems else {})


def renew(page: Path, tables: str) -> None:
    """Put the tables where the page has room for them."""
    before, begin, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise BiplanarError(f"{page}: expected the marks {BEGIN} and {END}, found less")
    page.write_text(f"{before}{BEGIN}\n\n{tables}\n{END}{after}", encoding="utf-8")


def main() -> None:
    """Print the tables or write them into the page, and draw, where asked to."""
    parser = ArgumentParser("benchmarks.parsers.page", __doc__)
    parser.add_argument("results", type=Path, nargs="+")
    parser.add_argument("--plot", type=Path, help="a PNG; an SVG is drawn beside it")
    parser.add_argument("--page", type=Path, help="write the tables here instead of printing them")
    options = parser.parse_args()
    with parser.reporting():
        results = combined([json.loads(path.read_text(encoding="utf-8")) for path in options.results])
        if options.page:
            renew(options.page, to_markdown(results))
        else:
            print(to_markdown(results))
        if options.plot:
            draw(results.get("systems", []), options.plot)


if __name__ == "__main__":
    main()
