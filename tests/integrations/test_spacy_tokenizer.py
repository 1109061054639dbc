from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biplanar.errors import FileError

spacy = pytest.importorskip("spacy")

CONFIG = {"nlp": {"tokenizer": {"@tokenizers": "biplanar.tokenizer"}}}
TEXT = " Don't  go to the U.S. now.\n\nNobody came\tin time.  "


NLP = spacy.blank("en", config=CONFIG)


def test_words_and_sentences():
    doc = NLP(TEXT)
    assert [token.text for token in doc if not token.is_space][:4] == ["Do", "n't", "go", "to"]
    assert [sent.text.split()[0] for sent in doc.sents] == ["Don't", "Nobody"]
    assert doc.text == TEXT


@given(st.text(st.sampled_from("ab.!' \t\n\u00a0€א"), max_size=40))
def test_the_text_is_kept_to_the_character(text):
    assert NLP(text).text == text


def test_with_the_parser(tmp_path):
    both = spacy.blank("en", config=CONFIG)
    both.add_pipe("biplanar")
    doc = both(TEXT)
    assert [sent.root.text for sent in doc.sents] == ["go", "came"]
    both.to_disk(tmp_path)
    carried = [path.relative_to(tmp_path / "tokenizer").as_posix() for path in (tmp_path / "tokenizer").rglob("*.*")]
    assert sorted(carried) == [
        "segmenter/int8/forms.onnx",
        "segmenter/int8/words.onnx",
        "segmenter/multiword.json",
        "segmenter/vocab.json",
    ]
    again = spacy.load(tmp_path)
    assert [token.text for token in again(TEXT)] == [token.text for token in doc]


def test_to_bytes_pickles_and_a_model_by_its_folder(tmp_path):
    wanted = [token.text for token in NLP(TEXT)]
    other = spacy.blank("en", config=CONFIG).from_bytes(NLP.to_bytes())
    assert [token.text for token in other(TEXT)] == wanted
    assert [token.text for token in pickle.loads(pickle.dumps(NLP.tokenizer))(TEXT)] == wanted
    NLP.tokenizer.to_disk(tmp_path)
    config = {"nlp": {"tokenizer": {"@tokenizers": "biplanar.tokenizer", "model": str(tmp_path)}}}
    assert [token.text for token in spacy.blank("en", config=config)(TEXT)] == wanted


def test_no_tokenizer_there(tmp_path):
    with pytest.raises(FileError, match="no segmenter"):
        spacy.blank("en", config=CONFIG).tokenizer.from_disk(tmp_path)
