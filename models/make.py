"""A model that is made in several steps, each a `biplanar train`: the steps stand in a file.

    python -m study.recipe study/recipes/english.toml --treebank UD_English-EWT --raw text.txt -o models
    python -m study.recipe study/recipes/english.toml --treebank UD_English-EWT --raw text.txt -o models --show

A step names its configuration, seed and settings; the steps whose models teach it (`distill`) or whose weights it
starts from (`start`); whether it learns raw text as well, and how many made-up sentences with crossing arcs, which the
model of `tags` tags. The treebank is a folder with train, dev and test files. A step whose model is there already is
passed over, one that was interrupted is resumed. With `--show`, the commands are printed and nothing is run.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path

import biplanar
from biplanar.data.conllu import DEPS, EMPTY, Sentence
from biplanar.data.files import writing
from biplanar.data.tree import Tree
from biplanar.errors import BiplanarError, FileError
from biplanar.pipeline.model_folder import ModelFolder
from study.common import command
from study.crossing_sentences import make_sentences, to_conllu


@dataclass(frozen=True)
class Step:
    """One training."""

    name: str
    config: str = "accurate"
    seed: int = 1
    settings: dict[str, str | int | float | bool] = field(default_factory=dict)
    distill: tuple[str, ...] = ()
    start: str = ""
    raw: bool = False
    crossing: int = 0  # made-up sentences
    tags: str = ""


@dataclass(frozen=True)
class Place:
    """Where the data are, and where the models go."""

    treebank: Path
    raw: tuple[Path, ...]
    models: Path
    device: str

    def file(self, split: str) -> Path:
        """The treebank's file of a split, compressed or not."""
        found = sorted(self.treebank.glob(f"*{split}.conllu*"))
        if len(found) != 1:
            raise FileError(f"{self.treebank}: {len(found)} {split} files of CoNLL-U instead of one")
        return found[0]

    def crossing(self, step: Step) -> Path:
        """The made-up sentences of a step."""
        return self.models / f"{step.name}.crossing.conllu"

    def arguments(self, step: Step) -> list[str]:
        """Of `biplanar train`."""
        more = [self.crossing(step)] if step.crossing else []
        result = [step.config]
        for path in (self.file("train"), *more):
            result += ["--train", str(path)]
        result += ["--dev", str(self.file("dev")), "--test", str(self.file("test"))]
        result += ["-o", str(self.models / step.name), "--seed", str(step.seed), "--device", self.device]
        if step.distill:
            result += ["--distill", ",".join(str(self.models / name) for name in step.distill)]
        for path in self.raw if step.raw else ():
            result += ["--raw", str(path)]
        if step.start:
            result += ["--start", str(self.models / step.start)]
        for name, value in step.settings.items():
            result += [f"--{name}", str(value).lower() if isinstance(value, bool) else str(value)]
        return result


def read_recipe(path: Path) -> list[Step]:
    """The steps of a file; each may name only steps before it."""
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise FileError(f"{path}: {error.strerror or error}") from error
    except tomllib.TOMLDecodeError as error:
        raise FileError(f"{path}: not TOML: {error}") from error
    known, steps = {one.name for one in fields(Step)}, list[Step]()
    for number, step in enumerate(values.get("step", []), 1):
        if unknown := sorted(set(step) - known):
            raise FileError(f"{path}: step {number}: unknown key {unknown[0]!r}; known: {', '.join(sorted(known))}")
        if "name" not in step:
            raise FileError(f"{path}: step {number} has no name")
        one = Step(**(step | {"distill": tuple(step.get("distill", ()))}))
        before = {earlier.name for earlier in steps}
        for name in (*one.distill, *filter(None, (one.start, one.tags))):
            if name not in before:
                raise FileError(f"{path}: {one.name}: no step before it is named {name}")
        steps.append(one)
    if not steps:
        raise FileError(f"{path}: no steps")
    return steps


def commands(steps: Sequence[Step], place: Place) -> Iterator[tuple[Step, list[str]]]:
    """What is still to be run."""
    for step in steps:
        folder = ModelFolder(place.models / step.name)
        if not folder.card.exists():
            resume = ["--resume"] if folder.unfinished.checkpoint.exists() else []
            yield step, [sys.executable, "-m", "biplanar", "train", *place.arguments(step), *resume]


def write_crossing(step: Step, place: Place) -> None:
    """Make the sentences of a step, tagged by the model of another."""
    with writing(place.crossing(step)) as stream:
        stream.writelines(map(to_conllu, make_sentences(step.crossing, step.seed)))
    if step.tags:
        sentences = list(biplanar.read_conllu(place.crossing(step)))
        tagged = biplanar.load(place.models / step.tags).pipe(sentences, retag=True)
        pairs = list(zip(sentences, tagged, strict=True))
        with writing(place.crossing(step)) as stream:
            stream.writelines(_with_tree(other, one.tree).to_conllu() for one, other in pairs)


def _with_tree(sentence: Sentence, tree: Tree) -> Sentence:
    """With another tree, and no graph, which would be that of the first."""
    return sentence.with_tree(tree).with_columns({DEPS: [EMPTY] * len(sentence)})


def main(arguments: Sequence[str]) -> None:
    """Run or show the steps."""
    parser = argparse.ArgumentParser(prog="python -m study.recipe", description="Make a model in several steps.")
    parser.add_argument("recipe", type=Path)
    parser.add_argument("--treebank", type=Path, required=True, help="a folder with train, dev and test files")
    parser.add_argument(
        "--raw", type=Path, action="append", default=[], help="text or words; may be given several times"
    )
    parser.add_argument("-o", "--output", type=Path, required=True, help="a folder for the models")
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda, cuda:N or mps")
    parser.add_argument("--show", action="store_true", help="print the commands only")
    given = parser.parse_args(arguments)
    steps = read_recipe(given.recipe)
    place = Place(given.treebank, tuple(given.raw), given.output, given.device)
    if any(step.raw for step in steps) and not place.raw:
        raise BiplanarError("--raw is missing: a step learns from raw text")
    for step, one in commands(steps, place):
        if given.show:
            print(shlex.join(one))
            continue
        given.output.mkdir(parents=True, exist_ok=True)
        if step.crossing:
            write_crossing(step, place)
        if subprocess.run(one, check=False).returncode:
            raise BiplanarError(f"{step.name}: the training failed")


if __name__ == "__main__":
    command(main, "recipe")
