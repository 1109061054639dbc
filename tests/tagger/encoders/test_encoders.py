"""Encoders by name, and one from outside the package."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from biplanar.errors import BiplanarError, UnknownNameError
from biplanar.tagger.config import NetworkConfig
from biplanar.tagger.device import TorchTagger
from biplanar.tagger.encoders import ENCODERS, make_encoder
from biplanar.tagger.encoders.bilstm import BiLstm
from biplanar.tagger.encoders.encoder import Encoder
from biplanar.tagger.export import export_onnx
from biplanar.tagger.features import RESERVED, Corpus, Vocabulary
from biplanar.tagger.tensors import TensorBatch, TensorSpellings
from tests.tagger.networks import CPU, small_network

SENTENCES = [["a", "b", "c"], ["b"]]
VOCABULARY = Vocabulary.of(
    SENTENCES, {"plane1": ("_", "<"), "deprel": ("root", "obj")}, min_form_count=1, min_char_count=1
)


class WordsAlone(Encoder):
    """Every word by its own vector, whatever stands beside it."""

    def __init__(self, config: NetworkConfig, forms: int, chars: int, treebanks: int) -> None:  # noqa: ARG002
        super().__init__()
        self.embedding = torch.nn.Embedding(forms + RESERVED, config.word_dim)
        self.width = config.word_dim

    def represent(self, spellings: TensorSpellings) -> torch.Tensor:
        return self.embedding(spellings.ids)

    def forward(self, forms: torch.Tensor, batch: TensorBatch) -> torch.Tensor:
        return batch.only_words(forms[batch.words])


@pytest.fixture
def words_alone(monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """The settings that name it."""
    monkeypatch.setitem(ENCODERS, "words-alone", WordsAlone)
    return {"encoder": "words-alone", "relation_hidden": 7}


def test_the_default_is_the_papers() -> None:
    assert isinstance(make_encoder(NetworkConfig(), 5, 6, 1), BiLstm)


def test_an_unknown_name_is_refused_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="unknown encoder 'bilsm'; did you mean 'bilstm'"):
        make_encoder(NetworkConfig(encoder="bilsm"), 5, 6, 1)


def test_another_encoder_is_a_class_and_a_line(words_alone: dict[str, object]) -> None:
    network = small_network(VOCABULARY, words_alone)
    assert isinstance(network.encoder, WordsAlone)
    tagger, corpus = TorchTagger(network, VOCABULARY, CPU), Corpus.of(SENTENCES)
    scores = tagger.score(tagger.represent(corpus.forms), corpus.batch([0, 1]))
    for table in (*scores.labels.values(), scores.relate(np.zeros(4, dtype=np.int32))):
        assert table.shape == (4, 2)
        np.testing.assert_allclose(table[1], table[3], atol=1e-6)  # both are "b"
        assert np.abs(table[0] - table[1]).max() > 1e-4


def test_vectors_that_an_encoder_has_no_place_for_are_refused(words_alone: dict[str, object]) -> None:
    encoder = small_network(VOCABULARY, words_alone).encoder
    with pytest.raises(BiplanarError, match="an encoder of type WordsAlone takes no pre-trained vectors"):
        encoder.put_vector(2, torch.zeros(8))


def test_an_encoder_that_cannot_be_exported_is_refused(words_alone: dict[str, object], tmp_path) -> None:
    with pytest.raises(BiplanarError, match="an encoder of type WordsAlone cannot be exported to ONNX"):
        export_onnx(small_network(VOCABULARY, words_alone), tmp_path / "onnx")
    assert not list(tmp_path.iterdir())
