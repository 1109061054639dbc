"""Several networks as one: their probabilities are averaged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from biplanar.data.arrays import Float32s, Int64s
from biplanar.decoding.arcs import KnownHeads, average_heads
from biplanar.decoding.scores import DEPREL, ColumnTables, Scores, log_probabilities
from biplanar.encodings.columns import COLUMNS
from biplanar.errors import BiplanarError
from biplanar.tagger.features import Batch
from biplanar.tagger.predict import Scorer

LEAST = 1e-9  # the probability of a label that a network does not know


@dataclass(frozen=True)
class Member:
    """A network, and what it calls its labels."""

    scorer: Scorer
    tasks: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class Ensemble:
    """A scorer that averages others. Its labels are `tasks`; a member's labels of other names are passed over.

    All members must have the tasks of trees. Output columns are averages over the members that predict them.
    """

    members: Sequence[Member]
    tasks: Mapping[str, tuple[str, ...]]
    decoding_threads: int = 1

    def __post_init__(self) -> None:
        for member in self.members:
            if missing := sorted(set(self.tasks) - set(member.tasks) - set(COLUMNS)):
                raise BiplanarError(f"not all of the models predict {missing[0]}")

    def represent(self, forms: Sequence[str]) -> list[Any]:
        """What each member wants."""
        return [member.scorer.represent(forms) for member in self.members]

    def score(self, forms: list[Any], batch: Batch) -> Scores:
        """Log-probabilities by task, and of heads and of relations given heads where all members have them."""
        found = [member.scorer.score(vectors, batch) for member, vectors in zip(self.members, forms, strict=True)]
        labels = {task: self._average(task, [one.labels[task] for one in found]) for task in self.trees}
        tables = [{} if one.columns is None else one.columns.tables() for one in found]
        columns = {task: self._average(task, [one.get(task) for one in tables]) for task in self.columns}

        def relate(governors: Int64s) -> Float32s:
            return self._average(DEPREL, [one.given_governors(governors) for one in found if one.given_governors])

        all_relate = all(scores.knows_heads for scores in found)
        all_columns = ColumnTables(columns) if columns else None
        heads = [one.arcs.likeliest() for one in found if one.arcs is not None]
        arcs = KnownHeads(average_heads(heads)) if len(heads) == len(found) else None
        return Scores(found[0].offsets, labels, relate if all_relate else None, all_columns, arcs)

    @cached_property
    def trees(self) -> tuple[str, ...]:
        """The tasks of trees."""
        return tuple(task for task in self.tasks if task not in COLUMNS)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The output columns that any member predicts."""
        return tuple(task for task in self.tasks if task in COLUMNS and any(task in one.tasks for one in self.members))

    def _average(self, task: str, tables: Sequence[Float32s | None]) -> Float32s:
        """Log-probabilities of the ensemble's labels, from scores of the members', as far as these have any."""
        words = next(len(table) for table in tables if table is not None)
        total = np.full((words, len(self.tasks[task])), LEAST, dtype=np.float32)
        for (ours, theirs), table in zip(self._shared[task], tables, strict=True):
            if table is not None:
                total[:, ours] += np.exp(log_probabilities(table)[:, theirs])
        return np.asarray(np.log(total / total.sum(axis=1, keepdims=True)))

    @cached_property
    def _shared(self) -> dict[str, list[tuple[list[int], list[int]]]]:
        """By task and member: the numbers of the labels that both have, here and there."""
        shared: dict[str, list[tuple[list[int], list[int]]]] = {}
        for task, names in self.tasks.items():
            numbers = {name: number for number, name in enumerate(names)}
            pairs = (
                [(numbers[name], there) for there, name in enumerate(member.tasks.get(task, ())) if name in numbers]
                for member in self.members
            )
            shared[task] = [([ours for ours, _ in some], [theirs for _, theirs in some]) for some in pairs]
        return shared
