"""Statistics of treebanks: the paper's deterministic tables, how easy labels are to learn, and enhanced graphs."""

from __future__ import annotations

import time
import timeit
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from biplanar.data.conllu import Sentence, read_conllu
from biplanar.data.files import UTF_8, display_name
from biplanar.data.forest import Column, Forest
from biplanar.data.formats import COMPRESSED
from biplanar.decoding import decode_forest
from biplanar.encodings import ENCODINGS, Encoding, all_encodings, get_encoding
from biplanar.encodings.graphs import GRAPH_ENCODINGS, RELATION, GraphEncoding, encode_graphs, get_graph_encoding
from biplanar.encodings.lifting import lift, lower
from biplanar.encodings.relations import RULES
from biplanar.errors import FileError
from biplanar.planes.crossings import nonprojective

# A row of a table of labels: the cells of plane 1, plane 2 and the relation; None where there are no data for it.
Row = list[Any] | None

# How often words have each combination of labels: one for each task, and the relation.
Counts = Counter[tuple[str, ...]]

Shares = dict[str, float | None]

SPLITS = ("train", "dev", "test")

# The encodings of the paper's tables, in the order of their columns; labels are also counted for the project's own.
COVERAGE_TABLE = ("1p-brackets", "2p-greedy", "2p-prop")
LABEL_TABLES = ("rel-pos", *COVERAGE_TABLE, "2p-full")

# The paper's counts include labels for the beginning and the end of the sentence.
BOUNDARY_LABELS = 2

ROUNDS = 3  # of measuring speed; the fastest counts


@dataclass(frozen=True)
class Treebank:
    """The trees of a treebank by split, some of which may be missing; or by file, if there are no splits."""

    name: str
    splits: Mapping[str, Forest]
    has_splits: bool = True

    @cached_property
    def nonprojective(self) -> dict[str, tuple[int, int]]:
        """Non-projective sentences and arcs of each split or file."""
        counts = {}
        for name, forest in self.splits.items():
            arcs = nonprojective(forest)
            sentences = np.logical_or.reduceat(arcs, forest.offsets[:-1])
            counts[name] = int(sentences.sum()), int(arcs.sum())
        return counts

    def chosen(self, *splits: str) -> list[Forest] | None:
        """The trees of some splits, None if one is missing; without splits, all trees."""
        if not self.has_splits:
            return list(self.splits.values())
        return [self.splits[split] for split in splits] if set(splits) <= set(self.splits) else None


def read_treebank(*paths: str | Path, text_encoding: str = UTF_8) -> Treebank:
    """The `*-train`, `*-dev` and `*-test` CoNLL-U files of a folder, compressed or not; or some files as they are."""
    files, has_splits = _named_files(paths)
    forests = {name: _read_forest(file, text_encoding) for name, file in files.items()}
    return Treebank(Path(paths[0]).name if has_splits else ", ".join(files), forests, has_splits)


def _named_files(paths: Sequence[str | Path]) -> tuple[Mapping[str, str | Path], bool]:
    """The files of a folder by split, or files by their names; and whether there are splits."""
    places = [Path(path) for path in paths]
    if len(places) == 1 and places[0].is_dir():
        return split_files(places[0]), True
    for place in places:
        if place.is_dir():
            raise FileError(f"{place}: a folder among several paths; give one folder, or files")
        if not place.exists() and str(place) != "-":
            raise FileError(f"{place}: no such file or folder")
    return {display_name(path): path for path in paths}, False


def split_files(folder: Path) -> dict[str, Path]:
    """The `*-train`, `*-dev` and `*-test` CoNLL-U files of a folder, compressed or not; at least one."""
    chosen = dict[str, Path]()
    for split in SPLITS:
        files = [file for ending in ("", *COMPRESSED) for file in sorted(folder.glob(f"*{split}.conllu{ending}"))]
        if len(files) > 1:
            raise FileError(f"{folder}: several {split} files: {', '.join(file.name for file in files)}")
        chosen |= dict(zip([split], files, strict=False))
    if not chosen:
        raise FileError(f"{folder}: no files named *-train.conllu, *-dev.conllu or *-test.conllu")
    return chosen


def _read_forest(file: str | Path, text_encoding: str) -> Forest:
    sentences = list(read_conllu(file, text_encoding))
    forest = Forest.from_sentences(sentences)
    roots = forest.roots()
    if (roots != 1).any():  # brackets cannot express them
        sentence = int(np.argmax(roots != 1))
        raise sentences[sentence].error_at(1, f"{roots[sentence]} roots instead of one")
    return forest


def treebank_statistics(
    treebank: Treebank, encodings: Sequence[str] | None = None, *, speed: bool = False
) -> dict[str, Any]:
    """All tables as JSON-like values, shaped as a treebank's row in the paper's tables; None where data is missing.

    `encodings` are those that are compared, by default all, and in `label_sizes` and `unseen_labels` those of the
    paper. Without splits, coverage and labels are of all trees, and `files` has the sizes.
    """
    trees, names = treebank.chosen("train"), list(all_encodings()) if encodings is None else encodings
    known = [encoding for encoding in map(get_encoding, names) if trees and have_tags(trees, encoding)]
    covered = {one.name: _coverage_of(trees, one) for one in known} if trees else {}
    found = [covered.get(name) or _coverage_of(trees, ENCODINGS[name]) for name in COVERAGE_TABLE] if trees else None
    others = {name: forest for name, forest in treebank.splits.items() if treebank.has_splits and name != "train"}
    counted = map(get_encoding, LABEL_TABLES if encodings is None else encodings)
    sizes_and_unseen = {one.name: _label_tables(treebank, one) for one in counted}
    tables: dict[str, Any] = {
        "nonprojectivity": nonprojectivity(treebank),
        **{name: found and [one[name] for one in found] for name in ("coverage", "coverage_before_repair")},
        "label_sizes": {name: sizes for name, (sizes, _) in sizes_and_unseen.items()},
        "split_sizes": _split_sizes(treebank),
        "unseen_labels": {name: unseen for name, (_, unseen) in sizes_and_unseen.items()},
        "encodings": covered or None,
        "labels": {one.name: label_statistics(trees, others, one) for one in known} if trees else None,
    }
    if trees and speed:
        for one in known:
            tables["labels"][one.name] |= label_speed(trees, one)
    return tables if treebank.has_splits else tables | {"files": _sizes(treebank)}


def percent(part: int, whole: int) -> float:
    """A share in percent, to two decimals as in the paper."""
    return round(100 * part / whole, 2) if whole else 0.0


def nonprojectivity(treebank: Treebank) -> list[float] | None:
    """Table 1: the share of non-projective sentences and arcs in the whole treebank."""
    forests = treebank.chosen(*SPLITS)
    if forests is None:
        return None
    sentences, arcs = map(sum, zip(*treebank.nonprojective.values(), strict=True))
    return [percent(sentences, sum(map(len, forests))), percent(arcs, sum(len(forest.heads) for forest in forests))]


def _split_sizes(treebank: Treebank) -> list[float | None]:
    """Appendix A: the number of sentences in each split, and the share of them that is non-projective."""
    sizes: Mapping[str, Sequence[float | None]] = _sizes(treebank) if treebank.has_splits else {}
    return [cell for split in SPLITS for cell in sizes.get(split, [None, None])]


def _sizes(treebank: Treebank) -> dict[str, list[float]]:
    counts = treebank.nonprojective
    return {name: [len(one), percent(counts[name][0], len(one))] for name, one in treebank.splits.items()}


def _coverage_of(forests: Sequence[Forest], encoding: Encoding) -> Shares:
    """How much of some trees survives, in percent. Before repair, roots count as covered, as they need no brackets."""
    counts = sum((coverage(forest, encoding) for forest in forests), Counter[str]())
    words, sentences, bracketed = counts["words"], counts["sentences"], counts["bracketed_arcs"]
    return {
        "coverage": percent(counts["heads_after_repair"], words),
        "coverage_before_repair": percent(counts["arcs_before_repair"] + sentences, words),
        "whole_sentences": percent(counts["whole_sentences"], sentences),
        "plane2_arcs": percent(counts["plane2_arcs"], bracketed) if bracketed else None,
    }


def coverage(forest: Forest, encoding: Encoding) -> Counter[str]:
    """How many words and sentences survive encoding and decoding; a root is right before repair if it has no head."""
    *columns, deprels = _label_columns(forest, encoding)
    asserted = encoding.decode(columns, forest.offsets, forest.upos)
    asserted = lower(encoding, Forest(forest.offsets, asserted, deprels)).heads
    right = np.where(forest.heads == 0, asserted <= 0, asserted == forest.heads)
    repaired = decode_forest(columns, deprels, forest.offsets, encoding, decoder="paper", upos=forest.upos)
    planes = encoding.planes(forest)
    planes = np.zeros(0, dtype=np.int8) if planes is None else planes
    return Counter(
        words=len(forest.heads),
        sentences=len(forest),
        arcs_before_repair=int((right & (forest.heads > 0)).sum()),
        heads_after_repair=int((repaired.heads == forest.heads).sum()),
        whole_sentences=int(np.logical_and.reduceat(right, forest.offsets[:-1]).sum()),
        bracketed_arcs=int((planes > 0).sum()),
        plane2_arcs=int((planes == 2).sum()),
    )


def have_tags(forests: Iterable[Forest], encoding: Encoding) -> bool:
    """Whether all words have part-of-speech tags, if the encoding needs them."""
    return not encoding.needs_upos or all(forest.upos and "_" not in forest.upos.names for forest in forests)


def _label_columns(forest: Forest, encoding: Encoding) -> tuple[Column, ...]:
    """The labels of trees, one column for each task, and the relations, which lifting changes."""
    return (*encoding.encode(forest), lift(encoding, forest).deprels)


def _label_tables(treebank: Treebank, encoding: Encoding) -> tuple[Row, Row]:
    """Table 3: how many labels each task has in train and dev.

    Appendix B: labels of test that these lack: how many, of how many, and their share of all occurrences.
    """
    known_in, forests = treebank.chosen("train", "dev"), treebank.chosen(*SPLITS)
    if known_in is None or not have_tags(known_in, encoding):
        return None, None
    tasks = zip(*(_label_columns(forest, encoding) for forest in known_in), strict=True)
    known = [set[str]().union(*(column.names for column in task)) for task in tasks]
    sizes = _cells([len(labels) + BOUNDARY_LABELS for labels in known])
    if not (treebank.has_splits and forests and have_tags(forests, encoding)):
        return sizes, None
    columns = _label_columns(treebank.splits["test"], encoding)
    return sizes, _cells([_unseen(column, labels) for column, labels in zip(columns, known, strict=True)])


def _unseen(column: Column, known: set[str]) -> list[float]:
    unseen = np.array([name not in known for name in column.names])
    return [int(unseen.sum()), len(column.names), percent(int(unseen[column.ids].sum()), len(column.ids))]


def _cells(cells: list[Any]) -> Row:
    """None where an encoding has no second plane."""
    *planes, deprel = cells
    return [planes[0], planes[1] if len(planes) > 1 else None, deprel]


def label_statistics(train: Sequence[Forest], others: Mapping[str, Forest], encoding: Encoding) -> dict[str, Any]:
    """The labels of train, and the share of words in others that have a label or relation unseen there.

    `labels` are counts by task. `entropy` is that of a word's labels together, in bits; with the relation, it includes
    what lifting adds to relations.
    """
    counts = sum((_counts(forest, encoding) for forest in train), Counts())
    *labels, relations = ({row[task] for row in counts} for task in range(len(encoding.tasks) + 1))
    without_relations = Counts()
    for row, count in counts.items():
        without_relations[row[:-1]] += count
    return {
        "labels": [len(names) for names in labels],
        "relations": len(relations),
        "unseen": {
            name: _unseen_share(_counts(forest, encoding), [*labels, relations])
            for name, forest in others.items()
            if have_tags([forest], encoding)
        },
        "entropy": _entropy(without_relations),
        "entropy_with_relation": _entropy(counts),
    }


def label_speed(forests: Sequence[Forest], encoding: Encoding) -> dict[str, int]:
    """Sentences a second of CPU time: arrays of heads to labels, and labels to the heads of valid trees."""
    columns = [_label_columns(forest, encoding) for forest in forests]

    def decode() -> None:
        for forest, (*labels, deprels) in zip(forests, columns, strict=True):
            decode_forest(labels, deprels, forest.offsets, encoding, upos=forest.upos)

    sentences = sum(map(len, forests))
    tasks = {"encode": lambda: [_label_columns(forest, encoding) for forest in forests], "decode": decode}
    rates = {}
    for name, task in tasks.items():
        task()  # which compiles it
        best = min(timeit.repeat(task, number=1, repeat=ROUNDS, timer=time.process_time))
        rates[name] = round(sentences / max(best, 1e-9))
    return rates


def _counts(forest: Forest, encoding: Encoding) -> Counts:
    columns = _label_columns(forest, encoding)
    sizes = [len(column.names) for column in columns]
    found, counts = np.unique(np.ravel_multi_index([column.ids for column in columns], sizes), return_counts=True)
    ids = zip(*(task.tolist() for task in np.unravel_index(found, sizes)), strict=True)
    rows = (tuple(column.names[number] for column, number in zip(columns, row, strict=True)) for row in ids)
    return Counter(dict(zip(rows, counts.tolist(), strict=True)))


def _unseen_share(counts: Counts, known: Sequence[set[str]]) -> float:
    """The share of words with a label that is not known, in percent."""
    is_known = [all(label in names for label, names in zip(row, known, strict=True)) for row in counts]
    unseen = sum(count for count, seen in zip(counts.values(), is_known, strict=True) if not seen)
    return round(100 * unseen / counts.total(), 3) if counts else 0.0


def _entropy(counts: Counts) -> float:
    shares = np.array(sorted(counts.values())) / counts.total()
    return round(float(-(shares * np.log2(shares)).sum()), 3) + 0.0


# Enhanced graphs


def graph_statistics(
    *paths: str | Path, encodings: Sequence[str] | None = None, text_encoding: str = UTF_8
) -> dict[str, Any]:
    """The graphs of a folder's splits, or of files: what they have beyond the trees, and their labels.

    Coverage and labels are of the training file, or of all files without splits; `unseen` is the share of words in the
    other splits with a label that train lacks, in percent.
    """
    files, has_splits = _named_files(paths)
    sides = {name: list(read_conllu(file, text_encoding)) for name, file in files.items()}
    train = sides.get("train", []) if has_splits else [sentence for side in sides.values() for sentence in side]
    others = {name: side for name, side in sides.items() if has_splits and name != "train"}
    names = list(GRAPH_ENCODINGS) if encodings is None else encodings
    return {
        "graphs": {name: _graph_sizes(side) for name, side in sides.items()},
        "encodings": {name: _graph_labels(train, others, get_graph_encoding(name)) for name in names} if train else {},
    }


def _graph_sizes(sentences: Sequence[Sentence]) -> dict[str, float]:
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


def _graph_labels(
    train: Sequence[Sentence], others: Mapping[str, list[Sentence]], encoding: GraphEncoding
) -> dict[str, Any]:
    columns = encode_graphs(train, encoding)
    unseen = {split: encode_graphs(side, encoding) for split, side in others.items()}
    rules = np.isin(columns[RELATION].names, RULES)
    return {
        **_graph_coverage(train, columns[encoding.task], encoding),
        "labels": {task: len(column.names) for task, column in columns.items()},
        "relations_by_rule": percent(int(rules[columns[RELATION].ids].sum()), len(columns[RELATION].ids)),
        "unseen": {
            split: {task: _unseen(column, set(columns[task].names))[-1] for task, column in one.items()}
            for split, one in unseen.items()
        },
    }


def _graph_coverage(sentences: Sequence[Sentence], labels: Column, encoding: GraphEncoding) -> dict[str, float]:
    """Arcs and sentences that come back from their labels, in percent."""
    counts: Counter[str] = Counter()
    forest = Forest.from_sentences(sentences)
    changes = encoding.decode(labels, forest)
    for sentence, start in zip(sentences, forest.offsets.tolist(), strict=False):
        graph = sentence.needed_graph().collapsed()
        wanted = Counter((int(head), place) for place, heads in enumerate(graph.heads, start) for head, _ in heads)
        basic = enumerate(sentence.heads, start)
        found = Counter((head, place) for place, own in basic for head in changes.get(place, [own]))
        counts.update(arcs=wanted.total(), covered=(wanted & found).total(), whole=wanted == found)
    whole = percent(counts["whole"], len(sentences))
    return {"covered_arcs": percent(counts["covered"], counts["arcs"]), "whole_sentences": whole}
