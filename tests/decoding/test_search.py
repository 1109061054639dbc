"""The search against enumeration: of all label sequences, the best that is a tree."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import numpy as np
import pytest

from biplanar.data.forest import Column, offsets_of
from biplanar.data.tree import Tree
from biplanar.decoding.scores import depth_tasks
from biplanar.decoding.search import WIDEST, Beam, Outcome, Search, describe_labels
from biplanar.encodings import get_encoding
from biplanar.errors import BiplanarError

EXACT = Beam(states=10**4, margin=math.inf, rarest=0.0, edges=10**9, nodes=10**7)
DEPRELS = ("root", "dep")
ROOTS = np.array([True, False])

# Small label sets with the paper's order of brackets, with closers first, and with two planes.
LABEL_SETS: dict[str, tuple[tuple[str, ...], ...]] = {
    "one plane": (("_", "<", "/", "\\", ">", "<\\", "/>", "</\\>"),),
    "closers first": (("_", "<\\", "/>", "<", "\\<\\", "\\", "/", ">/"),),
    "two planes": (("_", "<", "/>", "\\"), ("_", ">", "<\\")),
    "few labels in two planes": (("_", "/", ">", "<\\"), ("_", "/>")),
    "many closers": (("_", "<", "/", "\\\\", "</\\>", ">"), ("_", "\\", "/>", "<\\")),
    "two planes, ordered": (("_", "<\\", "\\<", ">/"), ("_", "/", ">")),
}


class Sequence(NamedTuple):
    """One well-formed way to label a sentence."""

    labels: tuple[tuple[int, ...], ...]  # by word, then plane
    heads: tuple[int, ...]
    score: float


def random_scores(rng: np.random.Generator, words: int, planes: tuple[tuple[str, ...], ...], *, depths: bool) -> dict:
    scores = {f"plane{number}": rng.normal(0, 2, (words, len(names))) for number, names in enumerate(planes, 1)}
    scores["deprel"] = rng.normal(0, 2, (words, len(DEPRELS)))
    if depths:
        scores |= {task: rng.normal(0, 2, (words, 3)) for task in depth_tasks(list(scores)[: len(planes)])}
    return {task: table.astype(np.float32) for task, table in scores.items()}


def log_softmax(row: np.ndarray) -> np.ndarray:
    row = row.astype(np.float64)
    return row - row.max() - np.log(np.exp(row - row.max()).sum())


def follow(labels: tuple[tuple[str, ...], ...]) -> tuple[list[int], list[list[int]]] | None:
    """Heads (0: none) and the depths after each word, by the letter of the encoding; None where anything is amiss."""
    heads = [0] * len(labels)
    stacks: list[list[int]] = [[] for _ in range(2 * len(labels[0]))]
    depths = []
    for word, planes in enumerate(labels, 1):
        for plane, label in enumerate(planes):
            for sign in label.replace("_", ""):
                stack = stacks[2 * plane + (sign in "/>")]
                if sign in "</":
                    stack.append(word - 1)
                    continue
                if not stack:
                    return None
                partner = stack.pop()
                head, dependent = (word, partner) if sign == "\\" else (partner, word)
                if dependent == 0 or head == 0 or heads[dependent - 1]:
                    return None
                heads[dependent - 1] = head
        depths.append([len(stack) for stack in stacks])
    return None if any(stacks) else (heads, depths)


def loops(heads: list[int], word: int) -> bool:
    for _ in heads:
        word = heads[word - 1] if word else 0
    return word != 0


def enumerate_all(scores: dict, planes: tuple[tuple[str, ...], ...]) -> Iterator[Sequence]:
    words = len(scores["deprel"])
    tasks = [f"plane{number}" for number in range(1, len(planes) + 1)]
    tables = {task: [log_softmax(row) for row in table] for task, table in scores.items()}
    pairs = list(product(*(range(len(names)) for names in planes)))
    for chosen in product(pairs, repeat=words):
        found = follow(tuple(tuple(planes[p][label] for p, label in enumerate(pair)) for pair in chosen))
        if found is None or found[0].count(0) != 1:
            continue
        heads, depths = found
        if any(loops(heads, word) for word in range(1, words + 1)):
            continue
        score = sum(tables[task][w][pair[p]] for w, pair in enumerate(chosen) for p, task in enumerate(tasks))
        score += sum(tables["deprel"][w][0 if head == 0 else 1] for w, head in enumerate(heads))
        for stack, task in enumerate(depth_tasks(tasks)):
            if task in tables:
                score += sum(tables[task][w][min(depths[w][stack], 2)] for w in range(words))
        yield Sequence(chosen, tuple(heads), float(score))


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


def searching(planes: tuple[tuple[str, ...], ...], beam: Beam | None = None, **more: float) -> Search:
    return Search.over({f"plane{number}": names for number, names in enumerate(planes, 1)}, beam, **more)


def prepared(
    name: str, words: int, depths: bool, seed: int, spread: float = 1.0
) -> tuple[list[Sequence], dict, Search]:
    planes = LABEL_SETS[name]
    scores = random_scores(np.random.default_rng(seed), words, planes, depths=depths)
    scores = {task: np.float32(spread) * table for task, table in scores.items()}
    everything = sorted(enumerate_all(scores, planes), key=lambda one: -one.score)
    return everything, scores, searching(planes, EXACT, mass=2.0, depth_weight=1.0)  # all labels


@pytest.mark.parametrize(("name", "words", "depths"), CASES)
def test_the_best_sequence_is_found(name: str, words: int, depths: bool) -> None:
    for seed in range(8 if words < 5 else 3):
        everything, scores, search = prepared(name, words, depths, seed)
        found = search.best(scores, ROOTS, offsets_of([words]))
        if not everything:
            assert found.outcome.lost == 1
            assert found.lost.tolist() == [0]
            continue
        columns = found.labels[: len(LABEL_SETS[name])]
        assert tuple(zip(*(column.tolist() for column in columns), strict=True)) == everything[0].labels
        assert tuple(found.heads.tolist()) == everything[0].heads
        assert found.outcome.lost == found.outcome.acyclic == len(found.lost) == 0


@pytest.mark.parametrize(("name", "words", "depths"), CASES)
def test_the_best_trees_are_found(name: str, words: int, depths: bool) -> None:
    everything, scores, search = prepared(name, words, depths, 11)
    assert everything or words == 1 or (name, words) == ("two planes, ordered", 2)
    best: dict[tuple[int, ...], float] = {}
    for one in everything:
        best.setdefault(one.heads, one.score)
    found = search.best_trees(search.boiled(scores, ROOTS), offsets_of([words]), 0, 6)
    assert [tuple(heads.tolist()) for heads, _ in found] == list(best)[:6]
    assert [score for _, score in found] == pytest.approx(list(best.values())[:6], abs=1e-3)


@pytest.mark.parametrize(("name", "words", "depths"), [case for case in CASES if case[1] > 2])
def test_drawn_trees_have_the_probabilities_of_enumeration(name: str, words: int, depths: bool) -> None:
    everything, scores, search = prepared(name, words, depths, 5, spread=0.3)
    weights = np.exp(np.array([one.score for one in everything]) - everything[0].score)
    expected, draws = np.zeros((words, words + 1)), 20_000
    for one, weight in zip(everything, weights / weights.sum(), strict=True):
        expected[np.arange(words), one.heads] += weight
    trees = search.draw_trees(search.boiled(scores, ROOTS), offsets_of([words]), 0, draws)
    assert len(trees) == draws
    found = np.stack([(trees == head).mean(axis=0) for head in range(words + 1)], axis=1)
    assert np.abs(found - expected).max() < 5 * 0.5 / math.sqrt(draws)


def test_draws_depend_on_the_seed_only() -> None:
    _, scores, search = prepared("one plane", 5, False, 5, spread=0.3)
    boiled, offsets = search.boiled(scores, ROOTS), offsets_of([5])
    one, again, other = (search.draw_trees(boiled, offsets, 0, 50, seed) for seed in (1, 1, 2))
    assert (one == again).all()
    assert (one != other).any()


def near_certain(labels: list[tuple[str, ...]], names: tuple[tuple[str, ...], ...], relations: list[str]) -> dict:
    """Scores that are nearly sure of these labels."""
    scores = {f"plane{p + 1}": np.zeros((len(labels), len(plane)), np.float32) for p, plane in enumerate(names)}
    scores["deprel"] = np.zeros((len(labels), len(DEPRELS)), np.float32)
    for word, row in enumerate(labels):
        for plane, label in enumerate(row):
            scores[f"plane{plane + 1}"][word, names[plane].index(label)] = 8
        scores["deprel"][word, DEPRELS.index(relations[word])] = 8
    return scores


def test_a_tree_is_returned_at_once_and_nothing_is_searched() -> None:
    names = LABEL_SETS["one plane"]
    scores = near_certain([("_",), ("<\\",), ("/>",)], names, ["dep", "root", "dep"])
    found = searching(names).best(scores, ROOTS, offsets_of([3]))
    assert found.outcome == Outcome(argmax=1)
    assert [names[0][label] for label in found.labels[0]] == ["_", "<\\", "/>"]
    assert found.heads.tolist() == [2, 0, 2]


def test_a_tree_whose_relations_disagree_is_searched() -> None:
    """Two words want to be the root: the labels stay, as no others are likelier."""
    names = LABEL_SETS["one plane"]
    scores = near_certain([("_",), ("<\\",), ("/>",)], names, ["root", "root", "dep"])
    assert searching(names).best(scores, ROOTS, offsets_of([3])).outcome == Outcome(best=1)


CYCLE = [("_",), ("<\\",), ("_",), ("</\\>",), ("/>",)]  # words 3 and 4 are each other's heads


@pytest.mark.parametrize("nodes", [20_000, 10])
def test_cycles_are_not_cut_but_avoided(nodes: int) -> None:
    names = LABEL_SETS["one plane"]
    scores = near_certain(CYCLE, names, ["dep", "root", "dep", "dep", "dep"])
    found = searching(names, Beam(nodes=nodes)).best(scores, ROOTS, offsets_of([5]))
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
    scores = random_scores(np.random.default_rng(9), words * sentences, planes, depths=False)
    result = searching(planes, Beam(nodes=2000), mass=2.0).best(scores, ROOTS, offsets_of([words] * sentences))
    outcome = result.outcome
    assert outcome.acyclic > 0 or name == "closers first"  # whose labels make no cycles
    chosen = result.labels[: len(planes)].T.reshape(sentences, words, len(planes))
    good = 0
    for sentence in chosen.tolist():
        found = follow(tuple(tuple(planes[p][label] for p, label in enumerate(pair)) for pair in sentence))
        good += found is not None and found[0].count(0) == 1 and not any(loops(found[0], w + 1) for w in range(words))
    assert good == sentences - outcome.lost
    assert outcome.lost < sentences / 10


def test_a_narrow_beam_is_widened_before_the_search_gives_up() -> None:
    rng = np.random.default_rng(4)
    planes, words, sentences = LABEL_SETS["two planes"], 12, 60
    scores = random_scores(rng, words * sentences, planes, depths=False)
    offsets = offsets_of([words] * sentences)
    narrow, only_narrow = (
        searching(planes, Beam(states=2, wider=wider)).best(scores, ROOTS, offsets).outcome for wider in (50, 1)
    )
    assert narrow.sentences == only_narrow.sentences == sentences
    assert narrow.widened > 0
    assert narrow.lost < only_narrow.lost


def test_a_cycle_that_the_whole_lattice_does_not_hold() -> None:
    """The quick search looks beyond the margin, the lattice does not, so that no path of it may reach the end."""
    planes, words, sentences = LABEL_SETS["one plane"], 8, 50
    offsets = offsets_of([words] * sentences)
    scores = random_scores(np.random.default_rng(1), words * sentences, planes, depths=False)
    search = searching(planes, Beam(margin=0.0), mass=2.0)
    outcome = search.best(scores, ROOTS, offsets).outcome
    assert outcome.next_best == outcome.widened == sentences


def test_no_label_that_fits() -> None:
    """Words that all open and never close: the labels stay as they are, for greedy decoding."""
    names = (("/", "<"),)
    scores = {"plane1": np.zeros((3, 2), np.float32), "deprel": np.zeros((3, 2), np.float32)}
    found = searching(names).best(scores, ROOTS, offsets_of([3]))
    assert found.outcome == Outcome(lost=1, widened=1)
    assert found.labels[0].tolist() == [0, 0, 0]
    assert found.lost.tolist() == [0]


def test_sentences_of_no_words_and_no_sentences() -> None:
    names = LABEL_SETS["two planes"]
    scores = random_scores(np.random.default_rng(0), 0, names, depths=True)
    assert searching(names).best(scores, ROOTS, offsets_of([0])).outcome.sentences == 1
    assert searching(names).best(scores, ROOTS, offsets_of([])).outcome.sentences == 0


def test_what_labels_need_depends_on_the_order_of_their_brackets() -> None:
    labels = describe_labels([("<\\", "\\<", "\\<\\", "/>", ">/", "<<", "_")])
    assert labels.needs.tolist()[:6] == [0, 1, 1, 0, 1 << 15, 0]
    assert labels.changes.tolist()[:5] == [0, 0, -1, 0, 0]
    assert labels.kinds.tolist()[5] == 8  # two heads for one word


@pytest.mark.parametrize("wrong", [{"states": 0}, {"states": -1}, {"states": 10**20}, {"wider": 0}, {"edges": 0}])
def test_beams_that_cannot_work_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(BiplanarError, match="expected a beam of 1 to 100000 states"):
        Beam(**wrong)


@pytest.mark.parametrize("depths", [False, True])
@pytest.mark.parametrize("name", ["one plane", "two planes", "two planes, ordered"])
def test_the_quick_search_finds_what_the_whole_lattice_holds(name: str, depths: bool) -> None:
    """Sentences too long to enumerate, from nearly sure scores to noise."""
    planes, words, sentences = LABEL_SETS[name], 9, 12
    search = searching(planes, Beam(states=5000, margin=math.inf, rarest=0.0), mass=2.0)
    offsets = offsets_of([words] * sentences)
    for spread in (0.2, 1.0, 4.0):
        scores = random_scores(np.random.default_rng(17), words * sentences, planes, depths=depths)
        scores = {task: np.float32(spread) * table for task, table in scores.items()}
        found, boiled = search.best(scores, ROOTS, offsets), search.boiled(scores, ROOTS)
        for sentence in range(sentences):
            best = search.best_trees(boiled, offsets, sentence, 1)
            if best:
                assert found.heads[offsets[sentence] : offsets[sentence + 1]].tolist() == best[0][0].tolist()
            else:
                assert sentence in found.lost


def test_the_widest_beam_takes_no_more_room_than_its_edges() -> None:
    planes, offsets = LABEL_SETS["two planes"], offsets_of([12] * 5)
    scores = random_scores(np.random.default_rng(4), 60, planes, depths=True)
    widest, wide = (
        searching(planes, Beam(states=states, rarest=0.0)).best(scores, ROOTS, offsets) for states in (WIDEST, 2000)
    )
    assert widest.heads.tolist() == wide.heads.tolist()
