"""Ray Data as an engine: actors that load the model once, on this machine or on those of a cluster."""

from __future__ import annotations

import logging
import os
import pickle
import signal
import socket
import threading
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from biplanar.bulk.processes import MOST_ATTEMPTS, failure
from biplanar.errors import BiplanarError, UnfinishedError, first_line, need

if TYPE_CHECKING:
    from biplanar.bulk.engines import EngineConfig

P = TypeVar("P")
R = TypeVar("R")

SECONDS_TO_ANSWER = 10  # of a running cluster

# Environment of Ray's processes: no warnings on standard error, and no usage reports.
_QUIET = {
    "RAY_BACKEND_LOG_LEVEL": "fatal",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}


class _Attempts:
    """How often each item has been started, counted in an actor of its own; Ray itself would retry for ever."""

    def __init__(self) -> None:
        self.begun: Counter[int] = Counter()

    def begin(self, number: int) -> int:
        self.begun[number] += 1
        return self.begun[number]


class _Worker(Generic[P, R]):
    """An actor: works on one item at a time, which comes as its index."""

    def __init__(self, prepare: Callable[[], Callable[[P], R]], items: Sequence[P], attempts: Any, cwd: str) -> None:
        self.prepare, self.items, self.attempts = prepare, items, attempts
        with suppress(OSError):  # other machines may not have it; there, only absolute paths work
            os.chdir(cwd)
        self.work: Callable[[P], R] | None = None

    def __call__(self, batch: Any) -> Any:
        import pyarrow as pa
        import ray

        number = batch["number"][0].as_py()
        try:
            if ray.get(self.attempts.begin.remote(number)) > MOST_ATTEMPTS:
                raise UnfinishedError(f"{self.items[number]}: {MOST_ATTEMPTS} workers died at this shard")
            self.work = self.work or self.prepare()
            answer: object = self.work(self.items[number])
        except Exception as error:
            answer = failure(error)
        return pa.table({"answer": [pickle.dumps(answer)]})


@dataclass(frozen=True)
class RayData:
    """A pool of actors, which grows from `workers` to `max_workers` while there is work for more.

    It writes shards only: one process could not write what a cluster parses.
    """

    config: EngineConfig

    def map(self, prepare: Callable[[], Callable[[P], R]], items: Sequence[P], *, threads: int = 1) -> Iterator[R]:
        """As they come; an actor that died is started again, and its item tried again, a few times."""
        if not items:
            return
        ray = _ray()
        with _cluster(ray, self.config, threads):
            for answer in self._answers(ray, prepare, items, threads):
                if isinstance(answer, Exception):
                    raise answer
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
    address, handler = config.address or os.environ.get("RAY_ADDRESS"), signal.getsignal(signal.SIGTERM)
    try:
        _check_reachable(address or "")
        with _muted():
            if address:
                ray.init(address, **quiet)
            else:
                cpus = threads * max(config.workers, config.max_workers or 0)
                ray.init("local", num_cpus=cpus, include_dashboard=False, **quiet)
    except (OSError, RuntimeError, ValueError) as error:
        where = address or "this machine"
        raise BiplanarError(f"--address: no Ray cluster at {where} ({first_line(error)})") from error
    try:
        with _ending_quietly(ray, handler):
            yield
    finally:
        ray.shutdown()


@contextmanager
def _ending_quietly(ray: Any, before: Any) -> Iterator[None]:
    """At SIGTERM, shut Ray down and then do what was done before `ray.init`: Ray itself prints a C++ stack."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, _: object) -> None:
        with _muted():
            ray.shutdown()
        signal.signal(number, before)
        signal.raise_signal(number)

    signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _check_reachable(address: str) -> None:
    """Fail at once, where Ray would retry for minutes."""
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
