"""`biplanar parse`."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from biplanar.data.files import INPUTS, OUTPUTS


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
        int | None, typer.Option(help="Words in a batch; 500 on a processor, 60000 elsewhere.", min=1)
    ] = None,
    device: Annotated[str, typer.Option(help="cpu, auto, cuda:N or mps.")] = "cpu",
    runtime: Annotated[str | None, typer.Option(help="int8, onnx or torch; the fastest if not given.")] = None,
    threads: Annotated[int, typer.Option(help="Processor threads, of each worker.", min=1)] = 1,
    workers: Annotated[int, typer.Option(help="Processes that parse, each with the model loaded.", min=1)] = 1,
) -> None:
    """Parse text, words or CoNLL-U."""
    _spare_scipy()
    from biplanar.bulk.task import Task, parse_file
    from biplanar.cli.draw import terminal_width
    from biplanar.data.files import writing
    from biplanar.decoding.search import Beam
    from biplanar.errors import BiplanarError

    if text is not None and file != "-":
        raise BiplanarError(f"expected a file or --text, found both {file} and --text")
    task = Task(
        model,
        device=device,
        runtime=runtime,
        threads=threads,
        output=target,
        decoder=decoder,
        beam=Beam(beam),
        probabilities=probabilities,
        best=best,
        batch_words=batch_tokens,
        width=terminal_width(),
        colour=sys.stdout.isatty(),
    )
    kind = source or ("text" if text is not None or ".conllu" not in file else "conllu")
    with writing(output) as stream:
        outcome = parse_file(file, stream.buffer, task, kind=kind, text=text, workers=workers, report=_report)
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
