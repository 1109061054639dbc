"""The command `biplanar parse` as a whole, as a shell would run it: start, workers, and memory on long files."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.output import Numbers
from benchmarks.parsers.gold import GoldFile
from benchmarks.parsers.processes import NotMeasuredError, environment
from benchmarks.texts import write_copies

TEXT = "A hearing is scheduled on the issue today."
WORKERS = (1, 2)


def measure_start(rounds: int, model: str | None = None) -> Numbers:
    """Seconds from a process's start to its answer for a sentence; a first run, which may compile, is left out."""
    options = ["--model", model] if model else []
    return _measured({"text": TEXT}, lambda: {"runs": _repeated(["--text", TEXT, *options], rounds + 1)[1:]})


def measure_workers(gold: GoldFile, name: str, model: str | None, rounds: int, copies: int) -> Numbers:
    """Seconds for `copies` of a file with one worker and with two, in turns."""
    path = gold.folder / "long.conllu"
    write_copies(gold.source, copies, path)

    def work() -> Numbers:
        runs: dict[int, list[Numbers]] = {count: [] for count in WORKERS}
        for _ in range(rounds):
            for count, done in runs.items():
                done += _repeated([*_files(gold, path, model), "--workers", str(count)], 1)
        best = {count: min(run["seconds"] for run in done) for count, done in runs.items()}
        ratio = best[WORKERS[0]] / best[WORKERS[-1]]
        return {"words": copies * gold.words, "runs": runs, "best": best, "ratio": ratio}

    return _measured({"model": name}, work)


def measure_memory(gold: GoldFile, name: str, model: str | None, copies: int) -> Numbers:
    """Peak memory on the file, and on `copies` of it."""

    def work() -> Numbers:
        path = gold.folder / "long.conllu"
        peaks = {}
        for number in (1, copies):
            write_copies(gold.source, number, path)
            peaks[number] = _repeated(_files(gold, path, model), 1)[0]["peak_memory"]
        return {"copies": copies, "peak_memory": peaks, "ratio": peaks[copies] / peaks[1] if peaks[1] else None}

    return _measured({"model": name}, work)


def _files(gold: GoldFile, path: Path, model: str | None) -> list[str]:
    return [str(path), "-o", str(gold.folder / "parsed.conllu"), *(["--model", model] if model else [])]


def _measured(known: Numbers, work: Callable[[], Numbers]) -> Numbers:
    try:
        return known | {"not_measured": None} | work()
    except NotMeasuredError as error:
        return known | {"not_measured": str(error)}


def _repeated(options: Sequence[str], times: int) -> list[Numbers]:
    """What the command took, several times."""
    return [_run([sys.executable, "-m", "biplanar", "parse", *options]) for _ in range(times)]


def _run(command: Sequence[str]) -> Numbers:
    watcher = [sys.executable, "-m", "benchmarks.parsers.watch", *command]
    done = subprocess.run(watcher, capture_output=True, encoding="utf-8", env=environment(), check=True)
    answer: Numbers = json.loads(done.stdout)
    complaints = answer.pop("complaints").strip().splitlines()
    if answer.pop("code") != 0:
        raise NotMeasuredError(_complaint(complaints))
    return answer


def _complaint(lines: Sequence[str]) -> str:
    """The line that says most: the command's own error has a name, and typer draws a box around its errors."""
    spoken = [line.strip("│╭╰─╮╯ ") for line in lines if line.strip("│╭╰─╮╯ ")]
    return spoken[-1] if spoken else "it failed and said nothing"
