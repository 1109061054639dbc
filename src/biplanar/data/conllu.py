"""CoNLL-U: a streaming reader and writer that give back every byte they were given."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import repeat
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import numpy as np

from biplanar.data import notebook
from biplanar.data.files import UTF_8, count_lines, decode_utf8, display_name, read_text
from biplanar.data.tree import Tree, find_fault
from biplanar.errors import FormatError, LabelError, TreeError

COLUMNS = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")
ID, FORM, LEMMA, UPOS, XPOS, FEATS, HEAD, DEPREL, DEPS, MISC = range(10)
EMPTY = "_"  # a column without a value

_BLANK = "\ufeff \t\r\n"  # what may be around sentences: white space, and a byte order mark
_BLANK_LINES = re.compile(r"\n(?:[\ufeff \t\r]*(?:\n|\Z))+")
_LINE_OF_SPACES = re.compile(rb"\n(?:\xef\xbb\xbf|[ \t\r])+\n")
_MORE_BLANK_LINES = re.compile(rb"(?:(?:\xef\xbb\xbf|[ \t\r])*\n)*")
_NOT_IN_COLUMNS = re.compile("[\t\n\ud800-\udfff]")
_MULTIWORD = re.compile(r"^\ufeff?(\d+)-(\d+)\t([^\t\n]+)\t(?:[^\t\n]+\t){7}([^\t\n]+?)\r?$", re.MULTILINE | re.ASCII)
_LONGEST_NUMBER = 4000  # digits; Python refuses to read longer ones
_row_starts = [f"{number}\t" for number in range(1, 513)]


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


class Token(NamedTuple):
    """What stands in the text: a word, or a multiword token with the words from `first` to `last`."""

    first: int
    last: int
    form: str
    misc: str
    is_multiword: bool

    @property
    def space_after(self) -> bool:
        """Whether a space follows in the text."""
        return "SpaceAfter=No" not in self.misc.split("|")


@dataclass(frozen=True)
class Sentence:
    """One block of CoNLL-U, kept as it was written (`raw`).

    `rows` are the lines of its words, without multiword tokens and empty nodes, known to be ten columns each and
    numbered from 1. They are taken apart when a column is first asked for.
    """

    raw: str
    rows: list[str] = field(repr=False, compare=False)
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
        sentence = parse_conllu(words_to_conllu(forms, upos=upos, comments=comments), "<words>")[0]
        return sentence.with_tree(tree) if tree else sentence

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def _fields(self) -> list[str]:
        return "\t".join(self.rows).split("\t")

    def column(self, number: int) -> list[str]:
        """One column of all words, by its number (`FORM`, `UPOS`, ...)."""
        return self._fields[number::10]

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
        return [self._word(*row.split("\t")) for row in self.rows]

    def _word(
        self, number: str, form: str, lemma: str, upos: str, xpos: str, feats: str, head: str, *rest: str
    ) -> Word:
        deprel, deps, misc = rest
        parent = None if head == "_" else self._head(int(number), head)
        return Word(int(number), form, lemma, upos, xpos, feats, parent, deprel, deps, misc)

    def tokens(self) -> Iterator[Token]:
        """The tokens of the text: multiword tokens, which must not overlap, and the words outside of them."""
        done = 0
        for match in _MULTIWORD.finditer(self.raw):
            first, last = (int(bound[:18]) for bound in match.group(1, 2))  # longer ones lead out of any sentence
            if not done < first <= last <= len(self):
                line = self.line + self.raw.count("\n", 0, match.start())
                message = f"expected a multiword token within words {done + 1} to {len(self)}, found {first}-{last}"
                raise FormatError(self.path, line, message)
            yield from self._single_tokens(done + 1, first - 1)
            yield Token(first, last, match[3], match[4], True)
            done = last
        yield from self._single_tokens(done + 1, len(self))

    def _single_tokens(self, first: int, last: int) -> Iterator[Token]:
        some = slice(first - 1, last)
        words = zip(self.forms[some], self.column(MISC)[some], strict=True)
        return (Token(word, word, form, misc, False) for word, (form, misc) in enumerate(words, first))

    @property
    def comments(self) -> list[str]:
        """The comment lines, with their `#`."""
        return [line for line in map(_bare, self.raw.split("\n")) if line.startswith("#")]

    def comment(self, key: str) -> str | None:
        """The value of the first comment `# key = value`, if there is one."""
        start = f"# {key} ="
        return next((line.removeprefix(start).strip() for line in self.comments if line.startswith(start)), None)

    @property
    def is_parsed(self) -> bool:
        """Whether there is a tree to ask for."""
        return any(head != "_" for head in self.column(HEAD))

    @property
    def heads(self) -> list[int]:
        """The heads as numbers; that they form a tree is not checked here."""
        column = self.column(HEAD)
        digits = "".join(column)
        if len(digits) < _LONGEST_NUMBER and digits.isascii() and digits.isdigit():
            heads = list(map(int, column))
            if max(heads) <= len(heads):
                return heads
        return [self._head(word, head) for word, head in enumerate(column, 1)]

    @property
    def tree(self) -> Tree:
        """The dependency tree; an error says where there is none."""
        heads = self.heads
        try:
            return Tree(tuple(heads), tuple(self.column(DEPREL)))
        except TreeError as error:
            fault = find_fault(np.array(heads, dtype=np.int32), np.array([0, len(heads)]))
            raise self.error_at(fault.word if fault else 1, str(error)) from error

    def with_tree(self, tree: Tree) -> Sentence:
        """The same sentence with other heads and relations; all else stays as it is."""
        if len(tree) != len(self):
            raise TreeError(f"expected a tree of {len(self)} words, found one of {len(tree)}")
        _check_column("DEPREL", tree.deprels)
        return self._with_rows([_with_arc(*row) for row in zip(self.rows, tree.heads, tree.deprels, strict=True)])

    def with_columns(self, columns: Mapping[int, Sequence[str]]) -> Sentence:
        """The same sentence with other values in some columns (`LEMMA`, `UPOS`, ...), one for each word."""
        if not columns:
            return self
        for number, values in columns.items():
            if len(values) != len(self):
                raise LabelError(f"{COLUMNS[number]}: expected {len(self)} values, found {len(values)}")
            _check_column(COLUMNS[number], values)
        every = (columns.get(number, self.column(number)) for number in range(len(COLUMNS)))
        return self._with_rows(["\t".join(row) for row in zip(*every, strict=True)])

    def with_misc(self, key: str, values: Sequence[str | None]) -> Sentence:
        """The same sentence with `key=value` in each word's MISC, in the place of one with that key; None: without."""
        _check_column("MISC", [key, *(value for value in values if value is not None)])
        return self._with_rows([_with_misc(row, key, value) for row, value in zip(self.rows, values, strict=True)])

    def with_token_misc(self, key: str, values: Iterable[str]) -> Sentence:
        """The same sentence with `key=value` in the MISC of each of its `tokens`, multiword tokens included."""
        by_id = {
            f"{token.first}-{token.last}" if token.is_multiword else str(token.first): value
            for token, value in zip(self.tokens(), values, strict=True)
        }
        lines = [_with_line_misc(line, key, by_id) for line in self.raw.split("\n")]
        rows = [_with_line_misc(row, key, by_id) for row in self.rows]
        return Sentence("\n".join(lines), rows, self.path, self.line)

    def with_comments(self, values: Mapping[str, str]) -> Sentence:
        """The same sentence with comments `# key = value` before all others, in the place of those with these keys."""
        comments = [f"# {key} = {value}" for key, value in values.items()]
        starts = tuple(f"# {key} =" for key in values)
        lines = [line for line in self.raw.split("\n") if not line.startswith(starts)]
        return Sentence("\n".join([*comments, *lines]), self.rows, self.path, self.line)

    def with_comment(self, key: str, value: str) -> Sentence:
        """The same sentence with another value of the comment `# key = ...`, where it stands."""
        start = f"# {key} ="
        lines = [f"{start} {value}" if line.startswith(start) else line for line in self.raw.split("\n")]
        return Sentence("\n".join(lines), self.rows, self.path, self.line)

    def without_comments(self, keys: Sequence[str]) -> Sentence:
        """The same sentence without the comments `# key` and `# key = ...`."""
        kept = [line for line in self.raw.split("\n") if not _is_comment(line, keys)]
        return Sentence("\n".join(kept), self.rows, self.path, self.line)

    def _with_rows(self, rows: list[str]) -> Sentence:
        renewed = dict(zip(self.rows, rows, strict=True))
        lines = [renewed.get(line) or _renew(line, renewed) for line in self.raw.split("\n")]
        return Sentence("\n".join(lines), rows, self.path, self.line)

    def to_conllu(self) -> str:
        """The block as text, byte for byte as it was read."""
        return self.raw

    def to_displacy(self) -> dict[str, list[dict[str, Any]]]:
        """Words and arcs for spaCy's `displacy.render(..., style="dep", manual=True)`, which shows no root."""
        words, tree = zip(self.forms, self.upos, strict=True), self.tree
        arcs = enumerate(zip(tree.heads, tree.deprels, strict=True), 1)
        return {
            "words": [{"text": form, "tag": "" if tag == "_" else tag} for form, tag in words],
            "arcs": [_displacy_arc(head, word, deprel) for word, (head, deprel) in arcs if head],
        }

    def _repr_html_(self) -> str | None:
        """The tree as a notebook draws it; a sentence without one is shown as text."""
        try:
            return notebook.to_html(self) if self.is_parsed else None
        except FormatError:
            return None

    def check_tagged(self, purpose: str) -> None:
        """Raise an error at the first word without a universal part-of-speech tag, which `purpose` needs."""
        if "_" in self.upos:
            message = f"{purpose} needs part-of-speech tags, found '_' as UPOS"
            raise self.error_at(self.upos.index("_") + 1, message)

    def error_at(self, word: int, message: str) -> FormatError:
        """An error that points to a word's line."""
        seen = 0
        for number, line in enumerate(self.raw.split("\n"), self.line):
            seen += line.strip("\ufeff").split("\t")[0].isdigit()
            if seen == word:
                return FormatError(self.path, number, message)
        return FormatError(self.path, self.line, message)

    def _head(self, word: int, head: str) -> int:
        if not (head.isascii() and head.isdigit()):
            raise self.error_at(word, f"expected a whole number as HEAD, found {head!r}")
        if len(head) > _LONGEST_NUMBER or int(head) > len(self):
            raise self.error_at(word, f"expected a HEAD from 0 to {len(self)}, found {head:.40}")
        return int(head)


@dataclass(frozen=True)
class RawConllu:
    """Whole sentences of a file as bytes, not yet parsed."""

    data: bytes = field(repr=False)
    path: str = "<text>"
    line: int = 1

    @cached_property
    def next_line(self) -> int:
        """The number of the line that follows."""
        return self.line + count_lines(self.data)

    def sentences(self) -> Iterator[Sentence]:
        """The sentences, or an error that says what is wrong with them and in which line."""
        line, found, tidy = self.line, False, _is_tidy(self.data)
        for content, tail in _blocks(decode_utf8(self.data, self.path, line), tidy):
            lines = content.split("\n")
            if tidy or content.strip(_BLANK):
                found = True
                rows = (tidy and _word_rows(lines)) or _parse_carefully(lines, self.path, line)
                yield _sentence(content + tail, rows, self.path, line)
            line += len(lines) - 1 + tail.count("\n")
        if not found:  # a block that others came before has sentences, so there were no others
            raise FormatError(self.path, 1, "expected at least one sentence, found an empty file")


def _displacy_arc(head: int, dependent: int, deprel: str) -> dict[str, Any]:
    """Its ends from left to right, counted from 0, and where its arrow points."""
    left, right = sorted((head, dependent))
    return {"start": left - 1, "end": right - 1, "label": deprel, "dir": "left" if dependent < head else "right"}


def _is_comment(line: str, keys: Sequence[str]) -> bool:
    return line.startswith("#") and line[1:].partition("=")[0].strip() in keys


def _with_arc(row: str, head: int, deprel: str) -> str:
    before = row.split("\t", HEAD)
    after = before.pop().split("\t", 2)[2]
    return "\t".join([*before, str(head), deprel, after])


def _with_misc(row: str, key: str, value: str | None) -> str:
    *before, misc = row.split("\t")
    items = [] if misc == "_" else [item for item in misc.split("|") if item.partition("=")[0] != key]
    if value is not None:
        items.append(f"{key}={value}")
    return "\t".join([*before, "|".join(items) or "_"])


def _with_line_misc(line: str, key: str, by_id: Mapping[str, str]) -> str:
    """A line with `key=value` in its MISC, if there is a value for its ID."""
    row = _bare(line)
    value = by_id.get(row.partition("\t")[0])
    return line if value is None or row.startswith("#") else line.replace(row, _with_misc(row, key, value))


def _renew(line: str, renewed: dict[str, str]) -> str:
    """A line with its row replaced, where it holds one that was renewed."""
    row = _bare(line)
    return line.replace(row, renewed[row]) if row in renewed else line


def _bare(line: str) -> str:
    """A line without what is no part of its columns: the rest of a Windows line end, a byte order mark."""
    return line.removesuffix("\r").lstrip("\ufeff")


def find_misfit(values: Sequence[str]) -> int | None:
    """The index of the first value that no column can hold: empty, or with a tab, a line end or a lone surrogate.

    Lone surrogates can be written in JSON, but not in UTF-8.
    """
    if all(values) and not _NOT_IN_COLUMNS.search("".join(values)):
        return None
    return next(at for at, value in enumerate(values) if not value or _NOT_IN_COLUMNS.search(value))


def _check_column(name: str, values: Sequence[str]) -> None:
    if (at := find_misfit(values)) is not None:
        message = f"expected text without tabs and line ends as {name}, found {values[at]!r}"
        raise LabelError(f"word {at + 1}: {message}")


def read_conllu(path: str | Path, text_encoding: str = UTF_8) -> Iterator[Sentence]:
    """The sentences of a file, one after the other; compressed files and `-` (standard input) are read as they are."""
    return _sentences(read_raw_conllu(path, text_encoding))


def read_raw_conllu(path: str | Path, text_encoding: str = UTF_8) -> Iterator[RawConllu]:
    """The same as bytes, some sentences at a time."""
    return cut_raw_conllu(read_text(path, text_encoding), display_name(path))


def parse_conllu(text: str, name: str = "<text>") -> list[Sentence]:
    """The sentences of a string."""
    return list(_sentences(cut_raw_conllu([text.encode(errors="surrogatepass")], name)))


def words_to_conllu(forms: Sequence[str], *, upos: Sequence[str] | None = None, comments: Sequence[str] = ()) -> str:
    """The text of a sentence of which only the words are known, and maybe their tags."""
    tags = upos or ["_"] * len(forms)
    for name, column in (("FORM", forms), ("UPOS", tags)):
        _check_column(name, column)
    rows = [
        f"{i}\t{form}\t_\t{tag}\t_\t_\t_\t_\t_\t_" for i, (form, tag) in enumerate(zip(forms, tags, strict=True), 1)
    ]
    return "\n".join([*comments, *rows, "", ""])


def write_conllu(sentences: Iterable[Sentence], stream: TextIO) -> None:
    """Write sentences as text; one that ended its file without a blank line gets one if another follows."""
    unfinished = ""
    for sentence in sentences:
        stream.write(unfinished + sentence.raw)
        unfinished = missing_end(sentence.raw)


def missing_end(raw: str) -> str:
    """What a block lacks to be followed by another."""
    newline = "\r\n" if "\r\n" in raw else "\n"
    lines = raw.rsplit("\n", 2)
    if lines[-1].strip(_BLANK):
        return newline * 2
    return "" if len(lines) == 3 and not lines[-1] and not lines[-2].strip(_BLANK) else newline


def _sentences(blocks: Iterable[RawConllu]) -> Iterator[Sentence]:
    for block in blocks:
        yield from block.sentences()


def _sentence(raw: str, rows: list[str], path: str, line: int) -> Sentence:
    """A sentence made without `__init__`, which takes twice as long: frozen dataclasses set attributes indirectly."""
    sentence = object.__new__(Sentence)
    values = sentence.__dict__
    values["raw"], values["rows"], values["path"], values["line"] = raw, rows, path, line
    return sentence


def cut_raw_conllu(buffers: Iterable[bytes], name: str) -> Iterator[RawConllu]:
    """The same bytes, cut where blank lines end and another sentence begins; there is one block at least."""
    rest, line, blank, seen = b"", 1, _BLANK.encode(), 0
    for buffer in buffers:
        rest += buffer
        end = len(rest.rstrip(blank))
        cut = _behind_last_blank_line(rest, seen, end)
        if cut > 2 and (more := _MORE_BLANK_LINES.match(rest, cut)) and rest[:cut].strip(blank):
            block = RawConllu(rest[: more.end()], name, line)
            yield block
            rest, line, seen = rest[more.end() :], block.next_line, 0
        else:
            seen = max(rest.rfind(b"\n", 0, end), 0)
    if rest or line == 1:
        yield RawConllu(rest, name, line)


def _behind_last_blank_line(data: bytes, start: int, end: int) -> int:
    """Where the last blank line within these bounds ends, or less than 3; those without white space are found first."""
    cut = data.rfind(b"\n\n", start, end) + 2
    cut = max(cut, data.rfind(b"\n\r\n", max(cut - 2, start), end) + 3)  # looked for only where it could be the last
    if cut <= 2:
        for match in _LINE_OF_SPACES.finditer(data, start, end):
            cut = match.end()
    return cut


def _is_tidy(data: bytes) -> bool:
    """Whether all lines are comments, single empty lines, or ten columns with something in each: checked in bulk.

    Other data need not be wrong; it is checked line by line, which is slower.
    """
    if b"\r" in data or data[:1] in b"\xef\n":
        return False
    codes = np.frombuffer(b"\n" + data + b"\n" * (data[-1:] != b"\n"), dtype=np.uint8)
    marks = np.flatnonzero(codes <= ord("\n"))
    kinds = codes[marks]
    if kinds.min() < ord("\t"):  # what is counted below must be tabs and line ends
        return False
    ends = np.flatnonzero(kinds == ord("\n"))
    first_codes = codes[marks[ends[:-1]] + 1]
    without_columns = (first_codes == ord("\n")) | (first_codes == ord("#"))
    tabs_right = (np.diff(ends) == np.where(without_columns, 1, 10)).all()
    gaps = np.flatnonzero(np.diff(marks) == 1)  # two marks side by side: only a single empty line is allowed
    gaps_right = (kinds[gaps] == ord("\n")).all() and (kinds[gaps + 1] == ord("\n")).all()
    return bool(tabs_right and gaps_right and (np.diff(gaps) > 1).all())


def _blocks(text: str, tidy: bool) -> Iterator[tuple[str, str]]:
    """Blocks of lines, each with the blank lines behind it; blank lines before the first block belong to it."""
    if tidy:
        *blocks, last = text.split("\n\n")
        yield from zip(blocks, repeat("\n\n"))
        start = len(text) - len(last)
    else:
        start = 0
        for match in _BLANK_LINES.finditer(text):
            if text[start : match.start()].strip(_BLANK):
                yield text[start : match.start()], match[0]
                start = match.end()
    if start < len(text):
        content = text[start:].removesuffix("\n")
        yield content, text[start + len(content) :]


def _word_rows(lines: list[str]) -> list[str] | None:
    """The lines of a tidy block, but for its comments; None if they are not just its words in order."""
    comments = 0
    while comments < len(lines) and lines[comments][0] == "#":
        comments += 1
    rows = lines[comments:]
    if len(rows) > len(_row_starts):
        _row_starts.extend(f"{number}\t" for number in range(len(_row_starts) + 1, len(rows) + 1))
    return rows if rows and all(map(str.startswith, rows, _row_starts)) else None


def _parse_carefully(lines: list[str], path: str, line: int) -> list[str]:
    """Line by line: multiword tokens and empty nodes are passed over, and what is wrong is named with its line."""
    words: list[str] = []
    for number, text in enumerate(lines, line):
        row = _bare(text)
        if not row.strip(_BLANK) or row.startswith("#"):
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
    return words
