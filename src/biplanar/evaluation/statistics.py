"""The deterministic tables of the paper, for any treebank: non-projectivity, coverage, label sets, unseen labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from functools import cached_property, reduce
from operator import add
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from biplanar.data.conllu import read_conllu
from biplanar.data.files import OPENERS, UTF_8, display_name
from biplanar.data.forest import Column, Forest
from biplanar.decoding import decode_forest
from biplanar.encodings import ENCODINGS, Encoding, get_encoding
from biplanar.encodings.lifting import lower
from biplanar.errors import FileError
from biplanar.evaluation.label_statistics import have_tags, label_columns, label_speed, label_statistics
from biplanar.planes.crossings import nonprojective

Cell = TypeVar("Cell")

SPLITS = ("train", "dev", "test")

# The encodings of the paper's tables, in the order of their columns; labels are counted for the project's own, too.
COVERAGE_TABLE = ("1p-brackets", "2p-greedy", "2p-prop")
LABEL_TABLES = ("rel-pos", *COVERAGE_TABLE, "2p-full")

# Beginning and end of the sentence are labels too in the paper's counts.
BOUNDARY_LABELS = 2


@dataclass(frozen=True)
class Coverage:
    """How much of some trees an encoding gives back; counts of words and sentences, to be divided last."""

    words: int
    sentences: int
    arcs_before_repair: int
    heads_after_repair: int
    whole_sentences: int
    bracketed_arcs: int
    plane2_arcs: int

    def __add__(self, other: Coverage) -> Coverage:
        return Coverage(*map(add, astuple(self), astuple(other)))


@dataclass(frozen=True)
class Treebank:
    """The trees of a treebank by split, of which some may be missing; or by file, where these are no splits."""

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
    places = [Path(path) for path in paths]
    if len(places) == 1 and places[0].is_dir():
        return _read_splits(places[0], text_encoding)
    for place in places:
        if place.is_dir() or not (place.exists() or str(place) == "-"):
            found = "a folder among several paths" if place.is_dir() else "nothing"
            raise FileError(f"{place}: expected a folder with CoNLL-U files, or files, found {found}")
    files = {display_name(path): _read_forest(path, text_encoding) for path in paths}
    return Treebank(", ".join(files), files, has_splits=False)


def _read_splits(folder: Path, text_encoding: str) -> Treebank:
    found = {split: _split_file(folder, split) for split in SPLITS}
    files = {split: file for split, file in found.items() if file}
    if not files:
        raise FileError(f"{folder}: expected files named *-train.conllu, *-dev.conllu or *-test.conllu, found none")
    return Treebank(folder.name, {split: _read_forest(file, text_encoding) for split, file in files.items()})


def _read_forest(file: str | Path, text_encoding: str) -> Forest:
    sentences = list(read_conllu(file, text_encoding))
    forest = Forest.from_sentences(sentences)
    roots = forest.roots()
    if (roots != 1).any():  # brackets cannot say them; here it is still known where they stand
        sentence = int(np.argmax(roots != 1))
        raise sentences[sentence].error_at(1, f"expected a tree with one root, found one with {roots[sentence]}")
    return forest


def _split_file(folder: Path, split: str) -> Path | None:
    endings = ("", *OPENERS)
    files = [file for ending in endings for file in sorted(folder.glob(f"*{split}.conllu{ending}"))]
    if len(files) > 1:
        raise FileError(f"{folder}: expected one {split} file, found {', '.join(file.name for file in files)}")
    return files[0] if files else None


def treebank_statistics(
    treebank: Treebank, encodings: Sequence[str] | None = None, *, speed: bool = False
) -> dict[str, Any]:
    """All tables as JSON-like values, shaped as a treebank's row in the paper's tables; None where data is missing.

    Without splits, coverage is of all trees and labels are those of all trees; `files` has the sizes. `encodings` and
    `labels` compare the encodings of these names, or all.
    """
    trees, names = treebank.chosen("train"), list(ENCODINGS) if encodings is None else encodings
    known = [encoding for encoding in map(get_encoding, names) if trees and have_tags(trees, encoding)]
    covered = {one.name: _coverage_of(trees, one) for one in known} if trees else {}
    tables = {
        "nonprojectivity": nonprojectivity(treebank),
        **_coverage_tables(trees, covered),
        "label_sizes": {name: label_sizes(treebank, name) for name in LABEL_TABLES},
        "split_sizes": split_sizes(treebank),
        "unseen_labels": {name: unseen_labels(treebank, name) for name in LABEL_TABLES},
        "encodings": {name: _summary(one) for name, one in covered.items()} or None,
        "labels": {one.name: _labels_of(treebank, trees, one, speed) for one in known} if trees else None,
    }
    return tables if treebank.has_splits else tables | {"files": _sizes(treebank)}


def _coverage_tables(trees: Sequence[Forest] | None, covered: Mapping[str, Coverage]) -> dict[str, Any]:
    """Table 2, after repair and before."""
    names = ("coverage", "coverage_before_repair")
    if not trees:
        return dict.fromkeys(names)
    found = [covered.get(name) or _coverage_of(trees, ENCODINGS[name]) for name in COVERAGE_TABLE]
    return dict(zip(names, (list(map(share, found)) for share in (_after_repair, _before_repair)), strict=True))


def _labels_of(treebank: Treebank, trees: Sequence[Forest], encoding: Encoding, speed: bool) -> dict[str, Any]:
    others = {name: forest for name, forest in treebank.splits.items() if treebank.has_splits and name != "train"}
    return label_statistics(trees, others, encoding) | (label_speed(trees, encoding) if speed else {})


def percent(part: int, whole: int) -> float:
    """A share in percent, to two decimals as the paper prints it."""
    return round(100 * part / whole, 2) if whole else 0.0


def nonprojectivity(treebank: Treebank) -> list[float] | None:
    """Table 1: the share of non-projective sentences and arcs in the whole treebank."""
    forests = treebank.chosen(*SPLITS)
    if forests is None:
        return None
    sentences, arcs = map(sum, zip(*treebank.nonprojective.values(), strict=True))
    return [percent(sentences, sum(map(len, forests))), percent(arcs, sum(len(forest.heads) for forest in forests))]


def split_sizes(treebank: Treebank) -> list[float | None]:
    """Appendix A: the sentences of each split, and the share of them that is non-projective."""
    sizes: Mapping[str, Sequence[float | None]] = _sizes(treebank) if treebank.has_splits else {}
    return [cell for split in SPLITS for cell in sizes.get(split, [None, None])]


def _sizes(treebank: Treebank) -> dict[str, list[float]]:
    return {
        name: [len(forest), percent(treebank.nonprojective[name][0], len(forest))]
        for name, forest in treebank.splits.items()
    }


def coverage(forest: Forest, encoding: Encoding) -> Coverage:
    """Table 2: encode and decode gold trees. Before repair, a root is right if the labels give it no head."""
    *columns, deprels = label_columns(forest, encoding)
    asserted = encoding.decode(columns, forest.offsets, forest.upos)
    asserted = lower(encoding, Forest(forest.offsets, asserted, deprels)).heads
    right = np.where(forest.heads == 0, asserted <= 0, asserted == forest.heads)
    repaired = decode_forest(columns, deprels, forest.offsets, encoding, decoder="paper", upos=forest.upos)
    planes = encoding.planes(forest)
    planes = np.zeros(0, dtype=np.int8) if planes is None else planes
    return Coverage(
        words=len(forest.heads),
        sentences=len(forest),
        arcs_before_repair=int((right & (forest.heads > 0)).sum()),
        heads_after_repair=int((repaired.heads == forest.heads).sum()),
        whole_sentences=int(np.logical_and.reduceat(right, forest.offsets[:-1]).sum()),
        bracketed_arcs=int((planes > 0).sum()),
        plane2_arcs=int((planes == 2).sum()),
    )


def _coverage_of(forests: Sequence[Forest], encoding: Encoding) -> Coverage:
    """The coverage of all forests together."""
    return reduce(add, (coverage(forest, encoding) for forest in forests))


def _after_repair(covered: Coverage) -> float:
    return percent(covered.heads_after_repair, covered.words)


def _before_repair(covered: Coverage) -> float:
    """Of all words; the roots, which need no brackets, are counted as covered."""
    return percent(covered.arcs_before_repair + covered.sentences, covered.words)


def _summary(covered: Coverage) -> dict[str, float | None]:
    return {
        "coverage": _after_repair(covered),
        "coverage_before_repair": _before_repair(covered),
        "whole_sentences": percent(covered.whole_sentences, covered.sentences),
        "plane2_arcs": percent(covered.plane2_arcs, covered.bracketed_arcs) if covered.bracketed_arcs else None,
    }


def label_sizes(treebank: Treebank, encoding: str) -> list[int | None] | None:
    """Table 3: how many labels each task has in train and dev."""
    known = _labels(treebank.chosen("train", "dev"), ENCODINGS[encoding])
    return _cells([len(labels) + BOUNDARY_LABELS for labels in known]) if known else None


def unseen_labels(treebank: Treebank, encoding: str) -> list[list[float] | None] | None:
    """Appendix B: labels of test that train and dev lack: how many, of how many, and their share of all occurrences."""
    forests, chosen = treebank.chosen(*SPLITS), ENCODINGS[encoding]
    if not (treebank.has_splits and forests and have_tags(forests, chosen)):
        return None
    known = _labels(treebank.chosen("train", "dev"), chosen) or []
    columns = label_columns(treebank.splits["test"], chosen)
    return _cells([_unseen(column, labels) for column, labels in zip(columns, known, strict=True)])


def _labels(forests: Sequence[Forest] | None, encoding: Encoding) -> list[set[str]] | None:
    """The distinct labels of all forests, task by task."""
    if forests is None or not have_tags(forests, encoding):
        return None
    columns = zip(*(label_columns(forest, encoding) for forest in forests), strict=True)
    return [set().union(*(column.names for column in task)) for task in columns]


def _unseen(column: Column, known: set[str]) -> list[float]:
    unseen = np.array([name not in known for name in column.names])
    return [int(unseen.sum()), len(column.names), percent(int(unseen[column.ids].sum()), len(column.ids))]


def _cells(cells: list[Cell]) -> list[Cell | None]:
    """One cell a task of the paper's tables; encodings without a second plane have none there."""
    *planes, deprel = cells
    return [planes[0], planes[1] if len(planes) > 1 else None, deprel]
