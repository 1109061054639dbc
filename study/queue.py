# ruff: noqa: A005  # the module is run by its name and never shadows the standard one inside a package
"""Carry out the runs of the plan that have no result yet, several side by side.

    python -m study.queue DATA --device cuda --slots 16 --seconds 1500
    python -m study.queue DATA --only 'hu-paper-*' --slots 2
    python -m study.queue DATA --list

DATA is what `study.prepare` has written. Each result is stored as study/results/KEY.json as soon as its run has ended.
Started again, the queue carries out only what is missing. With `--seconds`, a run that would not end in time is not
started; those after it that would are. A run that fails is reported, and the others go on. Settings of the networks are
changed as for `biplanar train` (`--network.hidden 200`).
"""

from __future__ import annotations

import argparse
import fcntl
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatch
from multiprocessing.connection import wait
from pathlib import Path

from biplanar.errors import BiplanarError, FileError
from study.common import command, read_json, split_settings
from study.plan import DEFAULT, PAPER, Run, Schedule, plan
from study.worker import Report, Work, Worker

RESULTS = Path(__file__).parent / "results"


@dataclass
class Estimate:
    """How long runs take, learned from those that have ended."""

    schedule: Schedule
    words: dict[str, int]  # of each treebank's training file
    milliseconds: dict[str, float] = field(default_factory=lambda: {PAPER: 15.0, DEFAULT: 40.0})  # of an update
    others: float = 20.0  # seconds for all that is no training
    _seen: dict[str, list[float]] = field(default_factory=dict)

    def seconds(self, run: Run) -> float:
        """Of one run."""
        updates = self.schedule.all_updates(self.words[run.treebank])
        return updates * self.milliseconds[run.network] / 1000 + self.others

    def learn(self, report: Report) -> None:
        """Take the mean of the last few runs of the same network, and a bit more."""
        seen = self._seen.setdefault(report.run.network, [])
        seen.append(1000 * report.training_seconds / max(report.updates, 1))
        recent = seen[-16:]
        self.milliseconds[report.run.network] = 1.05 * sum(recent) / len(recent)


def carry_out(work: Work, runs: Sequence[Run], slots: int, seconds: float | None = None) -> Iterator[Report]:
    """Carry out the runs that have no result, in their order as far as time allows; a report for each that ended."""
    pending = [run for run in runs if not work.result(run).exists()]
    end = time.monotonic() + seconds if seconds is not None else None
    estimate = Estimate(work.schedule, {run.treebank: _words(work.data, run.treebank) for run in pending})
    workers = [Worker(work) for _ in range(min(slots, len(pending)))]
    try:
        while True:
            for worker in workers:
                run = _next(pending, estimate, end) if worker.run is None else None
                if run is not None:
                    pending.remove(run)
                    worker.begin(run)
            busy = {worker.connection: worker for worker in workers if worker.run is not None}
            if not busy:
                return
            left = None if end is None else end - time.monotonic()
            if left is not None and left <= 0:
                yield from (Report(worker.run, worker.seconds, error="cut off") for worker in busy.values())
                return
            for connection in wait(list(busy), left):
                report = busy[connection].report()
                if not report.error:
                    estimate.learn(report)
                yield report
    finally:
        for worker in workers:
            worker.stop()


def _next(pending: Sequence[Run], estimate: Estimate, end: float | None) -> Run | None:
    """The first run that will end in time."""
    left = float("inf") if end is None else end - time.monotonic()
    return next((run for run in pending if estimate.seconds(run) <= left), None)


def _words(data: Path, treebank: str) -> int:
    words: int = read_json(data / treebank / "facts.json")["splits"]["train"]["words"]
    return words


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Two queues that store in one folder would carry out the same runs."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise FileError(f"{folder}: another queue is at work here") from error
        yield


def main(arguments: Sequence[str]) -> None:
    """Take the pending runs."""
    others, settings = split_settings(arguments)
    given = _read_arguments(others)
    runs = [run for run in plan() if any(fnmatch(run.key, pattern) for pattern in given.only)]
    if not runs:
        raise BiplanarError(f"expected the key of a planned run, found {', '.join(given.only)}")
    work = Work(given.data, given.results, Schedule.read(given), given.device, given.models, settings)
    if given.list:
        print("\n".join(f"{'done' if work.result(run).exists() else 'pending':8}{run.key}" for run in runs))
        return
    start, failed = time.monotonic(), []
    with alone_in(work.results):
        for report in carry_out(work, runs, given.slots, given.seconds):
            print(_line(report, time.monotonic() - start), flush=True)
            failed += [report.run.key] if report.error else []
    missing = [run.key for run in runs if not work.result(run).exists()]
    print(f"{len(runs) - len(missing)} of {len(runs)} runs have results; missing: {' '.join(missing) or 'none'}")
    if failed:
        sys.exit(1)


def _line(report: Report, now: float) -> str:
    name = f"{now:6.0f} s  {report.run.key:28}"
    if report.error:
        return f"{name} after {report.seconds:.0f} s: {report.error}"
    pace = 1000 * report.training_seconds / report.updates
    return f"{name} {report.seconds:4.0f} s  {report.updates} updates, {pace:.1f} ms each  dev LAS {report.las:.2f}"


def _read_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m study.queue", description="Carry out the runs of the study.")
    parser.add_argument("data", type=Path, help="what study.prepare has written")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where results are stored")
    parser.add_argument("--only", nargs="+", default=["*"], metavar="KEY", help="keys of runs; * stands for anything")
    parser.add_argument("--list", action="store_true", help="show the runs, and whether they have results")
    parser.add_argument("--slots", type=int, default=1, help="runs side by side")
    parser.add_argument("--seconds", type=float, help="the time there is")
    parser.add_argument("--device", default="cpu", help="cpu or cuda")
    parser.add_argument("--models", type=Path, help="keep the models here, to measure their speed")
    Schedule().add_options(parser)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    command(main, "queue")
