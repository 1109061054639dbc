"""How the bundled model cuts everyday English."""

from __future__ import annotations

import pytest

import biplanar
from biplanar.tokenizer.segmenter import Segmenter


@pytest.fixture(scope="module")
def english() -> Segmenter:
    return biplanar.load().segmenter


# Sentences that are cut right, as a treebank of English would.
TEXTS = [
    ["J. R. R. Tolkien wrote it ."],
    ["We met Dr. Thomas K. Miller yesterday .", "He was kind ."],
    ["Play No. 5 again ."],
    ["Mr. O'Neil sent an e-mail on 2019-05-01 ."],
    ["Call 555-1234 at 9 a.m. tomorrow ."],
    ["Open src/main.py and run it ."],
    ["She lives in the U.S. and works in the U.K. now ."],
    ["Please write to jane.doe@example.co.uk today ."],
    ["I love it !", "Do you ?", "No ."],
    ["What ?!", "You did it ?"],
    ['He said : " I am here . "'],
    ["( She did not come . )"],
    ["Wait ... what ?"],
    ["The price rose by 3.5 % in 2010 ."],
    ["They paid $ 1,200.50 for it ."],
    ["We need 2 or 3 of them , e.g. apples , pears , etc. and bread ."],
    ["The meeting is at 10:30 on 12/05/2021 ."],
    ["It was a well - known , old - fashioned house ."],
    ["He is 6 feet tall and 25 years old ."],
    ["The company , Smith & Sons Inc. , was sold ."],
    ["I live at 12 Main St. near the park ."],
    ["Thanks a lot !", "See you soon ."],
    ["She is the C.E.O. of a bank ."],
    ["The 1990s were good years ."],
    ["He came first , she came 2nd ."],
    ["That is 50 % more than before ."],
    ["Yes , it works .", "Try again , please ."],
    ["Is this yours ?", "I think so ."],
    ["On Jan. 5 , 2010 , it snowed ."],
    ["He lives in Washington , D.C. with his family ."],
    ["I have a Ph.D. in physics ."],
    ['" Come in , " he said .', "She did ."],
    ["John and Mary 's house is big ."],
    ["We do n't know why they ca n't come ."],
    ["I 'm sure you 'll like what he 's done ."],
    ["They could n't have known , would n't you say ?"],
    ["She 'd been there .", "He had n't ."],
    ["My brother 's friend 's car broke down ."],
    ["Let 's go !"],
    ["He cannot swim ."],
    ["It rained ; we stayed home ."],
    ["There were three options : one , two and three ."],
    ["The U.N. met in Geneva .", "Nothing was decided ."],
    ["He works 9 to 5 , Monday to Friday ."],
    ["Read pp. 10 - 12 of the book ."],  # EWT 2.16 cuts ranges
    ["The score was 3 - 2 at half - time ."],
    ["I paid 20 dollars for 4 books ."],
    ["This is it .", "This is that ."],
    ["Nobody came .", "It rained all day long ."],
    ["Who did you talk to ?"],
    ["Why not ?"],
    ["The so - called experts were wrong ."],
    ["Who 's there ?", "It 's me ."],
    ["See Fig. 3 on the next page ."],
    ["Prof. Smith met Mrs. Jones ."],
    ["Send it to tom@example.org , please ."],
    ["I read The Times and The Guardian every day ."],
    ["Yesterday , all my troubles seemed so far away ."],
]

# Those that are not: a test fails when they become right, and belong above.
WRONG = [
    ["Version 2.0.1 is out ."],
    ["They paid approx. $ 1.2 M for it ."],
    ["Covid-19 is back ."],
    ["Mr. O'Brien and Mrs. O'Leary sing ."],
]

GLUED_BEFORE = (".", ",", ";", ":", "?", "!", "?!", "...", "%", ")", "n't", "'s", "'m", "'ll", "'d")


def written(sentence: str) -> str:
    """As a person would write it."""
    sentence = sentence.replace(" - ", "-")  # which the treebank cuts
    text, opened = "", False
    for token in sentence.split(" "):
        closes = token == '"' and opened
        opened ^= token == '"'
        glued = token in GLUED_BEFORE or closes or text.endswith(("(", "$")) or (text.endswith('"') and opened)
        text += token if glued or not text else f" {token}"
    return text


def cut(english: Segmenter, sentences: list[str]) -> list[str]:
    """Sentences as the segmenter finds them, with spaces between words."""
    found = english.segment(" ".join(map(written, sentences)))
    return [" ".join(form for token in one.tokens for form in _forms(token)) for one in found]


@pytest.mark.parametrize("sentences", TEXTS, ids=lambda one: one[0][:30])
def test_everyday_text(english, sentences):
    assert cut(english, sentences) == [one.replace("cannot", "can not") for one in sentences]


@pytest.mark.parametrize("sentences", WRONG, ids=lambda one: one[0][:30])
def test_what_is_still_wrong(english, sentences):
    assert cut(english, sentences) != sentences


def _forms(token: biplanar.Token) -> list[str]:
    return [word.form for word in token.words] if token.is_multiword else [token.form]


def test_line_breaks_that_end_sentences(english):
    text = "Shopping list:\n1. Milk\n2. Eggs\n\nBest regards,\nJohn Smith\nSales Manager\n"
    found = english.segment(text, line_breaks="sentence")
    assert [" ".join(one.forms) for one in found] == [
        *("Shopping list :", "1 . Milk", "2 . Eggs", "Best regards ,", "John Smith", "Sales Manager"),
    ]


def test_sentences_without_a_space_between(english):
    assert [" ".join(one.forms) for one in english.segment("This is it.This is that.")] == [
        "This is it .",
        "This is that .",
    ]
