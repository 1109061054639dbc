"""The input in chunks: what is read, parsed and written together, in any process."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path

from biplanar.bulk.ranges import FileRange
from biplanar.bulk.records import Record, RecordOrError, read_json_records, read_parquet_records
from biplanar.data.conllu import RawConllu, Sentence, cut_raw_conllu
from biplanar.data.conllu_bytes import ConlluTable
from biplanar.data.files import (
    UTF_8,
    decode_utf8,
    display_name,
    is_plain_file,
    raw_lines_of,
    read_text,
    whole_lines_of,
)
from biplanar.data.formats import CONLLU, HORIZONTAL, INPUTS, JSONL, LINES, PARQUET, RECORDS, TEXT, input_format
from biplanar.data.raw_text import comments_for, split_horizontal, split_vertical
from biplanar.errors import FormatError, check_name
from biplanar.pipeline.parser import Parser
from biplanar.pipeline.parser_io import chunked
from biplanar.tokenizer.paragraphs import paragraphs_of, spaces_after, writable
from biplanar.tokenizer.segmented import Spacing, TextPart
from biplanar.tokenizer.segmenter import HINT, LINE_BREAKS, ONLY

# From the number of words before a chunk to the number that it should have.
ChunkWords = Callable[[int], int]

# Raw text has no words yet: their average length, and how many are at least read together.
CHARACTERS_PER_WORD, LEAST_WORDS = 6, 4_000

# What is done about a bad record.
STOP, SKIP = "stop", "skip"
ON_ERROR = (STOP, SKIP)


@dataclass(frozen=True)
class Chunk:
    """Some lines of the input; it can be sent to other processes."""

    path: str
    first_line: int
    last_line: int
    size: int  # bytes of the input, decompressed
    conllu: Callable[[Parser], list[RawConllu] | ConlluTable]  # its sentences
    needs_ids: bool = False  # they have no ids of their own: `# sent_id = ` is empty
    skipped: tuple[str, ...] = ()  # errors of records that are left out

    def __str__(self) -> str:
        return f"{self.path}:{self.first_line}-{self.last_line}"


def _given(content: list[RawConllu], _: Parser) -> list[RawConllu]:
    """CoNLL-U, as it was written."""
    return content


def _from_words(sentences: list[list[str]], _: Parser) -> list[RawConllu]:
    """Sentences of words, with their texts as comments."""
    texts = [Sentence.from_words(forms, comments=comments_for("", forms)).raw for forms in sentences]
    return [RawConllu("".join(texts).encode(), "<words>")]


def _segmented(part: TextPart, spacing: Spacing, line_breaks: str, parser: Parser) -> list[RawConllu] | ConlluTable:
    """Raw text, cut into words; it may have no sentences."""
    table, _ = parser.segmenter.to_table([part], spacing, line_breaks)
    return [] if table is None else table


def _no_id(_: int) -> str:
    return ""


def from_records(records: list[Record], parser: Parser) -> list[RawConllu]:
    """The sentences of all records; texts that follow each other are cut together."""
    found: list[RawConllu] = []
    for is_conllu, some in groupby(records, lambda record: record.is_conllu):
        if is_conllu:
            found += (raw for record in some for raw in record.given_conllu())
        else:
            table, _ = parser.segmenter.to_table([record.part() for record in some], Spacing())
            found += [RawConllu(table.data)] if table is not None else []
    return found


@dataclass(frozen=True)
class Source:
    """What is parsed: files (`-`: standard input) or ranges of files, one after the other, or a text instead."""

    files: tuple[str | Path | FileRange, ...] = ("-",)
    format: str | None = None  # None: by each file's name
    text: str | None = None
    text_encoding: str = UTF_8
    ranges: bool = False  # raw text: the offsets of each token as TokenRange in MISC
    line_breaks: str = HINT  # raw text: what a line break is, one of `LINE_BREAKS`
    column: str | None = None  # records: which field is parsed; None: `conllu`, or else `text`
    on_error: str = STOP  # records: what is done about a bad one

    def __post_init__(self) -> None:
        for name, value, known in (
            ("input format", self.format, (*INPUTS, *RECORDS)),
            ("value of --on-error", self.on_error, ON_ERROR),
            ("value of --line-breaks", self.line_breaks, LINE_BREAKS),
        ):
            if value is not None:
                check_name(name, value, known)

    @property
    def paths(self) -> list[str]:
        """The files' paths."""
        return [file.path if isinstance(file, FileRange) else str(file) for file in self.files]

    @property
    def is_plain(self) -> bool:
        """Whether reading never blocks on another process, as reading a pipe or a terminal may."""
        return all(map(is_plain_file, self.paths))

    def chunks(self, chunk_words: ChunkWords) -> Iterator[Chunk]:
        """The whole source in chunks of about that many words; no chunk has lines of two files."""
        if self.text is not None:
            data = writable(self.text).encode()
            yield from self._chunks([data], FileRange("<text>"), self.format or TEXT, chunk_words)
            return
        for file in self.files:
            part = file if isinstance(file, FileRange) else FileRange(str(file))
            file_format = self.format or input_format(part.path)
            first_line = part.count + 1 if file_format == JSONL else 1
            text = read_text(part.path, self.text_encoding, part.start, part.end, first_line)
            yield from self._chunks(text, part, file_format, chunk_words)

    def _chunks(
        self, text: Iterable[bytes], part: FileRange, file_format: str, chunk_words: ChunkWords
    ) -> Iterator[Chunk]:
        name = display_name(part.path)
        if file_format == CONLLU:
            return _conllu_chunks(cut_raw_conllu(text, name), chunk_words)
        if file_format in (TEXT, LINES):
            line_breaks = ONLY if file_format == LINES else self.line_breaks
            return self._text_chunks(whole_lines_of(text, name), part, line_breaks, chunk_words)
        if file_format == JSONL:
            return self._record_chunks(read_json_records(text, part.path, part.count + 1, self.column), chunk_words)
        if file_format == PARQUET:
            groups = None if part.end is None else range(part.start, part.end)
            records = read_parquet_records(part.path, groups, part.count, self.column)
            return self._record_chunks(records, chunk_words)
        return _words_chunks(text, name, file_format, chunk_words)

    def _text_chunks(
        self, text: Iterable[str], part: FileRange, line_breaks: str, chunk_words: ChunkWords
    ) -> Iterator[Chunk]:
        name, line, before, offset = display_name(part.path), 1, part.before, part.count
        several = paragraphs_of(text, lines=line_breaks == ONLY, size=CHARACTERS_PER_WORD * LEAST_WORDS)
        paragraphs = (paragraph for some in several for paragraph in some)
        for content in chunked(paragraphs, lambda paragraph: len(paragraph) // CHARACTERS_PER_WORD, chunk_words):
            ends = sum(paragraph.count("\n") for paragraph in content)
            size = sum(len(paragraph.encode(errors="surrogatepass")) for paragraph in content)
            last = max(line, line + ends - 1)
            text_part = TextPart(content, before, offset, _no_id)
            conllu = partial(_segmented, text_part, Spacing(ranges=self.ranges), line_breaks)
            yield Chunk(name, line, last, size, conllu, needs_ids=True)
            line, before = line + ends, spaces_after(before, content)
            offset += sum(map(len, content))

    def _record_chunks(self, records: Iterable[RecordOrError], chunk_words: ChunkWords) -> Iterator[Chunk]:
        checked = map(self._checked, records)
        for content in chunked(checked, lambda one: _size(one) // CHARACTERS_PER_WORD, chunk_words):
            good = [one for one in content if isinstance(one, Record)]
            skipped = tuple(str(one) for one in content if isinstance(one, FormatError))
            first, last, size = content[0], content[-1], sum(map(_size, content))
            yield Chunk(first.path, first.line, last.line, size, partial(from_records, good), skipped=skipped)

    def _checked(self, record: RecordOrError) -> RecordOrError:
        """Raise the error of a bad record, or return it if such records are skipped."""
        if self.on_error == SKIP and isinstance(record, Record):
            try:
                for raw in record.given_conllu():
                    list(raw.sentences())
            except FormatError as error:
                return FormatError(record.path, record.line, f"line {error.line} of its CoNLL-U: {error.message}")
        elif isinstance(record, FormatError) and self.on_error == STOP:
            raise record
        return record


def _size(record: RecordOrError) -> int:
    return record.size if isinstance(record, Record) else 0


def _conllu_chunks(stretches: Iterable[RawConllu], chunk_words: ChunkWords) -> Iterator[Chunk]:
    for content in chunked(stretches, lambda raw: raw.next_line - raw.line, chunk_words):
        first, last = content[0].line, max(content[0].line, content[-1].next_line - 1)
        size = sum(len(raw.data) for raw in content)
        yield Chunk(content[0].path, first, last, size, partial(_given, content))


def _words_chunks(text: Iterable[bytes], name: str, file_format: str, chunk_words: ChunkWords) -> Iterator[Chunk]:
    split = split_horizontal if file_format == HORIZONTAL else split_vertical
    read = line = size = 0

    def lines() -> Iterator[str]:
        nonlocal read, size
        for read, data in raw_lines_of(text):
            size += len(data) + 1
            yield decode_utf8(data, name, read).strip(" \t\ufeff")

    for content in chunked(split(lines()), len, chunk_words):
        yield Chunk(name, line + 1, read, size, partial(_from_words, content), needs_ids=True)
        line, size = read, 0
