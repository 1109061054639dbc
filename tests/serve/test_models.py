"""Which model a name means."""

from __future__ import annotations

from dataclasses import replace
from importlib.metadata import EntryPoint, EntryPoints
from types import SimpleNamespace

import pytest
from starlette.exceptions import HTTPException

from biplanar.data.conllu import Sentence
from biplanar.decoding.inventory import LabelInventory
from biplanar.encodings import get_encoding
from biplanar.errors import BiplanarError, FileError, UnknownNameError
from biplanar.pipeline import model_folder
from biplanar.serve.models import Model, Models
from tests.serve.conftest import serving


@pytest.fixture
def folder(models):
    return models.default.parser.folder.path


def named(models: Models, *names: str) -> Models:
    return Models(tuple(replace(models.default, name=name) for name in names))


def test_the_bundled_model(models):
    model = models.default
    assert (model.name, model.encoding, model.takes_raw_text) == ("en", "2p-full", True)
    assert not model.has_udpipe_tagger
    assert set(model.columns) == {"upos", "xpos", "feats", "lemma", "deps"}
    assert model.licence == "CC BY-SA 4.0"
    assert "UD_English-EWT 2.16" in model.facts["description"]
    assert models.find("english") is models.find("english-ewt") is models.find("en") is model


def test_prefixes_up_to_a_hyphen_are_names_too(models):
    several = named(models, "gothic-proiel-2.4", "gothic", "greek-perseus", "greek-proiel")
    assert several.find("gothic-proiel").name == "gothic-proiel-2.4"
    assert several.find("gothic").name == "gothic"  # a whole name goes before
    assert several.find("greek").name == "greek-perseus"
    with pytest.raises(UnknownNameError, match="unknown model 'goth'; did you mean 'gothic'"):
        several.find("goth")


def test_folders_and_names_for_them(folder, tmp_path):
    copy = tmp_path / "a=b"
    copy.mkdir()
    for path in folder.iterdir():
        (copy / path.name).symlink_to(path)
    several = Models.load(["en", f"other={folder}", str(copy)])
    assert [model.name for model in several.all] == ["en", "other", "a=b"]


def test_packages_are_served_by_their_names(monkeypatch):
    installed = EntryPoints([EntryPoint("pt", "tests.pipeline.test_loading:BUNDLED", "biplanar.models")])
    monkeypatch.setattr(model_folder, "entry_points", lambda group: installed.select(group=group))
    with serving(Models.load(["en", "pt"])) as served:
        assert [model["name"] for model in served.client.get("/api/models").json()["models"]] == ["en", "pt"]
        asked = {"words": [["Nobody", "came", "."]], "model": "pt"}
        assert served.client.post("/api/parse", json=asked).json()["model"] == "pt"


def test_models_of_one_name_are_refused(folder):
    with pytest.raises(BiplanarError, match="same name"):
        Models.load([str(folder), str(folder)])


@pytest.mark.parametrize("given", ["=x", "x=", "="])
def test_half_a_name_is_refused(given):
    with pytest.raises(FileError, match="NAME=FOLDER"):
        Models.load([given])


def test_a_model_without_a_tokenizer_or_a_card(folder, tmp_path):
    for path in folder.iterdir():
        if path.name not in ("segmenter", "README.md"):
            (tmp_path / path.name).symlink_to(path)
    model = Model.load("bare", tmp_path, device="cpu", threads=1)
    assert (model.takes_raw_text, model.has_udpipe_tagger, model.licence) == (False, False, "unknown")


def test_a_model_that_needs_tags_refuses_words_without(models):
    def inventory(column: str) -> LabelInventory:
        return LabelInventory(get_encoding("rel-pos"), {column: ("NOUN",)})

    parser = SimpleNamespace(inventory=inventory("lemma"), folder=models.default.parser.folder)
    parser.segmenter = models.default.parser.segmenter
    model = Model("tags", parser, {})
    tagged = Sentence.from_words(["Yes"], upos=["INTJ"])
    assert list(model.parsable(iter([tagged]))) == [tagged]
    with pytest.raises(HTTPException, match="needs part-of-speech tags"):
        list(model.parsable(iter([Sentence.from_words(["Yes"])])))
    parser.inventory = inventory("upos")
    assert len(list(model.parsable(iter([Sentence.from_words(["Yes"])])))) == 1
