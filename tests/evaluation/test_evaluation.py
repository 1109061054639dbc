from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from biplanar.data.conllu import DEPREL, FEATS, HEAD, LEMMA, UPOS, XPOS, Sentence, write_conllu
from biplanar.errors import FormatError, UnknownNameError
from biplanar.evaluation import Score, evaluate
from biplanar.evaluation.metrics import COMPARED_COLUMNS
from tests.evaluation.sentences import COFFEE, COFFEE_MISREAD, heads, sentences


def test_shares() -> None:
    score = Score(correct=3, gold=6, system=4, aligned=5)
    assert (score.precision, score.recall, score.f1, score.aligned_accuracy) == (0.75, 0.5, 0.6, 0.6)


def test_shares_of_nothing() -> None:
    score = Score(0, 0, 0, 0)
    assert (score.precision, score.recall, score.f1, score.aligned_accuracy) == (0, 0, 0, 0)
    assert Score(0, 0, 0).aligned_accuracy is None


def test_scores_add() -> None:
    assert Score(1, 2, 3, 4) + Score(10, 20, 30, 40) == Score(11, 22, 33, 44)
    assert Score(1, 2, 3) + Score(10, 20, 30, 40) == Score(11, 22, 33)


def test_files(tmp_path: Path) -> None:
    gold, system = tmp_path / "gold.conllu", str(tmp_path / "system.conllu.gz")
    write_conllu(sentences(COFFEE), gold)
    write_conllu(sentences(COFFEE_MISREAD), system)
    wanted = evaluate(sentences(COFFEE), sentences(COFFEE_MISREAD), train=sentences(COFFEE))
    assert evaluate(gold, system, train=gold) == wanted


def test_metrics() -> None:
    assert list(evaluate(sentences(COFFEE), sentences(COFFEE)).scores) == [
        *("Tokens", "Sentences", "Words", "UPOS", "XPOS", "UFeats", "AllTags", "Lemmas"),
        *("UAS", "LAS", "CLAS", "MLAS", "BLEX"),
        *("ExactLAS", "UCM", "LCM", "NonprojectiveSentences", "NonprojectiveDependencies"),
    ]


class TestWhatTheSystemDidNotPredict:
    """Metrics of columns that a system left empty, or that were copied from the gold text, say nothing."""

    SYNTAX = ("UAS", "LAS", "CLAS", "ExactLAS", "UCM", "LCM", "NonprojectiveSentences", "NonprojectiveDependencies")

    def without(self, *columns: int) -> list[Sentence]:
        rows = [line.split("\t") for line in COFFEE.splitlines() if line]
        kept = [["_" if at in columns else value for at, value in enumerate(row)] for row in rows]
        return sentences("".join("\t".join(row) + "\n" for row in kept) + "\n")

    def metrics(self, gold: list[Sentence], system: list[Sentence], **options: Any) -> set[str]:
        return set(evaluate(gold, system, **options).to_dict()["scores"]) - {"Tokens", "Sentences", "Words"}

    @pytest.mark.parametrize(
        ("missing", "left_out"),
        [
            ([], set()),
            ([LEMMA], {"Lemmas", "BLEX"}),
            ([UPOS], {"UPOS", "AllTags", "MLAS"}),
            ([XPOS], {"XPOS", "AllTags"}),
            ([FEATS], {"UFeats", "AllTags", "MLAS"}),
            ([LEMMA, UPOS, XPOS, FEATS], {*COMPARED_COLUMNS}),
        ],
    )
    def test_empty_columns(self, missing: list[int], left_out: set[str]) -> None:
        every = {*COMPARED_COLUMNS, *self.SYNTAX}
        assert self.metrics(sentences(COFFEE), self.without(*missing)) == every - left_out

    def test_what_the_gold_text_lacks_need_not_be_predicted(self) -> None:
        bare = self.without(XPOS, FEATS)
        assert self.metrics(bare, bare) == {"UPOS", "AllTags", "Lemmas", "MLAS", "BLEX", *self.SYNTAX}

    def test_copied_columns(self) -> None:
        gold = sentences(COFFEE)
        assert self.metrics(gold, gold, predicted=(HEAD, DEPREL)) == {*self.SYNTAX}
        assert self.metrics(gold, gold, predicted=(UPOS, HEAD, DEPREL)) == {"UPOS", *self.SYNTAX}
        assert self.metrics(gold, gold, predicted=(UPOS, FEATS)) == {"UPOS", "UFeats", "MLAS", *self.SYNTAX}

    def test_a_model_may_predict_that_there_is_nothing(self) -> None:
        bare = self.without(XPOS, FEATS)
        assert "UFeats" in self.metrics(bare, bare, predicted=(UPOS, FEATS))


def test_to_dict_is_json() -> None:
    evaluation = evaluate(iter(sentences(COFFEE)), iter(sentences(COFFEE_MISREAD)), by=["projectivity"])
    loaded = json.loads(json.dumps(evaluation.to_dict()))
    las = {"correct": 5, "gold": 7, "system": 7, "aligned": 7}
    shares = dict.fromkeys(("precision", "recall", "f1", "aligned_accuracy"), 5 / 7)
    assert loaded["scores"]["LAS"] == {**shares, **las}
    assert loaded["scores"]["Words"]["aligned"] is None
    assert list(loaded["by"]) == ["projectivity"]
    assert loaded["by"]["projectivity"]["projective"] == loaded["scores"]["LAS"]


def test_unknown_breakdown() -> None:
    with pytest.raises(UnknownNameError, match="unknown breakdown 'lenght'; did you mean 'length'"):
        evaluate(sentences(COFFEE), sentences(COFFEE), by=["lenght"])


def test_unparsed_system() -> None:
    unparsed = heads(0, 1).replace("\t0\troot", "\t_\t_").replace("\t1\tdep", "\t_\t_")
    with pytest.raises(FormatError, match=r"<text>:1: expected a whole number as HEAD"):
        evaluate(sentences(heads(0, 1)), sentences(unparsed))
