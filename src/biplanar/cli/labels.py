"""`biplanar encode` and `biplanar decode`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from biplanar.cli.options import TEXT_ENCODING
from biplanar.data.files import UTF_8
from biplanar.data.formats import without_compression
from biplanar.errors import BiplanarError

ENCODING = typer.Option("--encoding", "-e", help="1p-brackets, 2p-greedy, 2p-prop, 2p-full, rel-pos, ...")
LAYOUTS = "tsv (a line a word) or jsonl (a line a sentence). Default: by the file's ending."
OUTPUT = typer.Option("--output", "-o", help="Where to write; - is standard output.")

# Layouts by the endings of files.
ENDINGS = {"": "tsv", ".tsv": "tsv", ".txt": "tsv", ".labels": "tsv", ".jsonl": "jsonl"}


def encode(
    file: Annotated[str, typer.Argument(help="CoNLL-U, also .gz, .xz or .bz2; - is standard input.")] = "-",
    encoding: Annotated[str, ENCODING] = "2p-full",
    layout: Annotated[str | None, typer.Option("--format", help=LAYOUTS)] = None,
    output: Annotated[str, OUTPUT] = "-",
    text_encoding: Annotated[str, TEXT_ENCODING] = UTF_8,
) -> None:
    """Turn trees into labels for any tagger: form, labels and relation, tab-separated or as JSON lines.

    biplanar encode train.conllu -o train.tsv
    biplanar encode train.conllu --encoding rel-pos -o train.jsonl
    """
    from biplanar.data.files import writing
    from biplanar.encodings import get_encoding
    from biplanar.pipeline.label_files import encode_file

    chosen, layout = get_encoding(encoding), layout or _layout_of(output, written=True)
    with writing(output) as stream:
        report = encode_file(file, chosen, layout, stream, text_encoding=text_encoding)
    if report.not_covered:
        missed = f"{report.not_covered} of {report.sentences} sentences have arcs that {encoding} cannot express"
        typer.echo(f"biplanar: {missed}; they will not come back whole", err=True)


def decode(
    file: Annotated[str, typer.Argument(help="Labels as `biplanar encode` writes them; - is standard input.")] = "-",
    encoding: Annotated[str, ENCODING] = "2p-full",
    layout: Annotated[str | None, typer.Option("--input", help=LAYOUTS)] = None,
    output: Annotated[str, OUTPUT] = "-",
    decoder: Annotated[str, typer.Option(help="greedy, or paper (repaired as in the paper).")] = "greedy",
    into: Annotated[str | None, typer.Option(help="Replace the heads and relations of this CoNLL-U file.")] = None,
    text_encoding: Annotated[str, TEXT_ENCODING] = UTF_8,
) -> None:
    """Turn labels back into trees, as CoNLL-U. Any labels give a valid tree.

    biplanar decode predicted.tsv -o parsed.conllu
    biplanar decode predicted.tsv --into test.conllu -o parsed.conllu
    """
    from biplanar.data.conllu import write_conllu
    from biplanar.data.files import writing
    from biplanar.encodings import get_encoding
    from biplanar.pipeline.label_files import decode_file

    layout = layout or _layout_of(file, written=False)
    sentences = decode_file(file, get_encoding(encoding), layout, decoder, into, text_encoding=text_encoding)
    with writing(output) as stream:
        write_conllu(sentences, stream)


def _layout_of(file: str, *, written: bool) -> str:
    ending = Path(file if written else without_compression(file)).suffix
    if written and ending not in ENDINGS:
        raise BiplanarError(f"{file}: no format has the ending {ending}; choose one with --format (tsv, jsonl)")
    return ENDINGS.get(ending, "tsv")
