"""The command `biplanar parse` as a whole, start and loading included, with one worker and with two."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.output import Numbers
from benchmarks.parsers.gold import GoldFile
from benchmarks.parsers.processes import NotMeasuredError, environment
from benchmarks.texts import write_copies

WORKERS = (1, 2)


def measure_workers(gold: GoldFile, model: Path, rounds: int, copies: int) -> Numbers:
    """Seconds for `copies` of a file with one worker and with two, in turns."""
    path = gold.folder / "long.conllu"
    write_copies(gold.source, copies, path)
    command = [sys.executable, "-m", "biplanar", "parse", str(path), "-o", str(gold.folder / "parsed.conllu")]
    runs: dict[int, list[float]] = {count: [] for count in WORKERS}
    try:
        for _ in range(rounds):
            for count, seconds in runs.items():
                seconds.append(_seconds([*command, "--model", str(model), "--workers", str(count)]))
    except NotMeasuredError as error:
        return {"not_measured": str(error)}
    best = {count: min(seconds) for count, seconds in runs.items()}
    ratio = best[WORKERS[0]] / best[WORKERS[-1]]
    return {"not_measured": None, "words": copies * gold.words, "runs": runs, "best": best, "ratio": ratio}


def _seconds(command: Sequence[str]) -> float:
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, encoding="utf-8", env=environment(), check=False)
    if done.returncode != 0:
        raise NotMeasuredError(done.stderr.strip())
    return time.perf_counter() - start
