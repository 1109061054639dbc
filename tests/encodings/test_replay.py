"""What is shown of a decoding is what the compiled decoders do."""

from __future__ import annotations

from random import Random
from types import SimpleNamespace

import numpy as np
import pytest

from biplanar import Tree, encode
from biplanar.data.forest import Column
from biplanar.encodings import ENCODINGS, get_encoding
from biplanar.encodings.encoding import AUTOMATON
from biplanar.encodings.replay import Replay, replay
from tests.strategies import projective_heads, random_heads, tree_of

NAMES = [name for name, encoding in ENCODINGS.items() if encoding.kind == AUTOMATON]


def trees() -> list[Tree]:
    random = Random(7)
    makers = (projective_heads, random_heads)
    return [tree_of(makers[number % 2](random.randrange(1, 13), random)) for number in range(120)]


def labels_of(tree: Tree, name: str) -> list[str]:
    return [row[0] for row in encode(tree, name)]


def heads_of(shown: Replay, words: int) -> list[int]:
    heads = [-1] * words
    for step in shown.steps:
        for arc in step.arcs:
            heads[arc.dependent - 1] = arc.head
    return heads


def left_on_stacks(shown: Replay) -> list[list[int]]:
    """The stacks at the end, from pushes and pops alone."""
    stacks: list[list[int]] = [[] for _ in shown.stacks]
    for stack, word in shown.first:
        stacks[stack].append(word)
    for step in shown.steps:
        for stack, place in step.pops:
            del stacks[stack][place]
        for stack, word in step.pushes:
            stacks[stack].append(word)
    return stacks


@pytest.mark.parametrize("name", NAMES)
class TestEncodings:
    def test_it_finds_the_heads_that_decoding_finds(self, name):
        for tree in trees():
            labels = labels_of(tree, name)
            decoded = get_encoding(name).decode([Column.of(labels)], np.array([0, len(labels)]))
            assert heads_of(replay(get_encoding(name), labels), len(labels)) == decoded.tolist(), tree

    def test_it_does_so_with_labels_in_any_order(self, name):
        """These fit no tree, so that stacks are empty where something is to be taken."""
        random = Random(8)
        for tree in trees():
            labels = random.sample(labels_of(tree, name), len(tree))
            decoded = get_encoding(name).decode([Column.of(labels)], np.array([0, len(labels)]))
            assert heads_of(replay(get_encoding(name), labels), len(labels)) == decoded.tolist(), labels

    def test_pushes_and_pops_tell_the_stacks(self, name):
        for tree in trees():
            shown = replay(get_encoding(name), labels_of(tree, name))
            assert left_on_stacks(shown) == [[entry.word for entry in stack] for stack in shown.entries]

    def test_every_sign_has_its_step(self, name):
        """Parts follow each other from word to word, and have a story."""
        for tree in trees():
            labels = labels_of(tree, name)
            shown = replay(get_encoding(name), labels)
            assert all(step.story and step.part.end <= len(labels[step.part.word - 1]) for step in shown.steps)
            words = [step.part.word for step in shown.steps]
            assert words == sorted(words)
            signs = {(step.part.word, at) for step in shown.steps for at in range(step.part.start, step.part.end)}
            if name in ("hierarchical", "arc-standard", "arc-eager", "arc-hybrid"):
                assert signs == {
                    (word, at) for word, label in enumerate(labels, 1) if label != "_" for at in range(len(label))
                }


class TestByHand:
    def test_partners(self):
        """Both brackets of a structural arc say it."""
        (arc,) = [
            arc
            for step in replay(ENCODINGS["hierarchical"], ["/^", ">^>^"]).steps
            for arc in step.arcs
            if arc.head == 1
        ]
        assert (arc.head, arc.dependent) == (1, 2)
        assert set(arc.parts) == {(1, 0, 2, 1), (2, 0, 2, 1)}

    def test_brackets_in_two_planes(self):
        shown = replay(ENCODINGS["2p-full"], ["_", "</", "\\>"], ["_", "_", "/"])
        assert [step.part for step in shown.steps] == [
            (2, 0, 1, 1),
            (2, 1, 2, 1),
            (3, 0, 1, 1),
            (3, 1, 2, 1),
            (3, 0, 1, 2),
        ]
        assert [(arc.head, arc.dependent, arc.parts) for step in shown.steps for arc in step.arcs] == [
            (3, 1, ((3, 0, 1, 1), (2, 0, 1, 1))),
            (1, 3, ((3, 1, 2, 1), (2, 1, 2, 1))),
        ]
        assert left_on_stacks(shown) == [[], [], [], [2]]

    def test_an_encoding_that_cannot_tell(self):
        assert replay(SimpleNamespace(kind="unheard of"), ["_"]) is None


class TestAnyText:
    """Labels need not be an encoder's."""

    def test_brackets(self):
        random, brackets = Random(3), get_encoding("2p-full")
        for _ in range(400):
            words = random.randrange(1, 12)
            labels = [
                ["".join(random.choices("</\\>_x", k=random.randrange(5))) for _ in range(words)] for _ in range(2)
            ]
            decoded = brackets.decode([Column.of(row) for row in labels], np.array([0, words]))
            shown = replay(brackets, *labels)
            assert heads_of(shown, words) == decoded.tolist(), labels
            assert left_on_stacks(shown) == [[entry.word for entry in stack] for stack in shown.entries]

    @pytest.mark.parametrize("name", ["rel-pos", "absolute", "relative"])
    def test_labels_that_name_heads(self, name):
        random, known = (
            Random(4),
            ["-1@ROOT", "+1@ROOT", "+1@NOUN", "-2@VERB", "+0@NOUN", "+3@VERB", "-1@", "@", "²", ""],
        )
        known += [*map(str, range(-9, 10)), "+1", "+2", "+9", "0000000001", "1e3", " 1"]
        for _ in range(300):
            words = random.randrange(1, 9)
            labels, upos = random.choices(known, k=words), random.choices(["NOUN", "VERB", "_", ""], k=words)
            decoded = get_encoding(name).decode([Column.of(labels)], np.array([0, words]), Column.of(upos))
            assert heads_of(replay(get_encoding(name), labels, upos=upos), words) == decoded.tolist(), labels
