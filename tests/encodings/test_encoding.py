from __future__ import annotations

import pytest

from biplanar.encodings import ENCODINGS, get_encoding
from biplanar.encodings.encoding import AUTOMATON, HEADS, STACKS, kind_of
from biplanar.encodings.stacks import as_stack_encoding
from biplanar.errors import LabelError
from tests import reference
from tests.encodings.wrapped import Wrapped


def test_every_encoding_declares_its_kind() -> None:
    kinds = {name: STACKS if name in reference.STRATEGIES else HEADS for name in reference.ENCODINGS}
    others = dict.fromkeys(set(ENCODINGS) - set(kinds), AUTOMATON)
    assert {name: kind_of(encoding) for name, encoding in ENCODINGS.items()} == kinds | others


def test_an_encoding_that_declares_none_has_none() -> None:
    assert kind_of(Wrapped()) is None
    with pytest.raises(LabelError, match="expected an encoding whose labels move stacks, found wrapped"):
        as_stack_encoding(Wrapped())


@pytest.mark.parametrize("name", ENCODINGS)
def test_only_labels_that_move_stacks_are_taken_for_such(name: str) -> None:
    encoding = get_encoding(name)
    if encoding.kind == STACKS:
        assert as_stack_encoding(encoding) is encoding
    else:
        with pytest.raises(LabelError, match=f"expected an encoding whose labels move stacks, found {name}"):
            as_stack_encoding(encoding)
