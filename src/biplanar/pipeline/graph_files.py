"""From the enhanced graphs of CoNLL-U to files of labels, and back into CoNLL-U that has trees."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import TextIO

from biplanar.data.conllu import Sentence, read_conllu
from biplanar.data.files import UTF_8, display_name
from biplanar.data.forest import Column, offsets_of
from biplanar.data.label_files import get_layout, read_labels
from biplanar.encodings.graphs import EXTRA, RELATION, GraphEncoding, decode_graphs, encode_graphs
from biplanar.errors import LabelError
from biplanar.pipeline.label_files import CHUNK_SENTENCES, EncodingReport, next_like
from biplanar.pipeline.parser_io import chunked


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
