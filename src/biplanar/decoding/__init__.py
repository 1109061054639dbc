"""Decoding: labels to valid trees, whatever the labels are. The decoders stand in one dict.

Some decoders take labels alone; others look at the scores of all labels to choose among them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from biplanar.data.arrays import Int32s, Int64s
from biplanar.data.forest import Column, Forest
from biplanar.decoding.repair import repair_cleanly, repair_like_the_authors
from biplanar.encodings import Encoding
from biplanar.errors import LabelError, UnknownNameError

# From asserted heads, offsets, and how root-like each word is (0 to 1), to heads that form trees.
Repair = Callable[[Int32s, Int64s, NDArray[np.float32]], Int32s]

DECODERS: dict[str, Repair] = {"greedy": repair_cleanly, "paper": repair_like_the_authors}

# What else a parser can do, as it has scores: the best labels that are a tree; the tree of the likeliest arcs.
SCORE_DECODERS = ("search", "minimum-risk")


def get_decoder(name: str) -> Repair:
    """The repair of that name."""
    if name not in DECODERS:
        raise UnknownNameError("decoder", name, DECODERS)
    return DECODERS[name]


def check_decoder(name: str) -> None:
    """That a parser has a decoder of that name."""
    if name not in DECODERS and name not in SCORE_DECODERS:
        raise UnknownNameError("decoder", name, (*DECODERS, *SCORE_DECODERS))


def decode_forest(
    columns: Sequence[Column],
    deprels: Column,
    offsets: Int64s,
    encoding: Encoding,
    *,
    decoder: str = "greedy",
    upos: Column | None = None,
) -> Forest:
    """Trees for many sentences at once, from one column of labels a task and one of relations."""
    repair = get_decoder(decoder)
    if len(columns) != len(encoding.tasks):
        raise LabelError(f"{encoding.name} expects {len(encoding.tasks)} labels a word, found {len(columns)}")
    for task, column in zip([*encoding.tasks, "deprel"], [*columns, deprels], strict=True):
        if len(column.ids) != offsets[-1]:
            raise LabelError(f"{task}: expected {offsets[-1]} labels, found {len(column.ids)}")
    asserted = encoding.decode(columns, offsets, upos)
    return Forest(offsets, repair(asserted, offsets, root_likeness(deprels)), deprels, upos)


def root_likeness(deprels: Column) -> NDArray[np.float32]:
    """1 for words whose relation is `root`, 0.5 for its subtypes (`root:x`), 0 for all others."""
    likeness = [1.0 if name == "root" else 0.5 * is_root_like(name) for name in deprels.names]
    return np.array([*likeness, 0.0], dtype=np.float32)[deprels.ids]


def is_root_like(deprel: str) -> bool:
    """Whether a relation is `root` or one of its subtypes."""
    return deprel.partition(":")[0] == "root"
