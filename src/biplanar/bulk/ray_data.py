"""Ray Data as an engine: actors that load the model once, on this machine or on those of a cluster."""

from __future__ import annotations

import logging
import os
import pickle
import socket
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from biplanar.bulk.chunks import Source
from biplanar.bulk.processes import MOST_ATTEMPTS, Failure
from biplanar.bulk.task import Result, Task
from biplanar.data.extras import need
from biplanar.errors import BiplanarError, UnfinishedError

if TYPE_CHECKING:
    from biplanar.bulk.engines import EngineConfig

P = TypeVar("P")
R = TypeVar("R")

SECONDS_TO_ANSWER = 10  # of a cluster that is running

# What Ray's processes read when they start: no warnings of its own on standard error, and no reports to its makers.
_QUIET = {
    "RAY_BACKEND_LOG_LEVEL": "fatal",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}


class _Attempts:
    """How often each item has been begun, counted in a process of its own; Ray itself would try for ever."""

    def __init__(self) -> None:
        self.begun: Counter[int] = Counter()

    def begin(self, number: int) -> int:
        self.begun[number] += 1
        return self.begun[number]


class _Worker(Generic[P, R]):
    """What an actor does: one item at a time, which comes as its number among all."""

    def __init__(self, prepare: Callable[[], Callable[[P], R]], items: Sequence[P], attempts: Any, cwd: str) -> None:
        self.prepare, self.items, self.attempts = prepare, items, attempts
        with suppress(OSError):  # which other machines may not have; then only whole paths mean something there
            os.chdir(cwd)
        self.work: Callable[[P], R] | None = None

    def __call__(self, batch: Any) -> Any:
        import pyarrow as pa

        number = batch["number"][0].as_py()
        try:
            answer: object = self.answer(number)
        except Exception as error:
            answer = Failure.of(error)
        return pa.table({"answer": [pickle.dumps(answer)]})

    def answer(self, number: int) -> R:
        """The result for an item, unless it has ended too many processes."""
        import ray

        if ray.get(self.attempts.begin.remote(number)) > MOST_ATTEMPTS:
            message = f"the workers at this shard ended before their time, {MOST_ATTEMPTS} in turn"
            raise UnfinishedError(f"{self.items[number]}: {message}")
        self.work = self.work or self.prepare()
        return self.work(self.items[number])


@dataclass(frozen=True)
class RayData:
    """A pool of actors, which grows from `workers` to `max_workers` while there is work for more."""

    config: EngineConfig

    def run(self, task: Task, source: Source, write: Callable[[Result], object]) -> None:  # noqa: ARG002
        """Refused: one process could not write what a cluster parses."""
        raise BiplanarError("engine ray: expected a folder to write shards to, found a single file")

    def map(self, prepare: Callable[[], Callable[[P], R]], items: Sequence[P], *, threads: int = 1) -> Iterator[R]:
        """As they come; an actor that has ended is started anew, and its item tried again, a few times."""
        if not items:
            return
        ray = _ray()
        with _cluster(ray, self.config, threads):
            for answer in self._answers(ray, prepare, items, threads):
                if isinstance(answer, Failure):
                    raise answer.to_error()
                yield answer

    def _answers(self, ray: Any, prepare: object, items: Sequence[object], threads: int) -> Generator[Any]:
        config = self.config
        context = ray.data.DataContext.get_current()
        context.enable_progress_bars = False
        attempts = ray.remote(num_cpus=0)(_Attempts).remote()
        numbers = ray.data.from_items([{"number": i} for i in range(len(items))], override_num_blocks=len(items))
        answers = numbers.map_batches(
            _Worker,
            fn_constructor_args=(prepare, list(items), attempts, str(Path.cwd())),
            batch_size=1,
            batch_format="pyarrow",
            compute=ray.data.ActorPoolStrategy(
                min_size=config.workers,
                max_size=max(config.workers, config.max_workers or 0),
                max_tasks_in_flight_per_actor=1,
            ),
            num_cpus=threads,
            num_gpus=config.gpus_per_worker or None,
        )
        try:
            for batch in answers.iter_batches(batch_size=None, batch_format="pyarrow", prefetch_batches=0):
                yield from map(pickle.loads, batch["answer"].to_pylist())
        except ray.exceptions.RayError as error:
            last = str(error).strip().splitlines()[-1]
            raise UnfinishedError(f"Ray gave up: {last}") from error


def _ray() -> Any:
    for name, value in _QUIET.items():
        os.environ.setdefault(name, value)
    need("ray.data", "--engine ray", "ray")
    return need("ray", "--engine ray", "ray")


@contextmanager
def _cluster(ray: Any, config: EngineConfig, threads: int) -> Iterator[None]:
    """The cluster that this process is connected to already, the one at the address, or one of its own."""
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    if ray.is_initialized():
        yield
        return
    quiet = {"log_to_driver": False, "logging_level": logging.ERROR}
    address = config.address or os.environ.get("RAY_ADDRESS")
    try:
        _check_reachable(address or "")
        with _muted():
            if address:
                ray.init(address, **quiet)
            else:
                cpus = threads * max(config.workers, config.max_workers or 0)
                ray.init("local", num_cpus=cpus, include_dashboard=False, **quiet)
    except (OSError, RuntimeError, ValueError) as error:
        message = str(error).strip().partition("\n")[0]
        raise BiplanarError(f"--address: expected a Ray cluster at {address or 'local'}, found {message}") from error
    try:
        yield
    finally:
        ray.shutdown()


def _check_reachable(address: str) -> None:
    """An error at once, where Ray would try for minutes."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if colon and port.isdecimal():
        with socket.create_connection((host.strip("[]"), int(port)), timeout=SECONDS_TO_ANSWER):
            pass


@contextmanager
def _muted() -> Iterator[None]:
    """Nothing is printed on standard error, not even by compiled code."""
    saved, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(saved, 2)
        os.close(saved)
        os.close(nowhere)
