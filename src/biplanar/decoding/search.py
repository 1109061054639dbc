"""The searches, by the kind of labels. To add one for another kind is a subclass, and one line here.

Labels that each name a head need no lattice: their scores are scores of arcs, and the best tree spans them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from biplanar.data.arrays import Float32s, Float64s, Int32s, Int64s
from biplanar.data.forest import Column
from biplanar.decoding.arcs import head_table
from biplanar.decoding.automaton_search import AutomatonSearch
from biplanar.decoding.beam import Outcome
from biplanar.decoding.candidates import best_relations
from biplanar.decoding.scores import log_probabilities
from biplanar.decoding.sentences import ScoredSentences
from biplanar.decoding.spanning import spanning_tree
from biplanar.decoding.stack_search import StackSearch
from biplanar.encodings.encoding import AUTOMATON, HEADS, STACKS, Encoding, kind_of


class HeadSearch(ScoredSentences):
    """The search over some sentences' labels. It is exact, whatever the beam."""

    def best(self) -> tuple[Int32s, Outcome]:
        """The trees whose labels have the highest probability together."""
        return _joined(spanning_tree(table) for table in self._tables()), Outcome()

    def least_risk(self) -> tuple[Int32s, Outcome]:
        """The trees whose arcs have the highest probabilities on average."""
        return _joined(spanning_tree(np.exp(table)) for table in self._tables()), Outcome()

    def probabilities(self, heads: Int32s) -> Float32s:
        """How likely each word's head is, by its labels and arcs."""
        own = zip(pairwise(self.scores.offsets), self._tables(), strict=True)
        parts = [_softmax(table)[np.arange(end - start), heads[start:end]] for (start, end), table in own]
        return np.concatenate([np.zeros(0), *parts]).astype(np.float32)

    def _tables(self) -> Iterator[Float64s]:
        self.inventory.check_tasks(1, "one task whose labels name heads")
        encoding, scores, likely = self.inventory.encoding, self.scores, self.likely
        (task,) = encoding.tasks
        labels = log_probabilities(scores.labels[task])
        relations, roots = best_relations(scores.deprels, self.inventory.roots)
        tables = head_scores(encoding, self.inventory.names[task], labels, relations, roots, scores.offsets, self.upos)
        if likely is None:
            return tables
        weight, places = self.inventory.weights.arcs, pairwise(scores.offsets.tolist())
        return (table + weight * head_table(likely, slice(*own)) for table, own in zip(tables, places, strict=True))


def _joined(trees: Iterator[Int32s]) -> Int32s:
    return np.concatenate([np.zeros(0, dtype=np.int32), *trees])


def _softmax(table: Float64s) -> Float64s:
    exponentials = np.exp(table - table.max(axis=1, keepdims=True))
    return np.asarray(exponentials / exponentials.sum(axis=1, keepdims=True))


def head_scores(
    encoding: Encoding,
    names: tuple[str, ...],
    labels: Float32s,
    relations: Float32s,
    roots: Float32s,
    offsets: Int64s,
    upos: Column | None,
) -> Iterator[Float64s]:
    """The log-probability of every head of every word, sentence by sentence: (words, 1 + words), the root first.

    `labels` are the log-probabilities of labels (words, labels); those that name the same head are added up.
    `relations` and `roots` are the log-probabilities of each word's best relation if it has a head, and if it is root.
    """
    words, lengths = int(offsets[-1]), np.diff(offsets)
    table = np.full((words, int(lengths.max(initial=0)) + 1), -np.inf)
    for label in range(len(names)):
        column = Column(np.full(words, label, dtype=np.int32), names)
        heads = encoding.decode([column], offsets, upos)
        at = np.flatnonzero(heads >= 0)
        table[at, heads[at]] = np.logaddexp(table[at, heads[at]], labels[at, label])
    table[:, 0] += roots
    table[:, 1:] += relations[:, None]
    return (table[start:end, : end - start + 1] for start, end in pairwise(offsets))


SEARCHES: dict[str | None, type[ScoredSentences]] = {STACKS: StackSearch, HEADS: HeadSearch, AUTOMATON: AutomatonSearch}


def is_searchable(encoding: Encoding) -> bool:
    """Whether there is a search for the kind of labels."""
    return kind_of(encoding) in SEARCHES


def finds_several_trees(encoding: Encoding) -> bool:
    """Whether several trees of a sentence can be found."""
    return SEARCHES.get(kind_of(encoding), ScoredSentences).finds_several
