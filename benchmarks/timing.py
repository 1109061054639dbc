"""Processor time of tasks that take turns, and of commands."""

from __future__ import annotations

import gc
import math
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from biplanar.errors import FileError

SHORTEST = 0.01  # seconds: shorter tasks are called several times in a row


def best_times(tasks: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """The processor time of one call of each task, the best of several rounds in which all tasks take turns."""
    gc.collect()
    gc.freeze()  # garbage collection is part of a task, but not of what was there before it
    calls = {name: max(1, int(SHORTEST / max(_seconds(task, 1), 1e-7))) for name, task in tasks.items()}
    best = dict.fromkeys(tasks, math.inf)
    for _ in range(rounds):
        for name, task in tasks.items():
            best[name] = min(best[name], _seconds(task, calls[name]) / calls[name])
    gc.unfreeze()
    return best


def _seconds(task: Callable[[], object], calls: int) -> float:
    start = time.process_time()
    for _ in range(calls):
        task()
    return time.process_time() - start


def run_checkout(checkout: Path, *arguments: str) -> tuple[float, str]:
    """Run Python with the package of a checkout; gives the processor time and what it wrote to standard error."""
    source = checkout / "src"
    if not (source / "biplanar").is_dir():  # else the installed package would run in its place
        raise FileError(f"{checkout}: no checkout of Biplanar")
    own = os.environ | {"PYTHONPATH": str(source)}
    own.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package has bytecode
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([sys.executable, *arguments], env=own, capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stderr
