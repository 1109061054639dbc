"""Worker processes, each of which works on a chunk at a time; results come in the order of the chunks."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import traceback
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from typing import Any, Generic, TypeVar

from biplanar.data.files import remove_unfinished
from biplanar.errors import BiplanarError, UnfinishedError

P = TypeVar("P")
R = TypeVar("R")

# For each worker, how many chunks may be under way or wait for an earlier result.
CHUNKS_AHEAD = 3

# How many workers may die at the same chunk before it is given up.
MOST_ATTEMPTS = 3

# The environment variables that set the threads of linear algebra libraries.
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def failure(error: Exception) -> Exception:
    """An exception as it is sent to another process: an unexpected one with its traceback."""
    if isinstance(error, BiplanarError):
        return error
    return RuntimeError(f"in a worker process:\n{traceback.format_exc()}")


class WorkerProcess(Generic[P]):
    """A process, and the chunk it works on."""

    def __init__(self, prepare: Callable[[], Callable[[P], object]], threads: int) -> None:
        context = multiprocessing.get_context("spawn")  # forked processes may hang on locks of threads they lack
        self.pipe, other_end = context.Pipe()
        self.process = context.Process(target=_serve, args=(prepare, other_end), daemon=True)
        with _threads_of_libraries(threads):
            self.process.start()
        other_end.close()
        self.task: tuple[int, P] | None = None

    def give(self, number: int, chunk: P) -> None:
        """Send it a chunk."""
        self.task = number, chunk
        with suppress(OSError):  # it has died, which `take` will notice
            self.pipe.send(chunk)

    def take(self) -> Any:
        """The answer, which may be an exception; raises EOFError or OSError if the process died without one."""
        answer = self.pipe.recv()
        self.task = None
        return answer

    def how_it_ended(self) -> str:
        """Its exit code or signal, once the process has been joined."""
        code = self.process.exitcode or 0
        if code >= 0:
            return f"exit code {code}"
        return f"signal {signal.Signals(-code).name if -code in set(signal.Signals) else -code}"

    def stop(self) -> None:
        """End the process."""
        self.pipe.close()
        self.process.terminate()
        self.process.join()


def _serve(prepare: Callable[[], Callable[[Any], object]], pipe: Connection) -> None:
    """The main function of a worker process: answer until the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # SIGINT may not have been blocked before spawn
    threading.Thread(target=_end_with_parent, daemon=True).start()
    work: Callable[[Any], object] | None = None
    try:
        while True:
            chunk = pipe.recv()
            try:
                work = work or prepare()
                answer = work(chunk)
            except Exception as error:
                answer = failure(error)
            pipe.send(answer)
    except (EOFError, OSError):
        return


def _end_with_parent() -> None:
    """End this process at once when its parent does, whatever it is computing: compiled code releases the GIL."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        remove_unfinished()
        os._exit(1)


@contextmanager
def _threads_of_libraries(threads: int) -> Iterator[None]:
    """Libraries of processes that are started here use `threads` threads, unless the environment says otherwise."""
    missing = [name for name in _THREADS if name not in os.environ]
    os.environ.update(dict.fromkeys(missing, str(threads)))
    try:
        yield
    finally:
        for name in missing:
            del os.environ[name]


@contextmanager
def _sigint_blocked() -> Iterator[None]:
    """Processes that are started here have SIGINT blocked: at an interrupt, the parent ends them.

    A signal that comes meanwhile is handled when this ends: a half-started process would print a traceback.
    """
    if not hasattr(signal, "pthread_sigmask") or threading.current_thread() is not threading.main_thread():
        yield
        return
    resource_tracker.ensure_running()  # or it would start with the first process, and unblock SIGINT there
    pending: list[int] = []
    handler = signal.signal(signal.SIGINT, lambda number, _: pending.append(number))
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGINT, handler)
        if pending:
            signal.raise_signal(signal.SIGINT)


def work_in_order(
    prepare: Callable[[], Callable[[P], R]],
    chunks: Iterable[P],
    workers: int,
    *,
    report: Callable[[str], object],
    threads: int = 1,
) -> Generator[R]:
    """The results for all chunks, in their order, from `workers` processes.

    Each process calls `prepare` once, and the function that this returns with every chunk. The first exception of any
    stage is raised once earlier results are yielded. A chunk whose worker dies (killed, out of memory) is given to a
    new one, and `report` is called; after `MOST_ATTEMPTS`, this is an `UnfinishedError`. Only a few chunks for each
    worker are read ahead. No process is left when this ends.
    """
    pool = _Pool(prepare, iter(chunks), report, threads)
    try:
        with _sigint_blocked():
            for _ in range(workers):
                pool.workers.append(WorkerProcess(prepare, threads))
        yield from pool.results()
    finally:
        for worker in pool.workers:
            worker.stop()


@dataclass
class _Pool(Generic[P, R]):
    """The workers, and the state of each chunk."""

    prepare: Callable[[], Callable[[P], R]]
    chunks: Iterator[P]
    report: Callable[[str], object]
    threads: int
    workers: list[WorkerProcess[P]] = field(default_factory=list)
    retries: deque[tuple[int, P]] = field(default_factory=deque)  # chunks whose worker died
    attempts: Counter[int] = field(default_factory=Counter)  # workers that died, by chunk
    done: dict[int, Any] = field(default_factory=dict)  # results, or exceptions
    read: int = 0
    yielded: int = 0
    has_more: bool = True

    def results(self) -> Iterator[R]:
        while True:
            while self.yielded in self.done:
                result = self.done.pop(self.yielded)
                if isinstance(result, Exception):
                    raise result
                yield result
                self.yielded += 1
            self._hand_out()
            busy = {worker.pipe: worker for worker in self.workers if worker.task is not None}
            if busy:
                for pipe in wait(list(busy)):
                    self._take(busy[pipe])  # type: ignore[index]  # only these pipes were waited for
            elif self.yielded not in self.done:
                return

    def _hand_out(self) -> None:
        for worker in list(self.workers):
            if worker.task is None and not worker.process.is_alive():
                self._replace(worker)  # it died idle, which is no chunk's fault
                self.report(f"an idle worker died ({worker.how_it_ended()}); another one takes its place")
        for worker in self.workers:
            if worker.task is None and (task := self._next_task()) is not None:
                worker.give(*task)

    def _next_task(self) -> tuple[int, P] | None:
        if self.retries:
            return self.retries.popleft()
        if not self.has_more or self.read - self.yielded >= CHUNKS_AHEAD * len(self.workers):
            return None
        try:
            task = self.read, next(self.chunks)
        except StopIteration:
            self.has_more = False
            return None
        except Exception as error:
            self.has_more, self.done[self.read] = False, error
            return None
        self.read += 1
        return task

    def _take(self, worker: WorkerProcess[P]) -> None:
        assert worker.task is not None
        number, chunk = worker.task
        try:
            self.done[number] = worker.take()
        except (EOFError, OSError):
            self._replace(worker)
            message = f"{chunk}: the worker died ({worker.how_it_ended()})"
            self.attempts[number] += 1
            if self.attempts[number] == MOST_ATTEMPTS:
                self.done[number] = UnfinishedError(f"{message}, as did {MOST_ATTEMPTS - 1} before it")
            else:
                self.report(f"{message}; another one tries again")
                self.retries.append((number, chunk))

    def _replace(self, worker: WorkerProcess[P]) -> None:
        worker.process.join()
        worker.pipe.close()
        with _sigint_blocked():
            self.workers[self.workers.index(worker)] = WorkerProcess(self.prepare, self.threads)
