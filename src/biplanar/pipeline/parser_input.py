"""Sentences that are parsed together: as bytes where they are plainly laid out, else as objects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

import numpy as np

from biplanar.data.conllu import RawConllu, Sentence
from biplanar.data.conllu_bytes import ConlluTable
from biplanar.data.forest import Column
from biplanar.tagger.features import Corpus

T = TypeVar("T")


@dataclass(frozen=True)
class ParserInput:
    """Either bytes with the places of their columns, or sentences."""

    table: ConlluTable | None
    sentences: list[Sentence] = field(default_factory=list)

    @classmethod
    def of(cls, blocks: Sequence[RawConllu], fits: Callable[[ConlluTable], bool]) -> ParserInput:
        """Read some CoNLL-U: as bytes if it can be and fits, else as sentences, whose errors are raised."""
        table = ConlluTable.of(b"".join([block.data for block in blocks]))
        if table is not None and fits(table):
            _ = table.forms  # numbered here, as reading may happen elsewhere than parsing
            return cls(table)
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
        if self.table is None:
            return Column.of(tag for sentence in self.sentences for tag in sentence.upos)
        return self.table.upos


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
