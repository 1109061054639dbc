"""Sentences with exchanged phrases."""

from __future__ import annotations

import pytest
from models.mixed_sentences import Phrase, main, mix, phrases_of

from biplanar.data.conllu import Sentence, parse_conllu, read_conllu
from biplanar.errors import BiplanarError, FormatError
from tests.paths import TINY

ROWS = (
    ("The DET 2 det", "cat NOUN 3 nsubj", "sleeps VERB 0 root", ". PUNCT 3 punct"),
    ("Two NUM 3 nummod", "old ADJ 3 amod", "dogs NOUN 4 nsubj", "barked VERB 0 root", ". PUNCT 4 punct"),
    ("Anna PROPN 4 nsubj", "what PRON 4 obj", "ever ADV 2 advmod", "saw VERB 0 root", "? PUNCT 4 punct"),
)


def sentences():
    """Some with a tree."""
    text = ""
    for rows in ROWS:
        for number, row in enumerate(rows, 1):
            form, upos, head, deprel = row.split(" ")
            text += f"{number}\t{form}\t_\t{upos}\t_\t_\t{head}\t{deprel}\t_\t_\n"
        text += "\n"
    return parse_conllu(text)


def test_phrases_are_stretches_of_words_without_punctuation():
    cat, dogs, anna = map(list, map(phrases_of, sentences()))
    assert cat == [Phrase(("nsubj", "NOUN", "_"), 0, ("the", "cat")), Phrase(("det", "DET", "_"), 0, ("the",))]
    assert [phrase.forms for phrase in dogs] == [("two", "old", "dogs"), ("two",), ("old",)]
    assert [phrase.forms for phrase in anna] == [("what", "ever"), ("Anna",), ("ever",)]


def test_words_apart_are_no_phrase():
    crossing = parse_conllu(
        "1\tA\t_\tDET\t_\t_\t2\tdet\t_\t_\n2\thearing\t_\tNOUN\t_\t_\t3\tnsubj\t_\t_\n"
        "3\tbegan\t_\tVERB\t_\t_\t0\troot\t_\t_\n4\tthere\t_\tADV\t_\t_\t2\tnmod\t_\t_\n\n"
    )
    assert [phrase.forms for phrase in phrases_of(crossing[0])] == [("a",), ("there",)]


def test_phrases_of_one_kind_change_places():
    found = {" ".join(forms) for forms in mix(sentences(), 50, 1)}
    cats, dogs = {"The cat sleeps .", "Two old dogs sleeps ."}, {"Two old dogs barked .", "The cat barked ."}
    assert found == {*cats, *dogs, "Anna what ever saw ?"}


def test_the_same_seed_gives_the_same_sentences():
    assert [list(mix(sentences(), 5, seed)) for seed in (1, 1)] == [list(mix(sentences(), 5, 1))] * 2
    assert list(mix(sentences(), 5, 1)) != list(mix(sentences(), 5, 2))


def test_they_are_written_as_words(tmp_path):
    main([str(TINY), str(tmp_path / "mixed.conllu"), "--times", "3"])
    found = list(read_conllu(tmp_path / "mixed.conllu"))
    assert len(found) == 3 * len(list(read_conllu(TINY)))
    assert not any(sentence.is_parsed for sentence in found)


@pytest.mark.parametrize(
    ("treebank", "times", "message"),
    [("missing.conllu", "1", "missing.conllu: No such file"), (str(TINY), "0", "--times must be at least 1")],
)
def test_refused(tmp_path, treebank, times, message):
    with pytest.raises(BiplanarError, match=message):
        main([treebank, str(tmp_path / "mixed.conllu"), "--times", times])
    assert not list(tmp_path.iterdir())


def test_words_without_trees_are_refused(tmp_path):
    (tmp_path / "words.conllu").write_text(Sentence.from_words(["Sim", "."]).raw)
    with pytest.raises(FormatError, match=r"words\.conllu:1: "):
        main([str(tmp_path / "words.conllu"), str(tmp_path / "mixed.conllu")])
    assert not (tmp_path / "mixed.conllu").exists()
