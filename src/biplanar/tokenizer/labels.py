"""Tokens and sentences as labels of units: `encode_tokens` and `decode_tokens` mirror each other.

Of each unit, END says whether a token or a sentence ends with it, CUT where tokens end inside it, and WORDS how a
multiword token that ends with it becomes its words.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from biplanar.data.arrays import Bools, Float32s, Int64s
from biplanar.data.forest import Column
from biplanar.errors import LabelError
from biplanar.tagger.features import Vocabulary
from biplanar.tokenizer.units import Units

TASKS = END, CUT, WORDS = "end", "cut", "multiword"

# The labels of END: the token goes on, or does so over white space, or ends, or the sentence does.
INSIDE, SPACES, TOKEN, SENTENCE = "inside", "spaces", "token", "sentence"

# The label of units without cuts, and of tokens that are one word.
NONE = "none"


@dataclass(frozen=True)
class Tokens:
    """Where tokens are in a text."""

    starts: Int64s  # characters
    ends: Int64s
    closes: Bools  # whether a sentence ends with it
    rules: Sequence[tuple[int, str]] = ()  # of multiword tokens: their numbers, and how they become their words


def encode_tokens(units: Units, tokens: Tokens) -> dict[str, Column]:
    """The labels of all units, by task."""
    ends = [INSIDE if mark == 0 else SPACES for mark in np.append(units.marks[1:], 0).tolist()]
    cuts, rules = defaultdict[int, list[str]](list), [NONE] * len(units)
    at = np.searchsorted(units.ends, tokens.ends)  # the unit in which, or with which, each token ends
    rest = units.ends[at] - tokens.ends
    for unit, inside, closes in zip(at.tolist(), rest.tolist(), tokens.closes.tolist(), strict=True):
        if inside:
            cuts[unit].append(str(inside))
        else:
            ends[unit] = SENTENCE if closes else TOKEN
    for token, rule in tokens.rules:
        if not rest[token]:
            rules[int(at[token])] = rule
    cut = [" ".join(cuts[unit]) if unit in cuts else NONE for unit in range(len(units))]
    return {END: Column.of(ends), CUT: Column.of(cut), WORDS: Column.of(rules)}


def decode_tokens(
    units: Units,
    scores: Mapping[str, Float32s],
    names: Mapping[str, Sequence[str]],
    *,
    ends_sentence: Bools,
    line_is_sentence: bool = False,
) -> Tokens:
    """The tokens of the best labels; sentences end where `ends_sentence` says, with `line_is_sentence` only there."""
    if not len(units):
        return Tokens(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, bool))
    ends, closes = _ends(units, scores[END], names[END])
    closes = ends_sentence if line_is_sentence else closes | ends_sentence
    cuts, last = _cuts(units, scores[CUT], names[CUT]), np.flatnonzero(ends | closes)
    places = np.concatenate([units.ends[last], cuts])
    order = np.argsort(places, kind="stable")
    places = places[order]
    closing = np.concatenate([closes[last], np.zeros(len(cuts), dtype=bool)])[order]
    first = np.searchsorted(units.ends, np.append(0, places[:-1]), side="right")  # the unit in which each token starts
    starts = np.maximum(np.append(0, places[:-1]), units.starts[first])
    rules = scores[WORDS][last].argmax(axis=1)
    where = np.flatnonzero(rules != _number(names[WORDS], NONE))
    numbers = np.searchsorted(places, units.ends[last[where]])
    chosen = [(int(token), names[WORDS][rule]) for token, rule in zip(numbers, rules[where], strict=True)]
    return Tokens(starts, places, closing, chosen)


def _ends(units: Units, scores: Float32s, names: Sequence[str]) -> tuple[Bools, Bools]:
    """With which units tokens end, and with which sentences; tokens go on over white space only where some did."""
    allowed, follows_space = scores.copy(), np.append(units.marks[1:] > 0, True)
    for label, where in ((INSIDE, follows_space), (SPACES, ~follows_space)):
        if (number := _number(names, label)) >= 0:
            allowed[where, number] = -np.inf
    best = allowed.argmax(axis=1)
    closes = best == _number(names, SENTENCE)
    return closes | (best == _number(names, TOKEN)), closes


def _cuts(units: Units, scores: Float32s, names: Sequence[str]) -> Int64s:
    """Where tokens end inside units."""
    best, none, found = scores.argmax(axis=1), _number(names, NONE), list[int]()
    for unit in np.flatnonzero(best != none).tolist():
        start, end = int(units.starts[unit]), int(units.ends[unit])
        inside = (end - int(one) for one in names[best[unit]].split(" ") if one.isdecimal())
        found += (place for place in inside if start < place < end)
    return np.array(sorted(set(found)), dtype=np.int64)


def check_tasks(vocabulary: Vocabulary) -> Vocabulary:
    """The same vocabulary, if its tasks are those of a segmenter."""
    tasks = vocabulary.tasks
    wanted = {END: {TOKEN, SENTENCE}, CUT: {NONE}, WORDS: {NONE}}
    if set(tasks) != set(wanted) or any(labels - set(tasks[task]) for task, labels in wanted.items()):
        raise LabelError("not the labels of a segmenter")
    return vocabulary


def _number(names: Sequence[str], label: str) -> int:
    return names.index(label) if label in names else -1
