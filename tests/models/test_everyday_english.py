"""Everyday English: a hundred sentences, each with the arcs that are easy to get wrong, parsed by the bundled model."""

from __future__ import annotations

from pathlib import Path

import biplanar

SENTENCES = Path(__file__).with_name("everyday_english.tsv").read_text(encoding="utf-8").splitlines()
FEWEST = 80  # of the hundred


def test_most_of_a_hundred_sentences_are_right():
    """An arc is DEPENDENT HEAD RELATION: forms, and a relation without its subtype, or - where several will do."""
    parser, wrong = biplanar.load("en"), list[str]()
    for line in SENTENCES:
        text, *arcs = line.split("\t")
        document = parser(text)
        found = {
            (word.form, word.parent.form, relation)
            for sentence in document
            for word in sentence.words
            if word.parent is not None
            for relation in (word.deprel.partition(":")[0], "-")
        }
        if len(document) != 1 or not found.issuperset(tuple(arc.split()) for arc in arcs):
            wrong.append(text)
    assert len(SENTENCES) == 100
    assert len(wrong) <= 100 - FEWEST, "\n".join(wrong)
