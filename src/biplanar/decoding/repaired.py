"""Best labels, repaired where they are no tree: what decoding falls back on."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from biplanar.data.arrays import Float32s, Int32s, Int64s
from biplanar.data.forest import Column
from biplanar.decoding.candidates import log_probabilities
from biplanar.decoding.inventory import LabelInventory
from biplanar.decoding.repair import repair_cleanly

# From asserted heads, offsets, and how root-like each word is (0 to 1), to heads that form trees.
Repair = Callable[[Int32s, Int64s, Float32s], Int32s]


def repaired_heads(
    inventory: LabelInventory, labels: Sequence[Int32s], deprels: Float32s, offsets: Int64s, upos: Column | None
) -> Int32s:
    """The heads that labels assert, cleanly repaired; `deprels` are the scores of relations."""
    asserted = inventory.encoding.decode(inventory.columns(labels), offsets, upos)
    likeness = np.exp(log_probabilities(deprels)) @ inventory.roots.astype(np.float32)
    return np.asarray(repair_cleanly(asserted, offsets, likeness))
