"""The search over labels that drive an automaton: the best label sequences that are trees.

The lattice of the automaton gives label sequences in the order of their probabilities. Each tree's score is that of its
labels, of the best relations that its heads allow, and, if the network scores arcs, of these. What relations and arcs
can add at most is known, so that the search ends when no later sequence can be better, or after `MOST_SEQUENCES`. Where
it ends without certainty, arcs propose trees, too: their own best one, and the best one of them and of the trees that
were found. Proposals are encoded, so that their labels have scores as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from biplanar.compiled import compiled
from biplanar.data.arrays import Bools, Float32s, Float64s, Int32s, Int64s
from biplanar.data.forest import offsets_of, words_of
from biplanar.decoding.arcs import LONGEST_TABLE, head_table
from biplanar.decoding.beam import Outcome
from biplanar.decoding.candidates import Likeliest, best_relations, likeliest
from biplanar.decoding.lattice.automaton import Sequences, accepted, label_sequences
from biplanar.decoding.lattice.trees import forms_tree
from biplanar.decoding.scores import NEARLY, UNLIKELY, LikelyHeads, log_probabilities
from biplanar.decoding.sentences import ScoredSentences
from biplanar.decoding.spanning import spanning_tree

# How many label sequences of a sentence are looked at: more, if the best tree is not certain.
ROUNDS = (4, 64)
MOST_SEQUENCES = ROUNDS[-1]

# What a head counts for which no tree votes.
NO_VOTE = 1e-6

NO_ARCS = LikelyHeads(np.zeros((0, 1), dtype=np.int32), np.zeros((0, 1), dtype=np.float32))


@dataclass(frozen=True)
class Found:
    """Some trees of one sentence, best first, each once."""

    trees: Int32s  # (trees, words)
    scores: Float64s
    is_first: bool  # whether the best tree is the first that was looked at
    certain: bool = False  # whether no label sequence behind those that were looked at has a better tree

    @classmethod
    def of(cls, trees: Int32s, scores: Float64s) -> Found:
        """Put trees in order; what has the score -inf is none."""
        firsts: dict[bytes, int] = {}
        for place in np.argsort(-scores, kind="stable")[: np.isfinite(scores).sum()].tolist():
            firsts.setdefault(trees[place].tobytes(), place)
        order = list(firsts.values())
        return cls(trees[order], scores[order], order[:1] == [0])

    def and_others(self, others: Found) -> Found:
        """All trees of both."""
        both = Found.of(np.concatenate([self.trees, others.trees]), np.concatenate([self.scores, others.scores]))
        return replace(both, is_first=self.is_first and both.is_first)

    @property
    def shares(self) -> Float64s:
        """How likely each tree is among these."""
        shares = np.exp(self.scores - self.scores.max(initial=-np.inf))
        return np.asarray(shares / max(shares.sum(), np.finfo(np.float64).tiny))

    def votes(self) -> Float64s:
        """How likely each head of each word is: (words, 1 + words)."""
        words = self.trees.shape[1]
        table = np.zeros((words, words + 1))
        for tree, share in zip(self.trees, self.shares, strict=True):
            table[np.arange(words), tree] += share
        return table


class AutomatonSearch(ScoredSentences):
    """The trees of some sentences."""

    finds_several = True

    def best(self) -> tuple[Int32s, Outcome]:
        """The best trees; where none was found, the best trees of the arcs alone, or else of greedy decoding."""
        heads, decided = self._argmax
        heads, outcome = heads.copy(), Outcome(argmax=int(decided.sum()))
        for sentence, found in self._found(np.flatnonzero(~decided).tolist()).items():
            words = self.words(sentence)
            if len(found.trees):
                heads[words] = found.trees[0]
                outcome += Outcome(best=1) if found.is_first else Outcome(next_best=1)
                continue
            outcome += Outcome(lost=1, widened=1)
            if self.likely is not None and self._has_table(sentence):
                heads[words] = spanning_tree(head_table(self.likely, words))
            else:
                heads[words] = self.repaired(self.best_labels(words), words)
        return heads, outcome

    def least_risk(self) -> tuple[Int32s, Outcome]:
        """Trees whose arcs are likeliest, by the best trees of each sentence; of long sentences, the best trees."""
        heads, outcome = self.best()
        for sentence, found in self._shared.items():
            if len(found.trees) and self._has_table(sentence):
                heads[self.words(sentence)] = spanning_tree(found.votes())
        return heads, outcome

    def probabilities(self, heads: Int32s) -> Float32s:
        """How likely each word's head is, among the best trees of its sentence; NaN where no tree was found."""
        result = np.full(len(heads), np.nan, dtype=np.float32)
        for sentence, found in self._shared.items():
            if len(found.trees):
                words = self.words(sentence)
                result[words] = (found.trees == heads[words]).T @ found.shares
        return result

    def several(self, wanted: int) -> list[list[tuple[Int32s, float]]]:
        """For each sentence the heads of up to `wanted` different trees, best first, with their scores."""
        found = self._found(self._all, (max(MOST_SEQUENCES, 2 * wanted),), wanted).values()
        return [list(zip(one.trees[:wanted], one.scores[:wanted].tolist(), strict=True)) for one in found]

    @cached_property
    def _shared(self) -> dict[int, Found]:
        """The best trees of each sentence, of many label sequences, with scores that suit the temperature."""
        found, temperature = self._found(self._all, (MOST_SEQUENCES,)), self.inventory.weights.temperature
        return {sentence: replace(one, scores=one.scores / temperature) for sentence, one in found.items()}

    def _found(self, sentences: Sequence[int], rounds: Sequence[int] = ROUNDS, wanted: int = 1) -> dict[int, Found]:
        """Trees of some sentences, of more and more label sequences until the best one is certain.

        Where there are fewer trees than wanted, a wider search may find them.
        """
        found: dict[int, Found] = {}
        pending, beam, offsets = sentences, self.beam, self.scores.offsets
        for searched, counts in ((beam, rounds), (beam.widened, rounds[-1:])):
            limits = searched.limits
            for count in counts:
                numbers = np.array(pending, dtype=np.int64)
                labels = label_sequences(numbers, offsets, self._choices, self.inventory.automaton, limits, count)
                found |= zip(pending, self._read(numbers, labels), strict=True)
                more = numbers[labels.counts == count].tolist()
                pending = [sentence for sentence in more if not found[sentence].certain]
            pending = [sentence for sentence in sentences if len(found[sentence].trees) < wanted]
        return found if self.likely is None else found | self._with_proposals(found, self.likely)

    def _read(self, sentences: Int64s, labels: Sequences) -> Iterator[Found]:
        """The trees of some sentences' label sequences."""
        lengths = np.diff(self.scores.offsets)[sentences]
        heads = self.inventory.heads_of([labels.ids], offsets_of(np.repeat(lengths, labels.counts)))
        totals = labels.scores + self._added(heads, sentences, labels.counts)
        starts, bases = offsets_of(labels.counts), offsets_of(lengths * labels.counts)
        for row, sentence in enumerate(sentences.tolist()):
            own = slice(starts[row], starts[row + 1])
            trees = np.maximum(heads[bases[row] : bases[row + 1]], 0).reshape(labels.counts[row], lengths[row])
            found = Found.of(trees, totals[own])
            if len(found.trees):
                most = labels.scores[own][-1] + self._most_added[sentence]
                found = replace(found, certain=bool(found.scores[0] >= most - NEARLY))
            yield found

    def _with_proposals(self, found: dict[int, Found], likely: LikelyHeads) -> dict[int, Found]:
        """Of sentences whose best tree is not certain, the same trees, and those that arcs propose."""
        chosen = [one for one in found if not found[one].certain and len(found[one].trees) and self._has_table(one)]
        if not chosen:
            return {}
        heads = list[Int32s]()
        for sentence in chosen:
            table = head_table(likely, self.words(sentence))
            votes = np.log(found[sentence].votes() + NO_VOTE)
            both = votes + self.inventory.weights.arcs * np.maximum(table, UNLIKELY)
            heads += [spanning_tree(table), spanning_tree(both)]
        sentences = np.array(chosen, dtype=np.int64)
        others = self._read(sentences, self._encoded(sentences, np.concatenate(heads)))
        return {sentence: found[sentence].and_others(one) for sentence, one in zip(chosen, others, strict=True)}

    def _encoded(self, sentences: Int64s, heads: Int32s) -> Sequences:
        """The labels of two trees of each sentence, but for trees with labels that are not in the inventory."""
        rows, offsets = words_of(np.repeat(sentences, 2), self.scores.offsets)
        (ids,), known = self.inventory.labels_of(heads, offsets)
        logs = log_probabilities(self._table[rows])[np.arange(len(ids)), ids]
        scores = np.add.reduceat(logs.astype(np.float64), offsets[:-1])
        return Sequences(known.reshape(-1, 2).sum(axis=1), ids[np.repeat(known, np.diff(offsets))], scores[known])

    def _added(self, heads: Int32s, sentences: Int64s, counts: Int64s) -> Float64s:
        """What relations and arcs add to the score of each tree, -inf to that of what is none."""
        likely = self.likely or NO_ARCS
        arcs = (likely.heads, likely.logs, float(self.inventory.weights.arcs))
        return np.asarray(added_scores(heads, sentences, counts, self.scores.offsets, self._relations, arcs))

    @cached_property
    def _most_added(self) -> Float64s:
        """What they add to the scores of each sentence's trees at most."""
        most = np.maximum(*self._relations).astype(np.float64)
        if self.likely is not None:
            most += self.inventory.weights.arcs * np.maximum(self.likely.logs[:, 0], UNLIKELY)
        return np.diff(np.cumsum(np.append(0.0, most))[self.scores.offsets])

    @cached_property
    def _argmax(self) -> tuple[Int32s, Bools]:
        """The trees of each word's best label, and in which sentences nothing could be better."""
        (labels,), offsets = self.best_labels(), self.scores.offsets
        heads = self.inventory.heads_of([labels], offsets)
        added = self._added(heads, np.arange(len(self._all)), np.ones(len(self._all), dtype=np.int64))
        decided = accepted(labels, offsets, self.inventory.automaton) & (added >= self._most_added - NEARLY)
        return np.maximum(heads, 0), decided

    @cached_property
    def _choices(self) -> Likeliest:
        """The likeliest labels of all words."""
        (tops,), every = self.best_labels(), np.ones(len(self._all), dtype=np.bool_)
        return likeliest(self._table, tops, every, self.scores.offsets, self.beam.mass, -np.inf)

    @cached_property
    def _relations(self) -> tuple[Float32s, Float32s]:
        return best_relations(self.scores.deprels, self.inventory.roots)

    @property
    def _table(self) -> Float32s:
        """The scores of the one task's labels."""
        return self.scores.labels[self.inventory.encoding.tasks[0]]

    @property
    def _all(self) -> range:
        """The numbers of all sentences."""
        return range(len(self.scores.offsets) - 1)

    def _has_table(self, sentence: int) -> bool:
        """Whether a sentence is short enough for a table of all heads."""
        return bool(np.diff(self.scores.offsets)[sentence] <= LONGEST_TABLE)


@compiled()
def added_scores(
    heads: Int32s,
    sentences: Int64s,
    counts: Int64s,
    offsets: Int64s,
    best: tuple[Float32s, Float32s],
    arcs: tuple[Int32s, Float32s, float],
) -> Float64s:
    """What relations and arcs add to the score of each tree of some sentences, -inf to that of what is none.

    These are the best relations of words with heads and of roots; and the likeliest heads, their logs and their weight.
    """
    (relations, roots), (likely, logs, weight) = best, arcs
    added, at, tree = np.zeros(counts.sum()), 0, 0
    for row in range(len(sentences)):
        start, end = offsets[sentences[row]], offsets[sentences[row] + 1]
        for _ in range(counts[row]):
            own = heads[at : at + end - start]
            at += end - start
            if not forms_tree(own):
                added[tree] = -np.inf
            else:
                for word in range(start, end):
                    head = max(own[word - start], 0)
                    added[tree] += relations[word] if head > 0 else roots[word]
                    if len(likely):
                        log = UNLIKELY
                        for place in range(likely.shape[1]):
                            if likely[word, place] == head:
                                log = max(log, logs[word, place])
                        added[tree] += weight * log
            tree += 1
    return added
