"""Processes that work: order, errors, and what happens when one is killed."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path

import pytest

from biplanar.bulk.processes import CHUNKS_AHEAD, MOST_ATTEMPTS, work_in_order
from biplanar.errors import FormatError, UnfinishedError, UnknownNameError


@dataclass(frozen=True)
class Work:
    """Answers with squares; some numbers are trouble."""

    folder: Path
    trouble: int = -1
    kind: str = ""

    def __call__(self) -> Callable[[int], tuple[int, str | None]]:
        if self.kind == "no start":
            raise UnknownNameError("model", "engilsh", ["english"])
        return self.answer

    def answer(self, number: int) -> tuple[int, str | None]:
        if number == self.trouble:
            self.stumble(number)
        return number * number, os.environ.get("OMP_NUM_THREADS")

    def stumble(self, number: int) -> None:
        tries = self.folder / "tries"
        first = not tries.exists()
        tries.touch()
        if self.kind == "bad input":
            raise FormatError("x.conllu", number, "expected 10 columns, found 2")
        if self.kind == "bug":
            raise ZeroDivisionError("surprise")
        if self.kind == "killed" or (self.kind == "killed once" and first):
            os.kill(os.getpid(), signal.SIGKILL)
        if self.kind == "leaves":
            os._exit(3)
        if self.kind == "nameless":
            os.kill(os.getpid(), signal.SIGRTMIN + 6)


@pytest.fixture(autouse=True)
def no_process_is_left() -> Iterator[None]:
    yield
    assert multiprocessing.active_children() == []


def run(work: Work, numbers: int = 12, workers: int = 2) -> tuple[list[int], list[str], Exception | None]:
    """The results, the reports, and the error that ended it."""
    results, reports = [], list[str]()
    try:
        for square, _ in work_in_order(work, range(numbers), workers, report=reports.append):
            results.append(square)
    except Exception as error:
        return results, reports, error
    return results, reports, None


def squares(numbers: int) -> list[int]:
    return [number * number for number in range(numbers)]


def test_results_come_in_order(tmp_path):
    assert run(Work(tmp_path), 12, 3) == (squares(12), [], None)


def test_nothing_to_do(tmp_path):
    assert run(Work(tmp_path), 0) == ([], [], None)


def test_libraries_get_as_many_threads_as_they_may_have(tmp_path, monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert list(work_in_order(Work(tmp_path), [2], 1, report=print, threads=3)) == [(4, "3")]
    assert "OMP_NUM_THREADS" not in os.environ


def test_errors_are_raised_as_they_were_when_all_before_is_given_out(tmp_path):
    results, reports, error = run(Work(tmp_path, 5, "bad input"))
    assert (results, reports) == (squares(5), [])
    assert isinstance(error, FormatError)
    assert (str(error), error.path, error.line) == ("x.conllu:5: expected 10 columns, found 2", "x.conllu", 5)


def test_a_worker_that_cannot_begin(tmp_path):
    results, _, error = run(Work(tmp_path, kind="no start"))
    assert results == []
    assert isinstance(error, UnknownNameError)
    assert "did you mean 'english'?" in str(error)


def test_a_bug_in_a_worker_shows_where_it_is(tmp_path):
    results, _, error = run(Work(tmp_path, 2, "bug"))
    assert results == squares(2)
    assert isinstance(error, RuntimeError)
    assert "in stumble" in str(error)
    assert "ZeroDivisionError: surprise" in str(error)


def test_chunks_that_cannot_be_read(tmp_path):
    def chunks() -> Iterator[int]:
        yield from range(4)
        raise FormatError("x.conllu", 9, "broken")

    results = work_in_order(Work(tmp_path), chunks(), 2, report=print)
    assert [square for square, _ in islice(results, 4)] == squares(4)
    with pytest.raises(FormatError, match=r"^x.conllu:9: broken$"):
        next(results)


def test_a_worker_that_is_killed_once_loses_nothing(tmp_path):
    results, reports, error = run(Work(tmp_path, 4, "killed once"))
    assert (results, error) == (squares(12), None)
    assert reports == ["4: the worker died (signal SIGKILL); another one tries again"]


# A signal that Python has no name for, where there are such.
REAL_TIME = getattr(signal, "SIGRTMIN", None)
NAMELESS = pytest.param(
    "nameless",
    f"signal {REAL_TIME and REAL_TIME + 6}",
    marks=pytest.mark.skipif(not REAL_TIME, reason="no such signals"),
)


@pytest.mark.parametrize(("kind", "how"), [("killed", "signal SIGKILL"), ("leaves", "exit code 3"), NAMELESS])
def test_a_chunk_that_ends_too_many_workers_ends_the_work(tmp_path, kind, how):
    results, reports, error = run(Work(tmp_path, 4, kind))
    assert results == squares(4)
    assert len(reports) == MOST_ATTEMPTS - 1
    assert isinstance(error, UnfinishedError)
    assert str(error) == f"4: the worker died ({how}), as did 2 before it"


def test_few_chunks_are_read_ahead(tmp_path):
    taken = []

    def chunks() -> Iterator[int]:
        for number in count():
            taken.append(number)
            yield number

    results = work_in_order(Work(tmp_path), chunks(), 2, report=print)
    for number in range(20):
        assert next(results)[0] == number * number
        assert len(taken) <= number + 1 + CHUNKS_AHEAD * 2
    results.close()


PROGRAM = """
import os, signal, sys, time
from pathlib import Path
from biplanar.bulk.processes import work_in_order

def prepare():
    Path(sys.argv[1], str(os.getpid())).touch()
    return lambda seconds: time.sleep(seconds)

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # which shells take from what runs in the background
    list(work_in_order(prepare, [3600] * 2, 2, report=print))
"""


@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_workers_do_not_outlive_who_asked_them(tmp_path, sign):
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "started").mkdir()
    command = [sys.executable, tmp_path / "program.py", tmp_path / "started"]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        _wait_until(lambda: len(list((tmp_path / "started").iterdir())) == 2)
        process.send_signal(sign)
        assert process.wait(20) != 0
    _wait_until(lambda: not any(Path("/proc", path.name).exists() for path in (tmp_path / "started").iterdir()))


def _wait_until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)
