"""What is released: sdist and wheel, what is in them, and how they work on every Python that this machine has."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from functools import cache
from pathlib import Path

import pytest
import yaml

import biplanar
from tests.paths import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
OLDEST = int(PROJECT["requires-python"].removeprefix(">=3."))

# Whether a Python can have environments, and is a final release with the usual lock.
PROBE = """
import ensurepip, sys, sysconfig, venv
sys.exit(sys.version_info.releaselevel != "final" or bool(sysconfig.get_config_var("Py_GIL_DISABLED")))
"""

WITHOUT_TORCH = """
import sys
import biplanar, biplanar.cli
[getattr(biplanar, name) for name in biplanar.__all__]
print("torch" in sys.modules, biplanar.__version__, biplanar.__file__)
"""


@cache
def pythons() -> dict[str, Path]:
    """A Python of each version that Biplanar supports: of the path, of pyenv, and the one that runs the tests."""
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    folders = [
        Path(sys.base_prefix) / "bin",
        *sorted(pyenv.glob("*/bin"), reverse=True),
        *map(Path, os.get_exec_path()),
    ]
    found: dict[str, Path] = {}
    for path in (path for folder in folders for path in sorted(folder.glob("python3.*"))):
        match = re.fullmatch(r"python3\.(\d+)", path.name)
        if match and int(match[1]) >= OLDEST and path.name not in found and _usable(path):
            found[path.name] = path
    return dict(sorted(found.items()))


def _usable(path: Path) -> bool:
    return (
        os.access(path, os.X_OK)
        and not subprocess.run([path, "-c", PROBE], capture_output=True, check=False).returncode
    )


def run(*command: object, cwd: Path, **more: str) -> str:
    """What a command prints on standard output, without what this process has told Python and Biplanar."""
    own = ("PYTHON", "NUMBA", "BIPLANAR", "VIRTUAL_ENV")
    env = {name: value for name, value in os.environ.items() if not name.startswith(own)}
    done = subprocess.run(list(map(str, command)), cwd=cwd, env=env | more, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def distributions(tmp_path_factory) -> Path:
    """A folder with an sdist, and a wheel that was built from it."""
    folder = tmp_path_factory.mktemp("dist")
    search = {"PYTHONPATH": os.environ.get("PYTHONPATH", "")}
    run(sys.executable, "-m", "build", "--outdir", folder, ROOT, cwd=folder, **search)
    run(sys.executable, "-m", "twine", "check", "--strict", *folder.iterdir(), cwd=folder, **search)
    return folder


@pytest.fixture(scope="module")
def wheel(distributions) -> Path:
    (path,) = distributions.glob("*.whl")
    return path


def sources() -> set[str]:
    """The files of the package, as they are named below src."""
    found = (path.relative_to(ROOT / "src") for path in (ROOT / "src" / "biplanar").rglob("*") if path.is_file())
    return {path.as_posix() for path in found if "__pycache__" not in path.parts}


def test_the_wheel_has_the_package_and_nothing_else(wheel):
    assert wheel.name == f"biplanar-{biplanar.__version__}-py3-none-any.whl"
    names = set(zipfile.ZipFile(wheel).namelist())
    about = {name for name in names if ".dist-info/" in name}
    assert names - about == sources()
    assert {"biplanar/py.typed", "biplanar/models/en/config.toml", "biplanar/models/en/int8/words.onnx"} <= names
    assert {name.partition(".dist-info/")[2] for name in about} >= {"METADATA", "entry_points.txt", "licenses/LICENSE"}


def test_the_sdist_has_what_builds_the_wheel(distributions):
    (path,) = distributions.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        names = {member.name.partition("/")[2] for member in archive if member.isfile()}
    assert {name.removeprefix("src/") for name in names if name.startswith("src/")} == sources()
    assert {"LICENSE", "README.md", "CHANGELOG.md", "CITATION.cff", "pyproject.toml", "PKG-INFO"} <= names
    assert not [name for name in names if name.startswith(("tests/", "study/", "benchmarks/", ".venv/"))]


@pytest.mark.parametrize("python", pythons())
def test_the_wheel_parses_on_each_python(python, wheel, tmp_path):
    environment = tmp_path / "environment"
    run(pythons()[python], "-m", "venv", environment, cwd=tmp_path)
    pip = (environment / "bin" / "python", "-m", "pip", "--disable-pip-version-check", "--quiet")
    run(*pip, "install", "--no-compile", wheel, cwd=tmp_path)
    assert run(environment / "bin" / "biplanar", "--version", cwd=tmp_path) == f"biplanar {biplanar.__version__}\n"
    parsed = run(environment / "bin" / "biplanar", "parse", "--text", "Nobody came.", cwd=tmp_path)
    (sentence,) = biplanar.parse_conllu(parsed)
    assert list(sentence.forms) == ["Nobody", "came", "."]
    assert list(sentence.tree.heads) == [2, 0, 2]
    torch, version, file = run(environment / "bin" / "python", "-c", WITHOUT_TORCH, cwd=tmp_path).split()
    assert (torch, version) == ("False", biplanar.__version__)
    assert Path(file).is_relative_to(environment.resolve())


def test_this_python_is_among_them():
    assert f"python3.{sys.version_info.minor}" in pythons()


def test_the_version_is_the_same_everywhere():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    newest = re.findall(r"^## \[(\d.*)\] - (.*)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)[0]
    assert (citation["version"], citation["date-released"]) == newest
    assert citation["version"] == biplanar.__version__
    assert citation["license"] == PROJECT["license"]


@pytest.mark.parametrize(
    "path", sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml")), ids=lambda path: path.stem
)
def test_a_form_for_issues_is_whole(path):
    form = yaml.safe_load(path.read_text(encoding="utf-8"))
    if path.stem == "config":
        return
    assert {"name", "description", "body"} <= set(form)
    names = [field["id"] for field in form["body"]]
    assert names
    assert len(names) == len(set(names))
    for field in form["body"]:
        assert field["type"] in {"input", "textarea"}
        assert field["attributes"]["label"]


def test_install_names_the_pythons_that_are_declared():
    declared = [one.rpartition(" ")[2] for one in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", one)]
    page = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    assert f"tested on {', '.join(declared[:-1])} and {declared[-1]}" in page
