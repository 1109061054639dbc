"""Calibrated probabilities of heads: of all heads with a probability of 0.8, 80 % should be right.

Networks are overconfident, most of all of labels that must agree with each other. So the share of all trees that have a
head, and the probability that the arc scores alone give it, are only features: the log-odds of a head are the sum of
their log-odds, times slopes that were fitted on dev (logistic regression).
"""

from __future__ import annotations

import numpy as np

from biplanar.data.arrays import Bools, Float32s, Float64s, Int32s
from biplanar.decoding.arcs import probability_of
from biplanar.decoding.inventory import Weights
from biplanar.decoding.scores import Scores

# Features and probabilities are clipped, so that no head is certain or impossible. The limit of features must be far
# below that of probabilities: slopes are about 1/3, and with 1e-4, 40 % of English words had the highest value, 0.979.
LEAST_FEATURE, LEAST = 1e-6, 0.005

# Newton's method: steps, and what keeps slopes finite where everything is right.
STEPS, RIDGE = 30, 1e-3


def calibrated(shares: Float32s, scores: Scores, heads: Int32s, weights: Weights) -> Float32s:
    """The probabilities of heads, by the shares of trees that have them; NaN where these are not known."""
    odds = features(shares, scores, heads) @ np.array([weights.tree_slope, weights.arc_slope])
    return np.asarray(np.clip(1 / (1 + np.exp(-odds)), LEAST, 1 - LEAST), dtype=np.float32)


def features(shares: Float32s, scores: Scores, heads: Int32s) -> Float64s:
    """The log-odds of heads by trees and by arcs: (words, 2); 0 where there are no arcs."""
    likely = scores.likely_heads
    arcs = np.full(len(heads), 0.5) if likely is None else probability_of(likely, heads)
    return np.stack([_log_odds(shares), _log_odds(arcs)], axis=1)


def _log_odds(probabilities: Float32s | Float64s) -> Float64s:
    known = np.clip(np.asarray(probabilities, dtype=np.float64), LEAST_FEATURE, 1 - LEAST_FEATURE)
    return np.log(known) - np.log1p(-known)


def fit_slopes(known: Float64s, right: Bools) -> tuple[float, float]:
    """The slopes with which features (words, 2) say best which heads are right: logistic regression, none below 0."""
    slopes = _fit(known, right)
    for feature in np.flatnonzero(slopes < 0)[:1]:
        others = np.arange(2) != feature
        slopes = np.where(others, max(0.0, float(_fit(known[:, others], right)[0])), 0.0)
    return float(slopes[0]), float(slopes[1])


def _fit(known: Float64s, right: Bools) -> Float64s:
    slopes = np.zeros(known.shape[1])
    for _ in range(STEPS):
        likely = 1 / (1 + np.exp(-known @ slopes))
        gradient = known.T @ (right - likely) - RIDGE * slopes
        curvature = (known * (likely * (1 - likely))[:, None]).T @ known + RIDGE * np.eye(len(slopes))
        slopes = slopes + np.linalg.solve(curvature, gradient)
    return slopes
