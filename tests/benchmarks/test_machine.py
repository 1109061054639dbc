from __future__ import annotations

import json
import os
import platform
import subprocess
import sys

import pytest
from benchmarks.machine import machine, versions
from benchmarks.parsers.processes import environment

import biplanar


def test_machine():
    found = machine()
    assert list(found) == ["processor", "cores", "system"]
    assert found["processor"]
    assert 1 <= found["cores"] <= os.cpu_count()


def test_versions():
    assert versions(["pytest", "no-such-package"]) == {
        "python": platform.python_version(),
        "biplanar": biplanar.__version__,
        "pytest": pytest.__version__,
        "no-such-package": None,
    }


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="this system does not let processes choose cores")
def test_one_core():
    code = "import json; from benchmarks.machine import *; use_one_core(); print(json.dumps(available_cores()))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, env=environment())
    assert json.loads(done.stdout) == [max(os.sched_getaffinity(0))]
