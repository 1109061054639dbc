from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from biplanar.data.forest import Forest
from biplanar.data.tree import Tree
from biplanar.decoding import get_decoder
from biplanar.decoding.labels import decode, encode
from biplanar.decoding.tree_decoder import TreeDecoder
from biplanar.encodings import PROJECTIVE, get_encoding
from biplanar.encodings.lifting import SCHEMES, Lifting, lift
from biplanar.errors import UnknownNameError
from biplanar.planes.crossings import nonprojective
from tests.decoding.made_scores import MadeScores
from tests.encodings.forests import every_tree
from tests.reference import is_tree
from tests.strategies import any_heads, any_projective_heads, tree_of

every_scheme = pytest.mark.parametrize("scheme", SCHEMES)

# Word 3 hangs on word 1, over the root.
CROSSING = Tree((2, 0, 1, 2), ("nsubj", "root", "acl", "obj"))


@pytest.mark.parametrize(
    ("scheme", "deprels"),
    [
        ("head", ("nsubj", "root", "acl↑nsubj", "obj")),
        ("path", ("nsubj↓", "root", "acl↑", "obj")),
        ("head+path", ("nsubj↓", "root", "acl↑nsubj", "obj")),
    ],
)
def test_relations_say_what_was_lifted(scheme: str, deprels: tuple[str, ...]) -> None:
    forest = Forest.from_trees([CROSSING])
    lifted = Lifting(scheme).lift(forest)
    assert lifted.trees() == [Tree((2, 0, 2, 2), deprels)]
    assert Lifting(scheme).lower(lifted).trees() == [CROSSING]


@every_scheme
@pytest.mark.parametrize("name", PROJECTIVE)
def test_crossing_trees_come_back(name: str, scheme: str) -> None:
    rows = encode(CROSSING, f"{name}+{scheme}")
    assert decode(rows, f"{name}+{scheme}") == CROSSING
    assert decode(rows, name).heads == (2, 0, 2, 2)


@every_scheme
@settings(max_examples=50)
@given(heads=any_heads(30))
def test_lifted_trees_are_projective_and_what_is_lowered_is_a_tree(scheme: str, heads: tuple[int, ...]) -> None:
    forest = Forest.from_trees([tree_of(heads)])
    lifted = Lifting(scheme).lift(forest)
    assert not nonprojective(lifted).any()
    lowered = Lifting(scheme).lower(lifted)
    assert is_tree(lowered.heads.tolist())
    assert lowered.deprels.labels() == forest.deprels.labels()


@every_scheme
@given(heads=any_projective_heads(30))
def test_projective_trees_stay(scheme: str, heads: tuple[int, ...]) -> None:
    forest = Forest.from_trees([tree_of(heads)])
    assert Lifting(scheme).lift(forest).trees() == Lifting(scheme).lower(forest).trees() == forest.trees()


@pytest.mark.parametrize(("scheme", "least"), [("head", 0.9), ("path", 0.5), ("head+path", 0.9)])
def test_most_small_trees_come_back(scheme: str, least: float) -> None:
    forest = Forest.from_trees([tree_of(tuple(row)) for row in every_tree(5).heads.reshape(-1, 5).tolist()])
    back = Lifting(scheme).lower(Lifting(scheme).lift(forest)).heads == forest.heads
    assert np.logical_and.reduceat(back, forest.offsets[:-1]).mean() > least


def test_any_relations_can_be_lowered() -> None:
    tree = Tree((2, 0, 2, 3), ("↑", "root↓", "x↑never", "↓↑x↓"))
    for scheme in SCHEMES:
        forest = Lifting(scheme).lower(Forest.from_trees([tree]))
        assert is_tree(forest.heads.tolist())


class TestDecoding:
    @every_scheme
    @pytest.mark.parametrize("decoder", ["search", "greedy", "minimum-risk"])
    def test_parsed_trees_are_lowered(self, scheme, decoder):
        encoding = get_encoding(f"4-bit+{scheme}")
        made = MadeScores(encoding, forest=Forest.from_trees([CROSSING]))
        found = TreeDecoder(made.inventory, get_decoder(decoder)).decode(made.scores())
        assert found.heads.tolist() == list(CROSSING.heads)
        assert made.names_of(found.relations) == list(CROSSING.deprels)

    def test_a_relation_that_was_always_lifted_has_a_name(self):
        encoding = get_encoding("4-bit+head")
        made = MadeScores(encoding, forest=Forest.from_trees([CROSSING]))
        assert "acl" not in made.inventory.names["deprel"]
        assert made.inventory.deprels[: len(made.inventory.names["deprel"])] == made.inventory.names["deprel"]
        assert "acl" in made.inventory.deprels


class TestNames:
    def test_an_encoding_knows_its_lifting(self):
        encoding = get_encoding("hexatags+head+path")
        assert encoding.name == "hexatags+head+path"
        assert lift(encoding, Forest.from_trees([CROSSING])).deprels.names != CROSSING.deprels

    @pytest.mark.parametrize("name", ["2p-full+head", "4-bit+heads", "4-bit+"])
    def test_others_are_refused(self, name):
        with pytest.raises(UnknownNameError, match=r"unknown (encoding|lifting)"):
            get_encoding(name)

    def test_an_unknown_scheme_is_refused(self):
        with pytest.raises(UnknownNameError, match="unknown lifting 'heads'; did you mean 'head'"):
            Lifting("heads")
