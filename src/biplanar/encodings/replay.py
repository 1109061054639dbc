"""Decoding step by step, as the page shows it: what the labels of one sentence do.

An encoding that has a method `replay` says there in plain Python what its compiled decoder does, for labels as its
encoder writes them, given by task. A step is a part of a word's label. It takes entries from stacks, puts some on, and
finds arcs. Labels that each name a head need no such method.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from biplanar.data.forest import Column
from biplanar.encodings.encoding import HEADS, Encoding, kind_of


class Part(NamedTuple):
    """A part of a word's label, by its characters."""

    word: int
    start: int
    end: int
    task: int = 1  # from 1: which of the word's labels


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

    def step(self, word: int, start: int, end: int, *story: str | int, task: int = 1) -> Step:
        """Begin the next step."""
        self.steps.append(Step(Part(word, start, end, task), story=list(story)))
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


def replay(encoding: Encoding, *labels: Sequence[str], upos: Sequence[str] = ()) -> Replay | None:
    """The decoding of one sentence's labels, by task; None for encodings that cannot show it."""
    if kind_of(encoding) == HEADS:
        return _replay_heads(encoding, *labels, upos=upos)
    show = getattr(encoding, "replay", None)
    return None if show is None else show(*labels)


def _replay_heads(encoding: Encoding, labels: Sequence[str], *, upos: Sequence[str]) -> Replay:
    """Each label names a head by itself."""
    shown = Replay([])
    heads = encoding.decode([Column.of(labels)], np.array([0, len(labels)]), Column.of(upos))
    for word, (label, head) in enumerate(zip(labels, heads.tolist(), strict=True), 1):
        shown.step(word, 0, len(label))
        if head < 0:
            shown.say("there is no such head.")
            continue
        shown.link(head, word)
        shown.say(*(("its head is ", head, ".") if head else ("it is the root.",)))
    return shown
