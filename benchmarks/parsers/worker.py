"""The process in which one system works: `python -m benchmarks.parsers.worker`, with its job as JSON on standard input.

It writes a line of JSON when it is loaded and another when it is done; `error` in one of them says why that is all.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any, TextIO

from benchmarks.machine import use_one_core
from benchmarks.memory import own_peak
from benchmarks.parsers.adapters import ADAPTERS, Parse
from biplanar.errors import BiplanarError

Job = dict[str, Any]


def main() -> int:
    """Load, say so, warm up, work, and say how it went."""
    job = json.load(sys.stdin)
    answers = _own_answers()
    use_one_core()
    try:
        parse = ADAPTERS[job["kind"]](job["model"], job["options"])
        _answer(answers, {"ready": True})
        _answer(answers, _timed(parse, job) | {"peak_memory": own_peak()})
    except BiplanarError as error:
        _answer(answers, {"error": str(error)})
        return 2
    return 0


def _timed(parse: Parse, job: Job) -> Job:
    """One file into another, timed after a few sentences that are not."""
    output = Path(job["output"])
    parse(Path(job["warm_up"]), output.with_suffix(".warm-up"))
    start, processor = time.perf_counter(), time.process_time()
    stages = parse(Path(job["input"]), output)
    seconds, processor_seconds = time.perf_counter() - start, time.process_time() - processor
    return {"seconds": seconds, "processor_seconds": processor_seconds, "stages": stages}


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
