"""The picture at the top of README is the one that its script draws."""

from __future__ import annotations

from xml.etree import ElementTree

import biplanar
from biplanar.draw import image_of
from tests.docs.pictures import CONLLU, NAME, overview
from tests.paths import ROOT

STORED = ROOT / "docs" / "images" / NAME


def test_it_is_what_the_script_draws() -> None:
    assert STORED.read_bytes() == image_of(overview(), ".svg"), "python -m tests.docs.pictures docs/images"


def test_it_shows_the_text_its_labels_and_its_graph() -> None:
    (sentence,) = biplanar.parse_conllu(CONLLU)
    texts = [element.text for element in ElementTree.fromstring(overview()).iter("{http://www.w3.org/2000/svg}text")]
    assert sentence.text in texts
    labels = [label for row in biplanar.encode(sentence.tree, "2p-full") for label in row]
    assert all(texts.count(label) >= labels.count(label) for label in labels)
    assert all(relation in texts for word in sentence for _, relation in word.enhanced_heads)
    assert all(texts.count(form) >= 2 for form in sentence.forms)


def test_it_is_at_the_top_of_both_front_pages() -> None:
    for page, path in (("README.md", "docs/images"), ("docs/index.md", "images")):
        first = (ROOT / page).read_text(encoding="utf-8").partition("![")[2]
        assert first.partition("](")[2].startswith(f"{path}/{NAME})")
