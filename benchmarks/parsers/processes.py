"""Each run is a process of its own, with one thread and without an accelerator."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Timer
from typing import Any

from benchmarks.machine import ONE_THREAD
from benchmarks.output import Numbers
from biplanar.errors import BiplanarError

ROOT = Path(__file__).resolve().parents[2]
MOST_SECONDS = 1800  # that one run may take


class NotMeasuredError(BiplanarError):
    """Why a system gave no result; the others go on."""


def environment() -> dict[str, str]:
    """The variables of a process that is measured; it finds this package wherever it runs."""
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    return {**os.environ, **ONE_THREAD, "CUDA_VISIBLE_DEVICES": "", "PYTHONUTF8": "1", "PYTHONPATH": path}


def run_job(job: Numbers, timeout: float = MOST_SECONDS) -> Numbers:
    """The answers of a worker, and how long it took to be ready; one that takes longer than `timeout` is ended."""
    command = [sys.executable, "-m", "benchmarks.parsers.worker"]
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as complaints:
        start = time.perf_counter()
        pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": complaints}
        with subprocess.Popen(command, **pipes, encoding="utf-8", env=environment()) as worker:
            assert worker.stdin is not None
            assert worker.stdout is not None
            with _ended_after(timeout, worker) as alarm:
                with suppress(BrokenPipeError):  # it may be dead already, which is found out below
                    worker.stdin.write(json.dumps(job))
                    worker.stdin.close()
                first = worker.stdout.readline()
                load_seconds = time.perf_counter() - start
                last = worker.stdout.read()
        if alarm.is_set():
            raise NotMeasuredError(f"it was not done after {timeout:g} seconds")
        answer = _answer(first) | _answer(last)
        if worker.returncode != 0 or "peak_memory" not in answer:
            complaints.seek(0)
            raise NotMeasuredError(answer.get("error") or _crash(worker.returncode, complaints.read()))
    return {"load_seconds": load_seconds} | {key: value for key, value in answer.items() if key != "ready"}


@contextmanager
def _ended_after(seconds: float, process: subprocess.Popen[str]) -> Iterator[Event]:
    """Kill a process that is still at it after so long; the event tells whether it was."""
    killed = Event()

    def kill() -> None:
        killed.set()
        process.kill()

    timer = Timer(seconds, kill)
    timer.start()
    try:
        yield killed
    finally:
        timer.cancel()


def _answer(line: str) -> Numbers:
    answer: Numbers = json.loads(line) if line.strip() else {}
    return answer


def _crash(code: int, complaints: str) -> str:
    """The last thing that a process said."""
    lines = complaints.strip().splitlines()
    return f"it ended with code {code}" + (f": {lines[-1].strip()}" if lines else "")
