"""The search over labels that move stacks: instead of each word's best label, the best that together are a tree."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from biplanar.data.arrays import Float32s, Float64s, Int32s, Int64s
from biplanar.data.forest import words_of
from biplanar.decoding.arcs import LONGEST_TABLE, arc_trees, log_probability_of
from biplanar.decoding.beam import Beam, Outcome
from biplanar.decoding.candidates import SECOND_PLANE, best_relations, find_tops, top_candidates
from biplanar.decoding.lattice import searches
from biplanar.decoding.lattice.arcs import Arcs, agree, no_arcs, weigh_arcs
from biplanar.decoding.lattice.pairs import Problem, SearchLimits
from biplanar.decoding.lattice.states import LabelEffects
from biplanar.decoding.lattice.trees import argmax_trees
from biplanar.decoding.scores import NEARLY, LikelyHeads
from biplanar.decoding.sentences import ScoredSentences
from biplanar.decoding.spanning import spanning_tree

# The weights of the planes' labels with arc scores, as in the search.
PLANES = (np.float32(1.0), SECOND_PLANE)


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

    @property
    def labels(self) -> LabelEffects:
        """What the labels do."""
        return self.inventory.label_effects

    def best(self) -> tuple[Int32s, Outcome]:
        """The best trees; where the search was lost, the best trees of the arcs alone, or else of greedy decoding."""
        found = self.search()
        lost = found.lost
        if self.likely is not None:
            self._take_proposals(found, self.likely)
            lost = lost[np.diff(self.scores.offsets)[lost] > LONGEST_TABLE]
        for sentence in lost:
            words = self.words(sentence)
            labels = list(found.labels[: len(self.inventory.encoding.tasks), words])
            found.heads[words] = self.repaired(labels, words)
        return found.heads, found.outcome

    def search(self) -> Found:
        """The best labels of every sentence that are a tree, wherever the search finds some, and how it ended."""
        offsets, likely, effects = self.scores.offsets, self.likely, self.labels
        tops = find_tops(self.scores, self.inventory.encoding.tasks, self.inventory.roots)
        labels, heads = tops.planes, np.zeros(offsets[-1], dtype=np.int32)
        decided = argmax_trees(offsets, tops, effects, heads)
        if likely is not None:
            decided &= agree(heads, likely.heads[:, 0], offsets)
        left = np.flatnonzero(~decided)
        if not len(left):
            return Found(labels, heads, left, Outcome(argmax=len(decided)))
        rows, places = words_of(left, offsets)
        chosen, found = np.empty((2, len(rows)), dtype=np.int32), np.zeros(len(rows), dtype=np.int32)
        problem = self.problem(rows, places, likely, rarest=self.beam.rarest)
        beam = self.beam if likely is None else self.beam.with_arcs()
        outcomes = searches.search_all(places, problem, beam.limits(), chosen, found)
        open_ones = np.flatnonzero(outcomes != searches.BEST)
        outcome, lost = Outcome(argmax=len(decided) - len(left), best=len(left) - len(open_ones)), []
        for number in open_ones:
            place = places[number : number + 2]
            if likely is not None:
                ended = self._look_further_by_arcs(problem, place, outcomes[number], chosen, found)
            else:
                further = self._look_further(problem, self.beam, place, outcomes[number], chosen, found)
                own = slice(*place)
                ended = further or self._try_harder(rows[own], chosen[:, own], found[own])
            outcome += ended
            if ended.lost:
                lost.append(left[number])
        labels[:, rows], heads[rows] = chosen, found
        return Found(labels, heads, np.array(lost, dtype=np.int64), outcome)

    def _look_further_by_arcs(
        self, problem: Problem, place: Int64s, outcome: int, chosen: Int32s, heads: Int32s
    ) -> Outcome:
        """What is done with arc scores for a sentence whose best path has a cycle or is far off."""
        widened = int(outcome == searches.FAR)
        if widened:
            wider = replace(self.beam, edges=2 * self.beam.with_arcs().edges)
            (outcome,) = searches.search_all(place, problem, wider.limits(), chosen, heads)
        if outcome == searches.BEST:
            return Outcome(best=1, widened=1)
        start, words = int(place[0]), int(place[1] - place[0])
        limits = self.beam.with_arcs().limits()
        if outcome == searches.CYCLIC and searches.search_next_best(start, words, problem, limits, chosen, heads):
            return Outcome(next_best=1, widened=widened)
        heads[start : start + words] = 0
        return Outcome(lost=1, widened=widened)

    def _look_further(
        self, problem: Problem, beam: Beam, place: Int64s, outcome: int, chosen: Int32s, heads: Int32s
    ) -> Outcome | None:
        """What is done for a sentence whose best path has a cycle or is far off; None where nothing helps."""
        start, words = int(place[0]), int(place[1] - place[0])
        given = (start, words, problem, beam.limits(), chosen, heads)
        if outcome == searches.FAR:
            outcome = searches.search_lattice(*given)
        if outcome == searches.BEST:
            return Outcome(best=1)
        if outcome == searches.CYCLIC and searches.search_next_best(*given):
            return Outcome(next_best=1)
        if outcome == searches.CYCLIC and searches.search_without_cycles(*given):
            return Outcome(acyclic=1)
        return None

    def _try_harder(self, rows: Int64s, chosen: Int32s, heads: Int32s) -> Outcome:
        """The second attempt at one sentence, with a wider beam and all labels that are at all likely."""
        beam, place = self.beam.widened(), np.array([0, len(rows)])
        problem = self.problem(rows, place, None)
        labels = np.empty_like(chosen)  # what the compiled code takes has no gaps
        (outcome,) = searches.search_all(place, problem, beam.limits(), labels, heads)
        ended = self._look_further(problem, beam, place, outcome, labels, heads)
        chosen[:] = labels
        if ended is None:
            heads[:] = 0
            return Outcome(lost=1, widened=1)
        return replace(ended, widened=1)

    def problem(self, rows: Int64s, places: Int64s, likely: LikelyHeads | None, *, rarest: float = 0.0) -> Problem:
        """What is known of some words; `places` says where their sentences start among them."""
        tasks, effects, arcs = self.inventory.encoding.tasks, self.labels, no_arcs()
        if likely is not None:
            arcs = weigh_arcs(likely.heads[rows], likely.logs[rows], places, self.inventory.weights.arcs)
        given = (self.scores, tasks, self.inventory.roots, rows)
        candidates, costs = top_candidates(*given, replace(self.beam, rarest=rarest), lighter=likely is not None)
        return Problem(candidates, effects, costs, arcs)

    def _take_proposals(self, found: Found, likely: LikelyHeads) -> None:
        """Where arcs disagree with a tree, take their own best one if it is better, or if the search was lost."""
        offsets, lost = self.scores.offsets, np.zeros(len(self.scores.offsets) - 1, dtype=np.bool_)
        lost[found.lost] = True
        differ = lost | ~agree(found.heads, likely.heads[:, 0], offsets)
        sentences = np.flatnonzero(differ & (np.diff(offsets) <= LONGEST_TABLE))
        if not len(sentences):
            return
        heads, (rows, places) = arc_trees(likely, offsets, sentences), words_of(sentences, offsets)
        labels, known = self.inventory.labels_of(heads, places)
        gains = np.add.reduceat(self._gains(found, likely, rows, heads, labels), places[:-1])
        taken, better = lost[sentences], np.flatnonzero(known & (gains > NEARLY))
        if len(better):
            words, starts = words_of(better, places)
            said = np.maximum(self.inventory.heads_of([ids[words] for ids in labels], starts), 0)
            taken[better] |= np.logical_and.reduceat(said == heads[words], starts[:-1])  # or they say another tree
        changed = np.repeat(taken, np.diff(places))
        found.heads[rows[changed]] = heads[changed]

    def _gains(self, found: Found, likely: LikelyHeads, rows: Int64s, heads: Int32s, labels: list[Int32s]) -> Float64s:
        """What each word's label, relation and arc gain if it gets other heads and labels."""
        inventory, before = self.inventory, found.heads[rows]
        arcs = log_probability_of(likely, rows, heads) - log_probability_of(likely, rows, before)
        gains = inventory.weights.arcs * arcs.astype(np.float64)
        for task, weight, new, old in zip(inventory.encoding.tasks, PLANES, labels, found.labels, strict=False):
            table = self.scores.labels[task]
            gains += weight * (table[rows, new] - table[rows, old[rows]])
        changed = np.flatnonzero((heads == 0) != (before == 0))
        relations, roots = best_relations(self.scores.deprels, rows[changed], inventory.roots)
        gains[changed] += np.where(heads[changed] == 0, roots - relations, relations - roots)
        return gains

    def least_risk(self) -> tuple[Int32s, Outcome]:
        """Trees whose arcs are likeliest on average; of long sentences, the best trees."""
        heads, outcome = self.best()
        for start, end in pairwise(self.scores.offsets.tolist()):
            if end - start <= LONGEST_TABLE:
                for limits in self._limits:
                    table = searches.arc_likelihoods(start, end - start, self._problem, limits, self._share)
                    if len(table):
                        heads[start:end] = spanning_tree(table)
                        break
        return heads, outcome

    def probabilities(self, heads: Int32s) -> Float32s:
        """The share of each word's head, among all trees that there could be; NaN where no tree was found."""
        result = np.full(len(heads), np.nan, dtype=np.float32)
        for start, end in pairwise(self.scores.offsets.tolist()):
            for limits in self._limits:
                given = (start, end - start, self._problem, limits, self._share)
                found = searches.head_likelihoods(*given, heads[start:end])
                if len(found):
                    result[start:end] = found
                    break
        return result

    def several(self, wanted: int) -> list[list[tuple[Int32s, float]]]:
        """For each sentence the heads of up to `wanted` different trees, best first, each with its log-probability.

        That is the one of the tree's best label sequence, and of its weighted arcs; label sequences that are no trees
        count in it as well.
        """
        return [self._several(start, end, wanted) for start, end in pairwise(self.scores.offsets.tolist())]

    def _several(self, start: int, end: int, wanted: int) -> list[tuple[Int32s, float]]:
        trees, found = np.zeros((0, end - start), dtype=np.int32), np.zeros(0)
        for limits in self._limits:
            if len(trees) < wanted:
                trees, found = searches.best_trees(start, end - start, self._problem, limits, wanted)
        likely, weight = self.likely, self.inventory.weights.arcs
        tops = 0.0 if likely is None else weight * likely.logs[start:end, 0].sum()
        return list(zip(trees, (found + tops).tolist(), strict=True))

    @cached_property
    def _problem(self) -> Problem:
        """What is known of all words, with states that know their stacks."""
        words = len(self.scores.deprels)
        problem = self.problem(np.arange(words), self.scores.offsets, self.likely)
        if self.likely is not None:
            return problem
        nothing = np.zeros(words)
        arcs = Arcs(True, np.zeros((words, 0), dtype=np.int32), np.zeros((words, 0)), nothing, nothing, nothing)
        return problem._replace(arcs=arcs)

    @property
    def _limits(self) -> tuple[SearchLimits, SearchLimits]:
        """How hard to search, and if that is not enough."""
        return self.beam.limits(), self.beam.widened().limits()

    @property
    def _share(self) -> float:
        return 1 / self.inventory.weights.temperature
