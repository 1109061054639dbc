"""What all tests share: a command to run, the treebanks, where there are any, and reproducible runs of hypothesis."""

from __future__ import annotations

import io
import logging
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import HealthCheck, settings

from biplanar.cli import main
from biplanar.tokenizer.udpipe import TOKENIZER
from tests.commands import Result, Run
from tests.first_use import compile_once
from tests.paths import ROOT, TINY, treebank_files, treebanks_folder  # noqa: F401
from tests.skips import pytest_make_collect_report, pytest_runtest_makereport  # noqa: F401

# Tests run on all cores already, and threads that wait for each other there would take many times as long. The
# libraries read this when they are imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")

settings.register_profile(
    "biplanar",
    deadline=None,
    derandomize=True,
    database=None,
    print_blob=False,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("biplanar")


# Tests that look at standard error do not expect the notice that something is compiled.
logging.getLogger("biplanar.compiled").setLevel(logging.WARNING)


# Folders and files of tests that take long: servers, processes, clusters, trainings, all of a page's commands; and
# fixtures with all treebanks. `make test-fast` leaves them out.
SLOW = (
    *("benchmarks/", "bulk/", "docs/", "integrations/", "serve/", "study/", "test_"),
    *("cli/test_evaluate.py", "cli/test_parsing", "cli/test_train.py"),
    *("decoding/test_arc_search.py", "decoding/test_labels.py", "encodings/test_graphs.py"),
    *("encodings/test_lifting.py",),
    *("models/test_make.py", "pipeline/test_columns.py", "pipeline/test_label_files.py", "pipeline/test_train.py"),
    *("tagger/test_export.py", "tagger/test_training.py", "tokenizer/test_training.py"),
)
SLOW_FIXTURES = {"treebanks", "treebank_file"}
FAST = ("test_layers.py",)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what `make test-fast` leaves out."""
    for item in items:
        path = item.path.relative_to(ROOT / "tests").as_posix()
        if path not in FAST and (path.startswith(SLOW) or SLOW_FIXTURES & set(getattr(item, "fixturenames", ()))):
            item.add_marker("slow")


def pytest_sessionstart(session: pytest.Session) -> None:
    """Compile before the processes that run tests are started."""
    if not hasattr(session.config, "workerinput"):
        compile_once()


@pytest.fixture(scope="session", autouse=True)
def short_tokenizer_trainings() -> Iterator[None]:
    """An epoch of UDPipe's tokenizer has as many segments for a small treebank as for a large one."""
    with mock.patch.dict(TOKENIZER, {"dimension": 16, "segment_size": 20}):
        yield


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command of `biplanar` in this process."""

    def run(*arguments: object, stdin: str = "") -> Result:
        monkeypatch.setattr(sys, "argv", ["biplanar", *map(str, arguments)])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        with pytest.raises(SystemExit) as left:
            main()
        return Result(left.value.code or 0, *capsys.readouterr())

    return run


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Programs that are started heed SIGINT, even where a shell runs the tests in the background and so ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session")
def treebanks() -> Path:
    """The folder of the treebanks; tests that ask for it are skipped where there is none."""
    if not treebank_files():
        pytest.skip(f"no treebanks (UD_*/*.conllu.xz) in {treebanks_folder()}; set BIPLANAR_TREEBANKS to their folder")
    return treebanks_folder()


@pytest.fixture(params=[str(path.relative_to(treebanks_folder())) for path in treebank_files()] or ["none"])
def treebank_file(request: pytest.FixtureRequest, treebanks: Path) -> Path:
    """Each file of each treebank in turn."""
    return treebanks / request.param
