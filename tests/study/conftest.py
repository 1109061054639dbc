"""A tiny treebank as `study.prepare` would write it, and networks that are trained on it in a moment."""

from __future__ import annotations

import lzma
from pathlib import Path

import pytest
from study.common import pack, write_json
from study.run import Work

from biplanar import read_conllu
from tests.paths import TINY

FILES = ("train", "dev", "test", "dev.tagged", "test.tagged", "dev.raw", "test.raw")
SMALL = {
    "network.word_dim": "8",
    "network.char_dim": "4",
    "network.char_hidden": "8",
    "network.hidden": "16",
    "network.layers": "1",
    "network.arc_dim": "8",
    "auxiliary.relation_dim": "4",
    "training.epochs": "2",
    "training.batch_words": "60",
    "training.evaluations": "2",
}


def write_data(folder: Path) -> None:
    """Prepared data; the words of raw text are the gold ones."""
    folder.mkdir(parents=True)
    text, sentences = TINY.read_text(encoding="utf-8"), list(read_conllu(TINY))
    for name in FILES:
        with lzma.open(folder / f"{name}.conllu.xz", "wt", encoding="utf-8") as stream:
            stream.write(text)
    size = {"sentences": len(sentences), "words": sum(map(len, sentences))}
    lengths = pack([len(sentence) for sentence in sentences])
    splits = {"train": size} | {split: size | {"lengths": lengths} for split in ("dev", "test")}
    write_json({"splits": splits}, folder / "facts.json")


@pytest.fixture
def work(tmp_path: Path) -> Work:
    """What runs on a treebank `lt` share; they take a second each."""
    write_data(tmp_path / "data" / "lt")
    return Work("paper", tmp_path / "data", settings=SMALL)
