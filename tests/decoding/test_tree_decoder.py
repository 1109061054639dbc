"""From scores to trees: every decoder and every encoding, with scores made by hand."""

from __future__ import annotations

import numpy as np
import pytest

from biplanar.data.forest import Column
from biplanar.data.tree import Tree
from biplanar.decoding import DECODERS, get_decoder
from biplanar.decoding.beam import Beam, Outcome
from biplanar.decoding.inventory import LabelInventory
from biplanar.decoding.scores import ColumnTables
from biplanar.decoding.tree_decoder import Parsed, TreeDecoder
from biplanar.encodings import ENCODINGS, PROJECTIVE, get_encoding
from biplanar.encodings.encoding import HEADS
from biplanar.errors import LabelError
from tests.decoding import made_scores
from tests.decoding.enumeration import prepared
from tests.decoding.made_scores import TREES, UPOS, MadeScores, noise_like
from tests.strategies import all_trees

every_decoder = pytest.mark.parametrize("decoder", DECODERS)
every_encoding = pytest.mark.parametrize("encoding", ENCODINGS)
STACK_ENCODINGS = [name for name, encoding in ENCODINGS.items() if encoding.kind != HEADS]


def decoded(made: MadeScores, decoder: str, *, probabilities: bool = False) -> Parsed:
    return TreeDecoder(made.inventory, get_decoder(decoder), probabilities=probabilities).decode(made.scores(), UPOS)


@every_decoder
@every_encoding
def test_sure_scores_give_their_trees(encoding: str, decoder: str) -> None:
    made = MadeScores(get_encoding(encoding))
    found = decoded(made, decoder)
    heads = found.heads.tolist()
    if encoding not in ("1p-brackets", *PROJECTIVE):  # which cannot express the second tree
        assert heads == made_scores.HEADS
    assert heads[:4] == list(TREES[0].heads)
    assert made.names_of(found.relations)[:4] == list(TREES[0].deprels)
    assert found.probabilities is None


@every_decoder
@every_encoding
def test_any_scores_give_trees(encoding: str, decoder: str) -> None:
    made = MadeScores(get_encoding(encoding))
    for seed in range(5):
        made.tables = noise_like(made.tables, seed)
        found = decoded(made, decoder, probabilities=True)
        relations = made.names_of(found.relations)
        for start, end in ((0, 4), (4, 9)):
            Tree(tuple(found.heads[start:end].tolist()), tuple(relations[start:end]))
        assert ((found.probabilities >= 0) & (found.probabilities <= 1)).all()


@pytest.mark.parametrize("encoding", STACK_ENCODINGS)
def test_a_search_says_how_it_ended(encoding: str) -> None:
    made = MadeScores(get_encoding(encoding))
    assert decoded(made, "search").outcome.sentences == decoded(made, "minimum-risk").outcome.sentences == 2
    assert decoded(made, "greedy").outcome == decoded(made, "paper").outcome == Outcome(unsearched=2)


def test_probabilities_tell_doubt_from_certainty() -> None:
    sure, unsure = (
        decoded(MadeScores(get_encoding("2p-full"), sure=sure), "search", probabilities=True).probabilities
        for sure in (8.0, 1.0)
    )
    assert unsure.mean() < 0.9 < sure.mean()


def test_least_risk_finds_the_tree_with_the_most_arcs_to_be_expected() -> None:
    beam, words, gained = Beam(depth_weight=1.0), np.arange(5), 0.0
    for seed in range(12):
        made = prepared("one plane", 5, False, seed, spread=0.5)
        probabilities = made.likelihoods()
        expected = max(probabilities[words, heads].sum() for heads in all_trees(5))
        found = (
            TreeDecoder(made.search(made.scores).inventory, get_decoder("minimum-risk"), beam).decode(made.scores).heads
        )
        assert probabilities[words, found].sum() > expected - 0.01  # the beam leaves out what is rarest
        gained += expected - probabilities[words, made.sequences[0].heads].sum()
    assert gained > 0.1  # so it is not the best sequence that is found


class TestSeveral:
    @pytest.mark.parametrize("encoding", STACK_ENCODINGS)
    def test_the_best_comes_first(self, encoding: str) -> None:
        made = MadeScores(get_encoding(encoding), sure=3.0)
        trees = TreeDecoder(made.inventory, probabilities=True).several(made.first(), 4)
        count = 2 if encoding == "4-bit" else 4  # the labels that are known there make no more trees
        assert trees[0][0].heads.tolist() == list(TREES[0].heads)
        assert [score for _, score in trees] == sorted((score for _, score in trees), reverse=True)
        assert len({tuple(parsed.heads.tolist()) for parsed, _ in trees}) == len(trees) == count
        assert all(parsed.probabilities.shape == (4,) for parsed, _ in trees)
        assert [parsed.outcome for parsed, _ in trees] == [Outcome(best=1)] * count

    def test_labels_that_name_heads_have_only_one(self) -> None:
        made = MadeScores(get_encoding("relative"))
        with pytest.raises(LabelError, match="relative"):
            TreeDecoder(made.inventory).several(made.first(), 2)

    def test_none_are_refused(self) -> None:
        made = MadeScores(get_encoding("2p-full"))
        with pytest.raises(LabelError, match="at least 1"):
            TreeDecoder(made.inventory).several(made.first(), 0)


class TestLost:
    """A label set in which no sequence is a tree: all words open, none closes."""

    @pytest.fixture
    def made(self) -> MadeScores:
        made = MadeScores(get_encoding("1p-brackets"))
        names = dict(made.inventory.names) | {"plane1": ("/", "<")}
        made.inventory = LabelInventory(made.inventory.encoding, names)
        made.tables["plane1"] = np.zeros((9, 2), dtype=np.float32)
        return made

    def test_greedy_decoding_takes_over(self, made: MadeScores) -> None:
        found = decoded(made, "search", probabilities=True)
        assert found.outcome == Outcome(lost=2, widened=2)
        heads = found.heads.tolist()
        assert heads == decoded(made, "greedy").heads.tolist()
        assert [name == "root" for name in made.names_of(found.relations)] == [head == 0 for head in heads]
        assert np.isnan(found.probabilities).all()

    def test_the_one_tree_that_is_found_has_no_score(self, made: MadeScores) -> None:
        ((found, score),) = TreeDecoder(made.inventory).several(made.first(), 3)
        assert score == -np.inf
        assert found.outcome == Outcome(lost=1)
        assert found.heads.tolist() == decoded(made, "greedy").heads[:4].tolist()


def test_output_columns_get_their_best_labels() -> None:
    made = MadeScores(get_encoding("2p-full"))
    made.inventory = LabelInventory(made.inventory.encoding, dict(made.inventory.names) | {"upos": UPOS.names})
    made.columns = ColumnTables({"upos": np.eye(len(UPOS.names), dtype=np.float32)[UPOS.ids]})
    found = decoded(made, "search")
    assert {name: ids.tolist() for name, ids in found.columns.items()} == {"upos": UPOS.ids.tolist()}


def test_output_columns_are_not_asked_for_where_they_are_not_wanted() -> None:
    made = MadeScores(get_encoding("2p-full"))
    made.columns = ColumnTables({"upos": np.zeros((0, 0), dtype=np.float32)})
    assert TreeDecoder(made.inventory, tags=False).decode(made.scores()).columns == {}


def test_encodings_that_need_tags_take_those_that_are_given_and_predict_the_others() -> None:
    encoding = get_encoding("rel-pos")
    made = MadeScores(encoding)
    names = ("ZZZ", *UPOS.names)
    made.inventory = LabelInventory(encoding, dict(made.inventory.names) | {"upos": names})
    made.columns = ColumnTables({"upos": np.eye(len(names), dtype=np.float32)[UPOS.ids + 1]})
    decoder, scores = TreeDecoder(made.inventory, DECODERS["greedy"]), made.scores()
    wanted = decoder.decode(scores, UPOS).heads.tolist()
    assert decoder.decode(scores).heads.tolist() == wanted
    some = Column.of("_" if word % 2 else tag for word, tag in enumerate(UPOS.labels()))
    assert decoder.decode(scores, some).heads.tolist() == wanted
    none_right = Column.of("ZZZ" for _ in UPOS.ids)
    assert decoder.decode(scores, none_right).heads.tolist() != wanted


def test_parts_are_joined_in_another_order() -> None:
    one = Parsed(np.array([0]), np.array([5]), np.array([0.5]), Outcome(best=1), {"upos": np.array([8])})
    two = Parsed(
        np.array([2, 0]), np.array([6, 7]), np.array([0.25, 1.0]), Outcome(argmax=1), {"upos": np.array([9, 10])}
    )
    joined = Parsed.joined([one, two], np.array([1, 2, 0]))
    assert (joined.heads.tolist(), joined.relations.tolist()) == ([2, 0, 0], [6, 7, 5])
    assert joined.probabilities.tolist() == [0.25, 1.0, 0.5]
    assert joined.outcome == Outcome(argmax=1, best=1)
    assert joined.columns["upos"].tolist() == [9, 10, 8]
