"""Models of every released format load for ever, and parse as the version that made them did."""

from __future__ import annotations

import shutil

import pytest

import biplanar
from biplanar.data.conllu import Sentence
from biplanar.errors import FileError
from biplanar.pipeline.loading import RUNTIMES
from biplanar.pipeline.model_folder import FORMAT_VERSION, ModelFolder
from tests.pipeline.formats.make import HERE, TREEBANK

FORMATS = {int(path.name): ModelFolder(path) for path in sorted(HERE.iterdir()) if path.name.isdecimal()}
GOLD = list(biplanar.read_conllu(TREEBANK))
RELEASED = (4, 5)


def rows(sentences: list[Sentence]) -> list[str]:
    """Tokens and words, without comments."""
    lines = "".join(one.to_conllu() for one in sentences).splitlines()
    return [line for line in lines if not line.startswith("#")]


@pytest.fixture(params=FORMATS)
def folder(request) -> ModelFolder:
    return FORMATS[request.param]


@pytest.mark.parametrize("runtime", [name for name in RUNTIMES if name != "onnx"])
def test_words_are_parsed_as_before(folder, runtime):
    words = [list(sentence.forms) for sentence in GOLD]
    expected = list(biplanar.read_conllu(folder.path / "words.conllu"))
    assert rows(list(biplanar.load(folder.path, runtime=runtime).pipe(words))) == rows(expected)


def test_text_is_parsed_as_before(folder):
    text = " ".join(sentence.text or "" for sentence in GOLD)
    expected = list(biplanar.read_conllu(folder.path / "text.conllu"))
    assert rows(list(biplanar.load(folder.path)(text))) == rows(expected)


def test_files_are_as_they_were(folder):
    folder.verify_all()


def test_there_is_a_model_of_each_released_format():
    """If this fails because the format was raised: tests/pipeline/formats/README.md says how to add a model."""
    assert set(RELEASED) <= set(FORMATS)
    assert sorted(FORMATS) == list(range(min(RELEASED), FORMAT_VERSION + 1))
    for number, folder in FORMATS.items():
        assert folder.config.read_text(encoding="utf-8").startswith(f"format = {number}\n")


def test_the_newest_has_all_that_a_model_may_hold():
    newest = FORMATS[FORMAT_VERSION]
    text = (newest.path / "text.conllu").read_text(encoding="utf-8")
    assert "\n2-3\tcan't\t" in text  # multiword tokens
    assert "\t2:nsubj|4:nsubj:xsubj\t" in text  # graphs
    for part in (newest.lemmas, newest.segmenter.int8, newest.segmenter.multiword, newest.weights, newest.card):
        assert part.exists()


@pytest.mark.parametrize(
    ("version", "message"),
    [
        (FORMAT_VERSION + 1, "newer version of Biplanar: upgrade Biplanar"),
        *[(version, "can be read") for version in ("3", "true", "4.0", "[]", '"5"')],
    ],
)
def test_other_formats_are_refused(tmp_path, version, message):
    copy = ModelFolder(tmp_path / "model")
    shutil.copytree(FORMATS[FORMAT_VERSION].path, copy.path)
    copy.checksums.unlink()
    settings = copy.config.read_text(encoding="utf-8")
    copy.config.write_text(settings.replace(f"format = {FORMAT_VERSION}\n", f"format = {version}\n"), encoding="utf-8")
    with pytest.raises(FileError, match=f"config.toml: model format .*{message}"):
        biplanar.load(copy.path)
