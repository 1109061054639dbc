"""Weights on disk: what was saved comes back, also what older versions saved."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from biplanar.errors import FileError
from biplanar.tagger.checkpoint import load_weights, save_weights
from biplanar.tagger.features import Vocabulary
from biplanar.tagger.network import Tagger
from tests.tagger.networks import batch_of, small_network

SENTENCES = [["A", "hearing", "is", "scheduled", "."], ["Yes"]]
TASKS = {"plane1": ("_", "<", ">"), "deprel": ("root", "obj"), "depth.plane1.left": tuple("0123")}
VOCABULARY = Vocabulary.of(SENTENCES, TASKS, min_form_count=1, min_char_count=1, treebanks=2)

# Everything that a network can have, but for what is named after its tasks.
EVERYTHING = {"form_dim": 5, "treebank_dim": 3, "attention": True, "relation_hidden": 7}

LSTM = [
    f"{name}_l0{direction}"
    for direction in ("", "_reverse")
    for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
]
LINEAR = ["weight", "bias"]
# The names of weights before encoders were modules of their own.
OLD_NAMES = [
    "word_embedding.weight",
    "char_embedding.weight",
    *(f"char_lstm.{name}" for name in LSTM),
    "treebank_embedding.weight",
    *(f"form.{name}" for name in LINEAR),
    *(f"layers.0.{name}" for name in LSTM),
    *(f"layers.1.{name}" for name in LSTM),
    "arcs.root",
    "arcs.arc_weight",
    *(f"arcs.arc_head.{name}" for name in LINEAR),
    *(f"arcs.arc_dependent.{name}" for name in LINEAR),
    "attention.root_value",
    *(f"attention.value.{name}" for name in LINEAR),
    *(f"outputs.{task}.{place}.{name}" for task in ("plane1", "deprel") for place in (0, 3) for name in LINEAR),
    *(f"outputs.depth-plane1-left.{name}" for name in LINEAR),
    "relations.root",
    *(f"relations.{part}.{name}" for part in ("dependent", "head", "output") for name in LINEAR),
]


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


@pytest.fixture
def old_file(tmp_path: Path) -> Path:
    """The same weights in a file of an older version, whose names stood in the order of those of today."""
    tensors = small_network(VOCABULARY, EVERYTHING).state_dict().values()
    save_file(dict(zip(OLD_NAMES, tensors, strict=True)), tmp_path / "old.safetensors")
    return tmp_path / "old.safetensors"


def test_weights_from_before_encoders_had_a_module_come_back(old_file: Path) -> None:
    again = other_network()
    load_weights(again, old_file)
    assert_same(again, small_network(VOCABULARY, EVERYTHING))


def test_what_is_loaded_is_not_renamed_for_others(old_file: Path) -> None:
    tensors = load_file(old_file)
    other_network().load_state_dict(tensors)
    assert sorted(tensors) == sorted(OLD_NAMES)


def test_a_network_inside_another_takes_old_weights_too(old_file: Path) -> None:
    outer, inner = torch.nn.Module(), other_network()
    outer.inner = inner
    outer.load_state_dict({f"inner.{name}": tensor for name, tensor in load_file(old_file).items()})
    assert_same(inner, small_network(VOCABULARY, EVERYTHING))


@pytest.mark.parametrize("missing", ["word_embedding.weight", "layers.1.bias_hh_l0", "outputs.plane1.0.weight"])
def test_old_weights_that_lack_some_are_refused(missing: str, old_file: Path) -> None:
    tensors = load_file(old_file)
    del tensors[missing]
    save_file(tensors, old_file)
    with pytest.raises(FileError, match=r"old\.safetensors: expected the weights of another network than found"):
        load_weights(other_network(), old_file)
