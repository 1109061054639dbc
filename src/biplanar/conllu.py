"""CoNLL-U: a streaming reader and writer that give back every byte they were given."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, TextIO

from biplanar.errors import FormatError, TreeError
from biplanar.text import decode_utf8, display_name, read_chunks
from biplanar.tree import Tree

COLUMNS = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")
ID, FORM, LEMMA, UPOS, XPOS, FEATS, HEAD, DEPREL, DEPS, MISC = range(10)

# Rows are split all at once, with a marker field between them: each row takes ten fields and the marker.
STRIDE = 11
ROW_END = "\t\n\t"

_BLANK_LINES = re.compile(rb"\n(?:[ \t\r]*\n)+")
_BYTE_ORDER_MARK = "\ufeff"
_ids = [str(number) for number in range(1, 513)]


class Word(NamedTuple):
    """One word line; `head` is None in a sentence that has not been parsed."""

    id: int
    form: str
    lemma: str
    upos: str
    xpos: str
    feats: str
    head: int | None
    deprel: str
    deps: str
    misc: str


@dataclass(frozen=True, slots=True)
class Sentence:
    """One block of CoNLL-U, kept as it was written; its words are looked at without multiword tokens and empty nodes."""

    raw: str
    fields: list[str] = field(repr=False, compare=False)
    path: str = field(default="<text>", compare=False)
    line: int = field(default=1, compare=False)

    @classmethod
    def from_words(
        cls,
        forms: Sequence[str],
        tree: Tree | None = None,
        *,
        upos: Sequence[str] | None = None,
        comments: Sequence[str] = (),
    ) -> Sentence:
        """A new sentence from its words' forms."""
        tags = upos or ["_"] * len(forms)
        rows = [f"{i}\t{form}\t_\t{tag}" + "\t_" * 6 for i, (form, tag) in enumerate(zip(forms, tags, strict=True), 1)]
        sentence = _parse("\n".join([*comments, *rows]), "\n\n", "<words>", 1)
        return sentence.with_tree(tree) if tree else sentence

    def __len__(self) -> int:
        return (len(self.fields) + 1) // STRIDE

    def column(self, number: int) -> list[str]:
        """One column of all words, by its number (`FORM`, `UPOS`, ...)."""
        return self.fields[number::STRIDE]

    @property
    def forms(self) -> list[str]:
        """The words as they are written."""
        return self.column(FORM)

    @property
    def upos(self) -> list[str]:
        """The universal part-of-speech tags."""
        return self.column(UPOS)

    @property
    def words(self) -> list[Word]:
        """All columns, word by word."""
        rows = zip(*(self.column(number) for number in range(10)), strict=True)
        return [
            Word(int(row[ID]), *row[1:HEAD], None if row[HEAD] == "_" else self._head(row), *row[DEPREL:]) for row in rows
        ]

    @property
    def comments(self) -> list[str]:
        """The comment lines, with their `#`."""
        return [line.rstrip("\r") for line in self.raw.lstrip("\ufeff\r\n").split("\n") if line.startswith("#")]

    @property
    def is_parsed(self) -> bool:
        """Whether there is a tree to ask for."""
        return any(head != "_" for head in self.column(HEAD))

    @property
    def heads(self) -> list[int]:
        """The heads as numbers; that they form a tree is not checked here."""
        column = self.column(HEAD)
        digits = "".join(column)
        if not (digits.isascii() and digits.isdigit()):
            return [self._head(self.fields[at : at + 10]) for at in range(0, len(self.fields), STRIDE)]
        heads = list(map(int, column))
        if max(heads) > len(heads):
            word = next(i for i, head in enumerate(heads, 1) if head > len(heads))
            raise self.error_at(word, f"expected a HEAD from 0 to {len(heads)}, found {heads[word - 1]}")
        return heads

    @property
    def tree(self) -> Tree:
        """The dependency tree; an error says where there is none."""
        try:
            return Tree(tuple(self.heads), tuple(self.column(DEPREL)))
        except TreeError as error:
            raise FormatError(self.path, self.line, str(error)) from error

    def with_tree(self, tree: Tree) -> Sentence:
        """The same sentence with other heads and relations; all else stays as it is."""
        if len(tree) != len(self):
            raise TreeError(f"expected a tree of {len(self)} words, found one of {len(tree)}")
        lines, word = self.raw.split("\n"), 0
        for number, line in enumerate(lines):
            columns = line.split("\t")
            if len(columns) == 10 and columns[ID].strip("\ufeff").isdigit():
                columns[HEAD], columns[DEPREL] = str(tree.heads[word]), tree.deprels[word]
                lines[number], word = "\t".join(columns), word + 1
        fields = self.fields.copy()
        fields[HEAD::STRIDE] = map(str, tree.heads)
        fields[DEPREL::STRIDE] = tree.deprels
        return Sentence("\n".join(lines), fields, self.path, self.line)

    def to_conllu(self) -> str:
        """The block as text, byte for byte as it was read."""
        return self.raw

    def error_at(self, word: int, message: str) -> FormatError:
        """An error that points to a word's line."""
        seen = 0
        for number, line in enumerate(self.raw.split("\n"), self.line):
            seen += line.strip("\ufeff").split("\t")[0].isdigit()
            if seen == word:
                return FormatError(self.path, number, message)
        return FormatError(self.path, self.line, message)

    def _head(self, row: Sequence[str]) -> int:
        if row[HEAD].isascii() and row[HEAD].isdigit():
            return int(row[HEAD])
        raise self.error_at(int(row[ID]), f"expected a whole number as HEAD, found {row[HEAD]!r}")


def read_conllu(path: str | Path) -> Iterator[Sentence]:
    """The sentences of a file, one after the other; compressed files and `-` (standard input) are read as they are."""
    name = display_name(path)
    return _sentences(read_chunks(path), name)


def parse_conllu(text: str, name: str = "<text>") -> list[Sentence]:
    """The sentences of a string."""
    return list(_sentences(iter([text.encode()]), name))


def write_conllu(sentences: Iterable[Sentence], stream: TextIO) -> None:
    """Write sentences as text; one that ended its file without a blank line gets one if another follows."""
    unfinished = ""
    for sentence in sentences:
        stream.write(unfinished + sentence.raw)
        unfinished = _missing_end(sentence.raw)


def _missing_end(raw: str) -> str:
    """What a block lacks to be followed by another."""
    newline = "\r\n" if "\r\n" in raw else "\n"
    lines = raw.rsplit("\n", 2)
    if lines[-1].strip("\r"):
        return newline * 2
    return "" if len(lines) == 3 and not lines[-2].strip() else newline


def _sentences(chunks: Iterator[bytes], name: str) -> Iterator[Sentence]:
    line, found = 1, False
    for content, tail in _blocks(chunks):
        if content.strip(b"\xef\xbb\xbf \t\r\n"):
            found = True
            yield _parse(decode_utf8(content, name, line), tail.decode(), name, line)
        line += content.count(b"\n") + tail.count(b"\n")
    if not found:
        raise FormatError(name, 1, "expected at least one sentence, found an empty file")


def _blocks(chunks: Iterator[bytes]) -> Iterator[tuple[bytes, bytes]]:
    """Blocks of lines with the blank lines behind them; blank lines before the first block belong to it."""
    rest = b""
    for chunk in chunks:
        rest, start = rest + chunk, 0
        for match in _BLANK_LINES.finditer(rest):
            if match.end() == len(rest):
                break  # more blank lines may follow in the next chunk
            if not rest[start : match.start()].strip(b"\xef\xbb\xbf \t\r\n"):
                continue  # still before the first block
            yield rest[start : match.start()], rest[match.start() : match.end()]
            start = match.end()
        rest = rest[start:]
    if rest:
        match = _BLANK_LINES.search(rest, len(rest.rstrip(b" \t\r\n")))
        end = match.start() if match else len(rest.removesuffix(b"\n"))
        yield rest[:end], rest[end:]


def _parse(content: str, tail: str, path: str, line: int) -> Sentence:
    rows = content.strip("\r")
    if rows.startswith((_BYTE_ORDER_MARK, "\n", " ", "\t")):
        rows = rows.lstrip(_BYTE_ORDER_MARK + " \t\r\n")
    if "\r" in rows:
        rows = rows.replace("\r\n", "\n")
    while rows.startswith("#"):
        rows = rows.partition("\n")[2]
    fields = rows.replace("\n", ROW_END).split("\t")
    size = len(fields) // STRIDE + 1
    regular = len(fields) == size * STRIDE - 1 and fields[10::STRIDE].count("\n") == size - 1
    if not regular or fields[ID::STRIDE] != _first_ids(size) or "" in fields:
        fields = _parse_carefully(content, path, line)
    return Sentence(content + tail, fields, path, line)


def _first_ids(size: int) -> list[str]:
    if size > len(_ids):
        _ids.extend(str(number) for number in range(len(_ids) + 1, size + 1))
    return _ids[:size]


def _parse_carefully(content: str, path: str, line: int) -> list[str]:
    """Line by line: multiword tokens and empty nodes are passed over, and what is wrong is named with its line."""
    words: list[str] = []
    for number, text in enumerate(content.split("\n"), line):
        row = text.strip("\r").lstrip(_BYTE_ORDER_MARK)
        if not row.strip() or row.startswith("#"):
            continue
        columns = row.split("\t")
        if len(columns) != 10:
            raise FormatError(path, number, f"expected 10 columns, found {len(columns)}")
        if "" in columns:
            raise FormatError(path, number, f"expected a value or _ as {COLUMNS[columns.index('')]}, found nothing")
        if re.fullmatch(r"\d+-\d+|\d+\.\d+", columns[ID], re.ASCII):
            continue
        if columns[ID] != str(len(words) + 1):
            raise FormatError(path, number, f"expected the ID {len(words) + 1}, found {columns[ID]!r}")
        words.append(row)
    if not words:
        raise FormatError(path, line, "expected a sentence with words, found none in this block")
    return ROW_END.join(words).split("\t")
