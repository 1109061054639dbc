"""The report: its numbers are those of the stored results, and docs/study.md is what it makes of them."""

from __future__ import annotations

import base64
import json
import re
import zlib
from dataclasses import replace
from itertools import product
from statistics import mean, stdev

import numpy as np
import pytest
from study.figures import FIGURES, draw_all
from study.plan import LARGE, plan
from study.queue import RESULTS
from study.report import ALL_BLOCKS, DOCUMENT, IMAGES, check_alike, check_complete, main, rebuild
from study.store import Difference, Store, bootstrap, survive_holm
from study.verdicts import judged

from biplanar.errors import BiplanarError


@pytest.fixture(scope="module")
def store():
    return Store.read(RESULTS)


def raw(key: str):
    """A stored result, without the help of the report's own code."""
    return json.loads((RESULTS / f"{key}.json").read_text(encoding="utf-8"))


def counts(key: str, split: str, source: str, decoder: str, metric: str) -> list[int]:
    return raw(key)["scores"][split][source][decoder][metric]


def block(name: str) -> str:
    return re.search(rf"<!-- {name} -->\n(.*?)<!-- end -->", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)[1]


def cells(name: str, *first: str) -> list[str]:
    """The line of a table of the report that begins with some cells."""
    for line in block(name).splitlines():
        found = [cell.strip() for cell in line.strip("|").split("|")]
        if tuple(found[: len(first)]) == first:
            return found
    raise AssertionError(f"no line {first} in {name}")


class TestDocument:
    def test_it_is_up_to_date(self, store):
        text = DOCUMENT.read_text(encoding="utf-8")
        assert rebuild(text, ALL_BLOCKS, store) == text

    def test_every_block_stands_in_it_once(self):
        names = re.findall(r"<!-- ([\w ]+) -->", DOCUMENT.read_text(encoding="utf-8"))
        assert sorted(name for name in names if name != "end") == sorted(ALL_BLOCKS)

    def test_its_plots_are_there(self):
        shown = re.findall(r"\(images/(study-[\w]+\.svg)\)", DOCUMENT.read_text(encoding="utf-8"))
        assert sorted(shown) == sorted(f"study-{name}.svg" for name in FIGURES)
        assert all((IMAGES / name).stat().st_size < 100_000 for name in shown)

    def test_an_unknown_block_is_refused(self, store):
        with pytest.raises(BiplanarError, match="found nonsense"):
            rebuild("<!-- nonsense -->\n<!-- end -->", ALL_BLOCKS, store)


class TestNumbers:
    @pytest.mark.parametrize(
        ("treebank", "code", "encoding", "seeds"),
        [("Basque", "eu", "2p-greedy", 3), ("Galician*", "gl", "rel-pos", 3), ("Korean", "ko", "1p-brackets", 2)],
    )
    def test_accuracies_are_means_and_deviations(self, treebank, code, encoding, seeds):
        found = cells("test raw text", treebank, encoding)
        assert found[4] == str(seeds)
        for at, decoder in ((6, "paper"), (8, "search")):
            values = []
            for seed in range(1, seeds + 1):
                correct, gold, system = counts(f"{code}-paper-{encoding}-{seed}", "test", "raw text", decoder, "LAS")
                values.append(200 * correct / (gold + system))
            assert found[at] == f"{mean(values):.2f} ± {stdev(values):.2f}"

    def test_printed_figures_stand_beside_ours(self):
        assert cells("test raw text", "Hungarian", "2p-prop")[2:4] == ["67.95", "60.63"]
        assert cells("dev raw text", "Hungarian", "1p-brackets")[2:4] == ["75.09", "69.13"]
        assert cells("dependencies", "Hungarian", "2p-prop")[2] == "4.1 / 11.0"

    @pytest.mark.parametrize(
        ("name", "metric"), [("dependencies", "NonprojectiveDependencies"), ("sentences", "NonprojectiveSentences")]
    )
    def test_precision_and_recall_are_of_pooled_counts(self, name, metric):
        keys = [f"pt-paper-2p-greedy-{seed}" for seed in (1, 2)]
        correct, gold, system = np.sum([counts(key, "test", "gold words", "search", metric) for key in keys], axis=0)
        assert cells(name, "Portuguese", "2p-greedy")[6] == f"{100 * correct / system:.1f} / {100 * correct / gold:.1f}"

    def test_differences_are_those_of_the_shared_seeds(self):
        one, two = (
            [counts(f"gl-paper-{encoding}-{seed}", "test", "gold words", "search", "LAS") for seed in (1, 2, 3)]
            for encoding in ("2p-full", "1p-brackets")
        )
        right, other, words = (sum(row[at] for row in rows) for rows, at in ((one, 0), (two, 0), (two, 1)))
        assert cells("differences", "Galician*", "2p-full")[3].startswith(f"{100 * (right - other) / words:+.2f} [")

    def test_right_words_by_sentence_add_up_to_the_accuracies(self, store):
        for key, run in store.runs.items():
            for decoder, packed in run["right_by_sentence"].items():
                found = np.frombuffer(zlib.decompress(base64.b85decode(packed)), dtype="<u2")
                assert found.sum() == run["scores"]["test"]["gold words"][decoder]["LAS"][0], key

    def test_the_default_configuration_is_above_the_paper_where_it_says_so(self, store):
        for code, treebank, name in (
            ("pt", "Portuguese", "Portuguese-Bosque"),
            ("hu", "Hungarian", "Hungarian-Szeged"),
        ):
            best = max(values[3] for values in store.printed["accuracy"]["cells"][name].values())
            values = []
            for seed in (1, 2):
                key = f"{code}-accurate-2p-full-{seed}"
                correct, gold, system = counts(key, "test", "raw text", "search", "LAS")
                values.append(200 * correct / (gold + system))
            found = cells("default configuration", treebank)
            assert found[3] == f"{mean(values) - best:+.2f}"
            assert found[4] == ("yes" if mean(values) > best else "no")


class TestSpeeds:
    def test_rates_stand_beside_the_printed_ones(self):
        rows = [row for one in raw("speed") for row in one["rows"] if row["key"] == "hu-paper-2p-greedy-3"]
        found = cells("speed", "Hungarian", "2p-greedy")
        assert found[2] == "212 / 739"
        for at, device, runtime in ((3, "cpu", "int8"), (4, "cuda", "torch")):
            here = [one for one in rows if (one["device"], one["runtime"]) == (device, runtime)]
            assert [one["what"] for one in here] == ["network", "file to file, paper", "file to file, search"]
            assert found[at] == " / ".join(f"{one['sentences'] / one['seconds']:,.0f}" for one in here)

    def test_models_that_were_trained_for_fewer_rounds_are_marked(self, store):
        marked = {line.split(" | ")[1] for line in block("speed").splitlines() if "Hungarian" in line and "†" in line}
        assert marked == {"default configuration †"}
        assert store.runs["hu-accurate-2p-full-1"]["config"]["training"]["epochs"] == 164
        epochs = {row["epochs"] for one in store.speed for row in one["rows"] if row["key"] == "hu-accurate-2p-full-1"}
        assert epochs == {50}

    def test_ratios_are_those_of_models_that_took_turns(self):
        found = []
        for treebank in ("hu", "af"):
            seconds = {
                row["key"]: row["seconds"]
                for one in raw("speed")
                if one["in_turn"]
                for row in one["rows"]
                if (row["runtime"], row["what"]) == ("int8", "network")
            }
            found.append(seconds[f"{treebank}-paper-1p-brackets-1"] / seconds[f"{treebank}-paper-2p-prop-1"])
        expected = f"{(found[0] * found[1]) ** 0.5:.2f} ({min(found):.2f} to {max(found):.2f})"
        assert cells("speed in turn", "2p-prop")[3] == expected


class TestVerdicts:
    def test_every_claim_has_one(self, store):
        found = list(judged(store))
        assert len({one.claim for one in found}) == len(found) == 12
        assert all(one.verdict and one.numbers for one in found)

    @pytest.mark.parametrize(("slower", "verdict"), [(1.05, "holds"), (1.25, "does not hold")])
    def test_two_planes_are_as_fast_or_not(self, store, slower, verdict):
        first, *others = (one for one in store.speed if one["in_turn"])
        assert not others
        rows = [row | {"seconds": slower if "-2p-" in row["key"] else 1.0, "sentences": 100} for row in first["rows"]]
        speed = [one for one in store.speed if not one["in_turn"]] + [first | {"rows": rows}]
        found = {one.claim: one for one in judged(replace(store, speed=speed))}["two planes are as fast as one"]
        assert found.verdict == verdict
        assert f"`2p-greedy` × {1 / slower:.2f}, `2p-prop` × {1 / slower:.2f}" in found.numbers

    def test_switch_averse_planes(self, store):
        found = {one.claim: one for one in judged(store)}["switch-averse assignment of planes is slightly worse"]
        points = []
        for code in ("eu", "af", "hu"):
            for encoding in ("2p-greedy", "2p-prop"):
                rows = [
                    [counts(f"{code}-paper-{one}-{s}", "test", "gold words", "paper", "LAS") for s in (1, 2, 3)]
                    for one in (encoding, f"{encoding}-switch")
                ]
                plain, averse = (sum(one[0] for one in some) for some in rows)
                points.append(100 * (averse - plain) / sum(one[1] for one in rows[0]))
        assert f"{mean(points):+.2f} on average ({min(points):+.2f} to {max(points):+.2f})" in found.numbers

    def test_gains_in_the_first_verdict(self, store):
        gains = []
        for code in ("grc", "eu", "hu", "pt", "af", "ko", "lt"):
            values = {}
            for encoding in ("2p-greedy", "1p-brackets"):
                seeds = (1, 2) if code in LARGE else (1, 2, 3)
                rows = [counts(f"{code}-paper-{encoding}-{s}", "test", "raw text", "paper", "LAS") for s in seeds]
                values[encoding] = mean(200 * correct / (gold + system) for correct, gold, system in rows)
            gains.append(values["2p-greedy"] - values["1p-brackets"])
        first = next(judged(store))
        assert f"{mean(gains):+.2f} on average" in first.numbers


class TestCompleteness:
    def test_every_planned_run_has_a_result_or_a_note(self, store):
        check_complete(store)

    def test_a_run_that_is_missing_without_a_note_is_an_error(self, store):
        key = plan()[0].key
        without = replace(store, runs={name: run for name, run in store.runs.items() if name != key})
        with pytest.raises(BiplanarError, match=f"found none of {key}"):
            check_complete(without)

    def test_a_speed_that_is_missing_without_a_note_is_an_error(self, store):
        without = [
            one | {"rows": [row for row in one["rows"] if row["key"] != "hu-paper-2p-greedy-3"]} for one in store.speed
        ]
        with pytest.raises(BiplanarError, match="found none of speed of hu-paper-2p-greedy on cpu int8, speed of hu"):
            check_complete(replace(store, speed=without))

    def test_a_note_stands_in_the_document(self, store):
        key = plan()[0].key
        runs = {name: run for name, run in store.runs.items() if name != key}
        text = ALL_BLOCKS["missing"](replace(store, runs=runs, missing={"lost": [key]}))
        assert text.startswith(f"{len(plan()) - 1} of {len(plan())} planned runs have results")
        assert text.endswith(f"\n\n- lost: `{key}`")

    def test_eight_treebanks_have_complete_rows(self, store):
        seeds = {code: 2 if code in LARGE else 3 for code in store.facts}
        assert len(seeds) == 8
        for code, encoding in product(seeds, ("rel-pos", "1p-brackets", "2p-greedy", "2p-prop", "2p-full")):
            assert len(store.seeds(code, encoding)) == seeds[code]

    def test_a_note_for_a_run_that_is_there_is_an_error(self, store):
        key = plan()[0].key
        with pytest.raises(BiplanarError, match=f"expected runs without results, found {key}"):
            check_complete(replace(store, missing={**store.missing, "lost": [key]}))

    def test_schedules_are_not_mixed(self, store):
        key = plan()[0].key
        other = store.runs[key] | {"schedule": store.runs[key]["schedule"] | {"updates": 1}}
        with pytest.raises(BiplanarError, match=f"{key}: expected the schedule"):
            check_alike(replace(store, runs=store.runs | {key: other}))


class TestStatistics:
    def test_a_bootstrap_tells_a_gain_from_chance(self):
        words = np.full(400, 10)
        sure = bootstrap(np.full(400, 1), words)
        assert (sure.points, sure.low, sure.high) == (10.0, 10.0, 10.0)
        assert sure.is_significant
        chance = bootstrap(np.tile([1, -1], 200), words)
        assert chance.points == 0
        assert chance.low < 0 < chance.high
        assert chance.p_value == 1

    def test_holm_asks_more_of_many(self):
        found = [Difference(1, 0, 2, p) for p in (0.04, 0.012, 0.03, 0.001)]
        assert [one.p_value for one in survive_holm(found)] == [0.001, 0.012]
        assert [one.p_value for one in survive_holm(found[:1])] == [0.04]


def test_the_command_writes_the_document_and_all_plots(tmp_path):
    document = tmp_path / "study.md"
    document.write_text("# Study\n\n<!-- schedule -->\n<!-- end -->\n\nEnd.\n", encoding="utf-8")
    main(["--document", str(document), "--images", str(tmp_path / "images")])
    text = document.read_text(encoding="utf-8")
    assert "| Lithuanian | 3,210 | 2,020 × 1,600 | 4,564 × 800 |" in text
    assert text.endswith("<!-- end -->\n\nEnd.\n")
    assert {path.name for path in (tmp_path / "images").iterdir()} == {f"study-{name}.svg" for name in FIGURES}


def test_the_same_results_give_the_same_plots(store, tmp_path):
    for name in ("one", "two"):
        draw_all(store, tmp_path / name)
    for name in FIGURES:
        first, second = ((tmp_path / folder / f"study-{name}.svg").read_bytes() for folder in ("one", "two"))
        assert first == second
