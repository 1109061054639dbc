"""The plan: which runs there are, and in which order."""

from __future__ import annotations

from collections import Counter

from study.plan import ENCODINGS, SWITCH_AVERSE, Run, Schedule, config_of, plan
from study.treebanks import TREEBANKS


class TestPlan:
    def test_every_treebank_has_the_five_encodings_in_two_or_three_seeds(self):
        rows = Counter((run.treebank, run.encoding) for run in plan() if run.network == "paper")
        for treebank in TREEBANKS:
            seeds = 2 if treebank.code in ("grc", "pt", "ko") else 3
            assert {rows[treebank.code, encoding] for encoding in ENCODINGS} == {seeds}

    def test_the_default_configuration_has_two_seeds_and_switch_averse_planes_three(self):
        rows = Counter((run.treebank, run.network, run.encoding) for run in plan())
        assert all(rows[treebank.code, "accurate", "2p-full"] == 2 for treebank in TREEBANKS)
        averse = {row: count for row, count in rows.items() if row[2] in SWITCH_AVERSE}
        assert len(averse) == 6
        assert set(averse.values()) == {3}

    def test_no_run_twice(self):
        assert len({run.key for run in plan()}) == len(plan()) == 139

    def test_the_first_seed_of_an_encoding_comes_before_the_others(self):
        rows = [run for run in plan() if run.network == "paper" and run.encoding in ENCODINGS]
        assert [run.seed for run in rows] == sorted(run.seed for run in rows)
        assert {(run.treebank, run.encoding) for run in rows[:40]} == {
            (t.code, e) for t in TREEBANKS for e in ENCODINGS
        }


class TestSchedule:
    def test_small_treebanks_get_enough_updates(self):
        schedule = Schedule(batch_words=800, rounds=16, updates=4500)
        assert schedule.all_updates(3_200) >= 4500
        assert schedule.epochs(800_000) == 21

    def test_the_default_is_the_packages(self):
        from biplanar.tagger.training import enough_epochs

        assert Schedule().epochs(20_000) == enough_epochs(25)

    def test_all_encodings_have_the_same_settings(self):
        runs = [Run("hu", "paper", encoding, 1) for encoding in ENCODINGS]
        configs = [config_of(run, Schedule(), 20_000).to_dict() for run in runs]
        assert [config.pop("encoding") for config in configs] == list(ENCODINGS)
        assert all(config == configs[0] for config in configs)
        assert configs[0]["training"]["learning_rate"] > 0
