from __future__ import annotations

from hypothesis import given

from biplanar.data.conllu import parse_conllu
from biplanar.data.forest import Forest
from biplanar.evaluation import Score, evaluate
from biplanar.planes.crossings import is_projective, nonprojective
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
    heads,
    sentences,
    tree,
)


def score(metric: str, gold: str, system: str) -> Score:
    return evaluate(sentences(gold), sentences(system))[metric]


def test_exact_las_keeps_subtypes() -> None:
    assert score("LAS", COFFEE, COFFEE_MISREAD) == Score(5, 7, 7, 7)
    assert score("ExactLAS", COFFEE, COFFEE_MISREAD) == Score(4, 7, 7, 7)


def test_whole_sentences() -> None:
    other_relation = HEARING.replace("obl:tmod", "obl")
    gold, system = HEARING + COFFEE + HOUSE, other_relation + COFFEE_MISREAD + HOUSE
    assert score("UCM", gold, system) == Score(2, 3, 3, 3)
    assert score("LCM", gold, system) == Score(1, 3, 3, 3)


def test_sentences_cut_differently_are_not_whole() -> None:
    gold, system = HEARING + COFFEE + HOUSE, HEARING + COFFEE_RECUT + HOUSE_RECUT
    assert score("UCM", gold, system) == score("LCM", gold, system) == Score(1, 3, 4, 1)


def test_nonprojective_sentences() -> None:
    gold = HEARING + HEARING + HEARING_PROJECTIVE + COFFEE
    system = HEARING + HEARING_PROJECTIVE + HEARING + COFFEE
    assert score("NonprojectiveSentences", gold, system) == Score(1, 2, 2, 2)


def test_a_nonprojective_sentence_counts_whatever_its_arcs() -> None:
    gold, system = heads(3, 0, 2, 1, 2), heads(0, 4, 1, 3, 2)
    assert score("NonprojectiveSentences", gold, system) == Score(1, 1, 1, 1)
    assert score("NonprojectiveDependencies", gold, system).correct == 0


def test_a_nonprojective_sentence_cut_in_two_is_missed() -> None:
    cut = tree(("A", 2, "det"), ("hearing", 0, "root")) + tree(
        ("is", 5, "aux"),
        ("scheduled", 0, "root"),
        ("on", 5, "case"),
        ("the", 5, "det"),
        ("issue", 2, "obl"),
        ("today", 2, "obl"),
        (".", 2, "punct"),
    )
    assert score("NonprojectiveSentences", HEARING + HEARING, HEARING + cut) == Score(1, 2, 2, 1)
    assert score("NonprojectiveDependencies", HEARING + HEARING, HEARING + cut) == Score(1, 2, 2, 2)


def test_a_nonprojective_sentence_with_other_words_is_compared() -> None:
    assert score("NonprojectiveSentences", HEARING, HEARING_SPLIT) == Score(1, 1, 1, 1)
    assert score("NonprojectiveDependencies", HEARING, HEARING_SPLIT) == Score(1, 1, 1, 1)
    assert score("UCM", HEARING, HEARING_SPLIT) == Score(0, 1, 1, 0)


def test_nonprojective_dependencies() -> None:
    assert score("NonprojectiveDependencies", HEARING, HEARING) == Score(1, 1, 1, 1)
    assert score("NonprojectiveDependencies", HEARING, HEARING_PROJECTIVE) == Score(0, 1, 0, 1)
    assert score("NonprojectiveDependencies", HEARING_PROJECTIVE, HEARING) == Score(0, 0, 1, 0)


def test_nonprojective_dependencies_are_unlabeled() -> None:
    assert score("NonprojectiveDependencies", HEARING, HEARING.replace("nmod", "obj")) == Score(1, 1, 1, 1)


def test_an_arc_that_is_nonprojective_in_one_tree_only_is_not_right() -> None:
    gold, system = heads(3, 0, 2, 3), heads(3, 3, 0, 3)
    assert score("UAS", gold, system).correct == 2
    assert score("NonprojectiveDependencies", gold, system) == Score(0, 1, 0, 1)


def test_the_arc_to_a_root_may_be_nonprojective() -> None:
    assert score("NonprojectiveDependencies", heads(2, 3, 0, 1), heads(2, 3, 0, 1)).gold == 1


@given(strategies.relabeled_pairs())
def test_nonprojectivity_tree_by_tree(pair: strategies.Pair) -> None:
    trees = [[sentence.tree for sentence in parse_conllu(text)] for text in pair]
    flags = [[nonprojective(Forest.from_trees([tree])) for tree in side] for side in trees]
    arcs = [
        {(at, *arc) for at, tree in enumerate(side) for arc in enumerate(tree.heads) if own[at][arc[0]]}
        for side, own in zip(trees, flags, strict=True)
    ]
    found = [{at for at, tree in enumerate(side) if not is_projective(tree)} for side in trees]
    evaluation = evaluate(parse_conllu(pair[0]), parse_conllu(pair[1]))
    for metric, (gold, system) in {"NonprojectiveDependencies": arcs, "NonprojectiveSentences": found}.items():
        assert evaluation[metric] == Score(len(gold & system), len(gold), len(system), len(gold))


@given(strategies.relabeled_pairs())
def test_whole_sentences_tree_by_tree(pair: strategies.Pair) -> None:
    gold, system = ([sentence.tree for sentence in parse_conllu(text)] for text in pair)
    evaluation = evaluate(parse_conllu(pair[0]), parse_conllu(pair[1]))
    heads_right = sum(one.heads == other.heads for one, other in zip(gold, system, strict=True))
    assert evaluation["UCM"] == Score(heads_right, len(gold), len(gold), len(gold))
    all_right = sum(one == other for one, other in zip(gold, system, strict=True))
    assert evaluation["LCM"] == Score(all_right, len(gold), len(gold), len(gold))


@given(strategies.pairs())
def test_whole_sentences_are_no_more_than_aligned_ones(pair: strategies.Pair) -> None:
    evaluation = evaluate(parse_conllu(pair[0]), parse_conllu(pair[1]))
    assert evaluation["LCM"].correct <= evaluation["UCM"].correct <= (evaluation["UCM"].aligned or 0)
    assert (evaluation["UCM"].aligned or 0) <= evaluation["Sentences"].correct
    assert evaluation["ExactLAS"].correct <= evaluation["LAS"].correct <= evaluation["UAS"].correct
