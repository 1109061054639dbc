"""What `benchmarks/` does with the benchmark's numbers, and how it trains others."""

from __future__ import annotations

import pytest
from benchmarks import peers, speed

from biplanar.errors import BiplanarError
from tests.benchmark.test_report import MEASURED, MISSING, RESULTS
from tests.conftest import ROOT


class TestCombined:
    def test_systems_are_put_together_and_later_parts_win(self):
        others = {key: RESULTS[key] for key in ("machine", "versions", "treebank", "rounds", "memory")}
        first = others | {"systems": [MISSING, MEASURED], "memory": []}
        again = others | {"systems": [MISSING | {"not_measured": "still none"}, MEASURED | {"name": "another"}]}
        together = speed.combined([first, again])
        assert [system["name"] for system in together["systems"]] == [MISSING["name"], MEASURED["name"], "another"]
        assert together["systems"][0]["not_measured"] == "still none"
        assert together["memory"] == RESULTS["memory"]

    def test_of_one_treebank_only(self):
        with pytest.raises(BiplanarError, match=r"^expected results of one treebank, found .* and "):
            speed.combined([RESULTS, RESULTS | {"treebank": {"file": "other.conllu"}}])


class TestPage:
    def test_tables_are_renewed(self, tmp_path):
        page = tmp_path / "page.md"
        page.write_text(f"Before.\n{speed.BEGIN}\nold\n{speed.END}\nAfter.\n", encoding="utf-8")
        for tables in ("first", "second"):
            speed.renew(page, tables)
            assert page.read_text(encoding="utf-8") == (f"Before.\n{speed.BEGIN}\n\n{tables}\n{speed.END}\nAfter.\n")

    def test_a_page_without_marks_stays(self, tmp_path):
        page = tmp_path / "page.md"
        page.write_text("No room.\n", encoding="utf-8")
        with pytest.raises(BiplanarError, match="expected the marks"):
            speed.renew(page, "tables")
        assert page.read_text(encoding="utf-8") == "No room.\n"

    def test_our_page_has_room(self):
        page = (ROOT / "docs" / "speed.md").read_text(encoding="utf-8")
        assert page.index(speed.BEGIN) < page.index(speed.END)


def test_no_epoch_begins_that_would_end_too_late(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(peers.time, "monotonic", lambda: now[0])

    class Parser:
        epochs = 0

        def _train(self, loader):
            assert loader == "sentences"
            self.epochs += 1
            now[0] += 10

    parser = Parser()
    peers._stop_after(parser, 35)
    for _ in range(3):
        parser._train("sentences")
    with pytest.raises(peers.OutOfTimeError):
        parser._train("sentences")
    assert (parser.epochs, now[0]) == (3, 30.0)
