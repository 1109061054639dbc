"""The lattice of label sequences that drive an automaton to an end: its best paths.

States are those of the automaton; equal ones become one, and the best go on. A path to the end gives each word one
head, and one word the root; whether heads form a cycle is for whoever reads the path to see.
"""

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np

from biplanar.compiled import compiled
from biplanar.data.arrays import Bools, Float32s, Float64s, Int32s, Int64s
from biplanar.decoding.lattice.pairs import SearchLimits, beam_for
from biplanar.decoding.lattice.states import NUMBER, STAMP, find_slot
from biplanar.encodings.automata import (
    ARC_EAGER,
    ARC_HYBRID,
    ARC_STANDARD,
    COVINGTON,
    FOUR_BITS,
    HEXATAGS,
    HIERARCHICAL,
    SEVEN_BITS,
    Automaton,
)
from biplanar.encodings.bits import ROOT_FOUND as BITS_END
from biplanar.encodings.bits import open_bits, step_four_bits, step_seven_bits
from biplanar.encodings.hexatags import step_hexatag
from biplanar.encodings.hierarchical import RIGHTWARD as BRACKET_OF_ROOT
from biplanar.encodings.hierarchical import ROOT_FOUND as BRACKETS_END
from biplanar.encodings.hierarchical import step_hierarchical
from biplanar.encodings.transitions import FLAG, headless_words, step_covington, step_eager, step_reductions


class Choices(NamedTuple):
    """The likeliest labels of each word, best first; words of all sentences stand end to end."""

    starts: Int64s  # (words + 1,)
    ids: Int32s
    logs: Float32s


class Paths(NamedTuple):
    """States word by word; state 0 is the beginning, the last one the end. Edges into a state are a linked list."""

    states: int  # 0: no way leads to the end
    bests: Float64s  # of all ways to a state
    last_edge: Int32s
    next_edge: Int32s
    source: Int32s
    label: Int32s
    score: Float64s


class Sequences(NamedTuple):
    """Label sequences of some sentences, end to end, the best of each sentence first."""

    counts: Int64s  # how many each sentence has
    ids: Int32s
    scores: Float64s  # of each sequence


@compiled()
def label_sequences(
    sentences: Int64s, offsets: Int64s, choices: Choices, automaton: Automaton, limits: SearchLimits, wanted: int
) -> Sequences:
    """Up to so many label sequences of each sentence that lead to an end."""
    room, total, found = 0, 0, 0
    for sentence in sentences:
        room += wanted * (offsets[sentence + 1] - offsets[sentence])
    counts, ids = np.zeros(len(sentences), dtype=np.int64), np.empty(room, dtype=np.int32)
    scores = np.empty(wanted * len(sentences))
    for row in range(len(sentences)):
        start = offsets[sentences[row]]
        words = offsets[sentences[row] + 1] - start
        paths = find_paths(start, words, choices, automaton, limits)
        labels, logs = best_paths(paths, words, wanted, limits.nodes * wanted)
        counts[row] = len(labels)
        for path in range(len(labels)):
            scores[found + path] = logs[path]
            for word in range(words):
                ids[total] = labels[path, word]
                total += 1
        found += len(labels)
    return Sequences(counts, ids[:total].copy(), scores[:found].copy())


@compiled()
def first_state(family: int) -> int:
    """The state before the first word."""
    if family in (ARC_EAGER, COVINGTON, FOUR_BITS):
        return 1
    return BRACKET_OF_ROOT if family == HIERARCHICAL else 0


@compiled()
def next_state(automaton: Automaton, key: int, label: int, is_last: bool) -> int:
    """The state that a label leads to, -1 if to none."""
    family, steps = automaton.family, automaton.steps
    begin, end = automaton.starts[label], automaton.starts[label + 1]
    if family == HEXATAGS:
        return step_hexatag(key, steps[begin], is_last)
    if family == FOUR_BITS:
        return step_four_bits(key, steps[begin])
    if family == SEVEN_BITS:
        return step_seven_bits(key, steps[begin])
    if family == ARC_EAGER:
        return step_eager(key, steps, begin, end, is_last)
    if family == COVINGTON:
        return step_covington(key, steps, begin, end, is_last)
    if family == HIERARCHICAL:
        return step_hierarchical(key, steps, begin, end)
    return step_reductions(key, steps, begin, end, is_last, family == ARC_HYBRID)


@compiled()
def may_end(family: int, key: int) -> bool:
    """Whether a sentence may end in a state."""
    if family == SEVEN_BITS:
        return key == BITS_END
    if family == FOUR_BITS:
        return key == BITS_END | 1
    if family == HEXATAGS:
        return key == 1
    if family == ARC_EAGER:
        return key & FLAG != 0 and headless_words(key) == 0
    if family == COVINGTON:
        return key & FLAG == 0 and headless_words(key) == 1
    return key == (BRACKETS_END if family == HIERARCHICAL else 0)


@compiled()
def still_open(family: int, key: int) -> int:
    """How much must be closed before a sentence may end."""
    if family == SEVEN_BITS:
        return open_bits(key)
    if family == ARC_EAGER:
        return headless_words(key)
    return key if family in (ARC_STANDARD, ARC_HYBRID) else 0


@compiled()
def accepted(ids: Int32s, offsets: Int64s, automaton: Automaton) -> Bools:
    """Which sentences' labels lead to an end."""
    result = np.zeros(len(offsets) - 1, dtype=np.bool_)
    for s in range(len(result)):
        key = first_state(automaton.family)
        for at in range(offsets[s], offsets[s + 1]):
            key = next_state(automaton, key, ids[at], at + 1 == offsets[s + 1])
            if key < 0:
                break
        result[s] = key >= 0 and may_end(automaton.family, key)
    return result


@compiled()
def find_paths(start: int, words: int, choices: Choices, automaton: Automaton, limits: SearchLimits) -> Paths:
    """Extend states word by word; equal ones become one, and the best go on."""
    total = choices.starts[start + words] - choices.starts[start]
    beam = beam_for(limits, total)
    most, room = 0, 2
    for word in range(start, start + words):
        most = max(most, choices.starts[word + 1] - choices.starts[word])
    room += beam * (total + 1)
    slots = 256
    while slots < 2 * beam * most:
        slots *= 2
    table, keys, bests = np.zeros(slots, dtype=np.int64), np.empty(room, dtype=np.int64), np.empty(room)
    last_edge, next_edge = np.empty(room, dtype=np.int32), np.empty(room, dtype=np.int32)
    source_of, label_of, score_of = np.empty(room, dtype=np.int32), np.empty(room, dtype=np.int32), np.empty(room)
    closable = _closable(start, words, choices, automaton)
    keys[0], bests[0], last_edge[0] = first_state(automaton.family), 0.0, -1
    kept, states, edges = np.zeros(1, dtype=np.int64), 1, 0
    for word in range(words):
        begin, highest = states, -np.inf
        for source in kept:
            for place in range(choices.starts[start + word], choices.starts[start + word + 1]):
                score = bests[source] + choices.logs[place]
                if score < highest - limits.margin:
                    break
                if choices.logs[place] < limits.least and place > choices.starts[start + word]:
                    break
                key = next_state(automaton, keys[source], choices.ids[place], word + 1 == words)
                if key < 0 or still_open(automaton.family, key) > closable[word + 1]:
                    continue
                if word + 1 == words and not may_end(automaton.family, key):
                    continue
                highest = max(highest, score)
                slot = find_slot(key, table, keys, word + 1)
                if table[slot] >> STAMP != word + 1:
                    table[slot] = (word + 1) << STAMP | states
                    keys[states], bests[states], last_edge[states] = key, -np.inf, -1
                    states += 1
                state = table[slot] & NUMBER
                next_edge[edges], source_of[edges], label_of[edges] = last_edge[state], source, choices.ids[place]
                last_edge[state], score_of[edges] = edges, choices.logs[place]
                bests[state] = max(bests[state], score)
                edges += 1
        kept = _best(begin, states, bests, beam)
    end = states
    bests[end], last_edge[end] = -np.inf, -1
    for source in kept:
        next_edge[edges], source_of[edges], label_of[edges], score_of[edges] = last_edge[end], source, -1, 0.0
        last_edge[end], bests[end] = edges, max(bests[end], bests[source])
        edges += 1
    found = end + 1 if words and last_edge[end] >= 0 else 0
    return Paths(found, bests, last_edge, next_edge, source_of, label_of, score_of)


@compiled()
def _closable(start: int, words: int, choices: Choices, automaton: Automaton) -> Int64s:
    """How much may be open after each word, so that the words to come could still close it."""
    closable = np.zeros(words + 1, dtype=np.int64)
    for word in range(words - 1, -1, -1):
        most = 0
        for place in range(choices.starts[start + word], choices.starts[start + word + 1]):
            most = max(most, automaton.closes[choices.ids[place]])
        closable[word] = closable[word + 1] + most
    return closable


@compiled()
def _best(begin: int, end: int, bests: Float64s, beam: int) -> Int64s:
    """The best of some states, best first."""
    order = np.argsort(-bests[begin:end], kind="mergesort")[:beam]
    return begin + order


@compiled()
def best_paths(paths: Paths, words: int, wanted: int, most: int) -> tuple[Int32s, Float64s]:
    """The labels and scores of the best paths, best first; fewer where `most` nodes were looked at before.

    Paths are searched backwards; as the best way to each state is known already, they come in order of their scores.
    """
    labels, scores, found = np.empty((wanted, words), dtype=np.int32), np.empty(wanted), 0
    if not paths.states:
        return labels[:0], scores[:0]
    goal = paths.states - 1
    nodes = [(goal, -1, -1, 0.0)]  # state, the node after it, the edge to that, the score from here to the end
    agenda = [(-paths.bests[goal], 0)]
    while agenda and found < wanted and (len(nodes) < most or not found):
        rank, node = heapq.heappop(agenda)
        state, _, _, score = nodes[node]
        if state == 0:
            scores[found] = -rank
            for word in range(words):
                _, after, edge, _ = nodes[node]
                labels[found, word], node = paths.label[edge], after
            found += 1
            continue
        edge = int(paths.last_edge[state])
        while edge >= 0:
            source, onward = int(paths.source[edge]), score + paths.score[edge]
            nodes.append((source, node, edge, onward))
            heapq.heappush(agenda, (-(paths.bests[source] + onward), len(nodes) - 1))
            edge = int(paths.next_edge[edge])
    return labels[:found], scores[:found]
