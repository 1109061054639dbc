"""Encodings from outside the package: labels of a kind that no search knows are refused, and never misread."""

from __future__ import annotations

import numpy as np
import pytest

from biplanar.decoding import get_decoder
from biplanar.decoding.automaton_search import AutomatonSearch
from biplanar.decoding.search import SEARCHES, HeadSearch, finds_several_trees
from biplanar.decoding.stack_search import StackSearch
from biplanar.decoding.tree_decoder import Parsed, TreeDecoder
from biplanar.encodings import ENCODINGS, Encoding, get_encoding
from biplanar.encodings.encoding import AUTOMATON, HEADS, STACKS
from biplanar.errors import LabelError
from tests.decoding.made_scores import UPOS, MadeScores, noise_like
from tests.encodings.wrapped import ManyTasks, Moving, Naming, Strange, Wrapped

LABELS_ALONE = ("greedy", "paper")
SEARCHING = ("search", "minimum-risk")


def tables_of(seed: int | None, made: MadeScores) -> dict[str, np.ndarray]:
    return made.tables if seed is None else noise_like(made.tables, seed)


def decoded(encoding: Encoding, decoder: str, *, seed: int | None = None, probabilities: bool = False) -> Parsed:
    made = MadeScores(encoding)
    made.tables = tables_of(seed, made)
    return TreeDecoder(made.inventory, get_decoder(decoder), probabilities=probabilities).decode(made.scores(), UPOS)


def assert_same(one: Parsed, other: Parsed) -> None:
    assert one.heads.tolist() == other.heads.tolist()
    assert one.relations.tolist() == other.relations.tolist()
    assert one.outcome == other.outcome
    assert (one.probabilities is None) == (other.probabilities is None)
    if one.probabilities is not None:
        np.testing.assert_array_equal(one.probabilities, other.probabilities)


def refused() -> pytest.RaisesExc[LabelError]:
    return pytest.raises(LabelError, match="wrapped")


class TestKindsThatNoSearchKnows:
    """Of a class of its own, `1p-brackets` was once taken for an encoding whose labels name heads."""

    UNKNOWN = pytest.mark.parametrize("encoding", [Wrapped(), Strange()], ids=["undeclared", "unknown"])

    @UNKNOWN
    @pytest.mark.parametrize("decoder", SEARCHING)
    def test_searches_refuse_them(self, encoding, decoder):
        with refused():
            decoded(encoding, decoder)

    @UNKNOWN
    def test_so_do_several_trees(self, encoding):
        made = MadeScores(encoding)
        for decoder in (*SEARCHING, *LABELS_ALONE):
            with refused():
                TreeDecoder(made.inventory, get_decoder(decoder)).several(made.first(), 2)

    @UNKNOWN
    @pytest.mark.parametrize("decoder", [*SEARCHING, *LABELS_ALONE])
    def test_and_probabilities(self, encoding, decoder):
        with refused():
            decoded(encoding, decoder, probabilities=True)

    @UNKNOWN
    @pytest.mark.parametrize("decoder", LABELS_ALONE)
    def test_labels_alone_need_no_kind(self, encoding, decoder):
        for seed in (None, 1, 2, 3):
            assert_same(decoded(encoding, decoder, seed=seed), decoded(encoding.inner, decoder, seed=seed))

    @UNKNOWN
    def test_it_is_known_beforehand(self, encoding):
        assert not finds_several_trees(encoding)


class TestKindsThatASearchKnows:
    @pytest.mark.parametrize("inner", [name for name, one in ENCODINGS.items() if one.kind == STACKS])
    @pytest.mark.parametrize("decoder", [*SEARCHING, *LABELS_ALONE])
    def test_labels_that_move_stacks_give_the_same_trees(self, inner, decoder):
        wrapped = Moving(get_encoding(inner))
        for seed in (None, *range(5)):
            for probabilities in (False, True):
                found, wanted = (
                    decoded(one, decoder, seed=seed, probabilities=probabilities) for one in (wrapped, wrapped.inner)
                )
                assert_same(found, wanted)

    def test_and_the_same_best_trees(self):
        wrapped = Moving()
        for seed in (None, *range(5)):
            found, wanted = (self.several(one, seed) for one in (wrapped, wrapped.inner))
            assert found == wanted
            assert len(found) > 1

    def several(self, encoding: Encoding, seed: int | None) -> list[tuple[list[int], float]]:
        made = MadeScores(encoding)
        made.tables = tables_of(seed, made)
        return [(one.heads.tolist(), score) for one, score in TreeDecoder(made.inventory).several(made.first(), 4)]

    @pytest.mark.parametrize("inner", [name for name, one in ENCODINGS.items() if one.kind == HEADS])
    @pytest.mark.parametrize("decoder", [*SEARCHING, *LABELS_ALONE])
    def test_labels_that_name_heads_do_so_too(self, inner, decoder):
        wrapped = Naming(get_encoding(inner))
        for seed in (None, *range(5)):
            found, wanted = (decoded(one, decoder, seed=seed, probabilities=True) for one in (wrapped, wrapped.inner))
            assert_same(found, wanted)

    def test_each_kind_has_its_search(self):
        searches = {
            one.kind: TreeDecoder(made.inventory).sentences(made.scores())
            for one in ENCODINGS.values()
            for made in [MadeScores(one)]
        }
        known = {STACKS: StackSearch, HEADS: HeadSearch, AUTOMATON: AutomatonSearch}
        assert {kind: type(search) for kind, search in searches.items()} == known
        assert {name for name, one in ENCODINGS.items() if finds_several_trees(one)} == {
            name for name, one in ENCODINGS.items() if one.kind != HEADS
        }

    def test_a_search_for_another_kind_is_a_class_and_a_line(self, monkeypatch):
        monkeypatch.setitem(SEARCHES, "transitions", HeadSearch)
        inner = get_encoding("relative")
        assert_same(decoded(Strange(inner), "search", seed=1), decoded(inner, "search", seed=1))


class TestKindsWithAnotherNumberOfTasks:
    def several(self, encoding: Encoding) -> None:
        made = MadeScores(encoding)
        TreeDecoder(made.inventory).several(made.first(), 2)

    @pytest.mark.parametrize("kind", [STACKS, HEADS])
    def test_they_are_refused(self, kind):
        encoding = ManyTasks(kind=kind)
        for refuse in (
            lambda: decoded(encoding, "search"),
            lambda: decoded(encoding, "greedy", probabilities=True),
            lambda: self.several(encoding),
        ):
            with pytest.raises(LabelError, match="wrapped"):
                refuse()
