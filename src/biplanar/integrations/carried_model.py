"""A model that travels with a spaCy pipeline: its files in another folder, or as bytes. Nothing in them is executed."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, Self

import srsly

from biplanar.errors import FileError
from biplanar.pipeline.model_folder import ModelFolder, is_inside


class CarriedModel(ABC):
    """What spaCy asks of a component that has files: to write them, and to be loaded from them."""

    @abstractmethod
    def files(self) -> tuple[ModelFolder, list[Path]]:
        """The model's folder, and those files of it that travel."""

    @abstractmethod
    def from_disk(self, path: str | Path, **_: Any) -> Self:
        """Load the files of a folder."""

    def to_disk(self, path: str | Path, **_: Any) -> None:
        """Copy the files to a folder, which is made if need be."""
        for name, file in self._by_name().items():
            copy = Path(path) / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            if not (copy.exists() and copy.samefile(file)):
                shutil.copyfile(file, copy)

    def to_bytes(self, **_: Any) -> bytes:
        """The names of the files, and what is in them."""
        return bytes(srsly.msgpack_dumps({name: file.read_bytes() for name, file in self._by_name().items()}))

    def from_bytes(self, data: bytes, **_: Any) -> Self:
        """Load what `to_bytes` gave, from a folder that lasts as long as the component."""
        return self.from_disk(unpack(data, self))

    def _by_name(self) -> dict[str, Path]:
        folder, files = self.files()
        return {file.relative_to(folder.path).as_posix(): file for file in files if file.is_file()}


def unpack(data: bytes, owner: object) -> Path:
    """A folder with the files of `to_bytes`, which lasts as long as its owner; names that lead out are refused."""
    folder = Path(tempfile.mkdtemp(prefix="biplanar-"))
    weakref.finalize(owner, shutil.rmtree, folder, ignore_errors=True)
    for name, content in srsly.msgpack_loads(data).items():
        if not isinstance(content, bytes) or not isinstance(name, str) or not is_inside(name):
            raise FileError(f"not a file of a model: {name!r}")
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder
