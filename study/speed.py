"""Sentences a second on the test sets (the paper's Table 7): the network alone, and from file to file.

    python -m study.speed DATA MODELS --cores 12 --device cuda
    python -m study.speed DATA MODELS --in-turn

MODELS holds the models that `study.run --models` has kept. On the CPU each is measured on one core, several models at
a time on cores of their own, with ONNX Runtime in int8 (what `biplanar parse` takes) and with PyTorch; then one after
the other on the GPU. rel-pos is given its tags. Each pass over a test set is timed three times after one that is not,
and the fastest counts. No pass knows the vectors of forms that an earlier one has computed.

What else a machine does disturbs such figures more than encodings differ. With `--in-turn` the models of a treebank
take turns, pass by pass, in one process on one core, and it is CPU time that counts: so their ratios can be trusted.

The output is a list of measurements; each call adds one.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.machine import available_cores, machine, versions

from biplanar.bulk.chunks import Source
from biplanar.bulk.engines import ThisProcess
from biplanar.bulk.output import parse_files
from biplanar.bulk.task import ChunkParser, Task
from biplanar.data.conllu import Sentence, read_conllu, write_conllu
from biplanar.errors import FileError
from biplanar.pipeline.loading import load
from biplanar.pipeline.model_folder import ModelFolder
from biplanar.pipeline.options import ParseOptions
from biplanar.pipeline.parser import Parser
from biplanar.tagger.features import Corpus, batches_by_words
from study.common import RESULTS, command, read_json, write_json

PACKAGES = ("numba", "numpy", "onnxruntime", "torch")
PASSES, TURNS = 3, 9
DECODERS = ("paper", "search")

Row = dict[str, Any]


class Scoring:
    """All sentences of a file, to be scored by a model as if it had just been loaded."""

    def __init__(self, parser: Parser, sentences: list[Sentence]) -> None:
        self.parser, self.corpus = parser, Corpus.of(sentence.forms for sentence in sentences)
        lengths = self.corpus.lengths
        self._batches = batches_by_words(lengths, parser.batch_words, np.argsort(-lengths, kind="stable"))

    def __call__(self) -> None:
        """Score all sentences."""
        scorer = self.parser.scorer
        self.forget()
        forms = scorer.represent(self.corpus.forms)
        begun = [scorer.score(forms, self.corpus.batch(batch)) for batch in self._batches]
        for scores in begun:  # a device may still be at work
            scores.labels["deprel"]

    def forget(self) -> None:
        """Drop the vectors of forms that are remembered."""
        scorer: Any = self.parser.scorer
        scorer.forms.forget()


class Subject:
    """A loaded model, and the passes over its treebank's test set that are timed."""

    def __init__(self, model: Path, data: Path, device: str, runtime: str, folder: Path) -> None:
        sentences = list(read_conllu(data / treebank_of(model) / "test.tagged.conllu.xz"))
        self._scoring = Scoring(load_exported(model, device, runtime), sentences)
        self._source, self._target = folder / f"{model.name}.conllu", folder / f"{model.name}-trees.conllu"
        with self._source.open("w", encoding="utf-8", newline="") as stream:
            write_conllu(sentences, stream)
        self.known: Row = {
            "key": model.name,
            "epochs": ModelFolder(model).read_settings()[0].training.epochs,
            "device": device,
            "runtime": runtime,
            "sentences": len(sentences),
            "words": int(self._scoring.corpus.lengths.sum()),
        }

    @property
    def passes(self) -> dict[str, Callable[[], None]]:
        """What is timed, by its name."""
        return {"network": self._scoring} | {f"file to file, {one}": self._file_to_file(one) for one in DECODERS}

    def _file_to_file(self, decoder: str) -> Callable[[], None]:
        parser = self._scoring.parser
        task = Task(parser.folder.path, options=ParseOptions(decoder=decoder))

        def parse() -> None:
            self._scoring.forget()
            with self._target.open("wb") as stream:
                parse_files(Source((self._source,)), stream, task, ThisProcess(loaded=ChunkParser(task, parser)))

        return parse


def load_exported(model: Path, device: str, runtime: str) -> Parser:
    """A model on a device; on a processor, on one core, and exported first where it must be."""
    from biplanar.pipeline.train import export_model

    if runtime == "int8" and not ModelFolder(model).int8.exists():
        export_model(ModelFolder(model))
    return load(model, device=device, runtime=runtime, threads=1 if device == "cpu" else None)


def treebank_of(model: Path) -> str:
    """The code of the treebank that a model was trained on."""
    return model.name.partition("-")[0]


def measure(model: Path, data: Path, device: str, runtime: str) -> list[Row]:
    """The seconds of all passes of one model over its treebank's test set."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        subject = Subject(model, data, device, runtime, Path(folder))
        for what, work in subject.passes.items():
            work()
            seconds = min(_seconds(work, time.perf_counter) for _ in range(PASSES))
            rows.append(subject.known | {"what": what, "seconds": seconds})
    return rows


def measure_in_turn(models: Sequence[Path], data: Path, runtime: str) -> list[Row]:
    """The CPU seconds of all passes of the models of one treebank, which take turns."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        subjects = [Subject(model, data, "cpu", runtime, Path(folder)) for model in models]
        for what in subjects[0].passes:
            works = [subject.passes[what] for subject in subjects]
            for work in works:
                work()
            turns = [[_seconds(work, time.process_time) for work in works] for _ in range(TURNS)]
            for subject, *seconds in zip(subjects, *turns, strict=True):
                rows.append(subject.known | {"what": what, "seconds": min(seconds)})
    return rows


def _seconds(work: Callable[[], None], clock: Callable[[], float]) -> float:
    start = clock()
    work()
    return round(clock() - start, 4)


Job = tuple[Any, ...]  # a function that measures, and its arguments


def measure_cores(jobs: Sequence[Job], cores: int) -> Iterator[list[Row]]:
    """All jobs, as many at a time as there are cores."""
    context = multiprocessing.get_context("spawn")
    numbers = context.Queue()
    for core in available_cores()[-cores:]:
        numbers.put(core)
    with context.Pool(min(cores, len(available_cores())), _stay_on_a_core, (numbers,)) as pool:
        yield from pool.imap_unordered(_carry_out, jobs)


def _stay_on_a_core(numbers: Any) -> None:
    import torch

    torch.set_num_threads(1)
    os.sched_setaffinity(0, [numbers.get()])


def _carry_out(job: Job) -> list[Row]:
    function, *arguments = job
    rows: list[Row] = function(*arguments)
    return rows


def measure_all(models: Sequence[Path], given: argparse.Namespace) -> Iterator[list[Row]]:
    """Rows of one model after the other, or of one treebank after the other; a device comes first."""
    if given.device:
        yield from (measure(model, given.data, given.device, "torch") for model in models)
    if given.in_turn:
        groups = [list(group) for _, group in groupby(models, treebank_of)]
        jobs: list[Job] = [
            (measure_in_turn, group, given.data, runtime) for runtime in given.runtimes for group in groups
        ]
    else:
        jobs = [(measure, model, given.data, "cpu", runtime) for runtime in given.runtimes for model in models]
    yield from measure_cores(jobs, 1 if given.in_turn else given.cores)


def main(arguments: Sequence[str]) -> None:
    """Measure all models, and store the result after each, so that none is lost."""
    given = _read_arguments(arguments)
    models = sorted(path.parent for path in given.models.glob("*/config.toml"))
    if not models:
        raise FileError(f"{given.models}: no folders of models")
    earlier = read_json(given.output) if given.output.exists() else []
    known: Row = {"machine": machine(), "versions": versions(PACKAGES), "in_turn": given.in_turn}
    known |= {"cores": 1 if given.in_turn else given.cores}
    if given.device and given.device.startswith("cuda"):
        import torch

        known["device"] = torch.cuda.get_device_name()
    end, rows = time.monotonic() + given.seconds, list[Row]()
    for found in measure_all(models, given):
        rows += found
        write_json([*earlier, known | {"rows": rows}], given.output)
        if time.monotonic() > end:
            break
    print(f"{len(rows)} rows", flush=True)


def _read_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m study.speed", description="Measure the speed of models.")
    parser.add_argument("data", type=Path, help="what study.prepare has written")
    parser.add_argument("models", type=Path, help="a folder of model folders")
    parser.add_argument("-o", "--output", type=Path, default=RESULTS / "speed-paper.json")
    parser.add_argument("--cores", type=int, default=1, help="models measured at a time on the CPU")
    parser.add_argument("--runtimes", nargs="*", default=["int8", "torch"], help="on the CPU")
    parser.add_argument("--device", help="measure on this device too")
    parser.add_argument("--in-turn", action="store_true", help="let the models of a treebank take turns on one core")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="no model is begun after them")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    command(main, "speed")
