"""A model that travels with a pipeline: its files in another folder, or as bytes. Nothing in them is executed."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Iterable
from pathlib import Path

import srsly

from biplanar.errors import FileError
from biplanar.pipeline.model_folder import ModelFolder, is_inside


def parsing_files(folder: ModelFolder) -> list[Path]:
    """The files of a model that parsing needs, with its card; what only training needs is left behind."""
    alone = [*folder.parts, folder.weights, folder.checksums, folder.card]
    networks = [path for network in (folder.int8, folder.onnx) for path in sorted(network.glob("*"))]
    return [path for path in (*alone, *networks) if path.is_file()]


def tokenizer_files(folder: ModelFolder) -> list[Path]:
    """The files of a model's tokenizer."""
    return [path for path in (folder.segmenter, folder.whole_tokens, folder.checksums) if path.is_file()]


def copy_files(files: Iterable[Path], root: Path, target: Path) -> None:
    """Copy files of one folder to another, which is made if need be."""
    for path in files:
        copy = target / path.relative_to(root)
        copy.parent.mkdir(parents=True, exist_ok=True)
        if not (copy.exists() and copy.samefile(path)):
            shutil.copyfile(path, copy)


def pack(files: Iterable[Path], root: Path) -> bytes:
    """The names of files in a folder, and what is in them."""
    return bytes(srsly.msgpack_dumps({path.relative_to(root).as_posix(): path.read_bytes() for path in files}))


def unpack(data: bytes, owner: object) -> Path:
    """A folder with the files that `pack` gave, which lasts as long as its owner; names that lead out are refused."""
    folder = Path(tempfile.mkdtemp(prefix="biplanar-"))
    weakref.finalize(owner, shutil.rmtree, folder, ignore_errors=True)
    for name, content in srsly.msgpack_loads(data).items():
        if not isinstance(content, bytes) or not isinstance(name, str) or not is_inside(name):
            raise FileError(f"not a file of a model: {name!r}")
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder
