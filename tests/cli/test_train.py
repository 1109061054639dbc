"""`biplanar train` from the outside: what it tells on the way, and what Ctrl-C leaves behind."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

import biplanar
from tests.commands import Run
from tests.paths import ROOT

CONTROL = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")  # colours and movements of the cursor
TINY = str(ROOT / "examples" / "tiny.conllu")
SMALL = (
    *("--network.hidden", "8", "--network.layers", "1", "--network.char_hidden", "4"),
    *("--network.output_hidden", "none", "--training.batch_words", "60"),
    *("--segmenter.kind", "none", "--device", "cpu"),
)


def start(folder, *options: str, stderr: int = subprocess.PIPE) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "biplanar", "train", "--train", TINY, "--dev", TINY, "-o", str(folder)]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    return subprocess.Popen([*command, *SMALL, *options], stdout=subprocess.PIPE, stderr=stderr, env=environment)


def train(run: Run, folder, *options: str) -> list[str]:
    """Train in this process, which has imported PyTorch already; the lines that are shown."""
    code, out, err = run("train", "--train", TINY, "--dev", TINY, "-o", folder, *SMALL, *options)
    assert (code, out) == (0, "")
    return [line for line in err.splitlines() if "compiling" not in line]  # told when it takes seconds


def interrupted(folder, wanted: str, *options: str) -> tuple[int, str]:
    """Press Ctrl-C when a line with this start has come; the exit code and the last line."""
    with start(folder, *options) as process:
        for line in process.stderr:
            if line.decode().startswith(wanted):
                process.send_signal(signal.SIGINT)
                break
        rest = process.stderr.read().decode().splitlines()
    return process.returncode, rest[-1]


def test_a_line_for_each_stage_evaluation_and_score_where_there_is_no_terminal(run, tmp_path):
    lines = train(run, tmp_path, "--training.epochs", "3")
    assert [re.sub(r"  loss .*| UAS .*", "", line) for line in lines] == [
        "training: 190 words, 3 epochs, on cpu",
        "epoch 1/3",
        "epoch 2/3",
        "epoch 3/3",
        "exporting the network",
        "choosing the weights of decoding",
        "evaluating on dev",
        "dev, gold words:",
        f"biplanar: the model is in {tmp_path}; its card is {tmp_path / 'README.md'}",
    ]


def test_a_bar_with_epochs_batches_and_the_time_left_on_a_terminal(tmp_path):
    screen, keyboard = pty.openpty()
    with start(tmp_path, "--training.epochs", "40", "--training.evaluations", "1", stderr=keyboard):
        os.close(keyboard)
        shown = CONTROL.sub("", "".join(_everything(screen)))
    assert re.search(r"epoch \d+/40, batch \d+/\d+, \d+ (s|min) left", shown)
    for stage in ("exporting the network", "choosing the weights of decoding", "evaluating on dev"):
        assert re.search(rf"{stage} *[━╸╺]+", shown)  # a bar, without a time that would be wrong
    assert not re.search(r"exporting[^\n]*left", shown)
    assert "None" not in shown


def _everything(screen: int) -> Iterator[str]:
    try:
        while data := os.read(screen, 1 << 16):
            yield data.decode(errors="replace")
    except OSError:  # the other end has been closed
        return


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_says_what_is_saved_and_how_to_go_on(run, tmp_path):
    epochs = ("--training.epochs", "400", "--training.evaluations", "400")
    code, last = interrupted(tmp_path, "epoch 2/400", *epochs)
    assert code == 130
    found = re.fullmatch(
        rf"biplanar: interrupted; epoch (\d+) is saved in {tmp_path / 'unfinished' / 'checkpoint.safetensors'}; "
        "the same command with --resume continues there",
        last,
    )
    assert found
    assert not list(tmp_path.rglob(".*"))
    fewer = ("--training.epochs", str(int(found[1]) + 1), "--training.evaluations", "400")
    lines = train(run, tmp_path, *fewer, "--resume")
    assert lines[0].startswith(f"resuming after epoch {found[1]}: ")
    assert lines[1].startswith(f"epoch {int(found[1]) + 1}/")


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_before_anything_is_saved(run, tmp_path):
    code, last = interrupted(tmp_path, "training: ", "--training.epochs", "5000", "--training.evaluations", "1")
    assert code == 130
    assert last.startswith("biplanar: interrupted; nothing new is saved")
    lines = train(run, tmp_path, "--training.epochs", "1")
    assert lines[1].startswith("epoch 1/1")


def test_a_kill_while_a_training_is_extended_leaves_the_old_model(run, tmp_path):
    train(run, tmp_path, "--training.epochs", "1")
    before = biplanar.load(tmp_path)([["She", "sleeps"]]).to_conllu()
    with start(tmp_path, "--training.epochs", "5", "--resume") as process:
        next(line for line in process.stderr if line.startswith(b"exporting"))
        process.kill()
    assert biplanar.load(tmp_path)([["She", "sleeps"]]).to_conllu() == before
    lines = train(run, tmp_path, "--training.epochs", "5", "--resume")
    assert lines[0].startswith("resuming after epoch 5")
    assert biplanar.load(tmp_path)([["She", "sleeps"]]).to_conllu() != before


class TestTreebankFolder:
    FILES = ("xx_x-ud-train.conllu", "xx_x-ud-dev.conllu", "xx_x-ud-test.conllu")

    @pytest.fixture
    def treebank(self, tmp_path):
        for name in self.FILES:
            (tmp_path / name).symlink_to(TINY)
        return tmp_path

    def train(self, run, *arguments):
        return run("train", *arguments, "--training.epochs", "1", *SMALL)

    @pytest.mark.parametrize("folder_first", [True, False])
    def test_its_files_are_found_by_their_names(self, run, treebank, folder_first):
        names = (treebank, "paper") if folder_first else ("paper", treebank)
        result = self.train(run, *names, "-o", treebank / "model")
        assert result.code == 0
        card = (treebank / "model" / "README.md").read_text()
        assert "| trained on | xx_x-ud-train.conllu |" in card
        assert "| test, gold words |" in card
        assert "| encoding | 2p-greedy |" in card

    @pytest.mark.parametrize(("missing", "wanted"), [(FILES[1], "no dev file"), (FILES[0], "no training file")])
    def test_a_missing_file(self, run, treebank, missing, wanted):
        (treebank / missing).unlink()
        result = self.train(run, treebank)
        assert result.code == 2
        assert wanted in result.err

    def test_several_files(self, run, treebank):
        (treebank / "yy-ud-train.conllu").symlink_to(TINY)
        result = self.train(run, treebank)
        assert result.code == 2
        assert "xx_x-ud-train.conllu, yy-ud-train.conllu" in result.err

    def test_neither_name_is_a_folder(self, run, tmp_path):
        result = self.train(run, tmp_path / "UD_Test", "paper")
        assert result.code == 2
        assert f"{tmp_path / 'UD_Test'}: no files named" in result.err

    def test_no_files(self, run, tmp_path):
        result = self.train(run, tmp_path)
        assert result.code == 2
        assert f"{tmp_path}: no files named *-train.conllu" in result.err
