"""Score models on the treebank they were trained on: dev and test, gold words and raw text.

    python -m study.models ../shared/ud-2.16/UD_English-EWT -m transformer/1=FOLDER -m transformer/2=FOLDER

A model is given as NAME/SEED=FOLDER. Scores are stored in study/results/models.json, with the model's settings.
docs/network.md says how the stored models were trained.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import biplanar
from biplanar.pipeline.model_folder import ModelFolder
from study.bundled import scores_of
from study.common import RESULTS, command, read_json, write_json
from study.fingerprint import fingerprint

STORED = RESULTS / "models.json"


def measure(folder: Path, treebank: Path) -> dict[str, Any]:
    """Scores, size, and what they were measured with."""
    parser, settings = biplanar.load(folder), ModelFolder(folder).read_settings()[0].to_dict()
    settings["network"].pop("transformer")  # which names a folder
    files = (path for path in (folder / "int8").rglob("*") if path.is_file())
    return {
        "fingerprint": fingerprint(settings) | {"data": _release(treebank)},
        "scores": scores_of(parser, lambda split: next(treebank.glob(f"*-{split}.conllu*"))),
        "bytes": sum(path.stat().st_size for path in files),
    }


def _release(treebank: Path) -> str:
    return treebank.resolve().parent.name.replace("ud-", "UD ")


def main(arguments: Sequence[str]) -> None:
    """Measure and store."""
    parser = argparse.ArgumentParser(prog="python -m study.models", description="Score models.")
    parser.add_argument("treebank", type=Path, help="its folder, in one that is named like ud-2.16")
    parser.add_argument("-m", "--model", action="append", required=True, metavar="NAME/SEED=FOLDER")
    given = parser.parse_args(arguments)
    stored = read_json(STORED) if STORED.exists() else {}
    for model in given.model:
        name, _, folder = model.partition("=")
        key = f"{_release(given.treebank)}/{given.treebank.resolve().name}/{name}"
        stored[key] = measure(Path(folder), given.treebank)
        write_json(dict(sorted(stored.items())), STORED)
        print(key, stored[key]["scores"]["dev"]["gold words"]["LAS"], flush=True)


if __name__ == "__main__":
    command(main, "models")
