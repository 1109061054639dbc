"""Made-up sentences."""

import re
from pathlib import Path

from models.crossing_sentences import SHOWN, make_sentences, to_conllu

from biplanar.data.conllu import parse_conllu
from biplanar.planes.assignment import planes_of

EVERYDAY = Path(__file__).with_name("everyday_english.tsv")


def test_about_half_of_them_have_crossing_arcs():
    crossing = sum(2 in planes_of(tree, "2p-greedy") for _, tree in make_sentences(300, 1))
    assert 150 < crossing < 240


def test_what_people_are_shown_is_not_learned():
    assert not SHOWN & {" ".join(forms) for forms, _ in make_sentences(3000, 2)}


def test_sentences_that_models_are_tested_with_are_not_learned():
    tested = {line.partition("\t")[0] for line in EVERYDAY.read_text(encoding="utf-8").splitlines()}
    made = {re.sub(r" ([.?])$", r"\1", " ".join(forms)) for forms, _ in make_sentences(20_000, 2)}
    assert not tested & made


def test_they_are_conllu():
    sentences = make_sentences(300, 1)
    text = "".join(map(to_conllu, sentences))
    assert [one.tree for one in parse_conllu(text)] == [tree for _, tree in sentences]
