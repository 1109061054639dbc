from __future__ import annotations

import pytest

from biplanar.encodings import ENCODINGS, get_encoding
from biplanar.encodings.encoding import HEADS, STACKS, kind_of
from biplanar.encodings.stacks import as_stack_encoding
from biplanar.errors import LabelError
from tests import reference


def test_every_encoding_declares_its_kind() -> None:
    kinds = {name: STACKS if name in reference.STRATEGIES else HEADS for name in reference.ENCODINGS}
    assert {name: kind_of(encoding) for name, encoding in ENCODINGS.items()} == kinds


def test_an_encoding_that_declares_none_has_none() -> None:
    class Undeclared:
        name = "undeclared"
        tasks = ("plane1",)

    assert kind_of(Undeclared()) is None
    with pytest.raises(LabelError, match="expected an encoding whose labels move stacks, found undeclared"):
        as_stack_encoding(Undeclared())


@pytest.mark.parametrize("name", ENCODINGS)
def test_only_labels_that_move_stacks_are_taken_for_such(name: str) -> None:
    encoding = get_encoding(name)
    if encoding.kind == STACKS:
        assert as_stack_encoding(encoding) is encoding
    else:
        with pytest.raises(LabelError, match=f"expected an encoding whose labels move stacks, found {name}"):
            as_stack_encoding(encoding)
