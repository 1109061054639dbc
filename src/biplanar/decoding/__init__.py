"""Decoding: labels to valid trees, whatever the labels are. The decoders stand in one dict (`DECODERS`).

Some decoders take labels alone; others look at the scores of all labels to choose among them.
"""

from __future__ import annotations

from biplanar.decoding.decoders import (
    DECODERS,
    DEFAULT_DECODER,
    DEFAULT_LABEL_DECODER,
    Decoder,
    all_decoders,
    get_decoder,
)
from biplanar.decoding.labels import decode_forest, root_likeness

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
