"""What lies in a model's folder, and its checksums."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

import biplanar
from biplanar.errors import FileError
from biplanar.pipeline.model_folder import ModelFolder


@pytest.fixture
def copy(tmp_path):
    """A copy of the bundled model, whose files are links until they are written again."""
    source = biplanar.load().folder.path
    for path in source.rglob("*"):
        if path.is_file():
            target = tmp_path / path.relative_to(source)
            target.parent.mkdir(exist_ok=True)
            target.symlink_to(path)
    return ModelFolder(tmp_path)


def damage(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.unlink()
    path.write_bytes(data)


def names(folder: ModelFolder) -> set[str]:
    return {line.split("  ")[1] for line in folder.checksums.read_text(encoding="utf-8").splitlines()}


def test_the_bundled_model_has_checksums_of_all_it_loads(copy):
    files = {path.relative_to(copy.path).as_posix() for path in copy.path.rglob("*") if path.is_file()}
    assert names(copy) == files - {"README.md", "SHA256SUMS"}
    copy.verify(*(copy.path / name for name in names(copy)))


@pytest.mark.parametrize("name", sorted(names(biplanar.load().folder)))
def test_a_damaged_file_is_named(copy, name):
    damage(copy.path / name)
    with pytest.raises(FileError, match=f"{name}: .*checksum"):
        biplanar.load(copy.path)("Nobody came.")


def test_a_folder_without_checksums_is_taken_as_it_is(copy):
    copy.checksums.unlink()
    copy.config.unlink()
    copy.config.write_text(f"# mine\n{(biplanar.load().folder.config).read_text(encoding='utf-8')}", encoding="utf-8")
    assert len(biplanar.load(copy.path)("Nobody came.")) == 1


def test_what_is_not_loaded_is_not_verified(copy):
    damage(copy.segmenter.vocabulary)
    assert len(biplanar.load(copy.path)([["Nobody", "came", "."]])) == 1


def test_checksums_are_those_of_sha256sum(copy):
    before = copy.checksums.read_text(encoding="utf-8")
    copy.checksums.unlink()
    copy.write_checksums()
    assert copy.checksums.read_text(encoding="utf-8") == before
    digest = hashlib.sha256(copy.config.read_bytes()).hexdigest()
    assert f"{digest}  config.toml\n" in before
