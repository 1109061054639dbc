from __future__ import annotations

from biplanar.decoding.lattice.states import IMPOSSIBLE, describe_labels
from biplanar.encodings.stacks import bracket_moves


def test_what_labels_need_depends_on_the_order_of_their_brackets() -> None:
    labels = describe_labels(bracket_moves([("<\\", "\\<", "\\<\\", "/>", ">/", "<<", "_")]))
    assert labels.needs.tolist()[:6] == [0, 1, 1, 0, 1 << 15, 0]
    assert labels.changes.tolist()[:5] == [0, 0, -1, 0, 0]
    assert labels.kinds.tolist()[5] == IMPOSSIBLE  # two heads for one word


def test_a_second_plane_has_stacks_of_its_own() -> None:
    labels = describe_labels(bracket_moves([("_", "\\"), ("_", "\\", ">/>>")]))
    assert labels.second == 2
    assert labels.needs.tolist() == [0, 1, 0, 1 << 30, 0]  # the last would close three arcs to one word
    assert labels.changes.tolist() == [0, -1, 0, -1 << 30, 0]


def test_a_second_plane_that_is_missing_has_one_label_that_does_nothing() -> None:
    labels = describe_labels(bracket_moves([("<", "/")]))
    assert labels.second == 2
    assert (labels.needs[2], labels.changes[2], labels.kinds[2]) == (0, 0, 0)
    assert labels.starts.tolist() == [0, 1, 2, 2]
