from __future__ import annotations

import json
import subprocess
import sys

from benchmarks.parsers.processes import environment


def watch(*arguments):
    line = [sys.executable, "-m", "benchmarks.parsers.watch", sys.executable, "-c", *arguments]
    return json.loads(subprocess.run(line, capture_output=True, check=True, env=environment()).stdout)


def test_time_and_memory_of_the_command():
    answer = watch("import time; text = b'x' * 200_000_000; time.sleep(0.2)")
    assert answer["code"] == 0
    assert answer["seconds"] > 0.2
    assert 200_000_000 < answer["peak_memory"] < 400_000_000


def test_the_watcher_itself_is_small():
    assert watch("pass")["peak_memory"] < 40_000_000


def test_failure():
    answer = watch("import sys; sys.exit('so it goes')")
    assert (answer["code"], answer["complaints"]) == (1, "so it goes\n")
