from __future__ import annotations

from biplanar.benchmark.growth import joined_sentences
from tests.benchmark.conftest import TINY


def test_words_are_joined_and_begin_again(treebank):
    forms = [form for sentence in treebank.gold for form in sentence.forms]
    sentences = joined_sentences(TINY, 50, 5)
    assert [len(sentence) for sentence in sentences] == [50] * 5
    joined = [form for sentence in sentences for form in sentence.forms]
    assert joined == (forms * 2)[:250]
