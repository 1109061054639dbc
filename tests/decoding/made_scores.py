"""Scores made by hand: nearly sure of the labels of two sentences."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from biplanar.data.forest import Column, Forest
from biplanar.data.tree import Tree
from biplanar.decoding.inventory import LabelInventory
from biplanar.decoding.scores import ColumnTables, Scores
from biplanar.encodings import Encoding
from biplanar.encodings.lifting import lift

# The second with crossing arcs.
TREES = (
    Tree((2, 0, 4, 2), ("nsubj", "root", "det", "obj")),
    Tree((2, 4, 1, 0, 1), ("det", "nsubj", "acl", "root", "punct")),
)
TAGS = ("PRON", "VERB", "DET", "NOUN", "NOUN", "ADJ", "ADV", "VERB", "PUNCT")
UPOS = Column.of(TAGS)
FOREST = Forest.from_trees(TREES, [TAGS[:4], TAGS[4:]])
HEADS = FOREST.heads.tolist()
DEPRELS = FOREST.deprels.labels()


class MadeScores:
    """Tables that are nearly sure of the right labels; whoever doubts some of them changes the tables."""

    def __init__(self, encoding: Encoding, *, sure: float = 8.0, forest: Forest = FOREST) -> None:
        self.forest = forest
        columns = dict(zip(encoding.tasks, encoding.encode(forest), strict=True))
        columns |= {"deprel": lift(encoding, forest).deprels}
        names, self.tables = {}, dict[str, np.ndarray]()
        for task, column in columns.items():
            labels = column.labels()
            names[task] = tuple(sorted(set(labels)))
            table = np.zeros((len(labels), len(names[task])), dtype=np.float32)
            table[np.arange(len(labels)), [names[task].index(label) for label in labels]] = sure
            self.tables[task] = table
        self.inventory = LabelInventory(encoding, names)
        self.columns: ColumnTables | None = None

    def scores(self, given_governors: Callable[[np.ndarray], np.ndarray] | None = None) -> Scores:
        """Of all sentences."""
        return Scores(self.forest.offsets, self.tables, given_governors, self.columns)

    def first(self) -> Scores:
        """Of the first sentence."""
        end = len(TREES[0])
        return Scores(FOREST.offsets[:2], {task: table[:end] for task, table in self.tables.items()})

    def names_of(self, relations: np.ndarray) -> list[str]:
        """Relations by name."""
        return [self.inventory.deprels[relation] for relation in relations]


def noise_like(tables: dict[str, np.ndarray], seed: int) -> dict[str, np.ndarray]:
    """Other tables of the same shapes."""
    rng = np.random.default_rng(seed)
    return {task: rng.normal(size=table.shape).astype(np.float32) for task, table in tables.items()}
