"""All systems take turns, round by round, each time in a new process; what they wrote is scored."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event, Timer
from typing import Any

from biplanar.benchmark.growth import LENGTHS
from biplanar.benchmark.systems import System
from biplanar.data.conllu import DEPREL, DEPS, HEAD, Sentence, parse_conllu, read_conllu, write_conllu
from biplanar.errors import BiplanarError
from biplanar.evaluation import evaluate

Numbers = dict[str, Any]

WARM_UP = 10  # sentences parsed before the clock starts, so that compiled code is there
GROWTH_COUNT = 10  # sentences of each length
MOST_SECONDS = 1800  # that one run may take

# One thread, whatever library would like more; and no accelerator, as all is compared on one core.
ENVIRONMENT = {
    **dict.fromkeys(
        (
            "OMP_NUM_THREADS",
            "MKL_NUM_THREADS",
            "OPENBLAS_NUM_THREADS",
            "BLIS_NUM_THREADS",
            "VECLIB_MAXIMUM_THREADS",
            "NUMBA_NUM_THREADS",
        ),
        "1",
    ),
    "CUDA_VISIBLE_DEVICES": "",
    "PYTHONUTF8": "1",
}


class NotMeasuredError(Exception):
    """Why a system gave no result; the others go on."""


@dataclass(frozen=True)
class Treebank:
    """A gold file, and copies of it without trees, which are what systems get."""

    gold: list[Sentence]
    source: Path
    warm_up: Path

    @classmethod
    @contextmanager
    def opened(cls, path: str | Path) -> Iterator[Treebank]:
        """The copies live as long as the block."""
        gold = list(read_conllu(path))
        for sentence in gold:
            _ = sentence.tree  # that there is one is known before anything is measured
        blank = [without_tree(sentence) for sentence in gold]
        with tempfile.TemporaryDirectory(prefix="biplanar-benchmark-") as folder:
            treebank = cls(gold, Path(folder) / "input.conllu", Path(folder) / "warm-up.conllu")
            write_file(blank, treebank.source)
            write_file(blank[:WARM_UP], treebank.warm_up)
            yield treebank

    @property
    def words(self) -> int:
        """How many there are."""
        return sum(map(len, self.gold))

    @property
    def folder(self) -> Path:
        """Where copies and results may lie."""
        return self.source.parent

    def score(self, path: Path) -> dict[str, float]:
        """UAS and LAS of what a system wrote, which must be trees over the same sentences."""
        try:
            parsed = list(read_conllu(path))
            if [sentence.forms for sentence in parsed] != [sentence.forms for sentence in self.gold]:
                raise NotMeasuredError("its output has other sentences or words than its input")
            for sentence in parsed:
                _ = sentence.tree
        except BiplanarError as error:
            raise NotMeasuredError(f"its output is no CoNLL-U with trees: {error}") from error
        scores = evaluate(self.gold, parsed)
        return {"uas": 100 * scores["UAS"].f1, "las": 100 * scores["LAS"].f1}


def without_tree(sentence: Sentence) -> Sentence:
    """The same sentence with empty HEAD, DEPREL and DEPS, ended by a blank line."""
    lines = [_without_arc(line) for line in sentence.raw.rstrip("\r\n").split("\n")]
    return parse_conllu("\n".join([*lines, "", ""]), sentence.path)[0]


def _without_arc(line: str) -> str:
    columns = line.rstrip("\r").split("\t")
    if len(columns) == 10:
        columns[HEAD] = columns[DEPREL] = columns[DEPS] = "_"
    return "\t".join(columns)


def write_file(sentences: Sequence[Sentence], path: Path) -> None:
    """Sentences as a file."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        write_conllu(sentences, stream)


def measure_systems(
    treebank: Treebank, systems: Sequence[System], rounds: int, timeout: float = MOST_SECONDS
) -> Iterator[Numbers]:
    """Run all systems so many times in turns, and score what they wrote.

    Yields `{"round", "system"}` before each run, and `{"result"}` for each system at the end.
    """
    for record in _take_turns(treebank, systems, rounds, timeout):
        if "result" in record:
            record["result"] |= _summary(record["result"], treebank)
        yield record


def measure_stages(
    treebank: Treebank, systems: Sequence[System], rounds: int, timeout: float = MOST_SECONDS
) -> Iterator[Numbers]:
    """The same for those systems that can be taken apart into stages."""
    ours = [replace(system, kind="stages") for system in systems if system.kind == "biplanar"]
    for record in _take_turns(treebank, ours, rounds, timeout):
        if "result" in record and record["result"]["not_measured"] is None:
            best = min(record["result"]["runs"], key=lambda run: float(run["seconds"]))
            record["result"] |= {"seconds": best["stages"], "words": treebank.words}
        yield record


def _take_turns(treebank: Treebank, systems: Sequence[System], rounds: int, timeout: float) -> Iterator[Numbers]:
    results = {system.name: _start(system) for system in systems}
    for number in range(1, rounds + 1):
        for system in systems:
            result = results[system.name]
            if result["not_measured"] is None:
                yield {"round": number, "system": system.name}
                try:
                    _run(treebank, system, result, timeout)
                except NotMeasuredError as error:
                    result["not_measured"] = str(error)
    for result in results.values():
        yield {"result": result}


def _start(system: System) -> Numbers:
    """What is known of a system before it has run."""
    known = system.to_dict()
    return known | {"not_measured": known.pop("missing"), "runs": []}


def _run(treebank: Treebank, system: System, result: Numbers, timeout: float) -> None:
    """One run; the first one's output is scored."""
    with tempfile.TemporaryDirectory(dir=treebank.folder) as folder:
        output = Path(folder) / "output.conllu"
        job = {"task": "parse", "kind": system.kind, "model": system.model, "options": dict(system.options)}
        files = {"input": treebank.source, "warm_up": treebank.warm_up, "output": output}
        run = run_job(job | {name: str(path) for name, path in files.items()}, timeout)
        if not result["runs"]:
            result.update(treebank.score(output), model_bytes=system.size)
        result["runs"].append(run)


def run_job(job: Numbers, timeout: float = MOST_SECONDS) -> Numbers:
    """The answers of a worker, and how long it took to be ready; one that takes longer than `timeout` is ended."""
    command = [sys.executable, "-m", "biplanar.benchmark.worker"]
    environment = os.environ | ENVIRONMENT
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as complaints:
        start = time.perf_counter()
        pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": complaints}
        with subprocess.Popen(command, **pipes, encoding="utf-8", env=environment) as worker:
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


def _summary(result: Numbers, treebank: Treebank) -> Numbers:
    """Best and median of the rounds."""
    runs = result["runs"]
    if result["not_measured"] is not None:
        return {}
    seconds = [run["seconds"] for run in runs]
    return {
        "words_per_second": _rates(treebank.words, seconds),
        "sentences_per_second": _rates(len(treebank.gold), seconds),
        "load_seconds": statistics.median(run["load_seconds"] for run in runs),
        "peak_memory": max(run["peak_memory"] for run in runs),
    }


def _rates(count: int, seconds: Sequence[float]) -> dict[str, float]:
    return {"best": count / min(seconds), "median": count / statistics.median(seconds)}


def measure_growth(
    treebank: Treebank,
    name: str,
    folder: str | None,
    lengths: Sequence[int] = LENGTHS,
    *,
    timeout: float = MOST_SECONDS,
) -> Numbers:
    """Seconds a sentence of each length takes, with a model's fastest runtime."""
    job: Numbers = {"task": "growth", "model": folder, "options": {}, "input": str(treebank.source)}
    result: Numbers = {"model": name, "not_measured": None, "lengths": []}
    try:
        seconds = run_job(job | {"lengths": list(lengths), "count": GROWTH_COUNT}, timeout)["seconds"]
    except NotMeasuredError as error:
        return result | {"not_measured": str(error)}
    rows = [{"words": int(length), "seconds": times} for length, times in seconds.items()]
    return result | {
        "lengths": [row | {"median": statistics.median(row["seconds"]), "slowest": max(row["seconds"])} for row in rows]
    }
