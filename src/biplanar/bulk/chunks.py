"""The input in chunks: parts of files that can be parsed by themselves, in any process."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from biplanar.bulk.kinds import CONLLU, JSONL, KINDS, LINES, PARQUET, TEXT, kind_of
from biplanar.bulk.pieces import Piece
from biplanar.bulk.places import Place
from biplanar.bulk.records import Record, RecordsChunk, read_json_records, read_parquet_records
from biplanar.data.conllu import RawConllu, cut_raw_conllu, read_raw_conllu, words_to_conllu
from biplanar.data.files import (
    BUFFER,
    UTF_8,
    decode_utf8,
    display_name,
    is_plain_file,
    read_lines,
    read_whole_lines,
)
from biplanar.errors import FileError, UnknownNameError
from biplanar.pipeline.parser import Parser
from biplanar.pipeline.parser_input import chunked
from biplanar.tokenizer.paragraphs import paragraphs_of, spaces_after
from biplanar.tokenizer.words import comments_for, split_horizontal, split_vertical

# From how many words came before to how many the next chunk should have.
Enough = Callable[[int], int]

TEXT_INPUTS = (TEXT, LINES)

# Of raw text, which has no words yet: characters, and how many words are looked at together.
CHARACTERS_PER_WORD, LEAST_WORDS = 6, 4_000


class Chunk(Protocol):
    """Part of the input."""

    @property
    def place(self) -> Place:
        """Which lines it is."""

    @property
    def gets_numbers(self) -> bool:
        """Whether its sentences have no numbers of their own: then they are numbered from 1."""

    @property
    def size(self) -> int:
        """Bytes of the input, decompressed."""

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

    @property
    def size(self) -> int:
        """Bytes of all sentences."""
        return sum(len(block.data) for block in self.content)

    def conllu(self, parser: Parser) -> Sequence[RawConllu]:  # noqa: ARG002
        """The sentences themselves."""
        return self.content


@dataclass(frozen=True)
class WordsChunk:
    """Sentences as words."""

    place: Place
    sentences: list[list[str]]
    size: int
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

    @property
    def size(self) -> int:
        """Bytes in UTF-8."""
        return sum(len(paragraph.encode(errors="surrogatepass")) for paragraph in self.paragraphs)

    def conllu(self, parser: Parser) -> Sequence[RawConllu]:
        """Segmented; there may be no sentence in it."""
        text = parser.segmenter.to_conllu(
            self.paragraphs, before=self.before, start=self.start, presegmented=self.presegmented, ranges=self.ranges
        )
        return [RawConllu(text.encode())] if text else []


@dataclass(frozen=True)
class Source:
    """What is to be parsed: files (`-`: standard input) or pieces of files, one after the other, or a text instead."""

    files: tuple[str | Path | Piece, ...] = ("-",)
    kind: str | None = None  # None: by each file's name
    text: str | None = None
    text_encoding: str = UTF_8
    ranges: bool = False  # of raw text, which characters each token is, as TokenRange in MISC
    column: str | None = None  # of records, which one is parsed; None: `conllu`, or else `text`

    def __post_init__(self) -> None:
        if self.kind not in (None, *KINDS):
            raise UnknownNameError("input", self.kind or "", KINDS)

    @property
    def is_plain(self) -> bool:
        """Whether reading never waits for somebody else, as a pipe or a terminal does."""
        return all(isinstance(file, Piece) or is_plain_file(file) for file in self.files)

    def chunks(self, enough: Enough) -> Iterator[Chunk]:
        """All of it, in chunks of about so many words; no chunk is of two files."""
        if self.text is not None:
            yield from self._chunks_of(
                self.text.encode(errors="surrogatepass"), Piece("<text>"), self.kind or TEXT, enough
            )
            return
        for file in self.files:
            piece = file if isinstance(file, Piece) else Piece(str(file))
            kind = self.kind or kind_of(piece.path)
            if kind == PARQUET:
                yield from self._parquet_chunks(piece, enough)
            elif piece.end is None:
                yield from self._file_chunks(piece.path, kind, enough)
            else:
                yield from self._chunks_of(piece.read(), piece, kind, enough)

    def _file_chunks(self, file: str, kind: str, enough: Enough) -> Iterator[Chunk]:
        """Of a whole file, as it is read."""
        if kind == CONLLU:
            return _conllu_chunks(read_raw_conllu(file, self.text_encoding), enough)
        piece = Piece(display_name(file))
        if kind in TEXT_INPUTS:
            return self._text_chunks(read_whole_lines(file, self.text_encoding), piece, kind, enough)
        return self._line_chunks((line for _, line in read_lines(file, self.text_encoding)), piece, kind, enough)

    def _chunks_of(self, data: bytes, piece: Piece, kind: str, enough: Enough) -> Iterator[Chunk]:
        """Of bytes in memory."""
        if b"\0" in data and self.text is None:
            line = 1 + data.count(b"\n", 0, data.index(b"\0"))
            raise FileError(f"{piece.path}:{line}: expected UTF-8 text, found a NUL character")
        if kind == CONLLU:
            buffers = (data[start : start + BUFFER] for start in range(0, len(data), BUFFER))
            return _conllu_chunks(cut_raw_conllu(buffers, piece.path), enough)
        text = data.decode(errors="surrogatepass") if self.text is not None else decode_utf8(data, piece.path, 1)
        if kind in TEXT_INPUTS:
            return self._text_chunks([text], piece, kind, enough)
        return self._line_chunks(iter(text.split("\n")), piece, kind, enough)

    def _line_chunks(self, lines: Iterator[str], piece: Piece, kind: str, enough: Enough) -> Iterator[Chunk]:
        if kind == JSONL:
            return _records_chunks(read_json_records(lines, piece.path, piece.count, self.column), piece, enough)
        return _words_chunks(lines, piece.path, kind, enough)

    def _parquet_chunks(self, piece: Piece, enough: Enough) -> Iterator[Chunk]:
        groups = None if piece.end is None else range(piece.start, piece.end)
        return _records_chunks(read_parquet_records(piece.path, groups, piece.count, self.column), piece, enough)

    def _text_chunks(self, text: Iterable[str], piece: Piece, kind: str, enough: Enough) -> Iterator[Chunk]:
        line, before, start, presegmented = 1, piece.before, piece.count, kind == LINES
        some = paragraphs_of(text, presegmented=presegmented, size=CHARACTERS_PER_WORD * LEAST_WORDS)
        paragraphs = (paragraph for several in some for paragraph in several)
        for content in chunked(paragraphs, lambda paragraph: len(paragraph) // CHARACTERS_PER_WORD, enough):
            ends = sum(paragraph.count("\n") for paragraph in content)
            place = Place(piece.path, line, max(line, line + ends - 1))
            yield TextChunk(place, content, before, start, presegmented, self.ranges)
            line, before = line + ends, spaces_after(before, content)
            start += sum(map(len, content))


def _conllu_chunks(blocks: Iterable[RawConllu], enough: Enough) -> Iterator[Chunk]:
    for content in chunked(blocks, lambda block: block.next_line - block.line, enough):
        yield ConlluChunk(tuple(content))


def _words_chunks(lines: Iterable[str], name: str, kind: str, enough: Enough) -> Iterator[Chunk]:
    split = split_horizontal if kind == "horizontal" else split_vertical
    read = line = size = 0

    def counted() -> Iterator[str]:
        nonlocal read, size
        for read, one in enumerate(lines, 1):  # noqa: B007
            size += len(one.encode(errors="surrogatepass")) + 1
            yield one.strip(" \t\ufeff")

    for content in chunked(split(counted()), len, enough):
        yield WordsChunk(Place(name, line + 1, read), content, size)
        line, size = read, 0


def _records_chunks(records: Iterable[tuple[int, Record, int]], piece: Piece, enough: Enough) -> Iterator[Chunk]:
    for content in chunked(records, lambda item: item[2] // CHARACTERS_PER_WORD, enough):
        place = Place(piece.path, content[0][0], content[-1][0])
        yield RecordsChunk(place, [record for _, record, _ in content], sum(size for _, _, size in content))
