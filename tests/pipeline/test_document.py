from __future__ import annotations

import json

import pytest

import biplanar
from biplanar import Document

TEXT = "  Nobody came.\n\nI don't  know why. "


@pytest.fixture(scope="module")
def document() -> Document:
    return biplanar.load()(TEXT)


def test_it_is_a_sequence_of_sentences(document):
    assert len(document) == 2
    assert list(document) == [document[0], document[1]] == list(document.sentences)
    assert document[:1] == (document[0],)
    assert [word.form for word in document.words[:3]] == ["Nobody", "came", "."]
    assert repr(document) == f"<Document: 2 sentences, {len(document.words)} words>"


def test_words_know_their_places_in_its_text(document):
    assert document.text == TEXT
    for sentence in document:
        for token in sentence.tokens:
            assert TEXT[token.start_char : token.end_char] == token.text
        assert TEXT[sentence.start_char : sentence.end_char].split() == sentence.text.split()


def test_words_of_ones_own_have_places_too():
    document = biplanar.load()([["Nobody", "came"], ["Why", "?"]])
    assert document.text == "Nobody came Why ? "
    assert [document.text[word.start_char : word.end_char] for word in document.words] == ["Nobody", "came", "Why", "?"]


def test_conversions(document):
    assert json.loads(document.to_json()) == json.loads(json.dumps(document.to_dict()))
    assert [one["sent_id"] for one in document.to_dict()] == ["1", "2"]
    assert json.loads(Document(()).to_json()) == []
    pytest.importorskip("pandas")
    frame = document.to_dataframe()
    assert len(frame) == len(document.words)
    assert set(frame["sentence"]) == {0, 1}
