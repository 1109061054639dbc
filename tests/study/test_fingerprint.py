"""Versions of the code in fingerprints follow what the code does."""

from __future__ import annotations

from dataclasses import replace

import pytest
from study.fingerprint import CODE, PROBES, digest, part_of, settings_of

import biplanar
from biplanar import read_conllu
from biplanar.tagger.config import read_config
from tests.paths import TINY


@pytest.fixture(scope="module")
def parser():
    return biplanar.load()


@pytest.mark.parametrize("part", PROBES)
def test_decoders_give_the_trees_that_their_version_gave(parser, part):
    """If the decoder was meant to change: raise its version in CODE, and note the new digest. If only the bundled model
    has: first see that the model before gives the digests as they are, then note those of the new one.
    """
    decoder = {"arcs": "search", "labels": "search"}.get(part, part)
    inventory = parser.inventory
    if part == "labels":
        parser.inventory = replace(inventory, weights=replace(inventory.weights, arcs=0.0))
    try:
        trees = [(one.heads, one.tree.deprels) for one in parser.pipe(read_conllu(TINY), decoder=decoder)]
    finally:
        parser.inventory = inventory
    assert (CODE[part], digest(trees)) == PROBES[part]


def test_the_part_of_a_decoder():
    assert part_of("search", arcs=True) == "arcs"
    assert part_of("search", arcs=False) == "labels"
    assert part_of("paper", arcs=False) == part_of("greedy", arcs=True) == "greedy"
    assert part_of("biaffine", arcs=False) == "biaffine"


def test_what_is_off_does_not_count():
    paper = settings_of(read_config("paper").to_dict())
    assert "network.columns" not in paper
    assert "auxiliary.relation_dim" not in paper
    assert paper == settings_of(read_config("paper", {"training.evaluations": "3"}).to_dict())
    assert paper != settings_of(read_config("paper", {"network.hidden": "3"}).to_dict())
