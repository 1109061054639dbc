r"""Labels that move stacks. This is the one place that says what a bracket means.

A label is a sequence of moves, and each plane has two stacks: one of dependents that wait for a head to their right
(`<` and `\`), one of heads that wait for a dependent to their right (`/` and `>`). Pushed is always the previous word.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from biplanar.compiled import compiled
from biplanar.data.arrays import Bytes, Int32s, Int64s
from biplanar.data.forest import Column
from biplanar.encodings.encoding import Encoding
from biplanar.encodings.replay import Replay

# The moves, and the brackets that are written for them.
PUSH_DEPENDENT, PUSH_HEAD, POP_DEPENDENT, POP_HEAD = range(4)
SYMBOLS = "</\\>"

# The stacks of a plane.
SIDES = ("left", "right")

# Tasks that say how deep a stack is after each word: the deepest label stands for all that is deeper.
DEPTH_TASK = "depth."
DEEPEST_LABEL = 12


class Moves(NamedTuple):
    """What the labels of all tasks do."""

    moves: Bytes  # of all labels, end to end
    starts: Int64s  # where each label's moves start; the labels of a task stand behind those of the task before
    first_label: Int64s  # the first label of each task, and where those of the last one end


class StackEncoding(Encoding, Protocol):
    """An encoding whose labels move two stacks for each of its one or two tasks."""

    def moves(self, names: Sequence[Sequence[str]]) -> Moves:
        """What the labels of these names, by task, do."""


def bracket_moves(names: Sequence[Sequence[str]]) -> Moves:
    """The moves of labels that are written as brackets; what is no bracket is passed over, so any text is a label."""
    labels = [[SYMBOLS.index(sign) for sign in name if sign in SYMBOLS] for task in names for name in task]
    moves = np.array([move for label in labels for move in label], dtype=np.uint8)
    starts = np.cumsum([0, *map(len, labels)], dtype=np.int64)
    return Moves(moves, starts, np.cumsum([0, *map(len, names)], dtype=np.int64))


@compiled(inline=True)
def stack_of(move: int, plane: int) -> int:
    """The number of the stack that a move of a label of that plane (from 0) concerns."""
    return 2 * plane + (move & 1)


@compiled(inline=True)
def is_push(move: int) -> bool:
    """Whether a stack becomes deeper."""
    return move < POP_DEPENDENT


@compiled()
def apply_move(move: int, plane: int, word: int, stacks: Int32s, depths: Int64s, heads: Int32s) -> None:
    """Do one move of a word (from 1): `stacks` is (stacks, room), and heads stand where arcs are found.

    A pop from an empty stack does nothing, and so does one of the word before the first.
    """
    stack = stack_of(move, plane)
    if is_push(move):
        stacks[stack, depths[stack]] = word - 1
        depths[stack] += 1
    elif depths[stack] > 0:
        depths[stack] -= 1
        partner = stacks[stack, depths[stack]]
        if move == POP_HEAD:
            heads[word - 1] = partner
        elif partner > 0:
            heads[partner - 1] = word


@compiled()
def follow_moves(ids: Int32s, offsets: Int64s, moves: Bytes, starts: Int64s, first_label: Int64s) -> Int32s:
    """The heads that labels assert, -1 where they assert none; `ids` is (tasks, words), -1 for a label without name."""
    tasks, total = ids.shape
    heads = np.full(total, -1, dtype=np.int32)
    most = 0  # moves in one sentence: as deep as a stack can get
    for s in range(len(offsets) - 1):
        count = 0
        for task in range(tasks):
            for at in range(offsets[s], offsets[s + 1]):
                if ids[task, at] >= 0:
                    label = first_label[task] + ids[task, at]
                    count += starts[label + 1] - starts[label]
        most = max(most, count)
    stacks = np.empty((2 * tasks, most), dtype=np.int32)
    depths = np.zeros(2 * tasks, dtype=np.int64)
    for s in range(len(offsets) - 1):
        own = heads[offsets[s] : offsets[s + 1]]
        depths[:] = 0
        for at in range(offsets[s], offsets[s + 1]):
            word = at - offsets[s] + 1
            for task in range(tasks):
                if ids[task, at] >= 0:
                    label = first_label[task] + ids[task, at]
                    for place in range(starts[label], starts[label + 1]):
                        apply_move(moves[place], task, word, stacks, depths, own)
    return heads


def replay_brackets(*labels: Sequence[str]) -> Replay:
    """What `follow_moves` does with the brackets of one sentence, given by task."""
    names = ("left arcs (< \\)", "right arcs (/ >)")
    shown = Replay([(name, plane) for plane in range(1, len(labels) + 1) for name in names])
    for word, row in enumerate(zip(*labels, strict=True), 1):
        for task, label in enumerate(row, 1):
            for place, sign in enumerate(label):
                if sign in SYMBOLS:
                    shown.step(word, place, place + 1, task=task)
                    _replay_move(shown, SYMBOLS.index(sign), task - 1, word)
    return shown


def _replay_move(shown: Replay, move: int, plane: int, word: int) -> None:
    """What `apply_move` does."""
    stack = stack_of(move, plane)
    if is_push(move):
        waits_for = "its head" if move == PUSH_DEPENDENT else "a dependent"
        shown.push(stack, word - 1)
        shown.say(word - 1, f", the word before, goes on the stack to wait for {waits_for}.")
    elif not shown.entries[stack]:
        shown.say("the stack is empty, so nothing happens.")
    else:
        partner = shown.pop(stack)
        head, dependent = (partner.word, word) if move == POP_HEAD else (word, partner.word)
        shown.say("takes ", partner.word, " from the stack")
        if dependent:
            shown.link(head, dependent, partner.part)
            shown.say(*((": ", head, " → ", dependent, ".") if head else (": ", dependent, " is the root.")))
        else:
            shown.say(", which can have no head.")


def depth_tasks(tasks: Sequence[str]) -> list[str]:
    """The names of the tasks that predict how deep the stacks of each task are: `depth.plane1.left` and so on."""
    return [f"{DEPTH_TASK}{task}.{side}" for task in tasks for side in SIDES]


def depth_columns(encoding: StackEncoding, columns: Sequence[Column], offsets: Int64s) -> dict[str, Column]:
    """How deep each stack is after each word, by `depth_tasks`. The labels must be balanced, as those of trees are."""
    moves, names = encoding.moves([column.names for column in columns]), tuple(map(str, range(DEEPEST_LABEL + 1)))
    result = {}
    for plane, (task, column) in enumerate(zip(encoding.tasks, columns, strict=True)):
        first, last = moves.first_label[plane : plane + 2]
        labels = [moves.moves[moves.starts[label] : moves.starts[label + 1]] for label in range(first, last)]
        for side, depth_task in enumerate(depth_tasks([task])):
            changes = [_change(label, side) for label in labels]
            depths = _running_sums(np.array([*changes, 0])[column.ids], offsets)  # 0: of labels without a name
            result[depth_task] = Column(depths.clip(0, DEEPEST_LABEL).astype(np.int32), names)
    return result


def _change(moves: Bytes, side: int) -> int:
    """How much deeper a label makes the stack of one side."""
    return sum((1 if is_push(move) else -1) for move in moves.tolist() if stack_of(move, 0) == side)


def _running_sums(values: Int64s, offsets: Int64s) -> Int64s:
    """Sums from the start of each sentence up to each word, that word included."""
    sums = np.concatenate([[0], np.cumsum(values)])
    return np.asarray(sums[1:] - np.repeat(sums[offsets[:-1]], np.diff(offsets)))
