"""`biplanar encode` and `biplanar decode`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from biplanar.cli.common import OUTPUT, TEXT_ENCODING, report
from biplanar.data.files import UTF_8, writing
from biplanar.data.formats import without_compression
from biplanar.errors import BiplanarError

ENCODING = typer.Option("--encoding", "-e", help="2p-full (the default), rel-pos, ...; for graphs: paths, delta, ...")
LAYOUTS = "tsv (a line a word) or jsonl (a line a sentence). Default: by the file's ending."

# The encodings of trees and graphs if none is named.
TREES, GRAPHS = "2p-full", "paths"

# Layouts by the endings of files.
ENDINGS = {"": "tsv", ".tsv": "tsv", ".txt": "tsv", ".labels": "tsv", ".jsonl": "jsonl"}


def encode(
    file: Annotated[str, typer.Argument(help="CoNLL-U, also .gz, .xz or .bz2; - is standard input.")] = "-",
    encoding: Annotated[str | None, ENCODING] = None,
    graphs: Annotated[bool, typer.Option("--graphs", help="Encode the enhanced graphs in DEPS instead.")] = False,
    layout: Annotated[str | None, typer.Option("--format", help=LAYOUTS)] = None,
    output: Annotated[str, OUTPUT] = "-",
    text_encoding: Annotated[str, TEXT_ENCODING] = UTF_8,
) -> None:
    """Turn trees or graphs into labels for any tagger: form, labels and relation, tab-separated or as JSON lines.

    biplanar encode train.conllu -o train.tsv
    biplanar encode train.conllu --encoding rel-pos -o train.jsonl
    biplanar encode train.conllu --graphs -o train.tsv
    """
    from biplanar.encodings import get_encoding
    from biplanar.encodings.graphs import get_graph_encoding
    from biplanar.pipeline.label_files import encode_file, encode_graph_file

    layout = layout or _layout_of(output, written=True)
    name = encoding or (GRAPHS if graphs else TREES)
    if graphs:
        write = partial(encode_graph_file, file, get_graph_encoding(name))
    else:
        write = partial(encode_file, file, get_encoding(name))
    with writing(output) as stream:
        written = write(layout, stream, text_encoding=text_encoding)
    if written.not_covered:
        missed = f"{written.not_covered} of {written.sentences} sentences have arcs that {name} cannot express"
        report(f"{missed}; decoding loses them")


def decode(
    file: Annotated[str, typer.Argument(help="Labels as `biplanar encode` writes them; - is standard input.")] = "-",
    encoding: Annotated[str | None, ENCODING] = None,
    graphs: Annotated[bool, typer.Option("--graphs", help="Decode labels of graphs, for the trees of --into.")] = False,
    layout: Annotated[str | None, typer.Option("--input", help=LAYOUTS)] = None,
    output: Annotated[str, OUTPUT] = "-",
    decoder: Annotated[str, typer.Option(help="greedy, or paper (repaired as in the paper).")] = "greedy",
    into: Annotated[str | None, typer.Option(help="Replace the heads and relations of this CoNLL-U file.")] = None,
    text_encoding: Annotated[str, TEXT_ENCODING] = UTF_8,
) -> None:
    """Turn labels back into trees or graphs, as CoNLL-U. Any labels give a valid one.

    biplanar decode predicted.tsv -o parsed.conllu
    biplanar decode predicted.tsv --into test.conllu -o parsed.conllu
    biplanar decode predicted.tsv --graphs --into parsed.conllu -o enhanced.conllu
    """
    from biplanar.data.conllu import write_conllu
    from biplanar.encodings import get_encoding
    from biplanar.encodings.graphs import get_graph_encoding
    from biplanar.pipeline.label_files import decode_file, decode_graph_file

    layout = layout or _layout_of(file, written=False)
    if graphs:
        if into is None:
            raise BiplanarError("--graphs needs --into FILE, a CoNLL-U file with the trees")
        how = get_graph_encoding(encoding or GRAPHS)
        sentences = decode_graph_file(file, how, layout, into, text_encoding=text_encoding)
    else:
        chosen = get_encoding(encoding or TREES)
        sentences = decode_file(file, chosen, layout, decoder, into, text_encoding=text_encoding)
    with writing(output) as stream:
        write_conllu(sentences, stream)


def _layout_of(file: str, *, written: bool) -> str:
    ending = Path(file if written else without_compression(file)).suffix
    if written and ending not in ENDINGS:
        raise BiplanarError(f"{file}: no format has the ending {ending}; choose one with --format (tsv, jsonl)")
    return ENDINGS.get(ending, "tsv")
