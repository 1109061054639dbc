"""Small networks with random weights, and what they are given."""

from __future__ import annotations

import numpy as np
import torch

from biplanar.tagger.config import NetworkConfig
from biplanar.tagger.features import Corpus, Spellings, Vocabulary
from biplanar.tagger.network import Tagger
from biplanar.tagger.tensors import TensorBatch, TensorSpellings

CPU = torch.device("cpu")
SMALL = {
    "word_dim": 8,
    "char_dim": 4,
    "char_hidden": 4,
    "hidden": 12,
    "layers": 2,
    "output_hidden": 10,
    "attention": False,
    "arc_dim": 9,
}


def small_network(vocabulary: Vocabulary, switches: dict[str, object]) -> Tagger:
    """A network in which nothing is zero, so that everything matters."""
    torch.manual_seed(5)
    config = NetworkConfig(**{**SMALL, **switches})
    network = Tagger(config, len(vocabulary.forms), len(vocabulary.chars), vocabulary.tasks, treebanks=2)
    with torch.no_grad():
        for parameter in network.parameters():
            if not parameter.any():
                parameter.normal_()
    return network.eval()


def batch_of(
    vocabulary: Vocabulary, sentences: list[list[str]], treebanks: list[int] | None = None
) -> tuple[TensorSpellings, TensorBatch]:
    """The forms of some sentences, and these as one batch, on the CPU."""
    corpus = Corpus.of(sentences, None if treebanks is None else np.array(treebanks))
    batch = TensorBatch(corpus.batch(range(len(sentences))), CPU)
    return TensorSpellings.of(Spellings.of(corpus.forms, vocabulary), CPU), batch
