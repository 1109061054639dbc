"""Sentences a second on the test sets (the paper's Table 7): the network alone, and from file to file.

    python -m study.speed DATA MODELS --cores 12 --device cuda

MODELS holds the models that `study.queue --models` has kept. On the CPU each is measured on one core, several models at
a time on cores of their own, with ONNX Runtime in int8 (what `biplanar parse` takes) and with PyTorch; then one after
the other on the GPU. rel-pos is given its tags. Each pass over a test set is timed three times after one that is not,
and the fastest counts. No pass knows the vectors of forms that an earlier one has computed.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.machine import available_cores, machine, versions

from biplanar.bulk.chunks import Source
from biplanar.bulk.engines import ThisProcess
from biplanar.bulk.files import parse_files
from biplanar.bulk.task import Task
from biplanar.data.conllu import read_conllu, write_conllu
from biplanar.errors import FileError
from biplanar.pipeline.options import ParseOptions
from biplanar.tagger.features import Corpus, batches_by_words
from study.common import command, write_json
from study.queue import RESULTS

PACKAGES = ("numba", "numpy", "onnxruntime", "torch")
PASSES = 3
DECODERS = ("paper", "search")


def measure(model: Path, data: Path, device: str, runtime: str) -> list[dict[str, Any]]:
    """The seconds of all passes of one model over its treebank's test set."""
    import numpy as np

    from biplanar.pipeline.loading import load

    treebank = model.name.partition("-")[0]
    sentences = list(read_conllu(data / treebank / "test.tagged.conllu.xz"))
    corpus = Corpus.of(sentence.forms for sentence in sentences)
    parser = load(model, device=device, runtime=runtime, threads=1 if device == "cpu" else None)
    batches = batches_by_words(corpus.lengths, parser.batch_words, np.argsort(-corpus.lengths, kind="stable"))

    def network() -> None:
        _forget(parser)
        forms = parser.scorer.represent(corpus.forms)
        begun = [parser.scorer.score(forms, corpus.batch(batch)) for batch in batches]
        for scores in begun:  # a device may still be at work
            scores.labels["deprel"]

    passes: dict[str, Callable[[], None]] = {"network": network}
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "words.conllu", Path(folder) / "trees.conllu"
        with source.open("w", encoding="utf-8", newline="") as stream:
            write_conllu(sentences, stream)
        for decoder in DECODERS:
            passes[f"file to file, {decoder}"] = lambda decoder=decoder: _parse(parser, source, target, decoder)
        known = {"key": model.name, "device": device, "runtime": runtime, "sentences": len(sentences)}
        known["words"] = int(corpus.lengths.sum())
        return [known | {"what": what, "seconds": min(_timed(work))} for what, work in passes.items()]


def _forget(parser: Any) -> None:
    """Drop the vectors of forms that are remembered, as if the parser had just been loaded."""
    parser.scorer._forms._forget()


def _parse(parser: Any, source: Path, target: Path, decoder: str) -> None:
    _forget(parser)
    task = Task(parser.folder.path, options=ParseOptions(decoder=decoder))
    with target.open("wb") as stream:
        parse_files(Source((source,)), stream, task, ThisProcess(loaded=task.with_parser(parser)))


def _timed(work: Callable[[], None]) -> Iterator[float]:
    work()
    for _ in range(PASSES):
        start = time.perf_counter()
        work()
        yield round(time.perf_counter() - start, 4)


def on_one_core(job: tuple[Path, Path, str]) -> list[dict[str, Any]]:
    """Measure a model on the core that this process was given; its int8 network is made first."""
    from biplanar.pipeline.model_folder import ModelFolder
    from biplanar.pipeline.train import export_model

    model, data, runtime = job
    if runtime == "int8" and not ModelFolder(model).int8.exists():
        export_model(ModelFolder(model))
    return measure(model, data, "cpu", runtime)


def _stay_on_a_core(numbers: Any) -> None:
    import torch

    torch.set_num_threads(1)
    os.sched_setaffinity(0, [numbers.get()])


def measure_cores(jobs: Sequence[tuple[Path, Path, str]], cores: int) -> Iterator[list[dict[str, Any]]]:
    """All jobs, as many at a time as there are cores."""
    context = multiprocessing.get_context("spawn")
    numbers = context.Queue()
    for core in available_cores()[-cores:]:
        numbers.put(core)
    with context.Pool(min(cores, len(available_cores())), _stay_on_a_core, (numbers,)) as pool:
        yield from pool.imap_unordered(on_one_core, jobs)


def main(arguments: Sequence[str]) -> None:
    """Measure all models, and store the result after each, so that none is lost."""
    parser = argparse.ArgumentParser(prog="python -m study.speed", description="Measure the speed of models.")
    parser.add_argument("data", type=Path, help="what study.prepare has written")
    parser.add_argument("models", type=Path, help="a folder of model folders")
    parser.add_argument("-o", "--output", type=Path, default=RESULTS / "speed.json")
    parser.add_argument("--cores", type=int, default=1, help="models measured at a time on the CPU")
    parser.add_argument("--runtimes", nargs="*", default=["int8", "torch"], help="on the CPU")
    parser.add_argument("--device", help="measure on this device too")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="no model is begun after them")
    given = parser.parse_args(arguments)
    models = sorted(path.parent for path in given.models.glob("*/config.toml"))
    if not models:
        raise FileError(f"{given.models}: expected folders of models, found none")
    end, rows = time.monotonic() + given.seconds, list[dict[str, Any]]()
    known: dict[str, Any] = {"machine": machine(), "versions": versions(PACKAGES), "cores": given.cores}
    if given.device:
        import torch

        known["device"] = torch.cuda.get_device_name() if given.device.startswith("cuda") else given.device
        for model in models:
            if time.monotonic() < end:
                rows += measure(model, given.data, given.device, "torch")
                write_json(known | {"rows": rows}, given.output)
        print(f"{len(rows)} rows on {known['device']}", flush=True)
    jobs = [(model, given.data, runtime) for runtime in given.runtimes for model in models]
    for found in measure_cores(jobs, given.cores):
        rows += found
        write_json(known | {"rows": rows}, given.output)
        if time.monotonic() > end:
            break
    print(f"{len(rows)} rows in all", flush=True)


if __name__ == "__main__":
    command(main, "speed")
