"""Every block of code in README and docs runs.

Commands of `biplanar` run as they stand, in a folder that has the files which they name; trainings are made short.
What would take minutes (benchmarks, studies) or change the machine (`pip`, `make`) is asked whether it knows the options,
extras and targets that are named. Pages with sessions of Python are doctests. What is only shown must be what the
command in `SHOWN` prints.
"""

from __future__ import annotations

import doctest
import gzip
import lzma
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from biplanar.serve.models import Models
from tests.commands import Run
from tests.docs.blocks import PAGES, Block, blocks_of
from tests.paths import ROOT, TINY
from tests.serve.conftest import serving
from tests.serve.tiny import ALL_COLUMNS, train_tiny

# Pages whose blocks run in tests of their own.
ELSEWHERE = {"large-files.md", "scale.md"}  # tests/bulk/test_docs.py
SESSIONS = {"encodings.md", "objects.md", "spacy.md", "tutorial.md"}  # of Python

# What prints a block that is only shown; the block may leave lines out, but not change them.
SHOWN = {
    "README.md": {
        "     ": "parse --text 'A hearing is scheduled on the issue today.' --output tree",
        "1\tThe": "parse --text 'The women were running.'",
    },
    "encodings.md": {"root\n": "draw figure1.conllu --first 1"},
}

# Trainings are only to run, not to learn.
SMALL = ["--training.epochs=1", "--training.segmenter_epochs=0", "--network.hidden=8", "--network.layers=1", "--network.char_hidden=4", "--network.arc_dim=4", "--network.column_hidden=4", "--network.output_hidden=8", "--device=cpu"]

ALL = [block for page in PAGES if page.name not in ELSEWHERE for block in blocks_of(page)]
SHELL = [block for block in ALL if not block.language]


def is_shown(block: Block) -> bool:
    return any(block.code.startswith(start) for start in SHOWN.get(block.page.name, ()))


def is_for_server(block: Block) -> bool:
    return "curl" in block.code


COMMANDS = [block for block in SHELL if not is_shown(block) and not is_for_server(block)]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of one's own."""
    return train_tiny(tmp_path_factory.mktemp("docs") / "my-model", columns=ALL_COLUMNS)


@pytest.fixture
def folder(tmp_path: Path, trained: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Has all files that the pages name."""
    tiny, texts = TINY.read_bytes(), b"Nobody came. It rained.\n\nWho did you say that she saw?\n"
    names = ["train", "dev", "test", "parsed", "one", "other", "treebank", "corpus", "lt", "hu", "af", "eu", "lt-dev", "TEST", "TRAIN", "DEV"]
    for name in names:
        (tmp_path / f"{name}.conllu").write_bytes(tiny)
    for name in ("corpus", "text", "in", "a", "b"):
        (tmp_path / f"{name}.txt").write_bytes(texts)
    (tmp_path / "words.txt").write_text("Nobody came .\nIt rained .\n")
    (tmp_path / "corpus.txt.gz").write_bytes(gzip.compress(texts))
    for name in ("corpus", "treebank"):
        (tmp_path / f"{name}.conllu.xz").write_bytes(lzma.compress(tiny))
    (tmp_path / "UD_Basque-BDT").mkdir()
    (tmp_path / "UD_Basque-BDT" / "eu_bdt-ud-train.conllu").write_bytes(tiny)
    (tmp_path / "figure1.conllu").write_text(figure1())
    (tmp_path / "predicted.tsv").write_text("w1\t_\t_\troot\nw2\t/>\t_\tnsubj\n")
    for name in ("my-model", "other-model", "teacher1", "teacher2", "teacher3"):
        shutil.copytree(trained, tmp_path / name)
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    (tmp_path / "docs" / "images").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def figure1() -> str:
    heads, upos = (0, 1, 1, 2, 1, 3), ("VERB", "NOUN", "NOUN", "ADJ", "NOUN", "ADV")
    deprels = ("root", "nsubj", "obj", "amod", "obl", "advmod")
    rows = zip(range(1, 7), upos, heads, deprels, strict=True)
    return "".join(f"{n}\tw{n}\t_\t{tag}\t_\t_\t{head}\t{deprel}\t_\t_\n" for n, tag, head, deprel in rows) + "\n"


def run_biplanar(run: Run, command: list[str]) -> str:
    if command[0] == "serve":
        command = ["serve", "--help"]  # it would not end
    if command[0] == "train":
        shutil.rmtree(command[command.index("-o") + 1], ignore_errors="--resume" in command)
        given = {word.partition("=")[0] for word in command}
        command = [word.replace("...", "train.conllu") for word in command]
        command += [option for option in SMALL if option.partition("=")[0] not in given]
    result = run(*command)
    assert result.code == 0, result.err
    return result.out


def check_module(command: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A benchmark or a study: whether it has the options."""
    module, *arguments = command
    monkeypatch.syspath_prepend(str(ROOT))
    monkeypatch.setattr(sys, "argv", [module, *arguments[:1], "--help"] if "peers" in module else [module, "--help"])
    with pytest.raises(SystemExit) as left:
        runpy.run_module(module, run_name="__main__")
    assert not left.value.code
    printed = capsys.readouterr().out
    options = {word.partition("=")[0] for word in arguments if re.match(r"--?[a-z]", word) and "." not in word}
    assert all(option in printed for option in options), (options, printed)


def check_pip(command: list[str]) -> None:
    """Only extras that there are."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for extras in re.findall(r"\[(.*?)\]", " ".join(command)):
        assert set(extras.split(",")) <= set(project["optional-dependencies"])


@pytest.mark.parametrize("block", COMMANDS, ids=lambda block: block.name)
def test_commands(
    block: Block, folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    makefile = (ROOT / "Makefile").read_text()
    for line in block.commands():
        program, *command = shlex.split(line)
        if set("|>") & set(command):
            done = subprocess.run(["bash", "-c", line], cwd=folder, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
        elif program == "biplanar":
            run_biplanar(run, command)
        elif program == "python" and command[0] == "-m":
            check_module(command[1:], monkeypatch, capsys)
        elif program == "pip":
            check_pip(command)
        else:
            assert program == "make", line
            assert re.search(rf"^{command[0]}:", makefile, re.MULTILINE)


def assert_printed(shown: list[str], printed: str) -> None:
    """All lines in their order; `...` stands for any."""
    lines = [line.rstrip() for line in printed.splitlines()]
    at = 0
    for line in shown:
        if line not in ("...", "…"):
            assert line in lines[at:], line
            at = lines.index(line, at) + 1


@pytest.mark.parametrize("block", [one for one in SHELL if is_shown(one)], ids=lambda block: block.name)
def test_what_is_shown(block: Block, folder: Path, run: Run) -> None:  # noqa: ARG001
    (command,) = (line for start, line in SHOWN[block.page.name].items() if block.code.startswith(start))
    labels = [line for line in block.code.splitlines() if not line.startswith("plane")]
    assert_printed([line.rstrip() for line in labels], run_biplanar(run, shlex.split(command)))


PRINTED = [
    one
    for one in COMMANDS
    if one.is_session and one.code.count("$ ") == 1 and one.page.name not in ("training.md", "evaluation.md")
]


@pytest.mark.parametrize("block", PRINTED, ids=lambda block: block.name)
def test_what_a_command_prints(block: Block, folder: Path) -> None:
    (command,) = block.commands()
    done = subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert_printed(block.shown(), done.stdout + done.stderr)


@pytest.mark.skipif(shutil.which("curl") is None, reason="no curl")
def test_the_server(folder: Path) -> None:
    """What is sent to it is answered; what it answers is checked in tests/serve."""
    with serving(Models.load([])) as served:
        for block in filter(is_for_server, SHELL):
            for command in re.findall(r"^\$ (.*?)(?=^\S|\Z)", _joined(block.code), re.MULTILINE | re.DOTALL):
                here = command.replace("http://localhost:8001", served.address).replace(
                    "localhost:8001", served.address
                )
                here = here.replace("curl -s", "curl -sS --fail")
                done = subprocess.run(["bash", "-c", here], cwd=folder, capture_output=True, text=True, check=False)
                assert done.returncode == 0, (command, done.stderr)


def _joined(code: str) -> str:
    """Commands of several lines, whose further lines are set in or begin within quotes, as one."""
    lines: list[str] = []
    for line in code.replace("\\\n", " ").splitlines():
        if lines and lines[-1].startswith("$ ") and (lines[-1].count("'") % 2 or lines[-1].endswith("|")):
            lines[-1] += "\n" + line
        else:
            lines.append(line)
    return "\n".join(lines) + "\n"


PLAIN = [one for one in ALL if one.language == "python" and not one.is_session]


@pytest.mark.parametrize("page", sorted({block.page for block in PLAIN}), ids=lambda page: page.name)
def test_scripts(page: Path, folder: Path) -> None:  # noqa: ARG001
    """The blocks of a page, one after the other, with the names that the page speaks of."""
    import biplanar

    sentence = next(biplanar.read_conllu("examples/tagged.conllu"))
    names = {
        "biplanar": biplanar,
        "sentence": sentence,
        "forms": list(sentence.forms),
        "tree": sentence.tree,
        "gold": sentence.tree,
        "system": sentence.tree,
        "planes": biplanar.planes_of(sentence.tree, "2p-prop"),
    }
    for block in PLAIN:
        if block.page == page:
            code = block.code.replace("[...]", "[*forms]")
            exec(compile(code, block.name, "exec"), names)


@pytest.mark.parametrize("page", sorted(SESSIONS & {path.name for path in PAGES}))
def test_sessions(page: str, folder: Path) -> None:  # noqa: ARG001
    result = doctest.testfile(str(ROOT / "docs" / page), module_relative=False, encoding="utf-8")
    assert result.attempted > 10
    assert result.failed == 0


def test_no_block_is_left_out() -> None:
    tested = [*COMMANDS, *PLAIN, *(one for one in SHELL if is_shown(one) or is_for_server(one))]
    sessions = [one for one in ALL if one.language == "python" and one.is_session]
    assert {one.page.name for one in sessions} <= SESSIONS
    assert len(tested) + len(sessions) == len(ALL) > 40
