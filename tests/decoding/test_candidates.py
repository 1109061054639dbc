"""The candidates of a search, against plain arithmetic."""

from __future__ import annotations

import numpy as np
import pytest

from biplanar.data.forest import offsets_of
from biplanar.decoding.beam import Beam
from biplanar.decoding.candidates import best_given_heads, find_tops, top_candidates
from biplanar.decoding.lattice.pairs import Candidates, Costs
from biplanar.decoding.scores import Scores, best_labels, log_probabilities

ROOTS = np.array([False, True, False, True, False])


def random_scores(words: int = 200, spread: float = 3.0, seed: int = 0) -> Scores:
    rng = np.random.default_rng(seed)
    widths = {"plane1": 37, "plane2": 6, "deprel": len(ROOTS)}
    widths |= {f"depth.plane{plane}.{side}": 4 for plane in (1, 2) for side in ("left", "right")}
    tables = {task: rng.normal(0, spread, (words, width)).astype(np.float32) for task, width in widths.items()}
    return Scores(offsets_of([words]), tables)


def filled(words: int, value: float) -> Scores:
    scores = random_scores(words)
    return Scores(scores.offsets, {task: np.full_like(table, value) for task, table in scores.labels.items()})


def found_in(
    scores: Scores, tasks: list[str], rows: np.ndarray | None = None, lighter: bool = False, **settings: float
) -> tuple[list[tuple[np.ndarray, np.ndarray, np.ndarray]], Costs, Candidates]:
    """The candidates by plane, each with starts of its own, what else costs, and the candidates of all planes."""
    rows = np.arange(len(scores.deprels)) if rows is None else rows
    beam = Beam(**{"rarest": 0.0, **settings})
    every, costs = top_candidates(scores, tasks, ROOTS, rows, beam, lighter=lighter)
    planes = [(one - one[0], every.ids[one[0] : one[-1]], every.logs[one[0] : one[-1]]) for one in every.starts]
    return planes, costs, every


def exact(table: np.ndarray) -> np.ndarray:
    table = table.astype(np.float64)
    shifted = table - table.max(axis=1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))


@pytest.mark.parametrize("spread", [0.0, 0.1, 3.0, 30.0])
def test_log_probabilities_are_right(spread: float) -> None:
    scores = random_scores(spread=spread)
    planes, costs, _ = found_in(scores, ["plane1", "plane2"], mass=2.0, depth_weight=0.5)
    relations = exact(scores.deprels)
    assert costs.relations == pytest.approx(relations[:, ~ROOTS].max(axis=1), abs=1e-5, rel=1e-6)
    assert costs.roots == pytest.approx(relations[:, ROOTS].max(axis=1), abs=1e-5, rel=1e-6)
    depths = np.stack([exact(table) for task, table in scores.labels.items() if task.startswith("depth")], axis=1)
    assert costs.depths == pytest.approx(0.5 * depths, abs=1e-5, rel=1e-6)
    for (starts, ids, logs), task in zip(planes, ("plane1", "plane2"), strict=True):
        words = np.repeat(np.arange(200), np.diff(starts))
        assert logs == pytest.approx(exact(scores.labels[task])[words, ids], abs=1e-5)


@pytest.mark.parametrize("rarest", [0.0, 1e-3, 0.2])
def test_the_likeliest_labels_come_best_first(rarest: float) -> None:
    scores = random_scores()
    starts, ids, logs = found_in(scores, ["plane1"], rarest=rarest)[0][0]
    for word, row in enumerate(np.exp(exact(scores.labels["plane1"]))):
        found, order = ids[starts[word] : starts[word + 1]].tolist(), np.argsort(-row, kind="stable")
        assert found == order[: len(found)].tolist()
        left_out, last = row[order[len(found) :]], row[found[-1]]
        assert last >= rarest or len(found) == 1
        # up to the share, give or take rounding, and not further
        assert left_out.sum() < 1.2e-5 or left_out.max() < rarest
        assert left_out.sum() + last > 0.8e-5
    assert (logs <= 1e-6).all()


def test_of_equal_labels_the_first_comes_first() -> None:
    scores = filled(3, 0.0)
    starts, ids, _ = found_in(scores, ["plane2"])[0][0]
    assert ids[starts[1] : starts[2]].tolist() == [0, 1, 2, 3, 4, 5]
    assert best_labels(scores.labels["plane2"]).tolist() == [0, 0, 0]


def test_some_words_are_as_they_are_among_all() -> None:
    scores, rows = random_scores(), np.array([3, 4, 150])
    (some, costs, _), (every, all_costs, _) = (found_in(scores, ["plane1", "plane2"], one) for one in (rows, None))
    for own, everything in zip(costs, all_costs, strict=True):
        assert own.tolist() == everything[rows].tolist()
    for (starts, ids, logs), (all_starts, all_ids, all_logs) in zip(some, every, strict=True):
        for place, word in enumerate(rows):
            own, wanted = slice(starts[place], starts[place + 1]), slice(all_starts[word], all_starts[word + 1])
            assert ids[own].tolist() == all_ids[wanted].tolist()
            assert logs[own].tolist() == all_logs[wanted].tolist()


def test_the_best_of_each_task() -> None:
    scores = random_scores()
    tops = find_tops(scores, ["plane1", "plane2"], ROOTS)
    assert tops.planes.tolist() == [scores.labels[task].argmax(axis=1).tolist() for task in ("plane1", "plane2")]
    assert tops.depths.tolist() == [
        table.argmax(axis=1).tolist() for task, table in scores.labels.items() if task.startswith("depth")
    ]
    assert tops.deepest == 3
    better = scores.deprels[:, ROOTS].max(axis=1) > scores.deprels[:, ~ROOTS].max(axis=1)
    assert (tops.leanings == np.where(better, 1, -1)).all()


@pytest.mark.parametrize("roots", [ROOTS, np.zeros(5, dtype=bool), np.ones(5, dtype=bool)])
def test_relations_fit_the_heads_where_there_are_such(roots: np.ndarray) -> None:
    table = random_scores().deprels
    heads = np.arange(200, dtype=np.int32) % 3
    found = best_given_heads(table, heads, roots)
    for row, head, relation in zip(table, heads, found, strict=True):
        allowed = np.flatnonzero(roots if head == 0 else ~roots)
        allowed = allowed if len(allowed) else np.arange(5)
        assert relation == allowed[row[allowed].argmax()]


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_scores_that_are_no_numbers_do_no_harm(wrong: float) -> None:
    scores = filled(4, wrong)
    starts, ids, _ = found_in(scores, ["plane1"])[0][0]
    assert (np.diff(starts) >= 1).all()
    assert ((ids >= 0) & (ids < 37)).all()
    assert (find_tops(scores, ["plane1"], ROOTS).planes == 0).all()


def test_log_probabilities_of_a_table() -> None:
    table = random_scores().labels["plane1"]
    assert log_probabilities(table) == pytest.approx(exact(table), abs=1e-5)


def test_a_lighter_second_plane_counts_half_and_its_depths_do_not() -> None:
    (planes, costs, _), (lighter, others, _) = (
        found_in(random_scores(), ["plane1", "plane2"], lighter=one) for one in (False, True)
    )
    assert others.relations.tolist() == costs.relations.tolist()
    assert others.roots.tolist() == costs.roots.tolist()
    assert others.depths[:, :2].tolist() == costs.depths[:, :2].tolist()
    assert (others.depths[:, 2:] == 0).all()
    for weight, one, other in zip((1, 0.5), planes, lighter, strict=True):
        assert other[0].tolist() == one[0].tolist()
        assert other[1].tolist() == one[1].tolist()
        assert other[2] == pytest.approx(weight * one[2])


def test_where_there_is_one_plane_each_words_label_in_the_second_is_empty() -> None:
    (_, second), _, _ = found_in(random_scores(5), ["plane1"])
    assert [column.tolist() for column in second] == [[0, 1, 2, 3, 4, 5], [0] * 5, [0] * 5]
