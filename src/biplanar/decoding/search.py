"""Search: instead of the best label of each word, the best labels that together are a tree.

What the search needs of the label scores is a value of its own, `LabelScores`, small enough to keep for many sentences:
the likeliest labels of each word and plane, and what a relation, the root, and the depths of the stacks cost.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from biplanar.decoding import lattice
from biplanar.decoding.lattice import Candidates, Costs, Labels, Limits, Problem
from biplanar.encodings.brackets import DEPTH_TASK, EMPTY, label_symbols
from biplanar.errors import BiplanarError
from biplanar.tree import Int32s, Int64s

Scores = Mapping[str, NDArray[np.float32]]
Likeliest = tuple[Int64s, Int32s, NDArray[np.float32]]  # where each word's labels start, the labels, log-probabilities

# Of each word's labels, the likeliest are kept: up to this share of the probability, and so many.
MASS, MOST_LABELS = 1 - 1e-5, 64

# The most states that a beam may have.
WIDEST = 100_000

# How much the depths count beside the labels, which they only confirm.
DEPTH_WEIGHT = 0.25


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
class LabelScores:
    """What search needs to know of each word's scores; words stand end to end."""

    planes: tuple[Likeliest, ...]
    relations: NDArray[np.float32]  # log-probability of the best relation that is not the root's
    roots: NDArray[np.float32]  # and of the best that is
    depths: NDArray[np.float32]  # (words, stacks, depths); no stacks where the network does not predict depths

    @classmethod
    def of(
        cls,
        scores: Scores,
        tasks: Sequence[str],
        roots: NDArray[np.bool_],
        *,
        mass: float = MASS,
        depth_weight: float = DEPTH_WEIGHT,
    ) -> LabelScores:
        """Boil down scores of shape (words, labels) by task; `roots` says which relations are the root's."""
        planes = tuple(lattice.likeliest(scores[task], mass, MOST_LABELS) for task in tasks)
        relations = log_probabilities(scores["deprel"])
        known = [log_probabilities(scores[name]) for name in depth_tasks(tasks) if name in scores]
        depths = np.stack(known, axis=1) if known else np.zeros((len(relations), 0, 1), dtype=np.float32)
        return cls(planes, _best(relations, ~roots), _best(relations, roots), depths * np.float32(depth_weight))

    def cooled(self, temperature: float) -> LabelScores:
        """The same at another temperature: above 1, what is likely becomes less so, and what is unlikely more."""
        share = np.float32(1 / temperature)
        planes = tuple((starts, ids, logs * share) for starts, ids, logs in self.planes)
        return LabelScores(planes, self.relations * share, self.roots * share, self.depths * share)

    @cached_property
    def candidates(self) -> Candidates:
        """As the compiled code takes them; where there is one plane, every word's label in the second is empty."""
        words = len(self.relations)
        nothing = (np.arange(words + 1), np.zeros(words, dtype=np.int32), np.zeros(words, dtype=np.float32))
        (starts, ids, logs), (more_starts, more_ids, more_logs) = (*self.planes, nothing)[:2]
        both = np.stack([starts, more_starts + len(ids)])
        return Candidates(both, np.concatenate([ids, more_ids]), np.concatenate([logs, more_logs]))

    @property
    def costs(self) -> Costs:
        """As the compiled code takes them."""
        return Costs(self.relations, self.roots, self.depths)


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


def depth_tasks(planes: Sequence[str]) -> list[str]:
    """The names of the tasks that predict how deep the stacks are."""
    return [f"{DEPTH_TASK}{plane}.{direction}" for plane in planes for direction in ("left", "right")]


@dataclass(frozen=True)
class Search:
    """The search over the labels of one encoding: its names for the planes, what its labels do, and how hard to try."""

    labels: Labels
    beam: Beam = Beam()

    @classmethod
    def over(cls, names: Sequence[Sequence[str]], beam: Beam | None = None) -> Search:
        """Of one or two planes' labels."""
        return cls(describe_labels(names), beam or Beam())

    def best_labels(self, scores: LabelScores, offsets: Int64s) -> tuple[list[Int32s], Outcome]:
        """The best labels of every plane that are trees, wherever the search finds some, and how it fared."""
        chosen = np.empty((2, int(offsets[-1])), dtype=np.int32)
        outcomes = lattice.search_all(offsets, self._problem(scores), self.beam.limits(), chosen)
        argmax, best, *_ = np.bincount(outcomes, minlength=4).tolist()
        fared = Outcome(argmax=argmax, best=best)
        for sentence in np.flatnonzero(outcomes >= lattice.CYCLIC):
            fared += self._try_harder(scores, offsets[sentence : sentence + 2], outcomes[sentence], chosen)
        return list(chosen[: len(scores.planes)]), fared

    def _try_harder(self, scores: LabelScores, place: Int64s, outcome: int, chosen: NDArray[np.int32]) -> Outcome:
        """What is done for a sentence whose best path has a cycle, or that has none."""
        problem, start, words = self._problem(scores), int(place[0]), int(place[1] - place[0])
        for widened, beam in enumerate((self.beam, self.beam.widened())):
            limits = beam.limits()
            if widened:
                (outcome,) = lattice.search_all(place, problem, limits, chosen)
            if outcome == lattice.BEST:
                return Outcome(best=1, widened=widened)
            if outcome == lattice.CYCLIC and lattice.search_next_best(start, words, problem, limits, chosen):
                return Outcome(next_best=1, widened=widened)
            if outcome == lattice.CYCLIC and lattice.search_without_cycles(start, words, problem, limits, chosen):
                return Outcome(acyclic=1, widened=widened)
        return Outcome(lost=1, widened=1)

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


def log_probabilities(scores: NDArray[np.float32]) -> NDArray[np.float32]:
    """Scores of shape (words, labels), normalised."""
    shifted = scores - scores.max(axis=1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)), dtype=np.float32)


def _best(table: NDArray[np.float32], allowed: NDArray[np.bool_]) -> NDArray[np.float32]:
    """The best score among the allowed labels, or among all if none is allowed."""
    return np.asarray(table[:, allowed if allowed.any() else ~allowed].max(axis=1, initial=-np.inf))
