"""Encoders: from words to vectors in their context. To add one is a module like `bilstm`, and one line here."""

from __future__ import annotations

from collections.abc import Callable

from biplanar.errors import UnknownNameError
from biplanar.plugins import add_installed
from biplanar.tagger.config import NetworkConfig
from biplanar.tagger.encoders.bilstm import BiLstm
from biplanar.tagger.encoders.encoder import Encoder
from biplanar.tagger.encoders.transformer import Transformer

# By name: made of the network's settings, and the numbers of known forms, characters and treebanks.
ENCODERS: dict[str, Callable[[NetworkConfig, int, int, int], Encoder]] = {"bilstm": BiLstm, "transformer": Transformer}


def make_encoder(config: NetworkConfig, forms: int, chars: int, treebanks: int) -> Encoder:
    """A fresh encoder of the kind that the settings name."""
    if config.encoder not in ENCODERS:
        add_installed("encoders", ENCODERS)
    if config.encoder not in ENCODERS:
        raise UnknownNameError("encoder", config.encoder, ENCODERS)
    return ENCODERS[config.encoder](config, forms, chars, treebanks)
