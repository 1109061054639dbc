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
from study.tables import NOT_MEASURED, TABLES, compared_marks, figures

from biplanar.errors import BiplanarError, UnknownNameError
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


def encoder_run(code=CODE):
    """A run of a pre-trained model and UDPipe, as `benchmarks.parsers` stores it."""
    common = {"not_measured": None, "options": {}}
    systems = [
        {"name": "MiniLM int8 search", "family": "MiniLM", "kind": "biplanar", "las": 88.5, "speed": 9000.0},
        {"name": "UDPipe 1 tag+parse", "family": "UDPipe 1", "kind": "udpipe", "las": 60.0, "speed": 6000.0},
        {"name": "UDPipe 1 parse, gold tags", "family": "UDPipe 1", "kind": "udpipe", "las": 61.0, "speed": 12000.0},
    ]
    systems = [one | common | {"words_per_second": {"best": one["speed"]}} for one in systems]
    systems[0]["options"] = {"decoder": "search"}
    absent = {"name": "SuPar biaffine", "family": "SuPar", "kind": "supar", "options": {}, "not_measured": "no model"}
    return {"fingerprint": {"code": code}, "systems": [*systems, absent]}


class TestSpeedOfEncoders:
    def with_run(self, store, run):
        return replace(store, files=store.files | {"speed-encoder": run})

    def without_run(self, store):
        return replace(store, files={name: one for name, one in store.files.items() if name != "speed-encoder"})

    def test_speeds_are_multiples_of_that_of_udpipe_in_the_same_run(self, store):
        marks = {one.name: one for one in compared_marks(self.with_run(store, encoder_run()))}
        known = {one["name"]: one for one in store.files["speed"]["systems"]}
        udpipe, other = known["UDPipe 1 tag+parse"], known["spaCy tag+parse"]
        assert marks["MiniLM int8"].place == (1.5, 88.5)
        assert marks["UDPipe 1 tag+parse"].place == (1, udpipe["las"])
        ratio = other["words_per_second"]["best"] / udpipe["words_per_second"]["best"]
        assert marks["spaCy tag+parse"].place == (ratio, other["las"])

    def test_of_udpipe_it_takes_the_speed_alone(self, store):
        without, with_run = (
            compared_marks(one) for one in (self.without_run(store), self.with_run(store, encoder_run()))
        )
        assert [one.name for one in with_run] == [*(one.name for one in without), "MiniLM int8"]
        table = TABLES["parsers, encoder"](self.with_run(store, encoder_run()))
        assert "| MiniLM int8 search | 88.50 | 9,000 | 1.50 |" in table
        assert "| UDPipe 1 tag+parse | – | 6,000 | 1.00 |" in table

    def test_what_was_not_measured_is_told(self, store):
        old = self.with_run(store, encoder_run(CODE | {"arcs": 1}))
        for one in (old, self.without_run(store)):
            assert TABLES["parsers, encoder"](one) == NOT_MEASURED
            assert compared_marks(one) == compared_marks(self.without_run(store))

    def test_a_run_without_udpipe_is_refused(self, store):
        run = encoder_run()
        run["systems"][1]["not_measured"] = "no model"
        with pytest.raises(BiplanarError, match=r"speed-encoder\.json: UDPipe 1 tag\+parse was not measured"):
            compared_marks(self.with_run(store, run))


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
        bundled = (store.files["packaged"]["en"], store.files["search"], store.files["speed-bundled"])
        for stored in (one["fingerprint"] for one in bundled):
            assert stored["model"] == model_digest(ROOT / "src" / "biplanar" / "models" / "en")
            assert stored["code"] == CODE
