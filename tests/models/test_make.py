"""From recipes to packages."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
import tomllib
from pathlib import Path

import pytest
from models.make import Work, main
from models.recipe import read_recipe
from study.common import command, read_json
from study.tables import packaged

import biplanar
from biplanar.errors import BiplanarError
from biplanar.pipeline.model_folder import ModelFolder
from models import make, package, recipe
from study import models as scored
from tests.commands import Run
from tests.paths import TINY

SETTINGS = """
[settings.all]
"network.word_dim" = 8
"network.char_dim" = 4
"network.char_hidden" = 8
"network.hidden" = 16
"network.layers" = 1
"network.arc_dim" = 8
"training.epochs" = 2
"training.batch_words" = 60
"training.evaluations" = 1
"training.average" = "none"
"segmenter.updates" = 20
"segmenter.hidden" = 16

[settings.student]
"segmenter.kind" = "none"
"""


def write_treebank(folder: Path, name: str, splits: tuple[str, ...] = ("train", "dev", "test")) -> None:
    folder.mkdir(parents=True)
    for split in splits:
        (folder / f"{name}-ud-{split}.conllu").write_text(TINY.read_text(encoding="utf-8"), encoding="utf-8")


@pytest.fixture
def work(tmp_path):
    """For a recipe and its treebank, without any text in it."""

    def work(code: str) -> Work:
        recipe = read_recipe(code)
        write_treebank(recipe.folder(tmp_path), code)
        texts = tmp_path / "texts"
        texts.mkdir(exist_ok=True)
        (texts / f"{code}.txt").touch()
        return Work(recipe, tmp_path, texts, tmp_path / "made", "cpu")

    return work


def after(arguments: list[str], option: str) -> list[str]:
    return [arguments[at + 1].rpartition("/")[2] for at, one in enumerate(arguments) if one == option]


class TestCommands:
    def test_a_teacher_and_a_student(self, work):
        vi = work("vi")
        teacher, student = map(vi.command, vi.left())
        assert teacher[:5] == [sys.executable, "-m", "biplanar", "train", "accurate"]
        assert after(teacher, "--licence") == ["CC BY-SA 4.0"]
        assert student[4] == "fast"
        assert student[student.index("--distill") + 1] == str(vi.models / "teacher")
        for one in (teacher, student):
            files = [f"vi-ud-{split}.conllu" for split in ("train", "dev", "test")]
            assert [*after(one, "--train"), *after(one, "--dev"), *after(one, "--test")] == files

    def test_raw_text_is_learned_where_there_is_some(self, work):
        for code, names in (("lt", ["lt.txt"]), ("vi", ["vi.txt", "student.mixed.conllu"])):
            made = work(code)
            assert [after(made.command(step), "--raw") for step in made.left()] == [[], names]

    def test_sentences_with_exchanged_phrases_are_written(self, work):
        mt = work("mt")
        _, student = mt.left()
        mt.write_data(student)
        assert after(mt.command(student), "--raw") == ["student.mixed.conllu"]
        assert len(list(biplanar.read_conllu(mt.mixed(student)))) == 5 * len(list(biplanar.read_conllu(TINY)))

    def test_english_learns_more(self, work):
        en = work("en")
        teacher, _, last = map(en.command, en.left())
        assert after(teacher, "--train") == ["en-ud-train.conllu", "teacher.crossing.conllu"]
        assert after(last, "--train") == ["en-ud-train.conllu", "en.crossing.conllu"]
        assert after(last, "--raw") == ["en.txt", "en.mixed.conllu"]
        assert last[last.index("--distill") + 1] == f"{en.models / 'teacher'},{en.models / 'other'}"

    def test_what_is_there_is_passed_over_and_what_was_begun_resumed(self, work):
        en = work("en")
        for name, file in (("teacher", "README.md"), ("other/unfinished", "checkpoint.safetensors")):
            (en.models / name).mkdir(parents=True)
            (en.models / name / file).touch()
        step, *_ = en.left()
        assert step.name == "other"
        assert en.command(step)[-1] == "--resume"

    def test_a_treebank_without_dev_lends_a_part_of_its_training_file(self, work):
        gl = work("gl")
        (gl.recipe.folder(gl.treebanks) / "gl-ud-dev.conllu").unlink()
        step, *_ = gl.left()
        gl.write_data(step)
        files = gl.files()
        found = {split: list(biplanar.read_conllu(files[split])) for split in ("train", "dev")}
        gold = list(biplanar.read_conllu(TINY))
        assert found["train"] + found["dev"] == gold
        assert len(found["dev"]) == len(gold) // 8
        assert after(gl.command(step), "--dev") == ["gl-ud-dev.conllu"]

    def test_they_are_shown(self, work, capsys):
        mt = work("mt")
        main(["mt", "--treebanks", str(mt.treebanks), "-o", str(mt.output), "--device", "cpu", "--show"])
        shown = [shlex.split(line) for line in capsys.readouterr().out.splitlines()]
        assert shown == [mt.command(step) for step in mt.left()]
        assert not mt.output.exists()


class TestRefused:
    @pytest.mark.parametrize("options", [[], ["--texts", "."]])
    def test_raw_text_must_be_there(self, work, options):
        en = work("en")
        with pytest.raises(BiplanarError, match=r"--texts names the folder that has en\.txt"):
            main(["en", "--treebanks", str(en.treebanks), "-o", str(en.output), "--show", *options])

    @pytest.mark.parametrize(("code", "message"), [("prt", "unknown recipe 'prt'"), ("pt", "no such treebank")])
    def test_errors_are_one_line(self, code, message, tmp_path, monkeypatch, capsys):
        monkeypatch.setattr(sys, "argv", ["make", code, "--treebanks", str(tmp_path)])
        with pytest.raises(SystemExit) as left:
            command(main, "make")
        err = capsys.readouterr().err
        assert left.value.code == 2
        assert err.startswith("make: ")
        assert message in err
        assert err.count("\n") == 1

    def test_a_training_that_fails(self, work, monkeypatch):
        vi = work("vi")
        monkeypatch.setattr(make.Work, "command", lambda *_: [sys.executable, "-c", "raise SystemExit(3)"])
        with pytest.raises(BiplanarError, match=r"vi: the training of teacher failed: .*teacher\.log"):
            main(["vi", "--treebanks", str(vi.treebanks), "-o", str(vi.output), "--slots", "2"])


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """Where recipes are read, and packages and scores written."""
    recipes = tmp_path / "recipes"
    recipes.mkdir()
    shutil.copytree(recipe.RECIPES / recipe.STEPS, recipes / recipe.STEPS)
    head = 'language = "Test"\ntreebank = "UD_Test-Tiny"\nedition = "1.0"\nlicence = "LGPL-LR"\n'
    (recipes / "xx.toml").write_text(head + SETTINGS)
    write_treebank(tmp_path / "ud-2.16" / "UD_Test-Tiny", "xx_tiny")
    for module in (make, package):
        monkeypatch.setattr(module, "read_recipes", lambda given: [read_recipe(code, recipes) for code in given])
    monkeypatch.setattr(package, "ROOT", tmp_path)
    monkeypatch.setattr(package, "STORED", tmp_path / "packaged.json")
    monkeypatch.setattr(scored, "STORED", tmp_path / "models.json")
    return tmp_path


class TestPackage:
    def test_from_a_treebank_to_a_name(self, repository, monkeypatch, run):
        """All of it, on a treebank of some sentences; then again, when nothing is left to be trained."""
        arguments = ["xx", "--treebanks", str(repository), "-o", str(repository / "made"), "--device", "cpu"]
        main([*arguments, "--slots", "2", "--no-package"])
        assert not (repository / "models").exists()
        main(arguments)
        folder = repository / "models" / "packages" / "xx"
        check_package(folder)
        check_stored(repository)
        self.check_installed(folder, repository / "installed", monkeypatch, run)
        monkeypatch.setattr(make, "train", lambda work, **_: work.left() and pytest.fail("nothing is left"))
        before = read_json(repository / "packaged.json")
        main(arguments)
        assert read_json(repository / "packaged.json") == before
        check_new_segmenter(repository, folder)
        monkeypatch.setattr(package, "LARGEST", 10_000)
        with pytest.raises(BiplanarError, match=r"student: 0\.\d+ MB to package, and not 0.01 MB"):
            main(arguments)
        check_package(folder)  # what was there stays

    def check_installed(self, folder: Path, place: Path, monkeypatch, run: Run) -> None:
        """As an installer leaves it."""
        project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
        about = place / "biplanar_xx-1.0.0.dist-info"
        about.mkdir(parents=True)
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: 1.0.0\n")
        points = project["entry-points"]["biplanar.models"].items()
        (about / "entry_points.txt").write_text(
            "[biplanar.models]\n" + "".join(f"{name} = {value}\n" for name, value in points)
        )
        (place / "biplanar_xx").symlink_to(folder / "biplanar_xx")
        monkeypatch.syspath_prepend(place)
        assert ModelFolder.find("xx").path == place / "biplanar_xx" / "model"
        parsed = biplanar.load("xx")("Nobody came.").to_conllu()
        assert run("parse", "--text", "Nobody came.", "-m", "xx").out.endswith(parsed)
        listed = {row["name"]: row for row in json.loads(run("models", "--json").out)}
        assert (listed["xx"]["kind"], listed["xx"]["licence"]) == ("installed", "LGPL-LR")


def check_new_segmenter(repository: Path, folder: Path) -> None:
    """The last model has none of its own, so it was trained on the treebank; it can be trained again."""
    segmenter = folder / "biplanar_xx" / "model" / "segmenter"
    before = {path: path.read_bytes() for path in segmenter.rglob("*") if path.is_file()}
    (segmenter / "multiword.json").write_text("{}")
    package.main(["xx", "--treebanks", str(repository), "--segmenter"])
    check_package(folder)
    assert {path: path.read_bytes() for path in segmenter.rglob("*") if path.is_file()} == before


def check_package(folder: Path) -> None:
    found = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    model = {name.removeprefix("biplanar_xx/model/") for name in found if "/model/" in name}
    assert {"pyproject.toml", "LICENSE", "biplanar_xx/__init__.py"} < found
    assert {"config.toml", "vocab.json", "README.md", "SHA256SUMS", "int8/words.onnx", "segmenter/vocab.json"} < model
    assert not [name for name in model if name.endswith((".safetensors", ".jsonl", ".png")) or name.startswith("onnx")]
    ModelFolder(folder / "biplanar_xx" / "model").verify_all()
    card = (folder / "biplanar_xx" / "model" / "README.md").read_text(encoding="utf-8")
    for part in (
        "# Test\n",
        "| trained on | xx_tiny-ud-train.conllu (UD_Test-Tiny 1.0) |",
        "| taught by | a model of the configuration `accurate` |",
        "| on the text of | the treebank |",
        "| licence of the data, and so of this model | LGPL-LR |",
        f"| made with | Biplanar {biplanar.__version__} |",
        'license: "lgpl-lr"',
        "| MLAS | BLEX |",
        "| test, raw text |",
    ):
        assert part in card


def check_stored(repository: Path) -> None:
    stored = read_json(repository / "packaged.json")["xx"]
    assert stored["treebank"] == "UD_Test-Tiny 1.0"
    assert {"Tokens", "Sentences", "UPOS", "LAS", "MLAS", "BLEX"} <= set(stored["scores"]["test"]["raw text"])
    assert "ELAS" not in stored["scores"]["test"]["gold words"]  # no graphs are predicted
    models = read_json(repository / "models.json")
    assert list(models) == ["UD 2.16/UD_Test-Tiny/accurate/1"]
    store = type("Store", (), {"files": {"packaged": {"xx": stored}, "models": models}})
    row = packaged(store).splitlines()[-1]
    assert row.startswith("| Test | `xx` | Test-Tiny 1.0 | LGPL-LR | 0.")
    assert row.endswith(f"| {models['UD 2.16/UD_Test-Tiny/accurate/1']['scores']['test']['gold words']['LAS']:.2f} |")
    assert "–" in packaged(type("Store", (), {"files": {"packaged": {"xx": stored}, "models": {}}}))


@pytest.mark.parametrize("code", ["pt", "ko"])
def test_known_lemmas_may_be_left_out(code, tmp_path, monkeypatch):
    monkeypatch.setattr(package, "ROOT", tmp_path)
    monkeypatch.setattr(package, "LARGEST", 10_000_000)
    folder = ModelFolder(package.add_model(read_recipe(code), ModelFolder.find(), tmp_path))
    folder.verify_all()
    assert folder.lemmas.exists() == (code == "pt")


def test_a_model_without_a_network_in_int8_is_not_packaged(tmp_path, monkeypatch):
    monkeypatch.setattr(package, "ROOT", tmp_path)
    trained = tmp_path / "trained"
    trained.mkdir()
    (trained / "config.toml").symlink_to(ModelFolder.find().config)
    with pytest.raises(BiplanarError, match="a network in int8"):
        package.add_model(read_recipe("pt"), ModelFolder(trained), tmp_path)
    assert not (tmp_path / "models").exists()


def test_a_package_that_is_not_there(monkeypatch, tmp_path):
    monkeypatch.setattr(package, "ROOT", tmp_path)
    with pytest.raises(BiplanarError, match=r"models\.make pt"):
        package.main(["pt"])
