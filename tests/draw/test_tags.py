"""Columns of CoNLL-U under the words, in every kind of picture."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from biplanar.data.conllu import FEATS, LEMMA, UPOS, XPOS, Sentence, read_conllu
from biplanar.data.tree import Tree
from biplanar.draw import (
    Entry,
    columns_of,
    draw_comparison,
    draw_page,
    draw_sentence,
    draw_sentences,
    draw_svg,
    draw_tree,
)
from biplanar.draw.layout import COLUMNS, column_rows, compared_columns
from biplanar.draw.svg import to_svg
from biplanar.errors import LabelError, UnknownNameError
from tests.draw.pictures import SVG, boxes, outside, overlaps, parse, struck_through
from tests.draw.test_svg import anything, words
from tests.paths import ROOT

LATIN, HEBREW, JAPANESE = read_conllu(ROOT / "examples" / "tagged.conllu")
MISREAD_LATIN, *_ = read_conllu(ROOT / "examples" / "tagged-parsed.conllu")
EVERY = list(COLUMNS)
SMALL = Sentence.from_words(["He", "sees", "them"], Tree((2, 0, 2), ("nsubj", "root", "obj"))).with_columns(
    {
        UPOS: ["PRON", "VERB", "PRON"],
        XPOS: ["_", "_", "_"],
        FEATS: ["Case=Nom|Number=Sing", "_", "Case=Acc|Number=Plur"],
        LEMMA: ["he", "see", "_"],
    }
)

tags = st.sampled_from(["_", "NOUN", "X" * 60, "$.", "名詞-普通名詞", "שָׁלוֹם", "a b"])
feats = st.sampled_from(
    ["_", "Case=Nom", "Case=Acc|Number[psor]=Sing", "Number=Plur|Case=Nom", "Case", "=", "|", "A=B=C"]
)


@st.composite
def tagged(draw: st.DrawFn) -> tuple[list[str], Tree, dict[str, list[str]]]:
    """Words of all scripts, a tree, and columns of all kinds of values in any order."""
    tree = draw(anything)
    size = {"min_size": len(tree), "max_size": len(tree)}
    names = draw(st.lists(st.sampled_from(EVERY), unique=True))
    columns = {name: draw(st.lists(feats if name == "feats" else tags, **size)) for name in names}
    return draw(st.lists(words, **size)), tree, columns


class TestRows:
    def test_columns_by_their_names(self):
        assert columns_of(SMALL, ["lemma", "upos"]) == {"lemma": ["he", "see", "_"], "upos": ["PRON", "VERB", "PRON"]}
        with pytest.raises(UnknownNameError, match=r"unknown column 'upo'; did you mean 'upos'\? \(known: upos, xpos"):
            columns_of(SMALL, ["upo"])

    def test_a_row_for_each_feature_and_none_for_what_is_empty(self):
        assert list(column_rows(columns_of(SMALL, ["lemma", "feats", "xpos", "upos"])).items()) == [
            ("lemma", ("he", "see", "")),
            ("Case", ("Nom", "", "Acc")),
            ("Number", ("Sing", "", "Plur")),
            ("upos", ("PRON", "VERB", "PRON")),
        ]

    def test_features_as_they_are_written(self):
        rows = column_rows(columns_of(SMALL, ["feats"]), whole_feats=True)
        assert rows == {"feats": ("Case=Nom|Number=Sing", "", "Case=Acc|Number=Plur")}

    def test_gold_and_system(self):
        gold = {"upos": ["NOUN", "_", "X"], "feats": ["Case=Nom|Number=Sing", "_", "_"]}
        system = {"upos": ["NOUN", "VERB", "_"], "feats": ["Case=Acc|Number=Sing", "Case=Nom", "_"]}
        assert compared_columns(gold, system) == {
            "upos": ["NOUN", "_ vs VERB", "X vs _"],
            "feats": ["Case=Nom vs Acc|Number=Sing", "Case=_ vs Nom", "_"],
        }


class TestTerminal:
    def test_across(self):
        assert Entry(1, SMALL).lines(columns=["upos", "feats", "lemma"]).split("\n") == [
            "                 root",
            "         ┌─nsubj─┐│┌─obj─┐",
            "         ▼       │▼│     ▼",
            "         He      sees   them",
            "upos    PRON     VERB   PRON",
            "Case    Nom             Acc",
            "Number  Sing            Plur",
            "lemma    he      see",
        ]

    def test_down_the_page(self):
        assert Entry(1, LATIN).lines(columns=["feats", "upos", "lemma"], width=56).split("\n") == [
            "                            upos   lemma    feats",
            "  ┌──▶ Magno         amod   ADJ    magnus   Case=Abl|Ge…",
            "  │    puer ◀─────┐  nsubj  NOUN   puer     Case=Nom|Ge…",
            "  │    fratris ◀┐ │  nmod   NOUN   frater   Case=Gen|Ge…",
            "  │ ┌▶ cum      │ │  case   ADP    cum",
            "┌▶┴─┴─ gaudio   │ │  obl    NOUN   gaudium  Case=Abl|Ge…",
            "│   ┌▶ novum    │ │  amod   ADJ    novus    Case=Acc|Ge…",
            "│ ┌▶┴─ librum ──┘ │  obj    NOUN   liber    Case=Acc|Ge…",
            "└─┴─┬● legit ─────┘  root   VERB   lego     Mood=Ind|Nu…",
            "    └▶ .             punct  PUNCT  .",
        ]

    def test_features_are_cut_before_arcs_give_way(self):
        full, narrow = (Entry(1, LATIN).lines(columns=["feats"], width=width).split("\n") for width in (70, 46))
        assert "Case=Abl|Gender=Neut|Number=Sing" in full[1]
        arcs = [line.partition("amod")[0] for line in full[1:]]
        assert arcs[0] == narrow[1].partition("amod")[0]
        assert narrow[1].endswith("…")
        assert all(cell_len(line) <= 46 for line in narrow)

    def test_wide_characters_stand_under_their_words(self):
        *_, forms, lemmas = Entry(1, JAPANESE).lines(columns=["lemma"]).split("\n")
        for form, lemma in (("手紙", "手紙"), ("書い", "書く")):
            assert cell_len(forms[: forms.index(form)]) == cell_len(lemmas[: lemmas.index(lemma)])

    def test_words_from_right_to_left_stay_in_their_places(self):
        drawn = Entry(1, HEBREW).lines(columns=["lemma", "upos"])
        assert all(f"\u200e{lemma}\u200e" in drawn for lemma in ("ילד", "קרא", "גינה"))
        assert "\u200eNOUN" not in drawn

    def test_labels_come_last(self):
        lines = Entry(1, LATIN).lines("2p-full", columns=["upos"]).split("\n")
        names = [line.split()[0] for line in lines]
        assert names.index("upos") < names.index("plane1") < names.index("plane2")

    def test_what_a_system_has_instead(self):
        drawn = Entry(1, LATIN, MISREAD_LATIN).lines(columns=["upos", "feats", "lemma"])
        assert re.search(r"^upos +ADJ vs NOUN +NOUN ", drawn, re.MULTILINE)
        assert re.search(r"^Case +Abl vs Dat ", drawn, re.MULTILINE)
        assert re.search(r"^system ", drawn, re.MULTILINE)

    @given(tagged(), st.sampled_from([None, 0, 20, 60]))
    def test_any_values_are_taken(self, picture, width):
        forms, tree, columns = picture
        lines = draw_tree(forms, tree, columns=columns, width=width).split("\n")
        assert width is None or all(cell_len(line) <= width for line in lines)

    def test_a_value_for_each_word(self):
        with pytest.raises(LabelError, match="upos: 1 "):
            draw_tree(SMALL.forms, SMALL.tree, columns={"upos": ["X"]})


class TestSvg:
    def test_values_stand_under_their_words(self):
        found = boxes(draw_sentence(LATIN, columns=EVERY))
        for row in LATIN.words:
            (form,) = [box for box in found if box.text == row.form and box.size == 16]
            under = [box.text for box in found if box.top > form.top and abs(box.middle - form.middle) <= 1]
            values = {row.lemma, row.upos, row.xpos, *re.findall(r"=([^|]+)", row.feats)} - {"_"}
            assert values <= set(under)

    def test_rows_have_names_in_the_order_that_was_asked_for(self):
        found = boxes(draw_sentence(SMALL, columns=["lemma", "feats", "upos", "xpos"], encoding="2p-full"))
        left = min(box.left for box in found)
        names = [box.text for box in sorted(found, key=lambda box: box.top) if box.left == left]
        assert names == ["lemma", "Case", "Number", "upos", "plane1", "plane2"]

    def test_nothing_is_shown_for_what_is_empty(self):
        texts = [box.text for box in boxes(draw_sentence(SMALL, columns=EVERY))]
        assert "_" not in texts
        assert "" not in texts

    def test_only_lemmas_are_of_the_words_script(self):
        svg = parse(draw_sentence(HEBREW.with_columns({XPOS: ["$."] * len(HEBREW)}), columns=EVERY))
        directions = {
            group[0].text: group.attrib.get("direction") for group in svg.iter(f"{SVG}g") if _holds_text(group)
        }
        assert {text: directions[text] for text in ("הילדים", "ילד", "NOUN", "$.", "lemma", "Gender")} == {
            **dict.fromkeys(("הילדים", "ילד"), "rtl"),
            **dict.fromkeys(("NOUN", "$.", "lemma", "Gender"), "ltr"),
        }

    def test_labels_are_not_turned_by_a_page_from_right_to_left(self):
        svg = parse(draw_sentence(HEBREW, encoding="2p-full"))
        groups = [group for group in svg.iter(f"{SVG}g") if _holds_text(group) and group[0].text in ("_", "<\\")]
        assert {group.attrib["direction"] for group in groups} == {"ltr"}

    def test_compared_trees(self):
        texts = {box.text for box in boxes(to_svg([Entry(1, LATIN, MISREAD_LATIN).canvas(columns=EVERY)]))}
        assert {"ADJ vs NOUN", "magnus vs magnum", "Abl vs Dat", "gold", "system"} <= texts

    def test_without_columns_nothing_changes(self):
        assert draw_sentence(LATIN, columns=()) == draw_sentence(LATIN) == draw_svg(LATIN.forms, LATIN.tree)
        assert draw_sentences([LATIN], columns=["xpos"]) != draw_sentences([LATIN])

    @given(tagged(), st.sampled_from([None, True]), st.booleans())
    def test_nothing_lies_over_text(self, picture, right_to_left, compared):
        forms, tree, columns = picture
        if compared:
            svg = draw_comparison(forms, tree, tree, columns=columns, right_to_left=right_to_left)
        else:
            svg = draw_svg(forms, tree, columns=columns, labels={"plane1": forms}, right_to_left=right_to_left)
        assert overlaps(svg) == []
        assert struck_through(svg) == []
        assert outside(svg) == []


def _holds_text(group: ElementTree.Element) -> bool:
    return len(group) > 0 and group[0].tag == f"{SVG}text"


def test_a_page():
    text = "".join(draw_page([Entry(1, HEBREW), Entry(2, LATIN, MISREAD_LATIN)], columns=["upos", "feats"]))
    assert ">Fem,Masc</text>" in text
    assert ">Abl vs Dat</text>" in text
    assert "magnus" not in text
