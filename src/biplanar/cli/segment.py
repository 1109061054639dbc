"""`biplanar segment`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from biplanar.cli.common import LINE_BREAKS, MODEL, OUTPUT, TEXT_ENCODING, input_option, output_option
from biplanar.data.files import UTF_8, read_lines, writing
from biplanar.data.formats import CONLLU, HORIZONTAL, TEXT, VERTICAL
from biplanar.errors import check_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from biplanar.data.conllu import Sentence
    from biplanar.tokenizer.segmenter import Segmenter

TOKENS = "tokens"
INPUTS, OUTPUTS = (TEXT, TOKENS), (CONLLU, HORIZONTAL, VERTICAL)


def segment(
    file: Annotated[str, typer.Argument(help="A text; - is standard input.")] = "-",
    text: Annotated[str | None, input_option("--text", help="Segment this text.")] = None,
    kind: Annotated[
        str, input_option("--input", help="text, or tokens: separated by white space, only sentences are found.")
    ] = TEXT,
    line_breaks: Annotated[str, LINE_BREAKS] = "hint",
    text_encoding: Annotated[str, TEXT_ENCODING] = UTF_8,
    output: Annotated[str, OUTPUT] = "-",
    form: Annotated[
        str, output_option("--format", help="conllu, horizontal (a sentence a line) or vertical (a word a line).")
    ] = CONLLU,
    ranges: Annotated[bool, output_option("--ranges", help="Add text offsets to MISC, as TokenRange.")] = False,
    model: Annotated[str | None, MODEL] = None,
) -> None:
    """Split text into sentences and words, without parsing it.

    biplanar segment text.txt -o words.conllu
    biplanar segment tweets.txt --line-breaks sentence --format horizontal
    biplanar segment tokens.txt --input tokens --format horizontal
    """
    from biplanar.pipeline.loading import load_segmenter
    from biplanar.pipeline.model_folder import ModelFolder

    check_name("input", kind, INPUTS)
    check_name("output format", form, OUTPUTS)
    segmenter = load_segmenter(ModelFolder.find(model))
    lines = iter([text]) if text is not None else (f"{line}\n" for _, line in read_lines(file, text_encoding))
    if kind == TOKENS:
        sentences = _of_tokens(segmenter, lines)
    else:
        sentences = segmenter.stream(lines, line_breaks=line_breaks, ranges=ranges)
    with writing(output) as stream:
        stream.writelines(_written(sentence, form) for sentence in sentences)


def _of_tokens(segmenter: Segmenter, lines: Iterator[str]) -> Iterator[Sentence]:
    """The sentences of given tokens; a line without any ends one."""
    from itertools import chain, groupby

    from biplanar.data.raw_text import numbered

    blocks = (list(block) for is_blank, block in groupby(lines, lambda line: not line.strip()) if not is_blank)
    tokens = ([token for line in block for token in line.split()] for block in blocks)
    return numbered(chain.from_iterable(map(segmenter.sentences_of_tokens, tokens)))


def _written(sentence: Sentence, form: str) -> str:
    if form == CONLLU:
        return sentence.raw
    return " ".join(sentence.forms) + "\n" if form == HORIZONTAL else "\n".join([*sentence.forms, "", ""])
