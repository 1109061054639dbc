"""The search over labels that move stacks: instead of each word's best label, the best that together are a tree."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from biplanar.data.arrays import Float32s, Float64s, Int32s, Int64s
from biplanar.data.forest import Column, words_of
from biplanar.decoding.arcs import LONGEST_TABLE, arc_trees, log_probability_of
from biplanar.decoding.beam import Beam, Outcome, SearchConfig
from biplanar.decoding.candidates import MASS, SECOND_PLANE, TopCandidates, best_relations, find_tops
from biplanar.decoding.inventory import LabelInventory
from biplanar.decoding.lattice import searches
from biplanar.decoding.lattice.arcs import Arcs, agree, no_arcs, weigh_arcs
from biplanar.decoding.lattice.pairs import Problem, SearchLimits
from biplanar.decoding.lattice.states import LabelEffects, describe_labels
from biplanar.decoding.lattice.trees import argmax_trees
from biplanar.decoding.repaired import repaired_heads
from biplanar.decoding.scores import NEARLY, LikelyHeads, Scores
from biplanar.decoding.spanning import spanning_tree
from biplanar.encodings.stacks import as_stack_encoding

# The weights of the planes' labels where arcs are known, as in the search.
PLANES = (np.float32(1.0), SECOND_PLANE)


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

    def _candidates(self, scores: Scores, rows: Int64s, rarest: float) -> TopCandidates:
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
        likely = self.likely_heads(scores)
        if likely is not None:
            decided &= agree(heads, likely.heads[:, 0], offsets)
        left = np.flatnonzero(~decided)
        if not len(left):
            return Found(labels, heads, left, Outcome(argmax=len(decided)))
        rows, places = words_of(left, offsets)
        chosen, found = np.empty((2, len(rows)), dtype=np.int32), np.zeros(len(rows), dtype=np.int32)
        problem = self.problem(scores, likely, rows, places, rarest=self.beam.rarest)
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
                ended = further or self._try_harder(scores, rows[own], chosen[:, own], found[own])
            outcome += ended
            if ended.lost:
                lost.append(left[number])
        labels[:, rows], heads[rows] = chosen, found
        return Found(labels, heads, np.array(lost, dtype=np.int64), outcome)

    def _look_further_by_arcs(
        self, problem: Problem, place: Int64s, outcome: int, chosen: Int32s, heads: Int32s
    ) -> Outcome:
        """The same if the arcs are known: their own tree is good enough where all else fails."""
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

    def _try_harder(self, scores: Scores, rows: Int64s, chosen: Int32s, heads: Int32s) -> Outcome:
        """The second attempt at one sentence, with a wider beam and all labels that are at all likely."""
        beam, place = self.beam.widened(), np.array([0, len(rows)])
        problem = self.problem(scores, None, rows, place)
        labels = np.empty_like(chosen)  # what the compiled code takes has no gaps
        (outcome,) = searches.search_all(place, problem, beam.limits(), labels, heads)
        ended = self._look_further(problem, beam, place, outcome, labels, heads)
        chosen[:] = labels
        if ended is None:
            heads[:] = 0
            return Outcome(lost=1, widened=1)
        return replace(ended, widened=1)

    def likely_heads(self, scores: Scores) -> LikelyHeads | None:
        """The heads that the network's arc scores propose, if they count."""
        return scores.arcs.likeliest() if scores.arcs is not None and self.inventory.weights.arcs else None

    def problem(
        self, scores: Scores, likely: LikelyHeads | None, rows: Int64s, places: Int64s, *, rarest: float = 0.0
    ) -> Problem:
        """What is known of some words; `places` says where their sentences start among them."""
        candidates, arcs = self._candidates(scores, rows, rarest), no_arcs()
        if likely is not None:
            candidates = candidates.with_lighter_second_plane()
            arcs = weigh_arcs(likely.heads[rows], likely.logs[rows], places, self.inventory.weights.arcs)
        return Problem(candidates.candidates, self.labels, candidates.costs, arcs)


@dataclass(frozen=True)
class StackTrees:
    """The trees of some sentences, by their labels and, where the network has scores of arcs, by these as well."""

    search: StackSearch
    scores: Scores
    upos: Column | None = None

    def best(self) -> tuple[Int32s, Outcome]:
        """The best trees; where the search was lost, the best trees of the arcs alone, or else of greedy decoding."""
        found, offsets = self.search.best(self.scores), self.scores.offsets
        likely, lost = self.search.likely_heads(self.scores), found.lost
        if likely is not None:
            self._take_proposals(found, likely)
            lost = lost[np.diff(offsets)[lost] > LONGEST_TABLE]
        for sentence in lost:
            words = slice(*offsets[sentence : sentence + 2])
            found.heads[words] = self._repaired(found, words)
        return found.heads, found.outcome

    def _take_proposals(self, found: Found, likely: LikelyHeads) -> None:
        """Where arcs do not agree with a tree, take their own best one if it is better, or if the search was lost."""
        offsets, lost = self.scores.offsets, np.zeros(len(self.scores.offsets) - 1, dtype=np.bool_)
        lost[found.lost] = True
        differ = lost | ~agree(found.heads, likely.heads[:, 0], offsets)
        sentences = np.flatnonzero(differ & (np.diff(offsets) <= LONGEST_TABLE))
        if not len(sentences):
            return
        heads, (rows, places) = arc_trees(likely, offsets, sentences), words_of(sentences, offsets)
        inventory = self.search.inventory
        labels, known = inventory.labels_of(heads, places)
        gains = np.add.reduceat(self._gains(found, likely, rows, heads, labels), places[:-1])
        taken, better = lost[sentences], np.flatnonzero(known & (gains > NEARLY))
        if len(better):
            words, starts = words_of(better, places)
            said = np.maximum(inventory.heads_of([ids[words] for ids in labels], starts), 0)
            taken[better] |= np.logical_and.reduceat(said == heads[words], starts[:-1])  # or they say another tree
        changed = np.repeat(taken, np.diff(places))
        found.heads[rows[changed]] = heads[changed]

    def _gains(self, found: Found, likely: LikelyHeads, rows: Int64s, heads: Int32s, labels: list[Int32s]) -> Float64s:
        """What each word's label, relation and arc gain if it gets other heads and labels."""
        inventory, before = self.search.inventory, found.heads[rows]
        arcs = log_probability_of(likely, rows, heads) - log_probability_of(likely, rows, before)
        gains = inventory.weights.arcs * arcs.astype(np.float64)
        for task, weight, new, old in zip(inventory.encoding.tasks, PLANES, labels, found.labels, strict=False):
            table = self.scores.labels[task]
            with np.errstate(invalid="ignore"):  # of what is infinite
                gains += weight * (table[rows, new] - table[rows, old[rows]])
        changed = np.flatnonzero((heads == 0) != (before == 0))
        relations, roots = best_relations(self.scores.deprels, rows[changed], inventory.roots)
        gains[changed] += np.where(heads[changed] == 0, roots - relations, relations - roots)
        return gains

    def _repaired(self, found: Found, words: slice) -> Int32s:
        inventory, places = self.search.inventory, np.array([0, words.stop - words.start])
        labels = list(found.labels[: len(inventory.encoding.tasks), words])
        upos = None if self.upos is None else Column(self.upos.ids[words], self.upos.names)
        return repaired_heads(inventory, labels, self.scores.deprels[words], places, upos)

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
        """For each sentence the heads of up to so many different trees, best first, each with its log-probability.

        That is the one of the tree's best label sequence, and its weighted arcs, before it is known that only trees
        count.
        """
        return [self._several(start, end, wanted) for start, end in pairwise(self.scores.offsets.tolist())]

    def _several(self, start: int, end: int, wanted: int) -> list[tuple[Int32s, float]]:
        trees, found = np.zeros((0, end - start), dtype=np.int32), np.zeros(0)
        for limits in self._limits:
            if len(trees) < wanted:
                trees, found = searches.best_trees(start, end - start, self._problem, limits, wanted)
        likely = self.search.likely_heads(self.scores)
        tops = 0.0 if likely is None else self.search.inventory.weights.arcs * likely.logs[start:end, 0].sum()
        return list(zip(trees, (found + tops).tolist(), strict=True))

    @cached_property
    def _problem(self) -> Problem:
        """What is known of all words, with states that know their stacks."""
        search, words = self.search, len(self.scores.deprels)
        likely = search.likely_heads(self.scores)
        problem = search.problem(self.scores, likely, np.arange(words), self.scores.offsets)
        if likely is not None:
            return problem
        nothing = np.zeros(words)
        arcs = Arcs(True, np.zeros((words, 0), dtype=np.int32), np.zeros((words, 0)), nothing, nothing, nothing)
        return problem._replace(arcs=arcs)

    @property
    def _limits(self) -> tuple[SearchLimits, SearchLimits]:
        """How hard to search, and if that is not enough."""
        return self.search.beam.limits(), self.search.beam.widened().limits()

    @property
    def _share(self) -> float:
        return 1 / self.search.inventory.weights.temperature
