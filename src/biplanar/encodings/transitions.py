"""Labels from transition systems (Gómez-Rodríguez, Strzyz and Vilares 2020): a word's label is what follows the
transition that reads it, up to the next one that reads a word.

- `arc-standard`, `arc-hybrid`: `L` and `R` take a word from the stack, `R` the topmost, whose head is the word below;
  `L` the second, whose head is the topmost, or in `arc-hybrid` the topmost, whose head is the next word.
- `arc-eager`: first how the word is read, `S` or `R` (its head is the topmost word); then `L` as in `arc-hybrid`, and
  `D`, which takes away a word that has a head.
- `covington`: goes from the word to the left, and says of each word whether the next word is its head (`L`), its
  dependent (`R`), or neither (`N`). The root is the word that gets no head.

On the stacks, 0 is the first word. Where there is nothing to say, the label is `_`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from biplanar.compiled import compiled
from biplanar.data.arrays import Int32s, Int64s
from biplanar.data.conllu import EMPTY
from biplanar.data.forest import Column, Forest, longest_sentence
from biplanar.encodings.automata import Automaton, Machine, check_single_roots, column_of_steps, steps_of_labels
from biplanar.encodings.encoding import AUTOMATON, WithoutPlanes
from biplanar.encodings.lifting import Lifting, lifted_heads
from biplanar.encodings.replay import Arc, Part, Replay

# The systems.
ARC_STANDARD, ARC_EAGER, ARC_HYBRID, COVINGTON = range(4)

SIGNS = "LRSDN"
LEFT, RIGHT, SHIFT, REDUCE, NO_ARC = range(len(SIGNS))

# A state of arc-eager and Covington: a bit for each word, 1 if it has a head, with a 1 above the last; and flags above.
MOST_WORDS = 58
FLAG = 1 << (MOST_WORDS + 1)  # the root was found; or, with Covington, the next word has a head
HEADLESS = FLAG << 1  # with Covington: a word farther away than the state knows has no head
STRING = FLAG - 1


@dataclass(frozen=True)
class Transitions(WithoutPlanes):
    """The labels of one system. All trees come back from `covington`; the others lift non-projective arcs."""

    name: str
    system: int
    tasks: tuple[str, ...] = ("transitions",)
    kind: str = AUTOMATON
    lifting: Lifting | None = None

    def encode(self, forest: Forest) -> tuple[Column, ...]:
        """One label a word."""
        check_single_roots(forest, self.name)
        heads, offsets = forest.heads, forest.offsets
        if self.system == COVINGTON:
            steps = _encode_covington(heads, offsets)
        elif self.system == ARC_EAGER:
            steps = _encode_eager(lifted_heads(heads, offsets), offsets)
        else:
            steps = _encode_reductions(lifted_heads(heads, offsets), offsets, self.system == ARC_HYBRID)
        return (column_of_steps(*steps, _spell),)

    def decode(self, columns: Sequence[Column], offsets: Int64s, upos: Column | None = None) -> Int32s:
        """Do the transitions; those that cannot be done are passed over, and so is what is no transition."""
        (column,) = columns
        labels = steps_of_labels(column.names, _read)
        if self.system == COVINGTON:
            return np.asarray(_decode_covington(column.ids, offsets, *labels))
        return np.asarray(_decode_stack(column.ids, offsets, *labels, self.system))

    def automaton(self, names: Sequence[str]) -> Automaton:
        """The stack by its height, or by which of its words have heads."""
        return MACHINES[self.system].automaton(names, _read, len)

    def replay(self, labels: Sequence[str]) -> Replay:
        """The decoding of one sentence, step by step."""
        steps = [_read(label) for label in labels]
        return _replay_covington(steps) if self.system == COVINGTON else _replay(steps, self.system)


def _spell(steps: Sequence[int]) -> str:
    return "".join(SIGNS[step] for step in steps) or EMPTY


def _read(name: str) -> list[int]:
    return [SIGNS.index(sign) for sign in name if sign in SIGNS]


@compiled()
def _encode_reductions(heads: Int32s, offsets: Int64s, hybrid: bool) -> tuple[Int32s, Int64s]:
    """A right dependent is taken from the stack once all of its subtree was read; a left one when its head is there.

    In arc-hybrid its head is then the next word, so that `L` stands before its head, and behind `R`.
    """
    lefts, rights = np.zeros(len(heads) + 1, dtype=np.int32), np.zeros(len(heads), dtype=np.int32)
    edge = np.empty(len(heads), dtype=np.int64)  # the last word of each word's subtree
    for s in range(len(offsets) - 1):
        base = offsets[s] - 1
        for at in range(offsets[s], offsets[s + 1]):
            edge[at] = at
        for at in range(offsets[s + 1] - 1, base, -1):
            head = base + heads[at]
            if head > at:
                lefts[head - hybrid] += 1
            else:
                rights[edge[at]] += 1
                if head > base:
                    edge[head] = max(edge[head], edge[at])
    starts = np.zeros(len(heads) + 1, dtype=np.int64)
    for at in range(len(heads)):
        starts[at + 1] = starts[at] + lefts[at] + rights[at]
    steps = np.empty(starts[-1], dtype=np.int32)
    for at in range(len(heads)):
        change = starts[at] + (rights[at] if hybrid else lefts[at])
        steps[starts[at] : change] = RIGHT if hybrid else LEFT
        steps[change : starts[at + 1]] = LEFT if hybrid else RIGHT
    return steps, starts


@compiled()
def _encode_eager(heads: Int32s, offsets: Int64s) -> tuple[Int32s, Int64s]:
    """Words are taken away only where the next word has an arc with one below them."""
    steps, starts = np.empty(2 * len(heads), dtype=np.int32), np.zeros(len(heads) + 1, dtype=np.int64)
    stack, waiting, count = np.empty(len(heads) + 1, dtype=np.int32), np.zeros(len(heads), dtype=np.int32), 0
    for s in range(len(offsets) - 1):
        base, height = offsets[s] - 1, 1
        stack[0] = 0
        for at in range(offsets[s], offsets[s + 1]):
            if base + heads[at] > at:
                waiting[base + heads[at]] += 1
        for at in range(offsets[s], offsets[s + 1]):
            steps[count] = RIGHT if base + heads[at] < at else SHIFT
            count += 1
            stack[height] = at - base
            height += 1
            if at + 1 < offsets[s + 1]:
                head, left = heads[at + 1], waiting[at + 1]
                while left > 0 or (base + head <= at and stack[height - 1] != head):
                    height -= 1
                    is_left = base + heads[base + stack[height]] == at + 1
                    steps[count] = LEFT if is_left else REDUCE
                    left -= is_left
                    count += 1
            starts[at + 1] = count
    return steps[:count].copy(), starts


@compiled()
def _encode_covington(heads: Int32s, offsets: Int64s) -> tuple[Int32s, Int64s]:
    """From each word to the left, up to the farthest arc of the next word."""
    lowest, starts = np.empty(len(heads), dtype=np.int64), np.zeros(len(heads) + 1, dtype=np.int64)
    for s in range(len(offsets) - 1):
        base = offsets[s] - 1
        for at in range(offsets[s], offsets[s + 1]):
            head = base + heads[at]
            lowest[at] = head if base < head < at else at
        for at in range(offsets[s + 1] - 1, base, -1):
            head = base + heads[at]
            if head > at:
                lowest[head] = min(lowest[head], at)
        for at in range(offsets[s], offsets[s + 1]):
            starts[at + 1] = starts[at]
            if at + 1 < offsets[s + 1]:
                starts[at + 1] += at + 1 - lowest[at + 1]
    steps = np.full(starts[-1], NO_ARC, dtype=np.int32)
    for s in range(len(offsets) - 1):
        base = offsets[s] - 1
        for at in range(offsets[s], offsets[s + 1]):
            head = base + heads[at]
            if head > at:
                steps[starts[head - 1] + head - 1 - at] = LEFT
            elif head > base:
                steps[starts[at - 1] + at - 1 - head] = RIGHT
    return steps, starts


@compiled()
def _decode_stack(ids: Int32s, offsets: Int64s, steps: Int32s, starts: Int64s, system: int) -> Int32s:
    heads = np.full(len(ids), -1, dtype=np.int32)
    stack = np.empty(longest_sentence(offsets) + 1, dtype=np.int32)
    for s in range(len(offsets) - 1):
        base, words, height = offsets[s] - 1, offsets[s + 1] - offsets[s], 1
        stack[0] = 0
        for word in range(1, words + 1):
            label = ids[base + word] if ids[base + word] >= 0 else len(starts) - 2
            begin, end = starts[label], starts[label + 1]
            if system == ARC_EAGER and begin < end and (steps[begin] == RIGHT or steps[begin] == SHIFT):
                if steps[begin] == RIGHT:
                    heads[base + word] = stack[height - 1]
                begin += 1
            stack[height] = word
            height += 1
            for place in range(begin, end):
                step, top = steps[place], stack[height - 1]
                if system == ARC_EAGER and step == REDUCE:
                    height -= top > 0 and heads[base + top] >= 0
                elif system == ARC_STANDARD and step == LEFT:
                    if height > 2:
                        heads[base + stack[height - 2]] = top
                        stack[height - 2] = top
                        height -= 1
                elif step == LEFT:
                    if top > 0 and word < words and heads[base + top] < 0:
                        heads[base + top] = word + 1
                        height -= 1
                elif step == RIGHT and system != ARC_EAGER and height > 1:
                    heads[base + top] = stack[height - 2]
                    height -= 1
    return heads


@compiled()
def _decode_covington(ids: Int32s, offsets: Int64s, steps: Int32s, starts: Int64s) -> Int32s:
    heads = np.full(len(ids), -1, dtype=np.int32)
    for s in range(len(offsets) - 1):
        base, words = offsets[s] - 1, offsets[s + 1] - offsets[s]
        for word in range(1, words):
            label = ids[base + word] if ids[base + word] >= 0 else len(starts) - 2
            other = word
            for place in range(starts[label], min(starts[label + 1], starts[label] + word)):
                if steps[place] == LEFT and heads[base + other] < 0:
                    heads[base + other] = word + 1
                elif steps[place] == RIGHT and heads[base + word + 1] < 0:
                    heads[base + word + 1] = other
                other -= 1
    return heads


@compiled()
def step_reductions(height: int, steps: Int32s, begin: int, end: int, is_last: bool, hybrid: bool) -> int:
    """How many words are on the stack after a label, 0 not counted; -1 if it cannot be. The root is taken last."""
    height += 1
    for place in range(begin, end):
        if steps[place] == LEFT:
            if height < (1 if hybrid else 2) or (hybrid and is_last):
                return -1
        elif steps[place] != RIGHT or (height < 2 and not (is_last and place == end - 1 and height == 1)):
            return -1
        height -= 1
    return height


def _next_of_standard(height: int, steps: Int32s, begin: int, end: int, is_last: bool) -> int:
    return step_reductions(height, steps, begin, end, is_last, False)


def _next_of_hybrid(height: int, steps: Int32s, begin: int, end: int, is_last: bool) -> int:
    return step_reductions(height, steps, begin, end, is_last, True)


def _next_of_eager(key: int, steps: Int32s, begin: int, end: int, is_last: bool) -> int:
    """The words on the stack after a label, by whether they have a head, the topmost lowest; -1 if it cannot be."""
    if begin == end:
        return -1
    stack, root = key & STRING, key & FLAG
    if steps[begin] == RIGHT:
        if stack == 1:  # only 0 is there
            if root:
                return -1
            root = FLAG
        stack = stack << 1 | 1
    elif steps[begin] == SHIFT:
        stack <<= 1
    else:
        return -1
    for place in range(begin + 1, end):
        wanted = 0 if steps[place] == LEFT else 1
        if stack == 1 or stack & 1 != wanted or (steps[place] != LEFT and steps[place] != REDUCE):
            return -1
        if steps[place] == LEFT and is_last:
            return -1
        stack >>= 1
    return -1 if stack >> MOST_WORDS else stack | root


def _next_of_covington(key: int, steps: Int32s, begin: int, end: int, is_last: bool) -> int:
    """The words up to some label, by whether they have a head, the last one lowest; -1 if it cannot be."""
    words, next_has, lost = (key & STRING) << 1, 0, key & HEADLESS
    if key & FLAG:
        words |= 1
    if is_last and end > begin:
        return -1
    for place in range(begin, end):
        at = place - begin
        if at >= MOST_WORDS or not words >> (at + 1):
            return -1
        if steps[place] == LEFT:
            if words >> at & 1:
                return -1
            words |= 1 << at
        elif steps[place] == RIGHT:
            if next_has:
                return -1
            next_has = FLAG
        elif steps[place] != NO_ARC:
            return -1
    if words >> (MOST_WORDS + 1):  # the farthest word is forgotten
        if not words >> MOST_WORDS & 1:
            if lost:
                return -1
            lost = HEADLESS
        words = (words & ((1 << MOST_WORDS) - 1)) | 1 << MOST_WORDS
    return words | next_has | lost


@compiled()
def headless_words(key: int) -> int:
    """How many words of a state of arc-eager or Covington have no head."""
    words, count = key & STRING, (1 if key & HEADLESS else 0)
    while words > 1:
        count += 1 - (words & 1)
        words >>= 1
    return count


def _eager_may_end(key: int) -> bool:
    return key & FLAG != 0 and headless_words(key) == 0


MACHINES = {
    ARC_STANDARD: Machine(_next_of_standard, lambda height: height == 0, lambda height: height),
    ARC_EAGER: Machine(_next_of_eager, _eager_may_end, headless_words, first=1),
    ARC_HYBRID: Machine(_next_of_hybrid, lambda height: height == 0, lambda height: height),
    COVINGTON: Machine(_next_of_covington, lambda key: key & FLAG == 0 and headless_words(key) == 1, first=1),
}


def _replay(labels: list[list[int]], system: int) -> Replay:
    shown, found = Replay([("stack", 0)], [(0, 0)]), {0}  # words that have a head
    stack = shown.entries[0]
    for word, steps in enumerate(labels, 1):
        how = steps[0] if system == ARC_EAGER and steps else SHIFT
        begin = 1 if system == ARC_EAGER and how in (RIGHT, SHIFT) and steps else 0
        shown.step(word, 0, begin, word, " is read")
        if begin and how == RIGHT:
            shown.link(stack[-1].word, word)
            shown.say(", and its head is ", stack[-1].word)
            found.add(word)
        shown.push(0, word)
        shown.say(".")
        for place in range(begin, len(steps)):
            shown.step(word, place, place + 1)
            _show_transition(shown, steps[place], system, word + 1 if word < len(labels) else 0, found)
    return shown


def _show_transition(shown: Replay, step: int, system: int, following: int, found: set[int]) -> None:
    """One that reads no word; `following` is the next word, 0 if there is none."""
    stack = shown.entries[0]
    top = stack[-1].word
    second = stack[-2].word if len(stack) > 1 else 0
    if system == ARC_EAGER and step == REDUCE and top and top in found:
        shown.pop(0)
        shown.say(top, " has a head and is taken from the stack.")
    elif system == ARC_STANDARD and step == LEFT and len(stack) > 2:
        shown.pop(0, len(stack) - 2)
        _found(shown, top, second, found)
    elif system != ARC_STANDARD and step == LEFT and top and following and top not in found:
        shown.pop(0)
        _found(shown, following, top, found)
    elif system != ARC_EAGER and step == RIGHT and len(stack) > 1:
        shown.pop(0)
        _found(shown, second, top, found)
    else:
        shown.say("this cannot be done, so nothing happens.")


def _found(shown: Replay, head: int, dependent: int, found: set[int]) -> None:
    shown.link(head, dependent)
    found.add(dependent)
    shown.say(dependent, " gets the head ", head, " and is taken from the stack.")


def _replay_covington(labels: list[list[int]]) -> Replay:
    """No stack: a label goes from its word to the left, and tells how the next word is linked with each."""
    shown, found = Replay([]), set[int]()
    for word, steps in enumerate(labels, 1):
        if word == len(labels) or not steps:
            shown.step(word, 0, 0, "the label links no words.")
            continue
        shown.step(word, 0, len(steps), "from here to the left, arcs with the next word:")
        for place, step in enumerate(steps[:word]):
            other = word - place
            arc = {LEFT: (word + 1, other), RIGHT: (other, word + 1)}.get(step)
            if arc and arc[1] not in found:
                found.add(arc[1])
                shown.steps[-1].arcs.append(Arc(*arc, (Part(word, place, place + 1),)))
                shown.say(" ", arc[0], " → ", arc[1], ".")
    return shown
