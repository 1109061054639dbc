"""Make the tiny model of the format that this version writes: `python -m tests.pipeline.formats.make`."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import biplanar
from biplanar.encodings.lemmas import LemmaDictionary
from biplanar.pipeline.model_folder import FORMAT_VERSION, ModelFolder

HERE = Path(__file__).parent
TREEBANK = HERE / "treebank.conllu"
WIDTHS = ("word_dim", "char_dim", "char_hidden", "form_dim", "hidden", "arc_dim", "relation_hidden")
SETTINGS = dict.fromkeys((f"network.{name}" for name in WIDTHS), "10") | {
    "network.layers": "1",
    "network.dropout": "0",
    "network.word_dropout": "0",
    "training.epochs": "400",
    "training.evaluations": "1",
    "training.learning_rate": "0.01",
    "vocabulary.min_form_count": "1",
    "vocabulary.min_char_count": "1",
}

# What a training leaves that is not needed to parse, or larger than the rest together.
LEFT_OUT = ("onnx", "checkpoint.safetensors", "segmenter/checkpoint.safetensors", "curves.png", "log.jsonl")


def make(*more: str) -> ModelFolder:
    """Train a model that knows the treebank by heart, and store what it makes of words and of raw text."""
    folder = ModelFolder(HERE / str(FORMAT_VERSION))
    options = [part for name, value in SETTINGS.items() for part in (f"--{name}", value)]
    files = ["--train", str(TREEBANK), "--dev", str(TREEBANK), "--licence", "CC0", "--output", str(folder.path)]
    command = [sys.executable, "-m", "biplanar", "train", "fast", "--device", "cpu", *files, *options, *more]
    subprocess.run(command, check=True)
    for name in LEFT_OUT:
        path = folder.path / name
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    gold = list(biplanar.read_conllu(TREEBANK))
    folder.write_lemmas(LemmaDictionary.of(gold))  # which a training keeps only where they help
    folder.write_checksums()
    parser = biplanar.load(folder.path)
    biplanar.write_conllu(parser.pipe([list(one.forms) for one in gold]), folder.path / "words.conllu")
    text = " ".join(one.text or "" for one in gold)
    (folder.path / "text.conllu").write_text("".join(one.to_conllu() for one in parser(text)), encoding="utf-8")
    return folder


if __name__ == "__main__":
    make(*sys.argv[1:])
