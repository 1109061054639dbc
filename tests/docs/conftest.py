"""A folder with all files that the pages name, and how their commands run in it."""

from __future__ import annotations

import gzip
import itertools
import lzma
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import typer

import biplanar
from biplanar.cli import app
from biplanar.pipeline.model_folder import ModelFolder
from biplanar.tokenizer.udpipe import TOKENIZER
from tests.commands import Run
from tests.paths import ROOT, TINY

EXAMPLES = ROOT / "examples"
TEXT = b"They came. It rained.\n\nWho did you say that she saw?\n"

# Trainings are only to run, not to learn.
SMALL = {
    "--training.epochs": "1",
    "--segmenter.updates": "5",
    "--segmenter.hidden": "8",
    "--network.layers": "1",
    "--network.word_dim": "8",
    "--network.char_hidden": "8",
    "--network.hidden": "8",
    "--network.arc_dim": "4",
    "--network.column_hidden": "4",
    "--network.output_hidden": "8",
    "--device": "cpu",
}

Terminal = Callable[[str], str]


@pytest.fixture
def terminal(run: Run, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Runs a line and gives what it prints: commands of `biplanar` in this process, also within a pipe."""
    for option, value in {"dimension": 16, "segment_size": 10}.items():
        monkeypatch.setitem(TOKENIZER, option, value)

    def type_in(line: str) -> str:
        printed = ""
        for part in re.split(r"\s\|\s", line):
            program, *arguments = shlex.split(part)
            if program == "biplanar":
                result = run(*possible_here(arguments), stdin=printed)
                assert result.code == 0, result.err
                if arguments[0] == "train":
                    give_tokenizer(Path(output_of(arguments)))
                printed = result.out + ("" if result.out else result.err)
            else:
                assert program == "printf", f"{line}: cannot be tested"
                printed = subprocess.run(["bash", "-c", part], capture_output=True, text=True, check=True).stdout
        return printed

    return type_in


def possible_here(arguments: list[str]) -> list[str]:
    """A command that ends soon, on a small machine without a GPU."""
    command, *rest = shlex.split(re.sub("--workers 8", "--workers 1", shlex.join(arguments)).replace(" cuda ", " cpu "))
    if command == "serve":  # would not end: only its arguments are read
        typer.main.get_command(app).commands[command].make_context(command, rest)
        return ["serve", "--help"]
    if command == "train":
        if "--resume" not in rest:
            shutil.rmtree(output_of(rest), ignore_errors=True)
        rest += itertools.chain.from_iterable(option for option in SMALL.items() if option[0] not in rest)
    return [command, *rest]


def output_of(arguments: list[str]) -> str:
    """The folder that a training makes."""
    return arguments[arguments.index("-o") + 1]


def give_tokenizer(folder: Path) -> None:
    """The English one, where none was trained, as that takes long."""
    if not ModelFolder(folder).takes_text:
        ModelFolder(folder).segmenter.path.symlink_to(biplanar.load().folder.segmenter.path)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of one's own, with the tokenizer of the English one."""
    from biplanar.pipeline.train import Data, train_model
    from biplanar.tagger.config import read_config

    model = ModelFolder(tmp_path_factory.mktemp("docs") / "my-model")
    settings = {option.removeprefix("--"): value for option, value in SMALL.items() if "." in option}
    data = Data([str(EXAMPLES / "tagged.conllu")], str(EXAMPLES / "tagged.conllu"))
    for _ in train_model(data, read_config(None, settings), model, device="cpu"):
        pass
    give_tokenizer(model.path)
    return model.path


@pytest.fixture
def folder(tmp_path: Path, trained: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Has all files that the pages name, and is where commands begin."""
    monkeypatch.chdir(tmp_path)
    write_treebanks(tmp_path)
    for name in ("corpus", "text", "in", "a", "b"):
        (tmp_path / f"{name}.txt").write_bytes(TEXT)
    for name in ("words", "tokens"):
        (tmp_path / f"{name}.txt").write_text("Nobody came .\nIt rained .\n")
    (tmp_path / "corpus.txt.gz").write_bytes(gzip.compress(TEXT))
    (tmp_path / "predicted.tsv").write_text("w1\t_\t_\troot\nw2\t/>\t_\tnsubj\n")
    for name in ("my-model", "other-model", "teacher1", "teacher2", "teacher3"):
        shutil.copytree(trained, tmp_path / name, symlinks=True)
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    (tmp_path / "docs" / "images").mkdir(parents=True)
    return tmp_path


def write_treebanks(folder: Path) -> None:
    """Three sentences for what is trained on or judged, more for what is looked at."""
    tagged, tiny = (EXAMPLES / "tagged.conllu").read_bytes(), TINY.read_bytes()
    first_two = b"\n\n".join(tagged.split(b"\n\n")[:2]) + b"\n\n"
    for name in ("dev", "test", "parsed", "one", "other", "lt-dev"):
        (folder / f"{name}.conllu").write_bytes(tagged)
    for name in ("train", "lt", "hu", "af", "eu"):
        (folder / f"{name}.conllu").write_bytes(first_two)
    for name in ("treebank", "corpus"):
        (folder / f"{name}.conllu").write_bytes(tiny)
        (folder / f"{name}.conllu.xz").write_bytes(lzma.compress(tiny))
    (folder / "UD_Basque-BDT").mkdir()
    (folder / "UD_Basque-BDT" / "eu_bdt-ud-train.conllu").write_bytes(tiny)
    (folder / "figure1.conllu").write_text(figure1())


def figure1() -> str:
    """The tree of the paper's Figure 1."""
    heads, upos = (0, 1, 1, 2, 1, 3), ("VERB", "NOUN", "NOUN", "ADJ", "NOUN", "ADV")
    deprels = ("root", "nsubj", "obj", "amod", "obl", "advmod")
    rows = zip(range(1, 7), upos, heads, deprels, strict=True)
    return "".join(f"{n}\tw{n}\t_\t{tag}\t_\t_\t{head}\t{deprel}\t_\t_\n" for n, tag, head, deprel in rows) + "\n"
