from __future__ import annotations

import pytest
from benchmarks.timing import best_times, run_checkout

from benchmarks import timing
from biplanar.errors import FileError
from tests.paths import ROOT


@pytest.fixture
def clock(monkeypatch):
    """Processor time that passes only when a task says so."""
    now = [0.0]
    monkeypatch.setattr(timing.time, "process_time", lambda: now[0])
    return now


def test_the_best_of_rounds_in_which_tasks_take_turns(clock):
    costs = {"a": iter([9, 4, 2, 3]), "b": iter([9, 5, 6, 7])}  # the first call only says how long one takes
    calls = []

    def task(name):
        calls.append(name)
        clock[0] += next(costs[name])

    assert best_times({name: lambda name=name: task(name) for name in costs}, 3) == {"a": 2, "b": 5}
    assert calls == ["a", "b"] * 4


def test_short_tasks_are_called_several_times_in_a_row(clock):
    calls = []

    def task():
        calls.append(None)
        clock[0] += 0.001

    assert best_times({"short": task}, 2)["short"] == pytest.approx(0.001)
    assert len(calls) in (1 + 2 * 9, 1 + 2 * 10)  # rounding decides


def test_what_a_command_writes_and_takes():
    seconds, errors = run_checkout(ROOT, "-c", "import biplanar, sys; sys.stderr.write(biplanar.__file__)")
    assert seconds > 0
    assert errors == str(ROOT / "src" / "biplanar" / "__init__.py")


def test_a_folder_that_is_no_checkout_is_refused(tmp_path):
    with pytest.raises(FileError, match="no checkout"):
        run_checkout(tmp_path, "-c", "pass")
