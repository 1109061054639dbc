from __future__ import annotations

from biplanar.encodings import ENCODINGS
from biplanar.encodings.encoding import AUTOMATON, HEADS, STACKS, kind_of
from tests import reference
from tests.encodings.wrapped import Wrapped


def test_every_encoding_declares_its_kind() -> None:
    kinds = {name: STACKS if name in reference.STRATEGIES else HEADS for name in reference.ENCODINGS}
    others = dict.fromkeys(set(ENCODINGS) - set(kinds), AUTOMATON)
    assert {name: kind_of(encoding) for name, encoding in ENCODINGS.items()} == kinds | others


def test_an_encoding_that_declares_none_has_none() -> None:
    assert kind_of(Wrapped()) is None
