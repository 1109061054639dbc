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
from benchmarks.parsers.systems import FASTEST, System
from biplanar.decoding import DEFAULT_DECODER


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


def measure_stages(gold: GoldFile, systems: Sequence[System], rounds: int) -> Iterator[Numbers]:
    """The same for our own models in int8 with the search, taken apart into stages."""
    usual = {"runtime": FASTEST, "decoder": DEFAULT_DECODER}
    ours = [replace(system, kind="stages") for system in systems if system.options == usual]
    for record in _take_turns(gold, ours, rounds, MOST_SECONDS):
        if "result" in record and record["result"]["not_measured"] is None:
            best = min(record["result"]["runs"], key=lambda run: float(run["processor_seconds"]))
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
        job = {"kind": system.kind, "model": system.model, "options": dict(system.options)}
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
