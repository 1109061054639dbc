"""A sentence: one block of CoNLL-U, with its words, tokens and tree to ask for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from biplanar.data import conversions
from biplanar.data.graph import Graph, Node, deps_text, node_order, read_graph
from biplanar.data.rows import COLUMNS, DEPREL, DEPS, EMPTY, FORM, HEAD, MISC, UPOS, bare, check_column
from biplanar.data.tree import Tree, find_fault
from biplanar.data.words import PROBABILITY, Token, Word
from biplanar.errors import FormatError, GraphError, LabelError, TreeError
from biplanar.plugins import HOOKS

if TYPE_CHECKING:
    import networkx
    import pandas
    from spacy.tokens import Doc
    from spacy.vocab import Vocab

_MULTIWORD = re.compile(r"^\ufeff?(\d+)-(\d+)\t([^\t\n]+)\t(?:[^\t\n]+\t){7}([^\t\n]+?)\r?$", re.MULTILINE | re.ASCII)
_EMPTY_NODE = re.compile(r"^\ufeff?(\d+\.\d+)(\t[^\n]+?)\r?$", re.MULTILINE | re.ASCII)
_LONGEST_NUMBER = 4000  # digits; Python refuses to read longer ones
_SHOWN = 60  # characters of a sentence's text in its `repr`


@dataclass(frozen=True, repr=False)
class Sentence:
    """One block of CoNLL-U, kept as it was written (`raw`).

    `rows` are the lines of its words, without multiword tokens and empty nodes, known to be ten columns each and
    numbered from 1. They are taken apart when a column is first asked for.
    """

    raw: str
    rows: list[str] = field(compare=False)
    path: str = field(default="<text>", compare=False)
    line: int = field(default=1, compare=False)
    offset: int = field(default=0, compare=False)  # characters of its document before it

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
        for number, comment in enumerate(comments, 1):
            if not comment.startswith("#"):
                raise FormatError("<words>", number, f"{comment!r} is no comment: it does not begin with #")
        if not forms:
            raise FormatError("<words>", 1, "a sentence needs at least one word")
        tags = upos or [EMPTY] * len(forms)
        check_column("FORM", forms)
        check_column("UPOS", tags)
        words = enumerate(zip(forms, tags, strict=True), 1)
        rows = [f"{number}\t{form}\t_\t{tag}\t_\t_\t_\t_\t_\t_" for number, (form, tag) in words]
        sentence = cls("\n".join([*comments, *rows, "", ""]), rows, "<words>")
        return sentence.with_tree(tree) if tree else sentence

    def __repr__(self) -> str:
        text = self.text if len(self.text) <= _SHOWN else self.text[: _SHOWN - 1] + "…"
        return f"<Sentence {text!r}, {len(self)} word{'s' * (len(self) > 1)}>"

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Word]:
        return map(self._word, self.rows)

    @overload
    def __getitem__(self, at: int) -> Word: ...
    @overload
    def __getitem__(self, at: slice) -> list[Word]: ...
    def __getitem__(self, at: int | slice) -> Word | list[Word]:
        """Words by their places, which count from 0."""
        return self._word(self.rows[at]) if isinstance(at, int) else list(map(self._word, self.rows[at]))

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
        return list(self)

    def _word(self, row: str) -> Word:
        number, form, lemma, upos, xpos, feats, head, deprel, deps, misc = row.split("\t")
        parent = None if head == "_" else self._head(int(number), head)
        word = Word(int(number), form, lemma, upos, xpos, feats, parent, deprel, deps, misc)
        word.__dict__["_sentence"] = self
        return word

    @property
    def tokens(self) -> list[Token]:
        """The tokens of the text: multiword tokens, which must not overlap, and the words outside of them."""
        tokens, done = list[Token](), 0
        for match in _MULTIWORD.finditer(self.raw):
            first, last = (int(bound[:18]) for bound in match.group(1, 2))  # longer ones lead out of any sentence
            if not done < first <= last <= len(self):
                line = self.line + self.raw.count("\n", 0, match.start())
                message = f"expected a multiword token within words {done + 1} to {len(self)}, found {first}-{last}"
                raise FormatError(self.path, line, message)
            tokens += self._single_tokens(done + 1, first - 1)
            tokens.append(Token(first, last, match[3], match[4], True))
            done = last
        tokens += self._single_tokens(done + 1, len(self))
        for token in tokens:
            token.__dict__["_sentence"] = self
        return tokens

    def _single_tokens(self, first: int, last: int) -> list[Token]:
        some = slice(first - 1, last)
        words = zip(self.forms[some], self.column(MISC)[some], strict=True)
        return [Token(word, word, form, misc, False) for word, (form, misc) in enumerate(words, first)]

    @property
    def text(self) -> str:
        """As it was written: the comment `# text`, or else its tokens."""
        text = self.comment("text")
        return "".join(part for token in self.tokens for part in token.spaced).strip() if text is None else text

    @property
    def sent_id(self) -> str | None:
        """What its file calls it."""
        return self.comment("sent_id")

    @cached_property
    def ranges(self) -> list[tuple[int, int]]:
        """Where the token of each word begins and ends in the document's text."""
        at, ranges = self.offset, []
        for token in self.tokens:
            before, text, after = map(len, token.spaced)
            own = token.given_range or (at + before, at + before + text)
            ranges += [own] * (token.last - token.first + 1)
            at += before + text + after
        return ranges

    @property
    def start_char(self) -> int:
        """Where it begins in the document's text."""
        return self.ranges[0][0]

    @property
    def end_char(self) -> int:
        """Where it ends in the document's text."""
        return self.ranges[-1][1]

    @property
    def comments(self) -> list[str]:
        """The comment lines, with their `#`."""
        return [line for line in map(bare, self.raw.split("\n")) if line.startswith("#")]

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

    @cached_property
    def tree(self) -> Tree:
        """The dependency tree; an error says where there is none."""
        heads = self.heads
        try:
            return Tree(tuple(heads), tuple(self.column(DEPREL)))
        except TreeError as error:
            fault = find_fault(np.array(heads, dtype=np.int32), np.array([0, len(heads)]))
            raise self.error_at(fault.word if fault else 1, str(error)) from error

    @property
    def empty_nodes(self) -> dict[str, list[str]]:
        """The columns of empty nodes by their ids (`8.1`)."""
        if self.raw.count("\t") == 9 * len(self):
            return {}
        return {match[1]: [match[1], *match[2][1:].split("\t")] for match in _EMPTY_NODE.finditer(self.raw)}

    @cached_property
    def graph(self) -> Graph | None:
        """The enhanced graph, which DEPS has; None where it has none, and an error where it is wrong."""
        column, empty = self.column(DEPS), self.empty_nodes
        if not empty and column.count(EMPTY) == len(column):
            return None
        try:
            return read_graph(column, {node: columns[DEPS] for node, columns in empty.items()})
        except GraphError as error:
            raise self.error_at(error.node, str(error)) from error

    def needed_graph(self) -> Graph:
        """The enhanced graph, or an error that there is none."""
        if self.graph is None:
            raise self.error_at(1, "no enhanced graph: DEPS is empty")
        return self.graph

    @cached_property
    def dependents(self) -> list[list[int]]:
        """The words that depend on the root (at 0) and on each word, by their numbers."""
        found: list[list[int]] = [[] for _ in range(len(self) + 1)]
        for word, head in enumerate(self.tree.heads, 1):
            found[head].append(word)
        return found

    @property
    def root(self) -> Word:
        """The word that the tree hangs on; the first one, if there are several."""
        return self[self.dependents[0][0] - 1]

    @property
    def is_projective(self) -> bool:
        """Whether all that stands between a word and its head is below the head."""
        return bool(HOOKS["is_projective"](self.tree))

    @property
    def planes(self) -> list[int]:
        """The plane of each word's arc as it is drawn, so that no two of one cross; 0 for the root and for the rest."""
        return list(HOOKS["planes"](self.tree))

    @property
    def head_probabilities(self) -> list[float] | None:
        """How likely the head of each word is, where MISC tells it of all."""
        marker = f"{PROBABILITY}="
        found = [item for misc in self.column(MISC) for item in misc.split("|") if item.startswith(marker)]
        return [float(item.removeprefix(marker)) for item in found] if len(found) == len(self) else None

    def with_tree(self, tree: Tree) -> Sentence:
        """The same sentence with other heads and relations; all else stays as it is."""
        if len(tree) != len(self):
            raise TreeError(f"a tree of {len(tree)} words does not fit a sentence of {len(self)}")
        return self.with_columns({HEAD: list(map(str, tree.heads)), DEPREL: tree.deprels})

    def with_graph(self, graph: Graph) -> Sentence:
        """The same sentence with another enhanced graph, whose empty nodes take the place of those that it has."""
        if len(graph) != len(self):
            raise GraphError(f"a graph of {len(graph)} words does not fit a sentence of {len(self)}")
        renewed, old = self.with_columns({DEPS: list(map(deps_text, graph.heads))}), self.empty_nodes
        rows: dict[int, list[str]] = {}  # of empty nodes, by the word that they stand behind
        for node, heads in graph.empty:
            columns = [*old.get(node, [node, *[EMPTY] * 9])]
            columns[DEPS] = deps_text(heads)
            rows.setdefault(node_order(node)[0], []).append("\t".join(columns))
        return renewed._with_empty_nodes(rows) if old or rows else renewed

    def _with_empty_nodes(self, rows: dict[int, list[str]]) -> Sentence:
        lines = list[str]()
        for line in self.raw.split("\n"):
            number, end = bare(line).partition("\t")[0], "\r" if line.endswith("\r") else ""
            if number.partition("-")[0].isdecimal():  # those behind no word come before the first word or token
                lines += [row + end for row in rows.pop(0, [])]
            if not _EMPTY_NODE.match(line):
                lines.append(line)
            if number.isdecimal():
                lines += [row + end for row in rows.get(int(number), [])]
        return self._renewed("\n".join(lines), self.rows)

    def with_columns(self, columns: Mapping[int, Sequence[str]]) -> Sentence:
        """The same sentence with other values in some columns (`LEMMA`, `UPOS`, ...), one for each word."""
        if not columns:
            return self
        for number, values in columns.items():
            if len(values) != len(self):
                raise LabelError(f"{COLUMNS[number]}: {len(values)} values for {len(self)} words")
            check_column(COLUMNS[number], values)
        every = (columns.get(number, self.column(number)) for number in range(len(COLUMNS)))
        return self._with_rows(["\t".join(row) for row in zip(*every, strict=True)])

    def with_misc(self, key: str, values: Sequence[str | None]) -> Sentence:
        """The same sentence with `key=value` in each word's MISC, in the place of one with that key; None: without."""
        check_column("MISC", [key, *(value for value in values if value is not None)])
        rows = []
        for row, value in zip(self.rows, values, strict=True):
            *before, misc = row.split("\t")
            items = [item for item in misc.split("|") if misc != EMPTY and item.partition("=")[0] != key]
            items += [] if value is None else [f"{key}={value}"]
            rows.append("\t".join([*before, "|".join(items) or EMPTY]))
        return self._with_rows(rows)

    def with_comments(self, values: Mapping[str, str]) -> Sentence:
        """The same sentence with comments `# key = value` before all others, in the place of those with these keys."""
        comments = [f"# {key} = {value}" for key, value in values.items()]
        starts = tuple(f"# {key} =" for key in values)
        lines = [line for line in self.raw.split("\n") if not line.startswith(starts)]
        return self._renewed("\n".join([*comments, *lines]), self.rows)

    def with_comment(self, key: str, value: str) -> Sentence:
        """The same sentence with another value of the comment `# key = ...`, where it stands."""
        start = f"# {key} ="
        lines = [f"{start} {value}" if line.startswith(start) else line for line in self.raw.split("\n")]
        return self._renewed("\n".join(lines), self.rows)

    def without_comments(self, keys: Sequence[str]) -> Sentence:
        """The same sentence without the comments `# key` and `# key = ...`."""
        lines = self.raw.split("\n")
        kept = [line for line in lines if line[:1] != "#" or line[1:].partition("=")[0].strip() not in keys]
        return self._renewed("\n".join(kept), self.rows)

    def _with_rows(self, rows: list[str]) -> Sentence:
        renewed = dict(zip(self.rows, rows, strict=True))
        bares = ((line, bare(line)) for line in self.raw.split("\n"))  # the rest of a Windows line end stays
        lines = [line.replace(row, renewed[row]) if row in renewed else line for line, row in bares]
        return self._renewed("\n".join(lines), rows)

    def with_offset(self, offset: int) -> Sentence:
        """The same sentence behind so many characters of a document."""
        return make_sentence(self.raw, self.rows, self.path, self.line, offset)

    def _renewed(self, raw: str, rows: list[str]) -> Sentence:
        return make_sentence(raw, rows, self.path, self.line, self.offset)

    def to_conllu(self) -> str:
        """The block as text, byte for byte as it was read."""
        return self.raw

    def to_dict(self) -> dict[str, Any]:
        """Plain values: `sent_id`, `text`, where documents and paragraphs begin, multiword tokens, and the words."""
        return conversions.sentence_dict(self)

    def to_json(self) -> str:
        """`to_dict` as JSON, in one line."""
        return conversions.to_json(self.to_dict())

    def to_dataframe(self) -> pandas.DataFrame:
        """A row for each word."""
        return conversions.words_frame([self])

    def to_networkx(self, *, enhanced: bool = False) -> networkx.DiGraph:
        """Words by their numbers as nodes, with their columns; an edge from each head to its dependents.

        With `enhanced`, the enhanced graph: a `MultiDiGraph`, in which the ids of empty nodes are text (`"8.1"`).
        """
        return conversions.networkx_graph(self, enhanced=enhanced)

    def to_spacy(self, vocab: Vocab) -> Doc:
        """A spaCy document of this sentence, with a token for each word."""
        from biplanar.data.documents import to_spacy

        return to_spacy([self], vocab)

    def to_displacy(self) -> dict[str, list[dict[str, Any]]]:
        """Words and arcs for spaCy's `displacy.render(..., style="dep", manual=True)`, which shows no root."""
        return conversions.displacy_dict(self)

    def draw(
        self,
        path: str | Path | None = None,
        *,
        columns: Sequence[str] = (),
        encoding: str | None = None,
        theme: str = "auto",
        graph: bool = False,
    ) -> str:
        """The tree as SVG, with columns (`upos`, `lemma`, ...) and labels of an encoding under the words if named.

        With `graph`, the enhanced graph is drawn too.
        With a path, it is written there as well: as SVG, PNG or PDF, by its ending.
        """
        return str(HOOKS["draw"](self, path, columns=columns, encoding=encoding, theme=theme, graph=graph))

    def _repr_html_(self) -> str | None:
        """The tree as a notebook draws it; a sentence without one is shown as text."""
        try:
            return str(HOOKS["html"](self)) if self.is_parsed else None
        except FormatError:
            return None

    def check_tagged(self, purpose: str) -> None:
        """Raise an error at the first word without a universal part-of-speech tag, which `purpose` needs."""
        if "_" in self.upos:
            raise self.error_at(self.upos.index("_") + 1, f"{purpose} needs part-of-speech tags, and UPOS is '_'")

    def error_at(self, word: Node, message: str) -> FormatError:
        """An error that points to the line of a word or an empty node."""
        seen = 0
        for number, line in enumerate(self.raw.split("\n"), self.line):
            identity = line.strip("\ufeff").split("\t")[0]
            seen += identity.isdigit()
            if word in (seen, identity):
                return FormatError(self.path, number, message)
        return FormatError(self.path, self.line, message)

    def _head(self, word: int, head: str) -> int:
        if not (head.isascii() and head.isdigit()):
            raise self.error_at(word, f"expected a whole number as HEAD, found {head!r}")
        if len(head) > _LONGEST_NUMBER or int(head) > len(self):
            raise self.error_at(word, f"expected a HEAD from 0 to {len(self)}, found {head:.40}")
        return int(head)


def make_sentence(raw: str, rows: list[str], path: str, line: int, offset: int = 0) -> Sentence:
    """A sentence made without `__init__`, which takes twice as long: frozen dataclasses set attributes indirectly."""
    sentence = object.__new__(Sentence)
    values = sentence.__dict__
    values["raw"], values["rows"], values["path"], values["line"], values["offset"] = raw, rows, path, line, offset
    return sentence
