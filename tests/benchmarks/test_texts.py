from __future__ import annotations

from benchmarks.texts import joined_sentences, repeated, write_copies

from tests.paths import TINY


def test_words_are_joined_and_begin_again(gold):
    forms = [form for sentence in gold.sentences for form in sentence.forms]
    sentences = joined_sentences(TINY, 50, 5)
    assert [len(sentence) for sentence in sentences] == [50] * 5
    joined = [form for sentence in sentences for form in sentence]
    assert joined == (forms * 2)[:250]


def test_repeated():
    assert repeated("abc", 7) == list("abcabca")
    assert repeated("abc", 2) == list("ab")


def test_copies(tmp_path):
    (tmp_path / "one").write_bytes(b"text\n")
    write_copies(tmp_path / "one", 3, tmp_path / "three")
    assert (tmp_path / "three").read_bytes() == b"text\n" * 3
