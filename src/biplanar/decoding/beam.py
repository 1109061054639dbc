"""How hard to search, and how searches ended."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

from biplanar.decoding.lattice.problem import SearchLimits
from biplanar.errors import BiplanarError

# The most states that a beam may have.
WIDEST = 100_000

# With arc scores, the first attempt has a beam and a margin narrower by this factor, and lattices have fewer edges.
NARROWER = 2
FEWER_EDGES = 50


@dataclass(frozen=True)
class Beam:
    """How hard to search. A sentence for which this is not enough is searched once more, `wider` times as hard."""

    states: int = 64  # that go on from each word
    margin: float = 16.0  # how far below the best state's score they may be
    rarest: float = 1e-3  # the least probability of a label that is not its word's best
    wider: int = 8
    edges: int = 1_000_000  # the most that one sentence's lattice may have; if need be, with fewer states
    nodes: int = 20_000  # looked at, at most, in search of a path without a cycle
    mass: float = 1 - 1e-5  # of each word's labels, the likeliest are kept, up to this share of the probability
    depth_weight: float = 0.25  # how much the depths of stacks count beside the labels, which they only confirm

    def __post_init__(self) -> None:
        if not (1 <= self.states <= WIDEST and 1 <= self.wider <= WIDEST) or min(self.edges, self.nodes) < 1:
            raise BiplanarError(f"a beam has 1 to {WIDEST} states, and limits above 0: {self}")

    @cached_property
    def limits(self) -> SearchLimits:
        """As the compiled code takes them."""
        least = math.log(self.rarest) if self.rarest else -math.inf
        return SearchLimits(self.states, self.margin, self.mass, least, self.depth_weight, self.edges, self.nodes)

    @cached_property
    def with_arcs(self) -> Beam:
        """The first attempt with arc scores, which leave fewer candidates."""
        states, nodes, edges = self.states // NARROWER, self.nodes // 10, self.edges // FEWER_EDGES
        return replace(
            self, states=max(1, states), margin=self.margin / NARROWER, nodes=max(1, nodes), edges=max(1, edges)
        )

    @cached_property
    def again_with_arcs(self) -> Beam:
        """The second attempt with arc scores."""
        return replace(self, edges=2 * self.with_arcs.edges, nodes=self.with_arcs.nodes)

    @cached_property
    def widened(self) -> Beam:
        """The second attempt without them: all labels that were kept, and no margin."""
        states = min(self.states * self.wider, WIDEST)
        return replace(self, states=states, margin=math.inf, rarest=0.0)


@dataclass(frozen=True)
class Outcome:
    """How the sentences were decided; counts that add."""

    argmax: int = 0  # the best labels were a tree already
    best: int = 0  # the best path of the lattice was a tree, or an exact search found one
    next_best: int = 0  # it had a cycle, a later one had none
    acyclic: int = 0  # all paths that were read had cycles; found in a lattice that excludes them, and many trees
    lost: int = 0  # no path to the end was found: the best tree of the arcs, or greedy decoding
    widened: int = 0  # of all these, needed a wider search
    unsearched: int = 0  # decided by the best labels or heads, without a search

    def __add__(self, other: Outcome) -> Outcome:
        return Outcome(*(getattr(self, name) + getattr(other, name) for name in Outcome.__dataclass_fields__))

    @property
    def sentences(self) -> int:
        """All of them."""
        return self.argmax + self.best + self.next_best + self.acyclic + self.lost + self.unsearched
