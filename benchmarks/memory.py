"""Peak memory in bytes."""

from __future__ import annotations

import sys
from pathlib import Path


def own_peak() -> int:
    """The peak of this process.

    The kernel's count for a process starts with the memory of its parent, so on Linux that of the program is read.
    """
    try:
        status = Path("/proc/self/status").read_text(encoding="utf-8")
        return 1024 * int(status.split("VmHWM:")[1].split()[0])
    except (OSError, IndexError):
        import resource  # which not every system has

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
