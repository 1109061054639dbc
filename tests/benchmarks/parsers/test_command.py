from __future__ import annotations

from benchmarks.parsers.command import measure_workers

from biplanar.pipeline.model_folder import ModelFolder


def test_workers(gold):
    workers = measure_workers(gold, ModelFolder.find().path, 1, 2)
    assert workers["not_measured"] is None
    assert workers["words"] == 2 * gold.words
    assert {count: len(runs) for count, runs in workers["runs"].items()} == {1: 1, 2: 1}
    assert workers["ratio"] == workers["best"][1] / workers["best"][2]


def test_trouble_is_told(gold, tmp_path):
    result = measure_workers(gold, tmp_path / "nowhere", 1, 2)
    assert result["not_measured"].startswith("biplanar: error: ")
    assert str(tmp_path / "nowhere") in result["not_measured"]
