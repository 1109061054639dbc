"""Decoding: labels to valid trees, whatever the labels are. The decoders stand in one dict (`DECODERS`).

Some decoders take labels alone; others look at the scores of all labels to choose among them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from biplanar.data.arrays import Float32s, Int64s
from biplanar.data.forest import Column, Forest
from biplanar.decoding.decoders import (
    DECODERS,
    DEFAULT_DECODER,
    DEFAULT_LABEL_DECODER,
    Decoder,
    all_decoders,
    get_decoder,
    get_repair,
)
from biplanar.decoding.inventory import ROOT, is_root_like
from biplanar.encodings import Encoding
from biplanar.encodings.lifting import lower
from biplanar.errors import LabelError

__all__ = [
    "DECODERS",
    "DEFAULT_DECODER",
    "DEFAULT_LABEL_DECODER",
    "Decoder",
    "all_decoders",
    "decode_forest",
    "get_decoder",
    "root_likeness",
]


def decode_forest(
    columns: Sequence[Column],
    deprels: Column,
    offsets: Int64s,
    encoding: Encoding,
    *,
    decoder: str = DEFAULT_LABEL_DECODER,
    upos: Column | None = None,
) -> Forest:
    """Trees for many sentences at once, from one column of labels a task and one of relations."""
    repair = get_repair(decoder)
    if len(columns) != len(encoding.tasks):
        raise LabelError(f"{encoding.name} expects {len(encoding.tasks)} labels a word, found {len(columns)}")
    for task, column in zip([*encoding.tasks, "deprel"], [*columns, deprels], strict=True):
        if len(column.ids) != offsets[-1]:
            raise LabelError(f"{task}: expected {offsets[-1]} labels, found {len(column.ids)}")
    asserted = encoding.decode(columns, offsets, upos)
    return lower(encoding, Forest(offsets, repair(asserted, offsets, root_likeness(deprels)), deprels, upos))


def root_likeness(deprels: Column) -> Float32s:
    """1 for words whose relation is `root`, 0.5 for its subtypes (`root:x`), 0 for all others."""
    likeness = [1.0 if name == ROOT else 0.5 * is_root_like(name) for name in deprels.names]
    return np.array([*likeness, 0.0], dtype=np.float32)[deprels.ids]
