"""Statistics of enhanced graphs: how much of them each encoding covers, and how many labels it needs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from biplanar.data.conllu import Sentence, read_conllu
from biplanar.data.files import UTF_8, display_name
from biplanar.data.forest import Column, Forest
from biplanar.encodings.graphs import GRAPH_ENCODINGS, RELATION, encode_graphs, get_graph_encoding
from biplanar.encodings.relations import RULES
from biplanar.evaluation.statistics import percent, split_files

Sides = Mapping[str, list[Sentence]]  # by split, or by file


def graph_statistics(
    *paths: str | Path, encodings: Sequence[str] | None = None, text_encoding: str = UTF_8
) -> dict[str, Any]:
    """The graphs of a folder's splits, or of files: what they have beyond the trees, and their labels.

    Coverage and labels are of the training file, or of all files without splits; `unseen` is the share of words in the
    other splits with a label that train lacks, in percent.
    """
    folder = Path(paths[0]) if len(paths) == 1 and Path(paths[0]).is_dir() else None
    files = split_files(folder) if folder else {display_name(path): path for path in paths}
    sides = {name: list(read_conllu(file, text_encoding)) for name, file in files.items()}
    train = sides.get("train", []) if folder else [sentence for side in sides.values() for sentence in side]
    others = {name: side for name, side in sides.items() if folder and name != "train"}
    names = list(GRAPH_ENCODINGS) if encodings is None else encodings
    return {
        "graphs": {name: _sizes(side) for name, side in sides.items()},
        "encodings": {name: _encoding_statistics(train, others, name) for name in names} if train else {},
    }


def _sizes(sentences: Sequence[Sentence]) -> dict[str, float]:
    """How much graphs differ from trees; shares of arcs and words in percent."""
    counts: Counter[str] = Counter(sentences=len(sentences))
    for sentence in sentences:
        graph = sentence.needed_graph()
        counts["empty_nodes"] += len(graph.empty)
        for heads, own in zip(graph.collapsed().heads, sentence.heads, strict=True):
            shared = any(head == own for head, _ in heads)
            counts.update(words=1, arcs=len(heads), extra=len(heads) - shared, dropped=not shared)
    extra, dropped = percent(counts["extra"], counts["arcs"]), percent(counts["dropped"], counts["words"])
    sizes = {name: counts[name] for name in ("sentences", "words", "arcs", "empty_nodes")}
    return sizes | {"extra_arcs": extra, "dropped_arcs": dropped}


def _encoding_statistics(train: Sequence[Sentence], others: Sides, name: str) -> dict[str, Any]:
    encoding = get_graph_encoding(name)
    columns = encode_graphs(train, encoding)
    unseen = {split: encode_graphs(side, encoding) for split, side in others.items()}
    rules = np.isin(columns[RELATION].names, RULES)
    return {
        **_coverage(train, columns[encoding.task], name),
        "labels": {task: len(column.names) for task, column in columns.items()},
        "relations_by_rule": percent(int(rules[columns[RELATION].ids].sum()), len(columns[RELATION].ids)),
        "unseen": {
            split: {task: _unseen(column, columns[task].names) for task, column in one.items()}
            for split, one in unseen.items()
        },
    }


def _coverage(sentences: Sequence[Sentence], labels: Column, name: str) -> dict[str, float]:
    """Arcs and sentences that come back from their labels, in percent."""
    counts: Counter[str] = Counter()
    forest = Forest.from_sentences(sentences)
    changes = get_graph_encoding(name).decode(labels, forest)
    for sentence, start in zip(sentences, forest.offsets.tolist(), strict=False):
        graph = sentence.needed_graph().collapsed()
        wanted = Counter((int(head), place) for place, heads in enumerate(graph.heads, start) for head, _ in heads)
        basic = enumerate(sentence.heads, start)
        found = Counter((head, place) for place, own in basic for head in changes.get(place, [own]))
        counts.update(arcs=wanted.total(), covered=(wanted & found).total(), whole=wanted == found)
    whole = percent(counts["whole"], len(sentences))
    return {"covered_arcs": percent(counts["covered"], counts["arcs"]), "whole_sentences": whole}


def _unseen(column: Column, known: Sequence[str]) -> float:
    return percent(int((~np.isin(column.names, known))[column.ids].sum()), len(column.ids))
