"""Score models on the treebank they were trained on: dev and test, gold words and raw text.

    python -m study.models ../shared/ud-2.16/UD_English-EWT -m transformer/1=FOLDER -m transformer/2=FOLDER

A model is given as NAME/SEED=FOLDER. Scores are stored in study/results/models.json, with the model's settings.
docs/network.md says how the stored models were trained; `models.package` scores those that ship.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import biplanar
from biplanar.data.conllu import Sentence
from biplanar.evaluation.statistics import split_files
from biplanar.pipeline.model_folder import ModelFolder
from biplanar.pipeline.parser import Parser
from biplanar.pipeline.train import score
from study.common import RESULTS, command, read_json, write_json
from study.fingerprint import fingerprint, model_digest
from study.treebanks import read_splits

STORED = RESULTS / "models.json"


def scores_of(parser: Parser, splits: Mapping[str, list[Sentence]]) -> dict[str, Any]:
    """F1 in percent by split (dev and test), source and metric."""
    return {split: score(parser, splits[split], metrics=None) for split in ("dev", "test")}


def measure(folder: Path, treebank: Path) -> dict[str, Any]:
    """Scores, size, and what they were measured with."""
    files = (path for path in (folder / "int8").rglob("*") if path.is_file())
    return {
        "fingerprint": _fingerprint(folder, treebank),
        "scores": scores_of(biplanar.load(folder), read_splits(split_files(treebank))),
        "bytes": sum(path.stat().st_size for path in files),
    }


def add(name: str, folder: Path, treebank: Path) -> dict[str, Any]:
    """Measure a model and store it, unless it was measured already."""
    stored = read_json(STORED) if STORED.exists() else {}
    key = f"{_release(treebank)}/{treebank.resolve().name}/{name}"
    if stored.get(key, {}).get("fingerprint") != _fingerprint(folder, treebank):
        stored[key] = measure(folder, treebank)
        write_json(dict(sorted(stored.items())), STORED)
    result: dict[str, Any] = stored[key]
    return result


def _fingerprint(folder: Path, treebank: Path) -> dict[str, Any]:
    settings = ModelFolder(folder).read_settings()[0].to_dict()
    settings["network"].pop("transformer")  # which names a folder
    return fingerprint(settings) | {"data": _release(treebank), "model": model_digest(folder)}


def _release(treebank: Path) -> str:
    return treebank.resolve().parent.name.replace("ud-", "UD ")


def main(arguments: Sequence[str]) -> None:
    """Measure and store."""
    parser = argparse.ArgumentParser(prog="python -m study.models", description="Score models.")
    parser.add_argument("treebank", type=Path, help="its folder, in one that is named like ud-2.16")
    parser.add_argument("-m", "--model", action="append", required=True, metavar="NAME/SEED=FOLDER")
    given = parser.parse_args(arguments)
    for model in given.model:
        name, _, folder = model.partition("=")
        found = add(name, Path(folder), given.treebank)
        print(name, found["scores"]["dev"]["gold words"]["LAS"], flush=True)


if __name__ == "__main__":
    command(main, "models")
