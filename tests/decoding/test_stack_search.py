"""The search against enumeration: of all label sequences, the best that is a tree."""

from __future__ import annotations

import math

import numpy as np
import pytest

from biplanar.data.forest import Column, offsets_of
from biplanar.data.tree import Tree
from biplanar.decoding.beam import WIDEST, Beam, Outcome
from biplanar.decoding.lattice.reading import likely_arcs
from biplanar.decoding.scores import Scores
from biplanar.encodings import get_encoding
from tests.decoding.enumeration import (
    EVERY_LABEL,
    LABEL_SETS,
    Planes,
    Prepared,
    follow,
    near_certain,
    prepared,
    random_tables,
    searching,
)
from tests.reference import is_tree
from tests.strategies import all_trees

CASES = [
    (name, words, depths)
    for name, longest in (
        ("one plane", 5),
        ("closers first", 5),
        ("few labels in two planes", 5),
        ("two planes", 4),
        ("two planes, ordered", 4),
    )
    for words in range(1, longest + 1)
    for depths in (False, True)
]


with_arcs_or_without = pytest.mark.parametrize("arcs", [False, True], ids=["labels", "arcs"])


@with_arcs_or_without
@pytest.mark.parametrize(("name", "words", "depths"), CASES)
def test_the_best_sequence_is_found(name: str, words: int, depths: bool, arcs: bool) -> None:
    for seed in range(8 if words < 5 else 3):
        everything, _, scores, search = prepared(name, words, depths, seed, arcs=arcs)
        found = search(scores).search()
        if not everything:
            assert found.outcome.lost == 1
            assert found.lost.tolist() == [0]
            assert not found.heads.any()
            continue
        columns = found.labels[: len(LABEL_SETS[name])]
        assert tuple(zip(*(column.tolist() for column in columns), strict=True)) == everything[0].labels
        assert tuple(found.heads.tolist()) == everything[0].heads
        assert found.outcome.lost == found.outcome.acyclic == len(found.lost) == 0


@with_arcs_or_without
@pytest.mark.parametrize(("name", "words", "depths"), CASES)
def test_the_best_trees_are_found(name: str, words: int, depths: bool, arcs: bool) -> None:
    everything, _, scores, search = prepared(name, words, depths, 11, arcs=arcs)
    assert everything or words == 1 or (name, words) == ("two planes, ordered", 2)
    best: dict[tuple[int, ...], float] = {}
    for one in everything:
        best.setdefault(one.heads, one.score)
    (found,) = search(scores).several(6)
    assert [tuple(heads.tolist()) for heads, _ in found] == list(best)[:6]
    assert [score for _, score in found] == pytest.approx(list(best.values())[:6], abs=1e-3)


@with_arcs_or_without
@pytest.mark.parametrize(("name", "words", "depths"), [case for case in CASES if case[1] > 2])
def test_likelihoods_of_arcs_are_those_of_enumeration(name: str, words: int, depths: bool, arcs: bool) -> None:
    for temperature in (1.0, 3.0):
        made = prepared(name, words, depths, 5, spread=0.5, arcs=arcs, temperature=temperature)
        assert_likelihoods(made, temperature)


def assert_likelihoods(made: Prepared, temperature: float) -> None:
    """All that is said of how likely arcs are, against enumeration."""
    wanted, trees = made.likelihoods(), made.search(made.scores)
    words = len(wanted)
    arcs, likelihoods = likely_arcs(0, words, *next(trees._attempts()), 1 / temperature)
    found = np.zeros_like(wanted)
    np.add.at(found, (arcs[:, 0] - 1, arcs[:, 1]), likelihoods)
    assert found == pytest.approx(wanted, abs=1e-4)
    assert found.sum(axis=1) == pytest.approx(1, abs=1e-4)
    for one in made.sequences[:5]:
        heads = np.array(one.heads, dtype=np.int32)
        assert trees.probabilities(heads) == pytest.approx(wanted[np.arange(words), heads], abs=1e-4)
    best = max(wanted[np.arange(words), heads].sum() for heads in all_trees(words))
    voted, _ = trees.least_risk()
    assert wanted[np.arange(words), voted].sum() == pytest.approx(best, abs=1e-4)


def noise(planes: Planes, lengths: list[int], seed: int, *, depths: bool = False, spread: float = 1.0) -> Scores:
    tables = random_tables(np.random.default_rng(seed), sum(lengths), planes, depths=depths, spread=spread)
    return Scores(offsets_of(lengths), tables)


def test_a_tree_is_returned_at_once_and_nothing_is_searched() -> None:
    names = LABEL_SETS["one plane"]
    scores = near_certain([("_",), ("<\\",), ("/>",)], names, ["dep", "root", "dep"])
    found = searching(names)(scores).search()
    assert found.outcome == Outcome(argmax=1)
    assert [names[0][label] for label in found.labels[0]] == ["_", "<\\", "/>"]
    assert found.heads.tolist() == [2, 0, 2]


def test_a_tree_whose_relations_disagree_is_searched() -> None:
    """Two words want to be the root: the labels stay, as no others are likelier."""
    names = LABEL_SETS["one plane"]
    scores = near_certain([("_",), ("<\\",), ("/>",)], names, ["root", "root", "dep"])
    assert searching(names)(scores).search().outcome == Outcome(best=1)


CYCLE = [("_",), ("<\\",), ("_",), ("</\\>",), ("/>",)]  # words 3 and 4 are each other's heads


@pytest.mark.parametrize("nodes", [20_000, 10])
def test_cycles_are_not_cut_but_avoided(nodes: int) -> None:
    names = LABEL_SETS["one plane"]
    scores = near_certain(CYCLE, names, ["dep", "root", "dep", "dep", "dep"])
    found = searching(names, Beam(nodes=nodes))(scores).search()
    assert found.outcome.acyclic if nodes == 10 else found.outcome.next_best
    heads = get_encoding("1p-brackets").decode([Column(found.labels[0], names[0])], offsets_of([5]))
    heads = [max(head, 0) for head in heads.tolist()]
    assert heads == found.heads.tolist()
    assert heads.count(0) == 1
    Tree(tuple(heads), tuple("root" if head == 0 else "dep" for head in heads))


@pytest.mark.parametrize("name", list(LABEL_SETS))
def test_wherever_there_is_a_tree_there_is_no_cycle(name: str) -> None:
    """Noise for scores, so that nearly every path has a cycle."""
    planes, words, sentences = LABEL_SETS[name], 15, 60
    result = searching(planes, Beam(nodes=2000), mass=EVERY_LABEL)(noise(planes, [words] * sentences, 9)).search()
    outcome = result.outcome
    assert outcome.acyclic > 0 or name == "closers first"  # whose labels make no cycles
    chosen = result.labels[: len(planes)].T.reshape(sentences, words, len(planes))
    good = 0
    for sentence in chosen.tolist():
        found = follow(tuple(tuple(planes[p][label] for p, label in enumerate(pair)) for pair in sentence))
        good += found is not None and is_tree(found[0])
    assert good == sentences - outcome.lost
    assert outcome.lost < sentences / 10


def test_a_narrow_beam_is_widened_before_the_search_gives_up() -> None:
    planes, words, sentences = LABEL_SETS["two planes"], 12, 60
    scores = noise(planes, [words] * sentences, 4)
    narrow, only_narrow = (searching(planes, Beam(states=2, wider=wider))(scores).search().outcome for wider in (50, 1))
    assert narrow.sentences == only_narrow.sentences == sentences
    assert narrow.widened > 0
    assert narrow.lost < only_narrow.lost


def test_a_cycle_that_the_whole_lattice_does_not_hold() -> None:
    """The quick search looks beyond the margin, the lattice does not, so that no path of it may reach the end."""
    planes, words, sentences = LABEL_SETS["one plane"], 8, 50
    search = searching(planes, Beam(margin=0.0), mass=EVERY_LABEL)
    outcome = search(noise(planes, [words] * sentences, 1)).search().outcome
    assert outcome.next_best == outcome.widened == sentences


def test_no_label_that_fits() -> None:
    """Words that all open and never close: the labels stay as they are, for greedy decoding."""
    names = (("/", "<"),)
    scores = Scores(offsets_of([3]), {task: np.zeros((3, 2), np.float32) for task in ("plane1", "deprel")})
    found = searching(names)(scores).search()
    assert found.outcome == Outcome(lost=1, widened=1)
    assert found.labels[0].tolist() == [0, 0, 0]
    assert found.lost.tolist() == [0]


def test_sentences_of_no_words_and_no_sentences() -> None:
    names = LABEL_SETS["two planes"]
    assert searching(names)(noise(names, [0], 0, depths=True)).search().outcome.sentences == 1
    assert searching(names)(noise(names, [], 0, depths=True)).search().outcome.sentences == 0


@pytest.mark.parametrize("depths", [False, True])
@pytest.mark.parametrize("name", ["one plane", "two planes", "two planes, ordered"])
def test_the_quick_search_finds_what_the_whole_lattice_holds(name: str, depths: bool) -> None:
    """Sentences too long to enumerate, from nearly sure scores to noise."""
    planes, words, sentences = LABEL_SETS[name], 9, 12
    search = searching(planes, Beam(states=5000, margin=math.inf, rarest=0.0), mass=EVERY_LABEL)
    for spread in (0.2, 1.0, 4.0):
        scores = noise(planes, [words] * sentences, 17, depths=depths, spread=spread)
        found, offsets = search(scores).search(), scores.offsets
        for sentence, best in enumerate(search(scores).several(1)):
            if best:
                assert found.heads[offsets[sentence] : offsets[sentence + 1]].tolist() == best[0][0].tolist()
            else:
                assert sentence in found.lost


def test_the_widest_beam_takes_no_more_room_than_its_edges() -> None:
    planes = LABEL_SETS["two planes"]
    scores = noise(planes, [12] * 5, 4, depths=True)
    widest, wide = (searching(planes, Beam(states=states, rarest=0.0))(scores).search() for states in (WIDEST, 2000))
    assert widest.heads.tolist() == wide.heads.tolist()
