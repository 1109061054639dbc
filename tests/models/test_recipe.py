"""What recipes say, and what is wrong with some."""

from __future__ import annotations

import shutil

import pytest
from models.recipe import LICENCES, RECIPES, STEPS, codes, read_recipe, with_needed

from biplanar.errors import FileError, UnknownNameError

THIRTEEN = ("af", "cy", "en", "fr", "ga", "gd", "gl", "hy", "ko", "lt", "mt", "pt", "vi")

HEAD = 'language = "Klingon"\ntreebank = "UD_Klingon-Test"\nlicence = "CC BY-SA 4.0"\n'


def test_thirteen_languages_have_a_recipe():
    assert tuple(codes()) == THIRTEEN
    recipes = [read_recipe(code) for code in THIRTEEN]
    assert len({recipe.treebank for recipe in recipes}) == len({recipe.language for recipe in recipes}) == 13
    assert {recipe.code: recipe.release for recipe in recipes if recipe.release != "2.16"} == {"ko": "2.4"}
    assert {recipe.code for recipe in recipes if recipe.licence == "LGPL-LR"} == {"fr", "gl"}


def test_the_steps_of_most_are_those_of_one_file():
    recipe = read_recipe("cy")
    teacher, student = recipe.step
    assert (teacher.config, teacher.settings) == ("accurate", {})
    assert (student.config, student.distill) == ("fast", ("teacher",))
    assert recipe.final is student
    assert recipe.teachers() == [teacher]
    assert recipe.step == read_recipe("af").step
    assert student.raw


def test_a_student_may_learn_sentences_with_exchanged_phrases():
    teacher, student = read_recipe("vi").step
    assert (student.distill, student.raw, student.mixed) == (("teacher",), True, 5)
    assert read_recipe("ga").step == (teacher, student)
    assert read_recipe("mt").final.raw is False  # no text is named
    assert read_recipe("mt").final.mixed == 5


def test_a_language_adds_settings():
    for step, plain in zip(read_recipe("lt").step, read_recipe("cy").step, strict=True):
        assert step.settings == plain.settings | {"network.columns": "upos,xpos,feats,lemma,deps"}


def test_a_small_model_may_learn_from_the_treebank_alone():
    recipe = read_recipe("ko")
    assert [(step.config, step.distill) for step in recipe.step] == [("fast", ())]
    assert not recipe.teachers()


def test_english_has_two_teachers():
    teacher, other, last = read_recipe("en").step
    assert read_recipe("en").teachers() == [teacher, other]
    assert (teacher.seed, other.seed) == (1, 2)
    assert last.distill == ("teacher", "other")
    assert teacher.crossing == other.crossing == last.crossing == 9000


def test_only_what_is_needed_is_left():
    recipe = read_recipe("en")
    names = ["teacher", "other", "en"]
    left = {done: [step.name for step in with_needed(recipe, done)] for done in ((), ("teacher",), ("other",), ("en",))}
    assert left == {(): names, ("teacher",): names[1:], ("other",): ["teacher", "en"], ("en",): []}


class TestRefused:
    @pytest.fixture
    def recipes(self, tmp_path):
        shutil.copytree(RECIPES / STEPS, tmp_path / STEPS)
        return tmp_path

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ('language = "Klingon"', "tlh.toml: it has no treebank"),
            (HEAD.replace("4.0", "5.0"), "tlh.toml: unknown licence 'CC BY-SA 5.0'; did you mean 'CC BY-SA"),
            (HEAD + 'colour = "red"', "tlh.toml: unknown key 'colour'"),
            (HEAD + "release = 2.16", "tlh.toml: release is of the wrong type: 2.16"),
            (HEAD + "step = []", "tlh.toml: no steps"),
            (HEAD + "step = 1", "tlh.toml: no steps"),
            (HEAD + "[[step]]\nseed = 1", "step 1: it has no name"),
            (HEAD + '[[step]]\nname = "a"\nsize = 3', "step 1: unknown key 'size'"),
            (HEAD + '[[step]]\nname = "a"\nsettings = 3', "step 1: settings is of the wrong type"),
            (HEAD + '[[step]]\nname = "a"\ndistill = ["b"]', "a: no step before it is named b"),
            (HEAD + '[[step]]\nname = "a"\n[[step]]\nname = "a"', "two steps have the same name"),
            (HEAD + '[[step]]\nname = "a"\nconfig = "fats"', "a: .*did you mean 'fast'"),
            (HEAD + '[settings.student]\n"network.dropuot" = 0.1', "student: .*did you mean 'network.dropout'"),
            (HEAD + '[settings.all]\n"network.dropout" = 3', "teacher: network.dropout must be"),
            (HEAD + 'steps = "fats"', "tlh.toml: unknown steps 'fats'; did you mean 'fast'"),
            (HEAD + "[settings.pupil]", "settings of 'pupil', and no step"),
            (HEAD + "[settings]\na = 1", "settings are of a step"),
            ("[[step", "not TOML"),
        ],
    )
    def test_what_is_wrong_is_named(self, recipes, text, message):
        (recipes / "tlh.toml").write_text(text)
        with pytest.raises(FileError, match=message):
            read_recipe("tlh", recipes)

    def test_an_unknown_language(self):
        with pytest.raises(UnknownNameError, match="unknown recipe 'prt'; did you mean 'pt'"):
            read_recipe("prt")

    def test_a_treebank_that_is_not_there(self, recipes, tmp_path):
        (recipes / "tlh.toml").write_text(HEAD)
        recipe = read_recipe("tlh", recipes)
        with pytest.raises(FileError, match="UD_Klingon-Test: no such treebank; --treebanks"):
            recipe.files(tmp_path)
        folder = recipe.folder(tmp_path)
        folder.mkdir(parents=True)
        (folder / "tlh-ud-train.conllu").touch()
        with pytest.raises(FileError, match="no test file"):
            recipe.files(tmp_path)


def test_licences_have_names_and_addresses():
    assert all(address.startswith("https://") and " " not in name for name, address in LICENCES.values())
