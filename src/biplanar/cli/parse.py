"""`biplanar parse`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from biplanar.cli.options import TEXT_ENCODING, split_names
from biplanar.data.files import INPUTS, OUTPUTS, UTF_8

# What is written to files of these endings, if nothing else is asked for; all others get CoNLL-U.
ENDINGS = {".json": "json", ".jsonl": "json", ".svg": "svg", ".html": "html", ".txt": "tree"}


def parse(
    files: Annotated[
        list[str] | None, typer.Argument(help="What to parse, one file after the other; - is standard input.")
    ] = None,
    model: Annotated[str | None, typer.Option("--model", "-m", help="A model's folder; none: English.")] = None,
    text: Annotated[str | None, typer.Option("--text", help="Parse this text.")] = None,
    kind: Annotated[
        str | None, typer.Option("--input", help=f"{', '.join(INPUTS)}; by the file's name if not given.")
    ] = None,
    text_encoding: Annotated[str, TEXT_ENCODING] = UTF_8,
    target: Annotated[
        str | None, typer.Option("--output", help=f"{', '.join(OUTPUTS)}; by the ending of -o if not given.")
    ] = None,
    output: Annotated[str, typer.Option("-o", help="Where to write; - is standard output.")] = "-",
    decoder: Annotated[
        str | None, typer.Option(help="How scores become trees (docs/search.md); the best measured if not given.")
    ] = None,
    beam: Annotated[int, typer.Option(help="How many states a search keeps at each word.", min=1, max=10_000)] = 64,
    probabilities: Annotated[
        bool, typer.Option("--probabilities", help="How likely each head is, as HeadProb in MISC.")
    ] = False,
    best: Annotated[int, typer.Option(help="Write so many trees of each sentence, best first.", min=1, max=1000)] = 1,
    tags: Annotated[
        bool, typer.Option(help="Fill empty columns with the tags, features and lemmas that the model predicts.")
    ] = True,
    retag: Annotated[bool, typer.Option("--retag", help="Replace those that the input has.")] = False,
    ranges: Annotated[
        bool, typer.Option("--ranges", help="Of raw text, which characters each token is, as TokenRange in MISC.")
    ] = False,
    columns: Annotated[
        str, typer.Option(help="Draw columns under the words: upos,xpos,feats,lemma (--output tree, svg, html).")
    ] = "",
    batch_tokens: Annotated[
        int | None, typer.Option(help="Words in a batch; 500 on a processor, 60000 elsewhere.", min=1)
    ] = None,
    device: Annotated[str, typer.Option(help="cpu, auto, cuda:N or mps.")] = "cpu",
    runtime: Annotated[str | None, typer.Option(help="int8, onnx or torch; the fastest if not given.")] = None,
    threads: Annotated[int, typer.Option(help="Processor threads, of each worker.", min=1)] = 1,
    workers: Annotated[int, typer.Option(help="Processes that parse, each with the model loaded.", min=1)] = 1,
    engine: Annotated[
        str | None, typer.Option(help="What runs them: process or processes; by the number of workers if not given.")
    ] = None,
) -> None:
    """Parse text, words or CoNLL-U."""
    _spare_scipy()
    from biplanar.bulk import EngineConfig, Source, Task, make_engine, parse_files
    from biplanar.cli.draw import terminal_width
    from biplanar.data.files import writing
    from biplanar.decoding import DEFAULT_DECODER
    from biplanar.decoding.beam import Beam
    from biplanar.errors import BiplanarError
    from biplanar.pipeline.options import ParseOptions

    if text is not None and files:
        raise BiplanarError(f"expected a file or --text, found both {files[0]} and --text")
    options = ParseOptions(
        decoder or DEFAULT_DECODER, Beam(beam), probabilities, best, tags=tags, retag=retag, batch_words=batch_tokens
    )
    task = Task(
        model,
        device=device,
        runtime=runtime,
        threads=threads,
        options=options,
        output=target or ENDINGS.get(Path(output).suffix, "conllu"),
        width=terminal_width(),
        colour=sys.stdout.isatty(),
        columns=tuple(split_names(columns)),
    )
    source = Source(tuple(files or ["-"]), kind, text, text_encoding, ranges)
    runner = make_engine(EngineConfig(workers, _report), engine)
    with writing(output) as stream:
        outcome = parse_files(source, stream.buffer, task, runner)
    if lost := outcome.lost:
        _report(f"the search found no tree for {lost} of {outcome.sentences} sentences; greedy decoding did")


def _spare_scipy() -> None:
    """Numba looks for SciPy's linear algebra, which takes a quarter of a second to load and no compiled code here uses.

    Only a command may decide that for its whole process, and only before anything else has loaded either.
    """
    if not {"numba", "scipy"} & set(sys.modules):
        sys.modules["scipy"] = None  # type: ignore[assignment]  # this is how imports are made to fail
        try:
            import numba.np.arraymath  # noqa: F401
        finally:
            del sys.modules["scipy"]


def _report(message: str) -> None:
    typer.echo(f"biplanar: {message}", err=True)
