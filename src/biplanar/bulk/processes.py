"""Work that many processes do, each on a chunk at a time; the results come in the order of the chunks."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import traceback
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from typing import Any, Generic, TypeVar

from biplanar.errors import BiplanarError, UnfinishedError

P = TypeVar("P")
R = TypeVar("R")

# Chunks that are under way or whose results wait for an earlier one's, for each worker.
CHUNKS_AHEAD = 3

# How many processes in turn may end at the same chunk before it is given up.
MOST_ATTEMPTS = 3

# What the libraries for linear algebra ask how many threads they may have.
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True)
class Failure:
    """An error on its way to another process: exceptions with custom constructors do not survive pickling."""

    kind: type[Exception]
    message: str
    state: dict[str, Any]

    @classmethod
    def of(cls, error: Exception) -> Failure:
        """What there is to say of an error."""
        if isinstance(error, BiplanarError):
            return cls(type(error), str(error), dict(vars(error)))
        return cls(RuntimeError, f"in a worker process:\n{traceback.format_exc()}", {})

    def to_error(self) -> Exception:
        """The error again."""
        error = self.kind.__new__(self.kind)
        error.args = (self.message,)
        vars(error).update(self.state)
        return error


class WorkerProcess(Generic[P]):
    """A process, and the chunk it is at."""

    def __init__(self, prepare: Callable[[], Callable[[P], object]], threads: int) -> None:
        context = multiprocessing.get_context("spawn")  # processes that were forked may hang in threads they never had
        self.pipe, other_end = context.Pipe()
        self.process = context.Process(target=_serve, args=(prepare, other_end), daemon=True)
        with _threads_of_libraries(threads):
            self.process.start()
        other_end.close()
        self.task: tuple[int, P] | None = None

    def give(self, number: int, chunk: P) -> None:
        """Give it a chunk."""
        self.task = number, chunk
        with suppress(OSError):  # it has ended, which will be seen when its answer is waited for
            self.pipe.send(chunk)

    def take(self) -> Any:
        """The answer, which may be an error; EOFError: the process has ended without one."""
        try:
            answer = self.pipe.recv()
        except OSError as error:
            raise EOFError from error
        self.task = None
        return answer.to_error() if isinstance(answer, Failure) else answer

    def how_it_ended(self) -> str:
        """In words, once the process has been joined."""
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
    """What a worker process does: answer until nobody asks any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # SIGINT may not have been blocked before spawn
    work: Callable[[Any], object] | None = None
    try:
        while True:
            chunk = pipe.recv()
            try:
                work = work or prepare()
                answer = work(chunk)
            except Exception as error:
                answer = Failure.of(error)
            pipe.send(answer)
    except (EOFError, OSError):
        return


@contextmanager
def _threads_of_libraries(threads: int) -> Iterator[None]:
    """Processes that are started here use so many threads, unless the environment has said otherwise."""
    missing = [name for name in _THREADS if name not in os.environ]
    os.environ.update(dict.fromkeys(missing, str(threads)))
    try:
        yield
    finally:
        for name in missing:
            del os.environ[name]


@contextmanager
def _sigint_blocked() -> Iterator[None]:
    """Processes that are started here have SIGINT blocked: whoever interrupts the command ends its workers, too.

    A signal that comes meanwhile is handled when this ends, as a process that is half started would print a traceback.
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
    describe: Callable[[P], str] = str,
) -> Generator[R]:
    """The results for all chunks, in their order, from so many processes; messages name a chunk as `describe` does.

    Each process calls `prepare` once, and what that gives it with every chunk. What goes wrong with a chunk, or when
    chunks are read, is raised here when all before it has been given out. A chunk whose process ends (killed, out of
    memory) is given to a fresh one, which `report` is told; if `MOST_ATTEMPTS` end at it, this is an `UnfinishedError`.
    Only a few chunks for each worker are read ahead. No process is left when this ends, however it does.
    """
    crew = _Crew(prepare, iter(chunks), report, threads, describe)
    try:
        crew.hire(workers)
        yield from crew.results()
    finally:
        crew.dismiss()


class _Crew(Generic[P, R]):
    """The processes, and where each chunk is on its way."""

    def __init__(
        self,
        prepare: Callable[[], Callable[[P], R]],
        chunks: Iterator[P],
        report: Callable[[str], object],
        threads: int,
        describe: Callable[[P], str],
    ) -> None:
        self.prepare, self.chunks, self.report, self.threads = prepare, chunks, report, threads
        self.describe = describe
        self.workers: list[WorkerProcess[P]] = []
        self.unlucky: deque[tuple[int, P]] = deque()  # whose worker has ended, for another one
        self.attempts: Counter[int] = Counter()  # that have ended without an answer, by chunk
        self.done: dict[int, Any] = {}  # results, or errors
        self.read = self.given_out = 0
        self.has_more = True

    def hire(self, workers: int) -> None:
        with _sigint_blocked():
            for _ in range(workers):
                self.workers.append(WorkerProcess(self.prepare, self.threads))

    def dismiss(self) -> None:
        for worker in self.workers:
            worker.stop()

    def results(self) -> Iterator[R]:
        while True:
            while self.given_out in self.done:
                result = self.done.pop(self.given_out)
                if isinstance(result, Exception):
                    raise result
                yield result
                self.given_out += 1
            self._hand_out()
            busy = {worker.pipe: worker for worker in self.workers if worker.task is not None}
            if busy:
                for pipe in wait(list(busy)):
                    self._take(busy[pipe])  # type: ignore[index]  # only these pipes were waited for
            elif self.given_out not in self.done:
                return

    def _hand_out(self) -> None:
        for worker in self.workers:
            if worker.task is None and (task := self._next_task()) is not None:
                worker.give(*task)

    def _next_task(self) -> tuple[int, P] | None:
        if self.unlucky:
            return self.unlucky.popleft()
        if not self.has_more or self.read - self.given_out >= CHUNKS_AHEAD * len(self.workers):
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
        except EOFError:
            self._replace(worker)
            message = f"{self.describe(chunk)}: the worker process at these lines ended with {worker.how_it_ended()}"
            self.attempts[number] += 1
            if self.attempts[number] == MOST_ATTEMPTS:
                self.done[number] = UnfinishedError(f"{message}, as had {MOST_ATTEMPTS - 1} before it")
            else:
                self.report(f"{message}; another one tries again")
                self.unlucky.append((number, chunk))

    def _replace(self, worker: WorkerProcess[P]) -> None:
        worker.process.join()
        worker.pipe.close()
        with _sigint_blocked():
            self.workers[self.workers.index(worker)] = WorkerProcess(self.prepare, self.threads)
