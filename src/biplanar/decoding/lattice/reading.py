"""What a lattice says: its best trees, one after the other, and how likely arcs are by all its paths."""

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np

from biplanar.compiled import compiled
from biplanar.data.arrays import Float64s, Int32s
from biplanar.decoding.lattice.paths import ALL, Beams, lattice_of
from biplanar.decoding.lattice.problem import Problem, SearchLimits
from biplanar.decoding.lattice.states import HEADLESS, OPENS_LEFT, LabelEffects
from biplanar.decoding.lattice.trees import count_moves, has_cycle, heads_of_labels, put_labels
from biplanar.encodings.stacks import POP_HEAD, is_push, stack_of

Node = tuple[int, int, int, float]  # a state, the node after it, the edge to that, the loss from here to the end

# What arcs are less likely than this is not added up.
LEAST_LIKELY = 1e-6


class Edges(NamedTuple):
    """The edges into each state, as linked lists; state 0 is the beginning."""

    last: Int32s  # by state
    next: Int32s  # by edge
    sources: Int32s
    losses: Float64s


@compiled()
def next_path(nodes: list[Node], agenda: list[tuple[float, int]], bests: Float64s, edges: Edges, most: int) -> int:
    """The first node of the next path to a state, and -1 if there is none, or if `most` nodes were looked at before.

    Paths are searched backwards; as the best way to each state is known already, they come in order.
    """
    while agenda and len(nodes) < most:
        _, node = heapq.heappop(agenda)
        state, _, _, loss = nodes[node]
        if state == 0:
            return node
        edge = int(edges.last[state])
        while edge >= 0:
            source, onward = int(edges.sources[edge]), loss + edges.losses[edge]
            nodes.append((source, node, edge, onward))
            heapq.heappush(agenda, (bests[source] + onward, len(nodes) - 1))
            edge = int(edges.next[edge])
    return -1


@compiled()
def next_trees(
    goal: int, words: int, beams: Beams, problem: Problem, wanted: int, most: int
) -> tuple[Int32s, Int32s, Float64s]:
    """Labels, heads and losses of the best trees, best first; fewer where `most` nodes were looked at before."""
    labels, trees = np.empty((wanted, 2, words), dtype=np.int32), np.empty((wanted, words), dtype=np.int32)
    losses, found = np.empty(wanted), 0
    if goal < 0:  # the path that a quicker search found may be beyond this lattice's beam
        return labels[:0], trees[:0], losses[:0]
    edges = Edges(beams.last_edge, beams.next_edge, beams.edge_source, beams.edge_loss)
    nodes, agenda, path = [(goal, -1, -1, 0.0)], [(beams.losses[goal], 0)], np.empty(words, dtype=np.int32)
    while found < wanted:
        node = next_path(nodes, agenda, beams.losses, edges, most)
        if node < 0:
            break
        loss = nodes[node][3]
        for word in range(words):
            _, node, edge, _ = nodes[node]
            path[word] = beams.edge_pair[edge]
        put_labels(path, problem, 0, labels[found])
        heads = heads_of_labels(labels[found], 0, words, problem.labels)
        is_new = not has_cycle(heads)
        for other in range(found):
            is_new = is_new and not (trees[other] == heads).all()
        if is_new:
            trees[found], losses[found] = heads, loss
            found += 1
    return labels[:found], trees[:found], losses[:found]


@compiled()
def best_trees(start: int, words: int, problem: Problem, limits: SearchLimits, wanted: int) -> tuple[Int32s, Float64s]:
    """The heads of the best trees of a sentence, best first, with the losses of their best label sequences."""
    goal, beams = lattice_of(start, words, problem, limits, ALL)
    _, trees, losses = next_trees(goal, words, beams, problem, wanted, limits.nodes * wanted)
    return trees, losses


@compiled()
def likely_arcs(
    start: int, words: int, problem: Problem, limits: SearchLimits, share: float
) -> tuple[Int32s, Float64s]:
    """The arcs of a sentence's paths, (arcs, 2): dependents and heads (0 for the root), and how likely their edges are.

    An arc is there once for each edge that closes it; there is none where no tree was found. All paths through an edge
    count, the few with a cycle as well, with losses `share` times: below 1, what is likely becomes less so. States must
    know their stacks.
    """
    goal, beams = lattice_of(start, words, problem, limits, ALL)
    if goal < 0:
        return np.zeros((0, 2), dtype=np.int32), np.zeros(0)
    sums, after = _forward_sums(goal, beams, share), np.full(goal + 1, -np.inf)
    after[goal] = 0.0  # of all ways from each state to the end
    likelihoods = np.zeros(beams.last_edge[goal] + 1)  # the last edge leads to the end
    for state in range(goal, 0, -1):
        edge = beams.last_edge[state]
        while edge >= 0 and after[state] > -np.inf:
            source = beams.edge_source[edge]
            way = after[state] - share * beams.edge_loss[edge]
            after[source] = np.logaddexp(after[source], way)
            likelihoods[edge] = np.exp(sums[source] + way - sums[goal])
            edge = beams.next_edge[edge]
    return _closed_by(goal, likelihoods, beams, problem)


@compiled()
def _forward_sums(goal: int, beams: Beams, share: float) -> Float64s:
    """The log of the summed probabilities of all ways to each state."""
    sums = np.zeros(goal + 1)
    for state in range(1, goal + 1):
        highest, edge = -np.inf, beams.last_edge[state]
        while edge >= 0:
            highest = max(highest, sums[beams.edge_source[edge]] - share * beams.edge_loss[edge])
            edge = beams.next_edge[edge]
        total, edge = 0.0, beams.last_edge[state]
        while edge >= 0:
            total += np.exp(sums[beams.edge_source[edge]] - share * beams.edge_loss[edge] - highest)
            edge = beams.next_edge[edge]
        sums[state] = highest + np.log(total)
    return sums


@compiled()
def _closed_by(goal: int, likelihoods: Float64s, beams: Beams, problem: Problem) -> tuple[Int32s, Float64s]:
    """The arcs of all edges that are at all likely, each with the likelihood of its edge."""
    word_of = np.zeros(goal + 1, dtype=np.int32)
    for state in range(1, goal + 1):
        word_of[state] = word_of[beams.sources[state]] + 1
    closed, tops = np.zeros(len(likelihoods), dtype=np.int64), np.empty(4, dtype=np.int32)  # how many by each edge
    arcs, count = np.empty((4 * len(likelihoods) + 64, 2), dtype=np.int32), 0
    for edge in range(len(likelihoods)):
        if likelihoods[edge] > LEAST_LIKELY:
            source, pair, before = beams.edge_source[edge], beams.edge_pair[edge], count
            word, most = word_of[source], 1
            if pair >= 0:
                most += count_moves(problem.pairs[pair], problem.labels)
            if count + most > len(arcs):
                arcs = np.concatenate((arcs, np.empty((len(arcs) + most, 2), dtype=np.int32)))
            if beams.keys[source] & HEADLESS and (pair < 0 or not problem.kinds[pair] & OPENS_LEFT):
                arcs[count, 0], arcs[count, 1] = word, 0
                count += 1
            if pair >= 0:
                tops[:] = beams.tops[source]
                count += _closed_arcs(word, problem.pairs[pair], problem.labels, tops, beams, arcs[count:])
            closed[edge] = count - before
    return arcs[:count], np.repeat(likelihoods, closed)


@compiled()
def _closed_arcs(word: int, pair: Int32s, labels: LabelEffects, tops: Int32s, beams: Beams, closed: Int32s) -> int:
    """Write down dependents and heads of the arcs that a word's labels close, and say how many; `tops` are used up."""
    own, count = np.zeros(4, dtype=np.int64), 0  # how often the word before was put on each stack
    for plane in range(2):
        for place in range(labels.starts[pair[plane]], labels.starts[pair[plane] + 1]):
            move = labels.moves[place]
            stack = stack_of(move, plane)
            if is_push(move):
                own[stack] += 1
                continue
            partner = word
            if own[stack]:
                own[stack] -= 1
            else:
                partner = beams.words[tops[stack]]
                tops[stack] = beams.below[tops[stack]]
            dependent, head = (word + 1, partner) if move == POP_HEAD else (partner, word + 1)
            closed[count, 0], closed[count, 1] = dependent, head
            count += 1
    return count
