"""The web page in a real browser, against a real server with the model that ships inside."""

from __future__ import annotations

import math
import re
import shutil
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import biplanar
from biplanar.data.conllu import Sentence, parse_conllu
from biplanar.data.forest import Column
from biplanar.data.tree import Tree
from biplanar.encodings import get_encoding
from biplanar.encodings.replay import replay
from tests.conftest import ROOT
from tests.graph_files import ENHANCED
from tests.serve.conftest import Served

sync_api = pytest.importorskip("playwright.sync_api", reason="no Playwright: pip install '.[dev]'")
expect = sync_api.expect

PATIENCE = 20_000  # milliseconds: the machine may be busy
expect.set_options(timeout=PATIENCE)

STATIC = Path(biplanar.__file__).parent / "serve" / "static"
CROSSING = ROOT / "examples" / "crossing.conllu"
TAGGED = ROOT / "examples" / "tagged.conllu"
CROSSING_PARSED = ROOT / "examples" / "crossing-parsed.conllu"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True, "device_scale_factor": 2}

SCRIPT = "<script>alert(1)</script>"
SCRIPT_TREE = f"""\
# text = {SCRIPT} works
1\t{SCRIPT}\t_\tX\t_\t_\t2\t<b>nsubj\t_\t_
2\tworks\t_\tVERB\t_\t_\t0\troot\t_\t_

"""


# A server and a browser for all tests, a fresh page for each


@pytest.fixture(scope="module")
def address(served: Served) -> str:
    return f"{served.address}/"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    if find_browser() is None:
        pytest.skip(f"no browser: looked for {', '.join(BROWSERS)}")
    with launched() as browser:
        yield browser


def find_browser() -> str | None:
    return next(filter(None, map(shutil.which, BROWSERS)), None)


@contextmanager
def launched() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser(), args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def settings(request: pytest.FixtureRequest) -> dict[str, Any]:
    """How the browser presents itself; a test may be given others by its parameters."""
    return dict(getattr(request, "param", {}))


as_phone = pytest.mark.parametrize("settings", [PHONE], indirect=True, ids=["phone"])


@pytest.fixture
def page(browser: Any, address: str, settings: dict[str, Any]) -> Iterator[Any]:
    with opened(browser, address, settings) as page:
        yield page


@contextmanager
def opened(browser: Any, address: str, settings: dict[str, Any]) -> Iterator[Any]:
    """The page, ready. Whatever it complains of, and whatever it loads from elsewhere, fails the test."""
    context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, "accept_downloads": True, **settings})
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    wrong: list[str] = []
    page.on("console", lambda message: wrong.append(message.text) if message.type in {"error", "warning"} else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("dialog", lambda dialog: wrong.append(f"dialog: {dialog.message}") or dialog.dismiss())
    page.on("request", lambda request: wrong.append(request.url) if is_elsewhere(request.url, address) else None)
    page.allowed = []
    page.goto(address)
    ready(page)
    yield page
    context.close()
    assert [text for text in wrong if not any(allowed in text for allowed in page.allowed)] == []


def is_elsewhere(url: str, address: str) -> bool:
    return not url.startswith((address, "blob:", "data:"))


# What is on the page


def ready(page: Any) -> None:
    page.wait_for_selector("body[data-ready=yes]")
    idle(page)


def idle(page: Any) -> None:
    page.wait_for_function("() => !document.querySelector('[aria-busy]')")


def show_file(page: Any, content: str | Path) -> None:
    if page.locator("#tab-file").get_attribute("aria-selected") != "true":
        page.click("#tab-file")
    if isinstance(content, str):
        file = {"name": "trees.conllu", "mimeType": "text/plain", "buffer": content.encode()}
        page.set_input_files("#file", file)
    else:
        page.set_input_files("#file", content)
    page.wait_for_selector(".tree")
    idle(page)


def choose(page: Any, name: str, value: str) -> None:
    page.select_option(name, value)
    idle(page)


def type_text(page: Any, text: str, words: list[str]) -> None:
    """Type, and wait for the tree of these words."""
    page.fill("#text", text)
    expect(page.locator(".tree [data-word]")).to_have_text(words)
    idle(page)


def arcs_shown(page: Any) -> set[str]:
    shown = "elements => elements.filter(e => getComputedStyle(e).visibility === 'visible').map(e => e.dataset.arc)"
    return set(page.locator(".tree .bp-arc:not([data-enhanced])").evaluate_all(shown))


def arcs_after_steps(page: Any, steps: int) -> list[set[str]]:
    """The arcs that are shown after each of so many steps on."""
    shown = page.evaluate(
        """async (steps) => {
            const button = document.querySelector("[aria-label='One step on']");
            const visible = (arc) => getComputedStyle(arc).visibility === "visible";
            const shown = [];
            for (let step = 0; step < steps; step += 1) {
                button.click();
                await new Promise(requestAnimationFrame);
                const arcs = [...document.querySelectorAll(".tree .bp-arc")];
                shown.push(arcs.filter(visible).map((arc) => arc.dataset.arc));
            }
            return shown;
        }""",
        steps,
    )
    return list(map(set, shown))


def arcs_of(tree: Tree) -> set[str]:
    return {f"{head}-{word}" for word, head in enumerate(tree.heads, 1)}


def saved(page: Any, button: str) -> bytes:
    with page.expect_download() as download:
        page.click(button)
    return Path(download.value.path()).read_bytes()


def imported(page: Any, module: str, code: str, argument: object = None) -> Any:
    """The value of some code that uses the names of one of the page's modules."""
    return page.evaluate(
        f"async (argument) => {{ const m = await import(new URL('static/{module}', location.href)); {code} }}", argument
    )


@pytest.fixture(scope="module")
def parser() -> biplanar.Parser:
    return biplanar.load()


# Text


def test_a_newcomer_sees_a_tree_at_once(page):
    text = page.input_value("#text")
    assert text
    assert "".join(page.locator(".tree [data-word]").all_text_contents()) == text.replace(" ", "")
    assert page.locator("#error").is_hidden()
    assert page.locator("#status").text_content().startswith("1 sentence, ")


def test_typing_a_sentence_shows_its_tree(page, parser):
    (parsed,) = parser("The dog chased a very old cat.")
    type_text(page, "The dog chased a very old cat.", list(parsed.forms))
    assert arcs_shown(page) == arcs_of(parsed.tree)
    assert page.locator(".bp-arc[data-plane='0'] text").text_content() == "root"
    relations = page.locator(".tree .bp-arc").evaluate_all(
        "all => all.map(e => [e.dataset.arc, e.querySelector('text').textContent])"
    )
    expected = zip(
        sorted(arcs_of(parsed.tree), key=lambda key: int(key.split("-")[1])), parsed.tree.deprels, strict=True
    )
    assert sorted(map(tuple, relations)) == sorted(expected)


def test_several_sentences_of_a_text_are_all_there(page):
    type_text(page, "Nobody came. We left.", ["Nobody", "came", "."])
    expect(page.locator("#sentences-list li")).to_have_count(2)
    page.click("#sentences-next")
    expect(page.locator(".tree [data-word]")).to_have_text(["We", "left", "."])
    expect(page.locator("#tokens span")).to_have_text(["We", "left", "."])


def test_text_is_never_markup(page):
    page.fill("#text", f"The {SCRIPT} word <img src=x onerror=alert(2)> & works.")
    expect(page.locator(".tree [data-word]", has_text="alert")).not_to_have_count(0)
    idle(page)
    show_file(page, SCRIPT_TREE)
    assert page.locator(".tree [data-word]").first.text_content() == SCRIPT
    assert page.locator(".bp-arc text").first.text_content() == "<b>nsubj"
    page.click("#details summary")
    assert page.locator("#table td").nth(1).text_content() == SCRIPT
    page.click("[aria-label='Back to the start']")
    page.click("[aria-label='One step on']")
    assert SCRIPT in page.locator(".story").text_content()
    assert page.locator("script").count() == 1
    assert page.locator("main img, main b:has-text('nsubj')").count() == 0


def test_what_was_typed_is_parsed_once(page):
    requests: list[Any] = []
    page.on("request", lambda request: requests.append(request.post_data_json))
    page.fill("#text", "Nobody came.")
    page.click("#parse")
    expect(page.locator(".tree [data-word]")).to_have_text(["Nobody", "came", "."])
    page.wait_for_timeout(1000)  # after which typing alone would have led to a parse
    assert sum(bool(body and "text" in body) for body in requests) == 1


def test_an_emptied_text_shows_nothing(page):
    page.fill("#text", "   ")
    page.click("#parse")
    expect(page.locator("#result")).to_be_hidden()


def test_the_address_remembers(page):
    type_text(page, "Nobody came.", ["Nobody", "came", "."])
    choose(page, "#encoding", "relative")
    choose(page, "#best", "2")
    page.reload()
    ready(page)
    assert page.input_value("#text") == "Nobody came."
    assert page.input_value("#encoding") == "relative"
    assert page.locator(".choice").count() == 2
    assert page.locator(".tree .bp-label").all_text_contents() == ["+1", "0", "-1"]


def test_an_address_with_unknown_values_is_no_harm(page, address):
    page.goto("about:blank")
    page.goto(f"{address}#text=Go+on.&encoding=nonsense&best=77&model=x&decoder=&probabilities=yes")
    ready(page)
    assert page.locator(".tree [data-word]").all_text_contents() == ["Go", "on", "."]
    assert [page.input_value(name) for name in ("#model", "#decoder", "#encoding")] == ["en", "search", ""]
    assert sum("%" in text for text in page.locator(".bp-arc text").all_text_contents()) == 3


def test_a_model_without_a_tokenizer_is_given_words(page):
    def without_tokenizer(route):
        known = route.fetch().json()
        known["models"][0] |= {"raw_text": False, "encoding": "relative", "several_trees": False}
        route.fulfill(json=known)

    page.route("**/api/models", without_tokenizer)
    page.reload()
    ready(page)
    assert page.locator("#best").is_disabled()
    with page.expect_request("**/api/parse") as request:
        page.fill("#text", "Nobody  came .\n\nWe left")
    assert request.value.post_data_json["words"] == [["Nobody", "came", "."], ["We", "left"]]
    assert request.value.post_data_json["best"] == 1
    assert "put a space" in page.locator("#text-hint").text_content()


def test_a_server_that_is_busy_or_gone_is_told_of(page):
    page.allowed += ["status of 503", "ERR_FAILED"]
    busy = {
        "status": 503,
        "headers": {"Retry-After": "7"},
        "json": {"error": "too many requests wait: try again later"},
    }
    page.route("**/api/parse", lambda route: route.fulfill(**busy))
    page.click("#parse")
    expect(page.locator("#error")).to_have_text("too many requests wait: try again later (in 7 s)")
    page.unroute("**/api/parse")
    page.route("**/api/parse", lambda route: route.abort())
    page.click("#parse")
    expect(page.locator("#error")).to_have_text("The server cannot be reached.")
    page.unroute("**/api/parse")
    page.click("#parse")
    expect(page.locator("#error")).to_be_hidden()


def test_several_trees_and_their_differences(page, parser):
    text = "I bought a car yesterday that I like."
    ((*trees,),) = parser.best_trees(text, 5)
    type_text(page, text, list(trees[0][0].forms))
    expect(page.locator(".choice")).to_have_count(len(trees))
    for number, (sentence, _) in enumerate(trees):
        page.locator(".choice").nth(number).click()
        idle(page)
        assert arcs_shown(page) == arcs_of(sentence.tree)
        changed = page.locator(".tree .changed").evaluate_all("all => all.map(e => e.dataset.arc)")
        best = trees[0][0].tree
        pairs = zip(sentence.tree.heads, best.heads, sentence.tree.deprels, best.deprels, strict=True)
        assert len(changed) == sum(head != other or name != label for head, other, name, label in pairs)


def test_probabilities(page):
    assert "%" not in "".join(page.locator(".bp-arc text").all_text_contents())
    page.check("#probabilities")
    expect(page.locator(".bp-arc text").first).to_have_text(re.compile(r"\w \d{1,2} %$"))
    assert all("%" in text for text in page.locator(".bp-arc text").all_text_contents())
    shares = [math.exp(score) for score in page.evaluate(SCORES)]
    assert f"{sum(shares):.0%}".replace("%", " %") in page.locator("#choices-note").text_content()


SCORES = """async () => {
    const body = JSON.stringify({ text: document.querySelector("#text").value, best: 5 });
    const answer = await fetch("api/parse", { method: "POST", headers: { "Content-Type": "application/json" }, body });
    return (await answer.json()).sentences[0].trees.map((tree) => tree.log_probability);
}"""


def test_a_long_text_waits_for_its_button(page):
    page.fill("#text", "Nobody came. " * 60)
    expect(page.locator("#status")).to_contain_text("press Parse")
    expect(page.locator("#result")).to_be_hidden()
    page.click("#parse")
    expect(page.locator("#sentences-of")).to_have_text("of 60")


@pytest.mark.parametrize("decoder", ["minimum-risk", "greedy", "paper"])
def test_other_decoders(page, parser, decoder):
    choose(page, "#decoder", decoder)
    (parsed,) = parser("A dog that I like barks.", decoder=decoder)
    type_text(page, "A dog that I like barks.", list(parsed.forms))
    if decoder != "minimum-risk":  # which is drawn by lot
        assert arcs_shown(page) == arcs_of(parsed.tree)


# Pictures


def test_a_crossing_sentence_has_arcs_in_both_planes(page):
    show_file(page, CROSSING)
    words = page.locator(".tree [data-word]").first.bounding_box()
    above, below = (
        page.locator(".bp-arc[data-plane='1'] g path[stroke]"),
        page.locator(".bp-arc[data-plane='2'] g path[stroke]"),
    )
    assert above.count()
    assert below.count()
    middle = words["y"] + words["height"] / 2
    for line in above.all():
        assert line.bounding_box()["y"] + line.bounding_box()["height"] <= middle
    for line in below.all():
        assert line.bounding_box()["y"] >= middle
    assert page.locator(".bp-arc[data-crossing]").count() >= 2


def test_an_arc_over_the_root_crosses_the_roots_arc(page):
    show_file(page, Sentence.from_words(["a", "b", "c"], Tree((2, 0, 1), ("x", "root", "y"))).to_conllu())
    assert page.locator(".bp-arc[data-crossing]").count() == 2


def test_pointing_at_a_bracket_lights_its_partner_and_their_arc(page):
    show_file(page, CROSSING)
    choose(page, "#encoding", "2p-prop")
    bracket = page.locator("[data-sign='5.1.2'], [data-sign='5.2.1']").first
    key = bracket.get_attribute("data-arc")
    bracket.hover()
    assert page.locator("[data-sign].lit").count() == 2
    assert set(page.locator("[data-sign].lit").evaluate_all("all => all.map(e => e.dataset.arc)")) == {key}
    assert page.locator(".bp-arc.lit").evaluate_all("all => all.map(e => e.dataset.arc)") == [key]
    head, dependent = key.split("-")
    lit = page.locator("[data-word].lit").evaluate_all("all => all.map(e => e.dataset.word)")
    assert set(lit) == {head, dependent}
    page.mouse.move(0, 0)
    assert page.locator(".lit").count() == 0


def test_arcs_of_the_enhanced_graph_tell_what_they_are(page):
    show_file(page, ENHANCED)
    arc = page.locator(".bp-arc[data-enhanced='obj']")
    key = arc.get_attribute("data-arc")
    arc.locator("text").hover()
    head, dependent = (page.locator(f".tree [data-word='{word}']").text_content() for word in key.split("-"))
    expect(page.locator("#fact")).to_have_text(f"{dependent}: obj of {head} · in the enhanced graph")
    assert arcs_shown(page) == arcs_of(next(iter(biplanar.read_conllu(ENHANCED))).tree)
    page.get_by_role("button", name="One step back").click()
    expect(arc).to_be_hidden()


def test_every_bracket_of_a_tree_belongs_to_an_arc(page):
    show_file(page, CROSSING)
    assert page.locator("[data-sign]").count() == 2 * (page.locator(".tree .bp-arc").count() - 1)
    assert page.locator("[data-sign]:not([data-arc])").count() == 0


def test_scripts_from_right_to_left_are_mirrored(page):
    show_file(page, CROSSING)
    page.fill("#sentences-number", "3")
    page.press("#sentences-number", "Enter")
    idle(page)
    places = [word.bounding_box()["x"] for word in page.locator(".tree [data-word]").all()]
    assert places == sorted(places, reverse=True)


# Tags, lemmas and features


def test_tags_lemmas_and_features(page):
    """They are drawn under the words, stand in the table and in downloads, and nothing is parsed again for them."""
    show_file(page, TAGGED)
    assert not {"magnus", "ADJ"} & set(page.locator(".tree text").all_text_contents())
    requests: list[Any] = []
    page.on("request", lambda request: requests.append(request.post_data_json))
    choose(page, "#columns", "upos,lemma,feats")
    assert {"upos", "magnus", "ADJ", "Case", "Abl"} <= set(page.locator(".tree text").all_text_contents())
    assert [request["parse"] for request in requests] == [False]
    page.click("#details summary")
    heads, cells = page.locator("#table th").all_text_contents(), page.locator("#table tbody tr").first
    row = dict(zip(heads, cells.locator("td").all_text_contents(), strict=True))
    assert (row["word"], row["upos"], row["lemma"]) == ("Magno", "ADJ", "magnus")
    drawn = ElementTree.fromstring(saved(page, "#save-svg"))
    assert {"lemma", "magnus", "ADJ"} <= {node.text for node in drawn.iter()}
    show_file(page, Sentence.from_words(["Go", "on"]).with_tree(Tree((0, 1), ("root", "advmod"))).to_conllu())
    expect(page.locator("#no-columns")).to_be_visible()
    choose(page, "#columns", "")
    expect(page.locator("#no-columns")).to_be_hidden()


def test_predicted_tags(page):
    type_text(page, "Nobody came.", ["Nobody", "came", "."])
    choose(page, "#columns", "upos,lemma,feats")
    assert {"PRON", "VERB", "come", "Mood", "Ind"} <= set(page.locator(".tree text").all_text_contents())
    page.locator(".choice").nth(1).click()
    idle(page)
    assert "come" in page.locator(".tree text").all_text_contents()
    assert "\tcome\tVERB\tVBD\t" in saved(page, "#save-conllu").decode()


# The decoding


@pytest.mark.parametrize("encoding", ["", "2p-prop-switch", "rel-pos", "relative"])
def test_stepping_through_the_decoding_ends_in_the_same_tree(page, encoding):
    show_file(page, CROSSING)
    choose(page, "#encoding", encoding)
    for sentence in parse_conllu(CROSSING.read_text(encoding="utf-8")):
        expect(page.locator(".tree [data-word]")).to_have_text(list(sentence.forms))
        page.click("[aria-label='Back to the start']")
        assert arcs_shown(page) == set()
        steps = int(page.locator(".replay input").get_attribute("max"))
        shown = [set(), *arcs_after_steps(page, steps - 1)]
        for before, after in pairwise(shown):
            assert len(after - before) <= 1
            assert before <= after
        root = sentence.tree.heads.index(0) + 1
        assert shown[-1] | {f"0-{root}"} == arcs_of(sentence.tree)
        page.click("[aria-label='One step on']")
        assert arcs_shown(page) == arcs_of(sentence.tree)
        assert page.locator(".stack li").count() == 0
        assert "complete" in page.locator(".story").text_content()
        assert page.locator(".tree .lost").count() == 0
        if page.locator("#sentences-next").is_enabled():
            page.click("#sentences-next")


def test_labels_that_cannot_say_the_tree_are_found_out(page):
    show_file(page, CROSSING)
    choose(page, "#encoding", "1p-brackets")
    dashed = page.locator(".tree .lost").count()
    page.click("[aria-label='To the end']")
    assert "they cannot express the dashed ones" in page.locator(".story").text_content()
    assert page.locator(".tree .lost").count() == dashed
    lost = page.locator(".tree .lost").evaluate_all("all => all.map(e => e.dataset.arc)")
    sentence = next(iter(parse_conllu(CROSSING.read_text(encoding="utf-8"))))
    rows = biplanar.encode(sentence.tree, "1p-brackets")
    back = get_encoding("1p-brackets").decode([Column.of(row[0] for row in rows)], np.array([0, len(rows)]))
    heads = zip(sentence.tree.heads, back.tolist(), strict=True)
    expected = {f"{head}-{word}" for word, (head, found) in enumerate(heads, 1) if head and head != found}
    assert expected
    assert set(lost) == expected


def test_the_stacks_are_shown(page):
    show_file(page, CROSSING)
    choose(page, "#encoding", "1p-brackets")
    page.click("#sentences-next")
    page.click("[aria-label='Back to the start']")
    page.click("[aria-label='One step on']")  # `<` on the second word
    assert page.locator(".stack li").all_text_contents() == ["Er"]
    assert "wait for its head" in page.locator(".story").text_content()
    assert page.locator("[data-word].current").get_attribute("data-word") == "2"


@pytest.mark.parametrize("encoding", ["7-bit-full", "hierarchical", "covington"])
def test_labels_that_drive_an_automaton_are_replayed(page, encoding):
    """Step by step up to the same tree, with the stacks that the library says."""
    show_file(page, CROSSING)
    choose(page, "#encoding", encoding)
    sentence = next(iter(parse_conllu(CROSSING.read_text(encoding="utf-8"))))
    labels = [row[0] for row in biplanar.encode(sentence.tree, encoding)]
    wanted = replay(get_encoding(encoding), labels)
    page.click("[aria-label='Back to the start']")
    found = arcs_shown(page)
    assert found == set()
    for step in wanted.steps:
        page.click("[aria-label='One step on']")
        found |= {f"{arc.head}-{arc.dependent}" for arc in step.arcs}
        assert arcs_shown(page) == found
        assert page.locator("[data-word].current").get_attribute("data-word") == str(step.part.word)
    left = [entry.word for stack in wanted.entries for entry in stack]
    assert page.locator(".stack li").all_text_contents() == [
        sentence.forms[word - 1] if word else "start" for word in left
    ]
    page.click("[aria-label='One step on']")
    assert arcs_shown(page) == arcs_of(sentence.tree)
    assert "complete" in page.locator(".story").text_content()


def test_pointing_at_a_sign_lights_all_arcs_that_it_has_a_part_in(page):
    """The last bit of the verb says that there are right dependents, of which it has three."""
    tree = Tree((0, 1, 1, 1), ("root", "iobj", "obj", "punct"))
    show_file(page, Sentence.from_words(["Give", "her", "bread", "."]).with_tree(tree).to_conllu())
    choose(page, "#encoding", "4-bit")
    page.locator("[data-sign='1.1.3']").hover()
    assert set(page.locator(".bp-arc.lit").evaluate_all("all => all.map(e => e.dataset.arc)")) == {"1-2", "1-3", "1-4"}
    assert page.locator("#fact").text_content().count(" of Give") == 3


def test_lifted_arcs_are_found_out(page):
    show_file(page, CROSSING)
    choose(page, "#encoding", "hexatags")
    page.click("[aria-label='To the end']")
    assert "they cannot express the dashed ones" in page.locator(".story").text_content()
    assert page.locator(".tree .lost").count() > 0


def test_the_decoding_plays_by_itself_and_pauses(page):
    page.clock.install()
    page.get_by_role("button", name="Play").click()
    page.clock.run_for(2500)
    expect(page.locator(".replay .count")).to_have_text(re.compile(r"^2 / "))
    page.get_by_role("button", name="Pause").click()
    shown = page.locator(".replay .count").text_content()
    page.clock.run_for(5000)
    assert page.locator(".replay .count").text_content() == shown
    assert page.get_by_role("button", name="Play").is_visible()


# Files


def test_a_file_is_paged_through_and_filtered(page):
    show_file(
        page,
        CROSSING.read_text(encoding="utf-8") + Sentence.from_words(["Hi"]).with_tree(Tree((0,), ("root",))).to_conllu(),
    )
    expect(page.locator("#sentences-list li")).to_have_count(4)
    assert page.locator("#sentences-filter-count").text_content() == "3"
    page.click("#sentences-next")
    expect(page.locator(".tree [data-word]").first).to_have_text("Er")
    page.fill("#sentences-number", "4")
    page.press("#sentences-number", "Enter")
    expect(page.locator(".tree [data-word]")).to_have_text(["Hi"])
    assert page.locator("#sentences-next").is_disabled()
    page.check("#sentences-filter")
    expect(page.locator("#sentences-list li")).to_have_count(3)
    assert page.locator("#sentences-list .badge").count() == 3
    expect(page.locator(".tree [data-word]").first).to_have_text("Magno")


def test_a_file_without_crossing_arcs_filtered_to_nothing(page):
    tree = Sentence.from_words(["Go", "on"]).with_tree(Tree((0, 1), ("root", "advmod"))).to_conllu()
    show_file(page, tree * 2)
    page.check("#sentences-filter")
    expect(page.locator("#none")).to_be_visible()
    expect(page.locator("#sentence")).to_be_hidden()
    page.uncheck("#sentences-filter")
    expect(page.locator(".tree [data-word]")).to_have_text(["Go", "on"])


def test_the_words_of_a_file_are_parsed_again(page, parser):
    show_file(page, CROSSING)
    page.get_by_label("parse its words again").check()
    idle(page)
    (parsed,) = parser([list(next(iter(parse_conllu(CROSSING.read_text(encoding="utf-8")))).forms)])
    assert arcs_shown(page) == arcs_of(parsed.tree)


def test_a_long_file_comes_in_chunks(page):
    tree = Sentence.from_words(["Go", "on", "."]).with_tree(Tree((0, 1, 1), ("root", "advmod", "punct"))).to_conllu()
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    show_file(page, tree * 500)
    expect(page.locator("#sentences-of")).to_have_text("of 500")
    assert sum(url.endswith("api/parse") for url in requests) > 1
    assert saved(page, "#save-all").decode() == tree * 500


def test_a_dropped_file_is_read(page):
    page.click("#tab-file")
    transfer = page.evaluate_handle(
        "text => { const data = new DataTransfer(); data.items.add(new File([text], 'dropped.conllu')); return data; }",
        SCRIPT_TREE,
    )
    page.dispatch_event("#drop", "drop", {"dataTransfer": transfer})
    expect(page.locator("#file-name")).to_have_text("dropped.conllu")
    expect(page.locator(".tree [data-word]").last).to_have_text("works")


def test_a_file_with_a_fault_is_refused_with_its_place(page):
    page.allowed.append("status of 400")  # the browser's own report
    page.click("#tab-file")
    page.set_input_files("#file", {"name": "bad.conllu", "mimeType": "text/plain", "buffer": b"1\tonly\tthree\n\n"})
    expect(page.locator("#error")).to_contain_text("expected 10 columns")
    page.set_input_files("#file", {"name": "empty.conllu", "mimeType": "text/plain", "buffer": b"\n\n"})
    expect(page.locator("#error")).to_contain_text("empty.conllu")
    page.set_input_files("#file", CROSSING)
    expect(page.locator("#error")).to_be_hidden()


def test_a_tree_that_labels_cannot_say_is_drawn_without(page):
    two_roots = Sentence.from_words(["Go", "on"]).with_tree(Tree((0, 0), ("root", "root")))
    show_file(page, two_roots.to_conllu())
    assert arcs_shown(page) == {"0-1", "0-2"}
    assert page.locator(".replay").count() == 0
    assert "cannot express this tree" in page.locator("#replay").text_content()


# Comparing


def test_two_parses_are_compared(page):
    page.click("#tab-compare")
    page.set_input_files("#gold-file", CROSSING)
    expect(page.locator("#gold")).to_have_value(re.compile("Magno"))
    page.set_input_files("#system-file", CROSSING_PARSED)
    expect(page.locator("#system")).to_have_value(re.compile("Magno"))
    page.click("#compare")
    expect(page.locator("#pairs-list li")).to_have_count(3)
    scores = biplanar.evaluate(list(biplanar.read_conllu(CROSSING)), list(biplanar.read_conllu(CROSSING_PARSED))).scores
    shown = dict(
        zip(page.locator("#scores dt").all_text_contents(), page.locator("#scores dd").all_text_contents(), strict=True)
    )
    assert shown == {name: f"{100 * scores[name].f1:.2f}" for name in ("UAS", "LAS")}
    assert page.locator("#pair svg [stroke-dasharray]").count() == 2  # arcs that were missed
    page.check("#pairs-filter")
    expect(page.locator("#pairs-list li")).to_have_count(2)
    assert ElementTree.fromstring(saved(page, "#save-pair-svg")).tag.endswith("svg")
    assert saved(page, "#save-pair-png").startswith(b"\x89PNG")


def test_a_file_is_compared_with_the_model(page):
    page.click("#tab-compare")
    page.click("#compare-example")
    expect(page.locator("#pair svg")).to_be_visible(timeout=PATIENCE)
    assert page.locator("#pairs-list li").count() == 5


def test_what_cannot_be_compared_is_refused(page):
    page.allowed.append("status of 400")
    page.click("#tab-compare")
    page.click("#compare")
    expect(page.locator("#error")).to_contain_text("Put gold trees")
    page.fill("#gold", CROSSING.read_text(encoding="utf-8"))
    page.fill("#system", SCRIPT_TREE)
    page.click("#compare")
    expect(page.locator("#error")).to_contain_text("Magno")


ACTING = (
    "<script>alert(1)</script>",
    "<foreignObject/>",
    '<g onload="alert(1)"/>',
    '<g style="fill: url(x)"/>',
    '<a href="javascript:alert(1)"><text>x</text></a>',
    '<image href="https://example.org/x.png"/>',
    '<h:img xmlns:h="http://www.w3.org/1999/xhtml" src="x"/>',
    "<style><![CDATA[ x ]]></style>",
)


def test_pictures_that_could_act_are_refused(page):
    # Some browsers report what the policy blocks when a picture is parsed, before it is refused. A dialog or a request,
    # which must not happen, still fails the test.
    page.allowed.append("Content Security Policy")
    code = "try { m.importedSvg(argument); return 'taken'; } catch (error) { return error.message; }"
    svg = '<svg xmlns="http://www.w3.org/2000/svg"><style>g { }</style><g class="x"><text>y</text></g>{}</svg>'
    assert imported(page, "dom.js", code, svg.replace("{}", "")) == "taken"
    for inside in ACTING:
        assert imported(page, "dom.js", code, svg.replace("{}", inside)).startswith("the server sent a picture"), inside
    assert imported(page, "dom.js", code, "no svg") == "the server sent a picture that is no SVG"


# What can be taken home


def test_downloads_of_a_tree(page):
    show_file(page, CROSSING)
    first = next(iter(parse_conllu(CROSSING.read_text(encoding="utf-8"))))
    assert saved(page, "#save-conllu").decode() == first.to_conllu()
    assert saved(page, "#save-all").decode() == CROSSING.read_text(encoding="utf-8")
    svg = ElementTree.fromstring(saved(page, "#save-svg"))
    assert svg.get("aria-label") == " ".join(first.forms)
    png = saved(page, "#save-png")
    width, height = struct.unpack(">II", png[16:24])
    assert (width, height) == (2 * int(svg.get("width")), 2 * int(svg.get("height")))


def test_downloads_are_of_the_tree_that_is_shown(page, parser):
    text = "I bought a car yesterday that I like."
    ((*trees,),) = parser.best_trees(text, 5)
    type_text(page, text, list(trees[0][0].forms))
    page.locator(".choice").nth(2).click()
    (found,) = parse_conllu(saved(page, "#save-conllu").decode())
    assert found.tree == trees[2][0].tree


# By keyboard, by touch, by ear


def test_everything_can_be_done_by_keyboard(page):
    page.focus("#tab-text")
    page.keyboard.press("Tab")
    assert page.evaluate("() => document.activeElement.id") == "text"
    page.keyboard.press("Control+A")
    page.keyboard.type("Nobody came.")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".tree [data-word]")).to_have_text(["Nobody", "came", "."])
    idle(page)
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate("() => document.activeElement.className") == "picture":
            break
    page.keyboard.press("ArrowRight")
    expect(page.locator("#fact")).to_have_text(re.compile("^Nobody: nsubj of came"))
    assert page.locator("[data-word][aria-selected=true]").get_attribute("data-word") == "1"
    page.keyboard.press("End")
    expect(page.locator("#fact")).to_have_text(re.compile(r"^\.: punct of came"))
    page.keyboard.press("Escape")
    assert page.locator(".lit").count() == 0
    page.focus("#tab-text")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("() => document.activeElement.id") == "tab-file"
    assert page.locator("#panel-file").is_visible()
    assert page.locator("#panel-text").is_hidden()


@pytest.mark.parametrize("tab", ["text", "file", "compare"])
def test_everything_has_an_accessible_name(page, tab):
    page.check("#probabilities")
    if tab == "file":
        show_file(page, CROSSING)
    elif tab == "compare":
        page.click("#tab-compare")
        page.click("#compare-example")
        expect(page.locator("#pair svg")).to_be_visible(timeout=PATIENCE)
    idle(page)
    nodes = page.context.new_cdp_session(page).send("Accessibility.getFullAXTree")["nodes"]
    roles = {
        "button",
        "checkbox",
        "combobox",
        "listbox",
        "option",
        "radio",
        "slider",
        "spinbutton",
        "tab",
        "textbox",
        "region",
    }
    named = [
        (node["role"]["value"], node.get("name", {}).get("value"))
        for node in nodes
        if not node["ignored"] and node["role"]["value"] in roles
    ]
    assert len(named) > 10
    assert [node for node in named if not node[1]] == []
    if tab == "file":
        assert ("option", "Magno: amod of gaudio · plane 1 · crosses another arc") in named


@as_phone
def test_a_phone_shows_all_without_scrolling_sideways(page):
    expect(page.locator(".choice")).to_have_count(5)
    assert width_of(page) == 390
    show_file(page, CROSSING)
    assert width_of(page) == 390
    page.tap("#tab-compare")
    page.tap("#compare-example")
    expect(page.locator("#pair svg")).to_be_visible()
    assert width_of(page) == 390
    page.tap("#tab-file")
    idle(page)
    page.tap("[data-word='1']")
    expect(page.locator("#fact")).to_have_text(re.compile("^Magno: amod of gaudio"))
    page.tap("#settings summary")
    page.select_option("#encoding", "2p-prop")
    idle(page)
    small = page.locator("button:visible, select:visible").evaluate_all(
        "all => all.filter(e => e.getBoundingClientRect().height < 32).map(e => e.id || e.textContent)"
    )
    assert small == []


def width_of(page: Any) -> int:
    return page.evaluate("() => document.documentElement.scrollWidth")


@pytest.mark.parametrize(
    "settings", [{"color_scheme": "light"}, {"color_scheme": "dark"}], indirect=True, ids=["light", "dark"]
)
def test_texts_stand_out_in_both_themes(page):
    """The contrast that WCAG asks of texts, 4.5, for everything that is written."""
    show_file(page, CROSSING)
    page.select_option("#columns", "upos,lemma")
    assert page.evaluate(CONTRASTS) == []


CONTRASTS = """() => {
    const numbers = (colour) => (colour.match(/[\\d.]+/g) ?? []).map(Number);
    const light = (colour) => {
        const [r, g, b] = numbers(colour).slice(0, 3).map((c) => c / 255)
            .map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const ground = (element) => {
        const colour = element ? getComputedStyle(element).backgroundColor : "rgb(255, 255, 255)";
        return element && numbers(colour)[3] === 0 ? ground(element.parentElement) : colour;
    };
    const contrast = (one, other) => (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    return [...document.querySelectorAll("body *")]
        .filter((e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()) && e.checkVisibility())
        .filter((e) => !e.closest(":disabled, noscript"))
        .map((e) => {
            const style = getComputedStyle(e);
            const colour = e instanceof SVGElement ? style.fill : style.color;
            return [e.textContent.trim(), contrast(light(colour), light(ground(e)))];
        })
        .filter(([, found]) => found < 4.5);
}"""


# What needs no browser


def test_the_page_asks_for_nothing_from_elsewhere():
    for path in STATIC.iterdir():
        text = path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"https?:|//[a-z]+\.", text), path


def test_nothing_is_ever_read_as_markup_or_run_from_text():
    for path in STATIC.glob("*.js"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", text), (
            path
        )
    html = (STATIC / "index.html").read_text(encoding="utf-8")
    assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son[a-z]+=", html)
