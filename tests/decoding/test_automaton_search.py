"""The search over labels that drive an automaton, against the enumeration of all label sequences."""

from __future__ import annotations

from functools import cache
from itertools import pairwise, product

import numpy as np
import pytest

from biplanar.data.arrays import Int32s
from biplanar.data.forest import Column, offsets_of
from biplanar.decoding import get_decoder
from biplanar.decoding.automaton_search import AutomatonSearch
from biplanar.decoding.beam import Beam
from biplanar.decoding.inventory import LabelInventory, Weights
from biplanar.decoding.lattice.automaton import accepted
from biplanar.decoding.lattice.trees import forms_tree
from biplanar.decoding.scores import LikelyHeads, Scores, log_probabilities
from biplanar.decoding.tree_decoder import TreeDecoder
from biplanar.encodings import ENCODINGS, get_encoding
from biplanar.encodings.encoding import AUTOMATON
from tests.encodings.forests import every_projective_tree, every_tree
from tests.reference import is_tree

NEW = [name for name, encoding in ENCODINGS.items() if encoding.kind == AUTOMATON]
RELATIONS = ("nsubj", "root", "obj")
WORDS = 4
WIDE = Beam(states=5000, margin=np.inf, rarest=0.0)


@cache
def sequences(name: str) -> tuple[tuple[str, ...], Int32s, Int32s]:
    """The labels of some trees, all accepted sequences of them that are trees, and their heads."""
    encoding = get_encoding(name)
    forest = every_tree(WORDS) if name in ("hexatags", "arc-standard", "arc-hybrid") else every_projective_tree(WORDS)
    (column,) = encoding.encode(forest)
    ids = np.array(list(product(range(len(column.names)), repeat=WORDS)), dtype=np.int32)
    offsets = np.arange(len(ids) + 1, dtype=np.int64) * WORDS
    good = accepted(ids.reshape(-1), offsets, encoding.automaton(column.names))
    heads = encoding.decode([Column(ids.reshape(-1), column.names)], offsets).reshape(-1, WORDS)
    good &= np.array([forms_tree(row) for row in heads])
    return column.names, ids[good], np.maximum(heads[good], 0)


class Case:
    """Random scores of one sentence, and what all label sequences say of it."""

    def __init__(self, name: str, seed: int, weight: float = 0.0) -> None:
        encoding, rng = get_encoding(name), np.random.default_rng(seed)
        names, ids, self.heads = sequences(name)
        (task,) = encoding.tasks
        tables = {task: rng.normal(size=(WORDS, len(names))) * 2, "deprel": rng.normal(size=(WORDS, len(RELATIONS)))}
        tables = {task: table.astype(np.float32) for task, table in tables.items()}
        arcs = log_probabilities(rng.normal(size=(WORDS, WORDS + 1)).astype(np.float32) * 2)
        order = np.argsort(-arcs, axis=1).astype(np.int32)
        likely = LikelyHeads(order, np.take_along_axis(arcs, order, axis=1))
        self.scores = Scores(np.array([0, WORDS]), tables, arcs=likely if weight else None)
        self.inventory = LabelInventory(encoding, {task: names, "deprel": RELATIONS}, Weights(weight, 2.0))
        labels, relations = log_probabilities(tables[task]), log_probabilities(tables["deprel"])
        words = np.arange(WORDS)
        self.totals = labels[words, ids].sum(axis=1)
        self.totals += np.where(self.heads > 0, relations[:, [0, 2]].max(axis=1), relations[:, 1]).sum(axis=1)
        self.totals += weight * arcs[words, self.heads].sum(axis=1)

    @property
    def best(self) -> list[tuple[list[int], float]]:
        """All trees with their best scores."""
        scores: dict[tuple[int, ...], float] = {}
        for row, total in zip(self.heads.tolist(), self.totals.tolist(), strict=True):
            scores[tuple(row)] = max(total, scores.get(tuple(row), -np.inf))
        return [(list(tree), score) for tree, score in sorted(scores.items(), key=lambda item: -item[1])]


@pytest.mark.parametrize("weight", [0.0, 1.0])
@pytest.mark.parametrize("name", NEW)
def test_the_best_tree_is_that_of_the_enumeration(name: str, weight: float) -> None:
    for seed in range(10):
        case = Case(name, seed, weight)
        heads, outcome = AutomatonSearch(case.scores, case.inventory, WIDE).best()
        assert heads.tolist() == case.best[0][0]
        assert outcome.sentences == 1
        assert not outcome.lost


@pytest.mark.parametrize("weight", [0.0, 1.0])
@pytest.mark.parametrize("name", ["4-bit", "arc-standard", "arc-hybrid"])
def test_several_trees_are_the_best_of_the_enumeration(name: str, weight: float) -> None:
    """Of encodings with one label sequence for each tree, of which all are looked at."""
    case = Case(name, 3, weight)
    (found,) = AutomatonSearch(case.scores, case.inventory, WIDE).several(6)
    assert [heads.tolist() for heads, _ in found] == [tree for tree, _ in case.best[:6]]
    assert [score for _, score in found] == pytest.approx([score for _, score in case.best[:6]], abs=1e-4)


@pytest.mark.parametrize("name", ["4-bit", "arc-standard", "arc-hybrid"])
def test_probabilities_are_shares_of_all_trees(name: str) -> None:
    case = Case(name, 5)
    trees = AutomatonSearch(case.scores, case.inventory, WIDE)
    shares = np.exp(case.totals / 2.0)
    wanted = ((case.heads == case.heads[0]).T @ shares) / shares.sum()
    np.testing.assert_allclose(trees.probabilities(case.heads[0]), wanted.clip(0.005, 0.995), atol=1e-4)


@pytest.mark.parametrize("decoder", ["search", "minimum-risk"])
@pytest.mark.parametrize("name", NEW)
def test_noise_gives_trees(name: str, decoder: str) -> None:
    encoding, rng, lengths = get_encoding(name), np.random.default_rng(1), (1, 2, 9, 40)
    (column,) = encoding.encode(every_tree(5))
    inventory = LabelInventory(encoding, {encoding.tasks[0]: column.names, "deprel": RELATIONS})
    offsets = np.cumsum([0, *lengths])
    tables = {task: rng.normal(size=(52, len(names))).astype(np.float32) for task, names in inventory.names.items()}
    found = TreeDecoder(inventory, get_decoder(decoder), probabilities=True).decode(Scores(offsets, tables))
    for start, end in pairwise(offsets):
        assert is_tree(found.heads[start:end].tolist())


@pytest.mark.parametrize("lengths", [[], [0], [0, 2, 0]])
@pytest.mark.parametrize("name", ["4-bit+head", "covington"])
def test_no_words_and_no_sentences(name: str, lengths: list[int]) -> None:
    encoding, words = get_encoding(name), sum(lengths)
    (column,) = encoding.encode(every_tree(2))
    inventory = LabelInventory(encoding, {encoding.tasks[0]: column.names, "deprel": RELATIONS})
    tables = {task: np.zeros((words, len(names)), dtype=np.float32) for task, names in inventory.names.items()}
    trees = AutomatonSearch(Scores(offsets_of(lengths), tables), inventory)
    heads, outcome = trees.best()
    assert (len(heads), outcome.sentences) == (words, len(lengths))
    assert len(trees.least_risk()[0]) == len(trees.probabilities(heads)) == words


def test_labels_that_lead_nowhere_are_repaired() -> None:
    encoding = get_encoding("arc-standard")
    inventory = LabelInventory(encoding, {"transitions": ("_",), "deprel": RELATIONS})
    tables = {"transitions": np.zeros((3, 1), dtype=np.float32), "deprel": np.eye(3, dtype=np.float32)}
    found = TreeDecoder(inventory).decode(Scores(np.array([0, 3]), tables))
    assert found.heads.tolist() == [2, 0, 2]
    assert (found.outcome.lost, found.outcome.widened) == (1, 1)
