"""`biplanar parse`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from biplanar.cli.options import TEXT_ENCODING, split_names
from biplanar.cli.progress import byte_progress
from biplanar.data.files import INPUTS, OUTPUTS, UTF_8
from biplanar.errors import BiplanarError

if TYPE_CHECKING:
    from biplanar.bulk import Engine, Plan, Source, Task
    from biplanar.decoding.beam import Outcome

# What is written to files of these endings, if nothing else is asked for; all others get CoNLL-U.
ENDINGS = {".json": "json", ".jsonl": "json", ".svg": "svg", ".html": "html", ".txt": "tree"}

# Engines whose workers write shards, so that -o is a folder.
WRITE_SHARDS = ("ray",)

MEGABYTE = 10**6


def parse(
    files: Annotated[
        list[str] | None,
        typer.Argument(help="Files and folders to parse, one file after the other; - is standard input."),
    ] = None,
    model: Annotated[str | None, typer.Option("--model", "-m", help="A model's folder; none: English.")] = None,
    text: Annotated[str | None, typer.Option("--text", help="Parse this text.")] = None,
    kind: Annotated[
        str | None,
        typer.Option("--input", help=f"{', '.join(INPUTS)}, jsonl, parquet; by the file's name if not given."),
    ] = None,
    text_encoding: Annotated[str, TEXT_ENCODING] = UTF_8,
    target: Annotated[
        str | None,
        typer.Option(
            "--output",
            help=f"{', '.join(OUTPUTS)}; by the ending of -o if not given. In a folder: conllu, conllu.zst (.gz, .xz, "
            ".bz2) or parquet.",
        ),
    ] = None,
    output: Annotated[
        str, typer.Option("-o", help="Where to write; - is standard output. With --engine ray, a folder.")
    ] = "-",
    output_dir: Annotated[
        str | None, typer.Option(help="Write to this folder, one file for each input or part of a large one.")
    ] = None,
    shard_size: Annotated[
        int, typer.Option(help="Megabytes from which on an input is written in parts (--output-dir).", min=1)
    ] = 32,
    column: Annotated[
        str | None, typer.Option(help="Of JSON lines and Parquet, what to parse; conllu or else text if not given.")
    ] = None,
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
        str | None,
        typer.Option(help="What runs them: process, processes or ray; by the number of workers if not given."),
    ] = None,
    max_workers: Annotated[
        int | None, typer.Option(help="Up to how many workers are started as needed (--engine ray).", min=1)
    ] = None,
    gpus_per_worker: Annotated[
        float, typer.Option(help="GPUs of each worker, or the share of one (--engine ray).", min=0)
    ] = 0.0,
    address: Annotated[
        str | None, typer.Option(help="A Ray cluster that is running; without, one is started (--engine ray).")
    ] = None,
) -> None:
    """Parse text, words or CoNLL-U."""
    _spare_scipy()
    from biplanar.bulk import EngineConfig, Plan, Source, Task, make_engine
    from biplanar.cli.draw import terminal_width
    from biplanar.decoding import DEFAULT_DECODER
    from biplanar.decoding.beam import Beam
    from biplanar.pipeline.options import ParseOptions

    if text is not None and files:
        raise BiplanarError(f"expected a file or --text, found both {files[0]} and --text")
    folder = _folder(engine, output, output_dir, [max_workers, gpus_per_worker, address])
    options = ParseOptions(
        decoder or DEFAULT_DECODER, Beam(beam), probabilities, best, tags=tags, retag=retag, batch_words=batch_tokens
    )
    task = Task(
        model,
        device="cuda" if gpus_per_worker and device == "cpu" else device,
        runtime=runtime,
        threads=threads,
        options=options,
        output="conllu" if folder else target or ENDINGS.get(Path(output).suffix, "conllu"),
        width=terminal_width(),
        colour=sys.stdout.isatty(),
        columns=tuple(split_names(columns)),
    )
    source = Source(tuple(files or ["-"]), kind, text, text_encoding, ranges, column)
    runner = make_engine(EngineConfig(workers, _report, max_workers, gpus_per_worker, address), engine)
    if folder:
        plan = Plan.of(source, folder, task, ending=target or "conllu", size=shard_size * MEGABYTE)
        outcome = _parse_shards(plan, runner)
    else:
        outcome = _parse_to_file(source, output, task, runner)
    if lost := outcome.lost:
        _report(
            f"the search found no tree for {lost} of {outcome.sentences} sentences; arcs alone or greedy decoding did"
        )


def _folder(engine: str | None, output: str, output_dir: str | None, of_clusters: Sequence[object]) -> str | None:
    """The folder to write to, if it is not to be a file."""
    if any(of_clusters) and engine not in WRITE_SHARDS:
        raise BiplanarError("--max-workers, --gpus-per-worker and --address: expected --engine ray, found another one")
    if output_dir is not None and output != "-":
        raise BiplanarError(f"expected -o or --output-dir, found both {output} and {output_dir}")
    if engine in WRITE_SHARDS and output_dir is None:
        if output == "-":
            raise BiplanarError(f"--engine {engine}: expected a folder to write to (-o FOLDER), found none")
        return output
    return output_dir


def _parse_to_file(source: Source, output: str, task: Task, engine: Engine) -> Outcome:
    """Parse into one file, or to standard output."""
    from dataclasses import replace

    from biplanar.bulk import content_size, named_files, parse_files
    from biplanar.data.compression import compressing
    from biplanar.data.files import is_plain_file, writing

    source = replace(source, files=tuple(path for _, path in named_files(map(str, source.files))))
    known = source.text is None and all(map(is_plain_file, map(str, source.files)))
    total = sum(map(content_size, map(str, source.files))) if known and sys.stderr.isatty() else None
    with writing(output) as stream, compressing(stream.buffer, output) as target, byte_progress(total) as advance:
        return parse_files(source, target, task, engine, lambda result: advance(result.size))


def _parse_shards(plan: Plan, engine: Engine) -> Outcome:
    """Parse into a folder what is not there yet."""
    from biplanar.decoding.beam import Outcome

    unfinished, outcome = plan.unfinished(), Outcome()
    with byte_progress(sum(shard.piece.size for shard in unfinished)) as advance:
        for result in plan.run(engine):
            advance(result.shard.piece.size)
            outcome += result.outcome
    before = len(plan.shards) - len(unfinished)
    _report(f"{len(plan.shards)} shards in {plan.folder}" + (f", {before} of them from before" if before else ""))
    return outcome


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
