"""The runner, with real processes and networks that are trained in a moment."""

from __future__ import annotations

from dataclasses import replace

import pytest
from study.common import read_lines, unpack
from study.plan import STUDIES, Run
from study.run import alone_in, carry_out, chosen, compared, main, store_missing
from study.store import percent

from biplanar import read_conllu
from biplanar.errors import BiplanarError, FileError
from tests.paths import TINY
from tests.study.conftest import write_data

RUNS = [Run("lt", "paper", encoding, 1) for encoding in ("2p-greedy", "rel-pos")]


class TestStoring:
    def test_each_result_is_stored_a_failed_run_reported_and_only_what_is_missing_run(self, work, tmp_path):
        write_data(work.data / "hu")
        (work.data / "hu" / "train.conllu.xz").unlink()
        (failed,) = store_missing(work, [Run("hu", "paper", "2p-greedy", 1), RUNS[0]], tmp_path, 1, float("inf"))
        assert failed.startswith("hu-paper-2p-greedy-1: ")
        first = (tmp_path / "paper.jsonl").read_text()
        assert list(read_lines(tmp_path / "paper.jsonl")) == [RUNS[0].key]
        assert store_missing(work, RUNS, tmp_path, 2, float("inf")) == []
        assert list(read_lines(tmp_path / "paper.jsonl")) == sorted(run.key for run in RUNS)
        assert first in (tmp_path / "paper.jsonl").read_text()

    def test_nothing_is_begun_when_time_is_up(self, work, tmp_path):
        assert store_missing(work, RUNS, tmp_path, 1, seconds=0) == []
        assert read_lines(tmp_path / "paper.jsonl") == {}

    def test_one_at_a_time(self, tmp_path):
        with alone_in(tmp_path), pytest.raises(FileError, match="another process"), alone_in(tmp_path):
            pass


class TestResults:
    def test_counts_of_every_decoder_and_source(self, work):
        result = carry_out(work, RUNS[1])
        assert not isinstance(result, str), result
        for split in ("dev", "test"):
            assert set(result["scores"][split]) == {"gold words", "raw text", "gold tags"}
            assert all(set(one) == {"paper", "greedy", "search"} for one in result["scores"][split].values())
        correct, gold, system = result["scores"]["test"]["gold words"]["search"]["LAS"]
        assert gold == system == sum(map(len, read_conllu(TINY)))
        assert unpack(result["right_by_sentence"]["search"]).sum() == correct
        assert result["fingerprint"]["code"] == {"greedy": 1, "labels": 1, "network": 1}

    @pytest.mark.parametrize(
        ("network", "decoders"),
        [
            ("accurate", {"search", "labels", "arcs", "greedy", "minimum-risk"}),
            ("pure", {"labels", "greedy", "minimum-risk"}),
            ("biaffine", {"biaffine"}),
        ],
    )
    def test_networks_with_arcs_and_without(self, work, network, decoders):
        result = carry_out(replace(work, study="arcs"), Run("lt", network, "2p-full", 1))
        assert not isinstance(result, str), result
        scores = result["scores"]["test"]["gold words"]
        assert set(scores) == decoders
        assert all("UPOS" in one for one in scores.values())
        assert ("weights" in result) == (network == "accurate")

    def test_a_result_beside_the_stored_and_the_printed_one(self, work):
        result = carry_out(work, RUNS[0])
        assert not isinstance(result, str), result
        lines = compared(result, result).splitlines()
        (line,) = [one for one in lines if "test, raw text, `paper`, LAS" in one]
        now = f"{percent(result['scores']['test']['raw text']['paper']['LAS']):.2f}"
        assert line.endswith(f"| 20.45 | {now} | {now} |")


class TestCommand:
    def test_list(self, capsys):
        main(["lt-paper-*", "--list"])
        assert capsys.readouterr().out.splitlines()[0] == "done    lt-paper-rel-pos-1"

    def test_unknown_keys(self):
        with pytest.raises(BiplanarError, match="xx-\\*"):
            chosen(STUDIES["paper"], ["xx-*"])

    def test_show_takes_one_run(self):
        with pytest.raises(BiplanarError, match="one run"):
            main(["lt-*", "--show"])
