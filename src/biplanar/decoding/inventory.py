"""The labels of one model: its encoding, and what its labels are called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import cast

import numpy as np

from biplanar.data.arrays import Bools, Int32s, Int64s
from biplanar.data.forest import Column, Forest
from biplanar.decoding.lattice.states import LabelEffects, describe_labels
from biplanar.decoding.scores import DEPREL
from biplanar.encodings import Encoding
from biplanar.encodings.automata import Automaton, AutomatonEncoding
from biplanar.encodings.columns import COLUMNS, column_of
from biplanar.encodings.lifting import base_relation, lifting_of
from biplanar.encodings.stacks import StackEncoding
from biplanar.errors import LabelError, TreeError

ROOT = "root"
UPOS = "upos"  # the output column that some encodings need


@dataclass(frozen=True)
class Weights:
    """What decoding makes of a model's scores; training chooses it on the dev file."""

    arcs: float = 2.0  # how much arc scores count beside labels; 0: not at all
    temperature: float = 3.0  # by which scores of trees are divided, where trees are added up
    # Of probabilities, see `decoding.calibration`: of the share of trees with a head, and of the arc's own probability.
    tree_slope: float = 1.0
    arc_slope: float = 0.0


@dataclass(frozen=True)
class LabelInventory:
    """The labels that a model chooses from."""

    encoding: Encoding
    names: Mapping[str, tuple[str, ...]]  # the labels of each task, relations among them
    weights: Weights = field(default_factory=Weights)

    @cached_property
    def deprels(self) -> tuple[str, ...]:
        """The relations of trees; if the encoding lifts, the scored ones and behind them what these stand for."""
        scored = self.names[DEPREL]
        if lifting_of(self.encoding) is None:
            return scored
        return tuple(dict.fromkeys((*scored, *map(base_relation, scored))))

    @cached_property
    def roots(self) -> Bools:
        """Which scored relations are the root's, subtypes included."""
        return np.array([is_root_like(name) for name in self.names[DEPREL]])

    @cached_property
    def output_columns(self) -> tuple[str, ...]:
        """The names of the CoNLL-U columns that the model predicts beside the tree."""
        return tuple(dict.fromkeys(column_of(name) for name in self.names if name in COLUMNS))

    @cached_property
    def output_numbers(self) -> tuple[int, ...]:
        """The numbers of these columns in CoNLL-U."""
        return tuple(dict.fromkeys(COLUMNS[name].number for name in self.names if name in COLUMNS))

    @property
    def needs_tagger(self) -> bool:
        """Whether the encoding needs part-of-speech tags that the model does not predict."""
        return self.encoding.needs_upos and UPOS not in self.names

    def heads_of(self, labels: Sequence[Int32s], offsets: Int64s, upos: Column | None = None) -> Int32s:
        """The heads that labels of the encoding's tasks say, -1 where they say none.

        An encoding reads the names of all labels, of which there may be thousands, so it is given those that are used.
        """
        tasks = zip(labels, self.encoding.tasks, strict=True)
        columns = [Column(ids, self.names[task]).without_unused() for ids, task in tasks]
        return self.encoding.decode(columns, offsets, upos)

    def labels_of(self, heads: Int32s, offsets: Int64s) -> tuple[list[Int32s], Bools]:
        """The labels of some trees, by task, -1 for unknown ones, and which trees have known labels only.

        An encoding may refuse a tree, which then has none.
        """
        try:
            return self._encoded(heads, offsets)
        except (TreeError, LabelError):
            ids = [np.full(len(heads), -1, dtype=np.int32) for _ in self.encoding.tasks]
            known = np.zeros(len(offsets) - 1, dtype=np.bool_)
        for tree, (start, end) in enumerate(pairwise(offsets.tolist())):
            with suppress(TreeError, LabelError):
                labels, known[tree : tree + 1] = self._encoded(heads[start:end], np.array([0, end - start]))
                for own, found in zip(ids, labels, strict=True):
                    own[start:end] = found
        return ids, known

    def _encoded(self, heads: Int32s, offsets: Int64s) -> tuple[list[Int32s], Bools]:
        relations, ids = Column(np.zeros(len(heads), dtype=np.int32), ("_",)), list[Int32s]()
        columns = self.encoding.encode(Forest(offsets, heads, relations))
        for task, column in zip(self.encoding.tasks, columns, strict=True):
            numbers = self._numbers[task]
            ids.append(np.array([numbers.get(name, -1) for name in column.names], dtype=np.int32)[column.ids])
        return ids, np.minimum.reduceat(np.minimum.reduce(ids), offsets[:-1]) >= 0

    @cached_property
    def _numbers(self) -> Mapping[str, Mapping[str, int]]:
        """The labels' numbers, by task and name."""
        tasks = self.encoding.tasks
        return {task: {name: number for number, name in enumerate(self.names[task])} for task in tasks}

    @cached_property
    def label_effects(self) -> LabelEffects:
        """What labels that move stacks do."""
        self.check_tasks(2, "one or two tasks whose labels move stacks")
        encoding = cast(StackEncoding, self.encoding)
        return describe_labels(encoding.moves([self.names[task] for task in encoding.tasks]))

    @cached_property
    def automaton(self) -> Automaton:
        """What labels that drive an automaton do."""
        self.check_tasks(1, "one task whose labels drive an automaton")
        return cast(AutomatonEncoding, self.encoding).automaton(self.names[self.encoding.tasks[0]])

    def check_tasks(self, most: int, wanted: str) -> None:
        """Refuse an encoding that has no task, or more than a search takes."""
        tasks = self.encoding.tasks
        if not 1 <= len(tasks) <= most:
            raise LabelError(f"{self.encoding.name} cannot be searched: it needs {wanted}, and has {len(tasks)}")


def is_root_like(deprel: str) -> bool:
    """Whether a relation is `root` or one of its subtypes."""
    return deprel.partition(":")[0] == ROOT
