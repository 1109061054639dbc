"""ONNX graphs of networks with a pre-trained encoder, by tiny ones with random weights."""

from __future__ import annotations

from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from transformers import GPT2Config, GPT2Model

from biplanar.decoding.scores import Scores
from biplanar.errors import FileError
from biplanar.tagger import export
from biplanar.tagger.config import TransformerConfig
from biplanar.tagger.device import TorchTagger
from biplanar.tagger.export import can_export, export_onnx
from biplanar.tagger.export_transformer import ExportError
from biplanar.tagger.features import Corpus, Vocabulary
from biplanar.tagger.network import Tagger
from biplanar.tagger.runtime import OnnxTagger
from tests.tagger.networks import CPU, small_network
from tests.tagger.pretrained import write_bert, write_roberta

TASKS = {"plane1": (".", "<", ">"), "deprel": ("root", "obj"), "upos": ("NOUN", "VERB", "X")}
SENTENCES = [
    ["Yes"],
    ["A", "hearing", "is", "scheduled", "on", "the", "issue", "today", "."],
    ["She", "sings", "!"],
    ["the", "wanderer" * 9, "sings", "the", "songs", "of", "the", "sea"],  # which are two windows
]
VOCABULARY = Vocabulary.of(SENTENCES, TASKS, min_form_count=1, min_char_count=1)
BESIDE = {"word_dim": 6, "char_dim": 4}  # word and character vectors
ALONE = {"word_dim": None, "char_dim": None, "attention": True}


def network_of(folder: Path, switches: dict[str, object], **settings: object) -> Tagger:
    transformer = TransformerConfig(model=str(folder), **settings)
    own = {"encoder": "transformer", "form_dim": 20, "column_forms": False, "transformer": transformer}
    network = small_network(VOCABULARY, {**own, **switches})
    network.encoder.load_pretrained()
    return network.eval()


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_bert(tmp_path_factory.mktemp("encoders") / "bert")


@pytest.fixture(scope="module")
def network(bert: Path) -> Tagger:
    return network_of(bert, ALONE)


@pytest.fixture(scope="module")
def tagger(network: Tagger, tmp_path_factory: pytest.TempPathFactory) -> OnnxTagger:
    """In int8."""
    return exported(network, tmp_path_factory.mktemp("int8"), int8=True)


def exported(network: Tagger, folder: Path, *, int8: bool = False) -> OnnxTagger:
    export_onnx(network, folder, int8=int8)
    return OnnxTagger(folder, VOCABULARY, subwords=network.encoder.subwords)


def tables_of(tagger: OnnxTagger | TorchTagger, sentences: list[list[str]]) -> dict[str, np.ndarray]:
    corpus = Corpus.of(sentences)
    scores: Scores = tagger.score(tagger.represent(corpus.forms), corpus.batch(range(len(sentences))))
    return {**scores.labels, **scores.columns.tables(), "arcs": scores.arcs.likeliest().logs}


def assert_close(found: dict[str, np.ndarray], expected: dict[str, np.ndarray], atol: float) -> None:
    assert list(found) == list(expected)
    for task, table in expected.items():
        np.testing.assert_allclose(found[task], table, atol=atol)


@pytest.mark.parametrize(
    ("write", "switches", "pooling"),
    [(write_bert, ALONE, "mean"), (write_bert, BESIDE, "first"), (write_roberta, BESIDE, "mean")],
)
def test_scores_are_those_of_pytorch(write, switches, pooling, tmp_path):
    network = network_of(write(tmp_path / "encoder"), switches, pooling=pooling)
    expected = tables_of(TorchTagger(network, VOCABULARY, CPU), SENTENCES)
    assert_close(tables_of(exported(network, tmp_path / "onnx"), SENTENCES), expected, 1e-4)
    assert (tmp_path / "onnx" / "forms.onnx").exists() == (switches is BESIDE)


def test_int8_is_near_and_small(network, tagger, tmp_path):
    expected = tables_of(TorchTagger(network, VOCABULARY, CPU), SENTENCES)
    found = tables_of(tagger, SENTENCES)
    for task in TASKS:
        assert np.abs(found[task] - expected[task]).mean() < 0.05 * np.abs(expected[task]).mean()
    exported(network, tmp_path)
    sizes = [path.with_name("subwords.onnx").stat().st_size for path in (tagger.files.words, tmp_path / "words.onnx")]
    assert sizes[0] < sizes[1]


def test_products_without_bias_of_weights_that_are_not_turned(tmp_path):
    """As GPT-2 has them."""
    GPT2Model(GPT2Config(n_embd=32, n_layer=2, n_head=4, n_positions=64)).save_pretrained(write_bert(tmp_path / "gpt2"))
    network = network_of(tmp_path / "gpt2", ALONE)
    expected = tables_of(TorchTagger(network, VOCABULARY, CPU), SENTENCES)
    found = tables_of(exported(network, tmp_path / "int8", int8=True), SENTENCES)
    for task in TASKS:
        assert np.abs(found[task] - expected[task]).mean() < 0.05 * np.abs(expected[task]).mean()


def test_an_encoder_that_pytorch_cannot_export(network, tmp_path):
    with (
        mock.patch("torch.onnx.export", side_effect=IndexError("list index out of range")),
        pytest.raises(ExportError, match="PyTorch cannot export an encoder of type bert to ONNX"),
    ):
        exported(network, tmp_path / "onnx")
    assert not (tmp_path / "onnx").exists()


def test_int8_does_not_depend_on_the_batch(tagger):
    def in_context(sentences: list[list[str]]) -> np.ndarray:
        corpus = Corpus.of(sentences)
        batch = corpus.batch(range(len(sentences)))
        return tagger._in_context(tagger.represent(corpus.forms), batch, tagger._subwords)

    alone = [in_context([sentence]) for sentence in SENTENCES]
    np.testing.assert_array_equal(in_context(SENTENCES), np.concatenate(alone))
    tables = [tables_of(tagger, [sentence]) for sentence in SENTENCES]
    for task, table in tables_of(tagger, SENTENCES).items():
        if task in TASKS:
            np.testing.assert_allclose(table, np.concatenate([one[task] for one in tables]), atol=1e-5)


def test_no_words_have_no_scores(tagger):
    assert tables_of(tagger, [[]])["deprel"].shape == (0, 2)


def test_a_graph_of_another_network_is_refused(tagger, bert, tmp_path):
    other = network_of(bert, {**ALONE, "hidden": 8})
    exported(other, tmp_path, int8=True)
    (tmp_path / "subwords.onnx").write_bytes(tagger.files.subwords.read_bytes())
    with pytest.raises(FileError, match=r"subwords.onnx: not of the same network"):
        OnnxTagger(tmp_path, VOCABULARY, subwords=other.encoder.subwords)


def test_what_is_too_large_for_a_file_is_not_exported(network, monkeypatch):
    assert can_export(network)
    monkeypatch.setattr(export, "LARGEST_FILE", 10_000)
    assert not can_export(network)
