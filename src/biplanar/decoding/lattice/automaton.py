"""The lattice of label sequences that drive an automaton to an end: its best paths.

States are those of the automaton; equal ones become one, and the best go on. A path to the end gives each word one
head, and one word the root; whether heads form a cycle is for the reader of the path to check.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from biplanar.compiled import compiled
from biplanar.data.arrays import Bools, Float64s, Int32s, Int64s
from biplanar.decoding.candidates import Likeliest
from biplanar.decoding.lattice.problem import SearchLimits, beam_for
from biplanar.decoding.lattice.reading import Edges, next_path
from biplanar.decoding.lattice.states import NUMBER, STAMP, find_slot
from biplanar.encodings.automata import Automaton

# How many nodes may be looked at for the first path.
NO_LIMIT = 1 << 62


class Sequences(NamedTuple):
    """Label sequences of some sentences, end to end, the best of each sentence first."""

    counts: Int64s  # how many each sentence has
    ids: Int32s
    scores: Float64s  # of each sequence


@compiled()
def label_sequences(
    sentences: Int64s, offsets: Int64s, choices: Likeliest, automaton: Automaton, limits: SearchLimits, wanted: int
) -> Sequences:
    """Up to `wanted` label sequences of each sentence that lead to an end."""
    room, total, found = 0, 0, 0
    for sentence in sentences:
        room += wanted * (offsets[sentence + 1] - offsets[sentence])
    counts, ids = np.zeros(len(sentences), dtype=np.int64), np.empty(room, dtype=np.int32)
    scores = np.empty(wanted * len(sentences))
    for row in range(len(sentences)):
        start = offsets[sentences[row]]
        words = offsets[sentences[row] + 1] - start
        goal, bests, edges, labels = find_paths(start, words, choices, automaton, limits)
        if goal < 0:
            continue
        nodes, agenda = [(goal, -1, -1, 0.0)], [(bests[goal], 0)]
        while counts[row] < wanted:
            node = next_path(nodes, agenda, bests, edges, limits.nodes * wanted if counts[row] else NO_LIMIT)
            if node < 0:
                break
            scores[found] = -nodes[node][3]
            for word in range(words):
                _, node, edge, _ = nodes[node]
                ids[total + word] = labels[edge]
            counts[row], total, found = counts[row] + 1, total + words, found + 1
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
def find_paths(
    start: int, words: int, choices: Likeliest, automaton: Automaton, limits: SearchLimits
) -> tuple[int, Float64s, Edges, Int32s]:
    """Extend states word by word; equal ones become one, and the best go on.

    Gives the state behind the last, or -1; what the best way to each state loses; and the edges, with their labels.
    """
    starts, ids, logs = choices
    total = starts[start + words] - starts[start]
    beam, room, slots, most = beam_for(limits, total), 2, 256, 0
    for word in range(start, start + words):
        most = max(most, starts[word + 1] - starts[word])
    room += beam * (total + 1)
    while slots < 2 * beam * most:
        slots *= 2
    table, keys, bests = np.zeros(slots, dtype=np.int64), np.empty(room, dtype=np.int64), np.empty(room)
    last_edge, next_edge = np.empty(room, dtype=np.int32), np.empty(room, dtype=np.int32)
    source_of, label_of, loss_of = np.empty(room, dtype=np.int32), np.empty(room, dtype=np.int32), np.empty(room)
    closable = _closable(start, words, choices, automaton.closes)
    keys[0], bests[0], last_edge[0] = automaton.first, 0.0, -1
    kept, states, edges = np.zeros(1, dtype=np.int64), 1, 0
    for word in range(words):
        begin, lowest = states, np.inf
        for source in kept:
            for place in range(starts[start + word], starts[start + word + 1]):
                loss = bests[source] - logs[place]
                if loss > lowest + limits.margin:
                    break
                if logs[place] < limits.least and place > starts[start + word]:
                    break
                key = next_state(automaton, keys[source], ids[place], word + 1 == words)
                if key < 0:
                    continue
                slot = find_slot(key, table, keys, word + 1, slots - 1)
                if table[slot] >> STAMP != word + 1:
                    if automaton.still_open(key) > closable[word + 1]:
                        continue
                    if word + 1 == words and not automaton.may_end(key):
                        continue
                    table[slot] = (word + 1) << STAMP | states
                    keys[states], bests[states], last_edge[states] = key, np.inf, -1
                    states += 1
                lowest = min(lowest, loss)
                state = table[slot] & NUMBER
                next_edge[edges], source_of[edges], label_of[edges] = last_edge[state], source, ids[place]
                last_edge[state], loss_of[edges] = edges, -logs[place]
                bests[state] = min(bests[state], loss)
                edges += 1
        kept = begin + np.argsort(bests[begin:states], kind="mergesort")[:beam]
    bests[states], last_edge[states] = np.inf, -1
    for source in kept:
        next_edge[edges], source_of[edges], label_of[edges], loss_of[edges] = last_edge[states], source, -1, 0.0
        last_edge[states], bests[states] = edges, min(bests[states], bests[source])
        edges += 1
    goal = states if words and last_edge[states] >= 0 else -1
    return goal, bests, Edges(last_edge, next_edge, source_of, loss_of), label_of


@compiled()
def _closable(start: int, words: int, choices: Likeliest, closes: Int64s) -> Int64s:
    """How much may be open after each word, so that the words to come could still close it."""
    starts, ids, _ = choices
    closable = np.zeros(words + 1, dtype=np.int64)
    for word in range(words - 1, -1, -1):
        most = 0
        for place in range(starts[start + word], starts[start + word + 1]):
            most = max(most, closes[ids[place]])
        closable[word] = closable[word + 1] + most
    return closable
