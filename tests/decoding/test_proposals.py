"""Trees that arcs propose where labels alone lead elsewhere."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from biplanar.data.forest import Column, Forest
from biplanar.decoding.beam import Beam
from biplanar.decoding.inventory import LabelInventory, Weights
from biplanar.decoding.scores import LikelyHeads, Scores
from biplanar.decoding.tree_decoder import TreeDecoder
from biplanar.encodings import get_encoding
from biplanar.errors import TreeError
from biplanar.planes.crossings import is_projective
from tests.encodings.forests import every_projective_tree
from tests.encodings.wrapped import Moving
from tests.reference import is_tree

RELATIONS = ("nsubj", "root", "obj")
WANTED = np.array([0, 1, 1, 2, 1, 3], dtype=np.int32)  # arcs cross
CHAIN = np.array([0, 1, 2, 3, 4, 5], dtype=np.int32)
NARROW = Beam(states=1, wider=1)


def forest_of(*trees: np.ndarray) -> Forest:
    words = np.concatenate(trees)
    return Forest(np.arange(len(trees) + 1) * 6, words, Column(np.zeros(len(words), dtype=np.int32), ("x",)))


def known_labels(name: str) -> LabelInventory:
    """All labels of projective trees, and of the crossing one."""
    encoding = get_encoding(name)
    forests = [every_projective_tree(6), forest_of(WANTED)]
    columns = zip(*(encoding.encode(forest) for forest in forests), strict=True)
    names = {
        task: tuple(dict.fromkeys(label for one in own for label in one.names))
        for task, own in zip(encoding.tasks, columns, strict=True)
    }
    return LabelInventory(encoding, {**names, "deprel": RELATIONS}, Weights(1.0))


def scores_of(inventory: LabelInventory) -> Scores:
    """Labels are sure of a chain, arcs of the crossing tree."""
    (labels, _), tables = inventory.labels_of(CHAIN, np.array([0, 6])), {}
    for task, own in zip(inventory.encoding.tasks, labels, strict=True):
        tables[task] = np.zeros((6, len(inventory.names[task])), dtype=np.float32)
        tables[task][np.arange(6), own] = 3
    tables["deprel"] = np.zeros((6, len(RELATIONS)), dtype=np.float32)
    heads = np.stack([WANTED, np.where(WANTED == CHAIN, -1, CHAIN)], axis=1)
    logs = np.array([[0.0, -11.0]] * 6, dtype=np.float32)
    return Scores(np.array([0, 6]), tables, arcs=LikelyHeads(heads, logs))


@pytest.mark.parametrize("name", ["2p-full", "7-bit-full", "hierarchical", "covington"])
class TestArcs:
    def test_they_propose_what_the_search_did_not_find(self, name):
        inventory = known_labels(name)
        heads, _ = TreeDecoder(inventory, beam=NARROW).sentences(scores_of(inventory)).best()
        assert heads.tolist() == WANTED.tolist()

    def test_not_if_it_is_worse(self, name):
        inventory = replace(known_labels(name), weights=Weights(0.01))
        heads, _ = TreeDecoder(inventory, beam=NARROW).sentences(scores_of(inventory)).best()
        assert heads.tolist() == CHAIN.tolist()


def test_labels_that_are_not_known():
    inventory = known_labels("4-bit")
    (column,) = inventory.encoding.encode(forest_of(CHAIN))
    fewer = replace(inventory, names={**inventory.names, "bits": column.names})
    flat = np.array([2, 0, 2, 2, 2, 2], dtype=np.int32)
    (labels,), known = fewer.labels_of(np.concatenate([CHAIN, flat]), np.array([0, 6, 12]))
    assert known.tolist() == [True, False]
    assert [fewer.names["bits"][label] for label in labels[:6]] == column.labels()
    assert -1 in labels[6:]


def test_labels_that_say_another_tree_are_no_reason_to_take_it():
    """One plane cannot say the crossing tree, so what its labels are worth is worth nothing."""
    inventory = known_labels("1p-brackets")
    trees = TreeDecoder(inventory).sentences(scores_of(inventory))
    heads, outcome = trees.best()
    assert outcome.lost == 0
    assert heads.tolist() != WANTED.tolist()


@dataclass(frozen=True)
class Picky(Moving):
    """Refuses trees whose arcs cross."""

    def encode(self, forest: Forest) -> tuple[Column, ...]:
        if not all(map(is_projective, forest.trees())):
            raise TreeError("expected a projective tree")
        return self.inner.encode(forest)


def test_trees_that_an_encoding_refuses_are_no_proposals():
    known = known_labels("2p-full")
    inventory = replace(known, encoding=Picky(known.encoding))
    both = np.concatenate([WANTED, CHAIN])
    labels, said = inventory.labels_of(both, np.array([0, 6, 12]))
    assert said.tolist() == [False, True]
    for own, wanted in zip(labels, known.labels_of(CHAIN, np.array([0, 6]))[0], strict=True):
        assert own.tolist() == [-1] * 6 + wanted.tolist()
    heads, _ = TreeDecoder(inventory).sentences(scores_of(known)).best()
    assert is_tree(heads.tolist())
