from __future__ import annotations

import numpy as np
import pytest

from biplanar.decoding import DECODERS, DEFAULT_DECODER, DEFAULT_LABEL_DECODER, get_decoder
from biplanar.decoding.decoders import get_repair
from biplanar.decoding.inventory import LabelInventory
from biplanar.decoding.repair import repair_cleanly, repair_like_the_authors
from biplanar.decoding.tree_decoder import Parsed, TreeDecoder
from biplanar.encodings import get_encoding
from biplanar.errors import UnknownNameError
from tests.decoding.made_scores import DEPRELS, HEADS, UPOS, MadeScores

GIVEN_HEADS = ("search", "minimum-risk", "greedy")  # those that choose relations once heads are known


def decoded(made: MadeScores, decoder: str, given_governors=None) -> Parsed:
    return TreeDecoder(made.inventory, get_decoder(decoder)).decode(made.scores(given_governors), UPOS)


class TestNames:
    def test_every_decoder_stands_under_its_own_name(self):
        assert list(DECODERS) == [decoder.name for decoder in DECODERS.values()]
        assert list(DECODERS) == ["search", "minimum-risk", "greedy", "paper"]
        assert (DEFAULT_DECODER, DEFAULT_LABEL_DECODER) == ("search", "greedy")

    def test_an_unknown_name_is_refused_with_the_nearest(self):
        with pytest.raises(UnknownNameError, match="unknown decoder 'serch'; did you mean 'search'"):
            get_decoder("serch")

    def test_repairs_are_those_of_decoders_that_take_labels_alone(self):
        assert get_repair("greedy") is repair_cleanly
        assert get_repair("paper") is repair_like_the_authors

    @pytest.mark.parametrize("name", ["search", "minimum-risk", "papers"])
    def test_others_have_no_repair(self, name):
        with pytest.raises(UnknownNameError, match=rf"unknown decoder '{name}'.* \(known: greedy, paper\)"):
            get_repair(name)

    def test_only_the_search_finds_the_first_of_the_best_trees(self):
        assert [name for name, decoder in DECODERS.items() if decoder.finds_several] == ["search"]


class TestRelations:
    @pytest.mark.parametrize("encoding", ["relative", "2p-full"])
    @pytest.mark.parametrize("decoder", GIVEN_HEADS)
    def test_only_roots_have_a_roots_relation(self, encoding, decoder):
        made = MadeScores(get_encoding(encoding))
        made.tables["deprel"][:] = np.random.default_rng(1).normal(size=made.tables["deprel"].shape)
        found = decoded(made, decoder)
        assert [name == "root" for name in made.names_of(found.relations)] == [head == 0 for head in found.heads]

    @pytest.mark.parametrize("decoder", GIVEN_HEADS)
    def test_they_are_asked_for_once_with_the_found_heads(self, decoder):
        made, asked = MadeScores(get_encoding("2p-full")), []

        def given_governors(governors):
            asked.append(governors.tolist())
            return np.flip(made.tables["deprel"], axis=1)

        found = decoded(made, decoder, given_governors)
        assert found.heads.tolist() == HEADS
        assert asked == [[2, 0, 4, 2, 6, 8, 5, 0, 5]]  # places among all words, counted from 1; 0: the root
        by_name = sorted(set(DEPRELS))
        flipped = [by_name[-1 - by_name.index(name)] for name in DEPRELS]
        for relation, wanted, head in zip(made.names_of(found.relations), flipped, HEADS, strict=True):
            assert relation == wanted or (head == 0) != (wanted == "root")

    def test_the_paper_does_not_ask(self):
        def given_governors(governors):
            pytest.fail(f"asked for relations given {governors}")

        made = MadeScores(get_encoding("2p-full"))
        assert made.names_of(decoded(made, "paper", given_governors).relations) == DEPRELS

    def test_the_paper_lets_any_word_be_called_root(self):
        made = MadeScores(get_encoding("2p-full"))
        made.tables["deprel"][0, made.inventory.deprels.index("root")] = 99
        found = decoded(made, "paper")
        assert found.heads.tolist() == HEADS
        assert made.names_of(found.relations) == ["root", *DEPRELS[1:]]


class TestRoots:
    """Labels that leave the root open: `_` on all words."""

    def roots(self, relations: tuple[str, ...], likely: list[int], decoder: str) -> list[int]:
        made = MadeScores(get_encoding("1p-brackets"))
        made.inventory = LabelInventory(made.inventory.encoding, {"plane1": ("_",), "deprel": relations})
        made.tables = {"plane1": np.zeros((9, 1), dtype=np.float32), "deprel": np.eye(9, len(relations))[likely] * 5}
        made.tables["deprel"] = made.tables["deprel"].astype(np.float32)
        return np.flatnonzero(decoded(made, decoder).heads == 0).tolist()

    def test_greedy_takes_the_likeliest_subtypes_included(self):
        likely = [0, 0, 1, 0, 0, 0, 0, 0, 2]
        assert self.roots(("dep", "root", "root:x"), likely, "greedy") == [2, 8]

    def test_the_paper_knows_no_subtypes(self):
        likely = [0, 0, 1, 0, 0, 0, 0, 0, 2]
        assert self.roots(("dep", "root", "root:x"), likely, "paper") == [2, 4]
