"""One room for many sentences: what earlier ones left there changes nothing."""

from __future__ import annotations

import numpy as np
import pytest

from biplanar.data.forest import offsets_of
from biplanar.decoding.beam import Beam
from biplanar.decoding.lattice.paths import BEST, beams_for, quickest
from biplanar.decoding.lattice.problem import make_problem
from biplanar.decoding.lattice.states import NUMBER, STAMP, find_slot
from biplanar.decoding.scores import Scores
from tests.decoding.arc_tables import likeliest, random_table
from tests.decoding.enumeration import LABEL_SETS, random_tables, searching

LENGTHS = [6, 3, 12, 1, 9]


@pytest.mark.parametrize("known", [False, True], ids=["labels", "arcs"])
def test_many_attempts_in_one_room(known: bool) -> None:
    planes, rng, words = LABEL_SETS["two planes"], np.random.default_rng(3), sum(LENGTHS)
    arcs = likeliest([random_table(rng, length) for length in LENGTHS]) if known else None
    scores = Scores(offsets_of(LENGTHS), random_tables(rng, words, planes, depths=True, spread=0.3), arcs=arcs)
    search, offsets = searching(planes, Beam(states=16, margin=np.inf, rarest=0.0))(scores), scores.offsets
    limits, every = search.beam.limits, np.ones(len(LENGTHS), dtype=bool)
    problem = make_problem(every, search._tables, limits, False)

    def path(sentence: int, beams) -> list[int]:
        return quickest(int(offsets[sentence]), LENGTHS[sentence], problem, limits, beams).tolist()

    wanted = [path(sentence, beams_for(offsets, problem, limits, BEST)) for sentence in range(len(LENGTHS))]
    assert sum(map(len, wanted)) > words / 2
    beams = beams_for(offsets, problem, limits, BEST)
    for _ in range(400):
        assert [path(sentence, beams) for sentence in range(len(LENGTHS))] == wanted
    entries = beams.stamp[0]
    assert entries > 10 * len(beams.table)  # each word of each attempt has used at least one
    beams.table[:] = entries << STAMP | 1
    assert [path(sentence, beams) for sentence in range(len(LENGTHS))] == wanted


def test_only_entries_with_the_stamp_count() -> None:
    identities = np.array([7, 8, 9], dtype=np.int64)
    table = np.full(4, 5 << STAMP | 1, dtype=np.int64)  # full of the state 8, by another word
    first = find_slot(7, table, identities, 6, 3)
    table[first] = 6 << STAMP | 2  # where another state has come before
    second = find_slot(7, table, identities, 6, 3)
    assert second != first
    table[second] = 6 << STAMP | 0
    assert find_slot(7, table, identities, 6, 3) == second
    assert table[second] & NUMBER == 0
