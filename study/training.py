"""One run: a network is trained, and its trees are judged by every decoder of its study."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import torch
from benchmarks.machine import processor, versions

import biplanar
from biplanar import Parser, Sentence
from biplanar.data.arrays import Int32s
from biplanar.decoding.arcs import head_table
from biplanar.decoding.beam import Outcome
from biplanar.decoding.decoders import DECODERS, get_decoder, relations_given_heads
from biplanar.decoding.inventory import LabelInventory
from biplanar.decoding.sentences import ScoredSentences
from biplanar.decoding.spanning import spanning_tree
from biplanar.decoding.tree_decoder import TreeDecoder
from biplanar.evaluation import evaluate
from biplanar.pipeline.model_folder import ModelFolder
from biplanar.pipeline.tuning import ScoredTreebank
from biplanar.tagger.device import TorchTagger
from biplanar.tagger.predict import parse_corpus
from biplanar.tagger.training import DEV_BATCH_WORDS, Record, Trainer
from biplanar.tagger.weights import save_weights
from study.biaffine import BiaffineTrainer
from study.common import pack
from study.fingerprint import CODE, fingerprint, part_of, settings_of
from study.plan import BIAFFINE, STUDIES, Run, Study
from study.run import Work

PACKAGES = ("numba", "numpy", "torch", "ufal.udpipe")
TREES = ("UAS", "LAS", "ExactLAS", "NonprojectiveSentences", "NonprojectiveDependencies")
COLUMNS = ("UPOS", "XPOS", "UFeats", "AllTags", "Lemmas", "MLAS", "BLEX", "Words", "Sentences")


@dataclass(frozen=True)
class ArcsDecoder:
    """The best trees of the arcs alone."""

    name: str = "arcs"
    repair: None = None
    finds_several: bool = False

    def heads(self, sentences: ScoredSentences) -> tuple[Int32s, Outcome]:
        """Maximum spanning trees."""
        scores = sentences.scores
        assert scores.arcs is not None
        likely, places = scores.arcs.likeliest(), pairwise(scores.offsets.tolist())
        return np.concatenate([spanning_tree(head_table(likely, slice(*own))) for own in places]), Outcome()

    def relations(self, sentences: ScoredSentences, heads: Int32s) -> Int32s:
        """Given the heads."""
        return relations_given_heads(sentences, heads)


class GreedyTrainer(Trainer):
    """Evaluates on dev with greedy decoding: the authors' for their network, ours for others."""

    def evaluate(self) -> tuple[float, float]:
        """UAS and exact LAS on dev, with gold words, in percent."""
        decoder = get_decoder("greedy" if self.network.relations is not None else "paper")
        inventory = LabelInventory(self.encoding, self.vocabulary.tasks)
        scorer = TorchTagger(self.kept, self.vocabulary, self.device)
        upos = self.dev.upos if self.encoding.needs_upos else None
        parsed = parse_corpus(scorer, self.dev_corpus, TreeDecoder(inventory, decoder), DEV_BATCH_WORDS, upos)
        heads = parsed.heads == self.dev.heads
        relations = np.array(inventory.deprels)[parsed.relations] == np.array(self.dev.deprels.labels())
        return 100 * float(heads.mean()), 100 * float((heads & relations).mean())


def train_to_the_best(trainer: Trainer) -> Iterator[Record]:
    """Train, and when the records end, leave the weights of the epoch with the best dev LAS."""
    networks = (trainer.kept, trainer.auxiliary)
    best = [network.state_dict() for network in networks]
    for record in trainer.run():
        if not isinstance(record, Record):  # progress within an epoch
            continue
        if record.best:
            best = [deepcopy(network.state_dict()) for network in networks]
        yield record
    for network, state in zip(networks, best, strict=True):
        network.load_state_dict(state)


def execute(work: Work, run: Run) -> dict[str, Any]:
    """Train and judge once, and give all there is to know of it."""
    torch.set_num_threads(work.threads)
    study, folder = STUDIES[work.study], work.data / run.treebank
    train = read(folder / "train.conllu.xz")
    dev = read(folder / f"dev.{'tagged.' if study.name == 'paper' else ''}conllu.xz")
    planned = {**study.settings(run, sum(map(len, train))), "segmenter.kind": "none"}
    config = run.config({**planned, **work.settings})
    kind = BiaffineTrainer if run.network == BIAFFINE else GreedyTrainer if study.greedy_dev else Trainer
    start = time.monotonic()
    trainer = kind(config, train, dev, seed=run.seed, device=work.device)
    records = []
    for record in train_to_the_best(trainer):
        print(f"{run.key}  {record}", file=sys.stderr, flush=True)
        records.append(record)
    trained = time.monotonic()
    judged = (
        judge_biaffine(trainer, folder) if isinstance(trainer, BiaffineTrainer) else judge(trainer, study, work, run)
    )
    settings = settings_of(config.to_dict())
    arcs = bool(settings.get("network.arcs"))
    used = {
        part_of(decoder, arcs=arcs)
        for sources in judged["scores"].values()
        for decoders in sources.values()
        for decoder in decoders
    }
    return {
        "key": run.key,
        "treebank": run.treebank,
        "network": run.network,
        "encoding": run.encoding,
        "seed": run.seed,
        "fingerprint": fingerprint(config.to_dict(), {part: CODE[part] for part in sorted({"network", *used})}),
        **judged,
        "records": [[one.epoch, round(one.loss, 4), round(one.uas, 2), round(one.las, 2)] for one in records],
        "updates": trainer.epochs * trainer.batches,
        "labels": {task: len(names) for task, names in trainer.vocabulary.tasks.items()},
        "parameters": sum(one.numel() for one in trainer.kept.parameters()),
        "seconds": {"train": round(trained - start, 1), "judge": round(time.monotonic() - trained, 1)},
        "settings": settings,
        "versions": versions(PACKAGES),
        "device": torch.cuda.get_device_name() if torch.device(work.device).type == "cuda" else processor(),
    }


def read(path: Path) -> list[Sentence]:
    """The sentences of a file."""
    return list(biplanar.read_conllu(path))


def judge(trainer: Trainer, study: Study, work: Work, run: Run) -> dict[str, Any]:
    """Counts by split, source and decoder; the weight of arcs is chosen on dev."""
    with tempfile.TemporaryDirectory() as temporary:
        model = keep_model(trainer, Path(temporary) if work.models is None else work.models / run.key)
        parser = biplanar.load(model, device=work.device, runtime="torch")
    folder, result = work.data / run.treebank, dict[str, Any](scores={})
    decoders = list(study.decoders)
    if trainer.config.network.arcs:
        result["weights"] = {"arcs": choose_arc_weight(parser, read(folder / "dev.conllu.xz"))}
    elif "labels" in decoders:
        decoders = [one for one in decoders if one not in ("search", "arcs")]  # the same as by labels, and none
    by_sentence = {}
    for split, source in product(("dev", "test"), study.sources):
        if source == "gold tags" and not trainer.encoding.needs_upos:
            continue
        gold, words = (read(folder / f"{split}.{ending}") for ending in ("conllu.xz", study.sources[source]))
        for decoder in decoders:
            parsed = parse(parser, words, decoder)
            result["scores"].setdefault(split, {}).setdefault(source, {})[decoder] = counts(gold, parsed)
            if study.by_sentence and (split, source) == ("test", "gold words"):
                by_sentence[decoder] = pack([right_words(*pair) for pair in zip(gold, parsed, strict=True)])
    return result | ({"right_by_sentence": by_sentence} if by_sentence else {})


def judge_biaffine(trainer: BiaffineTrainer, folder: Path) -> dict[str, Any]:
    """Counts by split, with gold words."""
    gold = {split: read(folder / f"{split}.conllu.xz") for split in ("dev", "test")}
    found = {split: counts(some, trainer.parse_sentences(some)) for split, some in gold.items()}
    return {"scores": {split: {"gold words": {BIAFFINE: one}} for split, one in found.items()}}


def choose_arc_weight(parser: Parser, dev: list[Sentence]) -> float:
    """How much arcs count; the parser keeps it."""
    scored = ScoredTreebank.of(parser.scorer, parser.inventory, dev, DEV_BATCH_WORDS)
    weights = scored.choose_arc_weight()
    parser.inventory = replace(parser.inventory, weights=weights)
    return weights.arcs


def parse(parser: Parser, words: list[Sentence], decoder: str) -> list[Sentence]:
    """By a decoder; `labels` is the search without arcs."""
    inventory, retag = parser.inventory, bool(parser.inventory.output_columns)
    if decoder == "labels":
        parser.inventory, decoder = replace(inventory, weights=replace(inventory.weights, arcs=0.0)), "search"
    DECODERS[ArcsDecoder.name] = ArcsDecoder()  # known by its name while it parses
    try:
        return list(parser.pipe(words, decoder=decoder, retag=retag, batch_words=DEV_BATCH_WORDS))
    finally:
        parser.inventory = inventory
        del DECODERS[ArcsDecoder.name]


def counts(gold: list[Sentence], parsed: list[Sentence]) -> Mapping[str, list[int]]:
    """Correct, gold and system, by metric."""
    found = evaluate(gold, parsed).scores
    names = [name for name in (*TREES, *COLUMNS) if name in found]
    return {name: [found[name].correct, found[name].gold, found[name].system] for name in names}


def right_words(gold: Sentence, parsed: Sentence) -> int:
    """Words with the right head and relation, without subtypes."""
    arcs = zip(gold.tree.heads, parsed.tree.heads, gold.tree.deprels, parsed.tree.deprels, strict=True)
    return sum(one == two and a.partition(":")[0] == b.partition(":")[0] for one, two, a, b in arcs)


def keep_model(trainer: Trainer, path: Path) -> Path:
    """A model folder for PyTorch, without a tokenizer."""
    folder = ModelFolder(path)
    path.mkdir(parents=True, exist_ok=True)
    folder.write_settings(trainer.config, trainer.vocabulary)
    save_weights(trainer.kept, folder.weights)
    return path
