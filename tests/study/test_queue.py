"""The queue, with real processes and networks that are trained in a moment."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from study.common import write_json
from study.plan import Run
from study.queue import Estimate, alone_in, carry_out
from study.worker import Report, Work, Worker

from biplanar.errors import FileError
from study import queue, speed
from tests.study.conftest import SMALL, write_data

RUNS = [Run("lt", "paper", encoding, 1) for encoding in ("1p-brackets", "2p-greedy", "rel-pos")]


def stored(work: Work) -> set[str]:
    return {path.stem for path in work.results.glob("*.json")}


class TestQueue:
    def test_each_result_is_stored_and_only_what_is_missing_is_carried_out(self, work):
        assert [report.error for report in carry_out(work, RUNS[:1], slots=1)] == [""]
        assert stored(work) == {RUNS[0].key}
        before = work.result(RUNS[0]).stat().st_mtime_ns
        reports = list(carry_out(work, RUNS, slots=2))
        assert {report.run for report in reports} == set(RUNS[1:])
        assert not any(report.error for report in reports)
        assert stored(work) == {run.key for run in RUNS}
        assert work.result(RUNS[0]).stat().st_mtime_ns == before
        assert list(carry_out(work, RUNS, slots=2)) == []

    def test_a_run_that_is_cut_off_leaves_nothing_and_is_started_anew(self, work, monkeypatch):
        monkeypatch.setattr(Estimate, "seconds", lambda *_: 0.0)
        long = replace(work, schedule=replace(work.schedule, updates=1_000_000))
        reports = list(carry_out(long, RUNS[:1], slots=1, seconds=5))
        assert [report.error for report in reports] == ["cut off"]
        assert stored(work) == set()
        assert [report.error for report in carry_out(work, RUNS[:1], slots=1)] == [""]

    def test_a_failing_run_is_reported_and_does_not_stop_the_others(self, work):
        write_data(work.data / "hu")
        (work.data / "hu" / "train.conllu.xz").unlink()
        broken = Run("hu", "paper", "2p-greedy", 1)
        errors = {report.run: report.error for report in carry_out(work, [broken, *RUNS[:2]], slots=1)}
        assert "train.conllu.xz" in errors[broken]
        assert [errors[run] for run in RUNS[:2]] == ["", ""]
        assert stored(work) == {run.key for run in RUNS[:2]}

    def test_a_process_that_dies_is_reported_and_replaced(self, work):
        worker = Worker(work)
        try:
            worker.begin(RUNS[0])
            worker._process.kill()
            assert "exit code -9" in worker.report().error
            worker.begin(RUNS[0])
            assert worker.report().error == ""
        finally:
            worker.stop()

    def test_what_would_not_end_in_time_is_not_started(self, work):
        assert list(carry_out(work, RUNS, slots=1, seconds=1)) == []

    def test_a_shorter_run_takes_the_place_of_one_that_is_too_long(self, work):
        estimate = Estimate(work.schedule, {"lt": 100, "ko": 1_000_000})
        long, short = Run("ko", "paper", "2p-greedy", 1), Run("lt", "paper", "2p-greedy", 1)
        assert queue._next([long, short], estimate, queue.time.monotonic() + 25) == short
        assert queue._next([long, short], estimate, None) == long

    def test_estimates_are_learned(self, work):
        estimate = Estimate(work.schedule, {"lt": 100})
        before = estimate.seconds(RUNS[0])
        estimate.learn(Report(RUNS[0], 1000.0, training_seconds=1000.0, updates=10))
        assert estimate.seconds(RUNS[0]) > 10 * before

    def test_two_queues_may_not_store_in_one_folder(self, tmp_path):
        with alone_in(tmp_path), pytest.raises(FileError, match="another queue"), alone_in(tmp_path):
            pass


class TestCommand:
    def arguments(self, work: Work, *more: str) -> list[str]:
        schedule = [f"--{name.replace('_', '-')}={value}" for name, value in work.schedule.to_dict().items()]
        settings = [f"--{name}={value}" for name, value in SMALL.items()]
        return [str(work.data), "--results", str(work.results), *schedule, *settings, *more]

    def test_from_arguments_to_results(self, work, capsys):
        queue.main(self.arguments(work, "--only", "lt-paper-2p-prop-[12]", "--slots", "2"))
        assert stored(work) == {"lt-paper-2p-prop-1", "lt-paper-2p-prop-2"}
        assert "2 of 2 runs have results; missing: none" in capsys.readouterr().out

    def test_the_list_shows_what_is_pending(self, work, capsys):
        write_json({}, work.results / "lt-paper-2p-prop-1.json")
        queue.main(self.arguments(work, "--only", "lt-paper-2p-prop-[12]", "--list"))
        assert capsys.readouterr().out.split() == ["done", "lt-paper-2p-prop-1", "pending", "lt-paper-2p-prop-2"]

    def test_a_failure_shows_in_the_exit_code(self, work):
        (work.data / "lt" / "train.conllu.xz").write_bytes(b"no xz")
        with pytest.raises(SystemExit, match="1"):
            queue.main(self.arguments(work, "--only", "lt-paper-2p-prop-1"))


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    """The files of two results, and the folder of their models."""
    folder = tmp_path_factory.mktemp("result")
    write_data(folder / "data" / "lt")
    schedule = queue.Schedule(batch_words=60, rounds=2, updates=4, evaluations=2)
    work = Work(folder / "data", folder, schedule, models=folder / "models", settings=SMALL)
    runs = [Run("lt", "paper", "rel-pos", 2), Run("lt", "accurate", "2p-full", 1)]
    assert [report.error for report in carry_out(work, runs, slots=2)] == ["", ""]
    return {run.network: work.result(run) for run in runs} | {"models": folder / "models"}


class TestResult:
    def test_scores_are_counts_for_every_split_source_and_decoder(self, result):
        scores = json.loads(result["paper"].read_text())["scores"]
        for split in ("dev", "test"):
            assert set(scores[split]) == {"gold words", "raw text", "gold tags"}
            for source in scores[split].values():
                assert set(source) == {"paper", "greedy", "search"}
                assert all(0 <= correct <= min(gold, system) for correct, gold, system in source["paper"].values())

    def test_what_else_is_known(self, result):
        known = json.loads(result["accurate"].read_text())
        assert set(known["scores"]["test"]) == {"gold words", "raw text"}
        assert known["config"]["encoding"] == "2p-full"
        assert known["seconds"]["train"] > 0
        assert known["updates"] > 0
        assert len(known["records"]) == 2
        assert known["versions"]["biplanar"]

    def test_the_right_words_of_each_sentence_add_up(self, result):
        from study.common import unpack

        known = json.loads(result["paper"].read_text())
        for decoder, packed in known["right_by_sentence"].items():
            counts = unpack(packed)
            assert len(counts) == 22
            assert counts.sum() == known["scores"]["test"]["gold words"][decoder]["LAS"][0]

    def test_it_is_small_and_has_no_text(self, result):
        text = result["paper"].read_text()
        assert len(text) < 25_000
        assert "examples" not in text

    def test_the_models_of_all_seeds_are_kept(self, result):
        assert {path.name for path in result["models"].iterdir()} == {"lt-paper-rel-pos-2", "lt-accurate-2p-full-1"}

    def test_speeds_are_measured_and_each_measurement_is_kept(self, result, tmp_path):
        output, data = tmp_path / "speed.json", result["paper"].parent / "data"
        speed.main([str(data), str(result["models"]), "-o", str(output), "--cores", "1", "--device", "cpu"])
        speed.main([str(data), str(result["models"]), "-o", str(output), "--in-turn", "--runtimes", "int8"])
        first, second = json.loads(output.read_text())
        assert (first["in_turn"], second["in_turn"]) == (False, True)
        assert len(first["rows"]) == 2 * 3 * 3
        assert len(second["rows"]) == 2 * 3
        for row in first["rows"] + second["rows"]:
            assert row["key"] in ("lt-paper-rel-pos-2", "lt-accurate-2p-full-1")
            assert row["what"] in ("network", "file to file, paper", "file to file, search")
            assert (
                row["epochs"]
                == json.loads((data.parent / f"{row['key']}.json").read_text())["config"]["training"]["epochs"]
            )
            assert row["seconds"] > 0
            assert row["sentences"] == 22


def test_models_that_take_turns_are_timed_alternately(monkeypatch):
    begun, now = [], [0.0]

    class Subject:
        """Its passes take as long as it is told, and a bit longer the first times."""

        def __init__(self, model: Path, *_: object) -> None:
            self.known = {"key": model.name}
            self.passes = {"network": lambda: self._work(float(model.name))}

        def _work(self, seconds: float) -> None:
            begun.append(seconds)
            now[0] += seconds + max(0, 8 - len(begun))

    monkeypatch.setattr(speed, "Subject", Subject)
    monkeypatch.setattr(speed.time, "process_time", lambda: now[0])
    rows = speed.measure_in_turn([Path("1"), Path("2")], Path(), "int8")
    assert begun == [1.0, 2.0] * (1 + speed.TURNS)
    assert [(row["key"], row["seconds"]) for row in rows] == [("1", 1.0), ("2", 2.0)]
