"""The searches, by the kind of labels. To add one for another kind is a subclass, and one line here.

Labels that each name a head need no lattice: their scores are scores of arcs, and the best tree spans them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from biplanar.data.arrays import Float32s, Float64s, Int32s
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
        return _joined(spanning_tree(table) for table in self._tables()), Outcome(best=len(self.scores.offsets) - 1)

    def least_risk(self) -> tuple[Int32s, Outcome]:
        """The trees whose arcs have the highest probabilities on average."""
        return _joined(spanning_tree(np.exp(table)) for table in self._tables()), Outcome(
            best=len(self.scores.offsets) - 1
        )

    def probabilities(self, heads: Int32s) -> Float32s:
        """How likely each word's head is, by its labels and arcs."""
        own = zip(pairwise(self.scores.offsets), self._tables(), strict=True)
        parts = [_softmax(table)[np.arange(end - start), heads[start:end]] for (start, end), table in own]
        return np.concatenate([np.zeros(0), *parts]).astype(np.float32)

    def _tables(self) -> Iterator[Float64s]:
        """The log-probabilities of all heads, by sentence: (words, 1 + words). Labels of one head are added up."""
        self.inventory.check_tasks(1, "one task whose labels name heads")
        encoding, offsets, (task,) = self.inventory.encoding, self.scores.offsets, self.inventory.encoding.tasks
        labels = log_probabilities(self.scores.labels[task])
        table = np.full((len(labels), int(np.diff(offsets).max(initial=0)) + 1), -np.inf)
        for label in range(len(self.inventory.names[task])):
            column = Column(np.full(len(labels), label, dtype=np.int32), self.inventory.names[task])
            heads = encoding.decode([column], offsets, self.upos)
            at = np.flatnonzero(heads >= 0)
            table[at, heads[at]] = np.logaddexp(table[at, heads[at]], labels[at, label])
        relations, roots = best_relations(self.scores.deprels, self.inventory.roots)
        table[:, 0] += roots
        table[:, 1:] += relations[:, None]
        for start, end in pairwise(offsets.tolist()):
            own = table[start:end, : end - start + 1]
            if self.likely is not None:
                own = own + self.inventory.weights.arcs * head_table(self.likely, slice(start, end))
            yield own


def _joined(trees: Iterator[Int32s]) -> Int32s:
    return np.concatenate([np.zeros(0, dtype=np.int32), *trees])


def _softmax(table: Float64s) -> Float64s:
    exponentials = np.exp(table - table.max(axis=1, keepdims=True))
    return np.asarray(exponentials / exponentials.sum(axis=1, keepdims=True))


SEARCHES: dict[str | None, type[ScoredSentences]] = {STACKS: StackSearch, HEADS: HeadSearch, AUTOMATON: AutomatonSearch}


def is_searchable(encoding: Encoding) -> bool:
    """Whether there is a search for the kind of labels."""
    return kind_of(encoding) in SEARCHES


def finds_several_trees(encoding: Encoding) -> bool:
    """Whether several trees of a sentence can be found."""
    return SEARCHES.get(kind_of(encoding), ScoredSentences).finds_several
