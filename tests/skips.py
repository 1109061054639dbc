"""In CI, a skipped test is a failure, unless its reason is a property of the machine."""

from __future__ import annotations

import os
from collections.abc import Generator

import pytest

Report = pytest.TestReport | pytest.CollectReport

# Parts of the reasons for which tests may be skipped everywhere.
ALLOWED = ("CUDA", "there is a device", "root may")


def is_refused(report: Report) -> bool:
    """Whether this is a skip in CI, where browser, treebanks and packages must be there."""
    is_skip = report.skipped and not hasattr(report, "wasxfail")
    return is_skip and bool(os.environ.get("BIPLANAR_CI")) and not any(part in reason(report) for part in ALLOWED)


def reason(report: Report) -> str:
    """Why a test or a module was skipped."""
    return str(report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr)


def refuse(report: Report) -> None:
    """Make a skip a failure that gives the reason."""
    report.outcome = "failed"
    report.longrepr = f"BIPLANAR_CI: expected no test to be skipped, found {report.nodeid}: {reason(report)}"


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport() -> Generator[None, Report, Report]:
    """A test that is skipped, or a module as a whole."""
    report = yield
    if is_refused(report):
        refuse(report)
    return report


pytest_make_collect_report = pytest_runtest_makereport
