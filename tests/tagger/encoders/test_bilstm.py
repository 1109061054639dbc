"""The encoder `bilstm`: packed it says what it says padded, and every part of it has its say."""

from __future__ import annotations

import pytest
import torch

from biplanar.tagger.encoders.bilstm import BiLstm
from biplanar.tagger.features import Corpus, Vocabulary
from biplanar.tagger.tensors import TensorBatch
from tests.tagger.networks import CPU, batch_of, small_network

SENTENCES = [
    ["Yes"],
    ["A", "hearing", "is", "scheduled", "on", "the", "issue", "today", "."],
    ["She", "sings", "!"],
    ["A", "song", "!"],
]
VOCABULARY = Vocabulary.of(SENTENCES, {"deprel": ("root", "obj")}, min_form_count=1, min_char_count=1, treebanks=2)
SWITCHES = {
    "nothing": {},
    "treebanks": {"treebank_dim": 3},
    "small forms": {"form_dim": 5},
    "both": {"form_dim": 5, "treebank_dim": 3},
    "one layer": {"layers": 1},
}
every_switch = pytest.mark.parametrize("switches", SWITCHES.values(), ids=SWITCHES)


def encoder_of(switches: dict[str, object]) -> BiLstm:
    encoder = small_network(VOCABULARY, switches).encoder
    assert isinstance(encoder, BiLstm)
    return encoder


@every_switch
def test_packed_words_are_encoded_as_padded_ones(switches: dict[str, object]) -> None:
    encoder = encoder_of(switches)
    spellings, batch = batch_of(VOCABULARY, SENTENCES, [0, 1, 0, 1])
    forms = encoder.represent(spellings)
    padded = batch.only_words(encoder._through_padded(forms, batch))
    assert padded.shape == (16, encoder.width) == (16, 24)
    torch.testing.assert_close(encoder._through_packed(forms, batch), padded)
    torch.testing.assert_close(encoder(forms, batch), padded)


@every_switch
def test_no_words_have_no_vectors(switches: dict[str, object]) -> None:
    encoder, batch = encoder_of(switches), TensorBatch(Corpus.of([[]]).batch([0]), CPU)
    forms = encoder.represent(batch_of(VOCABULARY, SENTENCES)[0])
    assert encoder(forms, batch).shape == (0, 24)


@every_switch
def test_a_form_is_its_word_and_its_spelling(switches: dict[str, object]) -> None:
    encoder = encoder_of(switches)
    spellings, _ = batch_of(VOCABULARY, [["song", "songs", "SONG"]])  # the last has the first one's word vector
    first, second, third = encoder.represent(spellings)
    assert len(first) == switches.get("form_dim", 8 + 2 * 4)
    assert not torch.equal(first, second)
    assert not torch.equal(first, third)
    if "form_dim" not in switches:
        assert torch.equal(first[:8], third[:8])
        assert torch.equal(first[:8], encoder.word_embedding.weight[VOCABULARY.form_ids["song"]])


def test_hidden_words_are_known_by_their_spelling_only() -> None:
    encoder = encoder_of({"word_dropout": 1.0})
    spellings, _ = batch_of(VOCABULARY, SENTENCES)
    assert encoder.represent(spellings)[:, :8].unique(dim=0).shape[0] > 1
    encoder.train()
    assert encoder.represent(spellings)[:, :8].unique(dim=0).shape[0] == 1


def test_vectors_from_elsewhere() -> None:
    encoder = encoder_of({})
    with torch.no_grad():
        encoder.put_vector(3, torch.arange(8.0))
    assert torch.equal(encoder.word_embedding.weight[3], torch.arange(8.0))
