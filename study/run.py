"""Train and judge the runs of a study that have no result yet, several side by side; or one of them, to compare.

    python -m study.run --study paper --data DATA --device cuda --slots 16
    python -m study.run 'hu-paper-*' --data DATA
    python -m study.run lt-paper-2p-greedy-1 --show

DATA is what `study.prepare` has written. Each result is stored in study/results/STUDY.jsonl as soon as its run has
ended; started again, only what is missing is run. A run that fails is reported, and the others go on. With `--seconds`,
no run is begun after them.

With `--show`, a run is repeated whether it has a result or not: in a scratch folder, which also gets the data if there
is no `--data`. Nothing is stored; the scores are printed beside the stored and the printed ones. Settings are changed
as for `biplanar train` (`--network.hidden 200`).
"""

from __future__ import annotations

import argparse
import fcntl
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from multiprocessing import get_context
from pathlib import Path

from benchmarks.output import markdown_table

from biplanar.errors import BiplanarError, FileError
from study.common import RESULTS, command, read_json, read_lines, split_settings, write_lines
from study.plan import STUDIES, Run, Study
from study.store import PRINTED, Result, percent
from study.treebanks import BY_CODE

METRICS = ("UAS", "LAS")


@dataclass(frozen=True)
class Work:
    """What all runs share. With `models`, they leave their models there."""

    study: str
    data: Path
    device: str = "cpu"
    models: Path | None = None
    settings: Mapping[str, str] = field(default_factory=dict)  # beside the plan's
    threads: int = 1


def carry_out(work: Work, run: Run) -> Result | str:
    """The result of a run, or why there is none."""
    from study.training import execute

    try:
        return execute(work, run)
    except Exception as error:  # whatever it is, the other runs go on
        return f"{run.key}: {type(error).__name__}: {error}"


def carry_out_all(work: Work, runs: Sequence[Run], slots: int, seconds: float = float("inf")) -> Iterator[Result | str]:
    """Results as they come, in processes of their own."""
    pending, end = list(runs), time.monotonic() + seconds
    busy = set[Future[Result | str]]()
    with ProcessPoolExecutor(slots, mp_context=get_context("spawn"), max_tasks_per_child=1) as pool:
        while busy or (pending and time.monotonic() < end):
            while pending and len(busy) < slots and time.monotonic() < end:
                busy.add(pool.submit(carry_out, work, pending.pop(0)))
            done, busy = wait(busy, return_when=FIRST_COMPLETED)
            yield from (one.result() for one in done)


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Two that store in one folder would carry out the same runs."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise FileError(f"{folder}: another process stores results here") from error
        yield


def store_missing(work: Work, runs: Sequence[Run], results: Path, slots: int, seconds: float) -> list[str]:
    """Carry out the runs without a result, store each, and give the messages of those that failed."""
    failed, start = [], time.monotonic()
    with alone_in(results):
        path = results / f"{work.study}.jsonl"
        stored = read_lines(path)
        for result in carry_out_all(work, [run for run in runs if run.key not in stored], slots, seconds):
            if isinstance(result, str):
                failed.append(result)
            else:
                stored[result["key"]] = result
                write_lines(stored, path)
            print(
                f"{time.monotonic() - start:6.0f} s  {result if isinstance(result, str) else _line(result)}", flush=True
            )
    return failed


def _line(result: Result) -> str:
    shown = [
        f"{decoder} {percent(metrics['LAS']):.2f}" for decoder, metrics in result["scores"]["dev"]["gold words"].items()
    ]
    took = f"{result['seconds']['train']:.0f} s, {result['updates']} updates"
    return f"{result['key']:32} {took}; dev LAS {', '.join(shown)}"


def show(work: Work, run: Run, stored: Result | None, treebanks: Path | None) -> str:
    """Repeat a run, and set its scores beside the stored and the printed ones; data are prepared from treebanks."""
    from study.prepare import prepare

    with tempfile.TemporaryDirectory(prefix="biplanar-study-") as scratch:
        if treebanks is not None:
            work = replace(work, data=Path(scratch))
            prepare(BY_CODE[run.treebank], treebanks, work.data)
        result = carry_out(work, run)
    if isinstance(result, str):
        raise BiplanarError(result)
    return compared(result, stored)


def compared(result: Result, stored: Result | None) -> str:
    """A table of UAS and LAS: printed, stored, and as they came out now."""
    printed = read_json(PRINTED)["accuracy"]["cells"].get(BY_CODE[result["treebank"]].name, {}).get(result["encoding"])
    rows = []
    for split, sources in result["scores"].items():
        for source, decoders in sources.items():
            for (decoder, scores), metric in ((pair, one) for pair in decoders.items() for one in METRICS):
                at = 2 * ("dev", "test").index(split) + METRICS.index(metric)
                known = printed and (result["network"], source, decoder) == ("paper", "raw text", "paper")
                old = stored and stored["scores"][split][source].get(decoder, {}).get(metric)
                shown = [printed[at] if known else None, percent(old) if old else None, percent(scores[metric])]
                cells = ["–" if value is None else f"{value:.2f}" for value in shown]
                rows.append([f"{split}, {source}, `{decoder}`, {metric}", *cells])
    return markdown_table(["", "printed", "stored", "now"], rows)


def chosen(study: Study, patterns: Sequence[str]) -> list[Run]:
    """The planned runs whose keys match."""
    runs = [run for run in study.runs if any(fnmatchcase(run.key, pattern) for pattern in patterns)]
    if not runs:
        raise BiplanarError(f"no run of the study {study.name} is named {', '.join(patterns)}; see --list")
    return runs


def main(arguments: Sequence[str]) -> None:
    """Carry out runs, show one, or list them."""
    others, settings = split_settings(arguments)
    given = _read_arguments(others)
    runs = chosen(STUDIES[given.study], given.keys)
    stored = read_lines(given.results / f"{given.study}.jsonl")
    work = Work(given.study, given.data, given.device, given.models, settings)
    if given.list:
        print("\n".join(f"{'done' if run.key in stored else 'pending':8}{run.key}" for run in runs))
    elif given.show:
        if len(runs) > 1:
            raise BiplanarError(f"--show takes one run, and {len(runs)} are named so")
        start, alone = time.monotonic(), replace(work, models=None, threads=os.cpu_count() or 1)
        print(show(alone, runs[0], stored.get(runs[0].key), None if given.data else given.treebanks))
        print(f"\n{time.monotonic() - start:.0f} seconds", file=sys.stderr)
    elif given.data is None:
        raise BiplanarError("--data is missing: the folder that `python -m study.prepare` has written")
    elif failed := store_missing(work, runs, given.results, given.slots, given.seconds):
        raise BiplanarError(f"{len(failed)} runs failed")


def _read_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m study.run", description=__doc__.splitlines()[0])
    parser.add_argument("keys", nargs="*", default=["*"], metavar="KEY", help="of runs; * stands for anything")
    parser.add_argument("--study", choices=list(STUDIES), default="paper")
    parser.add_argument("--show", action="store_true", help="repeat one run, and compare it with what is stored")
    parser.add_argument("--list", action="store_true", help="list the runs, and whether they have results")
    parser.add_argument("--data", type=Path, help="what study.prepare has written")
    parser.add_argument(
        "--treebanks", type=Path, default=Path("../shared"), help="holds ud-2.4, to prepare with --show"
    )
    parser.add_argument("--results", type=Path, default=RESULTS, help="where results are stored")
    parser.add_argument("--models", type=Path, help="keep the models here")
    parser.add_argument("--slots", type=int, default=1, help="runs side by side")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="no run is begun after them")
    parser.add_argument("--device", default="cpu", help="cpu or cuda")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    command(main, "run")
