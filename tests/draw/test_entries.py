"""Sentences as entries of a file, what they show, and the page that shows them all."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree import ElementTree

import pytest

from biplanar.data.conllu import Sentence
from biplanar.data.tree import Tree
from biplanar.decoding.labels import encode
from biplanar.draw import Entry, draw_page, draw_sentence, draw_sentences
from biplanar.draw.svg import DARK, LIGHT
from biplanar.errors import FormatError, UnknownNameError
from tests.draw.pictures import arcs, boxes
from tests.draw.test_svg import ARABIC, ARABIC_WORDS, LATIN, LATIN_WORDS

SENTENCE = Sentence.from_words(
    LATIN_WORDS, LATIN, comments=["# sent_id = latin-1", "# text = Magno puer fratris cum gaudio novum librum legit."]
)
MISPARSED = SENTENCE.with_tree(Tree((2, *LATIN.heads[1:]), (*LATIN.deprels[:-1], "dep")))
TURNED = Sentence.from_words(ARABIC_WORDS, ARABIC)
EVIL = Sentence.from_words(
    ["<script>alert(1)</script>", "&"],
    Tree((0, 1), ("root", "</text><a onclick='x'>")),
    comments=["# sent_id = <img src=x onerror=alert(1)>", "# text = <script>alert(1)</script>&"],
)
TWO_ROOTS = Sentence.from_words(["a", "b"], Tree((0, 0), ("root", "root")))


class TestEntry:
    def test_names_and_texts(self):
        assert Entry(3, SENTENCE).name == "latin-1"
        assert Entry(3, SENTENCE).text == "Magno puer fratris cum gaudio novum librum legit."
        assert (Entry(3, TWO_ROOTS).name, Entry(3, TWO_ROOTS).text) == ("sentence 3", "a b")

    def test_notes(self):
        assert Entry(1, SENTENCE).note == "9 words, 4 crossing arcs"
        over_the_root = Sentence.from_words(["a", "b", "c"], Tree((2, 0, 1), ("x", "root", "y")))
        assert Entry(1, over_the_root).note == "3 words, 2 crossing arcs"
        assert Entry(1, SENTENCE, MISPARSED).note == "9 words, 1 wrong head, 1 wrong relation"

    def test_what_a_system_has_instead_in_the_terminal(self):
        lines = Entry(1, SENTENCE, MISPARSED).lines().split("\n")
        assert re.fullmatch(r"system +amod ← puer +dep", next(line for line in lines if line.startswith("system")))

    def test_labels_in_the_terminal(self):
        assert re.search(r"^plane1 .*\\", Entry(1, SENTENCE).lines("2p-prop"), re.MULTILINE)


class TestLabels:
    @pytest.mark.parametrize("encoding", ["1p-brackets", "2p-prop", "2p-full", "absolute"])
    def test_they_stand_under_the_words(self, encoding):
        rows = encode(LATIN, encoding)
        shown = [box.text for box in boxes(draw_sentence(SENTENCE, encoding=encoding))]
        for task in range(len(rows[0]) - 1):
            assert all(row[task] in shown for row in rows)

    @pytest.mark.parametrize(("encoding", "below"), [("1p-brackets", 0), ("2p-full", 0), ("2p-prop", 1), (None, 1)])
    def test_planes_are_those_of_the_encoding(self, encoding, below):
        """A left arc and a right arc that cross: these may share a plane of `2p-full`."""
        sentence = Sentence.from_words(list("abcd"), Tree((3, 3, 0, 2), ("x", "y", "root", "z")))
        assert sum(not arc.is_above for arc in arcs(draw_sentence(sentence, encoding=encoding))) == below

    @pytest.mark.parametrize(("encoding", "below"), [("7-bit-full", 0), ("7-bit", 2), (None, 1)])
    def test_planes_of_bits(self, encoding, below):
        """A left arc that crosses two right ones: `7-bit-full` keeps only arcs of one direction apart."""
        sentence = Sentence.from_words(list("abcde"), Tree((0, 4, 1, 5, 3), ("root", "v", "x", "y", "z")))
        assert sum(not arc.is_above for arc in arcs(draw_sentence(sentence, encoding=encoding))) == below

    def test_tags_are_taken_where_they_are_needed(self):
        tagged = Sentence.from_words(["a", "b"], Tree((0, 1), ("root", "x")), upos=["VERB", "NOUN"])
        assert "-1@VERB" in {box.text for box in boxes(draw_sentence(tagged, encoding="rel-pos"))}

    def test_tags_that_are_missing(self):
        untagged = Sentence.from_words(["a", "b"], Tree((0, 1), ("root", "x")), upos=["VERB", "_"])
        with pytest.raises(FormatError, match=r"^<words>:2: rel-pos needs part-of-speech tags"):
            draw_sentence(untagged, encoding="rel-pos")

    @pytest.mark.parametrize("encoding", ["2p-full", "7-bit", "7-bit-full"])
    def test_a_tree_that_the_encoding_cannot_take(self, encoding):
        with pytest.raises(FormatError, match=r"^<words>:1: .*root"):
            draw_sentence(TWO_ROOTS, encoding=encoding)
        draw_sentence(TWO_ROOTS)

    def test_an_unknown_encoding(self):
        with pytest.raises(UnknownNameError, match="unknown encoding '2p-ful'; did you mean '2p-full'"):
            draw_sentence(SENTENCE, encoding="2p-ful")


def test_sentences_on_one_sheet():
    svg = draw_sentences([SENTENCE, TURNED], theme="light")
    assert len(arcs(svg)) == len(SENTENCE) + len(TURNED)
    assert "bp-light" in svg


def page(*entries: Entry, **options: str) -> ElementTree.Element:
    """A page, which is XML as well as HTML."""
    text = "".join(draw_page(entries, **options))
    assert text.startswith("<!DOCTYPE html>\n<html")
    return ElementTree.fromstring(text.removeprefix("<!DOCTYPE html>"))


class TestPage:
    def test_a_picture_for_each_and_a_list_of_all(self):
        root = page(Entry(1, SENTENCE), Entry(7, TURNED), title="Two & more")
        sections = root.findall(".//section")
        assert [section.attrib["id"] for section in sections] == ["s1", "s7"]
        assert [link.attrib["href"] for link in root.findall(".//nav//a")] == ["#s1", "#s7"]
        assert root.find("head/title").text == "Two & more"
        assert [div.attrib["dir"] for div in root.findall(".//section/div")] == ["ltr", "rtl"]
        pictures = root.findall(".//section/div/{http://www.w3.org/2000/svg}svg")
        assert [len(list(picture.iter("{http://www.w3.org/2000/svg}title"))) for picture in pictures] == [9, 5]

    def test_nothing_comes_from_outside_and_nothing_runs(self):
        root = page(Entry(1, EVIL), title="<script>")
        tags = {node.tag.rpartition("}")[2] for node in root.iter()}
        assert not tags & {"script", "img", "link", "iframe", "object", "image", "use", "foreignObject"}
        attributes = {(name, value) for node in root.iter() for name, value in node.attrib.items()}
        assert not any(name.startswith("on") or name in ("src", "srcdoc") for name, _ in attributes)
        assert all(value.startswith("#s") for name, value in attributes if name == "href")
        assert "url(" not in root.find("head/style").text
        policy = root.find("head/meta[@http-equiv='Content-Security-Policy']").attrib["content"]
        assert policy.startswith("default-src 'none'")
        assert {"<script>alert(1)</script>", "<script>alert(1)</script>&"} <= {node.text for node in root.iter()}

    def test_compared_sentences(self):
        text = "".join(draw_page([Entry(1, SENTENCE, MISPARSED)]))
        assert "stroke-dasharray" in text
        assert "gold arc that the system misses" in text
        assert "plane 1, above" not in text

    def test_labels(self):
        assert "plane2" in "".join(draw_page([Entry(1, SENTENCE)], encoding="2p-full"))

    @pytest.mark.parametrize(
        ("theme", "scheme", "colours"),
        [("light", "light", [LIGHT]), ("dark", "dark", [DARK]), ("auto", "light dark", [LIGHT, DARK])],
    )
    def test_themes(self, theme, scheme, colours):
        style = page(Entry(1, SENTENCE), theme=theme).find("head/style").text
        assert f":root{{color-scheme:{scheme}}}" in style
        assert re.findall(r"body\{background:(#\w+)", style) == [palette.paper for palette in colours]

    def test_the_style_stands_on_the_page_once(self):
        text = "".join(draw_page([Entry(1, SENTENCE), Entry(2, TURNED)]))
        assert text.count("<style>") == 1
        assert text.count(".bp-auto .bp-two{") == 1

    def test_no_sentences(self):
        assert page().findall(".//section") == []

    def test_it_is_made_piece_by_piece(self):
        taken = []

        def entries() -> Iterator[Entry]:
            for number in range(1, 4):
                taken.append(number)
                yield Entry(number, SENTENCE)

        pieces = draw_page(entries())
        while 'id="s1"' not in next(pieces):
            assert len(taken) <= 1
        assert taken == [1]
