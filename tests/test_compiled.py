"""The cache of compiled functions: where it is, what it notices, and what is said while it is filled."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import biplanar
from biplanar import compiled

PARSE = [sys.executable, "-m", "biplanar", "encode", "-e", "1p-brackets"]
SENTENCE = "1\tNobody\t_\t_\t_\t_\t2\tnsubj\t_\t_\n2\tcame\t_\t_\t_\t_\t0\troot\t_\t_\n\n"


def copied_package(folder: Path) -> Path:
    """A copy without caches and without the model, which would take longer to copy than to compile."""
    source = Path(biplanar.__file__).parent
    shutil.copytree(source, folder / "biplanar", ignore=shutil.ignore_patterns("__pycache__", "models"))
    return folder / "biplanar"


def encode(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    known = {name: value for name, value in os.environ.items() if name not in ("XDG_CACHE_HOME", "NUMBA_CACHE_DIR")}
    return subprocess.run(
        PARSE,
        input=SENTENCE,
        env={**known, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1", **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def machine_code(folder: Path) -> set[Path]:
    return set(folder.rglob("*.nbc"))


def test_a_change_in_any_compiled_module_is_noticed(tmp_path):
    package = copied_package(tmp_path)
    assert encode(tmp_path).returncode == 0
    before = machine_code(package)
    assert before
    assert encode(tmp_path).returncode == 0
    assert machine_code(package) == before
    with (package / "data" / "arrays.py").open("a", encoding="utf-8") as stream:
        stream.write("# changed\n")
    assert encode(tmp_path).returncode == 0
    assert machine_code(package)
    assert not machine_code(package) & before  # what was compiled of other sources is gone


def test_without_a_writable_place_a_temporary_one_serves(tmp_path):
    package = copied_package(tmp_path)
    (package / "__pycache__").write_text("no folder can be here")  # root may write into any folder
    nowhere = tmp_path / "home"
    nowhere.write_text("no folder can be here")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    process = encode(tmp_path, HOME=str(nowhere), TMPDIR=str(temporary))
    assert process.returncode == 0, process.stderr
    assert "Nobody\t" in process.stdout
    assert "NUMBA_CACHE_DIR" in process.stderr
    assert "Traceback" not in process.stderr
    assert not machine_code(tmp_path)  # removed when the process ended


def test_an_own_folder_can_be_named(tmp_path):
    package = copied_package(tmp_path)
    assert encode(tmp_path, NUMBA_CACHE_DIR=str(tmp_path / "own")).returncode == 0
    assert machine_code(tmp_path / "own")
    assert not machine_code(package)


def test_slow_compilation_is_told_once(tmp_path):
    """The package is below the temporary folder here, but what is compiled is kept beside it."""
    copied_package(tmp_path)
    first, second = (encode(tmp_path, TMPDIR=str(tmp_path)) for _ in range(2))
    assert first.stderr.count("biplanar: compiling for this machine") == 1
    assert "NUMBA_CACHE_DIR" not in first.stderr
    assert "compiling" not in second.stderr


def test_other_users_of_numba_keep_their_caches():
    before = compiled.numba.config.CACHE_DIR
    compiled.compiled()(lambda: 1)
    assert before == compiled.numba.config.CACHE_DIR


ADDED = """
def added(number):
    return number + {}


def twice(function, number):
    return function(function(number))


if __name__ == "__main__":
    from biplanar.compiled import compiled, compiled_function

    print(compiled()(twice)(compiled_function(added), 1), end="")
"""


def test_functions_among_the_arguments_are_told_by_their_files(tmp_path):
    """What was compiled for one is found by the next process, and not by one in which the function has changed."""
    script, folder = tmp_path / "added.py", tmp_path / "own"
    known = {**os.environ, "NUMBA_CACHE_DIR": str(folder), "PYTHONPATH": str(Path(biplanar.__file__).parent.parent)}

    def run(number: int) -> str:
        if not script.exists() or ADDED.format(number) != script.read_text():
            script.write_text(ADDED.format(number))
        return subprocess.run([sys.executable, script], env=known, capture_output=True, text=True, check=True).stdout

    assert run(1) == "3"
    before = machine_code(folder)
    assert before
    assert run(1) == "3"
    assert machine_code(folder) == before
    assert run(20) == "41"


def test_what_calls_kept_code_is_compiled_alone(tmp_path):
    """The code of a function may be kept, and not that of one which hands it another function."""
    module = tmp_path / "calls.py"
    module.write_text(
        "from biplanar.compiled import compiled\n\n\n"
        "@compiled()\ndef added(number):\n    return number + 1\n\n\n"
        "@compiled()\ndef applied(pair, number):\n    return pair[0](number) + pair[1]\n\n\n"
        "@compiled()\ndef inner(pair, number):\n    return applied(pair, number)\n\n\n"
        "@compiled()\ndef outer(pair, number):\n    return applied(pair, number) * 2\n"
    )

    def run(name: str) -> str:
        program = f"import calls; print(calls.{name}((calls.added, 5), 1))"
        environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(tmp_path)}
        done = subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False
        )
        return done.stdout or done.stderr[-300:]

    assert run("inner") == "7\n"
    assert run("outer") == "14\n"


def test_functions_without_a_file_are_compiled_all_the_same():
    named: dict[str, Callable[[int], int]] = {}
    exec("def added(number):\n    return number + 5", named)
    function = compiled.compiled_function(named["added"])
    assert compiled.compiled()(lambda other, number: other(number))(function, 1) == 6
