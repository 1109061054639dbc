"""Output columns: values of CoNLL-U columns as labels, which the network predicts beside those of the tree.

To add one is a class like `WholeValues`, and one line in `COLUMNS`; the setting `network.columns` switches it on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from biplanar.data.conllu import DEPS, EMPTY, FEATS, FORM, LEMMA, UPOS, XPOS, Sentence
from biplanar.data.forest import Column, distinct_pairs
from biplanar.encodings.graphs import (
    DEFAULT_GRAPH_ENCODING,
    EXTRA,
    GRAPH_ENCODINGS,
    RELATION,
    get_graph_encoding,
    graph_labels,
)
from biplanar.encodings.lemmas import apply_rule, make_rule, rule_parts
from biplanar.encodings.relations import AnnotatedTrees, decode_deps
from biplanar.errors import check_name
from biplanar.plugins import add_installed

UNLABELLED = -1  # the number of a label that is not known, so that nothing is learned from it

# The column of enhanced graphs, before the names of its labels.
GRAPHS = "deps"
RARE = 50_000  # words of a treebank, of which only one has a label that is rare


class OutputColumn(Protocol):
    """What fills a column."""

    @property
    def name(self) -> str:
        """The name in `COLUMNS`, and that of the network's task."""

    @property
    def number(self) -> int:
        """Which column of CoNLL-U it fills: `UPOS`, ..."""

    def encode(self, sentences: Sequence[Sentence]) -> Column:
        """The label of each word of some sentences, end to end; no names if the sentences lack the column."""

    def decode(self, labels: Column, forms: Column) -> Column:
        """The value of each word, from its label and its form."""

    def parts(self, label: str) -> Sequence[str]:
        """What a label is made of, so that the network learns of labels that share a part together."""


@dataclass(frozen=True)
class WholeValues:
    """Each value of a column is a label."""

    name: str
    number: int
    parts: Callable[[str], Sequence[str]] = lambda _: ()

    def encode(self, sentences: Sequence[Sentence]) -> Column:
        """The values themselves, where there are any."""
        return _labelled([value for sentence in sentences for value in sentence.column(self.number)])

    def decode(self, labels: Column, forms: Column) -> Column:
        """The labels themselves."""
        return labels


@dataclass(frozen=True)
class Features(WholeValues):
    """Features as sorted strings. To have none is a value as well, where words have tags and any have features."""

    def encode(self, sentences: Sequence[Sentence]) -> Column:
        """Whole strings, which cannot contradict themselves; what they share, the network learns by their parts."""
        column = Column.of(value for sentence in sentences for value in sentence.column(self.number))
        if column.names == (EMPTY,):
            return _labelled([EMPTY] * len(column.ids))
        tidied = Column.of(map(sorted_features, column.names))
        ids = tidied.ids[column.ids]
        tags = np.array([value != EMPTY for sentence in sentences for value in sentence.column(UPOS)])
        if tags.any() and EMPTY in tidied.names:
            ids = np.where(tags | (ids != tidied.names.index(EMPTY)), ids, np.int32(UNLABELLED))
        return Column(ids, tidied.names)


def sorted_features(feats: str) -> str:
    """Features in the order that CoNLL-U wants, each once; what is no feature is left out."""
    features = {name.strip(): value.strip() for name, _, value in (one.partition("=") for one in feats.split("|"))}
    names = sorted(filter(None, features), key=lambda name: (name.lower(), name))
    return "|".join(f"{name}={features[name]}" for name in names if features[name]) or EMPTY


@dataclass(frozen=True)
class Lemmas:
    """Lemmas by the rules that make them of forms."""

    name: str = "lemma"
    number: int = LEMMA

    def encode(self, sentences: Sequence[Sentence]) -> Column:
        """The rules, made in the way that needs fewer of them."""
        columns = (FORM, LEMMA)
        pairs = [pair for one in sentences for pair in zip(*map(one.column, columns), strict=True)]
        known = [(form, lemma) for form, lemma in dict.fromkeys(pairs) if lemma != EMPTY or form == EMPTY]
        if all(form == EMPTY for form, _ in known):
            return _labelled([EMPTY] * len(pairs))
        ways = [[make_rule(*pair, keeping=keeping) for pair in known] for keeping in (True, False)]
        rules = dict(zip(known, min(ways, key=lambda way: len(set(way))), strict=True))
        return _labelled([rules.get(pair, EMPTY) for pair in pairs])

    def decode(self, labels: Column, forms: Column) -> Column:
        """Apply the rules, each once to each form."""
        pairs, numbers = distinct_pairs(labels, forms)
        return Column(numbers, tuple(apply_rule(rule, form) for rule, form in pairs))

    def parts(self, label: str) -> Sequence[str]:
        """Its casing and its scripts."""
        return rule_parts(label)


@dataclass(frozen=True)
class GraphLabels(WholeValues):
    """One of the labels that, with the tree, make up an enhanced graph together."""

    def encode(self, sentences: Sequence[Sentence]) -> Column:
        """The labels of all sentences that have graphs, but for rare ones: nothing is learned of them."""
        graphs = [one for one in sentences if one.graph is not None]
        found = graph_labels(graphs, self.name.removeprefix(graph_task("")))
        is_rare = np.bincount(found.ids, minlength=len(found.names)) * RARE < len(found.ids)
        ids = np.full(sum(map(len, sentences)), UNLABELLED, dtype=np.int32)
        ids[np.repeat([one.graph is not None for one in sentences], [*map(len, sentences)])] = np.where(
            is_rare, UNLABELLED, np.cumsum(~is_rare) - 1
        )[found.ids]
        return Column(ids, tuple(name for name, rare in zip(found.names, is_rare, strict=True) if not rare))


def graph_task(labels: str) -> str:
    """The name of the column of one kind of labels of graphs, as `graph_labels` calls them."""
    return f"{GRAPHS}-{labels}"


def graph_column(labels: Mapping[str, Column], trees: AnnotatedTrees) -> Column:
    """DEPS, from those of some labels that are of graphs; what is not there says nothing."""
    nothing = Column(np.full(len(trees.forest.heads), UNLABELLED, dtype=np.int32), ())
    own = {kind: labels.get(graph_task(kind), nothing) for kind in (*GRAPH_ENCODINGS, RELATION, EXTRA)}
    arcs = next((name for name in GRAPH_ENCODINGS if own[name].names), DEFAULT_GRAPH_ENCODING)
    heads = GRAPH_ENCODINGS[arcs].decode(own[arcs], trees.forest)
    return decode_deps(heads, own[RELATION], own[EXTRA], trees)


def _labelled(values: Sequence[str]) -> Column:
    """Values as labels, but for those that say that there is none."""
    column = Column.of(value for value in values if value != EMPTY)
    ids = np.full(len(values), UNLABELLED, dtype=np.int32)
    ids[[value != EMPTY for value in values]] = column.ids
    return Column(ids, column.names)


def _joined_tags(label: str) -> list[str]:
    """The tags that make up a longer one (`ncn+jcm`), by their places, and the last one."""
    tags = re.split(r"[+|]", label)
    return [*(f"{place} {tag}" for place, tag in enumerate(tags)), f"last {tags[-1]}"]


def _feature_parts(label: str) -> list[str]:
    """The features with their values, and which features they are."""
    features = label.split("|")
    return [*features, " ".join(feature.partition("=")[0] for feature in features)]


_ALL: tuple[OutputColumn, ...] = (
    WholeValues("upos", UPOS),
    WholeValues("xpos", XPOS, _joined_tags),
    Features("feats", FEATS, _feature_parts),
    Lemmas(),
    *(GraphLabels(graph_task(labels), DEPS) for labels in (*GRAPH_ENCODINGS, RELATION, EXTRA)),
)
COLUMNS: dict[str, OutputColumn] = {column.name: column for column in _ALL}


def column_of(task: str) -> str:
    """The name of the column that a task fills, maybe with others."""
    return GRAPHS if COLUMNS[task].number == DEPS else task


def get_columns(names: str) -> list[OutputColumn]:
    """The columns of some names, with commas between; `deps` has several labels, and may name its encoding."""
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    return [column for name in wanted for column in _get_column(name)]


def _get_column(name: str) -> list[OutputColumn]:
    column, _, encoding = name.partition(":")
    if column == GRAPHS:
        arcs = get_graph_encoding(encoding or DEFAULT_GRAPH_ENCODING).name
        return [COLUMNS[graph_task(labels)] for labels in (arcs, RELATION, EXTRA)]
    if name not in COLUMNS:
        add_installed("columns", COLUMNS)
    check_name("column", name, [*COLUMNS, GRAPHS])
    return [COLUMNS[name]]
