from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from biplanar.data.conllu import LEMMA, Sentence
from biplanar.data.forest import Column
from biplanar.encodings.lemmas import LemmaDictionary, apply_rule, lower, make_rule, rule_parts, shortest_script

TEXT = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=12)
WORDS = st.text("abAB;+->=ßİ", min_size=1, max_size=8)

SENTENCES = [
    Sentence.from_words(["saw", "saw", "left", "left", "odd"], upos=["VERB", "NOUN", "VERB", "VERB", "_"]).with_columns(
        {LEMMA: ["see", "saw", "leave", "left", "odd"]}
    ),
    Sentence.from_words(["saw", "new"], upos=["VERB", "ADJ"]).with_columns({LEMMA: ["see", "_"]}),
]


@pytest.mark.parametrize(
    ("form", "lemma", "rule"),
    [
        ("women", "woman", "↓0;;-+a>"),
        ("Running", "run", "↓0;;----"),
        ("paris", "Paris", "↑0↓1;;"),
        ("USA", "USA", "↑0;;"),
        ("is", "be", "↓0=be"),
        ("ungelesen", "lesen", "↓0;----;"),
        ("McDonald's", "McDonald", "↑0↓1↑2↓3;;--"),
        (";", ";", "↓0;;"),
    ],
)
def test_rules(form: str, lemma: str, rule: str) -> None:
    assert make_rule(form, lemma) == rule
    assert apply_rule(rule, form) == lemma


@given(WORDS | TEXT, WORDS | TEXT)
@example("Ἅιδα", "ᾍδης")
@example("İ", "i")
@example("a;", "b;;")
@example("x", "+=")
def test_a_rule_gives_its_lemma_back(form: str, lemma: str) -> None:
    for keeping in (True, False):
        found = apply_rule(make_rule(form, lemma, keeping=keeping), form)
        # Characters in title case, and those whose upper case is not undone by lower case, have no rule.
        assert found == lemma or _odd(lemma)


def _odd(lemma: str) -> bool:
    return any(char not in (lower(char), char.upper()) or lower(char.upper()) != lower(char) for char in lemma)


@given(WORDS, WORDS, TEXT)
def test_a_rule_gives_something_of_any_other_form(form: str, lemma: str, other: str) -> None:
    assert apply_rule(make_rule(form, lemma), other)


@pytest.mark.parametrize("rule", ["", "nonsense", "↓0;", "↓0;x;", "↓;;", "↓0;>>>>;>>>>", "↓0;;--------"])
def test_what_is_no_rule_for_a_form_leaves_it(rule: str) -> None:
    assert apply_rule(rule, "Word") == "Word"


def test_a_rule_that_would_leave_nothing_leaves_the_form() -> None:
    assert apply_rule("↓0;-;", "A") == "A"


@given(WORDS, WORDS)
def test_scripts_are_the_shortest(source: str, target: str) -> None:
    """As many steps that change something as an edit distance without replacement."""
    script = shortest_script(source, target)
    changes = sum(step in "+-" for step in _steps(script))
    shared = [[0] * (len(target) + 1) for _ in range(len(source) + 1)]
    for i, one in enumerate(source):
        for j, other in enumerate(target):
            shared[i + 1][j + 1] = shared[i][j] + 1 if one == other else max(shared[i][j + 1], shared[i + 1][j])
    assert changes == len(source) + len(target) - 2 * shared[-1][-1]


def _steps(script: str) -> list[str]:
    steps, at = [], 0
    while at < len(script):
        steps.append(script[at])
        at += 2 if script[at] == "+" else 1
    return steps


def test_parts() -> None:
    assert rule_parts("↑0↓1;--;+a") == ["casing ↑0↓1", "before --", "behind +a"]
    assert rule_parts("↓0=be") == rule_parts("nonsense") == []


def test_forms_with_one_lemma_are_known_by_their_tags() -> None:
    assert LemmaDictionary.of(SENTENCES).lemmas == {"VERB": {"saw": "see"}, "NOUN": {"saw": "saw"}}
    assert len(LemmaDictionary.of(SENTENCES)) == 2
    assert len(LemmaDictionary.of([Sentence.from_words(["a"])])) == 0


def test_what_is_not_known_stays() -> None:
    forms = ["saw", "saw", "left", "saw", "saw"]
    tags = ["VERB", "NOUN", "VERB", "X", "VERB"]
    guessed = ["sawwed", "sawwed", "go", "saw-x", "see"]
    found = LemmaDictionary.of(SENTENCES).look_up(Column.of(guessed), Column.of(tags), Column.of(forms))
    assert found.labels() == ["see", "saw", "go", "saw-x", "see"]
    assert LemmaDictionary({}).look_up(Column.of(guessed), Column.of(tags), Column.of(forms)).labels() == guessed
