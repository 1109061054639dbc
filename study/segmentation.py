"""Train UDPipe's tokenizer on the treebanks of the packaged models, and score it on raw text.

    python -m study.segmentation cy gd [--treebanks ../shared] [--workers 2]
    python -m study.segmentation ../shared/ud-2.4/UD_Basque-BDT

docs/segmentation.md shows it beside the segmenters of these models. On a treebank that is given as a folder, one of our
own segmenters is trained as well, by its default settings. Scores are stored in study/results/segmentation.json. A
treebank without a dev file lends the last eighth of its training file.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from biplanar.data.conllu import Sentence
from biplanar.data.raw_text import raw_text
from biplanar.data.tree import Tree
from biplanar.errors import UnknownNameError
from biplanar.evaluation import evaluate
from biplanar.evaluation.statistics import split_files
from biplanar.pipeline.loading import load_segmenter
from biplanar.pipeline.model_folder import ModelFolder
from biplanar.pipeline.train import train_segmenter
from biplanar.tagger.config import TAGGER, UDPIPE, Config, SegmenterConfig
from study.common import RESULTS, command, read_json, write_json
from study.treebanks import read_splits

PACKAGED, STORED = RESULTS / "packaged.json", RESULTS / "segmentation.json"
METRICS = ("Tokens", "Words", "Sentences")


def measure(treebank: Path, kind: str) -> dict[str, Any]:
    """Train UDPipe's tokenizer, or a segmenter, and score it."""
    splits = read_splits(split_files(treebank))
    with tempfile.TemporaryDirectory() as path:
        folder, config = ModelFolder(Path(path)), Config(segmenter=SegmenterConfig(kind=kind))
        for _ in train_segmenter(folder, config, splits["train"], splits["dev"], seed=1, device="cpu", threads=1):
            pass
        segmenter = load_segmenter(folder)
        return {split: _scores(segmenter.segment(raw_text(splits[split])), splits[split]) for split in ("dev", "test")}


def _scores(found: list[Sentence], gold: list[Sentence]) -> dict[str, float]:
    flat = [one.with_tree(Tree((0, *[1] * (len(one) - 1)), ("root",) * len(one))) for one in found]
    scores = evaluate(gold, flat).scores
    return {metric: round(100 * scores[metric].f1, 2) for metric in METRICS}


def main(arguments: Sequence[str]) -> None:
    """Train and score."""
    packaged = read_json(PACKAGED)
    parser = argparse.ArgumentParser(prog="python -m study.segmentation", description="Score UDPipe's tokenizer.")
    parser.add_argument("names", nargs="+", metavar="CODE|FOLDER", help="packaged models, or treebanks")
    parser.add_argument("--treebanks", type=Path, default=Path("../shared"), help="the folder that holds ud-2.16")
    parser.add_argument("--workers", type=int, default=1)
    given = parser.parse_args(arguments)
    folders = dict[str, Path]()
    for one in given.names:
        if one in packaged:
            folders[one] = _treebank(given.treebanks, packaged[one])
        elif Path(one).is_dir():
            folders[f"{Path(one).name} {Path(one).resolve().parent.name.removeprefix('ud-')}"] = Path(one)
        else:
            raise UnknownNameError("packaged model", one, packaged)
    with ProcessPoolExecutor(given.workers, get_context("spawn")) as pool:
        jobs = {
            key: [pool.submit(measure, folder, kind) for kind in ([UDPIPE] if key in packaged else [UDPIPE, TAGGER])]
            for key, folder in folders.items()
        }
        for key, trainings in jobs.items():
            scores = dict(zip(("scores", "own"), (job.result() for job in trainings), strict=False))
            found = {"treebank": packaged[key]["treebank"] if key in packaged else key} | scores
            write_json(dict(sorted((read_json(STORED) | {key: found}).items())), STORED)
            print(key, {name: one["dev"] for name, one in scores.items()}, flush=True)


def _treebank(root: Path, packaged: dict[str, Any]) -> Path:
    """The folder of a model's treebank: ud-2.16/UD_Welsh-CCG."""
    release, name = packaged["fingerprint"]["data"].replace("UD ", "ud-"), packaged["treebank"].partition(" ")[0]
    return root / str(release) / str(name)


if __name__ == "__main__":
    command(main, "segmentation")
