"""Trainings by two processes on the CPU, as `torchrun` starts them."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from biplanar.pipeline.model_folder import ModelFolder
from biplanar.pipeline.train import read_log
from biplanar.tagger.weights import read_tensors
from tests.commands import Run
from tests.paths import ROOT

TREEBANK = ROOT / "examples" / "tiny.conllu"
SETTINGS = {
    "network.word_dim": 8,
    "network.char_dim": 4,
    "network.char_hidden": 8,
    "network.hidden": 16,
    "network.layers": 1,
    "network.arc_dim": 8,
    "network.dropout": 0,
    "network.word_dropout": 0,
    "training.batch_words": 60,
    "training.evaluations": 12,
    "segmenter.kind": "none",
}
TRAIN = ["train", "--train", str(TREEBANK), "--dev", str(TREEBANK), "--device", "cpu", "--threads", "1"]
TRAIN += [f"--{name}={value}" for name, value in SETTINGS.items()]

PARTS = ("config.toml", "vocab.json", "model.safetensors", "README.md", "SHA256SUMS", "int8", "onnx")


def start(*options: str) -> subprocess.Popen[str]:
    """Two processes in a group of their own, so that signals reach no others."""
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    return subprocess.Popen(
        [*torchrun, "-m", "biplanar", *TRAIN, *options],
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def wait_for(process: subprocess.Popen[str], line: str) -> None:
    assert process.stderr
    assert any(re.match(line, one) for one in process.stderr)


def rest(process: subprocess.Popen[str]) -> str:
    return process.communicate(timeout=60)[1]  # much less than any of these trainings takes without being ended


def workers_of(process: subprocess.Popen[str]) -> dict[int, int]:
    """The processes that take part, by their ranks."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    ranks = {}
    for child in children:
        found = re.search(rb"\0RANK=(\d+)\0", Path(f"/proc/{child}/environ").read_bytes())
        if found:
            ranks[int(found[1])] = int(child)
    return ranks


@pytest.mark.usefixtures("interruptible")
def test_two_processes_that_are_interrupted_and_resumed_give_what_one_gives(run: Run, tmp_path):
    one, two = (ModelFolder(tmp_path / name) for name in ("one", "two"))
    assert run(*TRAIN, "--training.epochs=12", "-o", one.path).code == 0
    process = start("--training.epochs=12", "-o", str(two.path))
    wait_for(process, "epoch 2/12 ")
    os.killpg(process.pid, signal.SIGINT)
    assert "--resume continues" in rest(process)
    assert process.returncode
    assert not two.config.exists()
    process = start("--training.epochs=12", "-o", str(two.path), "--resume")
    told = rest(process)
    assert process.returncode == 0, told
    assert told.startswith("resuming after epoch ")
    assert told.count("epoch 12/12 ") == 1  # by one process
    assert {name: (two.path / name).exists() for name in PARTS} == dict.fromkeys(PARTS, True)
    for mine, other in zip(read_log(one), read_log(two), strict=True):
        assert mine.epoch == other.epoch
        assert mine.loss == pytest.approx(other.loss, rel=1e-3)
    (expected, _), (found, _) = read_tensors(one.checkpoint), read_tensors(two.checkpoint)
    for name in expected:
        if name.startswith("network."):
            assert found[name].numpy() == pytest.approx(expected[name].numpy(), abs=5e-3), name


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
def test_a_killed_process_ends_the_others(tmp_path):
    process = start("--training.epochs=2000", "--training.evaluations=2000", "-o", str(tmp_path / "model"))
    wait_for(process, "epoch ")
    os.kill(workers_of(process)[1], signal.SIGKILL)
    told = rest(process)
    assert process.returncode
    assert re.search(r"another process of this training has ended|SIGKILL", told)
