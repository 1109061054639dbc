"""The input in chunks: parts of files that can be parsed by themselves, in any process."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from biplanar.data.conllu import RawConllu, cut_raw_conllu, read_raw_conllu, words_to_conllu
from biplanar.data.files import INPUTS, UTF_8, display_name, is_plain_file, read_lines, read_whole_lines
from biplanar.errors import UnknownNameError
from biplanar.pipeline.parser import Parser
from biplanar.pipeline.parser_input import chunked
from biplanar.tokenizer.paragraphs import paragraphs_of, spaces_after
from biplanar.tokenizer.words import comments_for, split_horizontal, split_vertical

# From how many words came before to how many the next chunk should have.
Enough = Callable[[int], int]

TEXT_INPUTS = ("text", "lines")

# Of raw text, which has no words yet: characters, and how many words are looked at together.
CHARACTERS_PER_WORD, LEAST_WORDS = 6, 4_000


@dataclass(frozen=True)
class Place:
    """Some lines of a file."""

    path: str
    first: int
    last: int

    def __str__(self) -> str:
        return f"{self.path}:{self.first}-{self.last}"


class Chunk(Protocol):
    """Part of the input."""

    @property
    def place(self) -> Place:
        """Which lines it is."""

    @property
    def gets_numbers(self) -> bool:
        """Whether its sentences have no numbers of their own: then they are numbered from 1."""

    def conllu(self, parser: Parser) -> Sequence[RawConllu]:
        """As CoNLL-U."""


@dataclass(frozen=True)
class ConlluChunk:
    """Sentences as they were written."""

    content: tuple[RawConllu, ...]
    gets_numbers: bool = False

    @property
    def place(self) -> Place:
        """From the first line to the last."""
        first, last = self.content[0], self.content[-1]
        return Place(first.path, first.line, max(first.line, last.next_line - 1))

    def conllu(self, parser: Parser) -> Sequence[RawConllu]:  # noqa: ARG002
        """The sentences themselves."""
        return self.content


@dataclass(frozen=True)
class WordsChunk:
    """Sentences as words."""

    place: Place
    sentences: list[list[str]]
    gets_numbers: bool = True

    def conllu(self, parser: Parser) -> Sequence[RawConllu]:  # noqa: ARG002
        """With their numbers and texts as comments."""
        numbered = enumerate(self.sentences, 1)
        texts = [words_to_conllu(forms, comments=comments_for(number, forms)) for number, forms in numbered]
        return [RawConllu("".join(texts).encode(), "<words>")]


@dataclass(frozen=True)
class TextChunk:
    """Raw text."""

    place: Place
    paragraphs: list[str]
    before: str
    start: int  # characters before it
    presegmented: bool
    ranges: bool
    gets_numbers: bool = True

    def conllu(self, parser: Parser) -> Sequence[RawConllu]:
        """Segmented; there may be no sentence in it."""
        text = parser.segmenter.to_conllu(
            self.paragraphs, before=self.before, start=self.start, presegmented=self.presegmented, ranges=self.ranges
        )
        return [RawConllu(text.encode())] if text else []


@dataclass(frozen=True)
class Source:
    """What is to be parsed: files (`-`: standard input), one after the other, or a text in their place."""

    files: tuple[str | Path, ...] = ("-",)
    kind: str | None = None  # None: by each file's name
    text: str | None = None
    text_encoding: str = UTF_8
    ranges: bool = False  # of raw text, which characters each token is, as TokenRange in MISC

    def __post_init__(self) -> None:
        if self.kind not in (None, *INPUTS):
            raise UnknownNameError("input", self.kind or "", INPUTS)

    @property
    def is_plain(self) -> bool:
        """Whether reading never waits for somebody else, as a pipe or a terminal does."""
        return all(map(is_plain_file, self.files))

    def chunks(self, enough: Enough) -> Iterator[Chunk]:
        """All of it, in chunks of about so many words; no chunk is of two files."""
        if self.text is not None:
            yield from self._chunks_of(self.text, self.kind or "text", enough)
            return
        for file in self.files:
            yield from self._file_chunks(file, self.kind or _kind_of(file), enough)

    def _file_chunks(self, file: str | Path, kind: str, enough: Enough) -> Iterator[Chunk]:
        if kind == "conllu":
            return _conllu_chunks(read_raw_conllu(file, self.text_encoding), enough)
        if kind in TEXT_INPUTS:
            return self._text_chunks(read_whole_lines(file, self.text_encoding), display_name(file), kind, enough)
        return _words_chunks(
            (line for _, line in read_lines(file, self.text_encoding)), display_name(file), kind, enough
        )

    def _chunks_of(self, text: str, kind: str, enough: Enough) -> Iterator[Chunk]:
        if kind == "conllu":
            return _conllu_chunks(cut_raw_conllu([text.encode(errors="surrogatepass")], "<text>"), enough)
        if kind in TEXT_INPUTS:
            return self._text_chunks([text], "<text>", kind, enough)
        return _words_chunks(iter(text.split("\n")), "<text>", kind, enough)

    def _text_chunks(self, text: Iterable[str], name: str, kind: str, enough: Enough) -> Iterator[Chunk]:
        line, before, start, presegmented = 1, "", 0, kind == "lines"
        some = paragraphs_of(text, presegmented=presegmented, size=CHARACTERS_PER_WORD * LEAST_WORDS)
        paragraphs = (paragraph for several in some for paragraph in several)
        for content in chunked(paragraphs, lambda paragraph: len(paragraph) // CHARACTERS_PER_WORD, enough):
            ends = sum(paragraph.count("\n") for paragraph in content)
            place = Place(name, line, max(line, line + ends - 1))
            yield TextChunk(place, content, before, start, presegmented, self.ranges)
            line, before = line + ends, spaces_after(before, content)
            start += sum(map(len, content))


def _kind_of(file: str | Path) -> str:
    return "conllu" if ".conllu" in str(file) else "text"


def _conllu_chunks(blocks: Iterable[RawConllu], enough: Enough) -> Iterator[Chunk]:
    for content in chunked(blocks, lambda block: block.next_line - block.line, enough):
        yield ConlluChunk(tuple(content))


def _words_chunks(lines: Iterable[str], name: str, kind: str, enough: Enough) -> Iterator[Chunk]:
    split = split_horizontal if kind == "horizontal" else split_vertical
    read = line = 0

    def counted() -> Iterator[str]:
        nonlocal read
        for read, one in enumerate(lines, 1):  # noqa: B007
            yield one.strip(" \t\ufeff")

    for content in chunked(split(counted()), len, enough):
        yield WordsChunk(Place(name, line + 1, read), content)
        line = read
