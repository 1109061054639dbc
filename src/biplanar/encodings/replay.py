"""Decoding as it can be shown: what the labels of one sentence do, step by step, for encodings with an automaton.

This says in plain Python what the compiled decoders do, for labels as encoders write them. A step is a part of a word's
label. It takes entries from stacks, puts some on, and finds arcs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from biplanar.encodings import automata, bits, hexatags, hierarchical, transitions
from biplanar.encodings.automata import as_automaton_encoding
from biplanar.encodings.encoding import AUTOMATON, Encoding, kind_of


class Part(NamedTuple):
    """A part of a word's label, by its characters."""

    word: int
    start: int
    end: int


class Arc(NamedTuple):
    """An arc, and the parts of labels that say it."""

    head: int
    dependent: int
    parts: tuple[Part, ...]


class Entry(NamedTuple):
    """What lies on a stack: a word, the part of a label that put it there, and what else is to be remembered."""

    word: int
    part: Part | None = None
    code: int = 0


@dataclass
class Step:
    """What one part of a label does. Stacks are numbers; what is taken is told by its place before the step."""

    part: Part
    pops: list[tuple[int, int]] = field(default_factory=list)  # stack and place, in order
    pushes: list[tuple[int, int]] = field(default_factory=list)  # stack and word
    arcs: list[Arc] = field(default_factory=list)
    story: list[str | int] = field(default_factory=list)  # text, and words by their numbers


@dataclass
class Replay:
    """The stacks by name and plane, what is on them at first, and the steps."""

    stacks: list[tuple[str, int]]
    first: list[tuple[int, int]] = field(default_factory=list)  # stack and word
    steps: list[Step] = field(default_factory=list)
    entries: list[list[Entry]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.entries = [[] for _ in self.stacks]
        for stack, word in self.first:
            self.entries[stack].append(Entry(word))

    def step(self, word: int, start: int, end: int, *story: str | int) -> Step:
        """Begin the next step."""
        self.steps.append(Step(Part(word, start, end), story=list(story)))
        return self.steps[-1]

    def push(self, stack: int, word: int, code: int = 0) -> None:
        """Put a word on a stack."""
        self.entries[stack].append(Entry(word, self.steps[-1].part, code))
        self.steps[-1].pushes.append((stack, word))

    def pop(self, stack: int, place: int | None = None) -> Entry:
        """Take the topmost entry of a stack, or another one."""
        place = len(self.entries[stack]) - 1 if place is None else place
        self.steps[-1].pops.append((stack, place))
        return self.entries[stack].pop(place)

    def link(self, head: int, dependent: int, *others: Part | None) -> None:
        """Find an arc, which other parts of labels say, too."""
        parts = (self.steps[-1].part, *(part for part in others if part is not None))
        self.steps[-1].arcs.append(Arc(head, dependent, parts))

    def say(self, *story: str | int) -> None:
        """Go on with what the step is said to do."""
        self.steps[-1].story += story


def replay(encoding: Encoding, labels: Sequence[str]) -> Replay | None:
    """The decoding of one sentence's labels; None for encodings without an automaton."""
    if kind_of(encoding) != AUTOMATON:
        return None
    automaton = as_automaton_encoding(encoding).automaton(labels)
    steps = [automaton.steps[start:end].tolist() for start, end in pairwise(automaton.starts.tolist())]
    return REPLAYS[automaton.family](steps[: len(labels)])


# Bits


def _four_bits(labels: list[list[int]]) -> Replay:
    return _bits(labels, [("heads", 0), ("words", 0)], 2)


def _seven_bits(labels: list[list[int]]) -> Replay:
    return _bits(labels, [(name, plane) for plane in (1, 2) for name in ("heads", "words")], 3)


def _bits(labels: list[list[int]], stacks: list[tuple[str, int]], first: int) -> Replay:
    """`first` bits say where the head is; those of dependents follow, two a plane."""
    shown, planes = Replay(stacks, [(0, 0)]), range(len(stacks) // 2)
    for word, (code,) in enumerate(labels, 1):
        plane = 1 if code & bits.SECOND_PLANE else 0
        if code & bits.ON_THE_LEFT:
            _take_head(shown, 2 * plane, word, code, first)
        for other in planes:
            if code & bits.HAS_LEFT[other]:
                _take_dependents(shown, 2 * other + 1, word, first + 2 * other)
        if not code & bits.ON_THE_LEFT:
            shown.step(word, 0, first, word, " waits for a head on its right.")
            shown.push(2 * plane + 1, word, code)
        for other in planes:
            if code & bits.HAS_RIGHT[other]:
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
    if code & bits.OUTERMOST:
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
        is_last = bool(dependent.code & bits.OUTERMOST) or not shown.entries[stack]
        shown.say(" ", dependent.word, "." if is_last else ",")


# Hierarchical brackets


def _hierarchical(labels: list[list[int]]) -> Replay:
    shown = Replay([("brackets", 0)], [(0, 0)])
    shown.entries[0][0] = Entry(0, None, hierarchical.OPEN_RIGHT | hierarchical.STRUCTURAL)
    for word, brackets in enumerate(labels, 1):
        start = 0
        for code in brackets:
            index = code >> hierarchical.INDEX_AT
            end = start + 1 + bool(code & hierarchical.STRUCTURAL) + (len(str(index)) if index else 0)
            shown.step(word, start, end)
            if code & hierarchical.SIGN < hierarchical.CLOSE_LEFT:
                shown.push(0, word, code)
                shown.say(word, " goes on the stack, as one end of an arc.")
            elif code & hierarchical.STRUCTURAL:
                _close(shown, word, code)
            else:
                _close_auxiliary(shown, word, code)
            start = end
    return shown


def _kind(code: int) -> int:
    return code & (hierarchical.SIGN | hierarchical.STRUCTURAL)


def _nth(shown: Replay, index: int, fits: Callable[[int], bool]) -> int | None:
    """The place of a fitting entry from the top, after so many others."""
    places = [place for place, entry in enumerate(shown.entries[0]) if fits(entry.code)]
    return places[-1 - index] if index < len(places) else None


def _close(shown: Replay, word: int, code: int) -> None:
    opener = _kind(code) - hierarchical.CLOSE_LEFT
    place = _nth(shown, code >> hierarchical.INDEX_AT, lambda other: _kind(other) == opener)
    if place is None:
        shown.say("no arc is open, so nothing happens.")
        return
    shown.say("the arc that ends here is taken from the stack, and what was put there since and belongs to it:")
    _link(shown, shown.pop(0, place), word)
    while place < len(shown.entries[0]):
        entry = shown.entries[0][place]
        if not entry.code & hierarchical.STRUCTURAL and not entry.code >> hierarchical.INDEX_AT:
            _link(shown, shown.pop(0, place), word)
            continue
        if not entry.code & hierarchical.STRUCTURAL:
            shown.entries[0][place] = entry._replace(code=entry.code - (1 << hierarchical.INDEX_AT))
        place += 1


def _close_auxiliary(shown: Replay, word: int, code: int) -> None:
    place = _nth(shown, code >> hierarchical.INDEX_AT, lambda other: bool(other & hierarchical.STRUCTURAL))
    if place is None:
        shown.say("no arc is open, so nothing happens.")
        return
    shown.say("one end is that of an arc that stays on the stack:")
    is_right = code & hierarchical.SIGN == hierarchical.CLOSE_RIGHT
    opener = hierarchical.OPEN_RIGHT if is_right else hierarchical.OPEN_LEFT
    _link(shown, shown.entries[0][place]._replace(code=opener), word)


def _link(shown: Replay, other: Entry, word: int) -> None:
    """The arc between an opener's word and the word that closes it."""
    is_right = other.code & hierarchical.SIGN == hierarchical.OPEN_RIGHT
    head, dependent = (other.word, word) if is_right else (word, other.word)
    if dependent:
        shown.link(head, dependent, other.part)
        shown.say(" ", head, " → ", dependent, ".")


# Hexatags


def _hexatags(labels: list[list[int]]) -> Replay:
    """An open tree lies on the first stack with its first word; the second has words joined with what comes next."""
    shown = Replay([("open trees", 0), ("joined words", 0)])
    begins: list[int] = []  # of the open trees, how many joined words were there before
    for word, (code,) in enumerate(labels, 1):
        shown.step(word, 0, 1)
        top = word
        if code & hexatags.RIGHT_LEAF and begins:
            top = _fill(shown, begins[-1], word)
        else:
            shown.say("a tree begins.")
            begins.append(len(shown.entries[1]))
            shown.push(0, word)
        if word < len(labels):
            side = "on the right" if code & hexatags.HEAD_ON_THE_RIGHT else "on the left"
            shown.step(word, 1, 3, top, f" is joined with what comes next; the head is the one {side}")
            if code & hexatags.RIGHT_NODE and len(begins) > 1:
                begins.pop()
                shown.pop(0)
                shown.say(", and its tree becomes part of the one before")
            shown.say(".")
            shown.push(1, top, code & hexatags.HEAD_ON_THE_RIGHT)
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


# Transitions


def _arc_standard(labels: list[list[int]]) -> Replay:
    return _transitions(labels, automata.ARC_STANDARD)


def _arc_eager(labels: list[list[int]]) -> Replay:
    return _transitions(labels, automata.ARC_EAGER)


def _arc_hybrid(labels: list[list[int]]) -> Replay:
    return _transitions(labels, automata.ARC_HYBRID)


def _transitions(labels: list[list[int]], system: int) -> Replay:
    shown, found = Replay([("stack", 0)], [(0, 0)]), {0}  # words that have a head
    stack = shown.entries[0]
    for word, steps in enumerate(labels, 1):
        how = steps[0] if system == automata.ARC_EAGER and steps else transitions.SHIFT
        begin = 1 if system == automata.ARC_EAGER and how in (transitions.RIGHT, transitions.SHIFT) and steps else 0
        shown.step(word, 0, begin, word, " is read")
        if begin and how == transitions.RIGHT:
            shown.link(stack[-1].word, word)
            shown.say(", and its head is ", stack[-1].word)
            found.add(word)
        shown.push(0, word)
        shown.say(".")
        for place in range(begin, len(steps)):
            shown.step(word, place, place + 1)
            _transition(shown, steps[place], system, word + 1 if word < len(labels) else 0, found)
    return shown


def _transition(shown: Replay, step: int, system: int, following: int, found: set[int]) -> None:
    """One that reads no word; `following` is the next word, 0 if there is none."""
    stack = shown.entries[0]
    top = stack[-1].word
    second = stack[-2].word if len(stack) > 1 else 0
    if system == automata.ARC_EAGER and step == transitions.REDUCE and top and top in found:
        shown.pop(0)
        shown.say(top, " has a head and is taken from the stack.")
    elif system == automata.ARC_STANDARD and step == transitions.LEFT and len(stack) > 2:
        shown.pop(0, len(stack) - 2)
        _found(shown, top, second, found)
    elif system != automata.ARC_STANDARD and step == transitions.LEFT and top and following and top not in found:
        shown.pop(0)
        _found(shown, following, top, found)
    elif system != automata.ARC_EAGER and step == transitions.RIGHT and len(stack) > 1:
        shown.pop(0)
        _found(shown, second, top, found)
    else:
        shown.say("this cannot be done, so nothing happens.")


def _found(shown: Replay, head: int, dependent: int, found: set[int]) -> None:
    shown.link(head, dependent)
    found.add(dependent)
    shown.say(dependent, " gets the head ", head, " and is taken from the stack.")


def _covington(labels: list[list[int]]) -> Replay:
    """No stack: a label goes from its word to the left, and tells how the next word is linked with each."""
    shown, found = Replay([]), set[int]()
    for word, steps in enumerate(labels, 1):
        if word == len(labels) or not steps:
            shown.step(word, 0, 0, "the label links no words.")
            continue
        shown.step(word, 0, len(steps), "from here to the left, arcs with the next word:")
        for place, step in enumerate(steps[:word]):
            other = word - place
            arc = {transitions.LEFT: (word + 1, other), transitions.RIGHT: (other, word + 1)}.get(step)
            if arc and arc[1] not in found:
                found.add(arc[1])
                shown.steps[-1].arcs.append(Arc(*arc, (Part(word, place, place + 1),)))
                shown.say(" ", arc[0], " → ", arc[1], ".")
    return shown


REPLAYS: dict[int, Callable[[list[list[int]]], Replay]] = {
    automata.FOUR_BITS: _four_bits,
    automata.SEVEN_BITS: _seven_bits,
    automata.HEXATAGS: _hexatags,
    automata.ARC_STANDARD: _arc_standard,
    automata.ARC_EAGER: _arc_eager,
    automata.ARC_HYBRID: _arc_hybrid,
    automata.COVINGTON: _covington,
    automata.HIERARCHICAL: _hierarchical,
}
