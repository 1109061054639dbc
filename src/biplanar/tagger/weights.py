"""Weights on disk, as safetensors with a checksum, and how networks get them. Reading them executes nothing."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn

from biplanar.data.files import writing
from biplanar.decoding.scores import DEPREL
from biplanar.errors import BiplanarError, FileError
from biplanar.tagger.config import Config
from biplanar.tagger.device import FULL, HALF, TorchTagger, choose_device
from biplanar.tagger.features import RESERVED, Shared, Vocabulary, shared_numbers
from biplanar.tagger.network import SharedParts, Tagger, build_network, module_name

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


@torch.no_grad()
def start_from(network: Tagger, vocabulary: Vocabulary, source: Tagger, known: Vocabulary) -> None:
    """Copy all weights that fit: those of forms, characters and labels by their names, others if they are as large.

    Whatever the other network lacks stays as it is.
    """
    own, others, copied = network.state_dict(), source.state_dict(), 0
    rows = dict(_rows(network, vocabulary, source, known))
    for name, tensor in own.items():
        other = others.get(name)
        if other is None or other.shape[1:] != tensor.shape[1:]:
            continue
        if name in rows:
            here, there = rows[name]
            if not here:
                continue
            tensor[here] = other[there].to(tensor)
        elif other.shape == tensor.shape:
            tensor.copy_(other)
        else:
            continue
        copied += 1
    if not copied:
        raise BiplanarError("cannot start from this model: no layer has the same size")


def _rows(network: Tagger, vocabulary: Vocabulary, source: Tagger, known: Vocabulary) -> Iterator[tuple[str, Shared]]:
    """Which rows of which weights belong to the same form, character, label or part of a label."""
    yield "encoder.word_embedding.weight", shared_numbers(vocabulary.forms, known.forms, reserved=RESERVED)
    yield "encoder.char_embedding.weight", shared_numbers(vocabulary.chars, known.chars, reserved=RESERVED)
    for task, names in vocabulary.tasks.items():
        labels = shared_numbers(names, known.tasks.get(task, ()))
        layers = [f"outputs.{module_name(task)}", f"outputs.{module_name(task)}.3", f"columns.outputs.{task}.own"]
        layers += ["relations.output"] if task == DEPREL else []
        for layer in layers:
            yield f"{layer}.weight", labels
            yield f"{layer}.bias", labels
    for task, output in network.columns.named_outputs() if network.columns else ():
        yield f"columns.outputs.{task}.shared.weight", shared_numbers(output.parts, _parts(source, task))


def _parts(source: Tagger, task: str) -> Sequence[str]:
    outputs: dict[str, SharedParts] = dict(source.columns.named_outputs()) if source.columns else {}
    return outputs[task].parts if task in outputs else ()
