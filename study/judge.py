"""Scores of many parses of the same words, as counts: what `biplanar.evaluation` says, with the alignment kept."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from biplanar.data.arrays import Bools, Int32s, Int64s
from biplanar.data.conllu import Sentence
from biplanar.data.forest import Column, Forest, offsets_of
from biplanar.data.tree import Tree
from biplanar.evaluation.alignment import NOWHERE, ROOT, Alignment, SpannedText, align
from biplanar.planes.crossings import nonprojective

Counts = dict[str, list[int]]  # by metric: correct, gold, system
Names = NDArray[np.str_]


@dataclass(frozen=True)
class Judge:
    """Gold trees, and the words that systems parse: the gold ones, or others cut from the same text."""

    gold: Forest
    relations: Names  # of the gold words
    alignment: Alignment
    offsets: Int64s  # of the sentences that are parsed

    @classmethod
    def of(cls, gold: list[Sentence], words: list[Sentence]) -> Judge:
        """Align the words that will be parsed with the gold ones."""
        forest = Forest.from_sentences(gold)
        alignment = align(SpannedText.from_sentences(gold), SpannedText.from_sentences(map(with_any_tree, words)))
        return cls(forest, np.array(forest.deprels.labels()), alignment, offsets_of(map(len, words)))

    def right(self, heads: Int32s, deprels: Column) -> tuple[Bools, Bools, Bools]:
        """For every pair of aligned words: right head; right relation too, without subtypes; and with them."""
        gold_at, system_at = self.alignment.gold_at, self.alignment.system_at
        places = _places(heads, self.offsets)
        found = np.where(places == ROOT, ROOT, self.alignment.gold_words[places])
        right_heads = self._gold_places[gold_at] == found[system_at]
        names = np.array(deprels.names)[deprels.ids][system_at]
        wanted = self.relations[gold_at]
        same = np.char.partition(names, ":")[:, 0] == np.char.partition(wanted, ":")[:, 0]
        return right_heads, right_heads & same, right_heads & (names == wanted)

    def counts(self, heads: Int32s, deprels: Column) -> Counts:
        """All scores of one parse."""
        right = dict(zip(("UAS", "LAS", "ExactLAS"), self.right(heads, deprels), strict=True))
        sizes = [len(self.gold.heads), len(heads)]
        accuracies = {metric: [int(pairs.sum()), *sizes] for metric, pairs in right.items()}
        return accuracies | self._crossing(heads, deprels, right["UAS"])

    def by_sentence(self, heads: Int32s, deprels: Column) -> Int64s:
        """The words of each gold sentence that have the right head and relation."""
        _, labelled, _ = self.right(heads, deprels)
        sentences = self.alignment.gold.sentence_of[self.alignment.gold_at[labelled]]
        return np.bincount(sentences, minlength=len(self.gold))

    @cached_property
    def _gold_places(self) -> Int64s:
        return _places(self.gold.heads, self.gold.offsets)

    @cached_property
    def _gold_crossing(self) -> Bools:
        return np.asarray(nonprojective(self.gold))

    def _crossing(self, heads: Int32s, deprels: Column, right_heads: Bools) -> Counts:
        """Sentences and dependencies that are not projective, as in `biplanar.evaluation.metrics`."""
        system = np.asarray(nonprojective(Forest(self.offsets, heads, deprels)))
        gold, twins = self._gold_crossing, self.alignment.twin_sentences
        gold_sentences, system_sentences = _any(gold, self.gold.offsets), _any(system, self.offsets)
        paired = twins != NOWHERE
        sentences = int((gold_sentences[paired] & system_sentences[twins[paired]]).sum())
        both = gold[self.alignment.gold_at] & system[self.alignment.system_at]
        return {
            "NonprojectiveSentences": [sentences, int(gold_sentences.sum()), int(system_sentences.sum())],
            "NonprojectiveDependencies": [int((both & right_heads).sum()), int(gold.sum()), int(system.sum())],
        }


def _places(heads: Int32s, offsets: Int64s) -> Int64s:
    """Where each word's head is among all words, or `ROOT`."""
    starts = np.repeat(offsets[:-1], np.diff(offsets))
    return np.where(heads == 0, ROOT, starts + heads - 1)


def _any(flags: Bools, offsets: Int64s) -> Bools:
    """For each sentence, whether a word of it has the flag."""
    return np.asarray(np.logical_or.reduceat(flags, offsets[:-1]))


def with_any_tree(sentence: Sentence) -> Sentence:
    """A sentence that has a tree, as those that are evaluated must."""
    size = len(sentence)
    return sentence.with_tree(Tree((0, *([1] * (size - 1))), ("root", *(["dep"] * (size - 1)))))
