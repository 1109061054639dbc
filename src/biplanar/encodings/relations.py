"""Relations of enhanced graphs as labels.

Most arcs of a graph are in the tree too, and their relations follow from it: the tree's relation as it is (`_`), or
with a suffix. `+lemma` adds the lemma of a function word (obl:in, conj:and), `+case` the value of Case (obl:gen). What
follows from no rule is its own label, and so are the relations of all other arcs.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from biplanar.data.conllu import DEPREL, EMPTY, FEATS, LEMMA, Sentence
from biplanar.data.graph import EnhancedHead, Graph, Heads, is_relation

PLAIN, ADD_LEMMA, ADD_CASE = EMPTY, "+lemma", "+case"
RULES = (PLAIN, ADD_LEMMA, ADD_CASE, ADD_LEMMA + ADD_CASE)

# Where nothing else is known; and the relation of all arcs from the root, and of no others.
UNKNOWN, ROOT = "dep", "root"

_CASE = re.compile(r"(?:^|\|)Case=([^|,]+)")
_SUFFIX = re.compile(r"[^\W\d_]+(?:_[^\W\d_]+)*")

Arc = tuple[int, int]  # head and dependent


@dataclass(frozen=True)
class AnnotatedTree:
    """A tree with the columns from which suffixes of relations are taken, word by word."""

    heads: Sequence[int]
    deprels: Sequence[str]
    lemmas: Sequence[str]
    feats: Sequence[str]

    @classmethod
    def of(cls, sentence: Sentence) -> AnnotatedTree:
        """That of a parsed sentence."""
        return cls(sentence.heads, *map(sentence.column, (DEPREL, LEMMA, FEATS)))

    @cached_property
    def _dependents(self) -> dict[int, list[int]]:
        found = defaultdict(list)
        for word, head in enumerate(self.heads, 1):
            found[head].append(word)
        return found

    def lemma(self, word: int) -> str:
        """The lemma of the function word that marks a word, with its `fixed` words; empty if there is none.

        A conjunct has its conjunction, or else that of the next conjunct, or of the one before. Other words have the
        last of their case markers and subordinators.
        """
        if self._universal(word) != "conj":
            found = [*self._below(word, "cc"), *self._below(word, "case", "mark")][-1:]
        else:
            conjuncts = self._below(self.heads[word - 1], "conj")
            at = conjuncts.index(word)
            nearest = [*conjuncts[at:], *reversed(conjuncts[:at])]
            found = [marker for conjunct in nearest for marker in self._below(conjunct, "cc")][:1]
        words = [part for marker in found for part in (marker, *self._below(marker, "fixed"))]
        return _suffix("_".join(self.lemmas[part - 1] for part in words))

    def case(self, word: int) -> str:
        """The value of Case, or nothing."""
        found = _CASE.search(self.feats[word - 1])
        return _suffix(found[1]) if found else ""

    def _universal(self, word: int) -> str:
        return self.deprels[word - 1].partition(":")[0]

    def _below(self, word: int, *relations: str) -> list[int]:
        return [one for one in self._dependents.get(word, ()) if self._universal(one) in relations]


def encode_relation(relation: str, tree: AnnotatedTree, word: int) -> str:
    """The first rule that gives the relation of a word's own arc, or the relation itself."""
    return next((rule for rule in RULES if decode_relation(rule, tree, word) == relation), relation)


def decode_relation(label: str, tree: AnnotatedTree, word: int) -> str:
    """What a rule gives, or the label itself; a suffix that a word lacks is left out."""
    if label not in RULES:
        return label
    suffixes = (tree.lemma(word) if ADD_LEMMA in label else "", tree.case(word) if ADD_CASE in label else "")
    return ":".join([tree.deprels[word - 1], *filter(None, suffixes)])


def encode_relations(graph: Graph, tree: AnnotatedTree) -> tuple[list[str], list[str]]:
    """For each word the label of its own arc, and the relations of its other arcs in the order of their heads."""
    labels, others = [], []
    for word, (heads, own) in enumerate(zip(graph.heads, tree.heads, strict=True), 1):
        shared = next((one for one in heads if one.head == own), None)
        labels.append(PLAIN if shared is None else encode_relation(shared.relation, tree, word))
        others.append("|".join(one.relation for one in heads if one is not shared) or EMPTY)
    return labels, others


def decode_relations(
    arcs: Iterable[Arc], labels: Sequence[str], others: Sequence[str], tree: AnnotatedTree
) -> tuple[Heads, ...]:
    """The heads of a graph with these arcs; what has no relation left is `dep`."""
    heads: list[list[int]] = [[] for _ in tree.heads]
    for head, dependent in arcs:
        heads[dependent - 1].append(head)
    return tuple(_related(word, sorted(heads[word - 1]), labels, others, tree) for word in range(1, len(heads) + 1))


def _related(word: int, heads: list[int], labels: Sequence[str], others: Sequence[str], tree: AnnotatedTree) -> Heads:
    own, found = tree.heads[word - 1], list[EnhancedHead]()
    if own in heads:
        heads.remove(own)
        found.append(EnhancedHead(own, _fitting(own, decode_relation(labels[word - 1], tree, word))))
    relations = others[word - 1].split("|") if heads else []
    relations += [UNKNOWN] * (len(heads) - len(relations))
    found += [EnhancedHead(head, _fitting(head, one)) for head, one in zip(heads, relations, strict=False)]
    return tuple(dict.fromkeys(found))


def _fitting(head: int, relation: str) -> str:
    """A relation that the arc can have: those from the root are `root`, and no others are."""
    is_root = re.split("[:>]", relation, maxsplit=1)[0] == ROOT
    if is_relation(relation) and is_root == (head == 0):
        return relation
    return UNKNOWN if head else ROOT


def _suffix(text: str) -> str:
    """Text as the suffix of a relation: lower case, and nothing but letters and underscores between them."""
    return text.lower() if _SUFFIX.fullmatch(text) else ""
