"""The best tree of all: from a score for every possible arc to the tree with one root whose arcs add up to the most.

It is the algorithm of Chu and Liu (1965) and Edmonds (1967), as Tarjan (1977) and Gabow et al. (1986) arranged it for
dense graphs: quadratic in the words, whatever the scores are.
"""

from __future__ import annotations

import numpy as np

from biplanar.compiled import compiled
from biplanar.data.arrays import Bools, Float64s, Int32s
from biplanar.errors import LabelError

# Scores beyond it count as this much, so that their sums stay finite.
LARGEST_SCORE = 1e300


def spanning_tree(scores: Float64s) -> Int32s:
    """Heads (0 for the root) of the best tree with exactly one root.

    `scores` is (words, 1 + words): `scores[d - 1, h]` is the score of word h as the head of word d, column 0 that of d
    as the root. -inf forbids an arc, as does NaN; an arc from a word to itself is never taken. Where every tree has
    forbidden arcs, one with as few as possible is found. Of equally good trees always the same one is.
    """
    words = len(scores)
    if scores.shape != (words, words + 1):
        wanted = f"({words}, {words + 1})"
        raise LabelError(f"expected the scores of all heads of {words} words as {wanted}, found {scores.shape}")
    table = np.array(scores, dtype=np.float64, order="C")
    forbidden = ~(table > -np.inf)
    # No sum of scores may outweigh a second root or a forbidden arc. Instead of a constant that is large enough for it,
    # which would cost digits of the scores, penalties are counted apart and compared first: a root costs more than
    # forbidden arcs everywhere.
    penalties = forbidden.astype(np.int32)
    penalties[:, 0] += words + 1
    table[forbidden] = 0
    np.clip(table, -LARGEST_SCORE, LARGEST_SCORE, out=table)
    return np.asarray(_spanning_tree(penalties, table))


@compiled()
def best_tree(scores: Float64s) -> Int32s:
    """The same where no arc is forbidden; the table is used up."""
    penalties = np.zeros(scores.shape, dtype=np.int32)
    penalties[:, 0] = len(scores) + 1
    return _spanning_tree(penalties, scores)


@compiled()
def _spanning_tree(penalties: Int32s, scores: Float64s) -> Int32s:
    """Walk up from each word along the best arcs, to the root or a word that leads there; contract cycles on the way.

    A contracted cycle is a new node, numbered after the words. It takes over the row of its first node: of the arcs
    from a word outside to a node of the cycle, the best, measured by what it gains over the arc that it replaces. Both
    tables are used up.
    """
    words = len(scores)
    most = 2 * words + 1
    within = np.arange(words + 1).astype(np.int32)  # the outermost node that each word is part of; 0 is the root
    dependents = np.empty((words, words + 1), dtype=np.int32)  # the word in which the arc of a row and column ends
    row = np.zeros(most, dtype=np.int32)
    for word in range(1, words + 1):
        row[word] = word - 1
        dependents[word - 1, :] = word
    above = np.zeros(most, dtype=np.int32)  # the contracted cycle that a node is part of
    head, dependent = np.zeros(most, dtype=np.int32), np.zeros(most, dtype=np.int32)  # each node's best arc
    rooted, on_path = np.zeros(most, dtype=np.bool_), np.zeros(most, dtype=np.bool_)
    rooted[0] = True
    path = np.zeros(words + 1, dtype=np.int32)
    nodes = words + 1
    for word in range(1, words + 1):
        length = 0
        next_node = within[word]
        while not rooted[next_node]:
            if on_path[next_node]:
                first = length - 1
                while path[first] != next_node:
                    first -= 1
                _contract(path[first:length], head, row, penalties, scores, dependents)
                row[nodes] = row[next_node]
                _move_into(nodes, path[first:length], within, above, on_path)
                length, next_node = first, nodes
                nodes += 1
            path[length] = next_node
            on_path[next_node] = True
            length += 1
            at = row[next_node]
            best = _best_head(next_node, within, penalties[at], scores[at])
            head[next_node], dependent[next_node] = best, dependents[at, best]
            next_node = within[best]
        for place in range(length):
            rooted[path[place]] = True
    return _expand(words, nodes, above, head, dependent)


@compiled()
def _best_head(node: int, within: Int32s, penalties: Int32s, scores: Float64s) -> int:
    """The best head outside of a node; the root is always outside."""
    best = 0
    for head in range(1, len(scores)):
        if within[head] != node and _is_better(penalties[head], scores[head], penalties[best], scores[best]):
            best = head
    return best


@compiled()
def _is_better(penalty: int, score: float, other_penalty: int, other_score: float) -> bool:
    return penalty < other_penalty or (penalty == other_penalty and score > other_score)


@compiled()
def _contract(
    cycle: Int32s, head: Int32s, row: Int32s, penalties: Int32s, scores: Float64s, dependents: Int32s
) -> None:
    """Write into the row of a cycle's first node, for each head, the best arc from there to any node of the cycle."""
    first = row[cycle[0]]
    for place in range(len(cycle)):
        at = row[cycle[place]]
        penalty, score = penalties[at, head[cycle[place]]], scores[at, head[cycle[place]]]
        for other in range(scores.shape[1]):
            penalties[at, other] -= penalty
            scores[at, other] -= score
            if at != first and _is_better(
                penalties[at, other], scores[at, other], penalties[first, other], scores[first, other]
            ):
                penalties[first, other], scores[first, other] = penalties[at, other], scores[at, other]
                dependents[first, other] = dependents[at, other]


@compiled()
def _move_into(new: int, cycle: Int32s, within: Int32s, above: Int32s, on_path: Bools) -> None:
    """Make a new node of the nodes of a cycle."""
    for node in cycle:
        above[node] = new
        on_path[node] = False
    for word in range(1, len(within)):
        if above[within[word]] == new:
            within[word] = new


@compiled()
def _expand(words: int, nodes: int, above: Int32s, head: Int32s, dependent: Int32s) -> Int32s:
    """From the outermost cycles inwards: an arc into a cycle replaces that of the node where it ends, at each level."""
    heads = np.zeros(words, dtype=np.int32)
    decided = np.zeros(nodes, dtype=np.bool_)
    for node in range(nodes - 1, 0, -1):
        if not decided[node]:
            inner = dependent[node]
            heads[inner - 1] = head[node]
            while inner != node:
                decided[inner] = True
                inner = above[inner]
            decided[node] = True
    return heads
