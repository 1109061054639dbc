"""`.ci/run` with stand-ins for the commands that it calls."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.paths import ROOT

SCRIPT = ROOT / ".ci" / "run"


@pytest.fixture
def commands(tmp_path) -> Path:
    """A folder with the only commands there are; each stand-in notes how it was called."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("bash", "dirname"):
        (folder / name).symlink_to(shutil.which(name))
    return folder


def stand_in(folder: Path, name: str, code: str) -> None:
    (folder / name).write_text(f"#!{folder / 'bash'}\n{code}\n", encoding="utf-8")
    (folder / name).chmod(0o755)


def run(folder: Path, user: int, *others: str) -> tuple[int, list[str], str]:
    """Exit code, the calls that were made, and standard error."""
    calls = folder.parent / "calls"
    calls.touch()
    stand_in(folder, "id", f"echo {user}")
    stand_in(folder, "make", f'echo "make $* BIPLANAR_CI=$BIPLANAR_CI" >> {calls}')
    for name in others:
        stand_in(folder, name, f'echo "{name} $*" >> {calls}')
    command = [str(folder / "bash"), str(SCRIPT)]
    done = subprocess.run(command, env={"PATH": str(folder)}, capture_output=True, text=True, check=False)
    return done.returncode, calls.read_text(encoding="utf-8").splitlines(), done.stderr


MAKE = "make check test BIPLANAR_CI=1"


@pytest.mark.parametrize("browser", ["chromium", "google-chrome"])
def test_what_is_there_is_used(commands, browser):
    assert run(commands, 0, browser, "java", "apt-get") == (0, [MAKE], "")


@pytest.mark.parametrize(
    ("there", "packages"),
    [([], "chromium default-jre-headless"), (["java"], "chromium"), (["chromium"], "default-jre-headless")],
)
def test_what_is_missing_is_installed(commands, there, packages):
    code, calls, _ = run(commands, 0, "apt-get", *there)
    assert code == 0
    assert calls == [
        "apt-get update -qq",
        f"apt-get install -qq --yes --no-install-recommends {packages}",
        MAKE,
    ]


@pytest.mark.parametrize(
    ("user", "others", "missing"),
    [
        (1000, ["apt-get"], "chromium default-jre-headless"),
        (0, [], "chromium default-jre-headless"),
        (0, ["java"], "chromium"),
    ],
)
def test_without_them_nothing_runs(commands, user, others, missing):
    code, calls, complaint = run(commands, user, *others)
    assert (code, calls) == (1, [])
    assert complaint.startswith(".ci/run: expected a browser (chromium) for the tests of the page and Java ")
    assert f"found no {missing}; installing needs root" in complaint
