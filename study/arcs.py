"""Labels and arcs together: the default configuration, its variants, and the biaffine parser on the same encoder.

    python -m study.arcs DATA --device cuda --slots 14
    python -m study.arcs DATA --only 'hu-*' 'en-biaffine-*'
    python -m study.arcs --show

DATA has a folder for each treebank: `train`, `dev` and `test.conllu.xz`. Each result is stored as
study/results/arcs/KEY.json; what is there is not run again. With `--scores`, what the networks say of dev and test is
kept as well, so that decoders can be compared without the networks. With `--show`, the results are printed as the
tables in docs/training.md.
"""

from __future__ import annotations

import argparse
import multiprocessing
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from benchmarks.machine import processor, versions

from biplanar.data.conllu import Sentence, read_conllu
from biplanar.data.forest import Column, Forest, offsets_of
from biplanar.decoding.arcs import head_table
from biplanar.decoding.candidates import best_given_heads
from biplanar.decoding.decoders import get_decoder
from biplanar.decoding.inventory import LabelInventory, Weights
from biplanar.decoding.scores import Scores
from biplanar.decoding.spanning import spanning_tree
from biplanar.decoding.tree_decoder import Parsed, TreeDecoder
from biplanar.evaluation import evaluate
from biplanar.pipeline.model_folder import ModelFolder
from biplanar.pipeline.parser import Parser
from biplanar.pipeline.tuning import ScoredTreebank
from biplanar.tagger.config import Config, read_config
from biplanar.tagger.features import Corpus
from study.common import command, read_json, split_settings, train_to_the_best, write_json
from study.plan import Run
from study.queue import RESULTS

if TYPE_CHECKING:
    from biplanar.tagger.device import TorchTagger
    from biplanar.tagger.training import Trainer

CODES = ("en", "pt", "eu", "af", "hu")
LARGE = {"en": 40, "pt": 28}  # treebanks of 200,000 words, and their epochs
BIAFFINE = "biaffine"
NETWORKS: Mapping[str, Mapping[str, str]] = {
    "accurate": {},
    "plain": {"network.attention": "false"},
    "pure": {"network.attention": "false", "network.arcs": "false"},
    BIAFFINE: {},
}
TREES, COLUMNS = ("UAS", "LAS", "ExactLAS"), ("UPOS", "XPOS", "UFeats", "AllTags", "Lemmas")
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
    decoders: tuple[str, ...] = ("search", "labels", "greedy", "minimum-risk")

    def result(self, run: Run) -> Path:
        """Where the result of a run is stored."""
        return self.results / f"{run.key}.json"

    def config(self, run: Run) -> Config:
        """The settings of a run."""
        from study.biaffine import reference_config

        large = run.treebank in LARGE
        own = {"encoding": run.encoding, "training.segmenter_epochs": "none", **NETWORKS[run.network]}
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
    from study.biaffine import BiaffineTrainer, parse
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
    scores: dict[str, Any] = {}
    if isinstance(trainer, BiaffineTrainer):
        for name, gold in (("dev", dev), ("test", test)):
            scores[name] = {BIAFFINE: metrics_of(gold, parse(trainer, gold)[BIAFFINE], TREES)}
    else:
        with tempfile.TemporaryDirectory() as temporary:
            stored = Path(temporary) if work.scores is None else work.scores / run.key
            store(trainer, {"dev": dev, "test": test}, stored)
            scores = judge(stored, folder, work.decoders)
        for name, gold in (("dev", dev), ("test", test)):
            scores[name]["columns"] = metrics_of(gold, _tagged(trainer, gold), COLUMNS)
    result = {
        "key": run.key,
        "scores": scores,
        "records": [[one.epoch, round(one.loss, 4), round(one.las, 2)] for one in records],
        "config": config.to_dict(),
        "parameters": sum(one.numel() for one in trainer.kept.parameters()),
        "labels": {task: len(names) for task, names in trainer.vocabulary.tasks.items()},
        "seconds": {"train": round(trained - start, 1), "judge": round(time.monotonic() - trained, 1)},
        "updates": trainer.epochs * trainer.batches,
        "versions": versions(PACKAGES),
        "device": torch.cuda.get_device_name() if work.device.startswith("cuda") else processor(),
    }
    write_json(result, work.result(run))
    shown = "  ".join(f"{decoder} {one['LAS']}" for decoder, one in scores["dev"].items() if "LAS" in one)
    return f"{run.key}  {result['seconds']}  dev LAS  {shown}"


def store(trainer: Trainer, splits: Mapping[str, list[Sentence]], folder: Path) -> None:
    """Keep what a network says of some sentences."""
    from study.stored_scores import store_scores

    folder.mkdir(parents=True, exist_ok=True)
    scorer, inventory = _scorer(trainer)
    for name, sentences in splits.items():
        store_scores(scorer, inventory, Corpus.of(one.forms for one in sentences), folder / f"{name}.npz")


def judge(stored: Path, data: Path, wanted: Sequence[str] = Work.decoders) -> dict[str, Any]:
    """Metrics by split and decoder, of stored scores; the weight of arcs is chosen on dev."""
    from study.stored_scores import read_scores

    weights, found = Weights(), dict[str, Any]()
    for name in ("dev", "test"):
        gold = list(read_conllu(data / f"{name}.conllu.xz"))
        scores, inventory = read_scores(stored / f"{name}.npz")
        words = np.arange(scores.offsets[-1])
        if name == "dev":
            weights = ScoredTreebank(inventory, Forest.from_sentences(gold), [(words, scores)]).choose_arc_weight()
            found["weights"] = {"arcs": weights.arcs}
        decoders = decoders_of(inventory, weights)
        if scores.arcs is None:
            del decoders["search"]  # the same as by labels
        parsed = {decoder: how.decode(scores) for decoder, how in decoders.items() if decoder in wanted}
        if scores.arcs is not None:
            parsed["arcs"] = _spanned(scores, inventory)
        found[name] = {
            decoder: metrics_of(gold, with_trees(gold, one, inventory), TREES) for decoder, one in parsed.items()
        }
    return found


def decoders_of(inventory: LabelInventory, weights: Weights) -> dict[str, TreeDecoder]:
    """The decoders by name; `labels` is the search without arcs."""
    own, alone = replace(inventory, weights=weights), replace(inventory, weights=replace(weights, arcs=0.0))
    return {
        "search": TreeDecoder(own),
        "labels": TreeDecoder(alone),
        "greedy": TreeDecoder(own, get_decoder("greedy")),
        "minimum-risk": TreeDecoder(own, get_decoder("minimum-risk")),
    }


def _spanned(scores: Scores, inventory: LabelInventory) -> Parsed:
    """The best trees of the arcs alone."""
    assert scores.arcs is not None
    likely, places = scores.arcs.likeliest(), pairwise(scores.offsets.tolist())
    heads = np.concatenate([spanning_tree(head_table(likely, slice(*own))) for own in places])
    relations = best_given_heads(scores.relate(heads), heads, inventory.roots)
    return Parsed(heads, np.asarray(relations))


def with_trees(gold: list[Sentence], parsed: Parsed, inventory: LabelInventory) -> list[Sentence]:
    """The sentences with the trees that were found."""
    forest = Forest(offsets_of(map(len, gold)), parsed.heads, Column(parsed.relations, inventory.deprels))
    return [sentence.with_tree(tree) for sentence, tree in zip(gold, forest.trees(), strict=True)]


def _tagged(trainer: Trainer, gold: list[Sentence]) -> list[Sentence]:
    scorer, inventory = _scorer(trainer)
    parser = Parser(scorer, inventory, ModelFolder(Path()), batch_words=20_000)
    return list(parser.pipe(gold, retag=True, decoder="greedy"))


def _scorer(trainer: Trainer) -> tuple[TorchTagger, LabelInventory]:
    from biplanar.tagger.device import TorchTagger

    scorer = TorchTagger(trainer.kept, trainer.vocabulary, trainer.device)
    scorer.decoding_threads = 1  # other runs have the other cores
    return scorer, LabelInventory(trainer.encoding, trainer.vocabulary.tasks)


def metrics_of(gold: list[Sentence], trees: list[Sentence], names: Sequence[str]) -> dict[str, Any]:
    """Some metrics in percent, and with those of trees, what is not projective."""
    found = evaluate(gold, trees)
    shares: dict[str, Any] = {name: round(100 * found[name].f1, 2) for name in names if name in found.scores}
    return shares | ({name: found[name].to_dict() for name in BOTH_SIDES} if names == TREES else {})


# The columns of the tables: a network, and how its scores are decoded.
SHOWN = {
    "labels alone (`pure`)": ("pure", "labels"),
    "labels (`accurate`)": ("accurate", "labels"),
    "arcs (`accurate`)": ("accurate", "arcs"),
    "both (`accurate`)": ("accurate", "search"),
    "biaffine": (BIAFFINE, BIAFFINE),
}


def tables(results: Path = RESULTS / "arcs") -> str:
    """Test scores as Markdown, means over seeds: LAS, then F1 of sentences and dependencies that are not projective."""
    return "\n\n".join(_table(results, metric) for metric in ("LAS", *BOTH_SIDES))


def _table(results: Path, metric: str) -> str:
    rows = [f"| {metric} | {' | '.join(SHOWN)} |", "|" + "---|" * (1 + len(SHOWN))]
    means = {code: [_mean(results, code, *shown, metric) for shown in SHOWN.values()] for code in CODES}
    means["mean"] = [sum(column) / len(column) for column in zip(*means.values(), strict=True)]
    rows += [f"| {name} | {' | '.join(f'{one:.2f}' for one in own)} |" for name, own in means.items()]
    return "\n".join(rows)


def _mean(results: Path, code: str, network: str, decoder: str, metric: str) -> float:
    runs = [read_json(path)["scores"]["test"] for path in sorted(results.glob(f"{code}-{network}-*.json"))]
    found = [run[decoder][metric] for run in runs]
    values = [100 * one["f1"] if isinstance(one, dict) else one for one in found]
    return float(sum(values) / len(values))


def main(arguments: Sequence[str]) -> None:
    """Take the pending runs."""
    if list(arguments) == ["--show"]:
        print(tables())
    else:
        take_pending("study.arcs", "Train and judge labels with arcs.", arguments, plan(), Work, RESULTS / "arcs")


def take_pending(
    name: str, purpose: str, arguments: Sequence[str], planned: Iterable[Run], kind: type[Work], results: Path
) -> None:
    """Carry out the runs that have no result yet, several side by side."""
    others, settings = split_settings(arguments)
    parser = argparse.ArgumentParser(prog=f"python -m {name}", description=purpose)
    parser.add_argument("data", type=Path)
    parser.add_argument("--results", type=Path, default=results, help="where results are stored")
    parser.add_argument("--scores", type=Path, help="keep what networks say of dev and test here")
    parser.add_argument("--models", type=Path, help="keep the models here")
    parser.add_argument("--only", nargs="+", default=["*"], metavar="KEY", help="keys of runs; * stands for anything")
    parser.add_argument("--slots", type=int, default=1, help="runs side by side")
    parser.add_argument("--device", default="cpu", help="cpu or cuda")
    given = parser.parse_args(others)
    work = kind(given.data, given.results, given.device, given.scores, given.models, settings)
    given.results.mkdir(parents=True, exist_ok=True)
    wanted = [run for run in planned if any(fnmatch(run.key, pattern) for pattern in given.only)]
    pending = [run for run in wanted if not work.result(run).exists()]
    with multiprocessing.get_context("spawn").Pool(given.slots, maxtasksperchild=1) as pool:
        for line in pool.imap_unordered(partial(carry_out, work), pending):
            print(line, flush=True)


if __name__ == "__main__":
    command(main, "arcs")
