"""Weights and checkpoints on disk, as safetensors: nothing is executed when they are read."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn

from biplanar.data.files import writing
from biplanar.errors import BiplanarError, FileError
from biplanar.tagger.config import Config
from biplanar.tagger.device import FULL, HALF, TorchTagger, choose_device
from biplanar.tagger.features import Vocabulary
from biplanar.tagger.training import Trainer, build_network

RANDOM, RANDOM_CUDA = "random.cpu", "random.cuda"


def save_weights(network: nn.Module, path: Path) -> None:
    """Write a network's weights."""
    _write({name: tensor.cpu() for name, tensor in network.state_dict().items()}, {}, path)


def load_weights(network: nn.Module, path: Path) -> None:
    """Read a network's weights; they must fit."""
    tensors, _ = _read(path)
    _fill(network, tensors, path)


def load_tagger(
    path: Path, config: Config, vocabulary: Vocabulary, device: str, *, threads: int | None = None
) -> TorchTagger:
    """A trained network, on a device, ready to score; in half precision where the device gains from it.

    With `threads`, PyTorch is told how many to take on the CPU, whatever it computes.
    """
    if threads is not None:
        torch.set_num_threads(threads)
    network = build_network(config, vocabulary)
    load_weights(network, path)
    where = choose_device(device)
    return TorchTagger(network.to(where), vocabulary, where, precision=HALF if where.type == "cuda" else FULL)


def save_checkpoint(trainer: Trainer, path: Path) -> None:
    """Write all that a training needs to go on as if it had never stopped."""
    tensors = {f"network.{name}": tensor for name, tensor in trainer.network.state_dict().items()}
    tensors |= {f"auxiliary.{name}": tensor for name, tensor in trainer.auxiliary.state_dict().items()}
    for number, state in trainer.optimizer.state_dict()["state"].items():
        tensors |= {f"optimizer.{number}.{name}": value for name, value in state.items()}
    tensors[RANDOM] = torch.get_rng_state()
    if trainer.device.type == "cuda":
        tensors[RANDOM_CUDA] = torch.cuda.get_rng_state(trainer.device)
    state = {"epoch": trainer.epoch, "best_las": trainer.best_las, "stale": trainer.stale}
    metadata = {"state": json.dumps(state), "fingerprint": fingerprint(trainer)}
    _write({name: tensor.cpu() for name, tensor in tensors.items()}, metadata, path)


def load_checkpoint(trainer: Trainer, path: Path) -> None:
    """Take up a training where a checkpoint left it; it must be of the same data, configuration, seed and teaching."""
    tensors, metadata = _read(path)
    if metadata.get("fingerprint") != fingerprint(trainer):
        wanted = "this data, configuration and seed, with the same teaching"
        raise BiplanarError(f"{path}: expected a checkpoint of {wanted}, found another's")
    _fill(trainer.network, _under("network.", tensors), path)
    _fill(trainer.auxiliary, _under("auxiliary.", tensors), path)
    states: dict[int, dict[str, Tensor]] = {}
    for key, tensor in _under("optimizer.", tensors).items():
        number, _, name = key.partition(".")
        states.setdefault(int(number), {})[name] = tensor
    groups = trainer.optimizer.state_dict()["param_groups"]
    trainer.optimizer.load_state_dict({"state": states, "param_groups": groups})
    torch.set_rng_state(tensors[RANDOM])
    if trainer.device.type == "cuda" and RANDOM_CUDA in tensors:
        torch.cuda.set_rng_state(tensors[RANDOM_CUDA], trainer.device)
    state = json.loads(metadata["state"])
    trainer.epoch, trainer.best_las, trainer.stale = state["epoch"], state["best_las"], state["stale"]


def fingerprint(trainer: Trainer) -> str:
    """What must be equal for a checkpoint to fit: the configuration, the seed, the data, and what teachers teach."""
    known = [trainer.config.to_dict(), trainer.seed, trainer.vocabulary.to_dict(), *sorted(trainer.soft_targets)]
    digest = hashlib.sha256(json.dumps(known).encode())
    forest, treebanks = trainer.train_examples.forest, trainer.train_examples.corpus.treebanks
    for array in (forest.heads, forest.offsets, trainer.dev.heads, treebanks):
        digest.update(b"" if array is None else array.tobytes())
    return digest.hexdigest()


def _under(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}


def _fill(network: nn.Module, tensors: dict[str, Tensor], path: Path) -> None:
    try:
        network.load_state_dict(tensors)
    except RuntimeError as error:
        raise FileError(f"{path}: expected the weights of another network than found") from error


def _write(tensors: dict[str, Tensor], metadata: dict[str, str], path: Path) -> None:
    data = save({name: tensor.contiguous() for name, tensor in tensors.items()}, metadata)
    with writing(path) as stream:
        stream.buffer.write(data)


def _read(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    try:
        with safe_open(path, framework="pt") as file:
            return {name: file.get_tensor(name) for name in file.keys()}, file.metadata() or {}  # noqa: SIM118
    except FileNotFoundError as error:
        raise FileError(f"{path}: no such file") from error
    except (OSError, SafetensorError) as error:
        raise FileError(f"{path}: truncated or corrupt weights ({error})") from error
