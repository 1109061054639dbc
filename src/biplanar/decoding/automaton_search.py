"""The search over labels that drive an automaton: the best label sequences that are trees.

The lattice of the automaton gives label sequences in the order of their probabilities. Each tree's score is that of its
labels, of the best relations that its heads allow, and, if the network scores arcs, of these. What relations and arcs
can add at most is known, so that the search ends when no later sequence can be better, or after `MOST_TREES`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from biplanar.compiled import compiled
from biplanar.data.arrays import Bools, Float32s, Float64s, Int32s
from biplanar.data.forest import Column, offsets_of
from biplanar.decoding.arcs import head_table
from biplanar.decoding.beam import Beam, Outcome, SearchConfig
from biplanar.decoding.candidates import MASS, MOST_LABELS, best_labels, best_relations, likeliest
from biplanar.decoding.inventory import LabelInventory
from biplanar.decoding.lattice.arcs import UNLIKELY
from biplanar.decoding.lattice.automaton import Choices, accepted, best_paths, find_paths
from biplanar.decoding.lattice.trees import has_cycle
from biplanar.decoding.repaired import repaired_heads
from biplanar.decoding.scores import LikelyHeads, Scores
from biplanar.decoding.spanning import spanning_tree
from biplanar.decoding.stack_search import LONGEST_TABLE
from biplanar.encodings.automata import Automaton, as_automaton_encoding

# How many label sequences of a sentence are looked at: more and more, if the best tree is not certain.
ROUNDS = (2, 8, 64)
MOST_TREES = ROUNDS[-1]

# Sums of floats in another order.
NEARLY = 1e-4


@dataclass(frozen=True)
class AutomatonSearch:
    """The search over the labels of one model."""

    inventory: LabelInventory
    config: SearchConfig = field(default_factory=SearchConfig)

    def __post_init__(self) -> None:
        self.inventory.check_tasks(1, "one task whose labels drive an automaton")

    @cached_property
    def automaton(self) -> Automaton:
        """What the labels do."""
        encoding = as_automaton_encoding(self.inventory.encoding)
        return encoding.automaton(self.inventory.names[encoding.tasks[0]])

    def trees(self, scores: Scores, upos: Column | None = None) -> AutomatonTrees:
        """The trees of some sentences."""
        return AutomatonTrees(self, scores, upos)


@dataclass(frozen=True)
class Found:
    """Some trees of one sentence, best first."""

    trees: Int32s  # (trees, words)
    scores: Float64s
    is_first: bool = True  # whether the best tree is that of the best label sequence
    certain: bool = True  # whether no other label sequence of the lattice has a better tree


@dataclass(frozen=True)
class AutomatonTrees:
    """The trees of some sentences."""

    search: AutomatonSearch
    scores: Scores
    upos: Column | None = None

    def best(self) -> tuple[Int32s, Outcome]:
        """The best trees; where none was found, the best trees of the arcs alone, or else of greedy decoding."""
        heads, decided = self._argmax
        heads, outcome = heads.copy(), Outcome(argmax=int(decided.sum()))
        for sentence in np.flatnonzero(~decided).tolist():
            words, found = self._words(sentence), self._found(sentence)
            if len(found.trees):
                heads[words] = found.trees[0]
                outcome += Outcome(best=1) if found.is_first else Outcome(next_best=1)
                continue
            outcome += Outcome(lost=1, widened=1)
            if self._likely is not None and words.stop - words.start <= LONGEST_TABLE:
                heads[words] = spanning_tree(head_table(self._likely, words))
            else:
                heads[words] = self._repaired(words)
        return heads, outcome

    def least_risk(self) -> tuple[Int32s, Outcome]:
        """Trees whose arcs are likeliest, by the best trees of each sentence; of long sentences, the best trees."""
        heads, outcome = self.best()
        for sentence in range(len(self.scores.offsets) - 1):
            words = self._words(sentence)
            if words.stop - words.start <= LONGEST_TABLE:
                found, shares = self._shares(sentence)
                if len(found.trees):
                    table = np.zeros((found.trees.shape[1], found.trees.shape[1] + 1))
                    for tree, share in zip(found.trees, shares, strict=True):
                        table[np.arange(len(tree)), tree] += share
                    heads[words] = spanning_tree(table)
        return heads, outcome

    def probabilities(self, heads: Int32s) -> Float32s:
        """How likely each word's head is, among the best trees of its sentence; NaN where no tree was found."""
        result = np.full(len(heads), np.nan, dtype=np.float32)
        for sentence in range(len(self.scores.offsets) - 1):
            words, (found, shares) = self._words(sentence), self._shares(sentence)
            if len(found.trees):
                result[words] = (found.trees == heads[words]).T @ shares
        return result

    def several(self, wanted: int) -> list[list[tuple[Int32s, float]]]:
        """For each sentence the heads of up to so many different trees, best first, with their scores."""
        sentences = range(len(self.scores.offsets) - 1)
        found = [self._found(sentence, (max(MOST_TREES, 2 * wanted),), wanted) for sentence in sentences]
        return [list(zip(one.trees[:wanted], one.scores[:wanted].tolist(), strict=True)) for one in found]

    def _shares(self, sentence: int) -> tuple[Found, Float64s]:
        """The best trees of a sentence, and how likely each of them is."""
        found = self._found(sentence, (MOST_TREES,))
        logs = found.scores / self.search.inventory.weights.temperature
        shares = np.exp(logs - logs.max(initial=-np.inf))
        return found, shares / max(shares.sum(), np.finfo(np.float64).tiny)

    def _found(self, sentence: int, rounds: Sequence[int] = ROUNDS, wanted: int = 1) -> Found:
        """Trees of a sentence, of more and more label sequences until the best one is certain.

        Where there are fewer trees than wanted, a wider search may find them.
        """
        words = self._words(sentence)
        for limits in (self._beam.limits(), self._beam.widened().limits()):
            size = words.stop - words.start
            paths = find_paths(words.start, size, self._choices, self.search.automaton, limits)
            for count in rounds:
                found = self._read(*best_paths(paths, size, count, limits.nodes * count), words, count)
                if found.certain:
                    break
            if len(found.trees) >= wanted:
                break
        return found

    def _read(self, labels: Int32s, scores: Float64s, words: slice, count: int) -> Found:
        """The trees of some label sequences, each once; if these are fewer than `count`, there are no others."""
        trees, good = self._decoded(labels, words)
        totals = scores + self._added(trees, words)
        order = np.argsort(np.where(good, -totals, np.inf), kind="stable")[: good.sum()]
        _, firsts = np.unique(trees[order], axis=0, return_index=True)
        order = order[np.sort(firsts)]
        certain = len(labels) < count
        if len(order) and not certain:
            certain = bool(totals[order[0]] >= scores[-1] + self._most_added(words) - NEARLY)
        return Found(trees[order], totals[order], len(order) > 0 and order[0] == 0, certain)

    def _decoded(self, labels: Int32s, words: slice) -> tuple[Int32s, Bools]:
        """The trees of some label sequences of a sentence, and whether they are trees.

        An encoding reads the names of all labels, of which there may be thousands, so it is given those that are used.
        """
        inventory, size = self.search.inventory, words.stop - words.start
        names = inventory.names[inventory.encoding.tasks[0]]
        used, ids = np.unique(labels, return_inverse=True)
        column = Column(ids.reshape(-1).astype(np.int32), tuple(names[label] for label in used.tolist()))
        asserted = inventory.encoding.decode([column], offsets_of([size] * len(labels)))
        return np.maximum(asserted, 0).reshape(-1, size), are_trees(np.asarray(asserted).reshape(-1, size))

    def _added(self, trees: Int32s, words: slice) -> Float64s:
        """What relations and arcs add to the score of each tree of a sentence."""
        relations, roots = self._relations
        added = np.where(trees > 0, relations[words], roots[words]).sum(axis=1).astype(np.float64)
        if self._likely is not None:
            found = self._likely.heads[words] == trees[:, :, None]  # (trees, words, heads)
            logs = np.where(found, self._likely.logs[words], UNLIKELY).max(axis=2)
            added += self.search.inventory.weights.arcs * np.maximum(logs, UNLIKELY).sum(axis=1).astype(np.float64)
        return np.asarray(added)

    def _most_added(self, words: slice) -> float:
        relations, roots = self._relations
        most = float(np.maximum(relations[words], roots[words]).sum())
        if self._likely is not None:
            tops = np.maximum(self._likely.logs[words, 0], UNLIKELY)
            most += self.search.inventory.weights.arcs * float(tops.sum())
        return most

    @cached_property
    def _argmax(self) -> tuple[Int32s, Bools]:
        """The trees of each word's best label, and in which sentences nothing could be better."""
        offsets, inventory = self.scores.offsets, self.search.inventory
        labels = best_labels(self.scores.labels[inventory.encoding.tasks[0]])
        asserted = inventory.encoding.decode(inventory.columns([labels]), offsets)
        heads, decided = np.maximum(asserted, 0), accepted(labels, offsets, self.search.automaton)
        for sentence in np.flatnonzero(decided).tolist():
            words = self._words(sentence)
            decided[sentence] = bool(are_trees(np.asarray(asserted[words])[None])[0])
            decided[sentence] &= self._added(heads[None, words], words)[0] >= self._most_added(words) - NEARLY
        return heads, decided

    @cached_property
    def _choices(self) -> Choices:
        """The likeliest labels of all words."""
        table = self.scores.labels[self.search.inventory.encoding.tasks[0]]
        return Choices(*likeliest(table, np.arange(len(table)), MASS, -np.inf, MOST_LABELS))

    @cached_property
    def _relations(self) -> tuple[Float32s, Float32s]:
        deprels = self.scores.deprels
        return best_relations(deprels, np.arange(len(deprels)), self.search.inventory.roots)

    @cached_property
    def _likely(self) -> LikelyHeads | None:
        arcs, weight = self.scores.arcs, self.search.inventory.weights.arcs
        return arcs.likeliest() if arcs is not None and weight else None

    @property
    def _beam(self) -> Beam:
        return self.search.config.beam

    def _words(self, sentence: int) -> slice:
        return slice(*self.scores.offsets[sentence : sentence + 2].tolist())

    def _repaired(self, words: slice) -> Int32s:
        inventory = self.search.inventory
        labels = best_labels(self.scores.labels[inventory.encoding.tasks[0]][words])
        offsets = np.array([0, words.stop - words.start])
        return repaired_heads(inventory, [labels], self.scores.deprels[words], offsets, self.upos)


@compiled()
def are_trees(asserted: Int32s) -> Bools:
    """Which rows of heads are trees with one root, which may be a word without a head (-1)."""
    result = np.zeros(len(asserted), dtype=np.bool_)
    for row in range(len(asserted)):
        roots = 0
        for head in asserted[row]:
            roots += head <= 0
        result[row] = roots == 1 and not has_cycle(np.maximum(asserted[row], 0).astype(np.int32))
    return result
