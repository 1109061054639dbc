"""A small process that runs a command and tells its time and memory: `python -m benchmarks.parsers.watch COMMAND...`.

What a parent has in memory counts as its child's on some systems, so the parent must be small: nothing is imported here
that need not be. Memory is that of the largest process of the command, workers included.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time

from benchmarks.memory import children_peak


def main() -> int:
    """Run the command, its output thrown away, and answer with one line of JSON."""
    start = time.perf_counter()
    done = subprocess.run(
        sys.argv[1:], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False
    )
    answer = {"seconds": time.perf_counter() - start, "peak_memory": children_peak(), "code": done.returncode}
    sys.stdout.write(json.dumps(answer | {"complaints": done.stderr.decode(errors="replace")}) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
