"""The plan: which runs there are, in which order, and how long they train."""

from __future__ import annotations

from collections import Counter

import pytest
from study.plan import ENCODINGS, PACKAGE, STUDIES, SWITCH_AVERSE, Run, Schedule
from study.treebanks import TREEBANKS

from biplanar.encodings import get_encoding

PAPER = STUDIES["paper"].runs


class TestPlan:
    def test_every_treebank_has_the_five_encodings_in_two_or_three_seeds(self):
        rows = Counter((run.treebank, run.encoding) for run in PAPER if run.network == "paper")
        for treebank in TREEBANKS:
            seeds = 2 if treebank.code in ("grc", "pt", "ko") else 3
            assert {rows[treebank.code, encoding] for encoding in ENCODINGS} == {seeds}

    def test_switch_averse_planes_have_three_seeds(self):
        averse = Counter((run.treebank, run.encoding) for run in PAPER if run.encoding in SWITCH_AVERSE)
        assert len(averse) == 6
        assert set(averse.values()) == {3}

    @pytest.mark.parametrize(("study", "size"), [("paper", 139), ("arcs", 26), ("columns", 14), ("encodings", 120)])
    def test_no_run_twice(self, study, size):
        assert len({run.key for run in STUDIES[study].runs}) == len(STUDIES[study].runs) == size

    def test_the_first_seed_of_each_encoding_comes_first(self):
        first = {(run.treebank, run.encoding) for run in PAPER[:40]}
        assert first == {(treebank.code, encoding) for treebank in TREEBANKS for encoding in ENCODINGS}

    def test_every_encoding_is_known(self):
        for run in STUDIES["encodings"].runs:
            assert get_encoding(run.encoding).name == run.encoding


class TestSchedule:
    def test_small_treebanks_get_enough_updates(self):
        schedule = Schedule(batch_words=800, rounds=16, updates=4500)
        assert schedule.all_updates(3_200) >= 4500
        assert schedule.epochs(800_000) == 21

    def test_the_default_is_the_packages(self):
        from biplanar.tagger.loop import enough_epochs

        assert PACKAGE.epochs(20_000) == enough_epochs(25, 4500)

    def test_all_encodings_have_the_same_settings(self):
        runs = [Run("hu", "paper", encoding, 1) for encoding in ENCODINGS]
        configs = [run.config(STUDIES["paper"].settings(run, 20_000)).to_dict() for run in runs]
        assert [config.pop("encoding") for config in configs] == list(ENCODINGS)
        assert all(config == configs[0] for config in configs)
        assert configs[0]["training"]["learning_rate"] > 0
