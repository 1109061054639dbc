"""Damaged and hostile model folders, without checksums: each is refused by an error that names a file, or it parses."""

from __future__ import annotations

import json
import os
import random
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from torch import nn

import biplanar
from biplanar.errors import BiplanarError, FileError, FormatError
from biplanar.pipeline.model_folder import ModelFolder
from biplanar.tagger.weights import save_weights

SOURCE = ModelFolder.find().path
NAMES = sorted(path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*") if path.is_file())
GRAPHS = [name for name in NAMES if name.endswith(".onnx")]
LISTS = [name for name in NAMES if name.endswith(".json")]
CONFIG = (SOURCE / "config.toml").read_text(encoding="utf-8")
SETTINGS = [line.split(" = ")[0] for line in CONFIG.splitlines() if " = " in line]
ODD = [None, -1, 2.5, True, "", "a\tb", "\ud800", [], {}, [[]], ["x", 1], {"x": {"y": 1}}, 10**30, [""]]


@pytest.fixture
def folder(tmp_path) -> Path:
    """A copy of the bundled model, whose files are links until they are replaced."""
    for name in NAMES:
        if name != "SHA256SUMS":
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).symlink_to(SOURCE / name)
    return tmp_path


def outcome(folder: Path) -> str:
    """What loading and parsing say, if anything is wrong."""
    try:
        document = biplanar.load(folder)("Nobody came to it. Really?", probabilities=True)
    except BiplanarError as error:
        message = str(error)
        assert str(folder) in message
        return message
    assert all(sentence.tree.heads for sentence in biplanar.parse_conllu(document.to_conllu()))
    return ""


def replace(path: Path, content: bytes | str) -> None:
    path.unlink(missing_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode(errors="surrogatepass"))


def pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def device(path: Path) -> None:
    path.unlink()
    path.symlink_to("/dev/zero")


def subfolder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize("make", [pipe, device, subfolder])
@pytest.mark.parametrize("name", [*NAMES, "model.safetensors"])
def test_only_regular_files_are_read(folder, name, make: Callable[[Path], None]):
    (folder / name).touch()
    make(folder / name)
    if name == "model.safetensors":
        with pytest.raises(BiplanarError, match=r"model\.safetensors"):
            biplanar.load(folder, runtime="torch")
    else:
        assert f"{name}: not a regular file" in outcome(folder) or make is subfolder


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("README.md", "SHA256SUMS")])
def test_damaged_content(folder, name):
    content, chance = (SOURCE / name).read_bytes(), random.Random(name)
    replace(folder / name, b"")
    outcome(folder)
    for _ in range(2):
        replace(folder / name, content[: chance.randrange(len(content))])
        outcome(folder)
        replace(folder / name, chance.randbytes(100))
        outcome(folder)
    for _ in range(4):
        changed = bytearray(content)
        changed[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
        replace(folder / name, bytes(changed))
        outcome(folder)


@pytest.mark.parametrize("name", GRAPHS)
def test_graphs_in_each_others_places(folder, name):
    for other in GRAPHS:
        replace(folder / name, (SOURCE / other).read_bytes())
        assert (name == other) == (not outcome(folder))


def changed(values: object, chance: random.Random) -> object:
    """JSON with something else in some place of it."""
    if not isinstance(values, dict | list) or not values or chance.random() < 0.2:
        return chance.choice(ODD)
    key = chance.choice(list(values)) if isinstance(values, dict) else chance.randrange(len(values))
    copy = values.copy()
    copy[key] = changed(values[key], chance)  # type: ignore[index]
    return copy


@pytest.mark.parametrize("name", LISTS)
def test_odd_values_in_json(folder, name):
    values, chance = json.loads((SOURCE / name).read_text(encoding="utf-8")), random.Random(name)
    for _ in range(12):
        replace(folder / name, json.dumps(changed(values, chance)))
        outcome(folder)
    for text in ("[" * 100_000, '{"forms":' * 100_000, "9" * 5000, "NaN"):
        replace(folder / name, text)
        assert f"{name}: " in outcome(folder)


@pytest.mark.parametrize("task", ["deprel", "plane1", "depth.plane1.left", "upos", "feats", "lemma"])
def test_odd_labels(folder, task):
    values = json.loads((SOURCE / "vocab.json").read_text(encoding="utf-8"))
    for odd in (*ODD, "x" * 5000, "↓9999999999999999999;;", "↑0↓1;1;x", "-1", "9" * 30, "<<<<>>>>", "_"):
        labels = values["tasks"][task].copy()
        labels[0] = odd
        replace(folder / "vocab.json", json.dumps(values | {"tasks": values["tasks"] | {task: labels}}))
        outcome(folder)
    replace(folder / "vocab.json", json.dumps(values | {"tasks": values["tasks"] | {task: []}}))
    assert outcome(folder)


@pytest.mark.parametrize("value", ["1e308", "-1", "nan", "inf", "0xf" + "f" * 2000, "[" * 2000, '"x"', "true", "{}"])
def test_odd_settings(folder, value):
    for setting in SETTINGS:
        lines = (f"{setting} = {value}" if line.startswith(f"{setting} =") else line for line in CONFIG.splitlines())
        replace(folder / "config.toml", "\n".join(lines))
        outcome(folder)


@pytest.mark.parametrize("more", ["a." * 40_000 + "b = 1", "[" + "a." * 40_000 + "b]", "\n" * 2_000_000, "format = 1"])
def test_large_and_old_settings(folder, more):
    replace(folder / "config.toml", f"{more}\n{CONFIG}")
    assert "config.toml: " in outcome(folder)


def test_settings_larger_than_the_weights_take_no_memory(folder):
    large = CONFIG.replace("hidden = 126", "hidden = 16384").replace("layers = 2", "layers = 100")
    replace(folder / "config.toml", large)
    save_weights(nn.Linear(1, 1), folder / "model.safetensors")
    with pytest.raises(FileError, match=r"model\.safetensors"):
        biplanar.load(folder, runtime="torch")


@pytest.mark.parametrize("name", ["../outside", "/etc/hostname", "int8/../../outside", "..\\outside", ""])
def test_checksums_name_files_of_the_folder_only(folder, name):
    (folder / "SHA256SUMS").write_text(f"{'0' * 64}  {name}\n", encoding="utf-8")
    with pytest.raises(FormatError, match="SHA256SUMS:1: "):
        biplanar.load(folder)


def test_vectors_that_unpack_to_much_more_are_refused(folder):
    path = folder / "int8" / "known.npz"
    path.unlink()
    np.savez_compressed(path, vectors=np.zeros((100_000, 100), dtype=np.int8), network=np.array(""))
    assert path.stat().st_size < 100_000
    assert "known.npz: " in outcome(folder)
    with zipfile.ZipFile(path, "w") as archive:
        header = b"\x93NUMPY\x01\x00v\x00{'descr': '|i1', 'fortran_order': False, 'shape': (4000000000,), }"
        archive.writestr("vectors.npy", header.ljust(127) + b"\n" + b"0" * 100)
    assert "known.npz: " in outcome(folder)
