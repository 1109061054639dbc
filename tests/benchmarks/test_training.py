"""How fast configurations train."""

from argparse import Namespace

from benchmarks import training
from tests.conftest import ROOT

TINY = ROOT / "examples" / "tiny.conllu"


def test_the_time_of_a_training_follows_from_its_first_seconds(monkeypatch):
    monkeypatch.setattr(training, "WARM_UP", 0)
    options = Namespace(train=TINY, dev=TINY, configs=["fast"], device="cpu", seconds=0.2, threads=1)
    found = training.train(options)
    assert found["words"] == 190
    whole = found["epochs"] * found["words"]
    assert abs(found["minutes"] * 60 * found["words_per_second"] / whole - 1) < 1e-9
    (sheet,) = training.sheets({"file": "tiny", "configs": {"fast": {"this": found}}})
    assert sheet.rows[0][0] == "fast, this"
