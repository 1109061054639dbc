from __future__ import annotations

import pytest

from benchmarks.parsers import page
from biplanar.errors import BiplanarError
from tests.benchmarks.parsers.results import MEASURED, MISSING, RESULTS
from tests.paths import ROOT


class TestCombined:
    def test_systems_are_put_together_and_later_parts_win(self):
        others = {key: RESULTS[key] for key in ("machine", "versions", "treebank", "rounds", "memory")}
        first = others | {"systems": [MISSING, MEASURED], "memory": []}
        again = others | {"systems": [MISSING | {"not_measured": "still none"}, MEASURED | {"name": "another"}]}
        together = page.combined([first, again])
        assert [system["name"] for system in together["systems"]] == [MISSING["name"], MEASURED["name"], "another"]
        assert together["systems"][0]["not_measured"] == "still none"
        assert together["memory"] == RESULTS["memory"]

    def test_of_one_treebank_only(self):
        with pytest.raises(BiplanarError, match=r"^expected results of one treebank, found .* and "):
            page.combined([RESULTS, RESULTS | {"treebank": {"file": "other.conllu"}}])


class TestPage:
    def test_tables_are_renewed(self, tmp_path):
        file = tmp_path / "page.md"
        file.write_text(f"Before.\n{page.BEGIN}\nold\n{page.END}\nAfter.\n", encoding="utf-8")
        for tables in ("first", "second"):
            page.renew(file, tables)
            assert file.read_text(encoding="utf-8") == (f"Before.\n{page.BEGIN}\n\n{tables}\n{page.END}\nAfter.\n")

    def test_a_page_without_marks_stays(self, tmp_path):
        file = tmp_path / "page.md"
        file.write_text("No room.\n", encoding="utf-8")
        with pytest.raises(BiplanarError, match="expected the marks"):
            page.renew(file, "tables")
        assert file.read_text(encoding="utf-8") == "No room.\n"

    def test_our_page_has_room(self):
        text = (ROOT / "docs" / "speed.md").read_text(encoding="utf-8")
        assert text.index(page.BEGIN) < text.index(page.END)
