"""Pages show what is stored: every table and figure, and nothing of another recipe as today's."""

from __future__ import annotations

import copy
import re
from dataclasses import replace

import pytest
from study.fingerprint import CODE, digest, model_digest
from study.pages import Generator, changed, pages
from study.plan import STUDIES
from study.reference import REFERENCES
from study.store import Store, is_current
from study.tables import NOT_MEASURED, TABLES, figures, measured_systems

from biplanar.errors import UnknownNameError
from tests.paths import ROOT

DECODER = {"biaffine": "biaffine"}


@pytest.fixture(scope="module")
def store() -> Store:
    return Store.read()


@pytest.fixture(scope="module")
def text() -> str:
    return "".join(path.read_text(encoding="utf-8") for path in pages())


def test_every_page_is_what_the_store_gives(store):
    assert [path.name for path, _ in changed(Generator(store))] == []


def test_every_table_is_shown_somewhere_and_every_name_is_known(text):
    named = set(re.findall(r"<!-- table: (.+?) -->", text))
    assert set(REFERENCES) <= named <= {*TABLES, *REFERENCES}


def test_a_changed_number_changes_the_page(store):
    studies = copy.deepcopy(dict(store.studies))
    counts = studies["paper"]["hu-paper-2p-greedy-1"]["scores"]["test"]["raw text"]["paper"]["LAS"]
    counts[0] -= 100
    page = (ROOT / "docs" / "study.md").read_text(encoding="utf-8")
    assert TABLES["test LAS"](store) in page
    assert TABLES["test LAS"](replace(store, studies=studies)) not in page


def test_a_changed_figure_of_the_bundled_model_changes_the_page(store):
    packaged = copy.deepcopy(store.files["packaged"])
    packaged["en"]["scores"]["test"]["gold words"]["LAS"] = 99.99
    page, other = (
        (ROOT / "README.md").read_text(encoding="utf-8"),
        replace(store, files=store.files | {"packaged": packaged}),
    )
    assert Generator(store).filled(page) == page != Generator(other).filled(page)


def test_unknown_names_are_refused(store):
    for page in ("<!-- table: nothing -->\n<!-- end -->", "<!-- = nothing -->1<!-- end -->"):
        with pytest.raises(UnknownNameError, match="nothing"):
            Generator(store).filled(page)


def test_text_around_a_figure_stays(store):
    page = "LAS <!-- = mean both -->0<!-- end -->, on average."
    assert Generator(store).filled(page) == page.replace("0", figures(store)["mean both"])


class TestSpeeds:
    def with_code(self, store, code):
        return replace(store, files=store.files | {"speed": store.files["speed"] | {"fingerprint": {"code": code}}})

    def test_those_of_other_code_are_not_shown(self, store):
        other = self.with_code(store, CODE | {"arcs": 1})
        assert TABLES["parsers, systems"](other) == NOT_MEASURED
        assert {one["kind"] for one in measured_systems(store)} >= {"biplanar", "udpipe"}
        assert "biplanar" not in {one["kind"] for one in measured_systems(other)}
        assert "bundled, times UDPipe 1" not in figures(other)

    def test_the_bundled_model_is_compared_with_udpipe(self, store):
        cells = next(line for line in TABLES["parsers, systems"](store).split("\n") if "bundled int8 search" in line)
        assert float(figures(store)["bundled, times UDPipe 1"]) == pytest.approx(float(cells.split(" | ")[5]), abs=0.06)


def test_what_a_teacher_gives_is_above_the_same_model_without_one(store):
    found = figures(store)
    bundled, fast, gain = (
        float(found[name]) for name in ("bundled LAS, test, gold words", "fast LAS, EWT 2.16", "bundled over fast")
    )
    assert gain == pytest.approx(bundled - fast, abs=0.011)


class TestFingerprints:
    def test_every_planned_run_has_a_result_and_no_other(self, store):
        for study in STUDIES.values():
            assert set(store.studies[study.name]) == {run.key for run in study.runs}

    def test_settings_are_those_of_todays_plan(self, store):
        for name, results in store.studies.items():
            for result in results.values():
                assert is_current(store, name, result, DECODER.get(result["network"], "greedy")), result["key"]

    @pytest.mark.parametrize("change", ["data", "settings", "code"])
    def test_a_result_of_another_recipe_is_not_current(self, store, change):
        result = copy.deepcopy(store.studies["paper"]["hu-paper-2p-greedy-1"])
        others = {"data": "UD 2.5", "settings": digest("others"), "code": CODE | {"network": 0}}
        result["fingerprint"][change] = others[change]
        assert not is_current(store, "paper", result, "paper")

    def test_what_another_search_gave_is_not_shown(self, store):
        assert "labels and arcs" in TABLES["arcs"](store)
        results = copy.deepcopy(dict(store.studies["arcs"]))
        for result in results.values():
            result["fingerprint"]["code"] = CODE | {"arcs": 1}
        other = replace(store, studies={**store.studies, "arcs": results})
        assert "labels and arcs" not in TABLES["arcs"](other)
        assert "mean both" not in figures(other)

    @pytest.mark.parametrize("name", ["search", "gpu"])
    def test_a_benchmark_of_other_code_is_not_shown(self, store, name):
        other = store.files[name] | {"fingerprint": {"code": CODE | {"arcs": 1}}}
        assert TABLES[name](replace(store, files=store.files | {name: other})) == NOT_MEASURED

    def test_the_scores_of_the_bundled_model_are_of_the_one_that_ships(self, store):
        bundled = (store.files["packaged"]["en"], store.files["search"], store.files["speed"])
        for stored in (one["fingerprint"] for one in bundled):
            assert stored["model"] == model_digest(ROOT / "src" / "biplanar" / "models" / "en")
            assert stored["code"] == CODE
