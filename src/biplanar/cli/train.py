"""`biplanar train` and `biplanar export`."""

from __future__ import annotations

import os
import re
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from biplanar.cli.common import input_option, model_option, output_option, report, speed_option, split_names
from biplanar.errors import BiplanarError, needing

if TYPE_CHECKING:
    from biplanar.pipeline.model_folder import ModelFolder
    from biplanar.pipeline.train import Event

# The exit code of an interrupted process, by convention: 128 and the number of the signal.
INTERRUPTED = 130

LINE_EVERY = 60  # seconds between lines where there is no terminal


def train(
    treebank: Annotated[
        str | None, typer.Argument(help="A folder with *-train, *-dev and *-test CoNLL-U files, instead of options.")
    ] = None,
    config: Annotated[str | None, typer.Argument(help="accurate, large, pure, fast, paper, or a TOML file.")] = None,
    train: Annotated[
        list[str] | None, input_option("--train", help="Parsed CoNLL-U; may be given several times.")
    ] = None,
    dev: Annotated[str | None, input_option("--dev", help="Parsed CoNLL-U to choose the best model by.")] = None,
    test: Annotated[str | None, input_option("--test", help="Parsed CoNLL-U to report scores on at the end.")] = None,
    output: Annotated[str, output_option("--output", "-o", metavar="FOLDER", help="The model's folder.")] = "model",
    licence: Annotated[str, output_option(help="The treebank's licence, for the model's card.")] = "not stated",
    resume: Annotated[
        bool,
        output_option("--resume", help="Continue from the checkpoint; with more --training.epochs also after the end."),
    ] = False,
    encoding: Annotated[str | None, model_option("--encoding", "-e", help="2p-full, 2p-greedy, rel-pos, ...")] = None,
    seed: Annotated[int, model_option(metavar="N", help="Random seed.")] = 1,
    start: Annotated[
        str | None, model_option(help="Start from the weights of this model: its folder, with model.safetensors.")
    ] = None,
    distill: Annotated[
        str | None, model_option(help="Distil these models: their folders, separated by commas.")
    ] = None,
    raw: Annotated[
        list[str] | None, model_option("--raw", help="Text, or CoNLL-U without trees, for the teachers to parse.")
    ] = None,
    device: Annotated[str, speed_option(help="auto, cpu, cuda, cuda:N or mps.")] = "auto",
    threads: Annotated[
        int | None, speed_option(help="Threads on the CPU. Default: as many as are fastest at present.", min=1)
    ] = None,
    settings: Annotated[list[str] | None, typer.Option("--set", help="section.key=value", hidden=True)] = None,
) -> None:
    """Train a parser on a treebank. Any setting can be changed: --network.hidden 200, --training.epochs 50, ...

    biplanar train UD_Lithuanian-ALKSNIS -o my-model
    biplanar train fast UD_Lithuanian-ALKSNIS -o my-model
    biplanar train --train train.conllu --dev dev.conllu -o my-model
    biplanar train fast --train train.conllu --dev dev.conllu --encoding rel-pos --training.epochs 50
    biplanar train --train train.conllu --dev dev.conllu -o my-model --resume
    torchrun --nproc-per-node 4 -m biplanar train UD_Czech-PDT -o my-model
    """
    with needing("train", "training"):
        from biplanar.pipeline.train import Data, train_model
        from biplanar.tagger.distributed import process_rank
    from biplanar.evaluation.statistics import split_files
    from biplanar.pipeline.model_folder import ModelFolder
    from biplanar.tagger.config import read_config

    if treebank and not Path(treebank).is_dir() and (not config or Path(config).is_dir()):
        treebank, config = config, treebank
    files = {split: str(file) for split, file in split_files(Path(treebank)).items()} if treebank else {}
    train, dev = train or [files[split] for split in files if split == "train"], dev or files.get("dev")
    if not train or not dev:
        raise BiplanarError("no training file: name one with --train" if dev else "no dev file: name one with --dev")
    chosen = read_config(config, _overrides(settings or []) | ({"encoding": encoding} if encoding else {}))
    data = Data(train, dev, test or files.get("test"), licence, split_names(distill or ""), raw or [], start)
    folder = ModelFolder(Path(output))
    events = train_model(data, chosen, folder, seed=seed, device=device, threads=threads, resume=resume)
    try:
        if process_rank():
            deque(events, maxlen=0)  # the first process tells of all
            os._exit(0)  # while Python ends, threads of PyTorch's process group sometimes abort
        _show(events)
    except KeyboardInterrupt:
        if not process_rank():
            report(f"interrupted; {_what_is_saved(folder)}")
        raise typer.Exit(INTERRUPTED) from None
    report(f"the model is in {output}; its card is {folder.card}")


def export(model: Annotated[str, typer.Argument(help="A model's folder, with weights for PyTorch.")]) -> None:
    """Write a model's network for ONNX Runtime again, in float32 and in int8; training does so by itself.

    biplanar export my-model
    """
    with needing("train", "exporting"):
        from biplanar.pipeline.train import export_model
    from biplanar.pipeline.model_folder import ModelFolder

    folder = ModelFolder(Path(model))
    export_model(folder)
    report(f"the network is in {folder.int8} and {folder.onnx}")


def settings_as_options(arguments: list[str]) -> list[str]:
    """Read `--section.key value` and `--section.key=value` as `--set section.key=value`."""
    result, rest = list[str](), list(arguments)
    while rest:
        argument = rest.pop(0)
        if not re.match(r"--\w+\.\w+", argument):
            result.append(argument)
        elif "=" in argument or not rest:
            result += ["--set", argument[2:]]
        else:
            result += ["--set", f"{argument[2:]}={rest.pop(0)}"]
    return result


def _overrides(settings: list[str]) -> dict[str, str]:
    pairs = [setting.partition("=") for setting in settings]
    for name, sign, _ in pairs:
        if not sign:
            raise BiplanarError(f"--{name} needs a value")
    return {name: value for name, _, value in pairs}


def _show(events: Iterator[Event]) -> None:
    """A line for each stage, evaluation and final score, and how far training is: a bar, or a line each minute."""
    from rich import progress
    from rich.console import Console

    from biplanar.pipeline.train import Stage
    from biplanar.tagger.loop import Progress

    console = Console(stderr=True)
    columns = (progress.TextColumn("{task.description}"), progress.BarColumn())
    is_terminal, shown = console.is_terminal, time.monotonic()
    with progress.Progress(*columns, console=console, disable=not is_terminal) as bar:
        task = bar.add_task("reading", total=None)
        for event in events:
            if isinstance(event, Progress):
                done = event.epoch - 1 + event.batch / event.batches
                bar.update(task, description=str(event), completed=done, total=event.epochs)
                if is_terminal or not event.batch or time.monotonic() - shown < LINE_EVERY:
                    continue
            console.print(str(event), highlight=False, markup=False, soft_wrap=True)
            shown = time.monotonic()
            if isinstance(event, Stage):  # a bar without a total shows that something is going on
                bar.remove_task(task)
                task = bar.add_task(str(event), total=None)


def _what_is_saved(folder: ModelFolder) -> str:
    from biplanar.tagger.checkpoint import saved_epoch

    checkpoint = folder.unfinished.checkpoint
    if not checkpoint.exists():
        return "nothing new is saved, and the same command starts again"
    return f"epoch {saved_epoch(checkpoint)} is saved in {checkpoint}; the same command with --resume continues there"
