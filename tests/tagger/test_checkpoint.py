"""Weights on disk: what was saved comes back."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from biplanar.data.conllu import read_conllu
from biplanar.errors import BiplanarError, FileError
from biplanar.tagger.checkpoint import Origin, load_checkpoint, save_checkpoint
from biplanar.tagger.config import Config
from biplanar.tagger.features import Vocabulary
from biplanar.tagger.network import Tagger
from biplanar.tagger.training import Record, Trainer
from biplanar.tagger.weights import fill, read_tensors, save_weights, write_tensors
from tests.conftest import ROOT
from tests.tagger.networks import batch_of, small_network

SENTENCES = [["A", "hearing", "is", "scheduled", "."], ["Yes"]]
TASKS = {"plane1": ("_", "<", ">"), "deprel": ("root", "obj"), "depth.plane1.left": tuple("0123")}
VOCABULARY = Vocabulary.of(SENTENCES, TASKS, min_form_count=1, min_char_count=1, treebanks=2)

# Everything that a network can have, but for what is named after its tasks.
EVERYTHING = {"form_dim": 5, "treebank_dim": 3, "attention": True, "relation_hidden": 7}


def load_weights(network: Tagger, path: Path) -> None:
    fill(network, read_tensors(path)[0], path)


def other_network() -> Tagger:
    """The same network with other weights."""
    network = small_network(VOCABULARY, EVERYTHING)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(1)
    return network


@torch.no_grad()
def tables_of(network: Tagger) -> list[torch.Tensor]:
    spellings, batch = batch_of(VOCABULARY, SENTENCES, [0, 1])
    output = network(network.encoder.represent(spellings), batch)
    return [*output.labels.values(), output.dependents, output.heads]


def assert_same(one: Tagger, other: Tagger) -> None:
    for name, tensor in one.state_dict().items():
        assert torch.equal(tensor, other.state_dict()[name]), name
    for found, wanted in zip(tables_of(one), tables_of(other), strict=True):
        torch.testing.assert_close(found, wanted)


def test_weights_come_back(tmp_path: Path) -> None:
    network, again = small_network(VOCABULARY, EVERYTHING), other_network()
    save_weights(network, tmp_path / "model.safetensors")
    load_weights(again, tmp_path / "model.safetensors")
    assert_same(again, network)


@pytest.mark.parametrize("missing", ["encoder.word_embedding.weight", "outputs.plane1.0.weight"])
def test_weights_that_lack_some_are_refused(missing: str, tmp_path: Path) -> None:
    tensors = small_network(VOCABULARY, EVERYTHING).state_dict()
    del tensors[missing]
    write_tensors(tensors, {}, tmp_path / "model.safetensors")
    with pytest.raises(FileError, match=r"model\.safetensors: .* do not match"):
        load_weights(other_network(), tmp_path / "model.safetensors")


def test_weights_without_a_checksum_are_refused(tmp_path: Path) -> None:
    save_file(small_network(VOCABULARY, EVERYTHING).state_dict(), tmp_path / "model.safetensors")
    with pytest.raises(FileError, match=r"model\.safetensors: .*checksum"):
        load_weights(other_network(), tmp_path / "model.safetensors")


class TestAverages:
    """A training with a running mean of the weights, cut off after each epoch."""

    TREEBANK = list(read_conllu(ROOT / "examples" / "tiny.conllu"))[:12]

    def trainer(self, average: float | None = 0.9) -> Trainer:
        sizes = {
            "word_dim": 6,
            "char_dim": 4,
            "char_hidden": 4,
            "hidden": 8,
            "layers": 1,
            "output_hidden": 6,
            "arc_dim": 5,
        }
        settings = {
            "network": sizes,
            "auxiliary": {"relation_dim": 4},
            "vocabulary": {"min_form_count": 1, "min_char_count": 1},
            "training": {"batch_words": 40, "learning_rate": 0.01, "epochs": 3, "average": average},
        }
        return Trainer(Config.from_dict(settings), self.TREEBANK, self.TREEBANK)

    def records(self, trainer: Trainer) -> list[Record]:
        return [told for told in trainer.run() if isinstance(told, Record)]

    def test_a_training_that_is_taken_up_ends_bit_for_bit_like_one_that_never_stopped(self, tmp_path):
        whole, path = self.trainer(), tmp_path / "checkpoint.safetensors"
        wanted, found = self.records(whole), []
        for _ in range(3):
            trainer = self.trainer()
            origin = Origin.of(trainer)
            if path.exists():
                load_checkpoint(trainer, path, origin)
            found.append(next(told for told in trainer.run() if isinstance(told, Record)))
            save_checkpoint(trainer, path, origin)
        assert [(one.epoch, one.loss, one.las) for one in found] == [(one.epoch, one.loss, one.las) for one in wanted]
        for one, other in ((trainer.network, whole.network), (trainer.average, whole.average)):
            for name, tensor in one.state_dict().items():
                assert torch.equal(tensor, other.state_dict()[name]), name
        assert trainer.average.n_averaged == whole.average.n_averaged > 3

    def test_a_checkpoint_without_a_mean_is_another_trainings(self, tmp_path):
        path, trainer, other = tmp_path / "checkpoint.safetensors", self.trainer(None), self.trainer(0.9)
        save_checkpoint(trainer, path, Origin.of(trainer))
        with pytest.raises(BiplanarError, match=r"training\.average is None there and 0\.9 here"):
            load_checkpoint(other, path, Origin.of(other))
