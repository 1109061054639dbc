from __future__ import annotations

from benchmarks.parsers.adapters import open_udpipe
from benchmarks.raw_text import TEXT, UDPIPE, WORDS, measure, sheets

from biplanar.data.conllu import read_conllu
from biplanar.data.raw_text import raw_text
from biplanar.evaluation import evaluate
from tests.paths import TINY


def test_all_take_turns_and_are_compared(udpipe_model):
    results = measure(TINY, str(udpipe_model), None, 1)
    assert list(results["seconds"]) == [TEXT, WORDS, UDPIPE]
    assert all(seconds > 0 for seconds in results["seconds"].values())
    seconds = {TEXT: 2.0, WORDS: 1.0, UDPIPE: 8.0}
    (sheet,) = sheets({"words": 20_000, "seconds": seconds})
    assert sheet.rows == [[TEXT, "10,000", "4.00"], [WORDS, "20,000", "8.00"], [UDPIPE, "2,500", "1.00"]]
    (sheet,) = sheets({"words": 20_000, "seconds": {TEXT: 2.0}})
    assert sheet.rows == [[TEXT, "10,000", "–"]]


def test_udpipe_cuts_and_parses_text(udpipe_model, tmp_path):
    gold, text, output = list(read_conllu(TINY)), tmp_path / "text.txt", tmp_path / "output.conllu"
    text.write_text(raw_text(gold), encoding="utf-8")
    open_udpipe(str(udpipe_model), {"tokenizer": str(udpipe_model)})(text, output)
    scores = evaluate(gold, list(read_conllu(output)))
    assert scores["Words"].f1 > 0.5
    assert scores["LAS"].f1 > 0
