"""Checkpoints: all that a training needs to continue as if it had never stopped."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from biplanar.data.forest import Forest
from biplanar.errors import BiplanarError
from biplanar.tagger.config import DecodingConfig
from biplanar.tagger.features import Corpus
from biplanar.tagger.loop import TrainingLoop
from biplanar.tagger.training import Trainer
from biplanar.tagger.weights import checksum, fill, open_tensors, read_tensors, write_tensors

RANDOM, RANDOM_CUDA = "random.cpu", "random.cuda"

# What a trainer counts.
STATE = ("epoch", "best_score", "stale", "loss", "words")

# Settings of when training ends and of decoding: they may change when a training is resumed.
MAY_CHANGE = {"training.epochs", "training.patience"} | {f"decoding.{one.name}" for one in fields(DecodingConfig)}


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
            checksum(*_treebank(examples.corpus, examples.forest)),
            checksum(*_treebank(trainer.dev_corpus, trainer.dev)),
            list(teachers),
            checksum(trainer.vocabulary.to_dict(), examples.corpus.treebanks, *arrays, *arrays.values()),
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


def save_checkpoint(trainer: TrainingLoop, path: Path, origin: Origin) -> None:
    """Write all that a training needs to go on as if it had never stopped."""
    tensors, state = _all_state(trainer)
    metadata = {"state": json.dumps(state), "origin": json.dumps(asdict(origin))}
    write_tensors(tensors, metadata, path)


def _all_state(trainer: TrainingLoop) -> tuple[dict[str, Tensor], dict[str, Any]]:
    tensors = {f"network.{name}": tensor for name, tensor in trainer.network.state_dict().items()}
    tensors |= {f"auxiliary.{name}": tensor for name, tensor in trainer.auxiliary.state_dict().items()}
    if trainer.average is not None:
        tensors |= {f"average.{name}": tensor for name, tensor in trainer.average.state_dict().items()}
    for number, state in trainer.optimizer.state_dict()["state"].items():
        tensors |= {f"optimizer.{number}.{name}": value for name, value in state.items()}
    tensors[RANDOM] = torch.get_rng_state()
    if trainer.device.type == "cuda":
        tensors[RANDOM_CUDA] = torch.cuda.get_rng_state(trainer.device)
    return tensors, {name: getattr(trainer, name) for name in STATE}


def load_checkpoint(trainer: TrainingLoop, path: Path, origin: Origin) -> None:
    """Take up a training where a checkpoint left it; it must have been started with the same."""
    tensors, metadata = read_tensors(path)
    if differences := Origin(**json.loads(metadata["origin"])).differences(origin):
        raise BiplanarError(f"{path}: the checkpoint of another training: {'; '.join(differences)}")
    _restore(trainer, tensors, json.loads(metadata["state"]), path)


def take_from_first(trainer: TrainingLoop) -> None:
    """Take up a training where the first process of its group is, which alone reads checkpoints."""
    if trainer.group.size == 1:
        return

    def state_on_cpu() -> tuple[dict[str, Tensor], dict[str, Any]]:
        tensors, state = _all_state(trainer)
        return {name: tensor.cpu() for name, tensor in tensors.items()}, state

    tensors, state = trainer.group.from_first(state_on_cpu)
    if not trainer.group.is_first:
        _restore(trainer, tensors, state, Path("the first process"))


def _restore(trainer: TrainingLoop, tensors: dict[str, Tensor], state: dict[str, Any], path: Path) -> None:
    fill(trainer.network, _under("network.", tensors), path)
    fill(trainer.auxiliary, _under("auxiliary.", tensors), path)
    if trainer.average is not None:
        fill(trainer.average, _under("average.", tensors), path)
    states: dict[int, dict[str, Tensor]] = {}
    for key, tensor in _under("optimizer.", tensors).items():
        number, _, name = key.partition(".")
        states.setdefault(int(number), {})[name] = tensor
    groups = trainer.optimizer.state_dict()["param_groups"]
    trainer.optimizer.load_state_dict({"state": states, "param_groups": groups})
    torch.set_rng_state(tensors[RANDOM])
    if trainer.device.type == "cuda" and RANDOM_CUDA in tensors:
        torch.cuda.set_rng_state(tensors[RANDOM_CUDA], trainer.device)
    for name in STATE:
        setattr(trainer, name, state[name])


def saved_epoch(path: Path) -> int:
    """How many epochs a checkpoint holds; it is not read for more."""
    with open_tensors(path) as file:
        return int(json.loads((file.metadata() or {})["state"])["epoch"])


def _under(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}
