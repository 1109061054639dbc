"""Relations of enhanced graphs as labels.

Most arcs of a graph are in the tree too, and their relations follow from it: the tree's relation as it is (`_`), or
with a suffix. `+lemma` adds the lemma of a function word (obl:in, conj:and), `+case` the value of Case (obl:gen). Many
other arcs come from coordination, and have the relation of another arc (`=`). What follows from no rule is its own
label.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from operator import itemgetter
from typing import Any

import numpy as np

from biplanar.compiled import compiled
from biplanar.data.arrays import Bytes, Int32s, Int64s
from biplanar.data.conllu import EMPTY, FEATS, LEMMA, Sentence
from biplanar.data.forest import Column, Forest, number_values
from biplanar.data.graph import EnhancedHead, Graph, Node, deps_text, is_relation

PLAIN, ADD_LEMMA, ADD_CASE = EMPTY, "+lemma", "+case"
RULES = (PLAIN, ADD_LEMMA, ADD_CASE, ADD_LEMMA + ADD_CASE)
SAME = "="

# In place of what is no relation; and the relation of all arcs from the root, and of no others.
UNKNOWN, ROOT = "dep", "root"

# What the universal part of a relation says of a word.
_MARKER, _CONJUNCTION, _FIXED, _CONJUNCT = range(1, 5)
_ROLES = {"case": _MARKER, "mark": _MARKER, "cc": _CONJUNCTION, "fixed": _FIXED, "conj": _CONJUNCT}

_CASE = re.compile(r"(?:^|\|)Case=([^|,]+)")
_SUFFIX = re.compile(r"[^\W\d_]+(?:_[^\W\d_]+)*")

Arc = tuple[int, int]  # head and dependent


@dataclass(frozen=True)
class AnnotatedTrees:
    """Trees with the columns from which suffixes of relations are taken, word by word."""

    forest: Forest
    lemmas: Column
    feats: Column

    @classmethod
    def of(cls, sentences: Sequence[Sentence]) -> AnnotatedTrees:
        """Those of parsed sentences."""
        columns = (Column.of(value for one in sentences for value in one.column(name)) for name in (LEMMA, FEATS))
        return cls(Forest.from_sentences(sentences), *columns)

    @cached_property
    def lemma_suffixes(self) -> Column:
        """The lemma of the function word that marks a word, with its `fixed` words; empty if there is none.

        A conjunct has its conjunction, or else that of the next conjunct, or of the one before. Other words have the
        last of their case markers and subordinators.
        """
        markers = _find_markers(self.forest.heads, self.forest.offsets, self._roles)
        fixed = self._fixed_words()
        has_fixed = np.isin(markers, list(fixed))
        lemmas = self.lemmas.ids[markers]
        numbers, firsts = number_values(lemmas)
        names = ["", *(as_suffix(self.lemmas.names[lemma]) for lemma in lemmas[firsts].tolist())]
        ids = np.where(markers < 0, np.int32(0), numbers + np.int32(1))
        for place in np.flatnonzero(has_fixed).tolist():
            marker = int(markers[place])
            words = [self.lemmas.names[self.lemmas.ids[part]] for part in (marker, *fixed[marker])]
            ids[place] = len(names)
            names.append(as_suffix("_".join(words)))
        return Column(ids, tuple(names))

    @cached_property
    def case_suffixes(self) -> Column:
        """The value of Case, or nothing."""
        found = map(_CASE.search, self.feats.names)
        return Column(self.feats.ids, tuple(as_suffix(case[1]) if case else "" for case in found))

    @cached_property
    def first_conjuncts(self) -> Int64s:
        """The places of the first conjuncts of those words that are conjuncts, -1 for others."""
        return np.where(self._roles == _CONJUNCT, self._head_places, -1)

    @cached_property
    def _roles(self) -> Bytes:
        deprels = self.forest.deprels
        known = [_ROLES.get(universal(name), 0) for name in deprels.names]
        return np.array([*known, 0], dtype=np.uint8)[deprels.ids]

    @cached_property
    def _head_places(self) -> Int64s:
        """The places of the heads among all words, -1 for the root."""
        offsets, heads = self.forest.offsets, self.forest.heads
        return np.where(heads > 0, np.repeat(offsets[:-1], np.diff(offsets)) + heads - 1, -1)

    def _fixed_words(self) -> dict[int, list[int]]:
        """The places of `fixed` words, by those of their heads."""
        found: dict[int, list[int]] = {}
        places = np.flatnonzero(self._roles == _FIXED)
        for place, head in zip(places.tolist(), self._head_places[places].tolist(), strict=True):
            if head >= 0:
                found.setdefault(head, []).append(place)
        return found


@compiled()
def _find_markers(heads: Int32s, offsets: Int64s, roles: Bytes) -> Any:
    """The place of the function word that marks each word, -1 for none."""
    markers = np.full(len(heads), -1, dtype=np.int64)
    conjunctions = np.full(len(heads), -1, dtype=np.int64)  # the first one of each word
    for s in range(len(offsets) - 1):
        start, end = offsets[s], offsets[s + 1]
        for word in range(start, end):
            head = start + heads[word] - 1
            if heads[word] == 0:
                continue
            if roles[word] == _MARKER:
                markers[head] = word
            elif roles[word] == _CONJUNCTION and conjunctions[head] < 0:
                conjunctions[head] = word
        for word in range(start, end):
            head = start + heads[word] - 1
            if roles[word] == _CONJUNCTION and heads[word] and (markers[head] < 0 or roles[markers[head]] != _MARKER):
                markers[head] = word
        for word in range(start, end):
            if roles[word] != _CONJUNCT:
                continue
            markers[word] = conjunctions[word]
            for other in range(word + 1, end):
                if markers[word] < 0 and roles[other] == _CONJUNCT and heads[other] == heads[word]:
                    markers[word] = conjunctions[other]
            for other in range(word - 1, start - 1, -1):
                if markers[word] < 0 and roles[other] == _CONJUNCT and heads[other] == heads[word]:
                    markers[word] = conjunctions[other]
    return markers


def encode_relations(graphs: Sequence[Graph], trees: AnnotatedTrees) -> tuple[Column, Column]:
    """For each word the label of its own arc, and those of its others by heads; the last stands for all that follow."""
    forest, labels, others = trees.forest, list[str](), list[str]()
    deprels, heads, firsts = forest.deprels.labels(), forest.heads.tolist(), trees.first_conjuncts.tolist()
    suffixes = list(zip(trees.lemma_suffixes.labels(), trees.case_suffixes.labels(), strict=True))
    for graph, start in zip(graphs, forest.offsets.tolist(), strict=False):
        for place, found in enumerate(graph.heads, start):
            shared = next((one for one in found if one.head == heads[place]), None)
            label = PLAIN if shared is None else _encode_relation(shared.relation, deprels[place], *suffixes[place])
            labels.append(label)
            own = deprels[place] if shared is None else shared.relation
            expected = _expected(own, graph.heads[firsts[place] - start] if firsts[place] >= 0 else ())
            extra = [SAME if one.relation == expected(one.head) else one.relation for one in found if one is not shared]
            while extra[1:] and extra[-1] == extra[-2]:
                extra.pop()
            others.append("|".join(extra) or EMPTY)
    return Column.of(labels), Column.of(others)


def _encode_relation(relation: str, deprel: str, lemma: str, case: str) -> str:
    """The first rule that gives the relation of a word's own arc, or the relation itself."""
    made = (deprel, _joined(deprel, lemma, ""), _joined(deprel, "", case), _joined(deprel, lemma, case))
    return RULES[made.index(relation)] if relation in made else relation


def decode_deps(heads: Mapping[int, Sequence[int]], relations: Column, others: Column, trees: AnnotatedTrees) -> Column:
    """The DEPS of all words. `heads` are those of words that have others than in the tree, by their places."""
    own = _decode_own(relations, trees)
    ids, names, deprels = own.ids.copy(), list(own.names), (*trees.forest.deprels.names, EMPTY)
    labels = [SAME if label == EMPTY else label for label in (*others.names, EMPTY)]
    found: dict[int, list[EnhancedHead]] = {}
    waiting = list(heads)
    while waiting:
        place, first = waiting[-1], int(trees.first_conjuncts[waiting[-1]])
        if first in heads and first not in found:  # its relations are needed
            waiting.append(first)
            continue
        waiting.pop()
        if place in found:
            continue
        basic, extra = _read(own.names[own.ids[place]]), sorted(heads[place])
        if basic.head in extra:
            extra.remove(basic.head)
            found[place] = [basic]
        else:
            found[place] = []
            basic = basic._replace(relation=deprels[trees.forest.deprels.ids[place]])
        of_first = found.get(first) or [_read(own.names[own.ids[first]])] if first >= 0 else []
        expected, chosen = _expected(basic.relation, of_first), labels[others.ids[place]].split("|")
        for number, head in enumerate(extra):
            label = chosen[min(number, len(chosen) - 1)]
            found[place].append(EnhancedHead(head, _fitting(head, expected(head) if label == SAME else label)))
        found[place] = sorted(set(found[place]))
        ids[place] = len(names)
        names.append(deps_text(found[place]))
    return Column(ids, tuple(names))


def _decode_own(labels: Column, trees: AnnotatedTrees) -> Column:
    """The DEPS of words that have the head of the tree only. Each distinct one is made once."""
    deprels, lemmas, cases = trees.forest.deprels, trees.lemma_suffixes, trees.case_suffixes
    rules = np.array([*(RULES.index(name) if name in RULES else -1 for name in labels.names), 0])[labels.ids]
    relations, lemma_names, case_names = (*deprels.names, EMPTY, *labels.names), ("", *lemmas.names), ("", *cases.names)
    unnamed = len(deprels.names)
    parts = (
        trees.forest.heads,
        np.where(rules < 0, unnamed + 1 + labels.ids, np.where(deprels.ids < 0, unnamed, deprels.ids)),
        np.where((rules == 1) | (rules == 3), lemmas.ids, -1) + 1,
        np.where(rules >= 2, cases.ids, -1) + 1,
    )
    sizes = (int(parts[0].max(initial=0)) + 1, len(relations), len(lemma_names), len(case_names))
    ids, firsts = number_values(np.ravel_multi_index(parts, sizes))
    names = list[str]()
    for head, relation, lemma, case in zip(*(part[firsts].tolist() for part in parts), strict=True):
        text = _joined(relations[relation], lemma_names[lemma], case_names[case])
        names.append(f"{head}:{_fitting(head, text)}")
    return Column(ids, tuple(names))


def _read(deps: str) -> EnhancedHead:
    head, _, relation = deps.partition(":")
    return EnhancedHead(int(head), relation)


def _expected(own: str, of_first: Sequence[EnhancedHead]) -> Callable[[Node], str]:
    """The relation that coordination gives to an arc, by its head.

    A conjunct has that which the first conjunct has to the same head; a word that conjuncts share, that of its own arc.
    """
    found = {one.head: one.relation for one in sorted(of_first, key=itemgetter(1), reverse=True)}
    return lambda head: found.get(head, own)


def universal(deprel: str) -> str:
    """A relation without its subtype."""
    return deprel.partition(":")[0]


def _joined(deprel: str, lemma: str, case: str) -> str:
    return ":".join([deprel, *filter(None, (lemma, case))])


def _fitting(head: Node, relation: str) -> str:
    """A relation that the arc can have: those from the root are `root`, and no others are."""
    return relation if _fits(head == 0, relation) else UNKNOWN if head else ROOT


@lru_cache(maxsize=1 << 12)
def _fits(from_root: bool, relation: str) -> bool:
    return is_relation(relation) and from_root == (re.split("[:>]", relation, maxsplit=1)[0] == ROOT)


@lru_cache(maxsize=1 << 12)
def as_suffix(text: str) -> str:
    """Text as the suffix of a relation: lower case, and nothing but letters and underscores between them."""
    return text.lower() if _SUFFIX.fullmatch(text) else ""
