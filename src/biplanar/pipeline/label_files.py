"""From the trees or enhanced graphs of CoNLL-U to files of labels, for taggers of any kind, and back.

The guarantee: decoding what was encoded gives back every word, relation and head of each sentence whose arcs the
encoding covers; `encode_file` and `encode_graph_file` count the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TextIO

import numpy as np

from biplanar.data.conllu import Sentence, read_conllu
from biplanar.data.files import UTF_8, display_name
from biplanar.data.forest import Column, Forest, offsets_of
from biplanar.data.label_files import get_layout, read_labels
from biplanar.decoding import decode_forest
from biplanar.decoding.labels import label_rows, rows_forest
from biplanar.encodings import Encoding
from biplanar.encodings.encoding import encoded
from biplanar.encodings.graphs import EXTRA, RELATION, GraphEncoding, decode_graphs, encode_graphs
from biplanar.encodings.lifting import lift
from biplanar.errors import LabelError
from biplanar.pipeline.parser_io import chunked

# Sentences that are encoded or decoded at once: enough for the compiled loops, few enough for any memory.
CHUNK_SENTENCES = 4096


@dataclass
class EncodingReport:
    """How many sentences were encoded, and how many of them do not come back whole."""

    sentences: int = 0
    not_covered: int = 0


def encode_file(
    path: str | Path, encoding: Encoding, layout: str, stream: TextIO, *, text_encoding: str = UTF_8
) -> EncodingReport:
    """Write the labels of a CoNLL-U file."""
    write, report = get_layout(layout).write, EncodingReport()
    for sentences in chunked(read_conllu(path, text_encoding), lambda _: 1, lambda _: CHUNK_SENTENCES):
        forest = Forest.from_sentences(sentences)
        report.sentences += len(forest)
        if encoding.needs_upos:
            for sentence in sentences:
                sentence.check_tagged(encoding.name)
        columns = encoded(encoding, forest, sentences)
        report.not_covered += _count_not_covered(forest, encoding, columns)
        for sentence, rows in zip(sentences, label_rows(columns, lift(encoding, forest)), strict=True):
            words = [sentence.forms, sentence.upos] if encoding.needs_upos else [sentence.forms]
            labels = [list(column) for column in zip(*rows, strict=True)]
            stream.write(write(dict(zip(column_names(encoding), words + labels, strict=True))))
    return report


def decode_file(
    path: str | Path,
    encoding: Encoding,
    layout: str,
    decoder: str,
    into: str | Path | None = None,
    *,
    text_encoding: str = UTF_8,
) -> Iterator[Sentence]:
    """The parsed sentences of a file of labels, as new sentences or with all else taken from a CoNLL-U file."""
    labelled = read_labels(path, column_names(encoding), layout, text_encoding)
    originals = None if into is None else read_conllu(into, text_encoding)
    for chunk in chunked(labelled, lambda _: 1, lambda _: CHUNK_SENTENCES):
        upos = Column.of(tag for columns in chunk for tag in columns["upos"]) if encoding.needs_upos else None
        rows = [list(zip(*(columns[task] for task in (*encoding.tasks, "deprel")), strict=True)) for columns in chunk]
        forest = rows_forest(rows, encoding, decoder=decoder, upos=upos)
        for columns, tree in zip(chunk, forest.trees(), strict=True):
            if originals is None:
                yield Sentence.from_words(columns["form"], tree, upos=columns.get("upos"))
            else:
                yield next_like(originals, columns["form"], display_name(path)).with_tree(tree)
    if originals is not None and next(originals, None) is not None:
        raise LabelError(f"{display_name(into or '')} has more sentences than {display_name(path)}")


def encode_graph_file(
    path: str | Path, encoding: GraphEncoding, layout: str, stream: TextIO, *, text_encoding: str = UTF_8
) -> EncodingReport:
    """Write the labels of the graphs of a CoNLL-U file."""
    write, report = get_layout(layout).write, EncodingReport()
    for sentences in chunked(read_conllu(path, text_encoding), lambda _: 1, lambda _: CHUNK_SENTENCES):
        columns = encode_graphs(sentences, encoding)
        back = decode_graphs(columns, sentences, encoding)
        report.sentences += len(sentences)
        graphs = (sentence.needed_graph() for sentence in sentences)
        report.not_covered += sum(one.collapsed() != two.collapsed() for one, two in zip(graphs, back, strict=True))
        labels = {name: column.labels() for name, column in columns.items()}
        for sentence, (start, end) in zip(sentences, pairwise(offsets_of(map(len, sentences)).tolist()), strict=True):
            own = {name: column[start:end] for name, column in labels.items()}
            stream.write(write({"form": sentence.forms, **own}))
    return report


def decode_graph_file(
    path: str | Path, encoding: GraphEncoding, layout: str, into: str | Path, *, text_encoding: str = UTF_8
) -> Iterator[Sentence]:
    """The sentences of a CoNLL-U file with the graphs of a file of labels."""
    names = [encoding.task, RELATION, EXTRA]
    labelled = read_labels(path, ["form", *names], layout, text_encoding)
    originals = read_conllu(into, text_encoding)
    for chunk in chunked(labelled, lambda _: 1, lambda _: CHUNK_SENTENCES):
        sentences = [next_like(originals, columns["form"], display_name(path)) for columns in chunk]
        merged = {name: Column.of(label for columns in chunk for label in columns[name]) for name in names}
        for sentence, graph in zip(sentences, decode_graphs(merged, sentences, encoding), strict=True):
            yield sentence.with_graph(graph)
    if next(originals, None) is not None:
        raise LabelError(f"{display_name(into)} has more sentences than {display_name(path)}")


def column_names(encoding: Encoding) -> list[str]:
    """What stands in each column of a file of labels."""
    return ["form", *(["upos"] if encoding.needs_upos else []), *encoding.tasks, "deprel"]


def _count_not_covered(forest: Forest, encoding: Encoding, columns: tuple[Column, ...]) -> int:
    relations = lift(encoding, forest).deprels
    back = decode_forest(columns, relations, forest.offsets, encoding, upos=forest.upos)
    return int(np.logical_or.reduceat(back.heads != forest.heads, forest.offsets[:-1]).sum())


def next_like(originals: Iterator[Sentence], forms: list[str], labels: str) -> Sentence:
    """The next sentence, or an error that says where its words are not these."""
    original = next(originals, None)
    if original is None:
        raise LabelError(f"{labels}: more sentences than in the CoNLL-U file")
    if len(original) != len(forms):
        raise original.error_at(1, f"{len(original)} words instead of the {len(forms)} in {labels}")
    for word, (found, wanted) in enumerate(zip(original.forms, forms, strict=True), 1):
        if found != wanted:
            raise original.error_at(word, f"the word {found!r} instead of {wanted!r}, as in {labels}")
    return original
