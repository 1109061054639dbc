"""Tags, features and lemmas: the default configuration with its output columns, and without them.

    python -m study.columns DATA --device cuda --slots 14
    python -m study.columns DATA --only 'hu-*' --network.column_forms false
    python -m study.columns --show

DATA has a folder for each treebank: `train`, `dev` and `test.conllu.xz`, and `dev` and `test.raw.conllu.xz`, which are
the texts as the tokenizer cuts them. Each result is stored as study/results/columns/KEY.json; what is there is not run
again. With `--show`, the results are printed as the table in docs/columns.md.
"""

from __future__ import annotations

import argparse
import multiprocessing
import time
from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatch
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.machine import processor, versions

from biplanar.data.conllu import read_conllu
from biplanar.decoding.inventory import LabelInventory
from biplanar.evaluation import Score, evaluate
from biplanar.pipeline.model_folder import ModelFolder
from biplanar.pipeline.parser import Parser
from study.common import command, read_json, split_settings, train_to_the_best, write_json
from study.plan import Run, Schedule, config_of
from study.queue import RESULTS
from study.treebanks import BY_CODE
from study.worker import Work

WITH, WITHOUT = "accurate", "without"
CODES = ("ko", "pt", "en", "eu", "af", "hu")
METRICS = ("UPOS", "XPOS", "UFeats", "AllTags", "Lemmas", "UAS", "LAS", "MLAS", "BLEX", "Words", "Sentences")
SHOWN = ("UPOS", "XPOS", "UFeats", "Lemmas", "LAS")
SOURCES = {"gold words": "conllu.xz", "raw text": "raw.conllu.xz"}
SCHEDULE = Schedule(batch_words=1600, rounds=10, updates=2000)  # that of the study's other runs


def plan() -> tuple[Run, ...]:
    """With columns two seeds everywhere; without them on English, as the study has those of the others."""
    runs = [Run(code, WITH, "2p-full", seed) for seed in (1, 2) for code in CODES]
    return (*runs, *(Run("en", WITHOUT, "2p-full", seed) for seed in (1, 2)))


def carry_out(work: Work, run: Run) -> str:
    """Carry out a run, and say how it went."""
    try:
        return execute(work, run)
    except Exception as error:  # whatever it is, the other runs go on
        return f"{run.key}  {type(error).__name__}: {error}"


def execute(work: Work, run: Run) -> str:
    """Train and judge once, and store the result."""
    import torch

    from biplanar.tagger.device import TorchTagger
    from study.run import PACKAGES, QuickTrainer, keep_model

    torch.set_num_threads(1)
    train, dev = (list(read_conllu(work.data / run.treebank / f"{name}.conllu.xz")) for name in ("train", "dev"))
    settings = work.settings | ({"network.columns": ""} if run.network == WITHOUT else {})
    config = config_of(replace(run, network=WITH), work.schedule, sum(map(len, train)), settings)
    start = time.monotonic()
    trainer = QuickTrainer(config, train, dev, seed=run.seed, device=work.device)
    records = list(train_to_the_best(trainer))
    trained = time.monotonic()
    if work.models is not None:
        keep_model(trainer, ModelFolder(work.models / run.key))
    scorer = TorchTagger(trainer.kept, trainer.vocabulary, trainer.device)
    scorer.decoding_threads = 1  # other runs have the other cores
    inventory = LabelInventory(trainer.encoding, trainer.vocabulary.tasks)
    parser = Parser(scorer, inventory, ModelFolder(Path()), batch_words=20_000)
    scores: dict[str, Any] = {}
    for split in ("dev", "test"):
        gold = list(read_conllu(work.data / run.treebank / f"{split}.conllu.xz"))
        for source, ending in SOURCES.items():
            words = read_conllu(work.data / run.treebank / f"{split}.{ending}")
            trees = list(parser.pipe(words, retag=True))
            if work.models is not None:
                name = f"{split}.{source.replace(' ', '-')}.conllu"
                (work.models / run.key / name).write_text("".join(one.raw for one in trees), encoding="utf-8")
            found = evaluate(gold, trees)
            scores.setdefault(split, {})[source] = {
                name: round(100 * found[name].f1, 2) for name in METRICS if name in found.scores
            }
    result = {
        "key": run.key,
        "scores": scores,
        "records": [[one.epoch, round(one.loss, 4), round(one.las, 2)] for one in records],
        "schedule": work.schedule.to_dict(),
        "config": config.to_dict(),
        "labels": {task: len(names) for task, names in trainer.vocabulary.tasks.items()},
        "seconds": {"train": round(trained - start, 1), "judge": round(time.monotonic() - trained, 1)},
        "updates": trainer.epochs * trainer.batches,
        "versions": versions(PACKAGES),
        "device": torch.cuda.get_device_name() if work.device.startswith("cuda") else processor(),
    }
    write_json(result, work.result(run))
    shown = "  ".join(f"{name} {value}" for name, value in scores["dev"]["gold words"].items())
    return f"{run.key}  {result['seconds']}  {shown}"


def table(results: Path = RESULTS / "columns") -> str:
    """Test scores as Markdown, means over seeds: with gold words, then from raw text; LAS without columns beside it."""
    rows = [f"| | {' | '.join(SHOWN)} | LAS without columns | from raw text: {' | '.join(SHOWN)} |"]
    rows.append("|" + "---|" * (2 + 2 * len(SHOWN)))
    for code in CODES:
        runs = [read_json(path)["scores"]["test"] for path in sorted(results.glob(f"{code}-{WITH}-*.json"))]
        gold, raw = ([_mean(runs, source, metric) for metric in SHOWN] for source in SOURCES)
        cells = [BY_CODE[code].name if code in BY_CODE else "English", *gold, _without(results, code), *raw]
        rows.append("| " + " | ".join(cells) + " |")
    return "\n".join(rows)


def _mean(runs: Sequence[Any], source: str, metric: str) -> str:
    """A treebank without a column has no score there."""
    found = [run[source][metric] for run in runs if metric in run[source]]
    return f"{sum(found) / len(found):.2f}" if found else "–"


def _without(results: Path, code: str) -> str:
    """LAS of the same configuration and schedule without columns: English here, others in the study's own results."""
    if own := [read_json(path)["scores"]["test"] for path in sorted(results.glob(f"{code}-{WITHOUT}-*.json"))]:
        return _mean(own, "gold words", "LAS")
    counts = [
        read_json(path)["scores"]["test"] for path in sorted(results.parent.glob(f"{code}-{WITH}-2p-full-*.json"))
    ]
    found = [Score(*one["gold words"]["search"]["LAS"]).f1 for one in counts]
    return f"{100 * sum(found) / len(found):.2f}"


def main(arguments: Sequence[str]) -> None:
    """Take the pending runs."""
    if list(arguments) == ["--show"]:
        print(table())
        return
    others, settings = split_settings(arguments)
    parser = argparse.ArgumentParser(prog="python -m study.columns", description="Train and judge output columns.")
    parser.add_argument("data", type=Path)
    parser.add_argument("--results", type=Path, default=RESULTS / "columns", help="where results are stored")
    parser.add_argument("--models", type=Path, help="keep the models here")
    parser.add_argument("--only", nargs="+", default=["*"], metavar="KEY", help="keys of runs; * stands for anything")
    parser.add_argument("--slots", type=int, default=1, help="runs side by side")
    parser.add_argument("--device", default="cpu", help="cpu or cuda")
    SCHEDULE.add_options(parser)
    given = parser.parse_args(others)
    work = Work(given.data, given.results, Schedule.read(given), given.device, given.models, settings)
    given.results.mkdir(parents=True, exist_ok=True)
    wanted = [run for run in plan() if any(fnmatch(run.key, pattern) for pattern in given.only)]
    pending = [run for run in wanted if not work.result(run).exists()]
    with multiprocessing.get_context("spawn").Pool(given.slots, maxtasksperchild=1) as pool:
        for line in pool.imap_unordered(partial(carry_out, work), pending):
            print(line, flush=True)


if __name__ == "__main__":
    command(main, "columns")
