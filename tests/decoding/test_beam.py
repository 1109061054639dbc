from __future__ import annotations

import math

import pytest

from biplanar.decoding.beam import WIDEST, Beam, Outcome
from biplanar.errors import BiplanarError


@pytest.mark.parametrize("wrong", [{"states": 0}, {"states": -1}, {"states": 10**20}, {"wider": 0}, {"edges": 0}])
def test_beams_that_cannot_work_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(BiplanarError, match="1 to 100000"):
        Beam(**wrong)


def test_the_second_attempt_leaves_nothing_out_but_stays_within_limits() -> None:
    beam = Beam(states=10, wider=3, margin=1.0, rarest=0.1, edges=7, nodes=5)
    assert beam.widened == Beam(states=30, wider=3, margin=math.inf, rarest=0.0, edges=7, nodes=5)
    assert Beam(states=WIDEST).widened.states == WIDEST
    assert beam.widened.limits.least == -math.inf
    assert beam.limits.least == pytest.approx(math.log(0.1))


def test_outcomes_add_up() -> None:
    one, other = Outcome(argmax=1, best=2, next_best=3, acyclic=4, lost=5, widened=6), Outcome(lost=1, widened=1)
    assert one + other == Outcome(1, 2, 3, 4, 6, 7)
    assert (one + other).sentences == 16  # those that needed a wider search are among the others
