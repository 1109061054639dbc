r"""Hierarchical brackets (Ezquerro, Vilares, Yli-Jyrä and Gómez-Rodríguez 2025): most arcs need one bracket only.

Of the arcs by left end, the longest first, the first is structural, and those inside it that share an end with it are
its auxiliaries; and so on with the rest. The arc of the root begins at 0. A structural arc has two brackets, `<^` and
`\^` if it goes to the left, `/^` and `>^` if to the right (none on 0). An auxiliary has one, at the end that it does
not share: `>` if its head is the structural arc's left end, `<` if its right end; `\` and `/` if such an end is its
dependent. Brackets of crossing arcs have an index, which says how many others are passed over; 0 is not written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from biplanar.compiled import compiled
from biplanar.data.arrays import Int32s, Int64s
from biplanar.data.forest import Column, Forest, longest_sentence
from biplanar.encodings.automata import Automaton, Machine, check_single_roots, column_of_steps, steps_of_labels
from biplanar.encodings.encoding import AUTOMATON, WithoutPlanes
from biplanar.encodings.replay import Entry, Replay

# A bracket as a number: its sign, whether it is structural, and its index above these.
SIGNS = "</\\>"
OPEN_LEFT, OPEN_RIGHT, CLOSE_LEFT, CLOSE_RIGHT = range(4)
STRUCTURAL, SIGN, INDEX_AT = 4, 3, 3

# A state of the search is a string of these, the topmost lowest: `<^`; `/^` of a word that has a head, and of one that
# waits for it; `<1`, `/`, `/1`, `<2`. Each `<` finds its head, so that it is not written down.
WIDTH, MOST_ENTRIES = 3, 20
ENTRY = (1 << WIDTH) - 1
LEFTWARD, RIGHTWARD, RIGHTWARD_HEADLESS, DEPENDENT_1, HEAD_0, HEAD_1, DEPENDENT_2 = range(1, 8)
TO_THE_LEFT, TO_THE_RIGHT = 1 << LEFTWARD, 1 << RIGHTWARD | 1 << RIGHTWARD_HEADLESS
ANY_STRUCTURAL = TO_THE_LEFT | TO_THE_RIGHT
ROOT_FOUND = 1 << (WIDTH * MOST_ENTRIES)
STACK = ROOT_FOUND - 1


@dataclass(frozen=True)
class Hierarchical(WithoutPlanes):
    """Every tree comes back. Projective ones need 12 labels."""

    name: str = "hierarchical"
    tasks: tuple[str, ...] = ("brackets",)
    kind: str = AUTOMATON

    def encode(self, forest: Forest) -> tuple[Column, ...]:
        """One label a word: closers, then openers, both by their partners from right to left."""
        check_single_roots(forest, self.name)
        return (column_of_steps(*_encode(forest.heads, forest.offsets), _spell),)

    def decode(self, columns: Sequence[Column], offsets: Int64s, upos: Column | None = None) -> Int32s:
        """Match brackets on one stack; those without a partner are passed over, and so is what is no bracket."""
        (column,) = columns
        return np.asarray(_decode(column.ids, offsets, *steps_of_labels(column.names, _read)))

    def automaton(self, names: Sequence[str]) -> Automaton:
        """The stack as a string."""
        return MACHINE.automaton(names, _read, _closes)

    def replay(self, labels: Sequence[str]) -> Replay:
        """The decoding of one sentence, step by step."""
        return _replay([_read(label) for label in labels])


def _spell(steps: Sequence[int]) -> str:
    return "".join(
        SIGNS[step & SIGN] + "^" * (step & STRUCTURAL > 0) + (str(step >> INDEX_AT) if step >> INDEX_AT else "")
        for step in steps
    )


def _read(name: str) -> list[int]:
    found = re.findall(r"([</\\>])(\^?)(\d{0,6})", name, re.ASCII)
    return [SIGNS.index(sign) | STRUCTURAL * bool(mark) | int(index or 0) << INDEX_AT for sign, mark, index in found]


def _closes(steps: Sequence[int]) -> int:
    """A structural closer takes its partner and any number of auxiliaries away."""
    return MOST_ENTRIES * any(step & STRUCTURAL and step & SIGN >= CLOSE_LEFT for step in steps)


@compiled()
def _encode(heads: Int32s, offsets: Int64s) -> tuple[Int32s, Int64s]:
    steps, starts = np.empty(2 * len(heads), dtype=np.int32), np.zeros(len(heads) + 1, dtype=np.int64)
    places = np.empty((3, 2 * longest_sentence(offsets)), dtype=np.int32)  # of brackets: word, partner, step
    for s in range(len(offsets) - 1):
        count = _brackets(heads[offsets[s] : offsets[s + 1]], places)
        _put_in_order(places, count, offsets[s], offsets[s + 1], steps, starts)
    return steps[: starts[-1]].copy(), starts


@compiled()
def _brackets(heads: Int32s, found: Int32s) -> int:
    """Write down the brackets of a tree, (word, partner, step) in columns, and say how many."""
    words, count = len(heads), 0
    by_left, by_right = np.zeros(words + 1, dtype=np.int32), np.zeros(words + 1, dtype=np.int32)
    next_left, next_right = np.zeros(words + 1, dtype=np.int32), np.zeros(words + 1, dtype=np.int32)
    taken = np.zeros(words + 1, dtype=np.bool_)
    closer = np.full(words + 1, -1, dtype=np.int32)  # which bracket is the structural closer of a word
    for word in range(1, words + 1):
        left, right = min(heads[word - 1], word), max(heads[word - 1], word)
        next_left[word], by_left[left] = by_left[left], word
        next_right[word], by_right[right] = by_right[right], word
    for left in range(words):
        right, arc = 0, by_left[left]
        while arc > 0:
            if not taken[arc]:
                right = max(right, arc, heads[arc - 1])
            arc = next_left[arc]
        if not right:
            continue
        leftward = left > 0 and heads[left - 1] == right
        for word in range(left + 1, right):
            if closer[word] >= 0 and (found[2, closer[word]] & SIGN == CLOSE_LEFT) == leftward:
                found[2, closer[word]] += 1 << INDEX_AT
        for bracket in range(count):
            is_inside = left < found[0, bracket] < right and not left <= found[1, bracket] <= right
            if is_inside and not found[2, bracket] & STRUCTURAL:
                found[2, bracket] += 1 << INDEX_AT
        taken[left if leftward else right] = True
        for shared in range(2):
            arc = by_right[right] if shared else by_left[left]
            while arc > 0:
                head = heads[arc - 1]
                low, high = min(head, arc), max(head, arc)
                if not taken[arc] and low >= left:
                    taken[arc] = True
                    index = 0
                    if shared:
                        for word in range(low + 1, high):
                            index += closer[word] >= 0
                        sign = OPEN_LEFT if head == right else OPEN_RIGHT
                    else:
                        sign = CLOSE_RIGHT if head == left else CLOSE_LEFT
                    word, partner = (low, high) if shared else (high, low)
                    found[0, count], found[1, count], found[2, count] = word, partner, sign | index << INDEX_AT
                    count += 1
                arc = next_right[arc] if shared else next_left[arc]
        if left > 0:
            found[0, count], found[1, count] = left, right
            found[2, count] = (OPEN_LEFT if leftward else OPEN_RIGHT) | STRUCTURAL
            count += 1
        found[0, count], found[1, count] = right, left
        found[2, count] = (CLOSE_LEFT if leftward else CLOSE_RIGHT) | STRUCTURAL
        closer[right] = count
        count += 1
    return count


@compiled()
def _put_in_order(found: Int32s, count: int, start: int, end: int, steps: Int32s, starts: Int64s) -> None:
    """Brackets word by word; in a label closers, then openers, by partners from right to left, auxiliaries first."""
    filled = starts[start : end + 1]
    begin = filled[0]
    filled[1:] = 0
    for bracket in range(count):
        filled[found[0, bracket]] += 1 if found[0, bracket] else 0
    for word in range(1, end - start + 1):
        filled[word] += filled[word - 1]
    order = np.empty(count, dtype=np.int64)  # the key of each bracket at its place
    used = np.zeros(end - start + 1, dtype=np.int64)
    for bracket in range(count):
        word, partner, step = found[0, bracket], found[1, bracket], found[2, bracket]
        key = (step & SIGN < CLOSE_LEFT) * (end - start + 1) + (end - start - partner)
        key = 2 * key + (step & STRUCTURAL > 0)
        first = filled[word - 1]
        place = first + used[word]
        while place > first and order[place - 1 - begin] > key:
            order[place - begin], steps[place] = order[place - 1 - begin], steps[place - 1]
            place -= 1
        order[place - begin], steps[place] = key, step
        used[word] += 1


@compiled()
def _decode(ids: Int32s, offsets: Int64s, steps: Int32s, starts: Int64s) -> Int32s:
    heads = np.full(len(ids), -1, dtype=np.int32)
    most = 1
    for s in range(len(offsets) - 1):
        count = 1
        for at in range(offsets[s], offsets[s + 1]):
            label = ids[at] if ids[at] >= 0 else len(starts) - 2
            count += starts[label + 1] - starts[label]
        most = max(most, count)
    stack = np.empty((2, most), dtype=np.int32)  # words and brackets
    for s in range(len(offsets) - 1):
        own, depth = heads[offsets[s] : offsets[s + 1]], 1
        stack[0, 0], stack[1, 0] = 0, OPEN_RIGHT | STRUCTURAL
        for at in range(offsets[s], offsets[s + 1]):
            label = ids[at] if ids[at] >= 0 else len(starts) - 2
            word = at - offsets[s] + 1
            for place in range(starts[label], starts[label + 1]):
                step = steps[place]
                if step & SIGN < CLOSE_LEFT:
                    stack[0, depth], stack[1, depth] = word, step
                    depth += 1
                elif step & STRUCTURAL:
                    depth = _close(stack, depth, word, step, own)
                else:
                    _close_auxiliary(stack, depth, word, step, own)
    return heads


@compiled()
def _close(stack: Int32s, depth: int, word: int, step: int, heads: Int32s) -> int:
    """Find the partner of a structural closer, link the auxiliaries above it, and say how deep the stack is then."""
    wanted = step - (step >> INDEX_AT << INDEX_AT) - CLOSE_LEFT  # the opener of its direction
    at = _place(stack, depth, SIGN | STRUCTURAL, wanted, step >> INDEX_AT)
    if at < 0:
        return depth
    _link(stack[0, at], stack[1, at], word, heads)
    left = at
    for above in range(at + 1, depth):
        entry = stack[1, above]
        if entry & STRUCTURAL or entry >> INDEX_AT:
            stack[0, left] = stack[0, above]
            stack[1, left] = entry if entry & STRUCTURAL else entry - (1 << INDEX_AT)
            left += 1
        else:
            _link(stack[0, above], entry, word, heads)
    return left


@compiled()
def _close_auxiliary(stack: Int32s, depth: int, word: int, step: int, heads: Int32s) -> None:
    """An auxiliary closer looks at a structural entry of any direction, and leaves it there."""
    at = _place(stack, depth, STRUCTURAL, STRUCTURAL, step >> INDEX_AT)
    if at >= 0:
        _link(stack[0, at], (step & SIGN) - CLOSE_LEFT, word, heads)


@compiled()
def _place(stack: Int32s, depth: int, mask: int, wanted: int, skipped: int) -> int:
    """Where the entry of a kind is, the topmost after those that are skipped; -1 if there is none."""
    for at in range(depth - 1, -1, -1):
        if stack[1, at] & mask == wanted:
            if skipped == 0:
                return at
            skipped -= 1
    return -1


@compiled()
def _link(other: int, opener: int, word: int, heads: Int32s) -> None:
    """The arc between an opener's word and the word that closes it."""
    if opener & SIGN == OPEN_RIGHT:
        heads[word - 1] = other
    elif other > 0:
        heads[other - 1] = word


def _next_state(key: int, steps: Int32s, begin: int, end: int, is_last: bool) -> int:  # noqa: ARG001
    """The stack after a label; -1 if it cannot be."""
    stack, root, own, waits = key & STACK, key & ROOT_FOUND, 0, False  # own: how many heads the word has
    for place in range(begin, end):
        own += steps[place] & SIGN == OPEN_LEFT
        waits |= steps[place] == OPEN_RIGHT | STRUCTURAL
    for place in range(begin, end):
        step = steps[place]
        sign, index = step & SIGN, step >> INDEX_AT
        if step & STRUCTURAL and sign >= CLOSE_LEFT:
            at = _find(stack, TO_THE_LEFT if sign == CLOSE_LEFT else TO_THE_RIGHT, index)
            if at < 0:
                return -1
            entry = stack >> (WIDTH * at) & ENTRY
            if entry == RIGHTWARD_HEADLESS:
                return -1
            if entry == RIGHTWARD:
                own += 1
                if not stack >> (WIDTH * (at + 1)) and not root:
                    root = ROOT_FOUND
            above, below = stack & ((1 << (WIDTH * at)) - 1), stack >> (WIDTH * (at + 1))
            for other in range(at - 1, -1, -1):
                passed = above >> (WIDTH * other) & ENTRY
                if passed == HEAD_0:
                    own += 1
                elif passed == DEPENDENT_1:
                    if not _has_structural(below):
                        return -1
                else:
                    passed = DEPENDENT_1 if passed == DEPENDENT_2 else HEAD_0 if passed == HEAD_1 else passed
                    below = below << WIDTH | passed
            stack = below
        elif sign >= CLOSE_LEFT:
            at = _find(stack, ANY_STRUCTURAL, index)
            if at < 0:
                return -1
            if sign == CLOSE_RIGHT:
                if not root and not stack >> (WIDTH * (at + 1)):  # 0 has one dependent only
                    return -1
                own += 1
            elif stack >> (WIDTH * at) & ENTRY != RIGHTWARD_HEADLESS:
                return -1
            else:
                stack ^= (RIGHTWARD ^ RIGHTWARD_HEADLESS) << (WIDTH * at)
        else:
            entry = _entry(step, own)
            if entry < 0 or (step == OPEN_LEFT and not _has_structural(stack)):
                return -1
            if entry > 0:
                if stack >> (WIDTH * (MOST_ENTRIES - 1)):
                    return -1
                stack = stack << WIDTH | entry
    return stack | root if own == 1 or (waits and own == 0) else -1


@compiled()
def _entry(step: int, own: int) -> int:
    """How an opener is written down; 0 if it is not, -1 if it cannot be."""
    if step == OPEN_LEFT | STRUCTURAL:
        return LEFTWARD
    if step == OPEN_RIGHT | STRUCTURAL:
        return RIGHTWARD if own else RIGHTWARD_HEADLESS
    sign, index = step & SIGN, step >> INDEX_AT
    if step & STRUCTURAL or index > (2 if sign == OPEN_LEFT else 1):
        return -1
    if sign == OPEN_RIGHT:
        return HEAD_1 if index else HEAD_0
    return DEPENDENT_2 if index == 2 else DEPENDENT_1 if index else 0


@compiled()
def _find(stack: int, kinds: int, skipped: int) -> int:
    """How deep the topmost entry of these kinds is once `skipped` others are passed over, -1 if there is none."""
    at = 0
    while stack:
        if kinds >> (stack & ENTRY) & 1:
            if not skipped:
                return at
            skipped -= 1
        stack >>= WIDTH
        at += 1
    return -1


@compiled()
def _has_structural(stack: int) -> bool:
    return _find(stack, ANY_STRUCTURAL, 0) >= 0


MACHINE = Machine(_next_state, lambda key: key == ROOT_FOUND, first=RIGHTWARD)


def _replay(labels: list[list[int]]) -> Replay:
    shown = Replay([("brackets", 0)], [(0, 0)])
    shown.entries[0][0] = Entry(0, None, OPEN_RIGHT | STRUCTURAL)
    for word, brackets in enumerate(labels, 1):
        start = 0
        for code in brackets:
            index = code >> INDEX_AT
            end = start + 1 + bool(code & STRUCTURAL) + (len(str(index)) if index else 0)
            shown.step(word, start, end)
            if code & SIGN < CLOSE_LEFT:
                shown.push(0, word, code)
                shown.say(word, " goes on the stack, as one end of an arc.")
            elif code & STRUCTURAL:
                _show_close(shown, word, code)
            else:
                _show_auxiliary(shown, word, code)
            start = end
    return shown


def _kind(code: int) -> int:
    return code & (SIGN | STRUCTURAL)


def _nth(shown: Replay, index: int, fits: Callable[[int], bool]) -> int | None:
    """The place of a fitting entry from the top, after `index` others."""
    places = [place for place, entry in enumerate(shown.entries[0]) if fits(entry.code)]
    return places[-1 - index] if index < len(places) else None


def _show_close(shown: Replay, word: int, code: int) -> None:
    opener = _kind(code) - CLOSE_LEFT
    place = _nth(shown, code >> INDEX_AT, lambda other: _kind(other) == opener)
    if place is None:
        shown.say("no arc is open, so nothing happens.")
        return
    shown.say("the arc that ends here is taken from the stack, and what was put there since and belongs to it:")
    _show_arc(shown, shown.pop(0, place), word)
    while place < len(shown.entries[0]):
        entry = shown.entries[0][place]
        if not entry.code & STRUCTURAL and not entry.code >> INDEX_AT:
            _show_arc(shown, shown.pop(0, place), word)
            continue
        if not entry.code & STRUCTURAL:
            shown.entries[0][place] = entry._replace(code=entry.code - (1 << INDEX_AT))
        place += 1


def _show_auxiliary(shown: Replay, word: int, code: int) -> None:
    place = _nth(shown, code >> INDEX_AT, lambda other: bool(other & STRUCTURAL))
    if place is None:
        shown.say("no arc is open, so nothing happens.")
        return
    shown.say("one end is that of an arc that stays on the stack:")
    _show_arc(shown, shown.entries[0][place]._replace(code=(code & SIGN) - CLOSE_LEFT), word)


def _show_arc(shown: Replay, other: Entry, word: int) -> None:
    """The arc between an opener's word and the word that closes it."""
    head, dependent = (other.word, word) if other.code & SIGN == OPEN_RIGHT else (word, other.word)
    if dependent:
        shown.link(head, dependent, other.part)
        shown.say(" ", head, " → ", dependent, ".")
