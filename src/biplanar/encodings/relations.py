"""Relations of enhanced graphs as labels.

Most arcs of a graph are in the tree too, and their relations follow from it: the tree's relation as it is (`_`), or
with a suffix. `+lemma` adds the lemma of a function word (obl:in, conj:and), `+case` the value of Case (obl:gen). Many
other arcs come from coordination, and have the relation of another arc (`=`). What follows from no rule is its own
label.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from operator import itemgetter

from biplanar.data.conllu import DEPREL, EMPTY, FEATS, LEMMA, Sentence
from biplanar.data.graph import EnhancedHead, Graph, Heads, Node, is_relation

PLAIN, ADD_LEMMA, ADD_CASE = EMPTY, "+lemma", "+case"
RULES = (PLAIN, ADD_LEMMA, ADD_CASE, ADD_LEMMA + ADD_CASE)
SAME = "="

# In place of what is no relation; and the relation of all arcs from the root, and of no others.
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
        if not self.is_conjunct(word):
            found = [*self._below(word, "cc"), *self._below(word, "case", "mark")][-1:]
        else:
            conjuncts = self._below(self.heads[word - 1], "conj")
            at = conjuncts.index(word)
            nearest = [*conjuncts[at:], *reversed(conjuncts[:at])]
            found = [marker for conjunct in nearest for marker in self._below(conjunct, "cc")][:1]
        words = [part for marker in found for part in (marker, *self._below(marker, "fixed"))]
        return _suffix("_".join(self.lemmas[part - 1] for part in words))

    def is_conjunct(self, word: int) -> bool:
        """Whether its head is the first conjunct."""
        return self._universal(word) == "conj"

    def top_down(self) -> list[int]:
        """All words, each behind its head."""
        order = [*self._dependents.get(0, ())]
        for word in order:
            order += self._dependents.get(word, ())
        return order

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
    if label == PLAIN:
        return tree.deprels[word - 1]
    if label not in RULES:
        return label
    suffixes = (tree.lemma(word) if ADD_LEMMA in label else "", tree.case(word) if ADD_CASE in label else "")
    return ":".join([tree.deprels[word - 1], *filter(None, suffixes)])


def encode_relations(graph: Graph, tree: AnnotatedTree) -> tuple[list[str], list[str]]:
    """For each word the label of its own arc, and those of its other arcs in the order of their heads.

    The last one stands for all that follow.
    """
    labels, others = [], []
    for word, (heads, own) in enumerate(zip(graph.heads, tree.heads, strict=True), 1):
        shared = next((one for one in heads if one.head == own), None)
        labels.append(PLAIN if shared is None else encode_relation(shared.relation, tree, word))
        expected = _expected(word, tree, graph.heads, shared)
        extra = [SAME if one.relation == expected(one.head) else one.relation for one in heads if one is not shared]
        while extra[1:] and extra[-1] == extra[-2]:
            extra.pop()
        others.append("|".join(extra) or EMPTY)
    return labels, others


def decode_relations(
    arcs: Iterable[Arc], labels: Sequence[str], others: Sequence[str], tree: AnnotatedTree
) -> tuple[Heads, ...]:
    """The heads of a graph with these arcs, in any order."""
    waiting: dict[int, list[int]] = defaultdict(list)
    found: list[list[EnhancedHead]] = [[] for _ in tree.heads]
    for head, word in sorted(arcs):
        if head == tree.heads[word - 1] and not found[word - 1]:
            relation = decode_relation(labels[word - 1], tree, word)
            found[word - 1].append(EnhancedHead(head, _fitting(head, relation)))
        else:
            waiting[word].append(head)
    for word in filter(waiting.__contains__, tree.top_down() if waiting else ()):
        expected = _expected(word, tree, found, next(iter(found[word - 1]), None))
        names = [SAME if name == EMPTY else name for name in others[word - 1].split("|")]
        names += [names[-1]] * len(waiting[word])
        extra = [
            (head, expected(head) if name == SAME else name) for head, name in zip(waiting[word], names, strict=False)
        ]
        found[word - 1] += [EnhancedHead(head, _fitting(head, name)) for head, name in extra]
    return tuple(tuple(dict.fromkeys(heads)) for heads in found)


def _expected(
    word: int, tree: AnnotatedTree, found: Sequence[Sequence[EnhancedHead]], own: EnhancedHead | None
) -> Callable[[Node], str]:
    """The relation that coordination gives to an arc, by its head.

    A conjunct has that which the first conjunct has to the same head; a word that conjuncts share, that of its own arc.
    """
    first = tree.heads[word - 1] if tree.is_conjunct(word) else 0
    of_first = (
        {one.head: one.relation for one in sorted(found[first - 1], key=itemgetter(1), reverse=True)} if first else {}
    )
    usual = tree.deprels[word - 1] if own is None else own.relation
    return lambda head: of_first.get(head, usual)


def _fitting(head: int, relation: str) -> str:
    """A relation that the arc can have: those from the root are `root`, and no others are."""
    return relation if _fits(head == 0, relation) else UNKNOWN if head else ROOT


@lru_cache(maxsize=1 << 12)
def _fits(from_root: bool, relation: str) -> bool:
    return is_relation(relation) and from_root == (re.split("[:>]", relation, maxsplit=1)[0] == ROOT)


def _suffix(text: str) -> str:
    """Text as the suffix of a relation: lower case, and nothing but letters and underscores between them."""
    return text.lower() if _SUFFIX.fullmatch(text) else ""
