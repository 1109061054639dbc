"""Fill README and docs: tables and figures from the stored results, references from the code, and plots.

    python -m study.pages             # `make tables`
    python -m study.pages --check     # change nothing; fail if a page differs from the store or the code
    python -m study.pages --list      # all names of tables and figures, with the figures' values

In Markdown, a table stands between two comments on lines of their own, and a figure in prose between two others:

    <!-- table: NAME -->
    <!-- end -->

    The bundled model has <!-- = NAME -->84.52<!-- end --> LAS.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from biplanar.data.files import writing
from biplanar.errors import BiplanarError, UnknownNameError
from study.common import command
from study.figures import draw_all
from study.reference import REFERENCES
from study.store import Store
from study.tables import TABLES, figures

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
_TABLE = re.compile(r"(?P<begin><!-- table: (?P<name>[^>]+?) -->\n).*?(?P<end><!-- end -->)", re.DOTALL)
_FIGURE = re.compile(r"(?P<begin><!-- = (?P<name>[^>]+?) -->)[^<]*(?P<end><!-- end -->)")


def pages(root: Path = ROOT) -> Iterator[Path]:
    """The pages that may hold tables and figures: README, docs, and the card of the bundled model."""
    yield root / "README.md"
    yield root / "src" / "biplanar" / "models" / "en" / "README.md"
    yield from sorted((root / "docs").glob("**/*.md"))


class Generator:
    """Makes each table once, however many pages show it."""

    def __init__(self, store: Store) -> None:
        self._store, self._tables = store, dict[str, str]()

    @cached_property
    def _figures(self) -> Mapping[str, str]:
        return figures(self._store)

    def filled(self, text: str) -> str:
        """A page with all its tables and figures from the store."""
        text = _TABLE.sub(lambda match: f"{match['begin']}\n{self._table(match['name'])}\n\n{match['end']}", text)
        return _FIGURE.sub(lambda match: f"{match['begin']}{self._figure(match['name'])}{match['end']}", text)

    def _table(self, name: str) -> str:
        if name not in TABLES and name not in REFERENCES:
            raise UnknownNameError("table", name, [*TABLES, *REFERENCES])
        if name not in self._tables:
            self._tables[name] = TABLES[name](self._store) if name in TABLES else REFERENCES[name]()
        return self._tables[name]

    def _figure(self, name: str) -> str:
        if name not in self._figures:
            raise UnknownNameError("figure", name, self._figures)
        return self._figures[name]


def changed(generator: Generator, root: Path = ROOT) -> Iterator[tuple[Path, str]]:
    """The pages that differ from the store or the code, and what they should be."""
    for path in pages(root):
        text = path.read_text(encoding="utf-8")
        if (filled := generator.filled(text)) != text:
            yield path, filled


def main(arguments: Sequence[str]) -> None:
    """Fill the pages, or check them."""
    parser = argparse.ArgumentParser(prog="python -m study.pages", description="Fill pages from stored results.")
    parser.add_argument("--check", action="store_true", help="change nothing, and fail if a page differs")
    parser.add_argument("--list", action="store_true", help="print the names of all tables and figures")
    given = parser.parse_args(arguments)
    store = Store.read()
    if given.list:
        tables = [f"table: {name}" for name in (*TABLES, *REFERENCES)]
        print("\n".join([*tables, *(f"= {n}: {v}" for n, v in figures(store).items())]))
        return
    found = list(changed(Generator(store)))
    if given.check and found:
        names = ", ".join(str(path.relative_to(ROOT)) for path, _ in found)
        raise BiplanarError(f"differs from the store or the code: {names}; run `make tables`")
    for path, text in found:
        with writing(path) as stream:
            stream.write(text)
        print(path.relative_to(ROOT))
    if not given.check:
        draw_all(store, IMAGES)


if __name__ == "__main__":
    command(main, "pages")
