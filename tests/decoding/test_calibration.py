"""Probabilities of heads by slopes that were fitted: made features whose slopes are known."""

from __future__ import annotations

import numpy as np
import pytest

from biplanar.data.forest import offsets_of
from biplanar.decoding.calibration import LEAST, calibrated, features, fit_slopes
from biplanar.decoding.inventory import Weights
from biplanar.decoding.scores import Scores
from tests.decoding.arc_tables import likeliest, random_table

HEADS = np.array([2, 0, 2], dtype=np.int32)
SHARES = np.array([0.9, 0.5, np.nan], dtype=np.float32)


def scores_of(*, arcs: bool) -> Scores:
    table = random_table(np.random.default_rng(1), 3)
    return Scores(offsets_of([3]), {}, arcs=likeliest([table]) if arcs else None)


def test_with_the_slopes_of_no_fit_the_shares_stay() -> None:
    found = calibrated(SHARES, scores_of(arcs=True), HEADS, Weights())
    np.testing.assert_allclose(found, SHARES, atol=1e-6)


def test_no_head_is_certain_and_none_impossible() -> None:
    shares = np.array([1.0, 0.0, 0.3], dtype=np.float32)
    found = calibrated(shares, scores_of(arcs=False), HEADS, Weights(tree_slope=1.0))
    np.testing.assert_allclose(found, [1 - LEAST, LEAST, 0.3], atol=1e-6)


def test_arcs_are_a_feature() -> None:
    scores = scores_of(arcs=True)
    odds = features(np.array([0.5, 0.5, 0.5], dtype=np.float32), scores, HEADS)
    assert odds[:, 0].tolist() == [0, 0, 0]
    likely = calibrated(np.full(3, 0.9, dtype=np.float32), scores, HEADS, Weights(tree_slope=0.0, arc_slope=1.0))
    table = random_table(np.random.default_rng(1), 3)
    wanted = np.exp(table - np.logaddexp.reduce(table, axis=1, keepdims=True))[np.arange(3), HEADS]
    np.testing.assert_allclose(likely, wanted.clip(LEAST, 1 - LEAST), atol=1e-3)


@pytest.mark.parametrize("slopes", [(0.5, 1.5), (2.0, 0.0), (0.0, 0.3)])
def test_slopes_are_found(slopes: tuple[float, float]) -> None:
    rng = np.random.default_rng(4)
    known = rng.normal(size=(50_000, 2)) * 2
    right = rng.random(len(known)) < 1 / (1 + np.exp(-known @ np.array(slopes)))
    np.testing.assert_allclose(fit_slopes(known, right), slopes, atol=0.05)


def test_no_slope_is_below_0() -> None:
    rng = np.random.default_rng(5)
    known = rng.normal(size=(20_000, 2))
    right = rng.random(len(known)) < 1 / (1 + np.exp(-known @ np.array([1.0, -1.0])))
    tree, arc = fit_slopes(known, right)
    assert (tree > 0.5, arc) == (True, 0)
    assert fit_slopes(-known, right)[1] > 0.5


def test_where_all_is_right_slopes_are_finite() -> None:
    tree, arc = fit_slopes(np.array([[2.0, 1.0], [1.0, 3.0]]), np.array([True, True]))
    assert 0 <= tree < 100
    assert 0 <= arc < 100


def test_heads_of_which_both_features_are_sure_are_told_apart() -> None:
    """With small slopes, as those of the bundled model, these all had the same probability once."""
    shares = np.array([1 - 1e-3, 1 - 1e-4, 1 - 1e-5], dtype=np.float32)
    found = calibrated(shares, scores_of(arcs=False), HEADS, Weights(tree_slope=0.36))
    assert (np.diff(found) > 0.005).all()
