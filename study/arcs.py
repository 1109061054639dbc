"""Labels and arcs together: the default configuration, its variants, and the biaffine parser on the same encoder.

    python -m study.arcs DATA --device cuda --slots 14
    python -m study.arcs DATA --only 'hu-*' 'en-biaffine-*'

DATA has a folder for each treebank: `train`, `dev` and `test.conllu.xz`. Each result is stored as
study/results/arcs/KEY.json; what is there is not run again. With `--scores`, what the networks say of dev and test is
kept as well, so that decoders can be compared without the networks.
"""

from __future__ import annotations

import argparse
import multiprocessing
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.machine import processor, versions

from biplanar.data.conllu import Sentence, read_conllu
from biplanar.evaluation import evaluate
from biplanar.pipeline.model_folder import ModelFolder
from biplanar.tagger.config import Config, read_config
from study.common import command, split_settings, train_to_the_best, write_json
from study.plan import Run
from study.queue import RESULTS

CODES = ("en", "pt", "eu", "af", "hu")
LARGE = {"en": 40, "pt": 28}  # treebanks of 200,000 words, and their epochs
BIAFFINE = "biaffine"
NETWORKS: Mapping[str, Mapping[str, str]] = {
    "attention": {"network.attention": "true"},
    "accurate": {"network.attention": "false"},
    "pure": {"network.attention": "false", "network.arcs": "false"},
    BIAFFINE: {},
}
METRICS = ("UPOS", "XPOS", "UFeats", "AllTags", "Lemmas", "UAS", "LAS", "ExactLAS", "MLAS", "BLEX")
BOTH_SIDES = ("NonprojectiveSentences", "NonprojectiveDependencies")
ENCODING = "2p-full"


@dataclass(frozen=True)
class Work:
    """What all runs share."""

    data: Path
    results: Path
    device: str
    scores: Path | None
    models: Path | None
    settings: Mapping[str, str]

    def result(self, run: Run) -> Path:
        """Where the result of a run is stored."""
        return self.results / f"{run.key}.json"

    def config(self, run: Run) -> Config:
        """The settings of a run."""
        from study.biaffine import reference_config

        large = run.treebank in LARGE
        own = {"training.segmenter_epochs": "0", **NETWORKS[run.network]}
        if large:
            own["training.epochs"] = str(LARGE[run.treebank])
        read = reference_config if run.network == BIAFFINE else read_config
        return read("large" if large else "accurate", own | dict(self.settings))


def plan() -> Iterator[Run]:
    """All runs."""
    for seed in (1, 2):
        for network in NETWORKS:
            for code in CODES:
                yield Run(code, network, ENCODING, seed)


def carry_out(work: Work, run: Run) -> str:
    """Carry out a run, and say how it went."""
    try:
        return execute(work, run)
    except Exception as error:  # whatever it is, the other runs go on
        return f"{run.key}  {type(error).__name__}: {error}"


def execute(work: Work, run: Run) -> str:
    """Train and judge once, and store the result."""
    import torch

    from biplanar.tagger.training import Trainer
    from study.biaffine import BiaffineTrainer
    from study.run import PACKAGES, keep_model

    torch.set_num_threads(1)
    folder = work.data / run.treebank
    train, dev, test = (list(read_conllu(folder / f"{name}.conllu.xz")) for name in ("train", "dev", "test"))
    config, start = work.config(run), time.monotonic()
    kind = BiaffineTrainer if run.network == BIAFFINE else Trainer
    trainer = kind(config, train, dev, seed=run.seed, device=work.device)
    records = list(train_to_the_best(trainer))
    trained = time.monotonic()
    if work.models is not None:
        keep_model(trainer, ModelFolder(work.models / run.key))
    scores = {
        name: {decoder: _metrics(gold, trees) for decoder, trees in _parsed(trainer, gold).items()}
        for name, gold in (("dev", dev), ("test", test))
    }
    if work.scores is not None and run.network != BIAFFINE:
        _store(trainer, {"dev": dev, "test": test}, work.scores / run.key)
    result = {
        "key": run.key,
        "scores": scores,
        "records": [[one.epoch, round(one.loss, 4), round(one.las, 2)] for one in records],
        "config": config.to_dict(),
        "labels": {task: len(names) for task, names in trainer.vocabulary.tasks.items()},
        "seconds": {"train": round(trained - start, 1), "judge": round(time.monotonic() - trained, 1)},
        "updates": trainer.epochs * trainer.batches,
        "versions": versions(PACKAGES),
        "device": torch.cuda.get_device_name() if work.device.startswith("cuda") else processor(),
    }
    write_json(result, work.result(run))
    shown = "  ".join(f"{decoder} {one['LAS']}" for decoder, one in scores["dev"].items())
    return f"{run.key}  {result['seconds']}  dev LAS  {shown}"


def _parsed(trainer: Any, gold: list[Sentence]) -> Mapping[str, list[Sentence]]:
    """The sentences as each decoder parses them."""
    from biplanar.decoding.inventory import LabelInventory
    from biplanar.pipeline.parser import Parser
    from biplanar.tagger.device import TorchTagger
    from study import biaffine

    if isinstance(trainer, biaffine.BiaffineTrainer):
        return biaffine.parse(trainer, gold)
    scorer = TorchTagger(trainer.kept, trainer.vocabulary, trainer.device)
    scorer.decoding_threads = 1  # other runs have the other cores
    inventory = LabelInventory(trainer.encoding, trainer.vocabulary.tasks)
    parser = Parser(scorer, inventory, ModelFolder(Path()), batch_words=20_000)
    return {decoder: list(parser.pipe(gold, retag=True, decoder=decoder)) for decoder in ("search", "greedy")}


def _metrics(gold: list[Sentence], trees: list[Sentence]) -> dict[str, Any]:
    found = evaluate(gold, trees)
    shares: dict[str, Any] = {name: round(100 * found[name].f1, 2) for name in METRICS if name in found.scores}
    return shares | {name: found[name].to_dict() for name in BOTH_SIDES}


def _store(trainer: Any, splits: Mapping[str, list[Sentence]], folder: Path) -> None:
    from biplanar.decoding.inventory import LabelInventory
    from biplanar.tagger.device import TorchTagger
    from biplanar.tagger.features import Corpus
    from study.stored_scores import store_scores

    folder.mkdir(parents=True, exist_ok=True)
    scorer = TorchTagger(trainer.kept, trainer.vocabulary, trainer.device)
    inventory = LabelInventory(trainer.encoding, trainer.vocabulary.tasks)
    for name, sentences in splits.items():
        store_scores(scorer, inventory, Corpus.of(one.forms for one in sentences), folder / f"{name}.npz")


def main(arguments: Sequence[str]) -> None:
    """Take the pending runs."""
    others, settings = split_settings(arguments)
    parser = argparse.ArgumentParser(prog="python -m study.arcs", description="Train and judge labels with arcs.")
    parser.add_argument("data", type=Path)
    parser.add_argument("--results", type=Path, default=RESULTS / "arcs", help="where results are stored")
    parser.add_argument("--scores", type=Path, help="keep what networks say of dev and test here")
    parser.add_argument("--models", type=Path, help="keep the models here")
    parser.add_argument("--only", nargs="+", default=["*"], metavar="KEY", help="keys of runs; * stands for anything")
    parser.add_argument("--slots", type=int, default=1, help="runs side by side")
    parser.add_argument("--device", default="cpu", help="cpu or cuda")
    given = parser.parse_args(others)
    work = Work(given.data, given.results, given.device, given.scores, given.models, settings)
    given.results.mkdir(parents=True, exist_ok=True)
    wanted = [run for run in plan() if any(fnmatch(run.key, pattern) for pattern in given.only)]
    pending = [run for run in wanted if not work.result(run).exists()]
    with multiprocessing.get_context("spawn").Pool(given.slots, maxtasksperchild=1) as pool:
        for line in pool.imap_unordered(partial(carry_out, work), pending):
            print(line, flush=True)


if __name__ == "__main__":
    command(main, "arcs")
