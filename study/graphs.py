"""Train parsers that predict enhanced graphs, and score them beside a copy of the tree.

    python -m study.graphs [--treebanks ../shared] [--models out/graphs] [--only UD_Lithuanian]

What study/results/graphs.json has already is not measured again, unless settings or code have changed since, and models
that are in their folders are not trained again.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import biplanar
from biplanar.data.conllu import DEPREL, DEPS, HEAD, Sentence, read_conllu
from biplanar.encodings.columns import graph_task
from biplanar.encodings.graphs import GRAPH_ENCODINGS
from biplanar.evaluation import evaluate
from biplanar.pipeline.model_folder import ModelFolder
from biplanar.pipeline.options import DEFAULT_OPTIONS
from biplanar.pipeline.parser import Parser
from biplanar.pipeline.train import Data, train_model
from biplanar.tagger.config import CONFIGS, NO_SEGMENTER, Config
from study.common import RESULTS, command, read_json, write_json
from study.fingerprint import fingerprint

STORED = RESULTS / "graphs.json"
RELEASE = "ud-2.16"
TREEBANKS = ("UD_English-EWT", "UD_Lithuanian-ALKSNIS")
COPY = "copy"  # of the tree, by a parser that predicts no graphs

# What is predicted beside tags, features and lemmas, and the seeds. Three encodings share one network.
NETWORKS = {
    "none": ("", (1, 2)),
    "paths": ("deps", (1, 2)),
    "others": ("deps:delta,deps:graph-2p,deps:graph-18-bit", (1,)),
}
METRICS = ("LAS", "ELAS", "EULAS")


def settings(columns: str) -> Config:
    """The configuration `fast` with some columns more, and words given."""
    config = CONFIGS["fast"]
    network = {"columns": ",".join(filter(None, (config.network.columns, columns)))}
    return Config.from_dict({"network": network, "segmenter": {"kind": NO_SEGMENTER}}, config)


def version(columns: str) -> dict[str, Any]:
    """What a result was measured with."""
    return fingerprint(settings(columns).to_dict()) | {"data": "UD 2.16"}


def train(treebank: Path, columns: str, seed: int, folder: ModelFolder) -> Parser:
    """The parser of a folder, which is trained first if need be."""
    if not folder.int8.exists():
        data = Data([str(_file(treebank, "train"))], str(_file(treebank, "dev")))
        resume = folder.unfinished.checkpoint.exists()
        for _ in train_model(data, settings(columns), folder, seed=seed, device="cpu", threads=1, resume=resume):
            pass
    return biplanar.load(folder.path)


def _file(treebank: Path, split: str) -> Path:
    return next(treebank.glob(f"*-{split}.conllu*"))


def scores(parser: Parser, gold: list[Sentence]) -> dict[str, dict[str, list[int]]]:
    """Of each encoding that the parser has, or of a copy of the tree; as counts (correct, gold, system)."""
    given = parser.given([Sentence.from_words(one.forms) for one in gold])
    output = parser.parse(given, DEFAULT_OPTIONS)
    found = dict[str, dict[str, list[int]]]()
    for name, sentences in _graphs(output):
        own = evaluate(gold, sentences, predicted=(HEAD, DEPREL, DEPS)).scores
        found[name] = {metric: [own[metric].correct, own[metric].gold, own[metric].system] for metric in METRICS}
    return found


def _graphs(output: Any) -> Iterator[tuple[str, list[Sentence]]]:
    labels = output.parsed.columns
    arcs = {name: graph_task(name) for name in GRAPH_ENCODINGS if graph_task(name) in labels}
    if not arcs:
        yield COPY, [one.with_graph(biplanar.Graph.from_tree(one.tree)) for one in output.sentences()]
    for name, task in arcs.items():
        own = {one: ids for one, ids in labels.items() if one == task or one not in arcs.values()}
        yield name, list(replace(output, parsed=replace(output.parsed, columns=own)).sentences())


def main(arguments: Sequence[str]) -> None:
    """Train and score what is missing."""
    parser = argparse.ArgumentParser(prog="python -m study.graphs", description="Compare ways to predict graphs.")
    parser.add_argument("--treebanks", type=Path, default=Path("../shared"), help=f"the folder that holds {RELEASE}")
    parser.add_argument("--models", type=Path, default=Path("out/graphs"), help="where models are kept")
    parser.add_argument("--only", default="", help="runs whose name begins like this: UD_English-EWT/paths/1")
    given = parser.parse_args(arguments)
    stored = read_json(STORED) if STORED.exists() else {}
    for treebank in TREEBANKS:
        for network, (columns, seeds) in NETWORKS.items():
            for seed in seeds:
                key = f"{treebank}/{network}/{seed}"
                if not key.startswith(given.only) or stored.get(key, {}).get("fingerprint") == version(columns):
                    continue
                folder = given.treebanks / RELEASE / treebank
                model = train(folder, columns, seed, ModelFolder(given.models / key.replace("/", "-")))
                found = {split: scores(model, list(read_conllu(_file(folder, split)))) for split in ("dev", "test")}
                stored[key] = {"fingerprint": version(columns), "scores": found}
                write_json(dict(sorted(stored.items())), STORED)
                print(key, flush=True)


if __name__ == "__main__":
    command(main, "graphs")
