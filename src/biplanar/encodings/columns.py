"""Output columns: values of a CoNLL-U column as labels, which the network predicts beside those of the tree.

To add one is a class like `WholeValues`, and one line in `COLUMNS`; the setting `network.columns` switches it on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from biplanar.data.conllu import UPOS, Sentence
from biplanar.data.forest import Column
from biplanar.errors import UnknownNameError


class OutputColumn(Protocol):
    """What fills a column."""

    @property
    def name(self) -> str:
        """The name in `COLUMNS`, and that of the network's task."""

    @property
    def number(self) -> int:
        """Which column of CoNLL-U it fills: `UPOS`, ..."""

    def encode(self, sentences: Sequence[Sentence]) -> Column:
        """The label of each word of some sentences, end to end."""

    def decode(self, labels: Column, forms: Sequence[str]) -> list[str]:
        """The value of each word, from its label and its form."""


@dataclass(frozen=True)
class WholeValues:
    """Each value of a column is a label."""

    name: str
    number: int

    def encode(self, sentences: Sequence[Sentence]) -> Column:
        """The values themselves."""
        return Column.of(value for sentence in sentences for value in sentence.column(self.number))

    def decode(self, labels: Column, forms: Sequence[str]) -> list[str]:
        """The labels themselves."""
        return labels.labels()


_ALL: tuple[OutputColumn, ...] = (WholeValues("upos", UPOS),)
COLUMNS: dict[str, OutputColumn] = {column.name: column for column in _ALL}


def get_columns(names: str) -> list[OutputColumn]:
    """The columns of some names, with commas between."""
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    for name in wanted:
        if name not in COLUMNS:
            raise UnknownNameError("column", name, COLUMNS)
    return [COLUMNS[name] for name in wanted]
