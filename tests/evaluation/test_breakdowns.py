from __future__ import annotations

from dataclasses import replace
from functools import reduce
from operator import add

import pytest
from hypothesis import given

from biplanar.data.conllu import DEPREL, FEATS, HEAD, LEMMA, UPOS, parse_conllu
from biplanar.errors import BiplanarError
from biplanar.evaluation import BREAKDOWNS, Evaluation, Score, evaluate
from tests.evaluation import strategies
from tests.evaluation.sentences import (
    COFFEE,
    COFFEE_MISREAD,
    COFFEE_RECUT,
    HEARING,
    HEARING_PROJECTIVE,
    HEARING_SPLIT,
    HOUSE,
    HOUSE_RECUT,
    conllu,
    heads,
    sentences,
)

OF_LAS = ("deprel", "length", "distance", "projectivity")


def broken_down(gold: str, system: str) -> Evaluation:
    return evaluate(parse_conllu(gold), parse_conllu(system), by=OF_LAS)


def filled(evaluation: Evaluation, by: str) -> dict[str, Score]:
    return {name: score for name, score in evaluation.breakdowns[by].items() if score != Score(0, 0, 0, 0)}


@given(strategies.pairs())
def test_buckets_add_up_to_las(pair: strategies.Pair) -> None:
    evaluation = broken_down(*pair)
    for name, rows in evaluation.breakdowns.items():
        whole = reduce(add, rows.values())
        if name == "projectivity":  # of a right arc another arc may make the one tree non-projective, and not the other
            assert whole.correct <= evaluation["LAS"].correct
            whole = replace(whole, correct=evaluation["LAS"].correct)
        assert whole == evaluation["LAS"]
        assert all(score.correct <= min(score.gold, score.system, score.aligned or 0) for score in rows.values())


def test_relations_without_subtypes_the_most_frequent_first() -> None:
    rows = broken_down(COFFEE, COFFEE_MISREAD).breakdowns["deprel"]
    assert list(rows.items()) == [
        ("aux", Score(2, 2, 2, 2)),
        ("nsubj", Score(1, 1, 1, 1)),
        ("root", Score(1, 1, 1, 1)),
        ("obj", Score(0, 1, 1, 1)),
        ("punct", Score(1, 1, 1, 1)),
        ("amod", Score(0, 1, 0, 1)),
        ("nmod", Score(0, 0, 1, 0)),
    ]


def test_lengths() -> None:
    long = heads(0, *range(1, 13))
    evaluation = broken_down(HEARING + long, HEARING_PROJECTIVE + long)
    assert filled(evaluation, "length") == {"1-10": Score(8, 9, 9, 9), "11-20": Score(13, 13, 13, 13)}
    assert list(evaluation.breakdowns["length"]) == ["1-10", "11-20", "21-30", "31-40", "41-50", "51+"]


def test_the_length_is_that_of_the_gold_sentence() -> None:
    ten, one = heads(0, *[1] * 9), "1\tx\t_\t_\t_\t_\t0\troot\t_\t_\n\n"
    glued = ten.removesuffix("\n") + "11\tx\t_\t_\t_\t_\t1\tdep\t_\t_\n\n"
    assert filled(broken_down(ten + one, glued), "length") == {"1-10": Score(10, 11, 11, 11)}


def test_distances() -> None:
    gold = heads(2, 0, 2, 2, 12, 2, 2, 2, 2, 2, 2, 2, 2)
    evaluation = broken_down(gold, heads(2, 0, 2, 2, 12, 2, 2, 2, 2, 2, 12, 2, 2))
    assert list(evaluation.breakdowns["distance"]) == [
        *("left 11+", "left 6-10", "left 3-5", "left 2", "left 1", "root"),
        *("right 1", "right 2", "right 3-5", "right 6-10", "right 11+"),
    ]
    assert filled(evaluation, "distance") == {
        "left 11+": Score(1, 1, 1, 1),
        "left 6-10": Score(4, 5, 4, 5),
        "left 3-5": Score(2, 2, 2, 2),
        "left 2": Score(1, 1, 1, 1),
        "left 1": Score(1, 1, 1, 1),
        "root": Score(1, 1, 1, 1),
        "right 1": Score(1, 1, 2, 1),
        "right 6-10": Score(1, 1, 1, 1),
    }


def test_distances_are_those_between_gold_words() -> None:
    rows = broken_down(HEARING, HEARING_SPLIT).breakdowns["distance"]
    assert rows["left 3-5"] == Score(2, 3, 3, 2)  # issue, the full stop, and today, which is not aligned


@given(strategies.pairs())
def test_non_projective_arcs_are_those_of_the_main_table(pair: strategies.Pair) -> None:
    evaluation = broken_down(*pair)
    labeled, unlabeled = (
        evaluation.breakdowns["projectivity"]["non-projective"],
        evaluation["NonprojectiveDependencies"],
    )
    assert (labeled.gold, labeled.system, labeled.aligned) == (unlabeled.gold, unlabeled.system, unlabeled.aligned)
    assert labeled.correct <= unlabeled.correct


def test_projectivity_is_that_of_each_arc_in_its_own_tree() -> None:
    assert broken_down(HEARING, HEARING_PROJECTIVE).breakdowns["projectivity"] == {
        "projective": Score(8, 8, 9, 8),
        "non-projective": Score(0, 1, 0, 1),
    }
    assert broken_down(HEARING_PROJECTIVE, HEARING).breakdowns["projectivity"] == {
        "projective": Score(8, 9, 8, 9),
        "non-projective": Score(0, 0, 1, 0),
    }


def test_a_right_arc_that_another_one_makes_non_projective() -> None:
    """The arc from c to a is in both trees; in the system's, c does not dominate b, which is between them."""
    gold, system = heads(3, 3, 4, 0), heads(3, 4, 4, 0)
    assert broken_down(gold, system).breakdowns["projectivity"] == {
        "projective": Score(2, 4, 3, 4),
        "non-projective": Score(0, 0, 1, 0),
    }


class TestTags:
    def test_each_tag_is_scored_by_itself(self) -> None:
        rows = evaluate(sentences(COFFEE), sentences(COFFEE_MISREAD), by=["upos"]).breakdowns["upos"]
        assert rows == {
            "AUX": Score(1, 2, 1, 2),  # been is a VERB to the system
            "VERB": Score(1, 1, 2, 1),
            **dict.fromkeys(("PRON", "ADJ", "NOUN", "PUNCT"), Score(1, 1, 1, 1)),
        }
        assert list(rows)[:2] == ["AUX", "VERB"]  # the most frequent first

    @given(strategies.pairs())
    def test_tags_add_up_to_upos(self, pair: strategies.Pair) -> None:
        evaluation = evaluate(*map(parse_conllu, pair), by=["upos"])
        assert reduce(add, evaluation.breakdowns["upos"].values()) == evaluation["UPOS"]

    @pytest.mark.parametrize("by", ["upos", "feature"])
    def test_copied_columns_say_nothing(self, by: str) -> None:
        gold = sentences(COFFEE)
        assert evaluate(gold, gold, by=[by], predicted=(HEAD, DEPREL, LEMMA)).breakdowns == {by: {}}
        assert evaluate(gold, gold, by=[by], predicted=(UPOS, FEATS)).breakdowns[by]


class TestFeatures:
    GOLD = conllu("""
1 Er    er    PRON PPER Case=Nom|Number=Sing   2 nsubj
2 sieht sehen VERB VV   Number=Sing|Tense=Pres 0 root
3 sie   sie   PRON PPER Case=Acc|Number=Plur   2 obj
""")
    SYSTEM = conllu("""
1 Er    er    PRON PPER Case=Nom|Number=Sing   2 nsubj
2 sieht sehen VERB VV   Tense=Pres|Wild[x]=Yes 0 root
3 sie   sie   PRON PPER Case=Nom|Number=Plur   2 obj
""")

    def rows(self, gold: str, system: str) -> dict[str, Score]:
        return evaluate(sentences(gold), sentences(system), by=["feature"]).breakdowns["feature"]

    def test_names_and_below_them_values_the_most_frequent_first(self) -> None:
        assert list(self.rows(self.GOLD, self.SYSTEM).items()) == [
            ("Number", Score(2, 3, 2, 3)),
            ("Number=Sing", Score(1, 2, 1, 2)),
            ("Number=Plur", Score(1, 1, 1, 1)),
            ("Case", Score(1, 2, 2, 2)),
            ("Case=Nom", Score(1, 1, 2, 1)),
            ("Case=Acc", Score(0, 1, 0, 1)),
            ("Tense", Score(1, 1, 1, 1)),
            ("Tense=Pres", Score(1, 1, 1, 1)),
            ("Wild[x]", Score(0, 0, 1, 0)),
            ("Wild[x]=Yes", Score(0, 0, 1, 0)),
        ]

    def test_words_that_are_cut_differently(self) -> None:
        rows = self.rows(HOUSE, HOUSE_RECUT)
        assert rows["Case=Dat"] == Score(1, 2, 1, 1)  # zum has no word dem
        assert self.rows(COFFEE, COFFEE_RECUT)["Number=Sing"] == Score(1, 2, 2, 1)  # coffee is two words

    def test_a_feature_without_a_value_has_one_row(self) -> None:
        assert self.rows(self.GOLD.replace("Case=Acc", "Case"), self.SYSTEM)["Case"] == Score(1, 2, 2, 2)

    @given(strategies.pairs())
    def test_every_feature_is_counted(self, pair: strategies.Pair) -> None:
        """Compared with counting word by word, where words are the same."""
        gold, system = (sentences(text) for text in pair)
        rows = evaluate(gold, system, by=["feature"]).breakdowns["feature"]
        for side, found in (("gold", gold), ("system", system)):
            features = [set(feats.split("|")) for sentence in found for feats in sentence.column(FEATS)]
            names = ("Case", "Number", "Foo")
            wanted = {name: sum(one.partition("=")[0] == name for feats in features for one in feats) for name in names}
            assert {name: getattr(rows.get(name, Score(0, 0, 0)), side) for name in names} == wanted
        assert all(row.correct <= min(row.aligned or 0, row.system) <= row.gold + row.system for row in rows.values())


class TestKnownWords:
    TRAIN = conllu("1 She she PRON _ _ 0 root", "1 Coffee coffee NOUN _ _ 0 root")

    def test_words_of_the_training_text_and_others(self) -> None:
        result = evaluate(sentences(COFFEE), sentences(COFFEE_MISREAD), train=sentences(self.TRAIN))
        assert result.breakdowns == {
            "known": {
                "UPOS known": Score(1, 1, 1, 1),
                "UPOS unknown": Score(5, 6, 6, 6),  # coffee is unknown as it is written
                "UFeats known": Score(1, 1, 1, 1),
                "UFeats unknown": Score(5, 6, 6, 6),
                "Lemmas known": Score(1, 1, 1, 1),
                "Lemmas unknown": Score(5, 6, 6, 6),
                "UAS known": Score(1, 1, 1, 1),
                "UAS unknown": Score(4, 6, 6, 6),
                "LAS known": Score(1, 1, 1, 1),
                "LAS unknown": Score(4, 6, 6, 6),
            }
        }

    @given(strategies.pairs(), strategies.pairs())
    def test_both_add_up_to_the_metric(self, pair: strategies.Pair, other: strategies.Pair) -> None:
        result = evaluate(*map(parse_conllu, pair), train=parse_conllu(other[0]))
        rows = result.breakdowns["known"]
        metrics = {name.partition(" ")[0] for name in rows}
        assert metrics == {"UPOS", "UFeats", "Lemmas", "UAS", "LAS"} & set(result.scores)
        for metric in metrics:
            assert rows[f"{metric} known"] + rows[f"{metric} unknown"] == result[metric]

    def test_a_word_is_as_known_as_the_gold_one(self) -> None:
        gold = HOUSE.replace("\tdem\t", "\tDem\t")
        rows = evaluate(sentences(gold), sentences(HOUSE), train=sentences(HOUSE)).breakdowns["known"]
        assert rows["UPOS unknown"] == Score(1, 1, 1, 1)  # Dem and dem are aligned, as multiword tokens allow

    def test_only_columns_that_were_predicted(self) -> None:
        gold = sentences(COFFEE)
        rows = evaluate(gold, gold, train=gold, predicted=(UPOS, HEAD, DEPREL)).breakdowns["known"]
        assert {name.partition(" ")[0] for name in rows} == {"UPOS", "UAS", "LAS"}

    def test_without_a_training_text(self) -> None:
        with pytest.raises(BiplanarError, match="'known' needs"):
            evaluate(sentences(COFFEE), sentences(COFFEE), by=["known"])

    def test_every_breakdown_at_once(self) -> None:
        result = evaluate(sentences(COFFEE), sentences(COFFEE_MISREAD), by=BREAKDOWNS, train=sentences(self.TRAIN))
        assert list(result.breakdowns) == [*OF_LAS, "upos", "feature", "known", "enhancement"]
