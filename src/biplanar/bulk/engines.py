"""Engines: what maps a task over the chunks of the input. To add one is one file, and one line in `ENGINES`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from biplanar.bulk.chunks import LEAST_WORDS, Source
from biplanar.bulk.processes import work_in_order
from biplanar.bulk.ray_data import RayData
from biplanar.bulk.task import ChunkParser, Result, Task
from biplanar.data.overlap import overlap
from biplanar.errors import UnknownNameError
from biplanar.pipeline.parser import CHUNK_BATCHES, CHUNK_WORDS

P = TypeVar("P")
R = TypeVar("R")

# Worker processes get chunks of at least `LEAST_WORDS`, and of so many batches at most. They grow with what has been
# read: so small files are shared among the workers, too, and none of them is left with a large chunk at the end.
LARGEST_SHARE, MOST_BATCHES = 8, 20


@dataclass(frozen=True)
class EngineConfig:
    """How many processes work, where, and who is told when one of them ends before its time."""

    workers: int = 1
    report: Callable[[str], object] = lambda _: None
    # Of a cluster:
    max_workers: int | None = None  # up to how many are started while there is work for them
    gpus_per_worker: float = 0.0
    address: str | None = None  # None: one that is started for this


class Engine(Protocol):
    """What runs a task: over chunks whose results are written here, or over shards that the workers read and write."""

    def run(self, task: Task, source: Source, write: Callable[[Result], object]) -> None:
        """Do the task for all chunks of the source, and write the results in the order of their chunks.

        The first exception is raised once the results of all chunks before it are written.
        """

    def map(self, prepare: Callable[[], Callable[[P], R]], items: Sequence[P], *, threads: int = 1) -> Iterator[R]:
        """The results for all items, in any order.

        Each worker calls `prepare` once, and what that gives it with every item. An item whose worker has ended is
        given to another one.
        """


@dataclass(frozen=True)
class ThisProcess:
    """While a chunk is parsed, the next one is read and the last one is written."""

    config: EngineConfig = field(default_factory=EngineConfig)
    loaded: ChunkParser | None = None  # a task whose model is loaded already

    def run(self, task: Task, source: Source, write: Callable[[Result], object]) -> None:
        """Read and write in threads, parse in this one."""
        work = self.loaded or task()
        enough = max(CHUNK_WORDS, CHUNK_BATCHES * task.batch_words)
        read = ((chunk, work.read(chunk)) for chunk in source.chunks(lambda _: enough))
        overlap(
            read,
            lambda item: (item[0], work.parse(item[1])),
            lambda item: write(work.render(*item)),
            ahead=source.is_plain,
        )

    def map(self, prepare: Callable[[], Callable[[P], R]], items: Sequence[P], *, threads: int = 1) -> Iterator[R]:
        """One after the other."""
        del threads  # this process has what it has
        work: Callable[[P], R] | None = None
        for item in items:
            work = work or prepare()
            yield work(item)


@dataclass(frozen=True)
class Processes:
    """Worker processes, each with the model loaded, started anew.

    A script that uses them must do so below `if __name__ == "__main__"`.
    """

    config: EngineConfig = field(default_factory=EngineConfig)

    def run(self, task: Task, source: Source, write: Callable[[Result], object]) -> None:
        """Hand chunks to the workers, and take their results in order."""
        batch = task.batch_words
        most = min(max(CHUNK_WORDS, CHUNK_BATCHES * batch), MOST_BATCHES * batch)
        chunks = source.chunks(lambda before: max(LEAST_WORDS, min(most, before // LARGEST_SHARE)))
        results = work_in_order(
            task,
            chunks,
            self.config.workers,
            report=self.config.report,
            threads=task.threads,
            describe=lambda chunk: str(chunk.place),
        )
        with closing(results):
            for result in results:
                write(result)

    def map(self, prepare: Callable[[], Callable[[P], R]], items: Sequence[P], *, threads: int = 1) -> Iterator[R]:
        """In the order of the items."""
        config = self.config
        yield from work_in_order(prepare, items, config.workers, report=config.report, threads=threads)


ENGINES: dict[str, Callable[[EngineConfig], Engine]] = {
    "process": ThisProcess,
    "processes": Processes,
    "ray": RayData,
}


def make_engine(config: EngineConfig, name: str | None = None) -> Engine:
    """The engine of that name; without one, what suits the number of workers."""
    name = name or ("process" if config.workers == 1 else "processes")
    if name not in ENGINES:
        raise UnknownNameError("engine", name, ENGINES)
    return ENGINES[name](config)
