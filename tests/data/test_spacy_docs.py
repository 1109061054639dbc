from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biplanar import Document, Sentence, Tree, parse_conllu
from tests.data.test_sentence import CROSSING
from tests.data.test_words import TEXT
from tests.strategies import random_heads

spacy = pytest.importorskip("spacy")
VOCAB = spacy.blank("en").vocab


def test_all_columns():
    (sentence,) = parse_conllu(TEXT)
    doc = sentence.to_spacy(VOCAB)
    assert doc.text == "She can't sing."
    assert [token.head.i for token in doc] == [3, 3, 3, 3, 3]
    assert [token.dep_ for token in doc] == ["nsubj", "aux", "advmod", "ROOT", "punct"]
    assert (doc[0].pos_, doc[0].tag_, doc[0].lemma_, str(doc[0].morph)) == (
        "PRON",
        "PRP",
        "she",
        "Case=Nom|Number=Sing",
    )


def test_there_and_back():
    doc = Document.of([CROSSING, CROSSING]).to_spacy(VOCAB)
    back = Document.from_spacy(doc)
    assert [sentence.tree for sentence in back] == [CROSSING.tree] * 2
    assert back.text == doc.text
    assert [sentence.start_char for sentence in back] == [0, len(CROSSING.text) + 1]


@given(st.lists(st.integers(1, 25), min_size=1, max_size=4), st.randoms(use_true_random=False))
def test_trees_that_cross_at_will(sizes, random):
    """Also those whose spans spaCy does not find in its ten rounds."""
    trees = [Tree(random_heads(size, random), [f"r{place}" for place in range(size)]) for size in sizes]
    document = Document.of(Sentence.from_words(["a"] * len(tree), tree) for tree in trees)
    assert [sentence.tree for sentence in Document.from_spacy(document.to_spacy(VOCAB))] == trees


def test_words_alone():
    document = Document.of([Sentence.from_words(["a", "b"]), Sentence.from_words(["c"], upos=["FOO"])])
    doc = document.to_spacy(VOCAB)
    assert not doc.has_annotation("DEP")
    assert [sent.text for sent in doc.sents] == ["a b", "c"]
    assert doc[2].pos_ == "X"
    assert [sentence.forms for sentence in Document.from_spacy(doc)] == [["a", "b"], ["c"]]
    assert len(Document.from_spacy(Document(()).to_spacy(VOCAB))) == 0


def test_white_space_is_no_word():
    doc = spacy.blank("en")(" \n Yes  it\tis . ")
    (sentence,) = Document.from_spacy(doc)
    assert sentence.forms == ["Yes", "it", "is", "."]
    assert Document.from_spacy(doc).text == doc.text
    assert [word.start_char for word in sentence] == [token.idx for token in doc if not token.is_space]


def test_a_head_that_is_white_space():
    doc = spacy.tokens.Doc(VOCAB, words=["a", "\n", "b"], heads=[1, 2, 2], deps=["x", "dep", "ROOT"])
    (sentence,) = Document.from_spacy(doc)
    assert sentence.tree == Tree((2, 0), ("x", "root"))


def test_a_token_of_several_words():
    doc = spacy.tokens.Doc(VOCAB, words=["New\nYork", "is"], spaces=[True, False])
    document = Document.from_spacy(doc)
    assert document[0].forms == ["New York", "is"]
    assert document.text == doc.text
