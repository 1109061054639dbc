"""`biplanar parse`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from biplanar.conllu import Sentence
    from biplanar.decoding.search import Beam
    from biplanar.parser import Parser

INPUTS = ("text", "lines", "horizontal", "vertical", "conllu")
OUTPUTS = ("conllu", "json", "tree", "svg")


def parse(
    file: Annotated[str, typer.Argument(help="What to parse; - is standard input.")] = "-",
    model: Annotated[str | None, typer.Option("--model", "-m", help="A model's folder; none: English.")] = None,
    text: Annotated[str | None, typer.Option("--text", help="Parse this text.")] = None,
    source: Annotated[
        str | None, typer.Option("--input", help=f"{', '.join(INPUTS)}; by the file's name if not given.")
    ] = None,
    target: Annotated[str, typer.Option("--output", help=", ".join(OUTPUTS))] = "conllu",
    output: Annotated[str, typer.Option("-o", help="Where to write; - is standard output.")] = "-",
    decoder: Annotated[str, typer.Option(help="search, minimum-risk, greedy or paper.")] = "search",
    beam: Annotated[int, typer.Option(help="How many states a search keeps at each word.", min=1, max=10_000)] = 64,
    probabilities: Annotated[
        bool, typer.Option("--probabilities", help="How likely each head is, as HeadProb in MISC.")
    ] = False,
    best: Annotated[int, typer.Option(help="Write so many trees of each sentence, best first.", min=1, max=1000)] = 1,
    batch_tokens: Annotated[
        int | None, typer.Option(help="Words in a batch; 500 on a processor, 20000 elsewhere.", min=1)
    ] = None,
    device: Annotated[str, typer.Option(help="cpu, auto, cuda:N or mps.")] = "cpu",
    threads: Annotated[int, typer.Option(help="Processor threads.", min=1)] = 1,
) -> None:
    """Parse text, words or CoNLL-U."""
    from biplanar.decoding.search import Beam
    from biplanar.errors import BiplanarError, UnknownNameError
    from biplanar.parser import load
    from biplanar.text import writing

    if text is not None and file != "-":
        raise BiplanarError(f"expected a file or --text, found both {file} and --text")
    source = source or ("text" if text is not None or ".conllu" not in file else "conllu")
    for kind, name, known in (("input", source, INPUTS), ("output", target, OUTPUTS)):
        if name not in known:
            raise UnknownNameError(kind, name, known)
    parser = load(model, device=device, threads=threads)
    sentences, width = _read(parser, file, text, source), Beam(beam)
    if best == 1:
        parsed = parser.pipe(
            sentences, decoder=decoder, batch_words=batch_tokens, probabilities=probabilities, beam=width
        )
    else:
        if decoder != "search":
            raise BiplanarError(f"--best needs --decoder search, found {decoder}")
        parsed = _several(parser, sentences, best, width, probabilities)
    with writing(output) as stream:
        _write(parsed, target, stream.write)
    if lost := parser.outcome.lost:
        count = parser.outcome.sentences
        typer.echo(f"biplanar: the search found no tree for {lost} of {count} sentences; greedy decoding did", err=True)


def _several(
    parser: Parser, sentences: Iterable[Sentence], wanted: int, beam: Beam, probabilities: bool
) -> Iterator[Sentence]:
    """All trees of each sentence, with their ranks and the log-probabilities of their labels as comments."""
    for sentence in sentences:
        trees = parser.best_trees_of(sentence, wanted, beam=beam, probabilities=probabilities)
        for rank, (parsed, score) in enumerate(trees, 1):
            yield parsed.with_comments({"tree_rank": str(rank), "tree_score": f"{score:.4f}"})


def _read(parser: Parser, file: str, text: str | None, source: str) -> Iterable[Sentence]:
    from biplanar.conllu import parse_conllu, read_conllu
    from biplanar.segmentation import read_horizontal, read_vertical
    from biplanar.text import read_lines

    if text is not None:
        if source == "conllu":
            return parse_conllu(text, "<text>")
        return parser.segmenter.segment(text, presegmented=source == "lines")
    if source in ("text", "lines"):
        lines = (line + "\n" for _, line in read_lines(file))
        return parser.segmenter.stream(lines, presegmented=source == "lines")
    readers = {"horizontal": read_horizontal, "vertical": read_vertical, "conllu": read_conllu}
    return readers[source](file)


def _write(sentences: Iterator[Sentence], target: str, write: Callable[[str], object]) -> None:
    import json
    import sys

    from biplanar.cli.draw import terminal_width
    from biplanar.draw import draw_sentences, draw_tree

    if target == "svg":
        write(draw_sentences(sentences) + "\n")
        return
    for sentence in sentences:
        if target == "conllu":
            write(sentence.to_conllu())
        elif target == "json":
            write(json.dumps(_json(sentence), ensure_ascii=False) + "\n")
        else:
            colour = sys.stdout.isatty()
            write(draw_tree(sentence.forms, sentence.tree, width=terminal_width(), colour=colour) + "\n\n")


def _json(sentence: Sentence) -> list[dict[str, str | int | float | None]]:
    """All columns of all words, and the probabilities of their heads where these are known."""
    from biplanar.parser import head_probabilities

    chances = head_probabilities(sentence)
    words = [word._asdict() for word in sentence.words]
    return (
        words
        if chances is None
        else [word | {"head_probability": chance} for word, chance in zip(words, chances, strict=True)]
    )
