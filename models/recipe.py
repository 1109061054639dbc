"""What a model is made of: its treebank, and the trainings that lead to it, as a file in `recipes/`.

A file is named by the language's code. It names language, treebank, release and licence, and has `[[step]]`s of its own
or those of a file in `steps/` (`steps`). `[settings.STEP]` adds settings to a step, `[settings.all]` to every step. A
step names its configuration, seed and settings; the steps whose models teach it (`distill`); whether it learns raw text
as well, where the file says which (`text`); how many times the treebank with exchanged phrases (`mixed`); and how many
made-up sentences with crossing arcs. The last step's model is the one that is packaged.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, TypeVar

from biplanar.errors import FileError, UnknownNameError, file_errors
from biplanar.evaluation.statistics import split_files
from biplanar.tagger.config import ConfigError, read_config

RECIPES = Path(__file__).parent / "recipes"
STEPS, DEFAULT = "steps", "accurate"  # the folder of steps that several recipes share, and those of most
ALL_STEPS = "all"

# Licences of treebanks: how packages name them, and where their text is.
LICENCES = {
    "CC BY-SA 3.0": ("CC-BY-SA-3.0", "https://creativecommons.org/licenses/by-sa/3.0/legalcode"),
    "CC BY-SA 4.0": ("CC-BY-SA-4.0", "https://creativecommons.org/licenses/by-sa/4.0/legalcode"),
    "LGPL-LR": ("LGPLLR", "https://spdx.org/licenses/LGPLLR.html"),
}

Setting = str | int | float | bool
T = TypeVar("T")


@dataclass(frozen=True)
class Step:
    """One training."""

    name: str
    config: str = "accurate"
    seed: int = 1
    settings: dict[str, Setting] = field(default_factory=dict)
    distill: tuple[str, ...] = ()
    raw: bool = False
    mixed: int = 0  # how many sentences with exchanged phrases are made of each of the treebank
    crossing: int = 0  # made-up sentences

    def options(self) -> dict[str, str]:
        """Its settings as on the command line."""
        return {name: str(one).lower() if isinstance(one, bool) else str(one) for name, one in self.settings.items()}


@dataclass(frozen=True)
class Recipe:
    """A language's model."""

    code: str
    language: str
    treebank: str  # its folder
    licence: str
    release: str = "2.16"  # of UD, by the name of the folder that holds it
    edition: str = ""  # the treebank's own release, if that is another
    text: str = ""  # what raw text it learns from, for the card
    known_lemmas: bool = True  # whether those of the training file are packaged, if the model has them
    step: tuple[Step, ...] = ()

    @property
    def final(self) -> Step:
        """The training whose model is packaged."""
        return self.step[-1]

    @property
    def source(self) -> str:
        """The treebank with its release."""
        return f"{self.treebank} {self.edition or self.release}"

    def teachers(self) -> list[Step]:
        """The steps that taught it."""
        return [step for step in self.step if step.name in self.final.distill]

    def folder(self, treebanks: Path) -> Path:
        """Where its treebank is, below the folder that holds `ud-2.16`."""
        return treebanks / f"ud-{self.release}" / self.treebank

    def files(self, treebanks: Path) -> dict[str, Path]:
        """The treebank's files, by split; there may be no dev file."""
        folder = self.folder(treebanks)
        if not folder.is_dir():
            raise FileError(f"{folder}: no such treebank; --treebanks names the folder that holds ud-{self.release}")
        files = split_files(folder)
        if missing := [split for split in ("train", "test") if split not in files]:
            raise FileError(f"{folder}: no {missing[0]} file")
        return files


def codes(recipes: Path = RECIPES) -> list[str]:
    """The names of all files: of the recipes, the codes of languages."""
    return sorted(path.stem for path in recipes.glob("*.toml"))


def read_recipe(code: str, recipes: Path = RECIPES) -> Recipe:
    """The recipe of a language."""
    if code not in (known := codes(recipes)):
        raise UnknownNameError("recipe", code, known)
    path = recipes / f"{code}.toml"
    values = _read(path)
    more, shared = values.pop("settings", {}), values.pop(STEPS, DEFAULT)
    if shared not in (known := codes(recipes / STEPS)):
        raise FileError(f"{path}: {UnknownNameError(STEPS, shared, known)}")
    steps = _steps(path, values if "step" in values else _read(recipes / STEPS / f"{shared}.toml"), more)
    recipe = _made(Recipe, values | {"code": code, "step": steps}, str(path))
    if recipe.licence not in LICENCES:
        raise FileError(f"{path}: {UnknownNameError('licence', recipe.licence, LICENCES)}")
    return recipe if recipe.text else replace(recipe, step=tuple(replace(step, raw=False) for step in steps))


def _read(path: Path) -> dict[str, Any]:
    try:
        with file_errors(path):
            return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise FileError(f"{path}: not TOML: {error}") from error


def _steps(path: Path, values: Mapping[str, Any], more: Any) -> tuple[Step, ...]:
    """The steps of a file with further settings; each may name only steps before it."""
    steps = list[Step]()
    given = values.get("step")
    if not isinstance(given, list) or not all(isinstance(one, dict) for one in given):
        raise FileError(f"{path}: no steps: each begins with [[step]]")
    names = [one.get("name") for one in given]
    if not isinstance(more, dict) or not all(isinstance(one, dict) for one in more.values()):
        raise FileError(f"{path}: settings are of a step: [settings.NAME] or [settings.{ALL_STEPS}]")
    if unknown := sorted(set(more) - {ALL_STEPS, *names}):
        raise FileError(f"{path}: settings of {unknown[0]!r}, and no step has this name")
    for number, one in enumerate(given, 1):
        lists = {name: tuple(value) for name, value in one.items() if isinstance(value, list)}
        step = _made(Step, one | lists, f"{path}: step {number}")
        step = replace(step, settings=step.settings | more.get(ALL_STEPS, {}) | more.get(step.name, {}))
        for name in step.distill:
            if name not in {earlier.name for earlier in steps}:
                raise FileError(f"{path}: {step.name}: no step before it is named {name}")
        try:
            read_config(step.config, step.options())
        except (ConfigError, UnknownNameError) as error:
            raise FileError(f"{path}: {step.name}: {error}") from error
        steps.append(step)
    if len(set(names)) < len(names) or not steps:
        raise FileError(f"{path}: {'two steps have the same name' if steps else 'no steps'}")
    return tuple(steps)


def _made(kind: type[T], values: Mapping[str, Any], where: str) -> T:
    """A recipe or a step of plain values; what is unknown, missing or of another type is refused."""
    known = {one.name: one for one in fields(kind)}  # type: ignore[arg-type]
    for name, value in values.items():
        if name not in known:
            raise FileError(f"{where}: {UnknownNameError('key', name, known)}")
        wanted = _type(known[name].type)
        if type(value) is not wanted:
            raise FileError(f"{where}: {name} is of the wrong type: {value!r}")
    for name, one in known.items():
        if name not in values and one.default is MISSING and one.default_factory is MISSING:
            raise FileError(f"{where}: it has no {name}")
    return kind(**values)


def _type(annotation: Any) -> type:
    name = str(annotation).partition("[")[0]
    return {"str": str, "int": int, "bool": bool, "dict": dict, "tuple": tuple}[name]


def with_needed(recipe: Recipe, finished: Sequence[str]) -> list[Step]:
    """The steps that are still to be carried out: those that the final one needs, and that have no model yet."""
    needed = {recipe.final.name}
    for step in reversed(recipe.step):
        if step.name in needed and step.name not in finished:
            needed |= set(step.distill)
    return [step for step in recipe.step if step.name in needed and step.name not in finished]
