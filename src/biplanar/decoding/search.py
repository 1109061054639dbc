"""Search: instead of the best label of each word, the best labels that together are a tree."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from biplanar.data.arrays import Bools, Int32s, Int64s
from biplanar.decoding import lattice
from biplanar.decoding.lattice import Labels, Limits, Problem
from biplanar.decoding.scores import DEPTH_WEIGHT, MASS, LabelScores, Scores, find_tops
from biplanar.encodings.brackets import EMPTY, label_symbols
from biplanar.errors import BiplanarError

# The most states that a beam may have.
WIDEST = 100_000


@dataclass(frozen=True)
class Beam:
    """How hard to search. A sentence for which this is not enough is searched `wider` times as hard once more."""

    states: int = 64  # that go on from each word
    margin: float = 16.0  # how far below the best state's score they may be
    rarest: float = 1e-3  # the least probability of a label that is not its word's best
    wider: int = 8
    edges: int = 1_000_000  # the most that one sentence's lattice may have; if need be, with fewer states
    nodes: int = 20_000  # looked at, at most, in search of a path without a cycle

    def __post_init__(self) -> None:
        if not (1 <= self.states <= WIDEST and 1 <= self.wider <= WIDEST) or min(self.edges, self.nodes) < 1:
            raise BiplanarError(f"expected a beam of 1 to {WIDEST} states, and limits above 0, found {self}")

    def limits(self) -> Limits:
        """As the compiled code takes them."""
        return Limits(
            self.states, self.margin, math.log(self.rarest) if self.rarest else -math.inf, self.edges, self.nodes
        )

    def widened(self) -> Beam:
        """The second attempt: all labels that were kept, and no margin."""
        states = min(self.states * self.wider, WIDEST)
        return replace(self, states=states, margin=math.inf, rarest=0.0)


@dataclass(frozen=True)
class Outcome:
    """How the sentences were decided; counts that add."""

    argmax: int = 0  # the best labels were a tree already
    best: int = 0  # the best path of the lattice was a tree
    next_best: int = 0  # it had a cycle, a later one had none
    acyclic: int = 0  # so many had cycles that a lattice without was searched, in which not all trees are
    lost: int = 0  # no path to the end was found: greedy decoding
    widened: int = 0  # of all these, needed a wider search

    def __add__(self, other: Outcome) -> Outcome:
        return Outcome(*(getattr(self, name) + getattr(other, name) for name in Outcome.__dataclass_fields__))

    @property
    def sentences(self) -> int:
        """All of them."""
        return self.argmax + self.best + self.next_best + self.acyclic + self.lost


@dataclass(frozen=True)
class Found:
    """What a search found for some sentences, whose words stand end to end."""

    labels: NDArray[np.int32]  # (2, words); each word's best labels where the search was lost
    heads: Int32s  # the trees; no heads at all where the search was lost
    lost: Int64s  # the numbers of those sentences
    outcome: Outcome


@dataclass(frozen=True)
class Search:
    """The search over the labels of one encoding: its planes, what their labels do, and how hard to try."""

    tasks: tuple[str, ...]
    labels: Labels
    beam: Beam = Beam()
    depth_weight: float = DEPTH_WEIGHT
    mass: float = MASS

    @classmethod
    def over(
        cls,
        names: Mapping[str, Sequence[str]],
        beam: Beam | None = None,
        *,
        depth_weight: float = DEPTH_WEIGHT,
        mass: float = MASS,
    ) -> Search:
        """Of one or two planes' labels, by task."""
        return cls(tuple(names), describe_labels(list(names.values())), beam or Beam(), depth_weight, mass)

    def boiled(self, scores: Scores, roots: Bools, *, rows: Int64s | None = None, rarest: float = 0.0) -> LabelScores:
        """What the search needs to know of some words, or of all; `roots` says which relations are the root's."""
        return LabelScores.of(
            scores,
            self.tasks,
            roots,
            rows=rows,
            mass=self.mass,
            rarest=rarest,
            depth_weight=self.depth_weight,
        )

    def best(self, scores: Scores, roots: Bools, offsets: Int64s) -> Found:
        """The best labels of every sentence that are a tree, wherever the search finds some, and how it fared."""
        tops = find_tops(scores, self.tasks, roots)
        labels, heads = tops.planes, np.zeros(offsets[-1], dtype=np.int32)
        decided = lattice.argmax_trees(offsets, tops, self.labels, heads)
        left = np.flatnonzero(~decided)
        if not len(left):
            return Found(labels, heads, left, Outcome(argmax=len(decided)))
        rows, places = words_of(left, offsets)
        chosen, found = np.empty((2, len(rows)), dtype=np.int32), np.zeros(len(rows), dtype=np.int32)
        problem = self._problem(self.boiled(scores, roots, rows=rows, rarest=self.beam.rarest))
        outcomes = lattice.search_all(places, problem, self.beam.limits(), chosen, found)
        open_ones = np.flatnonzero(outcomes != lattice.BEST)
        outcome, lost = Outcome(argmax=len(decided) - len(left), best=len(left) - len(open_ones)), []
        for number in open_ones:
            place = places[number : number + 2]
            fared = self._look_further(problem, self.beam, place, outcomes[number], chosen, found)
            if fared is None:
                own = slice(*place)
                fared = self._try_harder(scores, roots, rows[own], chosen[:, own], found[own])
            outcome += fared
            if fared.lost:
                lost.append(left[number])
        labels[:, rows], heads[rows] = chosen, found
        return Found(labels, heads, np.array(lost, dtype=np.int64), outcome)

    def _look_further(
        self,
        problem: Problem,
        beam: Beam,
        place: Int64s,
        outcome: int,
        chosen: NDArray[np.int32],
        heads: Int32s,
    ) -> Outcome | None:
        """What is done for a sentence whose best path has a cycle or is far off; None where nothing helps."""
        start, words = int(place[0]), int(place[1] - place[0])
        given = (start, words, problem, beam.limits(), chosen, heads)
        if outcome == lattice.FAR:
            outcome = lattice.search_lattice(*given)
        if outcome == lattice.BEST:
            return Outcome(best=1)
        if outcome == lattice.CYCLIC and lattice.search_next_best(*given):
            return Outcome(next_best=1)
        if outcome == lattice.CYCLIC and lattice.search_without_cycles(*given):
            return Outcome(acyclic=1)
        return None

    def _try_harder(
        self, scores: Scores, roots: Bools, rows: Int64s, chosen: NDArray[np.int32], heads: Int32s
    ) -> Outcome:
        """The second attempt at one sentence, with a wider beam and all labels that are at all likely."""
        beam, place = self.beam.widened(), np.array([0, len(rows)])
        problem = self._problem(self.boiled(scores, roots, rows=rows))
        labels = np.empty_like(chosen)  # what the compiled code takes has no gaps
        (outcome,) = lattice.search_all(place, problem, beam.limits(), labels, heads)
        fared = self._look_further(problem, beam, place, outcome, labels, heads)
        chosen[:] = labels
        if fared is None:
            heads[:] = 0
            return Outcome(lost=1, widened=1)
        return replace(fared, widened=1)

    def best_trees(
        self, scores: LabelScores, offsets: Int64s, sentence: int, wanted: int
    ) -> list[tuple[Int32s, float]]:
        """The heads of up to so many different trees of a sentence, best first, each with its log-probability.

        That is the one of the tree's best label sequence, before it is known that only trees count.
        """
        start, words = int(offsets[sentence]), int(offsets[sentence + 1] - offsets[sentence])
        trees: NDArray[np.int32] = np.zeros((0, words), dtype=np.int32)
        found: NDArray[np.float64] = np.zeros(0)
        for beam in (self.beam, self.beam.widened()):
            if len(trees) < wanted:
                trees, found = lattice.best_trees(start, words, self._problem(scores), beam.limits(), wanted)
        return list(zip(trees, found.tolist(), strict=True))

    def draw_trees(
        self, scores: LabelScores, offsets: Int64s, sentence: int, wanted: int, seed: int = 1
    ) -> NDArray[np.int32]:
        """Trees of a sentence drawn by their probability, as rows of heads; none where the search is lost."""
        start, words = int(offsets[sentence]), int(offsets[sentence + 1] - offsets[sentence])
        trees: NDArray[np.int32] = np.zeros((0, words), dtype=np.int32)
        for beam in (self.beam, self.beam.widened()):
            if not len(trees):
                trees = lattice.draw_trees(start, words, self._problem(scores), beam.limits(), wanted, seed)
        return trees

    def _problem(self, scores: LabelScores) -> Problem:
        return Problem(scores.candidates, self.labels, scores.costs)


def describe_labels(names: Sequence[Sequence[str]]) -> Labels:
    """What the labels of one or two planes need, change and mean."""
    planes = [tuple(plane) for plane in (*names, (EMPTY,))][:2]
    symbols, starts, first_label = label_symbols(planes)
    rows = [
        _describe(symbols[starts[label] : starts[label + 1]].tolist(), plane)
        for plane in range(2)
        for label in range(first_label[plane], first_label[plane + 1])
    ]
    needs, changes, kinds = (np.array(column, dtype=np.int64) for column in zip(*rows, strict=True))
    return Labels(needs, changes, kinds, symbols, starts, int(first_label[1]))


def _describe(symbols: Sequence[int], plane: int) -> tuple[int, int, int]:
    """A label's needs, changes and kind, by doing what it says."""
    needs, changes = [0] * 4, [0] * 4
    for symbol in symbols:
        stack = 2 * plane + (symbol & 1)
        changes[stack] += 1 if symbol < 2 else -1
        needs[stack] = max(needs[stack], -changes[stack])
    opened, closed = symbols.count(0), symbols.count(3)
    kind = lattice.OPENS_LEFT * opened + lattice.CLOSES_RIGHT * closed + lattice.OPENS_RIGHT * (1 in symbols)
    if opened > 1 or closed > 1 or max(map(abs, (*needs, *changes))) > lattice.DEEPEST:
        kind = lattice.IMPOSSIBLE
        needs = changes = [0] * 4
    return _packed(needs), _packed(changes), kind


def _packed(numbers: Sequence[int]) -> int:
    return sum(number << (lattice.FIELD * place) for place, number in enumerate(numbers))


def words_of(sentences: Int64s, offsets: Int64s) -> tuple[Int64s, Int64s]:
    """The words of some sentences, and where each of these starts among them."""
    lengths = (offsets[1:] - offsets[:-1])[sentences]
    places = np.zeros(len(sentences) + 1, dtype=np.int64)
    np.cumsum(lengths, out=places[1:])
    return np.arange(places[-1]) + np.repeat(offsets[:-1][sentences] - places[:-1], lengths), places
