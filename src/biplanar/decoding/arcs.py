"""From the scores of labels that each name a head to scores of arcs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from biplanar.data.arrays import Float32s, Int64s
from biplanar.data.forest import Column
from biplanar.encodings import Encoding


def head_scores(
    encoding: Encoding,
    names: tuple[str, ...],
    labels: Float32s,
    relations: Float32s,
    roots: Float32s,
    offsets: Int64s,
    upos: Column | None,
) -> Iterator[NDArray[np.float64]]:
    """The log-probability of every head of every word, sentence by sentence: (words, 1 + words), the root first.

    `labels` are the log-probabilities of labels (words, labels); those that name the same head are added up.
    `relations` and `roots` are the log-probabilities of each word's best relation if it has a head, and if it is root.
    """
    words, lengths = int(offsets[-1]), np.diff(offsets)
    table = np.full((words, int(lengths.max(initial=0)) + 1), -np.inf)
    for label in range(len(names)):
        column = Column(np.full(words, label, dtype=np.int32), names)
        heads = encoding.decode([column], offsets, upos)
        at = np.flatnonzero(heads >= 0)
        table[at, heads[at]] = np.logaddexp(table[at, heads[at]], labels[at, label])
    table[:, 0] += roots
    table[:, 1:] += relations[:, None]
    return (table[start:end, : end - start + 1] for start, end in pairwise(offsets))
