from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmarks.calibration import Calibration
from hypothesis import given
from hypothesis import strategies as st

Pairs = list[tuple[float, bool]]

pairs = st.lists(st.tuples(st.floats(0, 1) | st.sampled_from([0.0, 0.2, 0.5, 1.0]), st.booleans()), max_size=60)


def calibration(rows: Pairs, bins: int = 15) -> Calibration:
    return Calibration.of([value for value, _ in rows], [truth for _, truth in rows], bins)


def slow_ece(rows: Pairs, bins: int) -> float:
    """By the book: one bin after the other, its share of all times the distance of its two means."""
    error = 0.0
    for number in range(bins):
        low, high = number / bins, (number + 1) / bins
        inside = [row for row in rows if low <= row[0] < high or (number == bins - 1 and row[0] == 1)]
        if inside:
            confidence = sum(value for value, _ in inside) / len(inside)
            accuracy = sum(truth for _, truth in inside) / len(inside)
            error += len(inside) / len(rows) * abs(confidence - accuracy)
    return error


class TestByHand:
    rows: Pairs = [(0.1, False), (0.3, True), (0.7, True), (0.8, False), (0.9, True), (1.0, True)]  # noqa: RUF012

    def test_two_bins(self) -> None:
        found = calibration(self.rows, 2)
        assert found.edges == (0, 0.5, 1)
        assert found.counts == (2, 4)
        assert found.right == (1, 3)
        assert found.mean_probabilities == pytest.approx((0.2, 0.85))
        assert found.shares_right == (0.5, 0.75)
        assert found.ece == pytest.approx(2 / 6 * 0.3 + 4 / 6 * 0.1)

    def test_fifteen_bins_are_the_default(self) -> None:
        found = calibration(self.rows)
        assert len(found.counts) == 15
        assert found.counts[1] == found.counts[4] == found.counts[10] == found.counts[12] == found.counts[13] == 1
        assert found.mean_probabilities[0] is None
        assert found.shares_right[0] is None

    def test_edges_belong_to_the_bin_above_but_for_the_last(self) -> None:
        assert calibration([(0, True), (0.25, True), (0.5, True), (1, True)], 4).counts == (1, 1, 1, 1)

    def test_always_sure_and_always_wrong(self) -> None:
        assert calibration([(1.0, False)] * 5).ece == 1
        assert calibration([(1.0, True), (0.0, False)] * 5).ece == 0

    def test_nothing(self) -> None:
        empty = calibration([])
        assert empty.total == 0
        assert empty.ece == 0

    def test_to_dict(self) -> None:
        values = json.loads(json.dumps(calibration(self.rows, 2).to_dict()))
        assert values["count"] == 6
        assert values["ece"] == pytest.approx(1 / 6)
        assert values["bins"][1] == pytest.approx(
            {"from": 0.5, "to": 1, "count": 4, "mean_probability": 0.85, "share_right": 0.75}
        )


@given(pairs, st.sampled_from([1, 2, 4, 8, 16]))  # powers of two, whose edges are the same however they are computed
def test_against_a_slow_loop(rows: Pairs, bins: int) -> None:
    assert calibration(rows, bins).ece == pytest.approx(slow_ece(rows, bins) if rows else 0)


class TestDrawing:
    @pytest.mark.parametrize("rows", [TestByHand.rows, []], ids=["some", "none"])
    @pytest.mark.parametrize(("suffix", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml")])
    def test_a_picture(self, rows: Pairs, suffix: str, start: bytes, tmp_path: Path) -> None:
        pytest.importorskip("matplotlib")
        path = tmp_path / f"reliability.{suffix}"
        calibration(rows).draw(path)
        assert path.read_bytes().startswith(start)
