"""Text under free licences, from packages of Debian, for models that learn from others on raw text.

    apt-get download anarchism debian-handbook endless-sky-data fortunes gnome-user-docs wordnet-base
    for file in *.deb; do dpkg-deb -x $file unpacked; done
    python -m models.free_texts unpacked -o text.txt

    apt-get download gnome-user-docs gnucash-common libreoffice-l10n-lt firefox-esr-l10n-lt wesnoth-1.16-data
    for file in *.deb; do dpkg-deb -x $file unpacked; done
    python -m models.free_texts unpacked --language lt -o text.txt

In languages other than English it is what programs say, and their manuals. The text has a paragraph a line, each once,
with an empty line between. Nothing of it is in the repository.
"""

from __future__ import annotations

import argparse
import io
import re
import struct
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from html.parser import HTMLParser
from pathlib import Path

from study.common import command

from biplanar.data.files import writing
from biplanar.errors import FileError

PARAGRAPHS = {"p", "dd", "li"}
LEFT_OUT = {"info", "pre", "script", "style", "code", "nav", "title"}
FEWEST_WORDS, ENDS = 4, '.!?"։»”'


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


def of_dictionary(text: str) -> Iterator[str]:
    """The examples of WordNet's glosses, as sentences."""
    for example in re.findall(r'[;:] "([^"]{15,})"', text):
        whole = example[0].upper() + example[1:]
        yield whole if whole[-1] in ".!?" else f"{whole}."


def of_messages(data: bytes) -> Iterator[str]:
    """The translations in a catalogue of gettext, but for those that are like the original."""
    count, originals, translations = struct.unpack_from("<3I", data, 8)
    for number in range(1, count):  # the first one tells of the catalogue
        texts = []
        for table in (originals, translations):
            length, start = struct.unpack_from("<2I", data, table + 8 * number)
            texts.append(data[start : start + length].decode("utf-8", "ignore").rpartition("\0")[2])
        if texts[0] != texts[1]:
            yield from of_markup(texts[1])


def of_markup(text: str) -> Iterator[str]:
    """The lines of a message without its tags, if nothing is to be filled in."""
    if not re.search(r"[%$\\{}|~_^]", text):
        yield from re.sub(r"<[^>]*>", "", text).splitlines()


def of_language_pack(data: bytes) -> Iterator[str]:
    """The messages of an extension of Firefox or Thunderbird."""
    with zipfile.ZipFile(io.BytesIO(data)) as pack:
        for name in sorted(pack.namelist()):
            if name.endswith((".ftl", ".properties")):
                for line in pack.read(name).decode("utf-8", "ignore").splitlines():
                    key, _, text = line.partition("=")
                    if re.fullmatch(r"\s*[\w.-]+\s*", key):
                        yield from of_markup(text)


def of_fortunes(text: str) -> list[str]:
    """Sayings between lines with a percent sign."""
    return re.split(r"^%$", text, flags=re.MULTILINE)


def of_story(text: str) -> Iterator[str]:
    """What is told and said in Endless Sky: lines in quotes, but for those in which something is to be filled in."""
    for told, said in re.findall(r'^\t+(?:\w+ )?(?:`([^`\n]*)`|"([^"\n]*)")\s*$', text, flags=re.MULTILINE):
        if not re.search(r"[<>&/\[\]]", one := told or said):
            yield from of_markup(one)


Pages = Mapping[str, Callable[[str], Sequence[str] | Iterator[str]]]

# Where the files of other languages are, and how they are read.
MESSAGES: dict[str, Callable[[bytes], Iterator[str]]] = {
    "usr/**/{code}/LC_MESSAGES/*.mo": of_messages,
    "usr/lib/**/langpack-{code}*.xpi": of_language_pack,
}
PAGES: Pages = {
    "usr/share/help/{code}/gnome-help/*.page": of_page,
    "usr/share/games/fortunes/{code}/*[!t]": of_fortunes,
}

# Where the English files are, and how they are read.
SOURCES: Pages = {
    "usr/share/doc/anarchism/html/sec[A-C]*.html": of_page,
    "usr/share/doc/debian-handbook/html/en-US/*.html": of_page,
    "usr/share/help/C/gnome-help/*.page": of_page,
    "usr/share/games/endless-sky/data/*.txt": of_story,
    "usr/share/games/fortunes/*[!8t]": of_fortunes,
    "usr/share/wordnet/data.*": of_dictionary,
}


def paragraphs(folder: Path, code: str) -> Iterator[str]:
    """All that read like text: at least a few words, with an end."""
    pages = SOURCES if code == "en" else PAGES
    original = set() if code == "en" else set(_of_pages(folder, pages, "C"))  # what is not translated
    yield from (one for one in _of_pages(folder, pages, code) if one not in original)
    for pattern, read_messages in MESSAGES.items() if code != "en" else ():
        for path in _files(folder, pattern, code):
            yield from read_messages(path.read_bytes())


def _of_pages(folder: Path, pages: Pages, code: str) -> Iterator[str]:
    for pattern, read in pages.items():
        for path in _files(folder, pattern, code):
            yield from read(path.read_text(encoding="utf-8", errors="ignore"))


def _files(folder: Path, pattern: str, code: str) -> list[Path]:
    return sorted(folder.glob(pattern.format(code=code)))


def like_text(found: Iterator[str]) -> Iterator[str]:
    """Those of some paragraphs that have at least a few words, and an end; each once."""
    whole = (" ".join(one.split()) for one in found)
    yield from dict.fromkeys(one for one in whole if one.count(" ") >= FEWEST_WORDS - 1 and one[-1] in ENDS)


def main(arguments: Sequence[str]) -> None:
    """Write the text."""
    parser = argparse.ArgumentParser(prog="python -m models.free_texts", description="Text from packages of Debian.")
    parser.add_argument("folder", type=Path, help="what the packages unpack to")
    parser.add_argument("--language", default="en", help="its code, such as lt")
    parser.add_argument("-o", "--output", type=Path, required=True)
    given = parser.parse_args(arguments)
    found = list(like_text(paragraphs(given.folder, given.language)))
    if not found:
        raise FileError(f"{given.folder}: no text in the language {given.language}")
    with writing(given.output) as stream:
        stream.write("\n\n".join(found) + "\n")


if __name__ == "__main__":
    command(main, "free_texts")
