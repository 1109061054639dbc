"""The rooms of the package import only downwards, and the heavy ones are loaded only where they are needed."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest

import biplanar

SOURCE = Path(biplanar.__file__).parent

# From the ground up. Rooms of one floor do not know each other; a new room has to be placed here.
FLOORS = (
    {"errors", "compiled"},
    {"plugins"},
    {"data"},
    {"planes"},
    {"encodings"},
    {"decoding"},
    {"draw", "evaluation"},
    {"tagger"},
    {"tokenizer"},
    {"pipeline"},
    {"bulk"},
    {"serve", "integrations"},
    {"cli"},
    {"__init__", "__main__"},
)
FLOOR = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}

EDGES = {"cli", "serve", "integrations", "__main__"}
MAY_IMPORT_TORCH = {
    "biplanar.pipeline.train",
    "biplanar.tagger.checkpoint",
    "biplanar.tagger.cuda_graphs",
    "biplanar.tagger.device",
    "biplanar.tagger.distributed",
    "biplanar.tagger.encoders",
    "biplanar.tagger.encoders.bilstm",
    "biplanar.tagger.encoders.encoder",
    "biplanar.tagger.encoders.lstm",
    "biplanar.tagger.encoders.transformer",
    "biplanar.tagger.export",
    "biplanar.tagger.export_bilstm",
    "biplanar.tagger.export_transformer",
    "biplanar.tagger.layers",
    "biplanar.tagger.loop",
    "biplanar.tagger.network",
    "biplanar.tagger.tensors",
    "biplanar.tagger.threads",
    "biplanar.tagger.training",
    "biplanar.tagger.weights",
    "biplanar.tokenizer.training",
}


def modules() -> list[str]:
    """Every module, named as it is imported."""
    paths = (path.relative_to(SOURCE.parent).with_suffix("") for path in SOURCE.rglob("*.py"))
    return sorted(".".join(path.parts).removesuffix(".__init__") for path in paths)


def path_of(module: str) -> Path:
    path = SOURCE.parent.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def room_of(module: str) -> str:
    return [*module.split("."), "__init__"][1]


def imported_by(module: str) -> Iterator[str]:
    """The modules of the package that a module imports, at its top or within functions."""
    for node in ast.walk(ast.parse(path_of(module).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names if name.name.split(".")[0] == "biplanar")
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}:{node.lineno}: relative imports hide where they lead"
            if node.module == "biplanar":
                yield from filter(None, (home_of(name.name) for name in node.names))
            elif (node.module or "").startswith("biplanar."):
                yield str(node.module)


def home_of(name: str) -> str | None:
    """The module behind `from biplanar import name`."""
    if name in biplanar._HOMES:
        return f"biplanar.{biplanar._HOMES[name]}"
    return None if name == "__version__" else f"biplanar.{name}"


def test_every_module_has_a_place():
    assert {room_of(module) for module in modules()} <= set(FLOOR)
    assert len(FLOOR) == len(list(chain(*FLOORS)))


@pytest.mark.parametrize("module", modules())
def test_imports_point_downwards(module):
    room = room_of(module)
    for imported in imported_by(module):
        below = room_of(imported)
        assert below == room or FLOOR[below] < FLOOR[room], f"{module} may not import {imported}"


def test_nothing_of_inference_imports_training():
    seen, rest = set[str](), ["biplanar.pipeline.loading"]
    while rest:
        if (module := rest.pop()) not in seen:
            seen.add(module)
            rest += imported_by(module)
    assert not {module for module in seen if module.rpartition(".")[2] in ("train", "training", "checkpoint", "tuning")}


def test_the_check_sees_imports():
    assert "biplanar.data.tree" in list(imported_by("biplanar.data.sentence"))
    assert "biplanar.data.conllu" in list(imported_by("biplanar.cli.draw"))  # within a function
    assert "biplanar.decoding.labels" in list(
        imported_by("biplanar.cli.demo")
    )  # by way of `from biplanar import encode`


def test_everything_at_the_front_door_has_a_home():
    assert sorted(biplanar._HOMES) == sorted(biplanar.__all__)
    for name in biplanar.__all__:
        assert getattr(biplanar, name) is not None
        assert name in dir(biplanar)
    with pytest.raises(AttributeError, match=r"^module 'biplanar' has no attribute 'nonsense'$"):
        _ = biplanar.nonsense


def test_few_modules_stand_outside_of_the_rooms():
    loose = {path.stem for path in SOURCE.glob("*.py")} - {"__init__", "__main__"}
    assert len(loose) <= 3, loose


def test_only_encodings_know_what_a_bracket_encoding_is():
    for module in modules():
        if room_of(module) != "encodings":
            assert not re.search(r"isinstance\(.*Brackets", path_of(module).read_text(encoding="utf-8")), module


class TestFreshProcess:
    """What is loaded by what, in processes that have loaded nothing yet."""

    def loaded_by(self, *names: str) -> set[str]:
        code = f"import sys, {', '.join(names)}; print(*sys.modules)"
        process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        return set(process.stdout.split())

    def test_the_package_alone_loads_nothing_heavy(self):
        assert not self.loaded_by("biplanar") & {"torch", "numba", "numpy", "typer", "rich"}

    def test_the_command_line_loads_nothing_heavy(self):
        assert not self.loaded_by("biplanar.cli") & {"torch", "numba", "numpy"}

    def test_all_but_training_does_without_torch_and_the_edges(self):
        core = [module for module in modules() if room_of(module) not in EDGES and module not in MAY_IMPORT_TORCH]
        loaded = self.loaded_by(*core)
        assert set(core) <= loaded
        assert not loaded & {"torch", "typer", "biplanar.cli"}
