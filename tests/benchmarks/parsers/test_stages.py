from __future__ import annotations

import pytest
from benchmarks.parsers.stages import STAGES, Stopwatch, WatchedScorer

from benchmarks.parsers import stages


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands still until it is moved."""

    class Clock:
        now = 100.0

        def move(self, seconds):
            self.now += seconds

    clock = Clock()
    monkeypatch.setattr(stages.time, "perf_counter", lambda: clock.now)
    return clock


class Scorer:
    """Takes a second for vectors, ten for labels and a hundred for relations."""

    def __init__(self, clock):
        self.clock = clock

    def represent(self, forms):
        self.clock.move(1)
        return [form.upper() for form in forms]

    def score(self, vectors, batch):
        self.clock.move(10)
        return vectors, batch

    def relate(self, *tables):
        self.clock.move(100)
        return tables


def test_all_time_belongs_to_one_stage(clock):
    watch = Stopwatch()
    for number, stage in enumerate(["features", "write", "read", "write"], 1):
        clock.move(number)
        watch.enter(stage)
    assert watch.seconds == dict.fromkeys(STAGES, 0.0) | {"read": 5, "features": 2, "write": 3}


def test_a_watched_scorer_answers_as_before_and_knows_whose_time_it_is(clock):
    watch = Stopwatch()
    scorer = WatchedScorer(Scorer(clock), watch)
    assert scorer.represent(["a"]) == ["A"]
    clock.move(0.5)  # making batches
    assert scorer.score("vectors", "batch") == ("vectors", "batch")
    clock.move(2)
    assert scorer.relate(1, 2, 3) == (1, 2, 3)
    clock.move(3)
    watch.enter("write")
    assert watch.seconds == {"read": 0, "features": 1.5, "tagger": 110, "decode": 5, "write": 0}
