"""Training by several processes, as `torchrun` starts them: each takes its part of every batch."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar

import torch
from torch import Tensor, distributed

from biplanar.data.arrays import Int64s
from biplanar.errors import BiplanarError, UnfinishedError
from biplanar.tagger.device import choose_device

Value = TypeVar("Value")

# Others wait that long at most, while the first one evaluates on dev.
PATIENCE = timedelta(hours=2)


@dataclass(frozen=True)
class Group:
    """The processes of a training, all of which have the same weights; only the first one writes files."""

    rank: int = 0
    size: int = 1

    @classmethod
    def join(cls, device: torch.device) -> Group:
        """The processes that `torchrun` has started, or this one alone."""
        rank, size = process_rank(), int(os.environ.get("WORLD_SIZE", "1"))
        if size == 1:
            return cls()
        backend = "nccl" if device.type == "cuda" else "gloo"
        try:
            distributed.init_process_group(backend, timeout=PATIENCE)
        except (RuntimeError, ValueError) as error:
            raise BiplanarError(f"cannot join the {size} processes of this training: {error}") from error
        return cls(rank, size)

    def leave(self) -> None:
        """Let the others go; nothing is shared from here on."""
        if self.size > 1:
            with _all_alive():
                distributed.barrier()
            distributed.destroy_process_group()

    @property
    def is_first(self) -> bool:
        """Whether this process writes files and evaluates on dev."""
        return self.rank == 0

    def part(self, batch: Int64s) -> Int64s:
        """The sentences of a batch that are this process's; in a small batch it may have none."""
        return batch[self.rank :: self.size]

    def from_first(self, compute: Callable[[], Value]) -> Value:
        """What the first process computes, while the others wait."""
        if self.size == 1:
            return compute()
        values: list[Value | None] = [compute() if self.is_first else None]
        with _all_alive():
            distributed.broadcast_object_list(values)
        return values[0]  # type: ignore[return-value]

    def add_up(self, tensors: Sequence[Tensor]) -> None:
        """Replace tensors by their sums over all processes, which are the same to the bit in each of them."""
        if self.size == 1:
            return
        flat = torch.cat([tensor.flatten() for tensor in tensors])
        with _all_alive():
            distributed.all_reduce(flat)
        sums = torch.split(flat, [tensor.numel() for tensor in tensors])
        for tensor, total in zip(tensors, sums, strict=True):
            tensor.copy_(total.view_as(tensor))


ALONE = Group()


def process_rank() -> int:
    """The number of this process among those of a training."""
    return int(os.environ.get("RANK", "0"))


def choose_own_device(name: str) -> torch.device:
    """A device by name; each process on a machine with several GPUs has one of its own."""
    device = choose_device(name)
    if device.type != "cuda" or device.index is not None or "LOCAL_RANK" not in os.environ:
        return device
    device = choose_device(f"cuda:{os.environ['LOCAL_RANK']}")
    torch.cuda.set_device(device)
    return device


@contextmanager
def _all_alive() -> Iterator[None]:
    try:
        yield
    except RuntimeError as error:
        message = "another process of this training has ended; --resume continues from the last checkpoint"
        raise UnfinishedError(message) from error
