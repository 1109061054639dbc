from __future__ import annotations

import subprocess
import sys

from benchmarks.parsers.processes import environment

ALLOCATE = "data = b'x' * 300_000_000; del data; "


def printed(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, env=environment())
    return int(done.stdout)


def test_the_peak_of_this_process_stays_when_memory_is_freed():
    code = "from benchmarks.memory import own_peak; print(own_peak())"
    assert 0 < printed(code) < 100_000_000
    assert 300_000_000 < printed(ALLOCATE + code) < 400_000_000
