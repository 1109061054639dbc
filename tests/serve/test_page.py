"""The web page in a real browser, against a real server with the model that ships inside."""

from __future__ import annotations

import re
import shutil
import socket
import struct
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import biplanar
from biplanar.data.conllu import FEATS, LEMMA, UPOS, Sentence, parse_conllu
from biplanar.data.forest import Column
from biplanar.data.tree import Tree
from biplanar.draw.tags import column_rows, columns_of
from biplanar.encodings import get_encoding
from biplanar.encodings.replay import replay
from tests.conftest import ROOT
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
SIGNS = "</\\>"

SCRIPT = "<script>alert(1)</script>"
SCRIPT_TREE = f"""\
# text = {SCRIPT} works
1\t{SCRIPT}\t_\tX\t_\t_\t2\t<b>nsubj\t_\t_
2\tworks\t_\tVERB\t_\t_\t0\troot\t_\t_

"""


# A server and a browser for all tests, a fresh page for each


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(tmp_path_factory.mktemp("serve") / "log.txt") as address:
        yield address


@contextmanager
def serving(log: Path) -> Iterator[str]:
    """The address of a server with the model that ships inside."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "biplanar", "serve", "--port", str(port)]
    with log.open("wb") as output, subprocess.Popen(command, stdout=output, stderr=output) as server:
        try:
            wait_for(f"http://127.0.0.1:{port}/healthz", server, log)
            yield f"http://127.0.0.1:{port}/"
        finally:
            server.terminate()


def wait_for(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(600):
        assert server.poll() is None, f"the server ended: {log.read_text(encoding='utf-8')}"
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except OSError:
            time.sleep(0.1)
    pytest.fail("the server did not come up within a minute")


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


@pytest.fixture
def tagging_page(browser: Any, tagging: Served, settings: dict[str, Any]) -> Iterator[Any]:
    """The page of a server whose model predicts tags, features and lemmas."""
    with opened(browser, f"{tagging.address}/", settings) as page:
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
    page.wait_for_selector("body[data-ready=yes]")
    yield page
    context.close()
    assert [text for text in wrong if not any(allowed in text for allowed in page.allowed)] == []


def is_elsewhere(url: str, address: str) -> bool:
    return not url.startswith((address, "blob:", "data:"))


# What is on the page


def idle(page: Any) -> None:
    page.wait_for_selector("body:not([aria-busy])")


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
    expect(page.locator(".tree .form")).to_have_text(words)
    idle(page)


def arcs_shown(page: Any) -> set[str]:
    shown = "elements => elements.filter(e => getComputedStyle(e).visibility === 'visible').map(e => e.dataset.arc)"
    return set(page.locator(".tree .arc").evaluate_all(shown))


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
                shown.push([...document.querySelectorAll(".tree .arc")].filter(visible).map((arc) => arc.dataset.arc));
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
    assert "".join(page.locator(".tree .form").all_text_contents()) == text.replace(" ", "")
    assert page.locator("#error").is_hidden()
    assert page.locator("#status").text_content().startswith("1 sentence, ")


def test_typing_a_sentence_shows_its_tree(page, parser):
    (parsed,) = parser("The dog chased a very old cat.")
    type_text(page, "The dog chased a very old cat.", list(parsed.forms))
    assert arcs_shown(page) == arcs_of(parsed.tree)
    assert page.locator(".tree .arc.plane0 .relation").text_content() == "root"
    relations = page.locator(".tree .arc").evaluate_all("all => all.map(e => [e.dataset.arc, e.textContent])")
    expected = zip(
        sorted(arcs_of(parsed.tree), key=lambda key: int(key.split("-")[1])), parsed.tree.deprels, strict=True
    )
    assert sorted(map(tuple, relations)) == sorted(expected)


def test_several_sentences_of_a_text_are_all_there(page):
    type_text(page, "Nobody came. We left.", ["Nobody", "came", "."])
    expect(page.locator("#sentences-list li")).to_have_count(2)
    page.click("#sentences-next")
    expect(page.locator(".tree .form")).to_have_text(["We", "left", "."])


def test_text_is_never_markup(page):
    page.fill("#text", f"The {SCRIPT} word <img src=x onerror=alert(2)> & works.")
    expect(page.locator(".tree .form", has_text="alert")).not_to_have_count(0)
    idle(page)
    show_file(page, SCRIPT_TREE)
    assert page.locator(".tree .form").first.text_content() == SCRIPT
    assert page.locator(".tree .relation").first.text_content() == "<b>nsubj"
    page.click("#details summary")
    assert page.locator("#table td").nth(1).text_content() == SCRIPT
    page.click("[aria-label='Back to the start']")
    page.click("[aria-label='One step on']")
    assert SCRIPT in page.locator(".story").text_content()
    assert page.locator("script").count() == 1
    assert page.locator("main img, main b:has-text('nsubj')").count() == 0


def test_what_was_typed_is_parsed_once(page):
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.fill("#text", "Nobody came.")
    page.click("#parse")
    expect(page.locator(".tree .form")).to_have_text(["Nobody", "came", "."])
    page.wait_for_timeout(1000)  # after which typing alone would have led to a parse
    assert sum(url.endswith("api/parse") for url in requests) == 1


def test_an_emptied_text_shows_nothing(page):
    page.fill("#text", "   ")
    page.click("#parse")
    expect(page.locator("#result")).to_be_hidden()


def test_the_address_remembers(page):
    type_text(page, "Nobody came.", ["Nobody", "came", "."])
    choose(page, "#encoding", "relative")
    choose(page, "#best", "2")
    page.reload()
    page.wait_for_selector("body[data-ready=yes]")
    assert page.input_value("#text") == "Nobody came."
    assert page.input_value("#encoding") == "relative"
    assert page.locator(".choice").count() == 2
    assert page.locator(".tree .label").all_text_contents() == ["+1", "0", "-1"]


def test_an_address_with_unknown_values_is_no_harm(page, address):
    page.goto("about:blank")
    page.goto(f"{address}#text=Go+on.&encoding=nonsense&best=77&model=x&decoder=&probabilities=yes")
    page.wait_for_selector("body[data-ready=yes]")
    assert page.locator(".tree .form").all_text_contents() == ["Go", "on", "."]
    assert [page.input_value(name) for name in ("#model", "#decoder", "#encoding")] == ["en", "search", ""]
    assert page.locator(".tree .chance").count() == 3


def test_a_model_without_a_tokenizer_is_given_words(page):
    def without_tokenizer(route):
        known = route.fetch().json()
        known["models"][0] |= {"raw_text": False, "encoding": "relative"}
        route.fulfill(json=known)

    page.route("**/api/models", without_tokenizer)
    page.reload()
    page.wait_for_selector("body[data-ready=yes]")
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
        assert arcs_shown(page) == arcs_of(sentence.tree)
        changed = page.locator(".tree .changed").evaluate_all("all => all.map(e => e.dataset.arc)")
        best = trees[0][0].tree
        pairs = zip(sentence.tree.heads, best.heads, sentence.tree.deprels, best.deprels, strict=True)
        assert len(changed) == sum(head != other or name != label for head, other, name, label in pairs)


def test_probabilities(page):
    assert page.locator(".chance").count() == 0
    page.check("#probabilities")
    expect(page.locator(".tree .chance").first).to_be_visible(timeout=PATIENCE)
    shown = page.locator(".tree .chance").all_text_contents()
    assert len(shown) == page.locator(".tree .form").count()
    assert all(re.fullmatch(r" \d{1,2} %", chance) for chance in shown)


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
    words = page.locator(".tree .form").first.bounding_box()
    above, below = page.locator(".tree .arc.plane1 .line"), page.locator(".tree .arc.plane2 .line")
    assert above.count()
    assert below.count()
    middle = words["y"] + words["height"] / 2
    for line in above.all():
        assert line.bounding_box()["y"] + line.bounding_box()["height"] <= middle
    for line in below.all():
        assert line.bounding_box()["y"] >= middle
    assert page.locator(".tree .arc.crossing").count() >= 2


def test_an_arc_over_the_root_crosses_the_roots_arc(page):
    show_file(page, Sentence.from_words(["a", "b", "c"], Tree((2, 0, 1), ("x", "root", "y"))).to_conllu())
    assert page.locator(".tree .arc.crossing").count() == 2


def test_no_text_lies_over_another(page):
    random = Random(5)
    show_file(page, "".join(random_sentence(random, size).to_conllu() for size in (1, 2, 3, 5, 8, 13, 21, 34) * 3))
    for encoding in ("2p-full", "1p-brackets", "relative", "hierarchical"):
        choose(page, "#encoding", "" if encoding == "2p-full" else encoding)
        for _ in range(24):
            assert overlaps(page) == []
            assert too_wide(page) == []
            if page.locator("#sentences-next").is_enabled():
                page.click("#sentences-next")


def random_sentence(random: Random, size: int) -> Sentence:
    """A tree with many crossing arcs: in some random order, each word hangs from any one before it."""
    order = random.sample(range(1, size + 1), size)
    heads = {word: random.choice(order[:at]) if at else 0 for at, word in enumerate(order)}
    names = tuple(random.choice(["det", "nsubj:pass", "obl"]) if heads[word] else "root" for word in range(1, size + 1))
    words = [random.choice(["a", "word", "counterrevolutionary", "."]) for _ in range(size)]
    return Sentence.from_words(words).with_tree(Tree(tuple(heads[word] for word in range(1, size + 1)), names))


def overlaps(page: Any) -> list[list[str]]:
    return page.evaluate("""() => {
        const texts = [...document.querySelectorAll(".tree text")].filter((text) => text.textContent);
        const boxes = texts.filter((text) => getComputedStyle(text).visibility === "visible")
            .map((text) => [text.textContent, text.getBBox()]);
        return boxes.flatMap(([text, one], at) => boxes.slice(at + 1)
            .filter(([, other]) => one.x + 1 < other.x + other.width && other.x + 1 < one.x + one.width
                && one.y + 5 < other.y + other.height && other.y + 5 < one.y + one.height)
            .map(([other]) => [text, other]));
    }""")


def too_wide(page: Any) -> list[str]:
    """Relations that reach beyond the ends of their arcs."""
    return page.evaluate("""() => {
        const start = (path) => Number(path.getAttribute("d").match(/^M([\\d.]+)/)[1]);
        return [...document.querySelectorAll(".tree .arc:not(.plane0, .extra)")].filter((arc) => {
            const ends = [start(arc.querySelector(".line")), start(arc.querySelector(".arrow"))];
            const text = arc.querySelector(".relation").getBBox();
            return text.x < Math.min(...ends) || text.x + text.width > Math.max(...ends);
        }).map((arc) => arc.textContent);
    }""")


def test_pointing_at_a_bracket_lights_its_partner_and_their_arc(page):
    show_file(page, CROSSING)
    choose(page, "#encoding", "2p-prop")
    bracket = page.locator(".bracket[data-bracket='5.1.2'], .bracket[data-bracket='5.2.1']").first
    key = bracket.get_attribute("data-arc")
    bracket.hover()
    assert page.locator(".bracket.lit").count() == 2
    assert set(page.locator(".bracket.lit").evaluate_all("all => all.map(e => e.dataset.arc)")) == {key}
    assert page.locator(".arc.lit").evaluate_all("all => all.map(e => e.dataset.arc)") == [key]
    head, dependent = key.split("-")
    lit = page.locator(".word.lit").evaluate_all("all => all.map(e => e.dataset.word)")
    assert set(lit) == {head, dependent}
    page.mouse.move(0, 0)
    assert page.locator(".lit").count() == 0


def test_every_bracket_of_a_tree_belongs_to_an_arc(page):
    show_file(page, CROSSING)
    assert page.locator(".bracket").count() == 2 * (page.locator(".tree .arc").count() - 1)
    assert page.locator(".bracket:not([data-arc])").count() == 0


def test_scripts_from_right_to_left_are_mirrored(page):
    show_file(page, CROSSING)
    page.fill("#sentences-number", "3")
    page.press("#sentences-number", "Enter")
    places = [word.bounding_box()["x"] for word in page.locator(".tree .form").all()]
    assert places == sorted(places, reverse=True)


# Tags, lemmas and features


def rows_shown(page: Any) -> dict[str, list[str]]:
    """By the name of each row under the words, its values from left to right."""
    return page.evaluate("""() => {
        const texts = (kind) => [...document.querySelectorAll(`.tree ${kind}`)];
        const height = (text) => text.getAttribute("y");
        const left = (text) => Number(text.getAttribute("x"));
        const row = (name) => texts(".value").filter((value) => height(value) === height(name))
            .sort((one, other) => left(one) - left(other)).map((value) => value.textContent);
        return Object.fromEntries(texts(".name").map((name) => [name.textContent, row(name)]));
    }""")


def test_tags_and_lemmas_are_shown_under_the_words_on_request(page):
    show_file(page, TAGGED)
    assert page.locator(".tree .value").count() == 0
    page.select_option("#columns", "upos,lemma")
    (latin, hebrew, _) = parse_conllu(TAGGED.read_text(encoding="utf-8"))
    assert rows_shown(page) == {"upos": latin.upos, "lemma": latin.column(LEMMA), "plane 1": [], "plane 2": []}
    page.select_option("#columns", "upos,lemma,feats")
    rows = rows_shown(page)
    assert list(rows) == [
        *("upos", "lemma", "Case", "Gender", "Mood", "Number", "Person", "Tense", "VerbForm", "Voice"),
        *("plane 1", "plane 2"),
    ]
    assert rows["Case"] == ["Abl", "Nom", "Gen", "Abl", "Acc", "Acc"]
    page.click("#sentences-next")
    assert rows_shown(page)["lemma"] == hebrew.column(LEMMA)[::-1]
    page.click("#details summary")
    heads, cells = page.locator("#table th").all_text_contents(), page.locator("#table tbody tr").nth(1)
    assert dict(zip(heads, cells.locator("td").all_text_contents(), strict=True))["Gender"] == "Fem,Masc"
    page.select_option("#columns", "")
    assert page.locator(".tree .value").count() == 0


def test_downloaded_pictures_have_the_same_columns(page):
    show_file(page, TAGGED)
    page.select_option("#columns", "upos,lemma")
    drawn = ElementTree.fromstring(saved(page, "#save-svg"))
    assert {"lemma", "magnus", "ADJ"} <= {node.text for node in drawn.iter()}


def test_other_columns_are_no_reason_to_parse_again(page):
    type_text(page, "Nobody came.", ["Nobody", "came", "."])
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.locator(".choice").nth(1).click()
    page.select_option("#columns", "upos,lemma,feats")
    expect(page.locator(".choice input").nth(1)).to_be_checked()
    page.wait_for_timeout(300)
    assert not any("api" in url for url in requests)
    page.reload()
    page.wait_for_selector("body[data-ready=yes]")
    assert page.input_value("#columns") == "upos,lemma,feats"


def test_predicted_tags_are_there_without_another_request(tagging_page):
    page = tagging_page
    type_text(page, "The cat sleeps", ["The", "cat", "sleeps"])
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.select_option("#columns", "upos,lemma,feats")
    rows = rows_shown(page)
    assert (rows["upos"], rows["lemma"]) == (["DET", "NOUN", "VERB"], ["the", "cat", "sleep"])
    assert (rows["Number"], rows["Mood"]) == (["Sing"], ["Ind"])
    expect(page.locator("#no-columns")).to_be_hidden()
    page.click("#details summary")
    heads, cells = page.locator("#table th").all_text_contents(), page.locator("#table tbody tr").nth(2)
    row = dict(zip(heads, cells.locator("td").all_text_contents(), strict=True))
    assert (row["word"], row["upos"], row["lemma"], row["VerbForm"]) == ("sleeps", "VERB", "sleep", "Fin")
    page.locator(".choice").nth(1).click()
    assert rows_shown(page)["upos"] == ["DET", "NOUN", "VERB"]
    assert not any("api" in url for url in requests)
    drawn = ElementTree.fromstring(saved(page, "#save-svg"))
    assert {"lemma", "sleep", "VERB"} <= {node.text for node in drawn.iter()}
    assert "\tsleep\tVERB\tve\tMood=Ind|VerbForm=Fin\t" in saved(page, "#save-conllu").decode()


def test_words_without_tags_are_told_of(page):
    show_file(page, Sentence.from_words(["Go", "on"]).with_tree(Tree((0, 1), ("root", "advmod"))).to_conllu())
    expect(page.locator("#no-columns")).to_be_hidden()
    page.select_option("#columns", "upos,lemma")
    expect(page.locator("#no-columns")).to_be_visible()
    assert page.locator(".tree .value").count() == 0


def test_rows_are_those_of_drawings(page):
    """The page draws by itself; it must not show other rows than `biplanar draw`."""
    random = Random(7)
    texts = [random_sentence(random, 4).with_columns(random_tags(random, 4)).raw for _ in range(50)]
    names = ["lemma", "feats", "upos", "xpos"]
    code = (
        "return argument.texts.map((text) => m.columnRows(text, argument.names).map((row) => [row.name, row.values]));"
    )
    for text, rows in zip(texts, imported(page, "columns.js", code, {"texts": texts, "names": names}), strict=True):
        (sentence,) = parse_conllu(text)
        assert rows == [[name, list(row)] for name, row in column_rows(columns_of(sentence, names)).items()]


def test_columns_lie_over_nothing(page):
    random = Random(6)
    content = "".join(
        random_sentence(random, size).with_columns(random_tags(random, size)).raw for size in (1, 3, 8, 21)
    )
    show_file(page, content + TAGGED.read_text(encoding="utf-8"))
    page.select_option("#columns", "upos,lemma,feats")
    for _ in range(7):
        assert page.locator(".tree .value").count()
        assert overlaps(page) == []
        if page.locator("#sentences-next").is_enabled():
            page.click("#sentences-next")


def random_tags(random: Random, size: int) -> dict[int, list[str]]:
    values = {
        UPOS: ["NOUN", "X"],
        LEMMA: ["_", "a", "counterrevolutionary" * 2],
        FEATS: ["_", "Case=Nom", "Case=A,B|Number=Sing|NumType=Card"],
    }
    return {column: random.choices(some, k=size) for column, some in values.items()}


# The decoding


@pytest.mark.parametrize("encoding", ["", "2p-greedy", "2p-prop-switch", "rel-pos", "absolute", "relative"])
def test_stepping_through_the_decoding_ends_in_the_same_tree(page, encoding):
    show_file(page, CROSSING)
    choose(page, "#encoding", encoding)
    for sentence in parse_conllu(CROSSING.read_text(encoding="utf-8")):
        expect(page.locator(".tree .form")).to_have_text(list(sentence.forms))
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
    assert "they cannot say the dashed ones" in page.locator(".story").text_content()
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
    assert page.locator(".word.current").get_attribute("data-word") == "2"


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
        assert page.locator(".word.current").get_attribute("data-word") == str(step.part.word)
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
    page.locator(".bracket[data-bracket='1.1.3']").hover()
    assert set(page.locator(".arc.lit").evaluate_all("all => all.map(e => e.dataset.arc)")) == {"1-2", "1-3", "1-4"}
    assert page.locator("#fact").text_content().count(" of Give") == 3


def test_lifted_arcs_are_found_out(page):
    show_file(page, CROSSING)
    choose(page, "#encoding", "hexatags")
    page.click("[aria-label='To the end']")
    assert "they cannot say the dashed ones" in page.locator(".story").text_content()
    assert page.locator(".tree .lost").count() > 0


def test_the_decoding_plays_by_itself_and_pauses(page):
    page.get_by_role("button", name="Play").click()
    expect(page.locator(".replay .count")).to_have_text(re.compile(r"^2 / "))
    page.get_by_role("button", name="Pause").click()
    shown = page.locator(".replay .count").text_content()
    page.wait_for_timeout(1200)
    assert page.locator(".replay .count").text_content() == shown
    assert page.get_by_role("button", name="Play").is_visible()


def test_brackets_match_as_in_the_library(page):
    random = Random(3)
    cases = [
        [["".join(random.choices(SIGNS + "_x", k=random.randrange(5))) for _ in range(2)] for _ in range(size)]
        for size in [random.randrange(1, 12) for _ in range(400)]
    ]
    code = """return argument.map((labels) => {
        const steps = m.bracketSteps(labels);
        const { arcs } = m.stateAfter(steps, steps.length, { words: labels.length, planes: 2 });
        if (steps.some((step) => step.arc?.dependent === 0)) throw new Error("the dummy root got a head");
        return arcs.map((arc) => arc ? arc.head : -1);
    });"""
    brackets = get_encoding("2p-full")
    for rows, found in zip(cases, imported(page, "brackets.js", code, cases), strict=True):
        columns = [Column.of(row[task] for row in rows) for task in range(2)]
        assert found == brackets.decode(columns, np.array([0, len(rows)])).tolist(), rows


def test_positions_are_found_as_in_the_library(page):
    random = Random(4)
    labels = ["-1@ROOT", "+1@ROOT", "+1@NOUN", "-2@VERB", "+0@NOUN", "+3@VERB", "-1@", "@", "²", "", "x"]
    labels += [*map(str, range(-9, 10)), "+1", "+2", "+9", "0000000001", "1e3", " 1"]
    sizes = [random.randrange(1, 9) for _ in range(300)]
    cases = [
        {"labels": random.choices(labels, k=size), "upos": random.choices(["NOUN", "VERB", "_", ""], k=size)}
        for size in sizes
    ]
    code = """return argument.cases.map(({ labels, upos }) => labels.map((label, at) =>
        m.assertedHead(argument.encoding, label, at + 1, { words: labels.length, upos })));"""
    for encoding in ("rel-pos", "absolute", "relative"):
        answer = imported(page, "positions.js", code, {"encoding": encoding, "cases": cases})
        for case, found in zip(cases, answer, strict=True):
            columns, offsets = [Column.of(case["labels"])], np.array([0, len(found)])
            assert found == get_encoding(encoding).decode(columns, offsets, Column.of(case["upos"])).tolist(), case


# Files


def test_a_file_is_paged_through_and_filtered(page):
    show_file(
        page,
        CROSSING.read_text(encoding="utf-8") + Sentence.from_words(["Hi"]).with_tree(Tree((0,), ("root",))).to_conllu(),
    )
    expect(page.locator("#sentences-list li")).to_have_count(4)
    assert page.locator("#sentences-filter-count").text_content() == "3"
    page.click("#sentences-next")
    expect(page.locator(".tree .form").first).to_have_text("Er")
    page.fill("#sentences-number", "4")
    page.press("#sentences-number", "Enter")
    expect(page.locator(".tree .form")).to_have_text(["Hi"])
    assert page.locator("#sentences-next").is_disabled()
    page.check("#sentences-filter")
    expect(page.locator("#sentences-list li")).to_have_count(3)
    assert page.locator("#sentences-list .badge").count() == 3
    expect(page.locator(".tree .form").first).to_have_text("Magno")


def test_a_file_without_crossing_arcs_filtered_to_nothing(page):
    tree = Sentence.from_words(["Go", "on"]).with_tree(Tree((0, 1), ("root", "advmod"))).to_conllu()
    show_file(page, tree * 2)
    page.check("#sentences-filter")
    expect(page.locator("#none")).to_be_visible()
    expect(page.locator("#sentence")).to_be_hidden()
    page.uncheck("#sentences-filter")
    expect(page.locator(".tree .form")).to_have_text(["Go", "on"])


def test_the_words_of_a_file_are_parsed_anew(page, parser):
    show_file(page, CROSSING)
    page.get_by_label("parse its words anew").check()
    idle(page)
    (parsed,) = parser([list(next(iter(parse_conllu(CROSSING.read_text(encoding="utf-8")))).forms)])
    assert arcs_shown(page) == arcs_of(parsed.tree)


def test_a_long_file_comes_in_pieces(page):
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
    expect(page.locator(".tree .form").last).to_have_text("works")


def test_a_file_with_a_fault_is_refused_with_its_place(page):
    page.allowed.append("status of 400")  # the browser's own report
    page.click("#tab-file")
    page.set_input_files("#file", {"name": "bad.conllu", "mimeType": "text/plain", "buffer": b"1\tonly\tthree\n\n"})
    expect(page.locator("#error")).to_contain_text("expected 10 columns")
    page.set_input_files("#file", {"name": "empty.conllu", "mimeType": "text/plain", "buffer": b"\n\n"})
    expect(page.locator("#error")).to_have_text("empty.conllu: expected sentences in CoNLL-U, found none")
    page.set_input_files("#file", CROSSING)
    expect(page.locator("#error")).to_be_hidden()


def test_a_tree_that_labels_cannot_say_is_drawn_without(page):
    two_roots = Sentence.from_words(["Go", "on"]).with_tree(Tree((0, 0), ("root", "root")))
    show_file(page, two_roots.to_conllu())
    assert arcs_shown(page) == {"0-1", "0-2"}
    assert page.locator(".replay").count() == 0
    assert "cannot say this tree" in page.locator("#replay").text_content()


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
    expect(page.locator(".tree .form")).to_have_text(["Nobody", "came", "."])
    idle(page)
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate("() => document.activeElement.className") == "picture":
            break
    page.keyboard.press("ArrowRight")
    expect(page.locator("#fact")).to_have_text(re.compile("^Nobody: nsubj of came"))
    assert page.locator("[aria-selected=true].word").get_attribute("data-word") == "1"
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
    page.tap(".word[data-word='1'] .form")
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
        .filter((e) => !e.closest(":disabled, noscript, .label.none"))
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
