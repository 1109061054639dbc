"""The scores of output columns as tables on the CPU."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from biplanar.data.arrays import Float32s, Int32s
from biplanar.decoding.candidates import best_labels


@dataclass(frozen=True)
class ColumnTables:
    """Scores by column: (words, labels)."""

    given: Mapping[str, Float32s]

    def best(self) -> dict[str, Int32s]:
        """Each word's best label."""
        return {name: best_labels(table) for name, table in self.given.items()}

    def tables(self) -> Mapping[str, Float32s]:
        """All scores."""
        return self.given
