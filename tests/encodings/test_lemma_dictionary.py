from __future__ import annotations

from biplanar.data.conllu import LEMMA, Sentence
from biplanar.data.forest import Column
from biplanar.encodings.lemma_dictionary import LemmaDictionary

SENTENCES = [
    Sentence.from_words(["saw", "saw", "left", "left", "odd"], upos=["VERB", "NOUN", "VERB", "VERB", "_"]).with_columns(
        {LEMMA: ["see", "saw", "leave", "left", "odd"]}
    ),
    Sentence.from_words(["saw", "new"], upos=["VERB", "ADJ"]).with_columns({LEMMA: ["see", "_"]}),
]


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
