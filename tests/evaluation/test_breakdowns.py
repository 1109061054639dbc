from __future__ import annotations

from dataclasses import replace
from functools import reduce
from operator import add

from hypothesis import given

from biplanar.data.conllu import parse_conllu
from biplanar.evaluation import BREAKDOWNS, Evaluation, Score, evaluate
from tests.evaluation import strategies
from tests.evaluation.sentences import COFFEE, COFFEE_MISREAD, HEARING, HEARING_PROJECTIVE, HEARING_SPLIT, heads


def broken_down(gold: str, system: str) -> Evaluation:
    return evaluate(parse_conllu(gold), parse_conllu(system), by=BREAKDOWNS)


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
