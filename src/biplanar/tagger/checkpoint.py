"""Weights and checkpoints on disk, as safetensors with a checksum: nothing is executed when they are read."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn

from biplanar.data.files import writing
from biplanar.data.forest import Forest
from biplanar.errors import BiplanarError, FileError
from biplanar.tagger.config import Config, DecodingConfig
from biplanar.tagger.device import FULL, HALF, TorchTagger, choose_device
from biplanar.tagger.features import Corpus, Vocabulary
from biplanar.tagger.training import Trainer, build_network

RANDOM, RANDOM_CUDA = "random.cpu", "random.cuda"

CHECKSUM = "checksum"  # the metadata that tells a damaged file

# Settings that say no more than when training ends and what is made of scores: with others, a training can go on.
MAY_CHANGE = {"training.epochs", "training.patience"} | {f"decoding.{one.name}" for one in fields(DecodingConfig)}


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

    `threads` sets PyTorch's number of threads on the CPU, for the whole process.
    """
    if threads is not None:
        torch.set_num_threads(threads)
    tensors, _ = _read(path)
    with torch.device("meta"):  # which takes no memory: the settings may say sizes that no machine has
        _fill(build_network(config, vocabulary), tensors, path, assign=True)
    network = build_network(config, vocabulary)
    _fill(network, tensors, path)
    where = choose_device(device)
    return TorchTagger(network.to(where), vocabulary, where, precision=HALF if where.type == "cuda" else FULL)


@dataclass(frozen=True)
class Origin:
    """What a training was started with; its checkpoints fit no training that was started with anything else."""

    settings: dict[str, Any]  # by their full names
    seed: int
    train: str  # checksums of the data, the teachers, and what else is made of both
    dev: str
    teachers: list[str]
    derived: str
    start: str = ""

    @classmethod
    def of(cls, trainer: Trainer, teachers: Sequence[str] = (), start: str = "") -> Origin:
        """Of a training, and the checksums of its teachers and of the network it started from."""
        examples = trainer.train_examples
        arrays = {task: column.ids for task, column in examples.targets.items()}
        return cls(
            trainer.config.to_flat_dict(),
            trainer.seed,
            _checksum(*_treebank(examples.corpus, examples.forest)),
            _checksum(*_treebank(trainer.dev_corpus, trainer.dev)),
            list(teachers),
            _checksum(trainer.vocabulary.to_dict(), examples.corpus.treebanks, *arrays, *arrays.values()),
            start,
        )

    def differences(self, other: Origin) -> list[str]:
        """How another training differs, in words; settings that only say when training ends do not count."""
        found = [
            f"{name} is {self.settings.get(name)!r} there and {other.settings.get(name)!r} here"
            for name in sorted({*self.settings, *other.settings} - MAY_CHANGE)
            if self.settings.get(name) != other.settings.get(name)
        ]
        if self.seed != other.seed:
            found.append(f"the seed is {self.seed} there and {other.seed} here")
        found += ["the training data differ"] * (self.train != other.train)
        found += ["the dev data differ"] * (self.dev != other.dev)
        found += ["the teachers differ"] * (self.teachers != other.teachers)
        found += ["the models they started from differ"] * (self.start != other.start)
        if not found and self.derived != other.derived:
            found.append("the word vectors, the features or the order of the files differ")
        return found


def _treebank(corpus: Corpus, forest: Forest) -> list[Any]:
    columns = [part for column in (forest.deprels, forest.upos) if column for part in (column.names, column.ids)]
    return [corpus.forms, corpus.words, corpus.offsets, forest.heads, *columns]


def save_checkpoint(trainer: Trainer, path: Path, origin: Origin) -> None:
    """Write all that a training needs to go on as if it had never stopped."""
    tensors = {f"network.{name}": tensor for name, tensor in trainer.network.state_dict().items()}
    tensors |= {f"auxiliary.{name}": tensor for name, tensor in trainer.auxiliary.state_dict().items()}
    if trainer.average is not None:
        tensors |= {f"average.{name}": tensor for name, tensor in trainer.average.state_dict().items()}
    for number, state in trainer.optimizer.state_dict()["state"].items():
        tensors |= {f"optimizer.{number}.{name}": value for name, value in state.items()}
    tensors[RANDOM] = torch.get_rng_state()
    if trainer.device.type == "cuda":
        tensors[RANDOM_CUDA] = torch.cuda.get_rng_state(trainer.device)
    state = {"epoch": trainer.epoch, "best_las": trainer.best_las, "stale": trainer.stale}
    metadata = {"state": json.dumps(state), "origin": json.dumps(asdict(origin))}
    _write({name: tensor.cpu() for name, tensor in tensors.items()}, metadata, path)


def load_checkpoint(trainer: Trainer, path: Path, origin: Origin) -> None:
    """Take up a training where a checkpoint left it; it must have been started with the same."""
    tensors, metadata = _read(path)
    if differences := Origin(**json.loads(metadata["origin"])).differences(origin):
        raise BiplanarError(f"{path}: the checkpoint of another training: {'; '.join(differences)}")
    _fill(trainer.network, _under("network.", tensors), path)
    _fill(trainer.auxiliary, _under("auxiliary.", tensors), path)
    if trainer.average is not None:
        _fill(trainer.average, _under("average.", tensors), path)
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


def saved_epoch(path: Path) -> int:
    """How many epochs a checkpoint holds; it is not read for more."""
    with _opened(path) as file:
        return int(json.loads((file.metadata() or {})["state"])["epoch"])


def _under(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}


def _fill(network: nn.Module, tensors: dict[str, Tensor], path: Path, *, assign: bool = False) -> None:
    try:
        network.load_state_dict(tensors, assign=assign)
    except RuntimeError as error:
        raise FileError(f"{path}: the weights do not match the network") from error


def _write(tensors: dict[str, Tensor], metadata: dict[str, str], path: Path) -> None:
    """The checksum is part of the file, so that there is no moment in which it belongs to another one."""
    tensors = {name: tensor.contiguous() for name, tensor in tensors.items()}
    data = save(tensors, metadata | {CHECKSUM: _content_checksum(tensors, metadata)})
    with writing(path) as stream:
        stream.buffer.write(data)


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    try:
        with safe_open(path, framework="pt") as file:
            yield file
    except FileNotFoundError as error:
        raise FileError(f"{path}: no such file") from error
    except (OSError, SafetensorError) as error:
        raise FileError(f"{path}: truncated or corrupt weights ({error})") from error


def _read(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    with _opened(path) as file:
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        metadata = file.metadata() or {}
    if metadata.pop(CHECKSUM, None) != _content_checksum(tensors, metadata):
        raise FileError(f"{path}: the file is damaged: its checksum is wrong")
    return tensors, metadata


def _content_checksum(tensors: dict[str, Tensor], metadata: dict[str, str]) -> str:
    parts = [metadata, *(part for name, tensor in sorted(tensors.items()) for part in _described(name, tensor))]
    return _checksum(*parts)


def _described(name: str, tensor: Tensor) -> tuple[list[Any], NDArray[np.uint8]]:
    return [name, str(tensor.dtype), list(tensor.shape)], tensor.reshape(-1).view(torch.uint8).numpy()


def _checksum(*parts: Any) -> str:
    """Of arrays and plain values, one after the other."""
    digest = hashlib.sha256()
    for part in parts:
        if isinstance(part, np.ndarray):
            digest.update(np.ascontiguousarray(part).data)
        else:
            digest.update(json.dumps(part, sort_keys=True).encode())
    return digest.hexdigest()
