from __future__ import annotations

from math import log2

import pytest

from biplanar.data.forest import Forest
from biplanar.data.tree import Tree
from biplanar.encodings import ENCODINGS, get_encoding
from biplanar.evaluation.statistics import Treebank, label_speed, label_statistics, treebank_statistics

FLAT = Tree((2, 0, 2), ("nsubj", "root", "obj"))
CHAIN = Tree((0, 1, 2), ("root", "obj", "obj"))
CROSSING = Tree((0, 1, 1, 2), ("root", "nsubj", "obj", "amod"))


def statistics(train: list[Tree], encoding: str, **others: list[Tree]):
    forests = {name: Forest.from_trees(trees) for name, trees in others.items()}
    return label_statistics([Forest.from_trees(train)], forests, get_encoding(encoding))


class TestLabels:
    def test_by_hand(self):
        """Heads 2 0 2, with the relations nsubj, root, obj."""
        found = statistics([FLAT], "absolute", dev=[FLAT, CHAIN])
        assert (found["labels"], found["relations"]) == ([2], 3)
        assert found["entropy"] == round(log2(3) - 2 / 3, 3)
        assert found["entropy_with_relation"] == round(log2(3), 3)
        assert found["unseen"] == {"dev": round(100 / 6, 3)}  # the head 1

    def test_two_tasks(self):
        """Labels are counted by task, and their entropy is that of both together."""
        found = statistics([FLAT], "2p-full")
        assert found["labels"] == [len({"_", "<\\", "/>"}), len({"_"})]
        assert found["entropy"] == round(log2(3), 3)
        assert found["unseen"] == {}

    def test_several_forests_are_one(self):
        trees = [FLAT, CROSSING, CHAIN]
        encoding, apart = ENCODINGS["7-bit"], [Forest.from_trees([tree]) for tree in trees]
        assert label_statistics(apart, {}, encoding) == statistics(trees, "7-bit")

    def test_one_label_has_no_entropy(self):
        assert statistics([Tree((0,), ("root",))], "hexatags")["entropy"] == 0.0

    def test_lifting_makes_relations(self):
        """The last word is lifted from the second to the first: `amod` of a `nsubj`."""
        plain, lifted = statistics([CROSSING], "4-bit"), statistics([CROSSING], "4-bit+path", dev=[FLAT])
        assert lifted["labels"] == plain["labels"]
        assert (plain["relations"], lifted["relations"]) == (4, 4)
        seen = statistics([CROSSING, CROSSING, FLAT], "4-bit+path")
        assert seen["relations"] == len({"root", "nsubj↓", "obj", "amod↑", "nsubj"})
        assert lifted["unseen"]["dev"] > 0  # of `nsubj`

    @pytest.mark.parametrize("name", ["2p-full", "rel-pos", "hexatags+head"])
    def test_speed(self, name):
        forest = Forest.from_trees([FLAT, CHAIN], upos=[["X"] * 3] * 2)
        assert all(rate > 0 for rate in label_speed([forest], get_encoding(name)).values())


class TestTreebanks:
    def test_every_encoding_is_compared(self):
        forest = Forest.from_trees([FLAT, CROSSING], upos=[["X"] * 3, ["X"] * 4])
        rows = treebank_statistics(Treebank("x", {"train": forest, "dev": forest}))["labels"]
        assert list(rows) == list(ENCODINGS)
        assert all(row["unseen"] == {"dev": 0.0} for row in rows.values())

    def test_words_without_tags(self):
        """`rel-pos` is left out if train has none, and is silent of a split that has none."""
        tagged, bare = Forest.from_trees([FLAT], upos=[["X"] * 3]), Forest.from_trees([FLAT])
        rows = treebank_statistics(Treebank("x", {"train": tagged, "dev": bare}))["labels"]
        assert rows["rel-pos"]["unseen"] == {}
        assert "rel-pos" not in treebank_statistics(Treebank("x", {"train": bare, "dev": tagged}))["labels"]

    def test_without_train(self):
        assert treebank_statistics(Treebank("x", {"dev": Forest.from_trees([FLAT])}))["labels"] is None
