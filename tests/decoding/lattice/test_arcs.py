from __future__ import annotations

import numpy as np
import pytest

from biplanar.data.forest import offsets_of
from biplanar.decoding.lattice.arcs import UNLIKELY, agree, arc_loss, identity_of, no_arcs, prepaid_loss, weigh_arcs
from biplanar.decoding.lattice.states import CLOSES_RIGHT, OPENS_LEFT, OPENS_RIGHT
from tests.decoding.arc_tables import likeliest, random_table

LENGTHS = [4, 1, 12, 3]


@pytest.mark.parametrize("weight", [0.5, 2.0])
def test_losses_are_what_heads_fall_short_of_the_best(weight: float) -> None:
    rng = np.random.default_rng(2)
    tables = [random_table(rng, words, 4.0) for words in LENGTHS]
    found = likeliest(tables)
    arcs = weigh_arcs(found.heads, found.logs, offsets_of(LENGTHS), weight)
    assert arcs.known
    at = 0
    for table in tables:
        for word, row in enumerate(table, 1):
            known = set(found.heads[at].tolist())
            logs = [max(one, UNLIKELY) if head in known else UNLIKELY for head, one in enumerate(row)]
            losses = [arc_loss(arcs, at, head) for head in range(len(row))]
            assert losses == pytest.approx([weight * (row.max() - one) for one in logs], abs=1e-4)
            for sides, rest in ((arcs.lefts, losses[1:word]), (arcs.rights, losses[word + 1 :])):
                assert sides[at] == pytest.approx(min(rest, default=weight * (row.max() - UNLIKELY)), abs=1e-4)
            at += 1


def test_labels_that_say_where_heads_are_pay_for_the_best_there() -> None:
    heads, logs = np.array([[2, 0], [1, 3], [0, 2]], dtype=np.int32), np.array([[0, -1], [0, -2], [0, -4]], np.float32)
    arcs = weigh_arcs(heads, logs, offsets_of([3]), 0.5)
    assert prepaid_loss(arcs, CLOSES_RIGHT, 2) == 2  # the third word's head is the second
    assert prepaid_loss(arcs, OPENS_LEFT, 2) == 1  # the second word's head is the third
    assert prepaid_loss(arcs, OPENS_LEFT | CLOSES_RIGHT, 2) == 3
    assert prepaid_loss(arcs, OPENS_RIGHT, 2) == 0
    assert prepaid_loss(no_arcs(), OPENS_LEFT | CLOSES_RIGHT, 2) == 0


def test_the_likeliest_head_loses_nothing_however_unlikely() -> None:
    heads, logs = np.array([[2, 0]], dtype=np.int32), np.array([[-20.0, -30.0]], dtype=np.float32)
    arcs = weigh_arcs(heads, logs, offsets_of([1]), 3.0)
    assert [arc_loss(arcs, 0, head) for head in (0, 1, 2)] == [0, 0, 0]


def test_labels_alone_have_no_arcs() -> None:
    assert not no_arcs().known


def test_equal_stacks_and_keys_are_one_state_and_others_are_not() -> None:
    rng, seen = np.random.default_rng(1), dict[int, tuple[int, ...]]()
    for key in range(20):
        for _ in range(500):
            tops = rng.integers(0, 4, 4).astype(np.int32)
            state = (key, *tops.tolist())
            assert seen.setdefault(identity_of(key, tops), state) == state
    assert len(seen) == len(set(seen.values())) > 4000


def test_sentences_agree_if_all_their_words_do() -> None:
    heads = np.array([2, 0, 0, 1, 0], dtype=np.int32)
    likely = np.array([2, 0, 0, 0, 1], dtype=np.int32)
    assert agree(heads, likely, offsets_of([2, 1, 0, 2])).tolist() == [True, True, True, False]
