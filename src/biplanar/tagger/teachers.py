"""Teachers: several networks as one, whose probabilities are averaged, and the soft targets that they give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from biplanar.data.arrays import Float32s, Int32s, Int64s
from biplanar.decoding.arcs import average_heads
from biplanar.decoding.scores import DEPREL, ColumnTables, LikelyHeads, Scores, log_probabilities
from biplanar.encodings.columns import COLUMNS
from biplanar.errors import BiplanarError
from biplanar.tagger.features import Batch, Corpus, Shared, batches_by_words, shared_numbers
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
        arcs = average_heads(heads) if len(heads) == len(found) else None
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
    def _shared(self) -> dict[str, list[Shared]]:
        """By task and member: the numbers of the labels that both have."""
        return {
            task: [shared_numbers(names, member.tasks.get(task, ())) for member in self.members]
            for task, names in self.tasks.items()
        }


# The labels of a word that are kept with their probabilities: all others together seldom reach 0.001.
MOST_LABELS = 8

# What the relations given the head are called beside the tasks.
RELATION = "relation"

# What heads are called beside the tasks: their labels are 0 for the root, or a word's number.
ARCS = "arcs"


@dataclass(frozen=True)
class SoftTargets:
    """The likeliest labels of each word in one task, in any order, and their probabilities, which add up to 1."""

    labels: Int64s  # (words, MOST_LABELS or fewer)
    probabilities: Float32s


def soft_targets(teacher: Scorer, corpus: Corpus, heads: Int32s, batch_words: int) -> dict[str, SoftTargets]:
    """A teacher's targets for all words of a corpus: by task, and for the relations to the heads that they have."""
    forms = teacher.represent(corpus.forms)
    parts: dict[str, list[SoftTargets]] = {}
    places = []
    for chosen in batches_by_words(corpus.lengths, batch_words, np.argsort(corpus.lengths, kind="stable")):
        scores = teacher.score(forms, corpus.batch(chosen))
        places.append(corpus.places(chosen))
        tables = {**scores.labels, **({} if scores.columns is None else scores.columns.tables())}
        if scores.knows_heads:
            tables[RELATION] = scores.relate(heads[places[-1]])
        for task, table in tables.items():
            parts.setdefault(task, []).append(_likeliest(table))
        if scores.arcs is not None:
            parts.setdefault(ARCS, []).append(_likely_heads(scores.arcs.likeliest()))
    order = np.argsort(np.concatenate(places))
    return {task: _joined(targets, order) for task, targets in parts.items()}


def _likeliest(scores: Float32s) -> SoftTargets:
    most = min(MOST_LABELS, scores.shape[1])
    probabilities = np.exp(log_probabilities(scores))
    labels = np.argpartition(-probabilities, most - 1, axis=1)[:, :most]
    kept = np.take_along_axis(probabilities, labels, axis=1)
    return SoftTargets(labels, kept / kept.sum(axis=1, keepdims=True))


def _likely_heads(found: LikelyHeads) -> SoftTargets:
    kept = np.exp(found.logs)
    return SoftTargets(np.maximum(found.heads, 0).astype(np.int64), kept / kept.sum(axis=1, keepdims=True))


def _joined(parts: Sequence[SoftTargets], order: Int64s) -> SoftTargets:
    labels, probabilities = (
        np.concatenate([getattr(part, name) for part in parts])[order] for name in ("labels", "probabilities")
    )
    return SoftTargets(labels, probabilities)
