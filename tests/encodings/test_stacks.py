"""What brackets mean, against an interpreter that takes them one by one, with lists for stacks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biplanar.data.forest import Column, Forest, offsets_of
from biplanar.decoding.labels import encode
from biplanar.encodings import ENCODINGS
from biplanar.encodings.stacks import (
    POP_DEPENDENT,
    POP_HEAD,
    PUSH_DEPENDENT,
    PUSH_HEAD,
    SYMBOLS,
    apply_move,
    bracket_moves,
    depth_columns,
    depth_tasks,
    follow_moves,
    is_push,
    stack_of,
)
from tests import reference
from tests.strategies import SIGNS, any_heads, bracket_labels, small_trees, tree_of

every_encoding = pytest.mark.parametrize("name", reference.STRATEGIES)

FIGURE_1 = (0, 1, 1, 2, 1, 3)

Rows = list[tuple[str, ...]]  # by word, one label a plane


class Interpreter:
    """Reads labels sign by sign; what is no bracket means nothing."""

    def __init__(self, planes: int, words: int) -> None:
        self.heads = [-1] * words
        self.waiting: list[dict[str, list[int]]] = [{"<": [], "/": []} for _ in range(planes)]

    def read(self, sign: str, plane: int, word: int) -> None:
        """One sign of a word's label (words count from 1)."""
        stacks = self.waiting[plane]
        match sign:
            case "<" | "/":
                stacks[sign].append(word - 1)
            case "\\" if stacks["<"]:
                dependent = stacks["<"].pop()
                if dependent:
                    self.heads[dependent - 1] = word
            case ">" if stacks["/"]:
                self.heads[word - 1] = stacks["/"].pop()

    def read_all(self, rows: Rows) -> None:
        """A sentence."""
        for word, labels in enumerate(rows, 1):
            for plane, label in enumerate(labels):
                for sign in label:
                    self.read(sign, plane, word)

    @property
    def depths(self) -> list[int]:
        """Of all stacks, the left one of a plane first."""
        return [len(stack) for plane in self.waiting for stack in plane.values()]


def interpreted(rows: Rows, planes: int) -> list[int]:
    interpreter = Interpreter(planes, len(rows))
    interpreter.read_all(rows)
    return interpreter.heads


def columns_of(rows: Rows, planes: int) -> list[Column]:
    return [Column.of(row[plane] for row in rows) for plane in range(planes)]


def followed(columns: Sequence[Column], lengths: list[int]) -> list[int]:
    moves = bracket_moves([column.names for column in columns])
    return follow_moves(np.stack([column.ids for column in columns]), offsets_of(lengths), *moves).tolist()


def rows_of_labels(planes: int) -> st.SearchStrategy[Rows]:
    return st.lists(st.tuples(*[bracket_labels()] * planes), min_size=1, max_size=15)


class TestMoves:
    def test_each_bracket_is_a_move(self):
        moves = bracket_moves([("</\\>",)])
        assert moves.moves.tolist() == [PUSH_DEPENDENT, PUSH_HEAD, POP_DEPENDENT, POP_HEAD]
        assert moves.moves.dtype == np.uint8

    def test_each_move_concerns_one_stack_of_its_plane(self):
        assert [stack_of(move, 0) for move in range(4)] == [0, 1, 0, 1]
        assert [stack_of(move, 1) for move in range(4)] == [2, 3, 2, 3]
        assert [is_push(move) for move in range(4)] == [True, True, False, False]

    def test_labels_stand_end_to_end_task_after_task(self):
        moves = bracket_moves([("_", "<\\"), (), ("/>", "<")])
        assert moves.moves.tolist() == [PUSH_DEPENDENT, POP_DEPENDENT, PUSH_HEAD, POP_HEAD, PUSH_DEPENDENT]
        assert moves.starts.tolist() == [0, 0, 2, 4, 5]
        assert moves.first_label.tolist() == [0, 2, 2, 4]

    @given(names=st.lists(st.lists(bracket_labels(), max_size=8), min_size=1, max_size=3))
    def test_a_labels_moves_are_its_brackets(self, names):
        moves = bracket_moves(names)
        labels = [name for task in names for name in task]
        assert len(moves.starts) == len(labels) + 1
        for number, label in enumerate(labels):
            own = moves.moves[moves.starts[number] : moves.starts[number + 1]]
            assert "".join(SYMBOLS[move] for move in own) == "".join(sign for sign in label if sign in SIGNS)
        assert [labels[start:end] for start, end in pairwise(moves.first_label)] == names


class TestOneMove:
    @given(signs=st.lists(st.tuples(st.sampled_from(SIGNS), st.integers(0, 1)), max_size=40), data=st.data())
    def test_any_sequence_does_what_the_interpreter_does(self, signs, data):
        """Heads and depths after every single move."""
        words = 8
        stacks, depths = np.zeros((4, 40), dtype=np.int32), np.zeros(4, dtype=np.int64)
        heads = np.full(words, -1, dtype=np.int32)
        interpreter = Interpreter(2, words)
        for (sign, plane), word in zip(signs, sorted(data.draw(places(len(signs), words))), strict=True):
            apply_move(SYMBOLS.index(sign), plane, word, stacks, depths, heads)
            interpreter.read(sign, plane, word)
            assert heads.tolist() == interpreter.heads
            assert depths.tolist() == interpreter.depths

    def test_the_word_before_the_first_gets_no_head(self):
        stacks, depths, heads = np.zeros((2, 2), np.int32), np.array([1, 0]), np.full(2, -1, np.int32)
        apply_move(POP_DEPENDENT, 0, 2, stacks, depths, heads)
        assert (depths.tolist(), heads.tolist()) == ([0, 0], [-1, -1])

    def test_but_may_be_one(self):
        stacks, depths, heads = np.zeros((2, 2), np.int32), np.array([0, 1]), np.full(2, -1, np.int32)
        apply_move(POP_HEAD, 0, 2, stacks, depths, heads)
        assert (depths.tolist(), heads.tolist()) == ([0, 0], [-1, 0])


def places(count: int, words: int) -> st.SearchStrategy[list[int]]:
    return st.lists(st.integers(1, words), min_size=count, max_size=count)


class TestFollowing:
    @pytest.mark.parametrize("planes", [1, 2, 3])
    @given(data=st.data())
    def test_any_labels_assert_what_the_interpreter_finds(self, data, planes):
        rows = data.draw(rows_of_labels(planes))
        assert followed(columns_of(rows, planes), [len(rows)]) == interpreted(rows, planes)

    @given(sentences=st.lists(rows_of_labels(2), min_size=1, max_size=5))
    def test_each_sentence_begins_with_empty_stacks(self, sentences):
        columns = columns_of([row for rows in sentences for row in rows], 2)
        alone = [head for rows in sentences for head in interpreted(rows, 2)]
        assert followed(columns, [len(rows) for rows in sentences]) == alone

    @given(rows=rows_of_labels(2), seed=st.integers(0, 99))
    def test_labels_without_a_name_do_nothing(self, rows, seed):
        random = Random(seed)
        columns = columns_of(rows, 2)
        hidden = [[random.random() < 0.3 for _ in rows] for _ in columns]
        unnamed = [
            Column(np.where(hide, -1, column.ids).astype(np.int32), column.names)
            for column, hide in zip(columns, hidden, strict=True)
        ]
        emptied = [
            tuple("" if hide else label for label, hide in zip(row, hides, strict=True))
            for row, hides in zip(rows, zip(*hidden, strict=True), strict=True)
        ]
        assert followed(unnamed, [len(rows)]) == interpreted(emptied, 2)

    def test_no_words(self):
        assert followed([Column(np.zeros(0, dtype=np.int32), ("<",))], []) == []
        assert followed([Column(np.zeros(0, dtype=np.int32), ())], [0, 0]) == []


class TestDepths:
    def depths(self, heads: tuple[int, ...], name: str) -> dict[str, list[str]]:
        encoding, forest = ENCODINGS[name], Forest.from_trees([tree_of(heads)])
        columns = depth_columns(encoding, encoding.encode(forest), forest.offsets)
        return {task: column.labels() for task, column in columns.items()}

    def test_names_of_tasks(self):
        assert depth_tasks(["plane1", "other"]) == [
            "depth.plane1.left",
            "depth.plane1.right",
            "depth.other.left",
            "depth.other.right",
        ]

    def test_figure_1(self):
        # In the first plane `_ ///> > _ > _`, in the second `_ _ / > _ _`.
        assert self.depths(FIGURE_1, "2p-greedy") == {
            "depth.plane1.left": list("000000"),
            "depth.plane1.right": list("021100"),
            "depth.plane2.left": list("000000"),
            "depth.plane2.right": list("001000"),
        }

    def test_all_four_brackets(self):
        # `_ < </\\> /\\ >`
        assert self.depths((3, 4, 2, 0, 3), "1p-brackets") == {
            "depth.plane1.left": list("01100"),
            "depth.plane1.right": list("00010"),
        }

    def test_the_deepest_label_stands_for_all_deeper_ones(self):
        assert self.depths((0, *[1] * 15), "1p-brackets")["depth.plane1.right"] == [
            *("0", "12", "12", "12"),
            *(str(depth) for depth in range(11, -1, -1)),
        ]
        assert self.depths((*[15] * 14, 0), "1p-brackets")["depth.plane1.left"] == [
            *(str(depth) for depth in range(13)),
            *("12", "0"),
        ]

    def test_a_label_is_numbered_by_its_depth(self):
        encoding, forest = ENCODINGS["2p-full"], Forest.from_trees([tree_of(FIGURE_1)])
        for column in depth_columns(encoding, encoding.encode(forest), forest.offsets).values():
            assert column.names == tuple(str(depth) for depth in range(13))

    def test_each_sentence_begins_with_empty_stacks(self):
        open_end = Column.of(["_", "//", "<", "_", "/"])
        columns = depth_columns(ENCODINGS["1p-brackets"], [open_end], offsets_of([3, 2]))
        assert columns["depth.plane1.right"].ids.tolist() == [0, 2, 2, 0, 1]
        assert columns["depth.plane1.left"].ids.tolist() == [0, 0, 1, 0, 0]

    def test_labels_without_a_name_change_no_depth(self):
        column = Column(np.array([0, -1, 1], dtype=np.int32), ("/", ">"))
        columns = depth_columns(ENCODINGS["1p-brackets"], [column], offsets_of([3]))
        assert columns["depth.plane1.right"].ids.tolist() == [1, 1, 0]

    @every_encoding
    def test_every_small_tree_ends_with_empty_stacks(self, name):
        encoding, forest = ENCODINGS[name], Forest.from_trees(small_trees())
        for column in depth_columns(encoding, encoding.encode(forest), forest.offsets).values():
            assert (column.ids[forest.offsets[1:] - 1] == 0).all()

    @every_encoding
    @given(heads=any_heads(40))
    def test_they_are_the_depths_of_the_interpreters_stacks(self, heads, name):
        found = self.depths(heads, name)
        tasks = depth_tasks(ENCODINGS[name].tasks)
        assert list(found) == tasks
        interpreter = Interpreter(len(tasks) // 2, len(heads))
        for word, (*labels, _) in enumerate(encode(tree_of(heads), name), 1):
            for plane, label in enumerate(labels):
                for sign in label:
                    interpreter.read(sign, plane, word)
            deepest = [str(min(depth, 12)) for depth in interpreter.depths]
            assert [found[task][word - 1] for task in tasks] == deepest
        assert not any(interpreter.depths)
