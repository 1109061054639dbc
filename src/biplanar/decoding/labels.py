"""Labels for any tagger: trees to rows of labels, and rows of labels, whatever a tagger made of them, back to trees."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from biplanar.data.arrays import Float32s, Int64s
from biplanar.data.forest import Column, Forest, offsets_of
from biplanar.data.tree import Tree
from biplanar.decoding.decoders import DEFAULT_LABEL_DECODER, get_repair
from biplanar.decoding.inventory import ROOT, is_root_like
from biplanar.encodings import Encoding, get_encoding
from biplanar.encodings.lifting import lift, lower
from biplanar.errors import LabelError

# One word's labels: one for each task of the encoding, then the relation.
Row = tuple[str, ...]


def encode(tree: Tree, encoding: str, *, upos: Sequence[str] | None = None) -> list[Row]:
    """One row of labels a word. `rel-pos` needs part-of-speech tags."""
    return encode_all([tree], encoding, upos=None if upos is None else [upos])[0]


def decode(
    rows: Sequence[Sequence[str]],
    encoding: str,
    *,
    decoder: str = "greedy",
    upos: Sequence[str] | None = None,
) -> Tree:
    """A tree from rows of labels. Any labels give a valid tree."""
    return decode_all([rows], encoding, decoder=decoder, upos=None if upos is None else [upos])[0]


def encode_all(trees: Sequence[Tree], encoding: str, *, upos: Iterable[Sequence[str]] | None = None) -> list[list[Row]]:
    """`encode` for many trees at once, which is many times faster."""
    how, forest = get_encoding(encoding), Forest.from_trees(trees, upos)
    return label_rows(how.encode(forest), lift(how, forest))


def decode_all(
    sentences: Sequence[Sequence[Sequence[str]]],
    encoding: str,
    *,
    decoder: str = "greedy",
    upos: Iterable[Sequence[str]] | None = None,
) -> list[Tree]:
    """`decode` for many sentences at once, which is many times faster."""
    how = get_encoding(encoding)
    tags = None if upos is None else Column.of(tag for tags in upos for tag in tags)
    return rows_forest(sentences, how, decoder=decoder, upos=tags).trees()


def label_rows(columns: Sequence[Column], forest: Forest) -> list[list[Row]]:
    """Rows of labels for every sentence of a forest, from its columns of labels."""
    rows = list(zip(*(column.labels() for column in (*columns, forest.deprels)), strict=True))
    return [rows[start:end] for start, end in zip(forest.offsets[:-1], forest.offsets[1:], strict=True)]


def rows_forest(
    sentences: Sequence[Sequence[Sequence[str]]],
    encoding: Encoding,
    *,
    decoder: str = "greedy",
    upos: Column | None = None,
) -> Forest:
    """The trees of many sentences' rows."""
    rows = [row for sentence in sentences for row in sentence]
    width = len(encoding.tasks) + 1
    for number, row in enumerate(rows, 1):
        if len(row) != width:
            wanted = ", ".join([*encoding.tasks, "deprel"])
            raise LabelError(f"{encoding.name}: row {number}: expected {width} labels ({wanted}), found {len(row)}")
    if not all(sentences):
        raise LabelError("expected at least one word in each sentence, found none")
    columns = [Column.of(row[task] for row in rows) for task in range(width)]
    offsets = offsets_of(map(len, sentences))
    return decode_forest(columns[:-1], columns[-1], offsets, encoding, decoder=decoder, upos=upos)


def decode_forest(
    columns: Sequence[Column],
    deprels: Column,
    offsets: Int64s,
    encoding: Encoding,
    *,
    decoder: str = DEFAULT_LABEL_DECODER,
    upos: Column | None = None,
) -> Forest:
    """Trees for many sentences at once, from one column of labels a task and one of relations."""
    repair = get_repair(decoder)
    if len(columns) != len(encoding.tasks):
        raise LabelError(f"{encoding.name} expects {len(encoding.tasks)} labels a word, found {len(columns)}")
    for task, column in zip([*encoding.tasks, "deprel"], [*columns, deprels], strict=True):
        if len(column.ids) != offsets[-1]:
            raise LabelError(f"{task}: expected {offsets[-1]} labels, found {len(column.ids)}")
    asserted = encoding.decode(columns, offsets, upos)
    return lower(encoding, Forest(offsets, repair(asserted, offsets, root_likeness(deprels)), deprels, upos))


def root_likeness(deprels: Column) -> Float32s:
    """1 for words whose relation is `root`, 0.5 for its subtypes (`root:x`), 0 for all others."""
    likeness = [1.0 if name == ROOT else 0.5 * is_root_like(name) for name in deprels.names]
    return np.array([*likeness, 0.0], dtype=np.float32)[deprels.ids]
