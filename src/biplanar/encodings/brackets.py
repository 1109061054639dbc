r"""Bracket labels, in one plane or two.

A left arc from h to d puts `<` on word d+1 and `\` on word h; a right arc from h to d puts `/` on word h+1 and `>` on
word d. The root's arc gets no brackets. In the paper's labels a word's brackets stand in the order `<` `/` `\` `>`;
where closers come first, `\` and `>` whose partner is not the previous word stand before `<` and `/`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from biplanar.compiled import compiled
from biplanar.data.arrays import Int32s, Int64s
from biplanar.data.forest import Column, Forest
from biplanar.errors import LabelError, TreeError
from biplanar.planes.assignment import Planes, Strategy, assign_planes

EMPTY = "_"
SYMBOLS = "</\\>"

# Tasks that say how deep a stack is after each word: the deepest label stands for all that is deeper.
DEPTH_TASK = "depth."
DEEPEST = 12

# A label as one number: how often each bracket stands in each of its places, with `COUNT_BITS` bits for repeated ones.
COUNT_BITS = 20
LONGEST = (1 << COUNT_BITS) - 1
OPEN_LEFT, CLOSE_RIGHT_EARLY, CLOSE_RIGHT_LATE = 1, 2, 4
OPEN_RIGHT_AT, CLOSE_LEFT_EARLY_AT, CLOSE_LEFT_LATE_AT = 3, 3 + COUNT_BITS, 3 + 2 * COUNT_BITS


@dataclass(frozen=True)
class Brackets:
    """The bracket encodings: one plane for all arcs, or two planes given out by a strategy."""

    name: str
    strategy: Strategy | None
    needs_upos: bool = False

    @property
    def tasks(self) -> tuple[str, ...]:
        """One label a plane."""
        return ("plane1",) if self.strategy is None else ("plane1", "plane2")

    def planes(self, forest: Forest) -> Planes:
        """The plane of every arc, 0 for the root's and for arcs that got none."""
        if self.strategy is None:
            return np.asarray(forest.heads > 0, dtype=np.int8)
        return assign_planes(forest, self.strategy)

    def encode(self, forest: Forest) -> tuple[Column, ...]:
        """Brackets for all arcs that got a plane."""
        self._check(forest)
        planes = self.planes(forest)
        early = self.strategy is not None and self.strategy.closers_first
        return tuple(_plane_labels(forest, planes, plane, early) for plane in range(1, len(self.tasks) + 1))

    def decode(self, columns: Sequence[Column], offsets: Int64s, upos: Column | None = None) -> Int32s:
        """Match brackets on a stack for each direction and plane; a later arc of a word replaces an earlier one."""
        symbols, starts, first_label = label_symbols([column.names for column in columns])
        ids = np.stack([column.ids for column in columns])
        return np.asarray(_match(ids, offsets, symbols, starts, first_label))

    def depths(self, columns: Sequence[Column], offsets: Int64s) -> dict[str, Column]:
        r"""How deep each stack is after each word, by tasks named `depth.plane1.left` and so on.

        `<` and `\` have the left stack, `/` and `>` the right one. The labels must be balanced, as those of trees are.
        """
        names = tuple(str(depth) for depth in range(DEEPEST + 1))
        result = {}
        for task, column in zip(self.tasks, columns, strict=True):
            for side, opener, closer in (("left", "<", "\\"), ("right", "/", ">")):
                changes = [name.count(opener) - name.count(closer) for name in column.names]
                depths = _running_sums(np.array([*changes, 0])[column.ids], offsets)  # 0: of labels without a name
                ids = depths.clip(0, DEEPEST).astype(np.int32)
                result[f"{DEPTH_TASK}{task}.{side}"] = Column(ids, names)
        return result

    def _check(self, forest: Forest) -> None:
        roots = forest.roots()
        if (roots != 1).any():
            sentence = int(np.argmax(roots != 1))
            message = f"{self.name} needs trees with one root, found one with {roots[sentence]}"
            raise TreeError(message, sentence)
        if np.diff(forest.offsets).max(initial=0) > LONGEST:
            raise LabelError(f"{self.name} takes sentences of up to {LONGEST} words")


def _running_sums(values: Int64s, offsets: Int64s) -> Int64s:
    """Sums from the start of each sentence up to each word, that word included."""
    sums = np.concatenate([[0], np.cumsum(values)])
    return np.asarray(sums[1:] - np.repeat(sums[offsets[:-1]], np.diff(offsets)))


def _plane_labels(forest: Forest, planes: Planes, plane: int, early: bool) -> Column:
    ids, codes = _number(_codes(forest.heads, forest.offsets, planes, plane, early))
    return Column(ids, tuple(_label(code) for code in codes.tolist()))


def _label(code: int) -> str:
    r"""The brackets of one label; `<` `/` `\` `>` with the early closers before them."""
    early_left, right, late_left = (
        code >> at & LONGEST for at in (CLOSE_LEFT_EARLY_AT, OPEN_RIGHT_AT, CLOSE_LEFT_LATE_AT)
    )
    early = "\\" * early_left + ">" * bool(code & CLOSE_RIGHT_EARLY)
    openers = "<" * (code & OPEN_LEFT) + "/" * right
    late = "\\" * late_left + ">" * bool(code & CLOSE_RIGHT_LATE)
    return early + openers + late or EMPTY


@compiled()
def _codes(heads: Int32s, offsets: Int64s, planes: Planes, plane: int, closers_first: bool) -> Int64s:
    """The brackets of one plane, word by word, as numbers."""
    codes = np.zeros(len(heads), dtype=np.int64)
    for s in range(len(offsets) - 1):
        base = offsets[s] - 1
        for at in range(offsets[s], offsets[s + 1]):
            if planes[at] != plane:
                continue
            d = at - base
            h = heads[at]
            early = closers_first and abs(h - d) > 1
            if h > d:
                codes[at + 1] += OPEN_LEFT
                codes[base + h] += 1 << (CLOSE_LEFT_EARLY_AT if early else CLOSE_LEFT_LATE_AT)
            else:
                codes[base + h + 1] += 1 << OPEN_RIGHT_AT
                codes[at] += CLOSE_RIGHT_EARLY if early else CLOSE_RIGHT_LATE
    return codes


@compiled()
def _number(codes: Int64s) -> tuple[Int32s, Int64s]:
    """Number the distinct codes by first appearance, with an open-addressing table that never fills up."""
    size = 1024
    while size < 2 * len(codes):
        size *= 2
    table = np.full(size, -1, dtype=np.int32)
    ids = np.empty(len(codes), dtype=np.int32)
    distinct = np.empty(len(codes), dtype=np.int64)
    count = 0
    for at in range(len(codes)):
        code = codes[at]
        slot = ((code * 0x9E3779B97F4A7C15) >> 20) & (size - 1)
        while table[slot] >= 0 and distinct[table[slot]] != code:
            slot = (slot + 1) & (size - 1)
        if table[slot] < 0:
            table[slot] = count
            distinct[count] = code
            count += 1
        ids[at] = table[slot]
    return ids, distinct[:count].copy()


def label_symbols(names_by_task: list[tuple[str, ...]]) -> tuple[NDArray[np.uint8], Int64s, Int64s]:
    """All labels' brackets end to end, where each label starts, and the first label of each task.

    What is no bracket is passed over, so that any text is a label.
    """
    labels = [[SYMBOLS.index(sign) for sign in name if sign in SYMBOLS] for names in names_by_task for name in names]
    symbols = np.array([symbol for label in labels for symbol in label], dtype=np.uint8)
    starts = np.cumsum([0, *map(len, labels)], dtype=np.int64)
    first_label = np.cumsum([0, *map(len, names_by_task)], dtype=np.int64)
    return symbols, starts, first_label


@compiled()
def _match(
    ids: NDArray[np.int32], offsets: Int64s, symbols: NDArray[np.uint8], starts: Int64s, first_label: Int64s
) -> Int32s:
    tasks, total = ids.shape
    heads = np.full(total, -1, dtype=np.int32)
    most = 0  # brackets in one sentence: as deep as a stack can get
    for s in range(len(offsets) - 1):
        brackets = 0
        for task in range(tasks):
            for at in range(offsets[s], offsets[s + 1]):
                if ids[task, at] >= 0:
                    label = first_label[task] + ids[task, at]
                    brackets += starts[label + 1] - starts[label]
        most = max(most, brackets)
    stacks = np.empty((2 * tasks, most), dtype=np.int32)
    depths = np.zeros(2 * tasks, dtype=np.int64)
    for s in range(len(offsets) - 1):
        base = offsets[s] - 1
        for stack in range(2 * tasks):
            depths[stack] = 0
        for at in range(offsets[s], offsets[s + 1]):
            word = at - base
            for task in range(tasks):
                number = ids[task, at]
                if number < 0:
                    continue
                label = first_label[task] + number
                for place in range(starts[label], starts[label + 1]):
                    symbol = symbols[place]
                    stack = 2 * task + (symbol & 1)  # `<` and `\` have one, `/` and `>` the other
                    if symbol < 2:
                        stacks[stack, depths[stack]] = word - 1
                        depths[stack] += 1
                    elif depths[stack] > 0:
                        depths[stack] -= 1
                        partner = stacks[stack, depths[stack]]
                        if symbol == 3:
                            heads[at] = partner
                        elif partner > 0:  # a `<` on the first word has no dependent
                            heads[base + partner] = word
    return heads
