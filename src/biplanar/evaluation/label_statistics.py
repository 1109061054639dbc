"""How easy the labels of an encoding are to learn: how many there are, how many are unseen, their entropy."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from biplanar.data.forest import Column, Forest
from biplanar.decoding import decode_forest
from biplanar.encodings import Encoding
from biplanar.encodings.lifting import lift

ROUNDS = 3  # of which the best counts, where speed is measured

# How often words have each combination of labels: one a task, and the relation.
Counts = Counter[tuple[str, ...]]


def label_columns(forest: Forest, encoding: Encoding) -> tuple[Column, ...]:
    """The labels of trees, one column a task, and one of relations, into which lifting writes."""
    return (*encoding.encode(forest), lift(encoding, forest).deprels)


def have_tags(forests: Iterable[Forest], encoding: Encoding) -> bool:
    """Whether all words have part-of-speech tags, where the encoding needs them."""
    return not encoding.needs_upos or all(forest.upos and "_" not in forest.upos.names for forest in forests)


def label_statistics(train: Sequence[Forest], others: Mapping[str, Forest], encoding: Encoding) -> dict[str, Any]:
    """The labels of train, and the share of words in others that have a label or relation unseen there.

    `labels` has the number of each task. `entropy` is of a word's labels taken together, in bits; that with the
    relation tells what lifting costs, which writes into relations.
    """
    counts = sum((_counts(forest, encoding) for forest in train), Counts())
    *labels, relations = ({row[task] for row in counts} for task in range(len(encoding.tasks) + 1))
    without_relations = Counts()
    for row, count in counts.items():
        without_relations[row[:-1]] += count
    return {
        "labels": [len(names) for names in labels],
        "relations": len(relations),
        "unseen": {
            name: _unseen(_counts(forest, encoding), [*labels, relations])
            for name, forest in others.items()
            if have_tags([forest], encoding)
        },
        "entropy": _entropy(without_relations),
        "entropy_with_relation": _entropy(counts),
    }


def label_speed(forests: Sequence[Forest], encoding: Encoding) -> dict[str, float]:
    """Sentences a second of processor time: arrays of heads to labels, and labels to the heads of valid trees."""
    columns = [label_columns(forest, encoding) for forest in forests]

    def decode() -> None:
        for forest, (*labels, deprels) in zip(forests, columns, strict=True):
            decode_forest(labels, deprels, forest.offsets, encoding, upos=forest.upos)

    sentences = sum(map(len, forests))
    tasks = {"encode": lambda: [label_columns(forest, encoding) for forest in forests], "decode": decode}
    return {name: round(sentences / _best_time(task)) for name, task in tasks.items()}


def _counts(forest: Forest, encoding: Encoding) -> Counts:
    columns = label_columns(forest, encoding)
    sizes = [len(column.names) for column in columns]
    found, counts = np.unique(np.ravel_multi_index([column.ids for column in columns], sizes), return_counts=True)
    ids = zip(*(task.tolist() for task in np.unravel_index(found, sizes)), strict=True)
    rows = (tuple(column.names[number] for column, number in zip(columns, row, strict=True)) for row in ids)
    return Counter(dict(zip(rows, counts.tolist(), strict=True)))


def _unseen(counts: Counts, known: Sequence[set[str]]) -> float:
    """The share of words with a label that is not known, in percent."""
    unseen = sum(
        count
        for row, count in counts.items()
        if any(label not in names for label, names in zip(row, known, strict=True))
    )
    return round(100 * unseen / counts.total(), 3) if counts else 0.0


def _entropy(counts: Counts) -> float:
    shares = np.array(sorted(counts.values())) / counts.total()
    return round(float(-(shares * np.log2(shares)).sum()), 3) + 0.0


def _best_time(task: Callable[[], object]) -> float:
    """Seconds of the best of several rounds, after one in which code is compiled."""
    task()
    times = []
    for _ in range(ROUNDS):
        start = time.process_time()
        task()
        times.append(time.process_time() - start)
    return max(min(times), 1e-9)
