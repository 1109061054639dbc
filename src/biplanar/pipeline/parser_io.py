"""What goes into a parser and what comes out: as bytes where CoNLL-U is plainly laid out, else as objects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import isnan
from typing import TypeVar

import numpy as np

from biplanar.data import conllu
from biplanar.data.conllu import DEPS, EMPTY, FEATS, RawConllu, Sentence
from biplanar.data.conllu_bytes import ConlluTable
from biplanar.data.forest import Column, Forest
from biplanar.data.words import PROBABILITY
from biplanar.decoding.inventory import LabelInventory
from biplanar.decoding.tree_decoder import Parsed
from biplanar.encodings.columns import COLUMNS, graph_column
from biplanar.encodings.lemmas import LemmaDictionary
from biplanar.encodings.relations import AnnotatedTrees
from biplanar.tagger.features import Corpus

T = TypeVar("T")


@dataclass(frozen=True)
class ParserInput:
    """Either bytes with the places of their columns, or sentences."""

    table: ConlluTable | None
    sentences: list[Sentence] = field(default_factory=list)

    @classmethod
    def of(cls, content: Sequence[RawConllu] | ConlluTable, fits: Callable[[ConlluTable], bool]) -> ParserInput:
        """Read some CoNLL-U: as bytes if it can be and fits, else as sentences, whose errors are raised."""
        if isinstance(content, ConlluTable):
            table: ConlluTable | None = content
        else:
            table = ConlluTable.of(b"".join([block.data for block in content]))
        if table is not None and fits(table):
            _ = table.forms  # numbered here, as reading may happen elsewhere than parsing
            return cls(table)
        blocks = [RawConllu(content.data)] if isinstance(content, ConlluTable) else content
        return cls(None, [sentence for block in blocks for sentence in block.sentences()])

    def __len__(self) -> int:
        return len(self.sentences) if self.table is None else len(self.table)

    @cached_property
    def corpus(self) -> Corpus:
        """The words."""
        if self.table is None:
            return Corpus.of(sentence.forms for sentence in self.sentences)
        forms = self.table.forms
        return Corpus(forms.names, forms.ids.astype(np.int64), self.table.offsets)

    @property
    def upos(self) -> Column:
        """Their tags."""
        return self.column(conllu.UPOS)

    def column(self, number: int) -> Column:
        """Their values in a column that may be filled."""
        if self.table is None:
            return Column.of(value for sentence in self.sentences for value in sentence.column(number))
        return self.table.upos if number == conllu.UPOS else self.table.column(number)


@dataclass(frozen=True)
class ParserOutput:
    """Sentences with what was found for them, as arrays; they are written as bytes or made objects when asked for."""

    given: ParserInput
    parsed: Parsed
    inventory: LabelInventory
    lemmas: LemmaDictionary | None  # known ones, which replace predicted ones
    retag: bool  # whether predicted columns replace those of the input

    def to_conllu(self) -> bytes:
        """As CoNLL-U."""
        if self.given.table is not None:
            return self.given.table.with_trees(self.parsed.heads, self.deprels, self.columns, replace=self.retag)
        return "".join([sentence.raw for sentence in self.sentences()]).encode()

    def sentences(self) -> Iterator[Sentence]:
        """One by one."""
        parsed, values = self.parsed, {number: column.labels() for number, column in self.columns.items()}
        arcs = {conllu.HEAD: list(map(str, parsed.heads.tolist())), conllu.DEPREL: self.deprels.labels()}
        for sentence, start in zip(self.given.sentences, self.given.corpus.offsets[:-1].tolist(), strict=True):
            words = slice(start, start + len(sentence))
            own = {number: column[words] for number, column in values.items()}
            tree = {number: column[words] for number, column in arcs.items()}
            result = sentence.with_columns(tree | (own if self.retag else _missing(sentence, own)))
            if parsed.probabilities is not None:
                likely = parsed.probabilities[words].tolist()
                result = result.with_misc(PROBABILITY, [None if isnan(one) else f"{one:.3f}" for one in likely])
            elif PROBABILITY in sentence.raw:  # of another tree
                result = result.with_misc(PROBABILITY, [None] * len(sentence))
            yield result

    @property
    def deprels(self) -> Column:
        """The relations of all words."""
        return Column(self.parsed.relations, self.inventory.deprels)

    @cached_property
    def columns(self) -> dict[int, Column]:
        """What was predicted beside the trees, by the number of the column."""
        if not self.parsed.columns:
            return {}
        corpus = self.given.corpus
        forms = Column(corpus.words.astype(np.int32), tuple(corpus.forms))
        labels = {name: Column(ids, self.inventory.names[name]) for name, ids in self.parsed.columns.items()}
        values = {COLUMNS[name].number: COLUMNS[name].decode(column, forms) for name, column in labels.items()}
        if self.lemmas is not None and {conllu.LEMMA, conllu.UPOS} <= set(values):
            values[conllu.LEMMA] = self.lemmas.look_up(values[conllu.LEMMA], values[conllu.UPOS], forms)
        if DEPS in values:
            forest = Forest(self.given.corpus.offsets, self.parsed.heads, self.deprels)
            lemmas, feats = (self._in_the_end(number, values.get(number)) for number in (conllu.LEMMA, FEATS))
            values[DEPS] = graph_column(labels, AnnotatedTrees(forest, lemmas, feats))
        return values

    def _in_the_end(self, number: int, predicted: Column | None) -> Column:
        """What a column has once it is filled."""
        given = self.given.column(number)
        if predicted is None or EMPTY not in given.names:
            return given
        if self.retag or len(given.names) == 1:
            return predicted
        missing = given.ids == given.names.index(EMPTY)
        if number == FEATS:
            offsets = self.given.corpus.offsets
            missing = np.repeat(np.logical_and.reduceat(missing, offsets[:-1]), np.diff(offsets))
        return Column(np.where(missing, len(given.names) + predicted.ids, given.ids), given.names + predicted.names)


def _missing(sentence: Sentence, values: Mapping[int, list[str]]) -> dict[int, list[str]]:
    """Values for the columns in which words have none, with those that they have.

    No features are a value as well, if other words of the sentence have some.
    """
    missing = {}
    for number, new in values.items():
        old = sentence.column(number)
        if number == DEPS:  # it belongs to the tree
            missing[number] = new
        elif EMPTY in old and not (number == FEATS and any(one != EMPTY for one in old)):
            missing[number] = [value if one == EMPTY else one for one, value in zip(old, new, strict=True)]
    return missing


def chunked(items: Iterable[T], size: Callable[[T], int], enough: Callable[[int], int]) -> Iterator[list[T]]:
    """Lists of items that are large enough together, which may depend on the size of all before."""
    chunk: list[T] = []
    total = before = 0
    for item in items:
        chunk.append(item)
        total += size(item)
        if total - before >= enough(before):
            yield chunk
            chunk, before = [], total
    if chunk:
        yield chunk
