"""Rules that make words of multiword tokens."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biplanar.errors import LabelError
from biplanar.tokenizer.multiword import BY_ENDING, MultiwordTokens, rule_of, words_of

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


def test_words_by_the_longest_ending_of_known_forms():
    tokens = {"fala-se": "falar se", "fazê-lo": "fazer lo", "vê-lo": "ver lo", "comprá-lo": "comprar lo", "do": "de o"}
    known = MultiwordTokens.of((form, words.split()) for form, words in tokens.items())
    assert known.expand("vendê-lo", BY_ENDING) == ["vender", "lo"]
    assert known.expand("Amá-lo", BY_ENDING) == ["Amar", "lo"]
    assert known.expand("TÊ-LO", BY_ENDING) == ["TER", "LO"]


def test_known_forms_whose_ending_tells_nothing_make_no_others():
    known = MultiwordTokens.of([("na", ["em", "a"]), ("x", ["a b", "c"]), ("ab", ["abab", "b c"])])
    assert known.expand("Na", BY_ENDING) == ["Em", "a"]
    assert known.expand("dona", BY_ENDING) == ["dona"]
    assert MultiwordTokens().expand("dona", BY_ENDING) == ["dona"]


@given(st.dictionaries(WORDS, st.lists(st.text("ab <>=2", min_size=1), min_size=2, max_size=3)), WORDS)
def test_any_known_forms_give_words_to_others(words, form):
    found = MultiwordTokens(words).expand(form, BY_ENDING)
    assert found
    assert all(found)


@pytest.mark.parametrize(
    "values", [[], {"a": "bc"}, {"a": ["b"]}, {"a": ["b", 1]}, {"a": ["b", ""]}, {"a": ["b", "\t"]}, None]
)
def test_damaged_dictionaries_are_refused(values):
    with pytest.raises(LabelError):
        MultiwordTokens.from_dict(values)
