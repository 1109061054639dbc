"""Engines: what maps a task over the chunks of the input. To add one is one file, and one line in `ENGINES`."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from typing import Protocol, TypeVar, runtime_checkable

from biplanar.bulk.chunks import LEAST_WORDS, Source
from biplanar.bulk.processes import work_in_order
from biplanar.bulk.ray_data import RayData
from biplanar.bulk.task import ChunkParser, Result, Task
from biplanar.errors import check_name
from biplanar.pipeline.parser import CHUNK_BATCHES, CHUNK_WORDS

T = TypeVar("T")
R = TypeVar("R")

# Worker processes get chunks of at least `LEAST_WORDS` words and at most `MOST_BATCHES` batches. Chunks grow with what
# has been read: so small files are shared among the workers, too, and no worker is left with a large chunk at the end.
LARGEST_SHARE, MOST_BATCHES = 8, 20

_END = object()


@dataclass(frozen=True)
class EngineConfig:
    """How many processes work and where, and what is called with messages about workers that died."""

    workers: int = 1
    report: Callable[[str], object] = lambda _: None
    # Of a cluster:
    max_workers: int | None = None  # up to how many are started while there is work for them
    gpus_per_worker: float = 0.0
    address: str | None = None  # None: one that is started for this


@runtime_checkable
class ChunkEngine(Protocol):
    """An engine that parses into one file."""

    def run(self, task: Task, source: Source, write: Callable[[Result], object]) -> None:
        """Do the task for all chunks of the source, and write the results in the order of their chunks.

        The first exception is raised once the results of all chunks before it are written.
        """


@runtime_checkable
class ShardEngine(Protocol):
    """An engine that parses into a folder, whose workers read and write shards."""

    def map(self, prepare: Callable[[], Callable[[T], R]], items: Sequence[T], *, threads: int = 1) -> Iterator[R]:
        """The results for all items, in any order.

        Each worker calls `prepare` once, and the function that this returns with every item. An item whose worker
        died is given to another one.
        """


# An engine is either, or both.
Engine = ChunkEngine | ShardEngine


@dataclass(frozen=True)
class ThisProcess:
    """While a chunk is parsed, the next one is read and the last one is written."""

    config: EngineConfig = field(default_factory=EngineConfig)
    loaded: ChunkParser | None = None  # a task whose model is loaded already

    def run(self, task: Task, source: Source, write: Callable[[Result], object]) -> None:
        """Read and write in threads; where decoding has cores of its own, two chunks are parsed side by side.

        From a pipe, one at a time: its result must not wait for what is still to come. On a single core all is done in
        turn, as threads would only take the CPU cache from each other.
        """
        work = self.loaded or task()
        on_device = work.parser.scorer.decoding_threads > 1
        beside = 2 if source.is_plain and on_device else 1
        words = max(CHUNK_WORDS, CHUNK_BATCHES * task.batch_words // beside)
        chunks = source.chunks(lambda _: words)
        if _cores() == 1 and not on_device:
            for chunk in chunks:
                write(work(chunk))
            return
        overlap(
            ((chunk, work.read(chunk)) for chunk in chunks),
            lambda item: (item[0], work.parse(item[1])),
            lambda item: write(work.render(*item)),
            ahead=source.is_plain,
            beside=beside,
        )

    def map(self, prepare: Callable[[], Callable[[T], R]], items: Sequence[T], *, threads: int = 1) -> Iterator[R]:
        """One after the other."""
        del threads  # those of this process
        if items:
            yield from map(prepare(), items)


@dataclass(frozen=True)
class Processes:
    """Worker processes, each with the model loaded.

    They are spawned: a script that uses them must do so below `if __name__ == "__main__"`.
    """

    config: EngineConfig = field(default_factory=EngineConfig)

    def run(self, task: Task, source: Source, write: Callable[[Result], object]) -> None:
        """Hand chunks to the workers, and take their results in order."""
        batch = task.batch_words
        most = min(max(CHUNK_WORDS, CHUNK_BATCHES * batch), MOST_BATCHES * batch)
        chunks = source.chunks(lambda before: max(LEAST_WORDS, min(most, before // LARGEST_SHARE)))
        config = self.config
        with closing(work_in_order(task, chunks, config.workers, report=config.report, threads=task.threads)) as found:
            for result in found:
                write(result)

    def map(self, prepare: Callable[[], Callable[[T], R]], items: Sequence[T], *, threads: int = 1) -> Iterator[R]:
        """In the order of the items."""
        config = self.config
        return work_in_order(prepare, items, config.workers, report=config.report, threads=threads)


ENGINES: dict[str, Callable[[EngineConfig], Engine]] = {
    "process": ThisProcess,
    "processes": Processes,
    "ray": RayData,
}


def make_engine(config: EngineConfig, name: str | None = None) -> Engine:
    """The engine of that name; without one, what suits the number of workers."""
    name = name or ("process" if config.workers == 1 else "processes")
    check_name("engine", name, ENGINES)
    return ENGINES[name](config)


def overlap(
    items: Iterable[T],
    compute: Callable[[T], R],
    write: Callable[[R], object],
    *,
    ahead: bool = True,
    beside: int = 1,
) -> None:
    """Compute with each item and write the result; meanwhile the next item is read and the last result written.

    The order is kept, and at most one item and one result wait. The first exception of any stage is re-raised once
    earlier results are written and all threads have ended. This thread computes, or, with several items `beside` each
    other, threads do. Without `ahead` this one also reads: a thread that blocks on a terminal or a pipe could not be
    stopped.
    """
    source = iter(items)
    with ThreadPoolExecutor(2) as pool, ThreadPoolExecutor(beside) as computers:
        begun, written = deque[Future[R]](), pool.submit(object)  # nothing is to be written yet

        def write_first() -> None:
            nonlocal written
            try:
                result = begun.popleft().result()
                written.result()
            except BaseException:
                begun.clear()  # later results are not written
                raise
            written = pool.submit(write, result)

        try:
            for item in _read_ahead(source, pool) if ahead else source:
                begun.append(computers.submit(compute, item) if beside > 1 else _done(compute(item)))
                if len(begun) == beside:
                    write_first()
        finally:
            while begun:
                write_first()
            written.result()


def _cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _done(result: R) -> Future[R]:
    future = Future[R]()
    future.set_result(result)
    return future


def _read_ahead(source: Iterator[T], pool: ThreadPoolExecutor) -> Iterator[T]:
    future = pool.submit(next, source, _END)
    while (item := future.result()) is not _END:
        future = pool.submit(next, source, _END)
        yield item  # type: ignore[misc]  # whatever is not the end is an item
