"""The process in which one system works: `python -m benchmarks.parsers.worker`, with its job as JSON on standard input.

It writes a line of JSON when it is loaded and another when it is done; `error` in one of them says why that is all.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TextIO

from benchmarks.machine import use_one_core
from benchmarks.memory import own_peak
from biplanar.errors import BiplanarError

Job = dict[str, Any]
Work = Callable[[], Job]


def main() -> int:
    """Load, say so, warm up, work, and say how it went."""
    job = json.load(sys.stdin)
    answers = _own_answers()
    use_one_core()
    try:
        work = TASKS[job["task"]](job)
        _answer(answers, {"ready": True})
        _answer(answers, work() | {"peak_memory": own_peak()})
    except BiplanarError as error:
        _answer(answers, {"error": str(error)})
        return 2
    return 0


def _parse_file(job: Job) -> Work:
    """One file into another, timed after a few sentences that are not."""
    from benchmarks.parsers.adapters import ADAPTERS

    parse = ADAPTERS[job["kind"]](job["model"], job["options"])
    output = Path(job["output"])

    def work() -> Job:
        parse(Path(job["warm_up"]), output.with_suffix(".warm-up"))
        start, processor = time.perf_counter(), time.process_time()
        stages = parse(Path(job["input"]), output)
        seconds, processor_seconds = time.perf_counter() - start, time.process_time() - processor
        return {"seconds": seconds, "processor_seconds": processor_seconds, "stages": stages}

    return work


def _grow(job: Job) -> Work:
    """Sentences of growing length, each parsed alone by Biplanar."""
    from benchmarks.parsers.adapters import load_parser
    from benchmarks.parsers.growth import parse_times
    from benchmarks.texts import joined_sentences

    parser = load_parser(job["model"], job["options"])

    def work() -> Job:
        groups = {length: joined_sentences(Path(job["input"]), length, job["count"]) for length in job["lengths"]}
        return {"seconds": {length: parse_times(parser, group) for length, group in groups.items()}}

    return work


TASKS: dict[str, Callable[[Job], Work]] = {"parse": _parse_file, "growth": _grow}


def _own_answers() -> TextIO:
    """Standard output for answers alone: what libraries print goes to standard error."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return answers


def _answer(stream: TextIO, answer: Job) -> None:
    stream.write(json.dumps(answer) + "\n")
    stream.flush()


if __name__ == "__main__":
    sys.exit(main())
