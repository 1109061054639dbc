"""The models that ship: each has its package, loads, and parses raw text of its language."""

from __future__ import annotations

import pytest
from models.package import LARGEST, STORED, model_folder, package_files, size_of
from models.recipe import codes, read_recipe
from study.common import read_json
from study.fingerprint import of_model

import biplanar
from biplanar.cli.demo import TEXTS
from biplanar.pipeline.model_folder import BUNDLED, ModelFolder

PACKAGES = [code for code in TEXTS if code != BUNDLED]


def test_every_recipe_has_a_text():
    assert sorted(TEXTS) == codes()


@pytest.mark.parametrize("code", TEXTS)
def test_it_is_installed_and_parses_raw_text(code):
    assert ModelFolder.find(code).path.samefile(model_folder(code)), "`make install` installs it"
    parser = biplanar.load(code)
    parser.folder.verify_all()
    document = parser(TEXTS[code])
    (sentence,) = document
    assert document.text == TEXTS[code]
    assert "_" not in sentence.upos
    assert sentence.upos[-1] == "PUNCT"
    assert sentence[sentence.tree.heads.index(0)].upos in ("VERB", "AUX", "ADJ", "NOUN")


@pytest.mark.parametrize("code", TEXTS)
def test_its_scores_are_those_of_its_files(code):
    stored = read_json(STORED)[code]
    assert stored["fingerprint"] == of_model(model_folder(code), stored["fingerprint"]["data"].removeprefix("UD "))


@pytest.mark.parametrize("code", PACKAGES)
def test_its_package_is_small_and_as_the_recipe_says(code):
    folder = model_folder(code)
    assert folder.exists(), f"`python -m models.make {code}` makes it"
    assert size_of(folder) <= LARGEST
    assert not list(folder.rglob("*.safetensors"))
    package = folder.parents[1]
    for name, text in package_files(read_recipe(code)).items():
        assert (package / name).read_text(encoding="utf-8") == text
    assert f"({read_recipe(code).source})" in (folder / "README.md").read_text(encoding="utf-8")
