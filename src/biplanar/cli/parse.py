"""`biplanar parse`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from biplanar.cli.common import (
    DECODERS,
    LINE_BREAKS,
    MODEL,
    OUTPUT,
    TEXT_ENCODING,
    cluster_option,
    decoding_option,
    input_option,
    model_option,
    output_option,
    report,
    speed_option,
    split_names,
)
from biplanar.cli.draw import terminal_width
from biplanar.data.compression import content_size
from biplanar.data.files import UTF_8
from biplanar.data.formats import INPUTS, OUTPUTS, RECORDS, output_format
from biplanar.errors import BiplanarError

if TYPE_CHECKING:
    from biplanar.bulk import Engine, Plan, Source, Task
    from biplanar.bulk.task import Result
    from biplanar.decoding.beam import Outcome

MEGABYTE = 10**6

FORMATS = f"{', '.join(OUTPUTS)}. Default: by the ending of -o. Shards: conllu, conllu.zst (.gz, .xz, .bz2), parquet."


def parse(
    files: Annotated[list[str] | None, typer.Argument(help="Files and folders to parse; - is standard input.")] = None,
    text: Annotated[str | None, input_option("--text", help="Parse this text.")] = None,
    kind: Annotated[
        str | None, input_option("--input", help=f"{', '.join((*INPUTS, *RECORDS))}. Default: by the name.")
    ] = None,
    line_breaks: Annotated[str, LINE_BREAKS] = "hint",
    text_encoding: Annotated[str, TEXT_ENCODING] = UTF_8,
    column: Annotated[str | None, input_option(help="Column of records to parse. Default: conllu, or text.")] = None,
    on_error: Annotated[str, input_option(help="stop at a bad record of JSON lines or Parquet, or skip it.")] = "stop",
    output: Annotated[str, OUTPUT] = "-",
    form: Annotated[str | None, output_option("--format", help=FORMATS)] = None,
    output_dir: Annotated[str | None, output_option(help="Write to this folder, a shard for each input.")] = None,
    shard_size: Annotated[int, output_option(help="Larger inputs become several shards (--output-dir).", min=1)] = 32,
    overwrite: Annotated[bool, output_option("--overwrite", help="Replace what is in --output-dir.")] = False,
    ranges: Annotated[bool, output_option("--ranges", help="Add text offsets to MISC, as TokenRange.")] = False,
    columns: Annotated[str, output_option(help="Columns to draw under the words: upos,xpos,feats,lemma.")] = "",
    verbose: Annotated[bool, output_option("--verbose", help="Report on standard error how trees were found.")] = False,
    model: Annotated[str | None, MODEL] = None,
    tags: Annotated[bool, model_option(help="Fill empty columns with predicted tags, features and lemmas.")] = True,
    retag: Annotated[bool, model_option("--retag", help="Also replace those of the input.")] = False,
    decoder: Annotated[str | None, decoding_option(help=f"{DECODERS}. Default: search.")] = None,
    beam: Annotated[int, decoding_option(help="States that the search keeps at each word.", min=1, max=10_000)] = 64,
    probabilities: Annotated[
        bool, decoding_option("--probabilities", help="Add HeadProb to MISC: how likely heads are.")
    ] = False,
    best: Annotated[int, decoding_option(help="Write the N best trees of each sentence.", min=1, max=1000)] = 1,
    batch_words: Annotated[
        int | None, speed_option(help="Words in a batch. Default: 700, on GPUs 60000.", min=1)
    ] = None,
    device: Annotated[str, speed_option(help="cpu, auto, cuda:N or mps.")] = "cpu",
    runtime: Annotated[str | None, speed_option(help="int8, onnx or torch. Default: the fastest.")] = None,
    threads: Annotated[int, speed_option(help="CPU threads of each worker.", min=1)] = 1,
    workers: Annotated[int, speed_option(help="Processes that parse, each with the model loaded.", min=1)] = 1,
    engine: Annotated[str | None, cluster_option(help="process, processes or ray. Default: by --workers.")] = None,
    max_workers: Annotated[int | None, cluster_option(help="Ray may start up to N workers.", min=1)] = None,
    gpus_per_worker: Annotated[float, cluster_option(help="With Ray; 0.5 shares a GPU between two.", min=0)] = 0.0,
    address: Annotated[str | None, cluster_option(help="A running Ray cluster. Default: one is started.")] = None,
) -> None:
    """Parse text, words or CoNLL-U.

    biplanar parse --text "Nobody came." --format tree
    biplanar parse text.txt -o parsed.conllu
    biplanar parse text.txt -m my-model
    biplanar parse test.conllu --retag -o parsed.conllu
    biplanar parse texts/ --output-dir parsed --workers 4
    """
    _spare_scipy()
    from biplanar.bulk import EngineConfig, Plan, Source, Task, make_engine
    from biplanar.decoding import DEFAULT_DECODER
    from biplanar.decoding.beam import Beam
    from biplanar.pipeline.loading import found_again
    from biplanar.pipeline.options import ParseOptions

    _check_files(files or [], text)
    if (max_workers or gpus_per_worker or address) and engine != "ray":
        raise BiplanarError("--max-workers, --gpus-per-worker and --address need --engine ray")
    if output_dir is not None and output != "-":
        raise BiplanarError("-o and --output-dir cannot be combined")
    options = ParseOptions(
        decoder or DEFAULT_DECODER, Beam(beam), probabilities, best, tags=tags, retag=retag, batch_words=batch_words
    )
    task = Task(
        found_again(model),
        device="cuda" if gpus_per_worker and device == "cpu" else device,
        runtime=runtime,
        threads=threads,
        options=options,
        format="conllu" if output_dir else form or output_format(output),
        width=terminal_width(),
        colour=sys.stdout.isatty(),
        columns=tuple(split_names(columns)),
    )
    source = Source(tuple(files or ["-"]), kind, text, text_encoding, ranges, line_breaks, column, on_error)
    runner = make_engine(EngineConfig(workers, report, max_workers, gpus_per_worker, address), engine)
    if output_dir:
        size = shard_size * MEGABYTE
        plan = Plan.of(source, output_dir, task, ending=form or "conllu", size=size, overwrite=overwrite)
        outcome = _parse_shards(plan, runner)
    else:
        outcome = _parse_to_file(source, output, task, runner)
    if verbose:
        report(f"{outcome.sentences} sentences")
        if outcome.lost:
            reason = "the search ended without a tree, so theirs are by arc scores or greedy decoding"
            report(f"for {outcome.lost} of them {reason}; a wider --beam may find better ones")


def _check_files(files: Sequence[str], text: str | None) -> None:
    if text is not None and files:
        raise BiplanarError(f"--text cannot be combined with files: {files[0]}")
    for file in files:
        if " " in file and not os.path.exists(file):  # noqa: PTH110  # Path.exists fails for a long text
            raise BiplanarError(f"no file named {file!r}; to parse a text, use --text")


def _parse_to_file(source: Source, output: str, task: Task, engine: Engine) -> Outcome:
    """Parse into one file, or to standard output."""
    from biplanar.bulk import named_files, parse_files

    source = replace(source, files=tuple(path for _, path in named_files(source.paths)))
    known = source.text is None and source.is_plain and sys.stderr.isatty()
    with byte_progress(sum(map(content_size, source.paths)) if known else None) as advance:

        def written(result: Result) -> None:
            advance(result.size)
            _report_skipped(result.skipped)

        return parse_files(source, output, task, engine, written)


def _parse_shards(plan: Plan, engine: Engine) -> Outcome:
    """Parse the shards that are not in the folder yet."""
    from biplanar.decoding.beam import Outcome

    unfinished, outcome = plan.unfinished(), Outcome()
    with byte_progress(sum(shard.range.size for shard in unfinished)) as advance:
        for result in plan.run(engine):
            advance(result.shard.range.size)
            _report_skipped(result.skipped)
            outcome += result.outcome
    before = len(plan.shards) - len(unfinished)
    report(f"{len(plan.shards)} shards in {plan.folder}" + (f", {before} of them from before" if before else ""))
    return outcome


@contextmanager
def byte_progress(total: int | None) -> Iterator[Callable[[int], None]]:
    """A progress bar on standard error, if that is a terminal; with a total, also the time left.

    Yields a function to call with the number of bytes done.
    """
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn, TransferSpeedColumn

    columns = (BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("", total=total)
        yield lambda size: progress.advance(bar, size)


def _spare_scipy() -> None:
    """Keep numba from importing SciPy, which takes a quarter of a second and which no compiled code here uses.

    Only a command may decide that for its whole process, and only before either is imported.
    """
    if not {"numba", "scipy"} & set(sys.modules):
        sys.modules["scipy"] = None  # type: ignore[assignment]  # this is how imports are made to fail
        try:
            import numba.np.arraymath  # noqa: F401
        finally:
            del sys.modules["scipy"]


def _report_skipped(errors: Sequence[str]) -> None:
    for error in errors:
        report(f"skipped {error}")
