"""Recipes and made-up sentences."""

import re
from pathlib import Path

import pytest
from study.crossing_sentences import SHOWN, make_sentences, to_conllu
from study.recipe import Place, commands, main, read_recipe

from biplanar.data.conllu import parse_conllu
from biplanar.errors import BiplanarError, FileError
from biplanar.planes.assignment import planes_of

ENGLISH = Path(__file__).parents[2] / "study" / "recipes" / "english.toml"
EVERYDAY = Path(__file__).parents[1] / "models" / "everyday_english.tsv"


@pytest.fixture
def place(tmp_path):
    for split in ("train", "dev", "test"):
        (tmp_path / f"en-ud-{split}.conllu").touch()
    return Place(tmp_path, (tmp_path / "text.txt",), tmp_path / "models", "cpu")


class TestRecipe:
    def test_every_step_is_a_training(self, place):
        found = [arguments for _, arguments in commands(read_recipe(ENGLISH), place)]
        assert [one[one.index("-o") + 1].rpartition("/")[2] for one in found] == [
            *("teacher", "small", "en")
        ]
        _, small, last = found
        assert small[small.index("--distill") + 1] == str(place.models / "teacher")
        assert small[small.index("--raw") + 1].endswith("text.txt")
        assert last[last.index("--start") + 1] == str(place.models / "small")
        assert [last[at + 1].rpartition("/")[2] for at, one in enumerate(last) if one == "--train"] == [
            "en-ud-train.conllu",
            "en.crossing.conllu",
        ]

    def test_what_is_there_is_passed_over_and_what_was_begun_resumed(self, place):
        for name, file in (("teacher", "README.md"), ("small/unfinished", "checkpoint.safetensors")):
            (place.models / name).mkdir(parents=True)
            (place.models / name / file).touch()
        (step, arguments), *_ = commands(read_recipe(ENGLISH), place)
        assert step.name == "small"
        assert arguments[-1] == "--resume"

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("", "no steps"),
            ("[[step]]\nseed = 1", "step 1 has no name"),
            ('[[step]]\nname = "a"\nsize = 3', "step 1: unknown key 'size'"),
            ('[[step]]\nname = "a"\nstart = "b"', "a: .* b"),
            ("[[step", "TOML"),
        ],
    )
    def test_bad_recipes(self, tmp_path, text, message):
        path = tmp_path / "recipe.toml"
        path.write_text(text)
        with pytest.raises(FileError, match=message):
            read_recipe(path)

    def test_raw_text_must_be_given(self, place):
        with pytest.raises(BiplanarError, match="--raw"):
            main([str(ENGLISH), "--treebank", str(place.treebank), "-o", str(place.models), "--show"])


class TestCrossingSentences:
    sentences = make_sentences(300, 1)

    def test_about_half_of_them_have_crossing_arcs(self):
        crossing = sum(2 in planes_of(tree, "2p-greedy") for _, tree in self.sentences)
        assert 150 < crossing < 240

    def test_what_people_are_shown_is_not_learned(self):
        assert not SHOWN & {" ".join(forms) for forms, _ in make_sentences(3000, 2)}

    def test_sentences_that_models_are_tested_with_are_not_learned(self):
        tested = {line.partition("\t")[0] for line in EVERYDAY.read_text(encoding="utf-8").splitlines()}
        made = {re.sub(r" ([.?])$", r"\1", " ".join(forms)) for forms, _ in make_sentences(20_000, 2)}
        assert not tested & made

    def test_they_are_conllu(self):
        text = "".join(map(to_conllu, self.sentences))
        assert [one.tree for one in parse_conllu(text)] == [tree for _, tree in self.sentences]
