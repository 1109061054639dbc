"""Weights on disk, as safetensors with a checksum: nothing is executed when they are read."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn

from biplanar.data.files import writing
from biplanar.errors import FileError
from biplanar.tagger.config import Config
from biplanar.tagger.device import FULL, HALF, TorchTagger, choose_device
from biplanar.tagger.features import Vocabulary
from biplanar.tagger.network import Tagger, build_network

CHECKSUM = "checksum"  # the metadata that tells a damaged file


def load_tagger(
    path: Path, config: Config, vocabulary: Vocabulary, device: str, *, threads: int | None = None
) -> TorchTagger:
    """A trained network, on a device, ready to score; in half precision where the device gains from it.

    `threads` sets PyTorch's number of threads on the CPU, for the whole process.
    """
    if threads is not None:
        torch.set_num_threads(threads)
    network, where = load_network(path, config, vocabulary), choose_device(device)
    return TorchTagger(network.to(where), vocabulary, where, precision=HALF if where.type == "cuda" else FULL)


def load_network(path: Path, config: Config, vocabulary: Vocabulary) -> Tagger:
    """A trained network, on the CPU."""
    tensors, _ = read_tensors(path)
    with torch.device("meta"):  # which takes no memory: the settings may say sizes that no machine has
        fill(build_network(config, vocabulary), tensors, path, assign=True)
    network = build_network(config, vocabulary)
    fill(network, tensors, path)
    return network


def save_weights(network: nn.Module, path: Path) -> None:
    """Write a network's weights."""
    write_tensors(network.state_dict(), {}, path)


def fill(network: nn.Module, tensors: dict[str, Tensor], path: Path, *, assign: bool = False) -> None:
    """Set a network's weights, which must fit; `path` is where they are from."""
    try:
        network.load_state_dict(tensors, assign=assign)
    except RuntimeError as error:
        raise FileError(f"{path}: the weights do not match the network") from error


def write_tensors(tensors: dict[str, Tensor], metadata: dict[str, str], path: Path) -> None:
    """Write tensors of any device and metadata; their checksum is part of the file, so that it is never another's."""
    tensors = {name: tensor.cpu().contiguous() for name, tensor in tensors.items()}
    data = save(tensors, metadata | {CHECKSUM: _checksum_of(tensors, metadata)})
    with writing(path) as stream:
        stream.buffer.write(data)


def read_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Tensors and metadata."""
    with open_tensors(path) as file:
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        metadata = file.metadata() or {}
    if metadata.pop(CHECKSUM, None) != _checksum_of(tensors, metadata):
        raise FileError(f"{path}: the file is damaged: its checksum is wrong")
    return tensors, metadata


@contextmanager
def open_tensors(path: Path) -> Iterator[Any]:
    """A file of tensors, of which parts can be read."""
    try:
        with safe_open(path, framework="pt") as file:
            yield file
    except FileNotFoundError as error:
        raise FileError(f"{path}: no such file") from error
    except (OSError, SafetensorError) as error:
        raise FileError(f"{path}: truncated or corrupt weights ({error})") from error


def _checksum_of(tensors: dict[str, Tensor], metadata: dict[str, str]) -> str:
    parts: list[Any] = [metadata]
    for name, tensor in sorted(tensors.items()):
        parts += [[name, str(tensor.dtype), list(tensor.shape)], tensor.reshape(-1).view(torch.uint8).numpy()]
    return checksum(*parts)


def checksum(*parts: Any) -> str:
    """SHA-256 of arrays and plain values, one after the other."""
    digest = hashlib.sha256()
    for part in parts:
        if isinstance(part, np.ndarray):
            digest.update(np.ascontiguousarray(part).data)
        else:
            digest.update(json.dumps(part, sort_keys=True).encode())
    return digest.hexdigest()
