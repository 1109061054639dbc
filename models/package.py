"""What people install of a model: its files for parsing, a card with its scores, and the Python package around them.

    python -m models.package en pt [--treebanks ../shared] [--segmenter]

This scores packaged models, if they were not scored as they are, and writes all that is not the model itself again:
card, `pyproject.toml`, module and licence. With `--segmenter`, what cuts text into words is trained again before, on a
CPU. `models.make` packages a model when it has made one. English goes into the base package. Scores are stored in
study/results/packaged.json, with a digest of each model's network and vocabulary.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.machine import versions
from study.common import RESULTS, command, read_json, write_json
from study.fingerprint import of_model
from study.models import scores_of
from study.treebanks import read_splits

import biplanar
from biplanar.data.files import writing
from biplanar.errors import BiplanarError, FileError, file_errors
from biplanar.pipeline.card import write_card
from biplanar.pipeline.model_folder import BUNDLED, ENTRY_POINTS, ModelFolder
from biplanar.pipeline.train import METRICS, train_segmenter
from biplanar.tagger.config import TAGGER, read_config
from biplanar.tokenizer.training import SegmenterRecord
from models.recipe import LICENCES, Recipe, codes, read_recipe

ROOT = Path(__file__).parents[1]
STORED = RESULTS / "packaged.json"
LARGEST = 6_000_000  # bytes of a packaged model
SCRATCH = ".new-"  # how folders of models that are being packaged begin, which git ignores
VERSION = "1.0.0"
VERSIONS_OF = ("numba", "numpy", "onnxruntime")

PYPROJECT = """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "biplanar-{code}"
version = "{version}"
description = "The {language} model of Biplanar, a dependency parser."
readme = "{module}/model/README.md"
requires-python = ">=3.11"
license = "{spdx}"
license-files = ["LICENSE"]
dependencies = ["biplanar>=1.0"]

[project.entry-points."{group}"]
{code} = "{module}:FOLDER"
"""

MODULE = '''\
"""The {language} model of Biplanar: `biplanar.load("{code}")`."""

from pathlib import Path

FOLDER = Path(__file__).parent / "model"
'''

LICENCE = """\
The {language} model of Biplanar

It was trained on {source}, a treebank of Universal Dependencies (https://universaldependencies.org).
The model is under the licence of the treebank:

    {licence}
    {address}
"""

INSTALLED = """\
The {language} model of Biplanar: a network in int8 and a segmenter, for raw text. It is used by its name:
`biplanar parse -m {code}`, `biplanar.load("{code}")`. The scores are those of these files."""


def module_of(code: str) -> str:
    """The Python module of a language's package."""
    return f"biplanar_{code}"


def model_folder(code: str) -> Path:
    """Where a language's model is in the repository."""
    if code == BUNDLED:
        return ROOT / "src" / "biplanar" / "models" / code
    return ROOT / "models" / "packages" / code / module_of(code) / "model"


def package_files(recipe: Recipe) -> dict[str, str]:
    """The files around the model, by their names in the package."""
    spdx, address = LICENCES[recipe.licence]
    values = {
        "code": recipe.code,
        "language": recipe.language,
        "module": module_of(recipe.code),
        "group": ENTRY_POINTS,
        "version": VERSION,
        "source": recipe.source,
        "licence": recipe.licence,
        "spdx": spdx,
        "address": address,
    }
    names = {"pyproject.toml": PYPROJECT, f"{module_of(recipe.code)}/__init__.py": MODULE, "LICENSE": LICENCE}
    return {name: template.format(**values) for name, template in names.items()}


def add_model(recipe: Recipe, trained: ModelFolder, treebanks: Path, *, new_segmenter: bool = False) -> Path:
    """Put what parsing with a trained model needs in its place; one that is too large for a package is refused.

    A model without a segmenter gets one that is trained on its treebank alone; `new_segmenter` asks for one.
    """
    if not trained.int8.exists():
        raise BiplanarError(f"{trained.path}: a packaged model needs a network in int8")
    folder = model_folder(recipe.code)
    with file_errors(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=SCRATCH) as scratch:
            new = ModelFolder(Path(scratch) / folder.name)
            parts = {*trained.parts, *trained.int8.iterdir()}
            if trained.takes_text and not new_segmenter:
                parts |= set(trained.segmenter.int8.iterdir())
            else:
                parts -= {trained.segmenter.vocabulary, trained.segmenter.multiword}
            if not recipe.known_lemmas:
                parts.discard(trained.lemmas)
            for path in (one for one in parts if one.exists()):
                copy = new.path / path.relative_to(trained.path)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, copy)
            if not new.takes_text:
                _add_segmenter(recipe, new, treebanks)
            new.write_checksums()
            if recipe.code != BUNDLED and (size := size_of(new.path)) > LARGEST:
                limit = f"{LARGEST / 1e6:g} MB, the most that a package may have"
                raise BiplanarError(f"{trained.path}: {size / 1e6:.2f} MB to package, and not {limit}")
            shutil.rmtree(folder, ignore_errors=True)
            new.path.rename(folder)
    return folder


def _add_segmenter(recipe: Recipe, folder: ModelFolder, treebanks: Path) -> None:
    """Train what cuts text into words."""
    splits, (config, vocabulary) = read_splits(recipe.files(treebanks)), folder.read_settings()
    own = read_config(recipe.final.config, recipe.final.options()).segmenter
    config = replace(config, segmenter=replace(own, kind=TAGGER))
    for event in train_segmenter(folder, config, splits["train"], splits["dev"], seed=recipe.final.seed, device="cpu"):
        if isinstance(event, SegmenterRecord):
            print(recipe.code, event, flush=True)
    for path in (folder.segmenter.weights, folder.segmenter.checkpoint):
        path.unlink()
    folder.write_settings(config, vocabulary)


def write_package(recipe: Recipe, treebanks: Path) -> dict[str, Any]:
    """Write card and package of a model that is in its place; gives what is stored of it."""
    folder = ModelFolder(model_folder(recipe.code))
    measured = _measured(recipe, folder.path, treebanks)
    name = recipe.files(treebanks)["train"].name.partition(".conllu")[0]
    made_up = recipe.final.crossing
    taught_on = [recipe.text or "the treebank"]
    if recipe.final.mixed:
        taught_on.append("sentences of the treebank with exchanged phrases (`models.mixed_sentences`)")
    write_card(
        folder,
        [f"{name}.conllu ({recipe.source})", *([f"{made_up:,} made-up sentences"] if made_up else [])],
        recipe.licence,
        folder.read_settings()[0],
        recipe.final.seed,
        {
            split: {
                source: {metric: scores[metric] for metric in METRICS if metric in scores}
                for source, scores in sources.items()
            }
            for split, sources in measured["scores"].items()
        },
        [f"a model of the configuration `{step.config}`" for step in recipe.teachers()],
        taught_on,
        title=recipe.language,
        about=INSTALLED.format(language=recipe.language, code=recipe.code),
    )
    if recipe.code != BUNDLED:
        for file, text in package_files(recipe).items():
            with writing(folder.path.parents[1] / file) as stream:
                stream.write(text)
    return measured


def size_of(folder: Path) -> int:
    """Bytes of a model's files, without its card."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and path.name != "README.md")


def _measured(recipe: Recipe, folder: Path, treebanks: Path) -> dict[str, Any]:
    """What is stored of a model; it is measured if it was not as it is."""
    stored, now = read_json(STORED) if STORED.exists() else {}, of_model(folder, recipe.release)
    if stored.get(recipe.code, {}).get("fingerprint") != now:
        stored[recipe.code] = {
            "language": recipe.language,
            "treebank": recipe.source,
            "licence": recipe.licence,
            "fingerprint": now,
            "scores": scores_of(biplanar.load(folder), read_splits(recipe.files(treebanks))),
            "bytes": size_of(folder),
            "versions": versions(VERSIONS_OF),
        }
        write_json(dict(sorted(stored.items())), STORED)
    result: dict[str, Any] = stored[recipe.code]
    return result


def read_recipes(given: Sequence[str]) -> list[Recipe]:
    """The recipes of some languages, or of all."""
    return [read_recipe(code) for code in (codes() if "all" in given else dict.fromkeys(given))]


def main(arguments: Sequence[str]) -> None:
    """Write packages again."""
    parser = argparse.ArgumentParser(prog="python -m models.package", description="Score and package models.")
    parser.add_argument("codes", nargs="+", metavar="CODE", help="of languages, or all")
    parser.add_argument("--treebanks", type=Path, default=Path("../shared"), help="the folder that holds ud-2.16")
    parser.add_argument("--segmenter", action="store_true", help="train what cuts text into words again")
    given = parser.parse_args(arguments)
    for recipe in read_recipes(given.codes):
        if not (folder := model_folder(recipe.code)).exists():
            raise FileError(f"{folder}: no such model; `python -m models.make {recipe.code}` makes it")
        if given.segmenter:
            add_model(recipe, ModelFolder(folder), given.treebanks, new_segmenter=True)
        report(recipe, write_package(recipe, given.treebanks))


def report(recipe: Recipe, measured: dict[str, Any]) -> None:
    """Say what a packaged model reaches."""
    las = {source: scores["LAS"] for source, scores in measured["scores"]["test"].items()}
    print(recipe.code, f"{measured['bytes'] / 1e6:.2f} MB", "test LAS", las, flush=True)


if __name__ == "__main__":
    command(main, "package")
