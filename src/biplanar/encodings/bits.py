"""Labels of a few bits (Gómez-Rodríguez, Roca and Vilares 2023): where a word's head is, and whether it has dependents.

The bits of a word: its head is on the left; its plane is the second; it is the outermost dependent of its head on its
side and in its plane; it has left dependents, right ones in plane 1; left ones, right ones in plane 2. `4-bit` has no
planes, and so the first, third, fourth and fifth bit. The root's head is 0, in plane 1.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from biplanar.compiled import compiled
from biplanar.data.arrays import Bools, Bytes, Int8s, Int32s, Int64s
from biplanar.data.forest import Column, Forest, longest_sentence
from biplanar.encodings.automata import Automaton, Machine, check_single_roots
from biplanar.encodings.encoding import AUTOMATON
from biplanar.encodings.lifting import Lifting, lifted_heads
from biplanar.encodings.replay import Replay
from biplanar.planes.assignment import Planes
from biplanar.planes.crossings import components

# A label as a number: the first bit is the lowest.
ON_THE_LEFT, SECOND_PLANE, OUTERMOST = 1, 2, 4
HAS_LEFT, HAS_RIGHT = (8, 32), (16, 64)  # by plane
FOUR = (ON_THE_LEFT, OUTERMOST, HAS_LEFT[0], HAS_RIGHT[0])
SEVEN = tuple(1 << bit for bit in range(7))
CODES = 1 << len(SEVEN)

STRICT, FULL = "strict", "full"
SECOND = 2

# A state of the search: four depths of `FIELD` bits, and whether the root was found.
FIELD = 15
DEEPEST = (1 << FIELD) - 1
ROOT_FOUND = 1 << (4 * FIELD)
STRING, MOST_ENTRIES = ROOT_FOUND - 1, 4 * FIELD - 3
MOST_CLOSED = 3  # by a label: a head, and dependents of two planes


@dataclass(frozen=True)
class Bits:
    """The labels of bits.

    `4-bit` brings back every projective tree, and lifts arcs of others. `7-bit` and `7-bit-full` bring back every tree
    all of whose arcs got a plane. In `7-bit`, as published, no arcs of a plane cross, and planes are given out greedily
    in the order of dependents; in `7-bit-full` only arcs of one direction are kept apart, wherever two planes suffice.
    """

    name: str
    planar: str | None = None  # how planes are given out: `STRICT`, `FULL`, or not at all
    tasks: tuple[str, ...] = ("bits",)
    needs_upos: bool = False
    kind: str = AUTOMATON
    lifting: Lifting | None = None

    @property
    def _bits(self) -> tuple[int, ...]:
        return FOUR if self.planar is None else SEVEN

    def planes(self, forest: Forest) -> Int8s | None:
        """The plane of every arc, 0 for arcs that got none; `4-bit` has no planes."""
        if self.planar is None:
            return None
        check_single_roots(forest, self.name)
        return _planes(forest, self.planar == FULL)

    def encode(self, forest: Forest) -> tuple[Column, ...]:
        """One label for all arcs of a word."""
        check_single_roots(forest, self.name)
        heads, planes = forest.heads, self.planes(forest)
        if planes is None:
            heads, planes = lifted_heads(heads, forest.offsets), np.ones(len(heads), dtype=np.int8)
        names = ["".join("01"[code & bit > 0] for bit in self._bits) for code in range(CODES)]
        return (Column(_codes(heads, forest.offsets, planes), tuple(names)).without_unused(),)

    def decode(self, columns: Sequence[Column], offsets: Int64s, upos: Column | None = None) -> Int32s:
        """Take heads from the stacks of those that wait for dependents, and dependents from those that wait for heads.

        Where a stack is empty, and where a label is none of bits, nothing is asserted.
        """
        (column,) = columns
        codes = np.array([*map(self._read, column.names), -1], dtype=np.int32)[column.ids]
        return np.asarray(_heads(codes, offsets))

    def automaton(self, names: Sequence[str]) -> Automaton:
        """The stacks by their depths; of `4-bit`, the order of what is on both."""
        machine = ONE_STACK if self.planar is None else FOUR_STACKS
        return machine.automaton(names, lambda name: [self._read(name)], lambda _: MOST_CLOSED)

    def replay(self, labels: Sequence[str]) -> Replay:
        """The decoding of one sentence, step by step."""
        return _replay([self._read(label) for label in labels], self.planar is not None)

    def _read(self, name: str) -> int:
        if not re.fullmatch(f"[01]{{{len(self._bits)}}}", name, re.ASCII):
            return -1
        return sum(bit for bit, sign in zip(self._bits, name, strict=True) if sign == "1")


def _planes(forest: Forest, full: bool) -> Planes:
    """Planes of all arcs, that of the root among them, which must be in the first."""
    planes, chosen = np.zeros(len(forest.heads), dtype=np.int8), np.ones(len(forest.heads), dtype=np.bool_)
    part, roots = np.zeros(len(chosen), dtype=np.int32), forest.heads == 0
    if full:
        part, side, chosen = _parts(forest)
        planes[:] = np.where(chosen, 0, 1 + side)
    if chosen.any():
        _give_out(forest.heads, forest.offsets, chosen, full, planes)
    of_root = np.repeat(part[roots], np.diff(forest.offsets)) == part
    of_root |= chosen & np.repeat(chosen[roots], np.diff(forest.offsets))
    swapped = of_root & np.repeat(planes[roots] == SECOND, np.diff(forest.offsets)) & (planes > 0)
    planes[swapped] = 3 - planes[swapped]
    return planes


def _parts(forest: Forest) -> tuple[Int32s, Bytes, Bools]:
    """Of the crossings of arcs of one direction, that of the root among them: the part, the side, whether it is odd."""
    starts, added = forest.offsets[:-1], np.arange(len(forest.offsets))
    heads = np.insert(forest.heads + 1, starts, 0).astype(np.int32)  # 0 becomes a word of its own, the first
    found = components(Forest(forest.offsets + added, heads, forest.deprels), by_direction=True)
    words = np.ones(len(heads), dtype=np.bool_)
    words[starts + added[:-1]] = False
    return found.part[words], found.side[words], found.odd[words]


@compiled()
def _give_out(heads: Int32s, offsets: Int64s, chosen: Bools, by_direction: bool, planes: Planes) -> None:
    """Some arcs, in the order of their dependents: the first plane where an arc crosses no other one of them."""
    for s in range(len(offsets) - 1):
        base = offsets[s] - 1
        for at in range(offsets[s], offsets[s + 1]):
            if not chosen[at]:
                continue
            left, right, is_right = min(heads[at], at - base), max(heads[at], at - base), heads[at] < at - base
            taken = 0
            for other in range(offsets[s], at):
                h, d = heads[other], other - base
                if chosen[other] and not (by_direction and (h < d) != is_right):
                    low, high = min(h, d), max(h, d)
                    if left < low < right < high or low < left < high < right:
                        taken |= planes[other]
            planes[at] = 1 if not taken & 1 else 2 if not taken & 2 else 0


@compiled()
def _codes(heads: Int32s, offsets: Int64s, planes: Planes) -> Int32s:
    """The bits of each word; a word whose arc got no plane says that its head is on the left in plane 2."""
    codes = np.zeros(len(heads), dtype=np.int32)
    longest = longest_sentence(offsets)
    farthest = np.zeros((2, longest + 1), dtype=np.int32)  # the last right dependent of each word, by plane
    for s in range(len(offsets) - 1):
        base, words = offsets[s] - 1, offsets[s + 1] - offsets[s]
        farthest[:, : words + 1] = 0
        for word in range(words, 0, -1):
            at = base + word
            head, plane = heads[at], planes[at] - 1
            if plane < 0:
                codes[at] |= ON_THE_LEFT | SECOND_PLANE
                continue
            codes[at] |= SECOND_PLANE * plane
            if head < word:
                codes[at] |= ON_THE_LEFT
                if farthest[plane, head] == 0:
                    farthest[plane, head] = word
                    codes[at] |= OUTERMOST
                    if head > 0:
                        codes[base + head] |= HAS_RIGHT[plane]
        for word in range(1, words + 1):
            head, plane = heads[base + word], planes[base + word] - 1
            if head > word and plane >= 0 and not codes[base + head] & HAS_LEFT[plane]:
                codes[base + head] |= HAS_LEFT[plane]
                codes[base + word] |= OUTERMOST
    return codes


@compiled()
def _heads(codes: Int32s, offsets: Int64s) -> Int32s:
    """The heads that bits assert, -1 where they assert none; a code of -1 does nothing."""
    heads = np.full(len(codes), -1, dtype=np.int32)
    longest = longest_sentence(offsets)
    waiting_heads = np.empty((2, longest + 1), dtype=np.int32)  # the stacks R, by plane
    waiting = np.empty((2, longest + 1), dtype=np.int32)  # the stacks L: of words that wait for a head
    deep_heads, deep = np.zeros(2, dtype=np.int64), np.zeros(2, dtype=np.int64)
    for s in range(len(offsets) - 1):
        base = offsets[s] - 1
        deep[:] = 0
        waiting_heads[0, 0], deep_heads[0], deep_heads[1] = 0, 1, 0
        for at in range(offsets[s], offsets[s + 1]):
            code, word = codes[at], at - base
            if code < 0:
                continue
            plane = 1 if code & SECOND_PLANE else 0
            if code & ON_THE_LEFT and deep_heads[plane] > 0:
                heads[at] = waiting_heads[plane, deep_heads[plane] - 1]
                if code & OUTERMOST:
                    deep_heads[plane] -= 1
            for other in range(2):
                last = not code & HAS_LEFT[other]
                while not last and deep[other] > 0:
                    deep[other] -= 1
                    dependent = waiting[other, deep[other]]
                    heads[base + dependent] = word
                    last = codes[base + dependent] & OUTERMOST > 0
            if not code & ON_THE_LEFT:
                waiting[plane, deep[plane]] = word
                deep[plane] += 1
            for other in range(2):
                if code & HAS_RIGHT[other]:
                    waiting_heads[other, deep_heads[other]] = word
                    deep_heads[other] += 1
    return heads


def _next_of_four_stacks(key: int, steps: Int32s, begin: int, end: int, is_last: bool) -> int:  # noqa: ARG001
    """The state after a word; -1 if there is none.

    A state is how many heads wait in each plane, and how many groups of dependents (one is complete with its outermost
    dependent, which comes first): four numbers in one, and whether the root was found. 0 is not counted as waiting.
    """
    code = steps[begin] if end > begin else -1
    if code < 0:
        return -1
    plane = 1 if code & SECOND_PLANE else 0
    if code & ON_THE_LEFT:
        if key >> (FIELD * plane) & DEEPEST:
            if code & OUTERMOST:
                key -= 1 << (FIELD * plane)
        elif plane or key & ROOT_FOUND or not code & OUTERMOST:
            return -1
        else:
            key |= ROOT_FOUND
    for other in range(2):
        if code & HAS_LEFT[other]:
            if not key >> (FIELD * (2 + other)) & DEEPEST:
                return -1
            key -= 1 << (FIELD * (2 + other))
    if not code & ON_THE_LEFT:
        if code & OUTERMOST:
            key += 1 << (FIELD * (2 + plane))
        elif not key >> (FIELD * (2 + plane)) & DEEPEST:
            return -1
    for other in range(2):
        if code & HAS_RIGHT[other]:
            key += 1 << (FIELD * other)
    for place in range(4):
        if key >> (FIELD * place) & DEEPEST == DEEPEST:
            return -1
    return key


def _next_of_one_stack(key: int, steps: Int32s, begin: int, end: int, is_last: bool) -> int:  # noqa: ARG001
    """The same for projective trees: the stacks are one, in which a group of dependents is 0 and a head is 1.

    What is taken must be on top, and so no arcs cross. The last one is lowest, and a 1 stands above the first.
    """
    code = steps[begin] if end > begin else -1
    if code < 0:
        return -1
    stack, root = key & STRING, key & ROOT_FOUND
    if code & HAS_LEFT[0]:
        if stack & 1:
            return -1
        stack >>= 1
    if code & ON_THE_LEFT:
        if stack == 1:
            if root or not code & OUTERMOST:
                return -1
            root = ROOT_FOUND
        elif not stack & 1:
            return -1
        elif code & OUTERMOST:
            stack >>= 1
    elif code & OUTERMOST:
        stack <<= 1
    elif stack & 1:
        return -1
    if code & HAS_RIGHT[0]:
        stack = stack << 1 | 1
    return -1 if stack >> MOST_ENTRIES else stack | root


def _still_open(key: int) -> int:
    count = 0
    for place in range(4):
        count += key >> (FIELD * place) & DEEPEST
    return count


FOUR_STACKS = Machine(_next_of_four_stacks, lambda key: key == ROOT_FOUND, _still_open)
ONE_STACK = Machine(_next_of_one_stack, lambda key: key == ROOT_FOUND | 1, first=1)


def _replay(codes: list[int], planar: bool) -> Replay:
    """Three bits say where the head is, or two without planes; those of dependents follow, two a plane."""
    numbers, first = ((1, 2), 3) if planar else ((0,), 2)
    shown = Replay([(name, plane) for plane in numbers for name in ("heads", "words")], [(0, 0)])
    planes = range(len(numbers))
    for word, code in enumerate(codes, 1):
        plane = 1 if code & SECOND_PLANE else 0
        if code & ON_THE_LEFT:
            _take_head(shown, 2 * plane, word, code, first)
        for other in planes:
            if code & HAS_LEFT[other]:
                _take_dependents(shown, 2 * other + 1, word, first + 2 * other)
        if not code & ON_THE_LEFT:
            shown.step(word, 0, first, word, " waits for a head on its right.")
            shown.push(2 * plane + 1, word, code)
        for other in planes:
            if code & HAS_RIGHT[other]:
                place = first + 2 * other + 1
                shown.step(word, place, place + 1, word, " waits for dependents on its right.")
                shown.push(2 * other, word)
    return shown


def _take_head(shown: Replay, stack: int, word: int, code: int, first: int) -> None:
    shown.step(word, 0, first)
    if not shown.entries[stack]:
        shown.say("no head waits, so nothing happens.")
        return
    head = shown.entries[stack][-1]
    shown.link(head.word, word, head.part)
    shown.say("its head is ", head.word)
    if code & OUTERMOST:
        shown.pop(stack)
        shown.say(", which has no dependent farther away and is taken from the stack")
    shown.say(".")


def _take_dependents(shown: Replay, stack: int, word: int, place: int) -> None:
    shown.step(word, place, place + 1)
    is_last = not shown.entries[stack]
    shown.say("no word waits, so nothing happens." if is_last else "words that wait get a head, up to the outermost:")
    while not is_last:
        dependent = shown.pop(stack)
        shown.link(word, dependent.word, dependent.part)
        is_last = bool(dependent.code & OUTERMOST) or not shown.entries[stack]
        shown.say(" ", dependent.word, "." if is_last else ",")
