from __future__ import annotations

import pytest
from benchmarks.parsers.stages import STAGES, Stopwatch, WatchedScorer

from benchmarks.parsers import stages
from biplanar.decoding.scores import Scores


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands still until it is moved."""

    class Clock:
        now = 100.0

        def move(self, seconds):
            self.now += seconds

    clock = Clock()
    monkeypatch.setattr(stages.time, "process_time", lambda: clock.now)
    return clock


class Scorer:
    """Takes a second for vectors, ten for labels and a hundred for relations."""

    def __init__(self, clock, *, knows_heads=True):
        self.clock, self.knows_heads = clock, knows_heads

    def represent(self, forms):
        self.clock.move(1)
        return [form.upper() for form in forms]

    def score(self, vectors, batch):
        self.clock.move(10)
        return Scores(batch, {"deprel": vectors}, self.relate if self.knows_heads else None)

    def relate(self, governors):
        self.clock.move(100)
        return governors


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
    scores = scorer.score("vectors", "batch")
    assert (scores.offsets, scores.deprels) == ("batch", "vectors")
    clock.move(2)
    assert scores.given_governors("governors") == "governors"
    clock.move(3)
    watch.enter("write")
    assert watch.seconds == {"read": 0, "features": 1.5, "tagger": 110, "decode": 5, "write": 0}


def test_scores_without_relations_given_heads_stay_so(clock):
    assert not WatchedScorer(Scorer(clock, knows_heads=False), Stopwatch()).score("vectors", "batch").knows_heads
