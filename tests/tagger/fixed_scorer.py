"""A scorer made by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from biplanar.data.forest import offsets_of
from biplanar.decoding.scores import Scores
from biplanar.tagger.features import Batch
from tests.decoding.arc_tables import likeliest, log_table

Tables = dict[str, list[float]]  # by task


@dataclass(frozen=True)
class FixedScorer:
    """Scores of a word depend on its form only, those of relations on its form and its head's, of heads on theirs."""

    by_form: dict[str, Tables]
    as_dependent: dict[str, list[float]] | None = None
    as_head: dict[str, list[float]] | None = None
    as_root: float = 9.0
    in_arcs: dict[str, float] | None = None  # how good a form is as any word's head; the root's score is 0
    decoding_threads: int = 1

    def represent(self, forms: Sequence[str]) -> Sequence[str]:
        return forms

    def score(self, forms: Sequence[str], batch: Batch) -> Scores:
        words = [forms[number] for number in batch.words[batch.mask]]
        tasks = next(iter(self.by_form.values()))
        labels = {task: np.array([self.by_form[word][task] for word in words], dtype=np.float32) for task in tasks}

        def relate(governors: np.ndarray) -> np.ndarray:
            dependents = np.array([self.as_dependent[word] for word in words], dtype=np.float32)
            heads = np.array([self.as_head[word] for word in words], dtype=np.float32)
            root = np.full((1, heads.shape[1]), self.as_root, dtype=np.float32)
            return np.concatenate([root, heads])[governors] + dependents

        offsets = offsets_of(batch.lengths)
        sentences = [words[start:end] for start, end in pairwise(offsets)]
        arcs = None if self.in_arcs is None else likeliest([self.arcs_of(one) for one in sentences])
        return Scores(offsets, labels, relate if self.as_dependent else None, arcs=arcs)

    def arcs_of(self, words: Sequence[str]) -> np.ndarray:
        """The log-probabilities of all heads of a sentence's words."""
        return log_table(np.tile([0.0, *(self.in_arcs[word] for word in words)], (len(words), 1)))


def log(*probabilities: float) -> list[float]:
    return np.log(probabilities).tolist()


TASKS = {"plane1": ("x", "y", "z"), "deprel": ("root", "obj")}
ONE = FixedScorer(
    {
        "a": {"plane1": log(0.5, 0.25, 0.25), "deprel": log(0.9, 0.1)},
        "b": {"plane1": log(0.1, 0.1, 0.8), "deprel": log(0.2, 0.8)},
    },
    as_dependent={"a": [1, 0], "b": [2, 0]},
    as_head={"a": [0, 1], "b": [0, 2]},
)
