"""Models with a pre-trained encoder, from training to parsing, by a tiny one with random weights."""

from __future__ import annotations

import shutil
import subprocess
import sys
from itertools import islice
from pathlib import Path
from unittest import mock

import pytest
import torch
from safetensors.torch import load_file

import biplanar
from biplanar.errors import FileError
from biplanar.pipeline.model_folder import ModelFolder
from biplanar.pipeline.train import Data, train_model
from biplanar.tagger.config import CONFIGS, Config
from biplanar.tagger.training import Record
from tests.paths import TINY
from tests.tagger.pretrained import write_bert

DATA = Data([str(TINY)], str(TINY), licence="CC0")


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_bert(tmp_path_factory.mktemp("encoders") / "bert")


def config_of(encoder: Path, *, frozen: bool = False) -> Config:
    network = {"hidden": 16, "layers": 1, "form_dim": 16, "output_hidden": None, "arc_dim": 8, "column_hidden": None}
    settings = {"model": str(encoder), "frozen": frozen, "accumulate": 2}
    return Config.from_dict(
        {
            "network": {**network, "transformer": settings},
            "training": {"epochs": 2, "evaluations": 2, "batch_words": 60},
            "segmenter": {"kind": "none"},
        },
        CONFIGS["transformer"],
    )


@pytest.fixture(scope="module")
def model(encoder: Path, tmp_path_factory: pytest.TempPathFactory) -> ModelFolder:
    """A model whose encoder is where it was no more."""
    own = shutil.copytree(encoder, tmp_path_factory.mktemp("encoders") / "own")
    folder = ModelFolder(tmp_path_factory.mktemp("models") / "tiny")
    list(train_model(DATA, config_of(own), folder, device="cpu", threads=1))
    shutil.rmtree(own)
    return folder


def parsed(folder: Path, runtime: str | None = None, **options: int) -> list[str]:
    parser = biplanar.load(folder, runtime=runtime)
    return [str(sentence) for sentence in parser.pipe(biplanar.read_conllu(TINY), retag=True, **options)]


def test_a_model_has_its_encoder_and_parses_after_it_has_moved(model, tmp_path):
    assert sorted(path.name for path in model.encoder.iterdir()) == ["config.json", "tokenizer.json"]
    assert sorted(path.name for path in model.int8.iterdir()) == ["relations.onnx", "subwords.onnx", "words.onnx"]
    moved = shutil.copytree(model.path, tmp_path / "moved")
    assert parsed(moved) == parsed(model.path)


def test_trees_do_not_depend_on_the_batch(model):
    assert parsed(model.path, batch_words=1) == parsed(model.path, batch_words=1000)


def test_every_runtime_parses(model):
    assert parsed(model.path, "onnx") == parsed(model.path, "torch")
    assert parsed(model.path, "int8") == parsed(model.path)


def test_parsing_needs_neither_pytorch_nor_transformers(model):
    code = (
        "import sys, biplanar\n"
        "sys.modules |= dict.fromkeys(['torch', 'transformers', 'huggingface_hub', 'onnx'])\n"
        f"parser = biplanar.load({str(model.path)!r})\n"
        "print(len(parser([['The', 'cat', 'sings']])[0].tree))\n"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (found.stdout, found.stderr) == ("3\n", "")


def test_a_sentence_of_5000_words_is_parsed(model):
    (found,) = biplanar.load(model.path).pipe([["the", "cat", "sings", "of", "wanderers"] * 1000])
    assert len(found.tree) == 5000


def test_a_resumed_training_ends_as_one_without_a_break(encoder, tmp_path):
    config = config_of(encoder)
    whole, broken = ModelFolder(tmp_path / "whole"), ModelFolder(tmp_path / "broken")
    list(train_model(DATA, config, whole, device="cpu", threads=1))
    events = train_model(DATA, config, broken, device="cpu", threads=1)
    list(islice((event for event in events if isinstance(event, Record)), 1))
    events.close()
    list(train_model(DATA, config, broken, device="cpu", threads=1, resume=True))
    one, other = load_file(whole.checkpoint), load_file(broken.checkpoint)
    assert all(torch.equal(one[name], other[name]) for name in one)


def test_what_is_frozen_stays_as_it_is(encoder, tmp_path):
    list(train_model(DATA, config_of(encoder, frozen=True), ModelFolder(tmp_path / "m"), device="cpu", threads=1))
    before, after = load_file(encoder / "model.safetensors"), load_file(tmp_path / "m" / "model.safetensors")
    kept = {name: tensor for name, tensor in before.items() if not name.startswith("pooler")}
    assert len(kept) > 40
    assert all(torch.equal(after[f"encoder.pretrained.{name}"], tensor) for name, tensor in kept.items())


def test_a_model_that_cannot_be_exported_runs_in_pytorch(encoder, tmp_path):
    folder = ModelFolder(tmp_path / "model")
    with mock.patch("torch.onnx.export", side_effect=IndexError):
        events = list(train_model(DATA, config_of(encoder), folder, device="cpu", threads=1))
    assert any("the model runs in PyTorch only" in str(event) for event in events)
    assert not folder.int8.exists()
    assert len(parsed(folder.path)) == len(list(biplanar.read_conllu(TINY)))


def test_a_model_without_its_encoder_is_refused(model, tmp_path):
    moved = ModelFolder(shutil.copytree(model.path, tmp_path / "moved"))
    shutil.rmtree(moved.encoder)
    with pytest.raises(FileError, match="pre-trained encoder"):
        biplanar.load(moved.path)
