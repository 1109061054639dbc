"""The machine, the versions of libraries, and how a process is limited to one core and one thread."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from biplanar import __version__

# Libraries read these variables when they are imported.
ONE_THREAD = dict.fromkeys(
    (
        "OMP_NUM_THREADS",
        "MKL_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "BLIS_NUM_THREADS",
        "VECLIB_MAXIMUM_THREADS",
        "NUMBA_NUM_THREADS",
    ),
    "1",
)


def machine() -> dict[str, str | int]:
    """The processor and the system."""
    return {
        "processor": processor(),
        "cores": len(available_cores()) or os.cpu_count() or 1,
        "system": platform.platform(),
    }


def versions(packages: Iterable[str]) -> dict[str, str | None]:
    """The versions of Python, Biplanar and some packages; None for those that are not installed."""
    return {"python": platform.python_version(), "biplanar": __version__, **{name: _version(name) for name in packages}}


def processor() -> str:
    """The processor's name, as the system gives it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or platform.machine())


def available_cores() -> list[int]:
    """The cores that this process may run on; none where the system does not tell."""
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []


def use_one_core() -> None:
    """Stay on the last core, where the system allows a choice: systems prefer the first for their own work."""
    if cores := available_cores():
        os.sched_setaffinity(0, cores[-1:])


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def command(module: str) -> str:
    """How a benchmark was called, with files by their names."""
    return " ".join(["python -m", module, *(Path(one).name if "/" in one else one for one in sys.argv[1:])])
