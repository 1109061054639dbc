"""Searches over the label sequences of some sentences, in the order in which they are tried."""

from __future__ import annotations

import numpy as np

from biplanar.compiled import compiled
from biplanar.data.arrays import Bools, Int8s, Int32s, Int64s
from biplanar.decoding.arcs import table_of_heads
from biplanar.decoding.candidates import best_two
from biplanar.decoding.lattice.paths import ACYCLIC, ALL, BEST, beams_for, lattice_of, quickest, spell_out
from biplanar.decoding.lattice.problem import FEWEST, SECOND_PLANE, Problem, SearchLimits, Tables, make_problem
from biplanar.decoding.lattice.reading import next_trees
from biplanar.decoding.lattice.states import (
    CLOSES_RIGHT,
    DEPTHS,
    GUARDS,
    HEADLESS,
    OPENS_LEFT,
    depth_of,
    fit,
    may_end,
    next_state,
)
from biplanar.decoding.lattice.trees import forms_tree, has_cycle, heads_of_labels, put_labels
from biplanar.decoding.scores import NEARLY, UNLIKELY
from biplanar.decoding.spanning import best_tree

# How many words of histories are gone through, at most, to build a lattice without cycles.
STEPS_WITHOUT_CYCLES = 16_000_000

# How a sentence was decided: its best labels were a tree; the best path was one; it had a cycle, a later one had none;
# all that were read had cycles, and a lattice that excludes these has a path.
ARGMAX, FOUND, NEXT_BEST, WITHOUT_CYCLES = range(4)

# Or why it is not yet: the best path has a cycle; it is far below the best labels of all, and was not looked for; no
# path was found.
CYCLIC, FAR, LOST = range(4, 7)


@compiled()
def settle_all(tables: Tables, heads: Int32s) -> Int8s:
    """Put down heads where each word's best labels are the best tree.

    Gives how sentences were decided, `FAR` for those that are left. It is apart from the search, which takes longer to
    compile.
    """
    offsets, outcomes = tables.offsets, np.full(len(tables.offsets) - 1, ARGMAX, dtype=np.int8)
    for s in range(len(outcomes)):
        if not _is_settled(offsets[s], offsets[s + 1], tables, heads):
            outcomes[s] = FAR
    return outcomes


@compiled()
def search_left(outcomes: Int8s, tables: Tables, limits: SearchLimits, chosen: Int32s, heads: Int32s) -> None:
    """Put the best labels and heads of the sentences that are left into `chosen` and `heads`.

    Where the best path has a cycle or is too far off, the labels stay each word's best.
    """
    offsets, left = tables.offsets, outcomes > WITHOUT_CYCLES
    problem = make_problem(left, tables, limits, False)
    beams = beams_for(offsets, problem, limits, BEST)
    for s in range(len(left)):
        if left[s]:
            path = quickest(offsets[s], offsets[s + 1] - offsets[s], problem, limits, beams)
            outcomes[s] = _take(path, offsets[s], offsets[s + 1] - offsets[s], problem, chosen, heads)


@compiled()
def search_further(
    outcomes: Int8s, tables: Tables, limits: SearchLimits, chosen: Int32s, heads: Int32s, again: bool
) -> None:
    """The same for sentences whose best path has a cycle or is far off, by other limits.

    A quick search comes first if it is to be done `again`, or if arcs count and no path was found. Whole lattices and
    those without cycles are for labels without arcs.
    """
    offsets, left, with_arcs = tables.offsets, outcomes > WITHOUT_CYCLES, tables.heads.shape[1] > 0
    problem = make_problem(left, tables, limits, False)
    for s in range(len(left)):
        start, words, outcome = offsets[s], offsets[s + 1] - offsets[s], outcomes[s]
        if left[s] and (again or (with_arcs and outcome == FAR)):
            beams = beams_for(offsets[s : s + 2], problem, limits, BEST)
            outcome = _take(quickest(start, words, problem, limits, beams), start, words, problem, chosen, heads)
        if outcome == CYCLIC or (outcome == FAR and not with_arcs):
            outcome = _search_lattice(start, words, problem, limits, outcome, chosen, heads)
        if outcome == CYCLIC and not with_arcs:
            outcome = _search_without_cycles(start, words, problem, limits, chosen, heads)
        outcomes[s] = outcome


@compiled()
def _search_lattice(
    start: int, words: int, problem: Problem, limits: SearchLimits, outcome: int, chosen: Int32s, heads: Int32s
) -> int:
    """The best path of a sentence's whole lattice, if it is not known; then the first one without a cycle."""
    goal, beams = lattice_of(start, words, problem, limits, ALL)
    if outcome == FAR and goal < 0:
        return LOST
    if outcome == FAR:
        outcome = _take(spell_out(beams.sources[goal], words, beams), start, words, problem, chosen, heads)
    if outcome == CYCLIC:
        labels, trees, _ = next_trees(goal, words, beams, problem, 1, limits.nodes)
        if len(trees):
            chosen[:, start : start + words] = labels[0]
            heads[start : start + words] = trees[0]
            return NEXT_BEST
    return outcome


@compiled()
def _search_without_cycles(
    start: int, words: int, problem: Problem, limits: SearchLimits, chosen: Int32s, heads: Int32s
) -> int:
    """A good path without a cycle, by states that are checked for cycles word by word."""
    # Each such state costs as much as there are words before it.
    beam = min(limits.beam, max(FEWEST, STEPS_WITHOUT_CYCLES // words**2))
    state, beams = lattice_of(start, words, problem, SearchLimits(beam, *limits[1:]), ACYCLIC)
    if state >= 0 and _take(spell_out(state, words, beams), start, words, problem, chosen, heads) == FOUND:
        return WITHOUT_CYCLES
    return CYCLIC


@compiled()
def _is_settled(start: int, end: int, tables: Tables, heads: Int32s) -> bool:
    """Whether every word's best labels, relation, depths and arc agree on a tree; if they do, its heads are put down.

    No others are likelier, so there is nothing to search.
    """
    labels, tops, roots, depths = tables.labels, tables.tops, tables.roots, tables.depths
    some, others = bool(roots.any()), not roots.all()
    key = 0
    for at in range(start, end):
        one, two = tops[0, at], labels.second + tops[1, at]
        kind, before = labels.kinds[one] | labels.kinds[two], key
        if not fit(labels.kinds[one], labels.kinds[two], at == start):
            return False
        need, change = labels.needs[one] + labels.needs[two], labels.changes[one] + labels.changes[two]
        key = next_state(key, need, change, kind, DEPTHS & ~GUARDS)
        if key < 0:
            return False
        for stack in range(len(depths)):
            depth = depth_of(key, stack, depths.shape[2] - 1)
            for other in range(depths.shape[2]):
                if depths[stack, at, other] > depths[stack, at, depth]:
                    return False
        if before & HEADLESS:
            relation, root = best_two(tables.relations, at - 1, roots, some, others)
            if root > relation if kind & OPENS_LEFT else root < relation:
                return False
        if kind & CLOSES_RIGHT:
            relation, root = best_two(tables.relations, at, roots, some, others)
            if root > relation:
                return False
    if start == end:
        return True
    if key & DEPTHS or not may_end(key):
        return False
    if key & HEADLESS:
        relation, root = best_two(tables.relations, end - 1, roots, some, others)
        if root < relation:
            return False
    found = heads_of_labels(tops, start, end - start, labels)
    heads[start:end] = found
    return not has_cycle(found) and (not tables.heads.shape[1] or _agree(found, start, tables.heads))


@compiled()
def _agree(found: Int32s, start: int, likely: Int32s) -> bool:
    """Whether all heads of a sentence are the likeliest."""
    for word in range(len(found)):  # noqa: SIM110 (the compiler takes no generators)
        if found[word] != likely[start + word, 0]:
            return False
    return True


@compiled()
def _take(path: Int32s, start: int, words: int, problem: Problem, chosen: Int32s, heads: Int32s) -> int:
    """Put the labels and heads of a path where they belong, if it is a tree, and say whether it is."""
    if len(path) < words:
        return FAR
    tops = chosen[:, start : start + words].copy()
    put_labels(path, problem, start, chosen)
    found = heads_of_labels(chosen, start, words, problem.labels)
    heads[start : start + words] = found
    if not has_cycle(found):
        return FOUND
    chosen[:, start : start + words] = tops
    return CYCLIC


@compiled()
def propose(tables: Tables, lost: Bools, longest: int, chosen: Int32s, heads: Int32s) -> tuple[Int64s, Int32s]:
    """The best trees of the arcs alone where these disagree with the heads, and might be better.

    Gives the numbers of these sentences, and the proposed heads, end to end. Where the search was lost, the proposal is
    put into `heads` at once. Sentences with more words than the longest are left as they are.
    """
    offsets, likely, logs = tables.offsets, tables.heads, tables.logs
    sentences, proposed, count, total = np.empty(len(lost), dtype=np.int64), np.empty(len(heads), dtype=np.int32), 0, 0
    for s in range(len(lost)):
        start, words = offsets[s], offsets[s + 1] - offsets[s]
        own, tops = heads[start : start + words], tables.tops[:, start : start + words]  # with these, most is gained
        if words > longest or (not lost[s] and _agree(own, start, likely)):
            continue
        tree = likely[start : start + words, 0].copy()
        if not forms_tree(tree):
            tree = best_tree(table_of_heads(likely[start : start + words], logs[start : start + words]))
        if lost[s]:
            heads[start : start + words] = tree
        elif (tree != own).any() and _gained(start, tree, tops, tables, chosen, heads) > NEARLY:
            proposed[total : total + words] = tree
            sentences[count] = s
            count, total = count + 1, total + words
    return sentences[:count], proposed[:total]


@compiled()
def accept(
    sentences: Int64s, proposed: Int32s, known: Bools, labels: Int32s, tables: Tables, chosen: Int32s, heads: Int32s
) -> None:
    """Take the proposed trees that are better than the heads, if all their labels are known, and say these trees."""
    at = 0
    for number in range(len(sentences)):
        start = tables.offsets[sentences[number]]
        words = tables.offsets[sentences[number] + 1] - start
        tree = proposed[at : at + words]
        if known[number]:
            gain = _gained(start, tree, labels[:, at : at + words], tables, chosen, heads)
            if gain > NEARLY and (heads_of_labels(labels, at, words, tables.labels) == tree).all():
                heads[start : start + words] = tree
        at += words


@compiled()
def _gained(start: int, tree: Int32s, labels: Int32s, tables: Tables, chosen: Int32s, heads: Int32s) -> float:
    """What arcs, relations and labels, (2, words), gain if a sentence becomes another tree."""
    gain, roots = 0.0, tables.roots
    some, others = bool(roots.any()), not roots.all()
    for word in range(len(tree)):
        at = start + word
        new, old = UNLIKELY, UNLIKELY
        for place in range(tables.heads.shape[1]):
            if tables.heads[at, place] == tree[word]:
                new = max(new, float(tables.logs[at, place]))
            if tables.heads[at, place] == heads[at]:
                old = max(old, float(tables.logs[at, place]))
        gain += tables.weight * (new - old)
        if (tree[word] == 0) != (heads[at] == 0):
            relation, root = best_two(tables.relations, at, roots, some, others)
            gain += float(root - relation if tree[word] == 0 else relation - root)
    for word in range(len(tree)):
        at = start + word
        gain += tables.first[at, labels[0, word]] - tables.first[at, chosen[0, at]]
        gain += SECOND_PLANE * (tables.second[at, labels[1, word]] - tables.second[at, chosen[1, at]])
    return gain
