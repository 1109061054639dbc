"""Score the bundled model on English-EWT of UD 2.16: dev and test, gold words and raw text.

    python -m study.bundled [--treebanks ../shared]

The scores are stored as study/results/bundled.json, with a digest of the model's network and vocabulary. The bundled
model is the one that `biplanar.load()` loads.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.machine import versions

import biplanar
from biplanar.data.raw_text import raw_text
from biplanar.evaluation import evaluate
from biplanar.pipeline.parser import Parser
from study.common import RESULTS, command, write_json
from study.fingerprint import of_model
from study.treebanks import BUNDLED

PACKAGES = ("numba", "numpy", "onnxruntime")


def scores_of(parser: Parser, treebank: Callable[[str], Path]) -> dict[str, Any]:
    """F1 in percent by split, source and metric, where a model takes text; `treebank` gives the file of a split."""
    scores = dict[str, Any]()
    for split in ("dev", "test"):
        gold = list(biplanar.read_conllu(treebank(split)))
        parsed = {"gold words": list(parser.pipe(gold, retag=True))}
        if parser.folder.takes_text:
            parsed["raw text"] = list(parser(raw_text(gold)))
        found = {source: evaluate(gold, sentences) for source, sentences in parsed.items()}
        scores[split] = {
            source: {metric: round(100 * score.f1, 2) for metric, score in one.scores.items()}
            for source, one in found.items()
        }
    return scores


def measure(root: Path) -> dict[str, Any]:
    """The bundled model's scores and size."""
    parser = biplanar.load()
    scores = scores_of(parser, lambda split: BUNDLED.file(split, root))
    folder = parser.folder.path
    return {
        "fingerprint": of_model(folder),
        "scores": scores,
        "bytes": sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()),
        "versions": versions(PACKAGES),
    }


def main(arguments: Sequence[str]) -> None:
    """Measure and store."""
    parser = argparse.ArgumentParser(prog="python -m study.bundled", description="Score the bundled model.")
    parser.add_argument("--treebanks", type=Path, default=Path("../shared"), help="the folder that holds ud-2.16")
    given = parser.parse_args(arguments)
    write_json(measure(given.treebanks), RESULTS / "bundled.json")


if __name__ == "__main__":
    command(main, "bundled")
