"""Rules that make words of multiword tokens."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biplanar.errors import LabelError
from biplanar.tokenizer.multiword import MultiwordTokens, rule_of, words_of

WORDS = st.text("abcdé'-", min_size=1, max_size=5)


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ("da", ["de", "a"]),
        ("Na", ["Em", "a"]),
        ("NO", ["EM", "O"]),
        ("dele", ["de", "ele"]),
        ("don't", ["do", "n't"]),
        ("cannot", ["can", "not"]),
        ("fazê-lo", ["fazer", "lo"]),
        ("du", ["de", "le"]),
        ("dámelo", ["da", "me", "lo"]),
        ("zum", ["zu", "dem"]),
    ],
)
def test_rules_give_the_words_back(form, words):
    assert words_of(form, rule_of(form, words)) == words


@given(WORDS, st.lists(WORDS, min_size=2, max_size=4))
def test_any_words_in_lower_case_come_back(form, words):
    assert words_of(form, rule_of(form, words)) == words


def test_rules_fit_other_forms():
    assert words_of("wouldn't", rule_of("don't", ["do", "n't"])) == ["would", "n't"]
    assert words_of("vendê-la", rule_of("fazê-lo", ["fazer", "lo"])) == ["vender", "la"]


@pytest.mark.parametrize("rule", ["<9< >1>", "", "x", "<< >1>", "<2< =a", "=", "<-1<a >1>a"])
def test_rules_that_do_not_fit_are_passed_over(rule):
    assert words_of("ab", rule) is None
    assert MultiwordTokens().expand("ab", rule) == ["ab"]


def test_known_words_come_first():
    known = MultiwordTokens.of([("Ao", ["A", "o"]), ("ao", ["a", "o"]), ("ao", ["x", "y"])])
    assert known.expand("AO", "=u =v") == ["A", "O"]
    assert known.expand("Ao", "=u =v") == ["A", "o"]
    assert known.expand("na", "=em >1>") == ["em", "a"]


@pytest.mark.parametrize(
    "values", [[], {"a": "bc"}, {"a": ["b"]}, {"a": ["b", 1]}, {"a": ["b", ""]}, {"a": ["b", "\t"]}, None]
)
def test_damaged_dictionaries_are_refused(values):
    with pytest.raises(LabelError):
        MultiwordTokens.from_dict(values)
