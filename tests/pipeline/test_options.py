"""How to parse, as one value."""

from __future__ import annotations

import pytest

from biplanar.decoding import DECODERS
from biplanar.errors import BiplanarError, UnknownNameError
from biplanar.pipeline.options import ParseOptions


def test_some_can_be_changed():
    options = ParseOptions(probabilities=True)
    assert options.changed(decoder="greedy") == ParseOptions("greedy", probabilities=True)
    assert options.changed() is options


def test_what_cannot_work_is_refused():
    with pytest.raises(UnknownNameError, match="did you mean 'search'"):
        ParseOptions("serch")
    with pytest.raises(BiplanarError, match="--best needs --decoder search, not greedy"):
        ParseOptions("greedy", best=2)
    with pytest.raises(BiplanarError, match="best must be"):
        ParseOptions(best=0)
    with pytest.raises(BiplanarError, match="batch_words must be"):
        ParseOptions(batch_words=0)


def test_one_decoder_finds_several_trees():
    assert [name for name, decoder in DECODERS.items() if decoder.finds_several] == ["search"]
