"""Text as units."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biplanar.tokenizer.units import Units


@pytest.mark.parametrize(
    ("text", "forms"),
    [
        ("I can't go.", ["¶⇧i", "▁can", "'", "t", "▁go", "."]),
        ("It's 5PM,\nok?", ["¶⇧it", "'", "s", "▁0", "⇪pm", ",", "↵ok", "?"]),
        ("Το ΝΑΤΟ, McDonald", ["¶⇧το", "▁⇪νατο", ",", "▁McDonald"]),
        ("a  \t b\r\nc\u2028d", ["¶a", "▁b", "↵c", "↵d"]),
        ("猫が abc", ["¶猫", "が", "▁abc"]),
        ("ภาษา", ["¶ภ", "า", "ษ", "า"]),
        ("한국어 문장", ["¶한국어", "▁문장"]),
        ("e\u0301te\u0301 x\u200dy", ["¶e\u0301te\u0301", "▁x\u200dy"]),
        ("3½ m²", ["¶0½", "▁m", "²"]),
        ("👍🏽!", ["¶👍", "🏽", "!"]),
        ("", []),
        (" \n", []),
    ],
)
def test_what_units_are(text, forms):
    units = Units.of([text])
    assert [units.forms[number] for number in units.numbers] == forms
    assert len(set(units.forms)) == len(units.forms)


def test_numbers_have_the_same_form_whatever_their_digits():
    assert sorted(Units.of(["1 23 45 6"]).forms) == ["¶0", "▁0", "▁00"]


def test_forms_may_be_as_they_are_written():
    assert sorted(Units.of(["A NATO act"], case_marks=False).forms) == ["¶A", "▁NATO", "▁act"]


def test_paragraphs_begin_units_of_their_own():
    units = Units.of(["ab", "cd\n\n", " \n", "ef"])
    assert [units.forms[number] for number in units.numbers] == ["¶ab", "¶cd", "¶ef"]
    assert units.offsets.tolist() == [0, 1, 2, 2, 3]
    assert (units.starts.tolist(), units.ends.tolist()) == ([0, 2, 8], [2, 4, 10])


@given(st.lists(st.text(max_size=30), max_size=5))
def test_units_are_all_of_a_text_but_white_space(paragraphs):
    units, text = Units.of(paragraphs), "".join(paragraphs)
    places = list(zip(units.starts.tolist(), units.ends.tolist(), strict=True))
    assert "".join(text[start:end] for start, end in places) == "".join(text.split())
    assert all(start < end for start, end in places)
    assert places == sorted(places)
