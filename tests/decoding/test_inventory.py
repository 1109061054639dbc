from __future__ import annotations

from biplanar.data.conllu import LEMMA, UPOS
from biplanar.decoding.inventory import LabelInventory
from biplanar.encodings import get_encoding

TREE = {"deprel": ("root",)}


def test_output_columns() -> None:
    inventory = LabelInventory(get_encoding("2p-full"), {"lemma": (), "plane1": (), **TREE, "upos": ()})
    assert inventory.output_columns == ("lemma", "upos")
    assert inventory.output_numbers == (LEMMA, UPOS)


def test_a_tagger_is_needed_for_tags_that_are_not_predicted() -> None:
    assert LabelInventory(get_encoding("rel-pos"), TREE).needs_tagger
    assert not LabelInventory(get_encoding("rel-pos"), TREE | {"upos": ("NOUN",)}).needs_tagger
    assert not LabelInventory(get_encoding("2p-full"), TREE).needs_tagger
