"""What a network says of some sentences, small enough to keep: to compare decoders without the network.

Of labels and depths, all with a log-probability above `LEAST` are kept; of relations, the best for every head.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from biplanar.data.arrays import Float32s, Int64s
from biplanar.data.forest import offsets_of
from biplanar.decoding.arcs import KnownHeads
from biplanar.decoding.candidates import best_given_heads
from biplanar.decoding.inventory import LabelInventory
from biplanar.decoding.scores import LikelyHeads, Scores, log_probabilities
from biplanar.encodings import get_encoding
from biplanar.tagger.features import Corpus, batches_by_words
from biplanar.tagger.predict import Scorer

LEAST = -12.0
BATCH_WORDS = 20_000


@dataclass
class _Parts:
    counts: list[NDArray[np.uint16]] = field(default_factory=list)
    labels: list[NDArray[np.uint16]] = field(default_factory=list)
    logs: list[NDArray[np.float16]] = field(default_factory=list)

    def add(self, table: Float32s) -> None:
        logs = log_probabilities(table)
        kept = logs > LEAST
        self.counts.append(kept.sum(axis=1).astype(np.uint16))
        self.labels.append(np.nonzero(kept)[1].astype(np.uint16))
        self.logs.append(logs[kept].astype(np.float16))


def store_scores(scorer: Scorer, inventory: LabelInventory, corpus: Corpus, path: Path) -> None:
    """Write the scores of all sentences of a corpus, in their order."""
    forms, parts, others = scorer.represent(corpus.forms), dict[str, _Parts](), dict[str, list[NDArray[np.generic]]]()
    # one sentence after the other, so that nothing must be put in order again
    for chosen in batches_by_words(corpus.lengths, BATCH_WORDS, np.arange(len(corpus.lengths))):
        scores = scorer.score(forms, corpus.batch(chosen))
        for task, table in scores.labels.items():
            parts.setdefault(task, _Parts()).add(table)
        if scores.arcs is not None:
            heads = scores.arcs.likeliest()
            others.setdefault("arcs.heads", []).append(heads.heads.astype(np.int16))
            others.setdefault("arcs.logs", []).append(heads.logs.astype(np.float16))
        others.setdefault("relations", []).append(_relations(scores, inventory))
    arrays: dict[str, NDArray[np.generic]] = {name: np.concatenate(arrays) for name, arrays in others.items()}
    for task, own in parts.items():
        for name in ("counts", "labels", "logs"):
            arrays[f"{task}.{name}"] = np.concatenate(getattr(own, name))
    names = {f"names.{task}": np.array(own) for task, own in inventory.names.items()}
    encoding = {"encoding": np.array(inventory.encoding.name), "lengths": corpus.lengths}
    np.savez_compressed(path, **arrays, **names, **encoding)


def _relations(scores: Scores, inventory: LabelInventory) -> NDArray[np.uint8]:
    """The best relation of each word to each head, the root first, sentence by sentence end to end."""
    lengths = np.diff(scores.offsets)
    longest = int(lengths.max(initial=0))
    sizes = np.repeat(lengths, lengths)  # of each word's sentence
    best = np.zeros((len(sizes), longest + 1), dtype=np.uint8)
    for head in range(longest + 1):
        heads = np.minimum(head, sizes).astype(np.int32)
        best[:, head] = best_given_heads(scores.relate(heads), heads, inventory.roots)
    return best[np.arange(longest + 1)[None] <= sizes[:, None]]


def read_scores(path: Path) -> tuple[Scores, LabelInventory]:
    """The scores of all sentences, and what their labels are."""
    with np.load(path) as parts:
        arrays = {name: parts[name] for name in parts.files}
    tasks = {name.removeprefix("names."): tuple(map(str, own)) for name, own in arrays.items() if "names." in name}
    inventory = LabelInventory(get_encoding(str(arrays["encoding"])), tasks)
    lengths = arrays["lengths"]
    labels = {name.removesuffix(".counts"): _table(arrays, name, tasks) for name in arrays if name.endswith(".counts")}
    arcs = None
    if "arcs.heads" in arrays:
        arcs = KnownHeads(LikelyHeads(arrays["arcs.heads"].astype(np.int32), arrays["arcs.logs"].astype(np.float32)))
    relate = _Relate(arrays["relations"], lengths, len(inventory.deprels))
    return Scores(offsets_of(lengths), labels, relate, None, arcs), inventory


def _table(arrays: Mapping[str, NDArray[np.generic]], name: str, tasks: Mapping[str, tuple[str, ...]]) -> Float32s:
    task, counts = name.removesuffix(".counts"), arrays[name].astype(np.int64)
    table = np.full((len(counts), len(tasks[task])), 2 * LEAST, dtype=np.float32)
    table[np.repeat(np.arange(len(counts)), counts), arrays[f"{task}.labels"].astype(np.int64)] = arrays[f"{task}.logs"]
    return table


@dataclass(frozen=True)
class _Relate:
    """The best relation of each word to its governor has the score 1, others 0."""

    best: NDArray[np.generic]
    lengths: Int64s
    relations: int

    def __call__(self, governors: Int64s) -> Float32s:
        sizes = np.repeat(self.lengths, self.lengths)
        starts = np.repeat(offsets_of(self.lengths)[:-1], self.lengths)
        heads = np.where(governors > 0, governors - starts, 0)
        rows = offsets_of(sizes + 1)[:-1]
        table = np.zeros((len(sizes), self.relations), dtype=np.float32)
        table[np.arange(len(sizes)), self.best[rows + heads].astype(np.int64)] = 1
        return table
