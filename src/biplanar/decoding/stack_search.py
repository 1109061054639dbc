"""The search over labels that move stacks: instead of each word's best label, the best that together are a tree."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from biplanar.data.arrays import Float32s, Float64s, Int8s, Int32s, Int64s
from biplanar.data.forest import offsets_of
from biplanar.decoding.arcs import LONGEST_TABLE
from biplanar.decoding.beam import Beam, Outcome
from biplanar.decoding.candidates import best_labels
from biplanar.decoding.lattice import searches
from biplanar.decoding.lattice.problem import STACKS_OF_ONE_PLANE, Problem, SearchLimits, Tables, make_problem
from biplanar.decoding.lattice.reading import best_trees, likely_arcs
from biplanar.decoding.scores import log_probabilities
from biplanar.decoding.sentences import ScoredSentences
from biplanar.decoding.spanning import spanning_tree
from biplanar.encodings.stacks import depth_tasks


@dataclass(frozen=True)
class Found:
    """What a search found for some sentences, whose words stand end to end."""

    labels: Int32s  # (2, words); each word's best labels where the search was lost
    heads: Int32s  # the trees; no heads at all where the search was lost
    lost: Int64s  # the numbers of those sentences
    outcome: Outcome


class StackSearch(ScoredSentences):
    """The trees of some sentences, by their labels and, where the network has scores of arcs, by these as well."""

    finds_several = True

    @cached_property
    def _tables(self) -> Tables:
        """The scores, as the compiled code takes them."""
        scores, tasks, words = self.scores, self.inventory.encoding.tasks, int(self.scores.offsets[-1])
        effects = self.inventory.label_effects  # refuses other numbers of tasks
        first, second = [*(scores.labels[task] for task in tasks), np.zeros((words, 1), dtype=np.float32)][:2]
        known = [scores.labels[name] for name in depth_tasks(tasks) if name in scores.labels]
        depths = np.stack(known) if known else np.zeros((0, words, 1), dtype=np.float32)
        heads, logs = np.zeros((words, 0), dtype=np.int32), np.zeros((words, 0), dtype=np.float32)
        if self.likely is not None:
            heads, logs = self.likely.heads, self.likely.logs
        labels = (effects, first, second, np.stack([best_labels(first), best_labels(second)]))
        weight = float(self.inventory.weights.arcs)
        return Tables(scores.offsets, *labels, scores.deprels, self.inventory.roots, depths, heads, logs, weight)

    def best(self) -> tuple[Int32s, Outcome]:
        """The best trees; where the search was lost, the best trees of the arcs alone, or else of greedy decoding."""
        found = self.search()
        lost = found.lost
        if self.likely is not None and found.outcome.argmax < len(self.scores.offsets) - 1:
            self._take_proposals(found)
            lost = lost[np.diff(self.scores.offsets)[lost] > LONGEST_TABLE]
        for sentence in lost:
            words = self.words(sentence)
            labels = list(found.labels[: len(self.inventory.encoding.tasks), words])
            found.heads[words] = self.repaired(labels, words)
        return found.heads, found.outcome

    def search(self) -> Found:
        """The best labels of every sentence that are a tree, wherever the search finds some, and how it ended."""
        labels, heads = self._tables.tops.copy(), np.zeros(self._tables.tops.shape[1], dtype=np.int32)
        outcomes = searches.settle_all(self._tables, heads)
        widened = self._search_left(outcomes, labels, heads) if outcomes.any() else 0
        is_lost = outcomes > searches.WITHOUT_CYCLES
        if is_lost.any():
            heads[np.repeat(is_lost, np.diff(self.scores.offsets))] = 0
        argmax, best, next_best, acyclic = np.bincount(outcomes, minlength=4)[:4].tolist()
        outcome = Outcome(argmax, best, next_best, acyclic, int(is_lost.sum()), widened)
        return Found(labels, heads, np.flatnonzero(is_lost), outcome)

    def _search_left(self, outcomes: Int8s, labels: Int32s, heads: Int32s) -> int:
        """Search sentences that are left, harder and harder, and count those that needed a wider search."""

        def search(how: Callable[..., None], beam: Beam, *options: bool) -> None:
            if (outcomes > searches.WITHOUT_CYCLES).any():
                how(outcomes, self._tables, beam.limits, labels, heads, *options)

        if self.likely is None:
            search(searches.search_left, self.beam)
            search(searches.search_further, self.beam, False)
            widened = outcomes > searches.WITHOUT_CYCLES
            search(searches.search_further, self.beam.widened, True)
        else:
            search(searches.search_left, self.beam.with_arcs)
            widened = outcomes == searches.FAR
            search(searches.search_further, self.beam.again_with_arcs, False)
        return int(widened.sum())

    def _take_proposals(self, found: Found) -> None:
        """Where arcs disagree with a tree, take their own best one if it is better, or if the search was lost."""
        lost = np.zeros(len(self.scores.offsets) - 1, dtype=np.bool_)
        lost[found.lost] = True
        sentences, heads = searches.propose(self._tables, lost, LONGEST_TABLE, found.labels, found.heads)
        if len(sentences):
            ids, known = self.inventory.labels_of(heads, offsets_of(np.diff(self.scores.offsets)[sentences]))
            labels = np.stack([*ids, np.zeros_like(heads)][:2])
            searches.accept(sentences, heads, known, labels, self._tables, found.labels, found.heads)

    def least_risk(self) -> tuple[Int32s, Outcome]:
        """Trees whose arcs are likeliest on average; of long sentences, the best trees."""
        heads, outcome = self.best()
        for start, end in pairwise(self.scores.offsets.tolist()):
            if end - start <= LONGEST_TABLE:
                (dependents, governors), likelihoods = self._likely_arcs(start, end)
                if len(likelihoods):
                    table = np.zeros((end - start, end - start + 1))
                    np.add.at(table, (dependents - 1, governors), likelihoods)
                    heads[start:end] = spanning_tree(table)
        return heads, outcome

    def probabilities(self, heads: Int32s) -> Float32s:
        """The share of each word's head, among all trees that there could be; NaN where no tree was found."""
        result = np.full(len(heads), np.nan, dtype=np.float32)
        for start, end in pairwise(self.scores.offsets.tolist()):
            (dependents, governors), likelihoods = self._likely_arcs(start, end)
            if len(likelihoods):
                likelihoods[heads[start:end][dependents - 1] != governors] = 0
                result[start:end] = np.bincount(dependents - 1, likelihoods, minlength=end - start)
        return result

    def _likely_arcs(self, start: int, end: int) -> tuple[Int32s, Float64s]:
        """Dependents and heads of the arcs of a sentence, and how likely they are; none where no tree was found."""
        share = 1 / self.inventory.weights.temperature
        found = (likely_arcs(start, end - start, *attempt, share) for attempt in self._attempts())
        arcs, likelihoods = next((pair for pair in found if len(pair[1])), (np.zeros((0, 2), np.int32), np.zeros(0)))
        return arcs.T, likelihoods

    def several(self, wanted: int) -> list[list[tuple[Int32s, float]]]:
        """For each sentence the heads of up to `wanted` different trees, best first, each with its log-probability.

        That is the one of the tree's best label sequence, and of its weighted arcs; label sequences that are no trees
        count in it as well.
        """
        return [self._several(start, end, wanted) for start, end in pairwise(self.scores.offsets.tolist())]

    def _several(self, start: int, end: int, wanted: int) -> list[tuple[Int32s, float]]:
        for problem, limits in self._attempts():
            trees, losses = best_trees(start, end - start, problem, limits, wanted)
            scores = self._best_score(problem, start, end) - losses
            if len(trees) >= wanted:
                break
        return list(zip(trees, scores.tolist(), strict=True))

    def _best_score(self, problem: Problem, start: int, end: int) -> float:
        """The log-probability of what loses nothing in a sentence."""
        own, total = slice(start, end), problem.best[start:end].sum()
        total += _best_logs(self.scores.deprels[own])
        counted = self._tables.depths if self.likely is None else self._tables.depths[:STACKS_OF_ONE_PLANE]
        total += self.beam.depth_weight * sum(_best_logs(table[own]) for table in counted)
        return float(total if self.likely is None else total + self._tables.weight * self.likely.logs[own, 0].sum())

    def _attempts(self) -> Iterator[tuple[Problem, SearchLimits]]:
        """What is known of all words, with states that know their stacks, as hard as it is searched, and harder."""
        every = np.ones(len(self.scores.offsets) - 1, dtype=np.bool_)
        for beam in (self.beam, self.beam.widened):
            if beam not in self._problems:
                self._problems[beam] = make_problem(every, self._tables, beam.limits, True)
            yield self._problems[beam], beam.limits

    @cached_property
    def _problems(self) -> dict[Beam, Problem]:
        """Those that were made."""
        return {}


def _best_logs(scores: Float32s) -> float:
    return float(log_probabilities(scores).max(axis=1).sum()) if len(scores) else 0.0
