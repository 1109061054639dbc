"""What was measured on, and with which versions."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from biplanar import __version__

PACKAGES = ("numpy", "numba", "onnxruntime", "torch", "ufal.udpipe", "spacy", "supar")


def machine() -> dict[str, str | int]:
    """The processor and the system."""
    return {
        "processor": processor(),
        "cores": len(available_cores()) or os.cpu_count() or 1,
        "system": platform.platform(),
    }


def versions() -> dict[str, str | None]:
    """The versions of all that takes part; None for what is not installed."""
    return {"python": platform.python_version(), "biplanar": __version__, **{name: _version(name) for name in PACKAGES}}


def processor() -> str:
    """Its name, as the system has it."""
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
    """Stay on one core, where the system can be asked for that: the last, as the first is every system's favourite."""
    if cores := available_cores():
        os.sched_setaffinity(0, cores[-1:])


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
