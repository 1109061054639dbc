"""Train segmenters of both kinds on all treebanks that have a training file, and score them on raw text.

    python -m study.segmentation [--treebanks ../shared] [--only UD_Afrikaans] [--kinds tagger,udpipe] [--workers 2]

What study/results/segmentation.json has already is not trained again, unless settings or code have changed since.
A treebank without a dev file lends the last eighth of its training file.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from biplanar.data.conllu import Sentence
from biplanar.data.raw_text import raw_text
from biplanar.data.tree import Tree
from biplanar.evaluation import evaluate
from biplanar.pipeline.model_folder import ModelFolder
from biplanar.pipeline.train import train_segmenter
from biplanar.tagger.config import TAGGER, UDPIPE, Config, SegmenterConfig
from study.common import RESULTS, command, read_json, write_json
from study.fingerprint import of_segmenter
from study.treebanks import read_splits

RELEASES = ("ud-2.4", "ud-2.16")
NEAR = "ud-near-2.4"  # where training files are that come close to the release
STORED = RESULTS / "segmentation.json"
METRICS = ("Tokens", "Words", "Sentences")


def treebanks(root: Path) -> Iterator[tuple[str, str]]:
    """Releases and names of the treebanks with a training file."""
    for release in RELEASES:
        for folder in sorted((root / release).glob("UD_*")):
            if _file(root, release, folder.name, "train"):
                yield release, folder.name


def _file(root: Path, release: str, name: str, split: str) -> Path | None:
    near = [root / NEAR] if release == RELEASES[0] and split == "train" else []
    found = (path for folder in (root / release, *near) for path in sorted((folder / name).glob(f"*-{split}.conllu*")))
    return next(found, None)


def read(root: Path, release: str, name: str) -> dict[str, list[Sentence]]:
    """The sentences of each split."""
    files = {split: _file(root, release, name, split) for split in ("train", "dev", "test")}
    return read_splits({split: file for split, file in files.items() if file})


def measure(root: Path, release: str, name: str, kind: str) -> dict[str, Any]:
    """Train a segmenter, and score it with the files that a model ships."""
    from biplanar.pipeline.loading import load_segmenter

    splits, start = read(root, release, name), time.process_time()
    with tempfile.TemporaryDirectory() as path:
        folder, config = ModelFolder(Path(path)), Config(segmenter=SegmenterConfig(kind=kind))
        for _ in train_segmenter(folder, config, splits["train"], splits["dev"], seed=1, device="cpu", threads=1):
            pass
        seconds = time.process_time() - start
        segmenter = load_segmenter(folder)
        scores = {
            split: _scores(segmenter.segment(raw_text(splits[split])), splits[split]) for split in ("dev", "test")
        }
    words = sum(map(len, splits["train"]))
    return {"fingerprint": of_segmenter(kind), "words": words, "seconds": round(seconds), "scores": scores}


def _scores(found: list[Sentence], gold: list[Sentence]) -> dict[str, list[int]]:
    flat = [one.with_tree(Tree((0, *[1] * (len(one) - 1)), ("root",) * len(one))) for one in found]
    scores = evaluate(gold, flat).scores
    return {metric: [scores[metric].correct, scores[metric].gold, scores[metric].system] for metric in METRICS}


def main(arguments: Sequence[str]) -> None:
    """Train and score what is missing."""
    parser = argparse.ArgumentParser(prog="python -m study.segmentation", description="Compare segmenters.")
    parser.add_argument("--treebanks", type=Path, default=Path("../shared"), help="the folder that holds ud-2.4")
    parser.add_argument("--only", default="", help="treebanks whose name begins like this")
    parser.add_argument("--kinds", default=f"{TAGGER},{UDPIPE}")
    parser.add_argument("--workers", type=int, default=1)
    given = parser.parse_args(arguments)
    stored = read_json(STORED) if STORED.exists() else {}
    missing = [
        (release, name, kind)
        for release, name in treebanks(given.treebanks)
        for kind in given.kinds.split(",")
        if name.startswith(given.only)
        and stored.get(f"{release}/{name}/{kind}", {}).get("fingerprint") != of_segmenter(kind)
    ]
    with ProcessPoolExecutor(given.workers, get_context("spawn")) as pool:
        jobs = {"/".join(one): pool.submit(measure, given.treebanks, *one) for one in missing}
        for key, job in jobs.items():
            stored[key] = job.result()
            write_json(dict(sorted(stored.items())), STORED)
            print(key, stored[key]["seconds"], "s", flush=True)


if __name__ == "__main__":
    command(main, "segmentation")
