"""The search over labels that move stacks: instead of each word's best label, the best that together are a tree."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from biplanar.data.arrays import Float32s, Float64s, Int32s, Int64s
from biplanar.data.forest import Column
from biplanar.decoding.beam import Beam, Outcome, SearchConfig
from biplanar.decoding.candidates import MASS, TopCandidates, find_tops
from biplanar.decoding.inventory import LabelInventory
from biplanar.decoding.lattice import searches
from biplanar.decoding.lattice.pairs import Problem
from biplanar.decoding.lattice.states import LabelEffects, describe_labels
from biplanar.decoding.lattice.trees import argmax_trees
from biplanar.decoding.repaired import repaired_heads
from biplanar.decoding.scores import Scores
from biplanar.decoding.spanning import spanning_tree
from biplanar.encodings.stacks import as_stack_encoding


@dataclass(frozen=True)
class Found:
    """What a search found for some sentences, whose words stand end to end."""

    labels: Int32s  # (2, words); each word's best labels where the search was lost
    heads: Int32s  # the trees; no heads at all where the search was lost
    lost: Int64s  # the numbers of those sentences
    outcome: Outcome


@dataclass(frozen=True)
class StackSearch:
    """The search over the labels of one model."""

    inventory: LabelInventory
    config: SearchConfig = field(default_factory=SearchConfig)
    mass: float = MASS

    def __post_init__(self) -> None:
        self.inventory.check_tasks(2, "one or two tasks whose labels move stacks")

    @cached_property
    def labels(self) -> LabelEffects:
        """What the labels do."""
        encoding = as_stack_encoding(self.inventory.encoding)
        return describe_labels(encoding.moves([self.inventory.names[task] for task in encoding.tasks]))

    @property
    def beam(self) -> Beam:
        """How hard to try."""
        return self.config.beam

    def trees(self, scores: Scores, upos: Column | None = None) -> StackTrees:
        """The trees of some sentences."""
        return StackTrees(self, scores, upos)

    def top_candidates(self, scores: Scores, *, rows: Int64s | None = None, rarest: float = 0.0) -> TopCandidates:
        """What the search needs to know of some words, or of all."""
        return TopCandidates.of(
            scores,
            self.inventory.encoding.tasks,
            self.inventory.roots,
            rows=rows,
            mass=self.mass,
            rarest=rarest,
            depth_weight=self.config.depth_weight,
        )

    def best(self, scores: Scores) -> Found:
        """The best labels of every sentence that are a tree, wherever the search finds some, and how it ended."""
        offsets = scores.offsets
        tops = find_tops(scores, self.inventory.encoding.tasks, self.inventory.roots)
        labels, heads = tops.planes, np.zeros(offsets[-1], dtype=np.int32)
        decided = argmax_trees(offsets, tops, self.labels, heads)
        left = np.flatnonzero(~decided)
        if not len(left):
            return Found(labels, heads, left, Outcome(argmax=len(decided)))
        rows, places = words_of(left, offsets)
        chosen, found = np.empty((2, len(rows)), dtype=np.int32), np.zeros(len(rows), dtype=np.int32)
        problem = self._problem(self.top_candidates(scores, rows=rows, rarest=self.beam.rarest))
        outcomes = searches.search_all(places, problem, self.beam.limits(), chosen, found)
        open_ones = np.flatnonzero(outcomes != searches.BEST)
        outcome, lost = Outcome(argmax=len(decided) - len(left), best=len(left) - len(open_ones)), []
        for number in open_ones:
            place = places[number : number + 2]
            ended = self._look_further(problem, self.beam, place, outcomes[number], chosen, found)
            if ended is None:
                own = slice(*place)
                ended = self._try_harder(scores, rows[own], chosen[:, own], found[own])
            outcome += ended
            if ended.lost:
                lost.append(left[number])
        labels[:, rows], heads[rows] = chosen, found
        return Found(labels, heads, np.array(lost, dtype=np.int64), outcome)

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

    def _try_harder(self, scores: Scores, rows: Int64s, chosen: Int32s, heads: Int32s) -> Outcome:
        """The second attempt at one sentence, with a wider beam and all labels that are at all likely."""
        beam, place = self.beam.widened(), np.array([0, len(rows)])
        problem = self._problem(self.top_candidates(scores, rows=rows))
        labels = np.empty_like(chosen)  # what the compiled code takes has no gaps
        (outcome,) = searches.search_all(place, problem, beam.limits(), labels, heads)
        ended = self._look_further(problem, beam, place, outcome, labels, heads)
        chosen[:] = labels
        if ended is None:
            heads[:] = 0
            return Outcome(lost=1, widened=1)
        return replace(ended, widened=1)

    def best_trees(
        self, candidates: TopCandidates, offsets: Int64s, sentence: int, wanted: int
    ) -> list[tuple[Int32s, float]]:
        """The heads of up to so many different trees of a sentence, best first, each with its log-probability.

        That is the one of the tree's best label sequence, before it is known that only trees count.
        """
        start, words = int(offsets[sentence]), int(offsets[sentence + 1] - offsets[sentence])
        trees: Int32s = np.zeros((0, words), dtype=np.int32)
        found: Float64s = np.zeros(0)
        for beam in (self.beam, self.beam.widened()):
            if len(trees) < wanted:
                trees, found = searches.best_trees(start, words, self._problem(candidates), beam.limits(), wanted)
        return list(zip(trees, found.tolist(), strict=True))

    def draw_trees(self, candidates: TopCandidates, offsets: Int64s, sentence: int, seed: int = 1) -> Int32s:
        """Trees of a sentence drawn by their probability, as rows of heads; none where the search is lost."""
        start, words = int(offsets[sentence]), int(offsets[sentence + 1] - offsets[sentence])
        trees: Int32s = np.zeros((0, words), dtype=np.int32)
        for beam in (self.beam, self.beam.widened()):
            if not len(trees):
                problem = self._problem(candidates)
                trees = searches.draw_trees(start, words, problem, beam.limits(), self.config.draws, seed)
        return trees

    def _problem(self, candidates: TopCandidates) -> Problem:
        return Problem(candidates.candidates, self.labels, candidates.costs)


@dataclass(frozen=True)
class StackTrees:
    """The trees of some sentences."""

    search: StackSearch
    scores: Scores
    upos: Column | None = None

    def best(self) -> tuple[Int32s, Outcome]:
        """The best trees; where the search was lost, those of greedy decoding."""
        found, offsets = self.search.best(self.scores), self.scores.offsets
        if len(found.lost):
            words, places = words_of(found.lost, offsets)
            inventory = self.search.inventory
            labels = list(found.labels[: len(inventory.encoding.tasks), words])
            deprels = self.scores.deprels[words]
            found.heads[words] = repaired_heads(inventory, labels, deprels, places, _some(self.upos, words))
        return found.heads, found.outcome

    def least_risk(self) -> tuple[Int32s, Outcome]:
        """Trees whose arcs drawn trees agree on most; where they agree equally, the arcs of the best tree."""
        heads, outcome = self.best()
        found = heads.copy()
        for trees, (start, end) in zip(self.drawn, pairwise(self.scores.offsets), strict=True):
            if len(trees) and (trees != heads[start:end]).any():
                votes = np.zeros((end - start, end - start + 1))
                words = np.arange(end - start)
                for tree in trees:
                    votes[words, tree] += 1
                votes[words, heads[start:end]] += 0.5
                found[start:end] = spanning_tree(votes)
        return found, outcome

    def probabilities(self, heads: Int32s) -> Float32s:
        """How likely each word's head is, among all trees that the labels could make; NaN where no tree was found."""
        result = np.ones(len(heads), dtype=np.float32)
        for trees, (start, end) in zip(self.drawn, pairwise(self.scores.offsets), strict=True):
            # As if one more tree, of unknown heads, had been drawn: no arc is certain, none impossible.
            agreeing = (trees == heads[start:end]).sum(axis=0)
            result[start:end] = (agreeing + 0.5) / (len(trees) + 1) if len(trees) else np.nan
        return result

    def several(self, wanted: int) -> list[list[tuple[Int32s, float]]]:
        """For each sentence the heads of up to so many trees, with the log-probabilities of their best labels."""
        candidates, offsets = self.search.top_candidates(self.scores), self.scores.offsets
        return [self.search.best_trees(candidates, offsets, sentence, wanted) for sentence in range(len(offsets) - 1)]

    @cached_property
    def drawn(self) -> list[Int32s]:
        """For each sentence, trees drawn by their probability, as rows of heads."""
        candidates = self.search.top_candidates(self.scores).tempered(self.search.config.temperature)
        offsets = self.scores.offsets
        return [self.search.draw_trees(candidates, offsets, sentence) for sentence in range(len(offsets) - 1)]


def words_of(sentences: Int64s, offsets: Int64s) -> tuple[Int64s, Int64s]:
    """The words of some sentences, and where each of these starts among them."""
    lengths = (offsets[1:] - offsets[:-1])[sentences]
    places = np.zeros(len(sentences) + 1, dtype=np.int64)
    np.cumsum(lengths, out=places[1:])
    return np.arange(places[-1]) + np.repeat(offsets[:-1][sentences] - places[:-1], lengths), places


def _some(column: Column | None, words: Int64s) -> Column | None:
    return None if column is None else Column(column.ids[words], column.names)
