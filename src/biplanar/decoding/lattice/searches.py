"""Searches over the label sequences of some sentences, in the order in which they are tried."""

from __future__ import annotations

import numpy as np

from biplanar.compiled import compiled
from biplanar.data.arrays import Float64s, Int8s, Int32s, Int64s
from biplanar.decoding.lattice.graph import best_path, lattice_of, likely_edges, next_paths
from biplanar.decoding.lattice.pairs import FEWEST, Candidates, Pairs, Problem, SearchLimits, make_pairs
from biplanar.decoding.lattice.shortest import quickest, shortfalls_of, workspace_for
from biplanar.decoding.lattice.trees import has_cycle, heads_of, heads_of_labels, put

# How many words of histories are gone through, at most, to build a lattice without cycles.
STEPS_WITHOUT_CYCLES = 16_000_000

# How a sentence was decided: the best path was a tree; it had a cycle; it is far below the best labels of all, and was
# not looked for; no path was found.
BEST, CYCLIC, FAR, LOST = range(4)


@compiled()
def search_all(offsets: Int64s, problem: Problem, limits: SearchLimits, chosen: Int32s, heads: Int32s) -> Int8s:
    """Put the best labels and heads of every sentence into `chosen` and `heads`, and say how they were found.

    `chosen` has a row for each plane. Where the best path has a cycle or is too far off, the labels are each word's
    best.
    """
    candidates, labels, costs, arcs = problem
    outcomes = np.empty(len(offsets) - 1, dtype=np.int8)
    pairs = make_pairs(offsets, problem, limits.least)
    work = workspace_for(offsets, pairs, limits, labels, arcs.known)
    lost = shortfalls_of(pairs, offsets[0], costs)
    for s in range(len(outcomes)):
        start, words = offsets[s], offsets[s + 1] - offsets[s]
        path = quickest(start - offsets[0], start, words, pairs, lost, problem, limits, work)
        if len(path) == words:
            outcomes[s] = _take(path, pairs, start, problem, chosen, heads)
        else:
            outcomes[s] = FAR
            _put_tops(start, words, candidates, chosen)
    return outcomes


@compiled()
def _take(path: Int32s, pairs: Pairs, start: int, problem: Problem, chosen: Int32s, heads: Int32s) -> int:
    """Put the labels and heads of a path where they belong, if it is a tree, and say whether it is."""
    put(path, pairs, problem.labels, start, chosen)
    found = heads_of_labels(chosen[:, start : start + len(path)], problem.labels)
    heads[start : start + len(path)] = found
    if not has_cycle(found):
        return BEST
    _put_tops(start, len(path), problem.candidates, chosen)
    return CYCLIC


@compiled()
def _put_tops(start: int, words: int, candidates: Candidates, chosen: Int32s) -> None:
    for at in range(start, start + words):
        chosen[0, at] = candidates.ids[candidates.starts[0, at]]
        chosen[1, at] = candidates.ids[candidates.starts[1, at]]


# What follows is for the few sentences whose best path has a cycle or is far off, and is compiled when one comes.


@compiled()
def search_lattice(
    start: int, words: int, problem: Problem, limits: SearchLimits, chosen: Int32s, heads: Int32s
) -> int:
    """The best path of a sentence's whole lattice, and how it was found."""
    pairs, lattice = lattice_of(start, words, problem, limits, False)
    if not lattice.states:
        return LOST
    return _take(best_path(lattice, words), pairs, start, problem, chosen, heads)


@compiled()
def search_next_best(
    start: int, words: int, problem: Problem, limits: SearchLimits, chosen: Int32s, heads: Int32s
) -> bool:
    """The best path without a cycle, if it is among the first that can be looked at."""
    pairs, lattice = lattice_of(start, words, problem, limits, False)
    paths, trees, _ = next_paths(lattice, pairs, problem.labels, 1, limits.nodes)
    if len(paths):
        put(paths[0], pairs, problem.labels, start, chosen)
        heads[start : start + words] = trees[0]
    return len(paths) > 0


@compiled()
def search_without_cycles(
    start: int, words: int, problem: Problem, limits: SearchLimits, chosen: Int32s, heads: Int32s
) -> bool:
    """A good path without a cycle, from a lattice that is checked for cycles word by word."""
    # Each state of such a lattice costs as much as there are words before it.
    beam = min(limits.beam, max(FEWEST, STEPS_WITHOUT_CYCLES // words**2))
    narrower = SearchLimits(beam, limits.margin, limits.least, limits.edges, limits.nodes)
    pairs, lattice = lattice_of(start, words, problem, narrower, True)
    if lattice.states:
        path = best_path(lattice, words)
        put(path, pairs, problem.labels, start, chosen)
        heads[start : start + words] = heads_of(path, pairs, problem.labels)
    return lattice.states > 0


@compiled()
def best_trees(start: int, words: int, problem: Problem, limits: SearchLimits, wanted: int) -> tuple[Int32s, Float64s]:
    """The heads of the best trees of a sentence, best first, with the scores of their best label sequences."""
    pairs, lattice = lattice_of(start, words, problem, limits, False)
    if not lattice.states:
        return np.zeros((0, words), dtype=np.int32), np.zeros(0)
    _, trees, scores = next_paths(lattice, pairs, problem.labels, wanted, limits.nodes * wanted)
    return trees, scores


@compiled()
def head_likelihoods(
    start: int, words: int, problem: Problem, limits: SearchLimits, share: float, heads: Int32s
) -> Float64s:
    """How likely the given heads of a sentence are, by all its trees; nothing where no tree was found.

    States must know their stacks. Sequences with a cycle count as well: they are few.
    """
    pairs, lattice = lattice_of(start, words, problem, limits, False)
    if not lattice.states:
        return np.zeros(0)
    edges, likelihoods = likely_edges(lattice, pairs, problem.labels, share), np.zeros(words)
    for edge in range(len(edges.likelihoods)):
        for dependent, head in edges.arcs[edges.starts[edge] : edges.starts[edge + 1]]:
            if heads[dependent - 1] == head:
                likelihoods[dependent - 1] += edges.likelihoods[edge]
    return likelihoods


@compiled()
def arc_likelihoods(start: int, words: int, problem: Problem, limits: SearchLimits, share: float) -> Float64s:
    """How likely all arcs of a sentence are: (words, 1 + words); nothing where no tree was found."""
    pairs, lattice = lattice_of(start, words, problem, limits, False)
    if not lattice.states:
        return np.zeros((0, 1))
    edges, likelihoods = likely_edges(lattice, pairs, problem.labels, share), np.zeros((words, words + 1))
    for edge in range(len(edges.likelihoods)):
        for dependent, head in edges.arcs[edges.starts[edge] : edges.starts[edge + 1]]:
            likelihoods[dependent - 1, head] += edges.likelihoods[edge]
    return likelihoods
