"""What `study.tagger` and `study.biaffine` share: one training on one treebank, judged on dev and test."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from biplanar.data.conllu import Sentence, read_conllu
from biplanar.errors import FileError
from biplanar.evaluation import Evaluation, evaluate
from biplanar.tagger.config import Config
from biplanar.tagger.device import choose_device
from biplanar.tagger.training import Trainer
from study.common import train_to_the_best

ACCURACIES = ("UAS", "LAS", "ExactLAS")
NONPROJECTIVE = ("NonprojectiveSentences", "NonprojectiveDependencies")

# From a trained model and sentences to the sentences as each of its decoders parses them.
Parse = Callable[[Any, list[Sentence]], Mapping[str, list[Sentence]]]


@dataclass(frozen=True)
class Data:
    """The sentences of a treebank; `treebanks` numbers the training file of each."""

    train: list[Sentence]
    treebanks: list[int]
    dev: list[Sentence]
    test: list[Sentence]

    @classmethod
    def read(cls, train: Sequence[str], dev: str, test: str) -> Data:
        """Read all files."""
        files = [list(read_conllu(path)) for path in train]
        sentences = [sentence for file in files for sentence in file]
        treebanks = [number for number, file in enumerate(files) for _ in file]
        return cls(sentences, treebanks, list(read_conllu(dev)), list(read_conllu(test)))


def read_arguments(arguments: Sequence[str], description: str) -> argparse.Namespace:
    """What is asked for, but for the settings."""
    parser = argparse.ArgumentParser(description=f"{description} Settings: --section.key VALUE")
    parser.add_argument("config", nargs="?", help="accurate, large, pure, paper, or a TOML file")
    parser.add_argument("--train", action="append", required=True, help="parsed CoNLL-U; may be given several times")
    parser.add_argument("--dev", required=True, help="parsed CoNLL-U to choose the best epoch by")
    parser.add_argument("--test", required=True, help="parsed CoNLL-U to report scores on")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda, cuda:N or mps")
    parser.add_argument("-o", "--output", required=True, type=Path, help="JSON with scores, settings and records")
    parser.add_argument("--weights", type=Path, help="write the network's weights here, as safetensors")
    return parser.parse_args(arguments)


def run(given: argparse.Namespace, config: Config, kind: type[Trainer], parse: Parse) -> dict[str, Any]:
    """Train, parse dev and test, and give all there is to know of it."""
    data, device = Data.read(given.train, given.dev, given.test), choose_device(given.device)
    trainer = kind(config, data.train, data.dev, seed=given.seed, device=device, treebanks=data.treebanks)
    start, records = time.monotonic(), []
    for record in train_to_the_best(trainer):
        records.append(record.to_dict())
        print(record, file=sys.stderr, flush=True)
    known = {"seed": given.seed, "device": str(device), "torch": torch.__version__, "config": config.to_dict()}
    known |= {"seconds": time.monotonic() - start, "records": records}
    if given.weights:
        from biplanar.tagger.weights import save_weights

        save_weights(trainer.kept, given.weights)
    scores: dict[str, dict[str, Any]] = {}
    for name, gold in (("dev", data.dev), ("test", data.test)):
        for decoder, parsed in parse(trainer, gold).items():
            found = evaluate(gold, parsed)
            print(_line_of_scores(f"{name} {decoder}", found), flush=True)
            scores.setdefault(name, {})[decoder] = _to_dict(found)
    return {"scores": scores, **known}


def _line_of_scores(name: str, scores: Evaluation) -> str:
    """In percent; precision and recall where they differ."""
    shares = [f"{metric} {100 * scores[metric].f1:.2f}" for metric in ACCURACIES]
    both = ((metric, scores[metric]) for metric in NONPROJECTIVE)
    shares += [f"{metric} P {100 * one.precision:.2f} R {100 * one.recall:.2f}" for metric, one in both]
    return "  ".join([name, *shares])


def _to_dict(scores: Evaluation) -> dict[str, Any]:
    return {metric: scores[metric].to_dict() for metric in (*ACCURACIES, *NONPROJECTIVE)}


def check_output(path: Path) -> None:
    """That the result will have a place; known now, not after hours of training."""
    if not path.parent.is_dir():
        raise FileError(f"{path.parent}: expected a folder, found none")
