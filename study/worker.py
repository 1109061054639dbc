"""A process that takes runs one after the other, so that it starts and loads PyTorch only once."""

from __future__ import annotations

import multiprocessing
import time
import traceback
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path

from study.common import write_json
from study.plan import Run, Schedule


@dataclass(frozen=True)
class Work:
    """What all runs of a queue share. With `models`, they leave their models there."""

    data: Path
    results: Path
    schedule: Schedule
    device: str = "cpu"
    models: Path | None = None
    settings: dict[str, str] = field(default_factory=dict)  # of the network, beside the configuration's

    def result(self, run: Run) -> Path:
        """Where the result of a run is."""
        return self.results / f"{run.key}.json"


@dataclass(frozen=True)
class Report:
    """How a run ended: with seconds and updates, or with an error."""

    run: Run
    seconds: float
    training_seconds: float = 0.0
    updates: int = 0
    las: float = 0.0
    error: str = ""


class Worker:
    """One such process, and what it does at the moment."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self.run: Run | None = None
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, other = context.Pipe()
        self._process = context.Process(target=_serve, args=(other, self._work), daemon=True)
        self._process.start()
        other.close()  # so that the end of the process is seen here

    def begin(self, run: Run) -> None:
        """Give it a run; its report comes through the connection."""
        self.run = run
        self._begun = time.monotonic()
        self.connection.send(run)

    def report(self) -> Report:
        """How its run ended; if the process itself has ended, another takes its place."""
        assert self.run is not None
        run, self.run = self.run, None
        try:
            report: Report = self.connection.recv()
        except (EOFError, OSError):
            self._process.join()
            report = Report(run, self.seconds, error=f"the process ended with exit code {self._process.exitcode}")
            self._start()
        return report

    @property
    def seconds(self) -> float:
        """Since its run began."""
        return time.monotonic() - self._begun

    def stop(self) -> None:
        """End the process, whatever it does."""
        self._process.terminate()
        self._process.join()
        self.connection.close()


def _serve(connection: Connection, work: Work) -> None:
    import torch

    torch.set_num_threads(1)
    while True:
        try:
            run = connection.recv()
        except (EOFError, KeyboardInterrupt):
            return
        connection.send(carry_out(run, work))


def carry_out(run: Run, work: Work) -> Report:
    """Carry out a run and store its result; whatever goes wrong is reported."""
    from study.run import execute

    start = time.monotonic()
    try:
        result = execute(run, work)
        write_json(result, work.result(run))
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(last.filename).name}:{last.lineno}"
        return Report(run, time.monotonic() - start, error=f"{type(error).__name__}: {error} ({where})")
    counts = result["scores"]["dev"]["gold words"]["search"]["LAS"]
    return Report(run, time.monotonic() - start, result["seconds"]["train"], result["updates"], _percent_f1(*counts))


def _percent_f1(correct: int, gold: int, system: int) -> float:
    return 200 * correct / (gold + system)
