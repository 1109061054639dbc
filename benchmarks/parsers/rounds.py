"""All systems take turns, round by round, each time in a new process; what they wrote is scored."""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.output import Numbers
from benchmarks.parsers.gold import GoldFile
from benchmarks.parsers.processes import MOST_SECONDS, NotMeasuredError, run_job
from benchmarks.parsers.systems import System
from benchmarks.texts import LENGTHS

PER_LENGTH = 10  # sentences


def measure_systems(
    gold: GoldFile, systems: Sequence[System], rounds: int, timeout: float = MOST_SECONDS
) -> Iterator[Numbers]:
    """Run all systems `rounds` times in turns, and score what they wrote.

    Yields `{"round", "system"}` before each run, and `{"result"}` for each system at the end.
    """
    for record in _take_turns(gold, systems, rounds, timeout):
        if "result" in record:
            record["result"] |= _summary(record["result"], gold)
        yield record


def measure_stages(
    gold: GoldFile, systems: Sequence[System], rounds: int, timeout: float = MOST_SECONDS
) -> Iterator[Numbers]:
    """The same for those systems that can be taken apart into stages."""
    ours = [replace(system, kind="stages") for system in systems if system.kind == "biplanar"]
    for record in _take_turns(gold, ours, rounds, timeout):
        if "result" in record and record["result"]["not_measured"] is None:
            best = min(record["result"]["runs"], key=lambda run: float(run["seconds"]))
            record["result"] |= {"seconds": best["stages"], "words": gold.words}
        yield record


def _take_turns(gold: GoldFile, systems: Sequence[System], rounds: int, timeout: float) -> Iterator[Numbers]:
    results = {system.name: _start(system) for system in systems}
    for number in range(1, rounds + 1):
        for system in systems:
            result = results[system.name]
            if result["not_measured"] is None:
                yield {"round": number, "system": system.name}
                try:
                    _run(gold, system, result, timeout)
                except NotMeasuredError as error:
                    result["not_measured"] = str(error)
    for result in results.values():
        yield {"result": result}


def _start(system: System) -> Numbers:
    """What is known of a system before it has run."""
    known = system.to_dict()
    return known | {"not_measured": known.pop("missing"), "runs": []}


def _run(gold: GoldFile, system: System, result: Numbers, timeout: float) -> None:
    """One run; the first one's output is scored."""
    with tempfile.TemporaryDirectory(dir=gold.folder) as folder:
        output = Path(folder) / "output.conllu"
        job = {"task": "parse", "kind": system.kind, "model": system.model, "options": dict(system.options)}
        files = {"input": gold.source, "warm_up": gold.warm_up, "output": output}
        run = run_job(job | {name: str(path) for name, path in files.items()}, timeout)
        if not result["runs"]:
            result.update(gold.score(output), model_bytes=system.size)
        result["runs"].append(run)


def _summary(result: Numbers, gold: GoldFile) -> Numbers:
    """Best and median of the rounds."""
    runs = result["runs"]
    if result["not_measured"] is not None:
        return {}
    seconds = [run["processor_seconds"] for run in runs]  # which other programs disturb less
    return {
        "words_per_second": _rates(gold.words, seconds),
        "sentences_per_second": _rates(len(gold.sentences), seconds),
        "load_seconds": statistics.median(run["load_seconds"] for run in runs),
        "peak_memory": max(run["peak_memory"] for run in runs),
    }


def _rates(count: int, seconds: Sequence[float]) -> dict[str, float]:
    return {"best": count / min(seconds), "median": count / statistics.median(seconds)}


def measure_growth(
    gold: GoldFile,
    name: str,
    folder: str | None,
    lengths: Sequence[int] = LENGTHS,
    *,
    timeout: float = MOST_SECONDS,
) -> Numbers:
    """Seconds a sentence of each length takes, with a model's fastest runtime."""
    job: Numbers = {"task": "growth", "model": folder, "options": {}, "input": str(gold.source)}
    result: Numbers = {"model": name, "not_measured": None, "lengths": []}
    try:
        seconds = run_job(job | {"lengths": list(lengths), "count": PER_LENGTH}, timeout)["seconds"]
    except NotMeasuredError as error:
        return result | {"not_measured": str(error)}
    rows = [{"words": int(length), "seconds": times} for length, times in seconds.items()]
    return result | {
        "lengths": [row | {"median": statistics.median(row["seconds"]), "slowest": max(row["seconds"])} for row in rows]
    }
