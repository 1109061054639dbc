"""The candidates of a search, against plain arithmetic."""

from __future__ import annotations

import numpy as np
import pytest

from biplanar.data.forest import offsets_of
from biplanar.decoding.candidates import best_given_heads, best_labels, best_relations, likeliest
from biplanar.decoding.scores import Scores, log_probabilities

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


def found_in(table: np.ndarray, mass: float = 1 - 1e-5, rarest: float = 0.0) -> tuple[np.ndarray, ...]:
    """Starts, labels and log-probabilities of every word's candidates."""
    with np.errstate(divide="ignore"):
        least = np.log(rarest)
    return likeliest(table, best_labels(table), np.ones(1, dtype=bool), offsets_of([len(table)]), mass, least)


def exact(table: np.ndarray) -> np.ndarray:
    table = table.astype(np.float64)
    shifted = table - table.max(axis=1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))


@pytest.mark.parametrize("spread", [0.0, 0.1, 3.0, 30.0])
def test_log_probabilities_are_right(spread: float) -> None:
    scores = random_scores(spread=spread)
    every, (relations, roots) = exact(scores.deprels), best_relations(scores.deprels, ROOTS)
    assert relations == pytest.approx(every[:, ~ROOTS].max(axis=1), abs=1e-5, rel=1e-6)
    assert roots == pytest.approx(every[:, ROOTS].max(axis=1), abs=1e-5, rel=1e-6)
    for task in ("plane1", "plane2"):
        starts, ids, logs = found_in(scores.labels[task], mass=2.0)
        words = np.repeat(np.arange(200), np.diff(starts))
        assert logs == pytest.approx(exact(scores.labels[task])[words, ids], abs=1e-5)


@pytest.mark.parametrize("rarest", [0.0, 1e-3, 0.2])
def test_the_likeliest_labels_come_best_first(rarest: float) -> None:
    scores = random_scores()
    starts, ids, logs = found_in(scores.labels["plane1"], rarest=rarest)
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
    starts, ids, _ = found_in(scores.labels["plane2"])
    assert ids[starts[1] : starts[2]].tolist() == [0, 1, 2, 3, 4, 5]
    assert best_labels(scores.labels["plane2"]).tolist() == [0, 0, 0]


def test_sentences_that_are_not_wanted_have_none() -> None:
    table, offsets = random_scores(9).labels["plane1"], offsets_of([4, 0, 3, 2])
    tops, wanted = best_labels(table), np.array([True, True, False, True])
    starts, ids, logs = likeliest(table, tops, wanted, offsets, 1.0, -np.inf)
    all_starts, all_ids, all_logs = found_in(table, 1.0)
    assert np.diff(starts)[4:7].tolist() == [0, 0, 0]
    for word in (0, 1, 2, 3, 7, 8):
        own, same = slice(*starts[word : word + 2]), slice(*all_starts[word : word + 2])
        assert ids[own].tolist() == all_ids[same].tolist()
        assert logs[own].tolist() == all_logs[same].tolist()


def test_the_best_label_is_the_highest() -> None:
    for table in (*random_scores().labels.values(), -np.abs(random_scores().labels["plane1"])):
        assert best_labels(table).tolist() == table.argmax(axis=1).tolist()


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
    table = filled(4, wrong).labels["plane1"]
    starts, ids, _ = found_in(table)
    assert (np.diff(starts) >= 1).all()
    assert ((ids >= 0) & (ids < 37)).all()
    assert (best_labels(table) == 0).all()


def test_log_probabilities_of_a_table() -> None:
    table = random_scores().labels["plane1"]
    assert log_probabilities(table) == pytest.approx(exact(table), abs=1e-5)
