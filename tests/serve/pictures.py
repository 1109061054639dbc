"""Take the pictures of the page that are in the docs, with the bundled model.

python -m tests.serve.pictures docs/images
"""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

from PIL import Image

from biplanar.data.conllu import Sentence
from biplanar.data.tree import Tree
from biplanar.serve.models import Models
from tests.serve.conftest import serving
from tests.serve.test_page import PHONE, choose, idle, launched, opened

HEARING = "A hearing is scheduled on the issue today."
NOBODY, CAR = "Nobody came .", "I bought a car yesterday that I like ."
CAR_RELATIONS = "nsubj root det obj obl:tmod obj nsubj acl:relcl punct"
DARK = {"color_scheme": "dark"}
COLOURS = 256


def sentence(words: str, heads: tuple[int, ...], relations: str) -> str:
    """As CoNLL-U."""
    tree = Tree(heads, tuple(relations.split()))
    return Sentence.from_words(words.split()).with_tree(tree).to_conllu()


def columns(page: Any) -> None:
    """Tags, lemmas and features under the words."""
    choose(page, "#columns", "upos,lemma,feats")


def tree(page: Any) -> None:
    """A file; the pointer is at a bracket of the second plane."""
    page.click("#tab-file")
    page.click("#file-example")
    page.wait_for_selector("#sentences-list li")
    idle(page)
    page.locator("[data-sign^='3.2']").first.hover()


def replay(page: Any) -> None:
    """The middle of the decoding, where an arc in the second plane has been found."""
    page.click("[aria-label='Back to the start']")
    while not page.locator(".bp-arc[data-plane='2']").first.is_visible():
        page.click("[aria-label='One step on']")


def compare(page: Any) -> None:
    """Two sentences; the system's second tree has no crossing arcs."""
    page.click("#tab-compare")
    for name, head in (("gold", 4), ("system", 2)):
        heads = (2, 0, 4, 2, 2, 8, 8, head, 2)
        page.fill(f"#{name}", sentence(NOBODY, (2, 0, 2), "nsubj root punct") + sentence(CAR, heads, CAR_RELATIONS))
    page.click("#compare")
    page.wait_for_selector("#pairs-list li")
    page.fill("#pairs-number", "2")
    page.press("#pairs-number", "Enter")
    idle(page)


def phone(page: Any) -> None:
    """The same on a phone."""
    tree(page)
    page.evaluate("document.querySelector('#sentences-bar').scrollIntoView()")


PICTURES: dict[str, tuple[Any, dict[str, Any]]] = {
    "columns": (columns, {}),
    "tree": (tree, {}),
    "replay": (replay, DARK),
    "compare": (compare, {}),
    "phone": (phone, PHONE),
}


def main(folder: Path) -> None:
    """Take all pictures."""
    with serving(Models.load([])) as server, launched() as browser:
        for name, (prepare, settings) in PICTURES.items():
            with opened(browser, f"{server.address}/", settings) as page:
                page.fill("#text", HEARING)
                page.wait_for_timeout(1500)
                idle(page)
                prepare(page)
                page.wait_for_timeout(500)  # colours change slowly
                taken = Image.open(io.BytesIO(page.screenshot(full_page=settings is not PHONE)))
                taken.quantize(COLOURS).save(folder / f"page-{name}.png", optimize=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
