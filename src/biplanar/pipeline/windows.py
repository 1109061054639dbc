"""Sentences that are parsed together: bytes in one piece where they are plainly laid out, else one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from biplanar.data.conllu import Block, Sentence
from biplanar.data.conllu_bytes import Chunk
from biplanar.data.forest import Column
from biplanar.tagger.features import Corpus

T = TypeVar("T")


@dataclass(frozen=True)
class Window:
    """Either a chunk or sentences."""

    chunk: Chunk | None
    sentences: list[Sentence] = field(default_factory=list)

    @classmethod
    def of(cls, blocks: Sequence[Block], fits: Callable[[Chunk], bool]) -> Window:
        """Read some blocks: as a chunk if they can be one that fits, else as sentences, whose errors are raised."""
        chunk = Chunk.of(b"".join([block.data for block in blocks]))
        if chunk is not None and fits(chunk):
            _ = chunk.forms  # numbered here, as reading may happen elsewhere than parsing
            return cls(chunk)
        return cls(None, [sentence for block in blocks for sentence in block.sentences()])

    def __len__(self) -> int:
        return len(self.sentences) if self.chunk is None else len(self.chunk)

    @property
    def corpus(self) -> Corpus:
        """The words."""
        if self.chunk is None:
            return Corpus.of(sentence.forms for sentence in self.sentences)
        forms = self.chunk.forms
        return Corpus(forms.names, forms.ids.astype(np.int64), self.chunk.offsets)

    @property
    def upos(self) -> Column:
        """Their tags."""
        if self.chunk is None:
            return Column.of(tag for sentence in self.sentences for tag in sentence.upos)
        return self.chunk.upos


def gather(items: Iterable[T], size: Callable[[T], int], enough: Callable[[int], int]) -> Iterator[list[T]]:
    """Groups of items that are large enough together, which may depend on the size of all groups before."""
    group: list[T] = []
    total = before = 0
    for item in items:
        group.append(item)
        total += size(item)
        if total - before >= enough(before):
            yield group
            group, before = [], total
    if group:
        yield group
