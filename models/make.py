"""Make models by their recipes, from treebanks to packages.

    python -m models.make pt --treebanks ../shared
    python -m models.make all --texts texts --device cuda --slots 4 -o made
    python -m models.make cy ga gd --show

Each step of a recipe is a `biplanar train`. A step whose model is there already is passed over, one that was
interrupted is resumed, and what no missing model needs is not made: a folder with the last step's model, wherever it
was trained, is enough to package it. `--texts` names a folder of raw text to learn from, with `lt.txt` for Lithuanian.
With `--show`, the commands are printed and nothing is run. Models go to `-o`, in a folder for each language; the
packaged ones to models/packages, and English to src/biplanar/models.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
from collections.abc import Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from study.common import command
from study.treebanks import read_splits

from biplanar.data.files import writing
from biplanar.errors import BiplanarError, FileError
from biplanar.pipeline.model_folder import ModelFolder
from models.crossing_sentences import make_sentences, to_conllu
from models.mixed_sentences import write_mixed
from models.package import add_model, read_recipes, report, write_package
from models.recipe import Recipe, Step, with_needed
from study import models


@dataclass(frozen=True)
class Work:
    """A recipe, where the data are, and where the models go."""

    recipe: Recipe
    treebanks: Path
    texts: Path | None
    output: Path
    device: str

    @property
    def models(self) -> Path:
        """The folder of this language's models."""
        return self.output / self.recipe.code

    def trained(self, step: Step) -> ModelFolder:
        """The model of a step."""
        return ModelFolder(self.models / step.name).current

    def left(self) -> list[Step]:
        """The steps that are still to be carried out."""
        done = [step.name for step in self.recipe.step if self.trained(step).card.exists()]
        return with_needed(self.recipe, done)

    def files(self) -> dict[str, Path]:
        """The treebank's files; those of a split that it lacks are in this language's folder."""
        files = self.recipe.files(self.treebanks)
        if "dev" in files:
            return files
        stem = files["train"].name.partition("train.conllu")[0]
        return files | {split: self.models / f"{stem}{split}.conllu" for split in ("train", "dev")}

    def text(self) -> Path:
        """The raw text of this language."""
        path = None if self.texts is None else self.texts / f"{self.recipe.code}.txt"
        if path is None or not path.exists():
            message = f"the {self.recipe.language} model learns from raw text"
            raise FileError(f"{message}; --texts names the folder that has {self.recipe.code}.txt")
        return path

    def crossing(self, step: Step) -> Path:
        """The made-up sentences of a step."""
        return self.models / f"{step.name}.crossing.conllu"

    def mixed(self, step: Step) -> Path:
        """The sentences of a step with exchanged phrases."""
        return self.models / f"{step.name}.mixed.conllu"

    def command(self, step: Step) -> list[str]:
        """Its training."""
        files = self.files()
        result = [sys.executable, "-m", "biplanar", "train", step.config]
        for path in (files["train"], *([self.crossing(step)] if step.crossing else [])):
            result += ["--train", str(path)]
        result += ["--dev", str(files["dev"]), "--test", str(files["test"]), "--licence", self.recipe.licence]
        result += ["-o", str(self.models / step.name), "--seed", str(step.seed), "--device", self.device]
        if step.distill:
            result += ["--distill", ",".join(str(self.models / name) for name in step.distill)]
        if step.raw:
            result += ["--raw", str(self.text())]
        if step.mixed:
            result += ["--raw", str(self.mixed(step))]
        for name, value in step.options().items():
            result += [f"--{name}", value]
        begun = ModelFolder(self.models / step.name).unfinished.checkpoint.exists()
        return [*result, *(["--resume"] if begun else [])]

    def write_data(self, step: Step) -> None:
        """Write what a step reads and no treebank has."""
        self.models.mkdir(parents=True, exist_ok=True)
        own, files = self.files(), self.recipe.files(self.treebanks)
        if own != files and not own["dev"].exists():
            splits = read_splits(files)
            for split in ("train", "dev"):
                with writing(own[split]) as stream:
                    stream.writelines(sentence.to_conllu() for sentence in splits[split])
        if step.mixed:
            write_mixed(read_splits(own)["train"], self.mixed(step), step.mixed, step.seed)
        if step.crossing:
            with writing(self.crossing(step)) as stream:
                stream.writelines(map(to_conllu, make_sentences(step.crossing, step.seed)))


def train(work: Work, *, logged: bool) -> None:
    """Carry out the steps that are left; what they print goes to the terminal, or to a file each."""
    for step in work.left():
        work.write_data(step)
        if not logged:
            _run(work, step, None)
            continue
        path = work.models / f"{step.name}.log"
        print(f"{work.recipe.code}: {step.name}, see {path}", flush=True)
        with path.open("a", encoding="utf-8") as log:
            _run(work, step, log)


def _run(work: Work, step: Step, log: IO[str] | None) -> None:
    done = subprocess.run(work.command(step), stdout=log, stderr=log, check=False)
    if done.returncode:
        raise BiplanarError(
            f"{work.recipe.code}: the training of {step.name} failed" + (f": {log.name}" if log else "")
        )


def train_all(works: Sequence[Work], slots: int) -> Generator[tuple[Work, Future[None]]]:
    """Train side by side; gives each work when its models are there, or could not be made."""
    with ThreadPoolExecutor(slots) as pool:
        jobs = {pool.submit(train, work, logged=slots > 1): work for work in works}
        try:
            for job in as_completed(jobs):
                yield jobs[job], job
        except BaseException:  # an interrupt ends the trainings that run, and no other begins
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def package(work: Work) -> None:
    """Package the last step's model; the accurate models that taught it are scored beside it."""
    recipe = work.recipe
    add_model(recipe, work.trained(recipe.final), work.treebanks)
    report(recipe, write_package(recipe, work.treebanks))
    for step in recipe.teachers():
        trained = work.trained(step)
        if step.config == "accurate" and trained.card.exists():
            models.add(f"{step.config}/{step.seed}", trained.path, recipe.folder(work.treebanks))


def main(arguments: Sequence[str]) -> None:
    """Make models, or show how."""
    parser = argparse.ArgumentParser(prog="python -m models.make", description="Make models by their recipes.")
    parser.add_argument("codes", nargs="+", metavar="CODE", help="of languages, or all")
    parser.add_argument("--treebanks", type=Path, default=Path("../shared"), help="the folder that holds ud-2.16")
    parser.add_argument("--texts", type=Path, help="a folder of raw text, with a file CODE.txt for each language")
    parser.add_argument("-o", "--output", type=Path, default=Path("out/models"), help="a folder for the models")
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda, cuda:N or mps")
    parser.add_argument("--slots", type=int, default=1, help="languages side by side")
    parser.add_argument("--no-package", action="store_true", help="only train; the same without it packages")
    parser.add_argument("--show", action="store_true", help="print the commands of trainings only")
    given = parser.parse_args(arguments)
    recipes = read_recipes(given.codes)
    works = [Work(one, given.treebanks, given.texts, given.output, given.device) for one in recipes]
    for work in works:
        for step in work.left():
            work.command(step)  # all that it reads must be there
    if given.show:
        for work in works:
            for step in work.left():
                print(shlex.join(work.command(step)))
        return
    failed = list[str]()
    with closing(train_all(works, given.slots)) as trained:
        for work, job in trained:
            try:
                job.result()
                if not given.no_package:
                    package(work)
            except BiplanarError as error:  # the others go on
                failed.append(str(error))
    if failed:
        raise BiplanarError("; ".join(failed))


if __name__ == "__main__":
    command(main, "make")
