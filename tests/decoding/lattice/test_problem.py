"""What pairs of labels and arcs lose, against plain arithmetic."""

from __future__ import annotations

import numpy as np
import pytest

from biplanar.data.forest import offsets_of
from biplanar.decoding.beam import Beam
from biplanar.decoding.inventory import Weights
from biplanar.decoding.lattice.problem import Problem
from biplanar.decoding.lattice.states import CLOSES_RIGHT, OPENS_LEFT
from biplanar.decoding.scores import UNLIKELY, Scores
from tests.decoding.arc_tables import likeliest, random_table
from tests.decoding.enumeration import EVERY_LABEL, LABEL_SETS, log_softmax, random_tables, searching

LENGTHS = [4, 1, 12, 3]
PLANES = LABEL_SETS["two planes"]


def problem_of(tables: list[np.ndarray], weight: float, *, arcs: bool = True) -> tuple[Problem, Scores]:
    """All that may be chosen in some sentences, whose arcs have these log-probabilities."""
    labels = random_tables(np.random.default_rng(1), sum(map(len, tables)), PLANES, depths=True)
    scores = Scores(offsets_of(map(len, tables)), labels, arcs=likeliest(tables) if arcs else None)
    search = searching(PLANES, Beam(rarest=0.0), mass=EVERY_LABEL, weights=Weights(weight))(scores)
    return next(search._attempts())[0], scores


@pytest.mark.parametrize("weight", [0.5, 2.0])
def test_losses_are_what_heads_fall_short_of_the_best(weight: float) -> None:
    rng = np.random.default_rng(2)
    tables = [random_table(rng, words, 4.0) for words in LENGTHS]
    found, (problem, _) = likeliest(tables), problem_of(tables, weight)
    at = 0
    for table in tables:
        for word, row in enumerate(table, 1):
            known = set(found.heads[at].tolist())
            logs = [max(one, UNLIKELY) if head in known else UNLIKELY for head, one in enumerate(row)]
            losses = weight * (row.max() - np.array(logs))
            assert problem.others[at] == pytest.approx(weight * (row.max() - UNLIKELY), abs=1e-4)
            for place, head in enumerate(problem.heads[at]):
                assert head < 0 or problem.arcs[at, place] == pytest.approx(losses[head], abs=1e-4)
            for sides, rest in ((problem.lefts, losses[1:word]), (problem.rights, losses[word + 1 :])):
                assert sides[at] == pytest.approx(min(rest, default=problem.others[at]), abs=1e-4)
            at += 1


@pytest.mark.parametrize("arcs", [False, True])
def test_pairs_come_best_first_and_pay_for_arcs_in_advance(arcs: bool) -> None:
    tables = [random_table(np.random.default_rng(3), words, 4.0) for words in LENGTHS]
    problem, scores = problem_of(tables, 2.0, arcs=arcs)
    labels = [[log_softmax(row) for row in scores.labels[f"plane{plane}"]] for plane in (1, 2)]
    for at in range(sum(LENGTHS)):
        own = slice(*problem.starts[at : at + 2])
        assert problem.losses[own][0] == 0
        assert (np.diff(problem.losses[own]) >= 0).all()
        for (one, two), loss, kind in zip(problem.pairs[own], problem.losses[own], problem.kinds[own], strict=True):
            wanted = labels[0][at][one] + (0.5 if arcs else 1.0) * labels[1][at][two - problem.labels.second]
            wanted -= problem.lefts[at] if kind & CLOSES_RIGHT else 0
            wanted -= problem.rights[at - 1] if kind & OPENS_LEFT else 0
            assert problem.best[at] - loss == pytest.approx(wanted, abs=1e-4)


def test_depths_of_a_second_plane_count_only_without_arcs() -> None:
    tables = [random_table(np.random.default_rng(3), words) for words in LENGTHS]
    assert [problem_of(tables, 2.0, arcs=arcs)[0].depths.shape[1] for arcs in (True, False)] == [2, 4]
