"""English text under free licences, from packages of Debian, for models that learn from others on raw text.

    apt-get download anarchism debian-handbook gnome-user-docs jargon-text wordnet-base
    for file in *.deb; do dpkg-deb -x $file unpacked; done
    python -m models.free_texts unpacked -o text.txt

The text has a paragraph a line, each once, with an empty line between. Nothing of it is in the repository.
"""

from __future__ import annotations

import argparse
import gzip
import re
from collections.abc import Callable, Iterator, Sequence
from html.parser import HTMLParser
from pathlib import Path

from study.common import command

from biplanar.data.files import writing
from biplanar.errors import FileError

PARAGRAPHS = {"p", "dd", "li"}
LEFT_OUT = {"pre", "script", "style", "code", "nav", "title"}
FEWEST_WORDS = 4


class Paragraphs(HTMLParser):
    """The paragraphs of a page, without code and navigation."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._text: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        """A paragraph ends where the next begins."""
        self._hidden += tag in LEFT_OUT
        if tag in PARAGRAPHS:
            self._end()

    def handle_endtag(self, tag: str) -> None:
        """Of a paragraph, or of what is left out."""
        self._hidden = max(0, self._hidden - (tag in LEFT_OUT))
        if tag in PARAGRAPHS:
            self._end()

    def handle_data(self, data: str) -> None:
        """Text of a paragraph, or between them."""
        if not self._hidden:
            self._text.append(data)

    def _end(self) -> None:
        self.found.append("".join(self._text))
        self._text = []


def of_page(text: str) -> list[str]:
    """The paragraphs of a page in HTML or Mallard."""
    parser = Paragraphs()
    parser.feed(text)
    return parser.found


def of_plain_text(text: str) -> list[str]:
    """Paragraphs with empty lines between."""
    return re.split(r"\n\s*\n", text)


def of_dictionary(text: str) -> Iterator[str]:
    """The examples of WordNet's glosses, as sentences."""
    for example in re.findall(r'[;:] "([^"]{15,})"', text):
        whole = example[0].upper() + example[1:]
        yield whole if whole[-1] in ".!?" else f"{whole}."


# Where the files are, and how they are read.
SOURCES: dict[str, Callable[[str], Sequence[str] | Iterator[str]]] = {
    "usr/share/doc/anarchism/html/sec[A-C]*.html": of_page,
    "usr/share/doc/debian-handbook/html/en-US/*.html": of_page,
    "usr/share/help/C/gnome-help/*.page": of_page,
    "usr/share/doc/jargon-text/jargon.txt.gz": of_plain_text,
    "usr/share/wordnet/data.*": of_dictionary,
}


def paragraphs(folder: Path) -> Iterator[str]:
    """All that read like text: at least a few words, with an end."""
    for pattern, read in SOURCES.items():
        paths = sorted(folder.glob(pattern))
        if not paths:
            raise FileError(f"{folder}: no {pattern}")
        for path in paths:
            with (
                gzip.open(path, "rt", encoding="utf-8", errors="ignore")
                if path.suffix == ".gz"
                else path.open(encoding="utf-8", errors="ignore") as stream
            ):
                for found in read(stream.read()):
                    paragraph = " ".join(found.split())
                    if len(paragraph.split()) >= FEWEST_WORDS and paragraph[-1] in '.!?"':
                        yield paragraph


def main(arguments: Sequence[str]) -> None:
    """Write the text."""
    parser = argparse.ArgumentParser(prog="python -m models.free_texts", description="Text from packages of Debian.")
    parser.add_argument("folder", type=Path, help="what the packages unpack to")
    parser.add_argument("-o", "--output", type=Path, required=True)
    given = parser.parse_args(arguments)
    with writing(given.output) as stream:
        stream.write("\n\n".join(dict.fromkeys(paragraphs(given.folder))) + "\n")


if __name__ == "__main__":
    command(main, "free_texts")
