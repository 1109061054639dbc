"""One run: a network is trained on gold words, and judged on dev and test, with gold words and from raw text."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import torch
from benchmarks.machine import processor, versions

from biplanar.data.conllu import Sentence, read_conllu
from biplanar.data.forest import Column
from biplanar.decoding.decoders import get_decoder
from biplanar.decoding.inventory import LabelInventory
from biplanar.decoding.tree_decoder import Parsed, TreeDecoder
from biplanar.pipeline.model_folder import ModelFolder
from biplanar.tagger.device import TorchTagger
from biplanar.tagger.features import Corpus
from biplanar.tagger.predict import parse_corpus
from biplanar.tagger.training import DEV_BATCH_WORDS, Trainer
from biplanar.tagger.weights import save_weights
from study.common import pack, train_to_the_best
from study.judge import Judge
from study.plan import Run, config_of
from study.treebanks import BY_CODE
from study.worker import Work

DECODERS = ("paper", "greedy", "search")
JUDGED = ("dev", "test")
PACKAGES = ("numba", "numpy", "torch", "ufal.udpipe")

# What is parsed, by its name in the results, and the file it is in. UPOS is predicted there; rel-pos, which alone looks
# at it, is judged with gold tags too, so that what it loses by predicted ones is known.
SOURCES = {"gold words": "tagged.conllu.xz", "raw text": "raw.conllu.xz"}
GOLD_TAGS = "gold tags"


@dataclass(frozen=True)
class Source:
    """Words to parse, with their tags, and how to judge their trees."""

    corpus: Corpus
    upos: Column | None
    judge: Judge

    @classmethod
    def of(cls, words: list[Sentence], gold: list[Sentence]) -> Source:
        """Take the words of some sentences."""
        tags = Column.of(tag for sentence in words for tag in sentence.upos)
        return cls(Corpus.of(sentence.forms for sentence in words), tags, Judge.of(gold, words))


class Data:
    """A treebank as `study.prepare` has written it; read when it is needed, and kept."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def read(self, name: str) -> list[Sentence]:
        """The sentences of a file."""
        return list(read_conllu(self.folder / name))

    @cached_property
    def train(self) -> list[Sentence]:
        """With gold tags, which rel-pos needs for its labels."""
        return self.read("train.conllu.xz")

    @cached_property
    def dev(self) -> list[Sentence]:
        """To choose the best epoch by: gold words and trees, predicted tags."""
        return self.read("dev.tagged.conllu.xz")

    @cache  # noqa: B019  # few of them, kept on purpose
    def source(self, split: str, name: str) -> Source:
        """What is parsed in the end."""
        gold = self._gold(split)
        return Source.of(gold if name == GOLD_TAGS else self.read(f"{split}.{SOURCES[name]}"), gold)

    @cache  # noqa: B019
    def _gold(self, split: str) -> list[Sentence]:
        return self.read(f"{split}.conllu.xz")


@cache
def read_data(folder: Path) -> Data:
    """The data of a treebank, kept for the next run of a worker."""
    return Data(folder)


class QuickTrainer(Trainer):
    """Training that looks at the dev file with greedy decoding: the authors' for their network, ours for our own."""

    def evaluate(self) -> tuple[float, float]:
        """UAS and exact LAS on the dev file, with gold words, in percent."""
        decoder = "greedy" if self.network.relations is not None else "paper"
        parsed = parse(self, self.dev_corpus, self.dev.upos, decoder)
        heads = parsed.heads == self.dev.heads
        names = np.array(self.vocabulary.tasks["deprel"])
        relations = names[parsed.relations] == np.array(self.dev.deprels.labels())
        return 100 * float(heads.mean()), 100 * float((heads & relations).mean())


def parse(trainer: Trainer, corpus: Corpus, upos: Column | None, decoder: str) -> Parsed:
    """The trees of a corpus."""
    scorer = TorchTagger(trainer.kept, trainer.vocabulary, trainer.device)
    scorer.decoding_threads = 1  # other runs have the other cores
    how = TreeDecoder(LabelInventory(trainer.encoding, trainer.vocabulary.tasks), get_decoder(decoder))
    return parse_corpus(scorer, corpus, how, DEV_BATCH_WORDS, upos if trainer.encoding.needs_upos else None)


def execute(run: Run, work: Work) -> dict[str, Any]:
    """Train and judge once, and give all there is to know of it."""
    treebank, start = read_data(work.data / run.treebank), time.monotonic()
    config = config_of(run, work.schedule, sum(map(len, treebank.train)), work.settings)
    trainer = QuickTrainer(config, treebank.train, treebank.dev, seed=run.seed, device=work.device)
    ready = time.monotonic()
    records = []
    for record in train_to_the_best(trainer):
        print(f"{run.key}  {record}", file=sys.stderr, flush=True)
        records.append(record)
    trained = time.monotonic()
    scores, by_sentence = judge(trainer, treebank)
    judged = time.monotonic()
    if work.models is not None:
        keep_model(trainer, ModelFolder(work.models / run.key))
    best = max(record.epoch for record in records if record.best)
    return {
        "key": run.key,
        "treebank": BY_CODE[run.treebank].name,
        "network": run.network,
        "encoding": run.encoding,
        "seed": run.seed,
        "scores": scores,
        "right_by_sentence": by_sentence,
        "records": [[one.epoch, round(one.loss, 4), round(one.uas, 2), round(one.las, 2)] for one in records],
        "best_epoch": best,
        "updates": trainer.epochs * trainer.batches,
        "schedule": work.schedule.to_dict(),
        "config": config.to_dict(),
        "labels": {task: len(names) for task, names in trainer.vocabulary.tasks.items()},
        "parameters": sum(one.numel() for one in trainer.network.parameters()),
        "seconds": {
            "prepare": round(ready - start, 2),
            "train": round(trained - ready, 2),
            "judge": round(judged - trained, 2),
        },
        "versions": versions(PACKAGES),
        "device": torch.cuda.get_device_name() if torch.device(work.device).type == "cuda" else processor(),
    }


def judge(trainer: Trainer, data: Data) -> tuple[dict[str, Any], dict[str, str]]:
    """Counts by split, source and decoder; and for test with gold words the right words of each sentence."""
    scores: dict[str, Any] = {}
    by_sentence = {}
    names = [*SOURCES, GOLD_TAGS] if trainer.encoding.needs_upos else list(SOURCES)
    for split, name, decoder in product(JUDGED, names, DECODERS):
        source = data.source(split, name)
        parsed = parse(trainer, source.corpus, source.upos, decoder)
        deprels = Column(parsed.relations, trainer.vocabulary.tasks["deprel"])
        counts = source.judge.counts(parsed.heads, deprels)
        scores.setdefault(split, {}).setdefault(name, {})[decoder] = counts
        if (split, name) == ("test", "gold words"):
            by_sentence[decoder] = pack(source.judge.by_sentence(parsed.heads, deprels).tolist())
    return scores, by_sentence


def keep_model(trainer: Trainer, folder: ModelFolder) -> None:
    """A model folder with what speed is measured on; it has no tokenizer."""
    folder.path.mkdir(parents=True, exist_ok=True)
    folder.write_settings(trainer.config, trainer.vocabulary)
    save_weights(trainer.kept, folder.weights)
