"""Hexatags (Amini, Liu and Cotterell 2023): a tree as a binary one, whose leaves and inner nodes alternate.

Each head is joined with its left dependents, the nearest first, then with its right ones. A word's label has three
letters: whether its leaf is a left or right child (`l`, `r`); whether the node between it and the next word is one; and
on which side that node's head is (`L`, `R`). The topmost node counts as a left child; behind the last word stands `lL`,
which says nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from biplanar.compiled import compiled
from biplanar.data.arrays import Int32s, Int64s
from biplanar.data.forest import Column, Forest, longest_sentence
from biplanar.encodings.automata import Automaton, Machine, check_single_roots
from biplanar.encodings.encoding import AUTOMATON, WithoutPlanes
from biplanar.encodings.lifting import Lifting, lifted_heads
from biplanar.encodings.replay import Replay

# A label as a number.
RIGHT_LEAF, RIGHT_NODE, HEAD_ON_THE_RIGHT = 1, 2, 4
NAMES = tuple("lr"[code & 1] + "lr"[code >> 1 & 1] + "LR"[code >> 2] for code in range(8))


@dataclass(frozen=True)
class Hexatags(WithoutPlanes):
    """Eight labels. Every projective tree comes back; arcs of others are lifted."""

    name: str = "hexatags"
    tasks: tuple[str, ...] = ("hexatag",)
    kind: str = AUTOMATON
    lifting: Lifting | None = None

    def encode(self, forest: Forest) -> tuple[Column, ...]:
        """One label a word."""
        check_single_roots(forest, self.name)
        codes = _codes(lifted_heads(forest.heads, forest.offsets), forest.offsets)
        return (Column(codes, NAMES).without_unused(),)

    def decode(self, columns: Sequence[Column], offsets: Int64s, upos: Column | None = None) -> Int32s:
        """Build the binary tree from the left; a child without a place is a left one. No label says nothing."""
        (column,) = columns
        return np.asarray(_heads(np.array([*map(_read, column.names), -1], dtype=np.int32)[column.ids], offsets))

    def automaton(self, names: Sequence[str]) -> Automaton:
        """How many binary trees are open."""
        return MACHINE.automaton(names, lambda name: [_read(name)], lambda _: 1)

    def replay(self, labels: Sequence[str]) -> Replay:
        """The decoding of one sentence, step by step."""
        return _replay([_read(label) for label in labels])


def _read(name: str) -> int:
    return NAMES.index(name) if name in NAMES else -1


@compiled()
def _codes(heads: Int32s, offsets: Int64s) -> Int32s:
    codes = np.zeros(len(heads), dtype=np.int32)
    longest = longest_sentence(offsets)
    left_edge, right_edge = np.empty(longest + 1, dtype=np.int32), np.empty(longest + 1, dtype=np.int32)
    first, last = np.empty(longest + 1, dtype=np.int32), np.empty(longest + 1, dtype=np.int32)
    for s in range(len(offsets) - 1):
        base, words = offsets[s] - 1, offsets[s + 1] - offsets[s]
        for word in range(words + 1):
            first[word], last[word] = word, word  # outermost dependents, or the word itself
        for word in range(1, words + 1):
            head = heads[base + word]
            first[head], last[head] = min(first[head], word), max(last[head], word)
        for word in range(1, words + 1):
            left_edge[word] = word if first[word] == word else left_edge[first[word]]
        for word in range(words, 0, -1):
            right_edge[word] = word if last[word] == word else right_edge[last[word]]
        for word in range(1, words + 1):
            head = heads[base + word]
            is_right = 0 < head < word  # on which side of its parent the subtree of the word is
            if first[word] < word or (last[word] == word and is_right):
                codes[base + word] |= RIGHT_LEAF
            if head == 0:
                continue
            head_is_right = 0 < heads[base + head] < head
            if word < head:
                at = base + right_edge[word]
                codes[at] |= HEAD_ON_THE_RIGHT
                right = head_is_right and last[head] == head if first[head] == word else True
            else:
                at = base + left_edge[word] - 1
                right = head_is_right and last[head] == word
            if right:
                codes[at] |= RIGHT_NODE
    return codes


@compiled()
def _heads(codes: Int32s, offsets: Int64s) -> Int32s:
    """The heads, -1 for words that wait for one at the end.

    An open tree is a list of words that were joined with what is to fill its open place, the innermost last.
    """
    heads = np.full(len(codes), -1, dtype=np.int32)
    longest = longest_sentence(offsets)
    joined, on_the_right = np.empty(longest, dtype=np.int32), np.empty(longest, dtype=np.bool_)
    begins = np.empty(longest, dtype=np.int64)  # where the list of each open tree begins
    for s in range(len(offsets) - 1):
        base, count, trees = offsets[s] - 1, 0, 0
        top = 0
        for at in range(offsets[s], offsets[s + 1]):
            code = codes[at]
            if code < 0:
                continue
            top = at - base
            if code & RIGHT_LEAF and trees > 0:
                while count > begins[trees - 1]:
                    count -= 1
                    if on_the_right[count]:
                        heads[base + joined[count]] = top
                    else:
                        heads[base + top] = joined[count]
                        top = joined[count]
            else:
                begins[trees] = count
                trees += 1
            if at + 1 < offsets[s + 1]:
                if code & RIGHT_NODE and trees > 1:
                    trees -= 1
                joined[count], on_the_right[count] = top, code & HEAD_ON_THE_RIGHT > 0
                count += 1
        if trees == 1 and count == 0:
            heads[base + top] = 0
    return heads


def _next_state(trees: int, steps: Int32s, begin: int, end: int, is_last: bool) -> int:
    """How many trees are open after a word; -1 if its label cannot be."""
    code = steps[begin] if end > begin else -1
    if code < 0:
        return -1
    if not code & RIGHT_LEAF:
        trees += 1
    elif not trees:
        return -1
    if is_last and code & ~RIGHT_LEAF:
        return -1
    if code & RIGHT_NODE:
        trees -= 1
        if not trees:
            return -1
    return trees


MACHINE = Machine(_next_state, lambda trees: trees == 1)


def _replay(codes: list[int]) -> Replay:
    """An open tree lies on the first stack with its first word; the second has words joined with what comes next."""
    shown = Replay([("open trees", 0), ("joined words", 0)])
    begins: list[int] = []  # of the open trees, how many joined words were there before
    for word, code in enumerate(codes, 1):
        shown.step(word, 0, 1)
        top = word
        if code & RIGHT_LEAF and begins:
            top = _fill(shown, begins[-1], word)
        else:
            shown.say("a tree begins.")
            begins.append(len(shown.entries[1]))
            shown.push(0, word)
        if word < len(codes):
            side = "on the right" if code & HEAD_ON_THE_RIGHT else "on the left"
            shown.step(word, 1, 3, top, f" is joined with what comes next; the head is the one {side}")
            if code & RIGHT_NODE and len(begins) > 1:
                begins.pop()
                shown.pop(0)
                shown.say(", and its tree becomes part of the one before")
            shown.say(".")
            shown.push(1, top, code & HEAD_ON_THE_RIGHT)
        elif len(begins) == 1 and not shown.entries[1]:
            shown.link(0, top)
            shown.say(" ", top, " is the root.")
    return shown


def _fill(shown: Replay, begin: int, word: int) -> int:
    """Join a leaf with all words that wait in the last tree, the innermost first; gives the topmost word."""
    top = word
    shown.say("the last tree is complete with this word" + (":" if len(shown.entries[1]) > begin else "."))
    while len(shown.entries[1]) > begin:
        joined = shown.pop(1)
        head, dependent = (top, joined.word) if joined.code else (joined.word, top)
        shown.link(head, dependent, joined.part)
        shown.say(" ", head, " → ", dependent, ".")
        top = head
    return top
