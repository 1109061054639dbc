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
from biplanar.decoding.lattice.problem import SearchLimits, beam_for
from biplanar.decoding.lattice.states import NUMBER, STAMP, find_slot
from biplanar.encodings.automata import Automaton


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
def next_state(automaton: Automaton, key: int, label: int, is_last: bool) -> int:
    """The state that a label leads to, -1 if to none."""
    begin, end = automaton.starts[label], automaton.starts[label + 1]
    return int(automaton.next_state(key, automaton.steps, begin, end, is_last))


@compiled()
def accepted(ids: Int32s, offsets: Int64s, automaton: Automaton) -> Bools:
    """Which sentences' labels lead to an end."""
    result = np.zeros(len(offsets) - 1, dtype=np.bool_)
    for s in range(len(result)):
        key = automaton.first
        for at in range(offsets[s], offsets[s + 1]):
            key = next_state(automaton, key, ids[at], at + 1 == offsets[s + 1])
            if key < 0:
                break
        result[s] = key >= 0 and automaton.may_end(key)
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
    keys[0], bests[0], last_edge[0] = automaton.first, 0.0, -1
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
                if key < 0:
                    continue
                slot = find_slot(key, table, keys, word + 1, slots - 1)
                if table[slot] >> STAMP != word + 1:
                    if automaton.still_open(key) > closable[word + 1]:
                        continue
                    if word + 1 == words and not automaton.may_end(key):
                        continue
                    table[slot] = (word + 1) << STAMP | states
                    keys[states], bests[states], last_edge[states] = key, -np.inf, -1
                    states += 1
                highest = max(highest, score)
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
