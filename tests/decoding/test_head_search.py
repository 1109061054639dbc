"""The search over labels that name heads, against enumeration of all trees."""

from __future__ import annotations

import math

import numpy as np
import pytest

from biplanar.data.forest import Column, offsets_of
from biplanar.decoding.beam import Outcome
from biplanar.decoding.inventory import LabelInventory, Weights
from biplanar.decoding.scores import UNLIKELY, Scores
from biplanar.decoding.search import HeadSearch
from biplanar.encodings import get_encoding
from biplanar.errors import LabelError
from tests.decoding.arc_tables import likeliest as known_arcs
from tests.decoding.arc_tables import random_table
from tests.decoding.enumeration import DEPRELS, log_softmax
from tests.strategies import all_trees

LABELS = {
    "absolute": ("0", "1", "2", "3", "4", "9", "none"),
    "relative": ("0", "-3", "-2", "-1", "+1", "1", "+2", "+3", "+9"),  # two of which are the same
    "rel-pos": ("-1@ROOT", "-2@ROOT", "+1@NOUN", "-1@NOUN", "+2@NOUN", "+1@VERB", "-1@VERB", "+2@VERB"),
}
every_encoding = pytest.mark.parametrize("encoding", LABELS)
WORDS = 4
UPOS = Column.of(["NOUN", "VERB", "NOUN", "VERB"])


def inventory_of(encoding: str, weight: float = 2.0) -> LabelInventory:
    names = {"head": LABELS[encoding], "deprel": DEPRELS}
    return LabelInventory(get_encoding(encoding), names, Weights(arcs=weight))


def searched(
    encoding: str,
    tables: dict[str, np.ndarray],
    sentences: int = 1,
    *,
    arcs: list[np.ndarray] | None = None,
    weight: float = 2.0,
) -> HeadSearch:
    given = None if arcs is None else known_arcs(arcs)
    scores = Scores(offsets_of([WORDS] * sentences), tables, arcs=given)
    upos = Column(np.tile(UPOS.ids, sentences), UPOS.names)
    return HeadSearch(scores, inventory_of(encoding, weight), upos=upos)


def random_tables(encoding: str, seed: int, sentences: int = 1) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    widths = {"head": len(LABELS[encoding]), "deprel": 2}
    return {task: rng.normal(0, 2, (WORDS * sentences, width)).astype(np.float32) for task, width in widths.items()}


def arc_scores(encoding: str, tables: dict[str, np.ndarray]) -> np.ndarray:
    """The log-probability of each head of each word, label by label."""
    found = np.zeros((WORDS, WORDS + 1))
    for word in range(WORDS):
        labels = np.exp(log_softmax(tables["head"][word]))
        for number, name in enumerate(LABELS[encoding]):
            column = Column.of([name] * WORDS)
            head = get_encoding(encoding).decode([column], offsets_of([WORDS]), UPOS)[word]
            if head >= 0:
                found[word, head] += labels[number]
        as_root, with_head = np.exp(log_softmax(tables["deprel"][word]))
        found[word, 0] *= as_root
        found[word, 1:] *= with_head
    return np.log(found, where=found > 0, out=np.full_like(found, -np.inf))


def best_of_all(table: np.ndarray) -> list[int]:
    trees = np.array(all_trees(WORDS))
    return trees[table[np.arange(WORDS), trees].sum(axis=1).argmax()].tolist()


class TestAgainstEnumeration:
    @every_encoding
    def test_the_best_tree_and_the_one_of_least_risk(self, encoding):
        differ = 0
        for seed in range(20):
            tables = random_tables(encoding, seed)
            arcs, trees = arc_scores(encoding, tables), searched(encoding, tables)
            best, least_risk = trees.best(), trees.least_risk()
            assert best[1] == least_risk[1] == Outcome(best=1)
            assert best[0].tolist() == best_of_all(arcs)
            assert least_risk[0].tolist() == best_of_all(np.exp(arcs))
            differ += best[0].tolist() != least_risk[0].tolist()
        assert differ  # or else one test would do

    @every_encoding
    def test_probabilities_of_heads(self, encoding):
        tables = random_tables(encoding, 3)
        arcs = np.exp(arc_scores(encoding, tables))
        trees = searched(encoding, tables)
        heads, _ = trees.best()
        found, wanted = trees.probabilities(heads), arcs / arcs.sum(axis=1, keepdims=True)
        assert found.dtype == np.float32
        assert found == pytest.approx(wanted[np.arange(WORDS), heads], abs=1e-5)

    @every_encoding
    def test_sentences_are_searched_one_by_one(self, encoding):
        tables = random_tables(encoding, 4, sentences=6)
        together = searched(encoding, tables, sentences=6)
        heads, _ = together.best()
        probabilities = together.probabilities(heads)
        for sentence in range(6):
            own = slice(WORDS * sentence, WORDS * (sentence + 1))
            alone = searched(encoding, {task: table[own] for task, table in tables.items()})
            assert alone.best()[0].tolist() == heads[own].tolist()
            assert alone.probabilities(heads[own]).tolist() == probabilities[own].tolist()


class TestArcs:
    def arcs(self, seed: int, sentences: int = 1) -> list[np.ndarray]:
        rng = np.random.default_rng(seed)
        return [random_table(rng, WORDS) for _ in range(sentences)]

    @every_encoding
    @pytest.mark.parametrize("weight", [0.5, 2.0])
    def test_they_count_beside_the_labels(self, encoding, weight):
        changed = 0
        for seed in range(20):
            tables, (arcs,) = random_tables(encoding, seed), self.arcs(seed)
            labels = arc_scores(encoding, tables)
            both = labels + weight * np.maximum(arcs, 2 * UNLIKELY)
            trees = searched(encoding, tables, arcs=[arcs], weight=weight)
            heads, _ = trees.best()
            assert heads.tolist() == best_of_all(both)
            changed += best_of_all(both) != best_of_all(labels)
            shares = np.exp(both) / np.exp(both).sum(axis=1, keepdims=True)
            assert trees.least_risk()[0].tolist() == best_of_all(np.exp(both))
            assert trees.probabilities(heads) == pytest.approx(shares[np.arange(WORDS), heads], abs=1e-5)
        assert changed

    @every_encoding
    def test_without_a_weight_they_do_not(self, encoding):
        tables = random_tables(encoding, 1)
        with_arcs, without = searched(encoding, tables, arcs=self.arcs(1), weight=0.0), searched(encoding, tables)
        heads, _ = without.best()
        assert with_arcs.best()[0].tolist() == heads.tolist()
        assert with_arcs.probabilities(heads).tolist() == without.probabilities(heads).tolist()

    @every_encoding
    def test_sentences_are_searched_one_by_one(self, encoding):
        tables, arcs = random_tables(encoding, 4, sentences=6), self.arcs(4, 6)
        heads, _ = searched(encoding, tables, sentences=6, arcs=arcs).best()
        for sentence in range(6):
            own = slice(WORDS * sentence, WORDS * (sentence + 1))
            some = {task: table[own] for task, table in tables.items()}
            assert searched(encoding, some, arcs=[arcs[sentence]]).best()[0].tolist() == heads[own].tolist()


def test_labels_that_name_the_same_head_are_added_up() -> None:
    labels = np.log(np.array([[0.1, 0.2, 0.3, 0.4], [0.2, 0.2, 0.2, 0.4]], dtype=np.float32))
    relations = np.log(np.float32([[0.5, 0.5], [0.1, 0.9]]))  # of the root, and of others
    names = {"head": ("0", "+1", "1", "-1"), "deprel": ("root", "x")}
    scores = Scores(offsets_of([2]), {"head": labels, "deprel": relations})
    (table,) = HeadSearch(scores, LabelInventory(get_encoding("relative"), names))._tables()
    expected = [[0.05, 0.0, 0.25], [0.02, 0.36, 0.0]]  # in the first word's case 0.2 + 0.3, and -1 leads nowhere
    assert np.exp(table) == pytest.approx(np.array(expected))
    assert table[0, 1] == table[1, 2] == -math.inf


def test_no_sentences_have_no_trees() -> None:
    tables = {"head": np.zeros((0, 7), dtype=np.float32), "deprel": np.zeros((0, 2), dtype=np.float32)}
    trees = HeadSearch(Scores(offsets_of([]), tables), inventory_of("absolute"))
    heads, outcome = trees.best()
    assert (heads.tolist(), outcome) == ([], Outcome())
    assert trees.probabilities(heads).tolist() == []


def test_several_trees_are_refused() -> None:
    with pytest.raises(LabelError, match="one tree"):
        searched("absolute", random_tables("absolute", 0)).several(2)
