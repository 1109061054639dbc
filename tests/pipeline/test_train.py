"""Training from start to end on hand-written sentences, and what happens when something comes in between."""

from __future__ import annotations

import errno
import json
import re
import shutil
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from itertools import count, islice
from pathlib import Path
from random import Random
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
import torch
from safetensors.torch import load_file

import biplanar
from biplanar.data.files import writing
from biplanar.errors import BiplanarError, FileError, FormatError, UnknownNameError
from biplanar.evaluation import evaluate
from biplanar.pipeline import train
from biplanar.pipeline.loading import RUNTIMES
from biplanar.pipeline.model_folder import ModelFolder
from biplanar.pipeline.train import Data, Estimate, FinalScores, Stage, export_model, read_log, train_model
from biplanar.tagger import weights as tensor_files
from biplanar.tagger.checkpoint import saved_epoch
from biplanar.tagger.config import CONFIGS, Config, ConfigError, read_config
from biplanar.tagger.loop import Progress, duration
from biplanar.tagger.training import Record, Trainer
from biplanar.tagger.weights import read_tensors
from biplanar.tokenizer.training import SegmenterRecord
from tests.conftest import ROOT

TINY_TREEBANK = str(ROOT / "examples" / "tiny.conllu")
DATA = Data([TINY_TREEBANK], TINY_TREEBANK, TINY_TREEBANK, licence="CC0")

SMALL = {
    "network": {
        "word_dim": 16,
        "char_dim": 8,
        "char_hidden": 16,
        "hidden": 48,
        "layers": 1,
        "output_hidden": None,
        "arc_dim": 16,
    },
    "vocabulary": {"min_form_count": 1, "min_char_count": 1},
    "auxiliary": {"relation_dim": 8},
}


def small(*, segmenter: str = "none", **training: object) -> Config:
    settings = {"batch_words": 60, "learning_rate": 0.01, **training}
    segmenter_settings = {"kind": segmenter, "hidden": 24, "layers": 1, "updates": 40, "batch_units": 200}
    config = Config.from_dict({**SMALL, "training": settings, "segmenter": segmenter_settings})
    return Config.from_dict({"network": {"dropout": 0.0, "word_dropout": 0.0}}, config)


@pytest.fixture(scope="module")
def training(tmp_path_factory):
    """The folder of a model that is trained until it knows the tiny treebank by heart, and the events of it."""
    folder = ModelFolder(tmp_path_factory.mktemp("models") / "tiny")
    config = small(epochs=100, evaluations=8, segmenter="tagger")
    return folder, list(train_model(DATA, config, folder, device="cpu"))


@pytest.fixture(scope="module")
def folder(training):
    return training[0]


def records_of(events):
    """The looks at the dev file among the events of a training."""
    return (event for event in events if isinstance(event, Record))


def until(events, records: int) -> None:
    """Run a training up to so many looks at the dev file, and leave it there."""
    list(islice(records_of(events), records))
    events.close()


def flipped(data: bytes, place: int, rng: Random) -> bytes:
    """The same bytes but for one."""
    return data[:place] + bytes([data[place] ^ rng.randrange(1, 256)]) + data[place + 1 :]


def contents(folder: ModelFolder) -> dict[str, bytes]:
    """The files of a folder, by their names in it."""
    return {str(path.relative_to(folder.path)): path.read_bytes() for path in folder.path.rglob("*") if path.is_file()}


def parse(folder: ModelFolder) -> str:
    return biplanar.load(folder.path)([["The", "unheard-of", "cat", "sleeps", "on", "the", "stove"]] * 2).to_conllu()


def interrupted_after(left, function):
    """The function, which is interrupted when nothing is left."""

    def interrupted(*arguments, **options):
        if next(left, None) is None:
            raise KeyboardInterrupt
        return function(*arguments, **options)

    return interrupted


def weights(folder: ModelFolder) -> dict[str, torch.Tensor]:
    return load_file(folder.weights)


class TestWholeTraining:
    def test_it_learns_the_treebank_by_heart(self, folder):
        assert read_log(folder)[-1].las == 100.0
        gold = list(biplanar.read_conllu(TINY_TREEBANK))
        parsed = list(biplanar.load(folder.path).pipe(gold))
        assert [sentence.raw for sentence in parsed] == [sentence.raw for sentence in gold]

    def test_the_folder_is_complete(self, folder):
        names = {path.name for path in folder.path.iterdir()}
        wanted = {"config.toml", "vocab.json", "model.safetensors", "onnx", "int8", "segmenter", "README.md"}
        assert names == wanted | {"log.jsonl", "curves.png", "checkpoint.safetensors", "SHA256SUMS"}
        segmenter = {path.name for path in folder.segmenter.path.iterdir()}
        assert segmenter == {"vocab.json", "multiword.json", "model.safetensors", "checkpoint.safetensors", "int8"}
        for part, more in ((folder.onnx, set()), (folder.int8, {"known.npz"})):
            assert {path.name for path in part.iterdir()} == {"forms.onnx", "words.onnx", "relations.onnx"} | more

    def test_files_are_readable_as_usual(self, folder):
        assert all(path.stat().st_mode & 0o444 == 0o444 for path in folder.path.rglob("*"))

    def test_the_card_says_what_it_is(self, folder):
        card = folder.card.read_text()
        assert "tiny.conllu" in card
        assert "CC0" in card
        assert "| test, gold words | 100.00 | 100.00 |" in card
        assert "| dev, raw text |" in card
        assert folder.read_settings()[0].to_toml() in card

    def test_the_last_events_are_the_scores_of_the_card(self, training):
        _, events = training
        scores = [event for event in events if isinstance(event, FinalScores)]
        assert [(one.split, one.source) for one in scores] == [
            (split, source) for split in ("dev", "test") for source in ("gold words", "raw text")
        ]
        assert str(scores[2]).startswith("test, gold words: UAS 100.00  LAS 100.00")
        assert events[-1] == scores[-1]

    def test_pytorch_and_onnx_give_the_same_labels(self, folder):
        words = [["The", "unheard-of", "cat", "sleeps", "🐈"], ["x"], ["Sleeps", "she", "?"] * 30]
        in_onnx, in_torch = (biplanar.load(folder.path, runtime=runtime)(words) for runtime in ("onnx", "torch"))
        assert in_onnx.to_conllu() == in_torch.to_conllu()

    def test_int8_knows_the_treebank_by_heart_too(self, folder):
        gold = list(biplanar.read_conllu(TINY_TREEBANK))
        parsed = list(biplanar.load(folder.path, runtime="int8").pipe(gold))
        assert [sentence.raw for sentence in parsed] == [sentence.raw for sentence in gold]

    def test_without_a_runtime_the_fastest_is_taken(self, folder, tmp_path):
        shutil.copytree(folder.path, tmp_path, dirs_exist_ok=True)
        kinds = []
        for part in ("int8", "onnx", None):
            scorer = biplanar.load(tmp_path).scorer
            kinds.append(scorer.files.folder.name if hasattr(scorer, "files") else "torch")
            if part:
                shutil.rmtree(tmp_path / part)
        assert kinds == ["int8", "onnx", "torch"]

    def test_the_network_can_be_exported_again(self, folder, tmp_path):
        shutil.copytree(folder.path, tmp_path, dirs_exist_ok=True)
        shutil.rmtree(tmp_path / "onnx")
        (tmp_path / "int8" / "words.onnx").unlink()
        export_model(ModelFolder(tmp_path))
        for old in (*folder.onnx.iterdir(), *folder.int8.iterdir()):
            if old.suffix == ".onnx":
                assert (tmp_path / old.parent.name / old.name).read_bytes() == old.read_bytes()
        assert biplanar.load(tmp_path)([["The", "cat", "sleeps"]]).to_conllu()

    def test_an_unknown_runtime(self, folder):
        with pytest.raises(UnknownNameError, match="int9"):
            biplanar.load(folder.path, runtime="int9")

    def test_it_parses_raw_text(self, folder):
        document = biplanar.load(folder.path)("The cat sleeps on the warm stove.")
        assert document[0].forms[:3] == ["The", "cat", "sleeps"]
        assert all(len(sentence.tree.roots) == 1 for sentence in document)

    def test_another_training_needs_another_folder(self, folder):
        with pytest.raises(FileError, match="a model is there already"):
            next(train_model(DATA, small(epochs=1), folder))

    def test_a_training_that_has_ended_is_not_resumed(self, folder):
        config, _ = folder.read_settings()
        with pytest.raises(BiplanarError, match="has ended"):
            next(train_model(DATA, config, folder, resume=True))


class TestResuming:
    config = Config.from_dict({"network": {"attention": True, "dropout": 0.2}}, small(epochs=6, evaluations=6))

    def train(self, path, **options):
        folder = ModelFolder(path)
        return folder, train_model(DATA, self.config, folder, device="cpu", **options)

    @pytest.fixture(scope="class")
    @classmethod
    def stopped_once(cls, tmp_path_factory):
        folder = ModelFolder(tmp_path_factory.mktemp("stopped"))
        until(train_model(DATA, cls.config, folder, device="cpu"), 1)
        return folder

    @pytest.fixture
    def stopped(self, stopped_once, tmp_path):
        """A copy of the folder of a training that was stopped after its first evaluation."""
        return ModelFolder(shutil.copytree(stopped_once.path, tmp_path / "model"))

    def test_killed_and_resumed_gives_the_same_weights(self, tmp_path):
        whole, run = self.train(tmp_path / "whole")
        list(run)
        cut, run = self.train(tmp_path / "cut")
        for records in (1, 2, 6):
            until(run, records)
            torch.manual_seed(12345)  # what another process would start with
            run = self.train(tmp_path / "cut", resume=True)[1]
        for name, tensor in weights(whole).items():
            assert torch.equal(tensor, weights(cut)[name]), name
        assert [one.las for one in read_log(whole)] == [one.las for one in read_log(cut)]

    def test_a_kill_between_the_log_and_the_checkpoint(self, tmp_path):
        folder, run = self.train(tmp_path)
        until(run, 2)
        last = asdict(read_log(folder.unfinished)[-1])
        with folder.unfinished.log.open("a") as stream:
            stream.write(json.dumps(last | {"epoch": 3}) + "\n")
        list(self.train(tmp_path, resume=True)[1])
        assert [record.epoch for record in read_log(folder)] == [1, 2, 3, 4, 5, 6]

    @pytest.mark.parametrize("line", ["{", "[1]", '{"epoch": 1}', "[" * 100_000, '{"epoch": ' + "1" * 5000 + "}"])
    def test_a_damaged_log_is_named_with_its_line(self, stopped, line):
        stopped.unfinished.log.write_text(stopped.unfinished.log.read_text() + line + "\n")
        with pytest.raises(FormatError, match=r"log\.jsonl:2: "):
            next(self.train(stopped.path, resume=True)[1])

    def test_resuming_before_the_first_checkpoint_starts_anew(self, tmp_path):
        assert len(list(records_of(self.train(tmp_path, resume=True)[1]))) == 6

    def test_a_truncated_checkpoint_is_named(self, stopped):
        checkpoint = stopped.unfinished.checkpoint
        checkpoint.write_bytes(checkpoint.read_bytes()[:1000])
        with pytest.raises(FileError, match=r"checkpoint\.safetensors: truncated or corrupt"):
            next(self.train(stopped.path, resume=True)[1])

    @pytest.mark.parametrize(
        ("changes", "wanted"),
        [
            ({"seed": 2}, "the seed is 1 there and 2 here"),
            (
                {"settings": {"network": {"hidden": 24}, "training": {"warmup": 0.5}}},
                "network.hidden is 48 there and 24 here; training.warmup is 0.05 there and 0.5 here",
            ),
            ({"settings": {"vocabulary": {"min_form_count": 2}}}, "vocabulary.min_form_count is 1 there and 2 here"),
            ({"train": True}, "the training data differ"),
            ({"dev": True}, "the dev data differ"),
        ],
    )
    def test_a_checkpoint_of_another_training_is_refused_and_told_why(self, stopped, tmp_path, changes, wanted):
        other = tmp_path / "other.conllu"
        other.write_text(
            Path(TINY_TREEBANK).read_text(encoding="utf-8").replace("\tdet\t", "\tdep\t"), encoding="utf-8"
        )
        data = replace(
            DATA,
            train=[str(other)] if "train" in changes else DATA.train,
            dev=str(other) if "dev" in changes else DATA.dev,
        )
        config = Config.from_dict(changes.get("settings", {}), self.config)
        with pytest.raises(BiplanarError) as refused:
            next(train_model(data, config, stopped, seed=changes.get("seed", 1), device="cpu", resume=True))
        assert str(refused.value) == f"{stopped.unfinished.checkpoint}: the checkpoint of another training: {wanted}"

    def test_a_checkpoint_with_other_vectors_is_refused(self, tmp_path):
        vectors, folder = tmp_path / "vectors.vec", ModelFolder(tmp_path / "model")
        config = Config.from_dict({"vocabulary": {"vectors": str(vectors)}}, self.config)
        vectors.write_text("1 2\nunicorn 3 4\n", encoding="utf-8")
        until(train_model(DATA, config, folder, device="cpu"), 1)
        vectors.write_text("1 2\nphoenix 3 4\n", encoding="utf-8")
        with pytest.raises(BiplanarError, match="another training: the word vectors, the features or the order"):
            list(train_model(DATA, config, folder, device="cpu", resume=True))

    def test_a_damaged_checkpoint_is_never_resumed(self, stopped):
        path, rng = stopped.unfinished.checkpoint, Random(1)
        whole = path.read_bytes()
        header = int.from_bytes(whole[:8], "little")
        places = [rng.randrange(header) for _ in range(30)] + [rng.randrange(header, len(whole)) for _ in range(20)]
        for place in places:
            path.write_bytes(flipped(whole, place, rng))
            with pytest.raises(FileError):
                read_tensors(path)
        with pytest.raises(FileError, match=r"checkpoint\.safetensors: .*damaged|corrupt"):
            next(self.train(stopped.path, resume=True)[1])

    def test_before_anything_is_saved_the_same_command_starts_anew(self, tmp_path):
        folder, run = self.train(tmp_path)
        while not isinstance(next(run), Progress):
            pass
        run.close()
        assert folder.unfinished.config.exists()
        assert not folder.unfinished.checkpoint.exists()
        _, run = self.train(tmp_path)
        until(run, 1)
        with pytest.raises(FileError, match="a model is there already"):
            list(self.train(tmp_path)[1])

    def test_a_config_of_something_else_is_not_written_over(self, tmp_path):
        (tmp_path / "config.toml").write_text("mine = true\n", encoding="utf-8")
        with pytest.raises(FileError, match="a model is there already"):
            list(self.train(tmp_path)[1])
        assert (tmp_path / "config.toml").read_text(encoding="utf-8") == "mine = true\n"

    def test_a_full_disk_leaves_the_last_checkpoint(self, tmp_path, monkeypatch):
        folder, run = self.train(tmp_path)
        list(islice(records_of(run), 2))
        before = folder.unfinished.checkpoint.read_bytes()

        @contextmanager
        def full(path):
            with writing(path):
                yield SimpleNamespace(buffer=SimpleNamespace(write=len))
                raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(tensor_files, "writing", full)
        with pytest.raises(FileError, match="No space left"):
            list(run)
        assert folder.unfinished.checkpoint.read_bytes() == before
        assert not list(tmp_path.rglob(".*"))
        monkeypatch.undo()
        assert len(list(records_of(self.train(tmp_path, resume=True)[1]))) == 4


class TestGoingOn:
    """A training that has ended goes on with more epochs."""

    def train(self, path, resume=False, **training):
        folder = ModelFolder(path)
        return folder, train_model(DATA, small(**training), folder, device="cpu", resume=resume)

    def test_more_epochs(self, tmp_path):
        folder, run = self.train(tmp_path, epochs=3, evaluations=3)
        list(run)
        before = folder.card.read_text(encoding="utf-8")
        _, run = self.train(tmp_path, resume=True, epochs=40, evaluations=3)
        events = list(run)
        assert str(events[0]).startswith("resuming after epoch 3: ")
        assert next(event for event in events if isinstance(event, Progress)).epoch == 4
        assert [record.epoch for record in read_log(folder)] == [1, 2, 3, 13, 26, 39, 40]
        assert folder.read_settings()[0].training.epochs == 40
        assert folder.card.read_text(encoding="utf-8") != before
        gold = list(biplanar.read_conllu(TINY_TREEBANK))
        best = max(record.las for record in read_log(folder))
        assert best > read_log(folder)[2].las
        found = evaluate(gold, biplanar.load(folder.path, runtime="torch").pipe(gold))["ExactLAS"].f1
        assert abs(100 * found - best) < 5  # the searches differ

    def test_the_learning_rate_follows_the_new_number_of_epochs(self, tmp_path, monkeypatch):
        rates, step = [], Trainer._step

        def noting(trainer, chosen):
            rates.append(trainer.optimizer.param_groups[0]["lr"])
            return step(trainer, chosen)

        monkeypatch.setattr(Trainer, "_step", noting)
        list(self.train(tmp_path, epochs=2, warmup=0.0)[1])
        before = len(rates)
        list(self.train(tmp_path, resume=True, epochs=4, warmup=0.0)[1])
        assert rates[0] == pytest.approx(0.01)
        assert rates[before - 1] < 0.005
        assert rates[before] == pytest.approx(0.005)  # two of four epochs are done

    def test_as_many_epochs_as_before_are_no_more(self, tmp_path):
        _, run = self.train(tmp_path, epochs=2)
        list(run)
        for epochs in (1, 2):
            with pytest.raises(BiplanarError, match=r"after 2 epochs; a larger --training\.epochs"):
                list(self.train(tmp_path, resume=True, epochs=epochs)[1])
        assert ModelFolder(tmp_path).card.exists()

    def test_after_patience_has_ended(self, tmp_path):
        settings = {"epochs": 30, "evaluations": 30, "learning_rate": 1e-12}
        list(self.train(tmp_path, patience=2, **settings)[1])
        with pytest.raises(BiplanarError, match=r"after 3 epochs; a larger --training\.patience"):
            list(self.train(tmp_path, resume=True, patience=2, **settings)[1])
        _, run = self.train(tmp_path, resume=True, patience=4, **settings)
        assert [record.epoch for record in records_of(run)] == [4, 5]

    def test_until_the_new_model_is_finished_the_old_one_is_kept(self, tmp_path):
        folder, run = self.train(tmp_path, epochs=1, evaluations=1)
        list(run)
        old, trees = contents(folder), parse(folder)
        for stage in ("resuming", "exporting", "choosing", "evaluating"):
            _, run = self.train(tmp_path, resume=True, epochs=20, evaluations=1)
            while not str(next(run)).startswith(stage):
                pass
            run.close()  # as a kill leaves it
            assert old.items() <= contents(folder).items()
            assert parse(folder) == trees
        list(self.train(tmp_path, resume=True, epochs=20, evaluations=1)[1])
        assert parse(folder) != trees
        assert contents(folder).keys() <= old.keys()  # lemmas.json does not help any more

    def test_killed_while_the_model_is_replaced_it_is_the_old_one_or_the_new_one(self, tmp_path, monkeypatch):
        folder, run = self.train(tmp_path / "model", epochs=1, evaluations=1)
        list(run)
        with monkeypatch.context() as patch:
            patch.setattr(train, "_replace_model", lambda _: None)
            list(self.train(folder.path, resume=True, epochs=20, evaluations=1)[1])
        found = []
        for steps in count():
            copy = ModelFolder(shutil.copytree(folder.path, tmp_path / str(steps)))
            with monkeypatch.context() as patch:
                left = iter(range(steps))
                for owner, name in ((Path, "rename"), (Path, "unlink"), (shutil, "copyfile"), (shutil, "rmtree")):
                    patch.setattr(owner, name, interrupted_after(left, getattr(owner, name)))
                try:
                    train._replace_model(copy)
                    break
                except KeyboardInterrupt:
                    pass
            found.append(parse(copy))
        assert found == [found[0], *[found[-1]] * (len(found) - 1)]
        assert found[0] != found[-1]
        assert parse(copy) == found[-1]

    def test_killed_while_it_is_finished(self, tmp_path):
        folder, run = self.train(tmp_path, epochs=2)
        while str(next(run)) != "exporting the network":
            pass
        run.close()
        assert not folder.card.exists()
        assert not list(records_of(self.train(tmp_path, resume=True, epochs=2)[1]))
        assert folder.card.exists()

    def test_without_its_checkpoint(self, tmp_path):
        folder, run = self.train(tmp_path, epochs=1)
        list(run)
        folder.checkpoint.unlink()
        with pytest.raises(BiplanarError, match=r"without its checkpoint\.safetensors"):
            list(self.train(tmp_path, resume=True, epochs=2)[1])


def test_the_events_of_a_training(training):
    _, events = training
    stages = [str(one) for one in events if isinstance(one, Stage)]
    of_parser = events[: next(at for at, one in enumerate(events) if str(one) == "training the segmenter")]
    batches = [(one.epoch, one.batch, one.batches) for one in of_parser if isinstance(one, Progress)]
    numbers = {epoch: number for epoch, _, number in batches}
    assert batches == [(epoch, at, number) for epoch, number in numbers.items() for at in range(number + 1)]
    assert list(numbers) == list(range(1, 101))
    assert [one.epoch for one in events if isinstance(one, Record)] == [*range(12, 97, 12), 100]
    assert any(isinstance(one, SegmenterRecord) for one in events)
    assert stages == [
        "training: 190 words, 100 epochs, on cpu",
        "training the segmenter",
        "exporting the network",
        "choosing the weights of decoding",
        "evaluating on dev",
        "evaluating on test",
    ]


class TestOddData:
    def train(self, tmp_path, train, dev):
        for name, text in (("train", train), ("dev", dev)):
            (tmp_path / f"{name}.conllu").write_text(text, encoding="utf-8")
        data = Data([str(tmp_path / "train.conllu")], str(tmp_path / "dev.conllu"))
        folder = ModelFolder(tmp_path / "model")
        return folder, train_model(data, small(epochs=2), folder, device="cpu")

    ONE = "1\tHi\t_\t_\t_\t_\t0\troot\t_\t_\n2\t!\t_\t_\t_\t_\t1\tpunct\t_\t_\n\n"

    def test_one_sentence_is_enough(self, tmp_path):
        folder, run = self.train(tmp_path, self.ONE, self.ONE)
        list(run)
        assert biplanar.load(folder.path)([["Hi", "!"]])[0].tree.roots

    def test_unknown_characters_and_words(self, tmp_path):
        folder, run = self.train(tmp_path, self.ONE, self.ONE)
        list(run)
        document = biplanar.load(folder.path)([["שלום", "🦄" * 300, "\u200f", "a b"]])
        assert document[0].forms == ["שלום", "🦄" * 300, "\u200f", "a b"]

    def test_a_dev_file_without_a_root(self, tmp_path):
        _, run = self.train(tmp_path, self.ONE, self.ONE.replace("\t0\troot", "\t2\tdep"))
        with pytest.raises(FormatError, match=r"dev\.conllu:1: no word has head 0"):
            list(run)
        assert not (tmp_path / "model").exists()

    UNPARSED = ONE.replace("\t0\troot", "\t_\t_").replace("\t1\tpunct", "\t_\t_")

    @pytest.mark.parametrize("file", ["train", "dev", "test"])
    def test_a_file_without_trees(self, tmp_path, file):
        paths = {name: str(tmp_path / f"{name}.conllu") for name in ("train", "dev", "test")}
        for name, path in paths.items():
            text = self.ONE + (self.UNPARSED if name == file else self.ONE)
            Path(path).write_text(text, encoding="utf-8")
        data = Data([paths["train"]], paths["dev"], paths["test"])
        with pytest.raises(FormatError) as refused:  # before anything is trained, even if it is the test file
            list(train_model(data, small(epochs=1), ModelFolder(tmp_path / "model"), device="cpu"))
        assert str(refused.value) == f"{paths[file]}:4: a sentence without a tree (HEAD is '_')"
        assert not (tmp_path / "model").exists()

    def test_two_roots(self, tmp_path):
        _, run = self.train(tmp_path, self.ONE + self.ONE.replace("\t1\tpunct", "\t0\tpunct"), self.ONE)
        with pytest.raises(FormatError, match=r"train\.conllu:4: .*root"):
            list(run)

    @pytest.mark.parametrize("seed", [-1, 1 << 32])
    def test_a_seed_out_of_bounds(self, tmp_path, seed):
        with pytest.raises(BiplanarError, match="seed"):
            next(train_model(DATA, small(), ModelFolder(tmp_path), seed=seed))

    def test_an_empty_file(self, tmp_path):
        _, run = self.train(tmp_path, "", self.ONE)
        with pytest.raises(FormatError, match=r"train\.conllu:1: .*no sentences"):
            list(run)

    def test_an_unparsed_training_file(self, tmp_path):
        _, run = self.train(tmp_path, self.ONE.replace("\t0\troot", "\t_\t_"), self.ONE)
        with pytest.raises(FormatError, match=r"train\.conllu:1: expected a whole number as HEAD"):
            list(run)


class TestConfig:
    @pytest.mark.parametrize("name", CONFIGS)
    def test_toml_round_trip(self, name, tmp_path):
        (tmp_path / "config.toml").write_text(CONFIGS[name].to_toml())
        assert read_config(tmp_path / "config.toml") == CONFIGS[name]

    def test_overrides(self):
        config = read_config("paper", {"network.hidden": "20", "training.amp": "false", "encoding": "2p-prop"})
        assert (config.network.hidden, config.training.amp, config.encoding) == (20, False, "2p-prop")

    def test_an_unknown_key_is_refused_with_the_nearest(self):
        with pytest.raises(UnknownNameError, match=r"'network\.hiden'; did you mean 'network\.hidden'"):
            read_config(None, {"network.hiden": "20"})

    @pytest.mark.parametrize("value", ["many", "-3", "2.5", "true", "none", "auto", "99999999999", "0x" + "f" * 10_000])
    def test_a_wrong_type_or_size_is_refused_with_the_bounds(self, value):
        with pytest.raises(ConfigError, match=r"network\.hidden .*1 to 16,384"):
            read_config(None, {"network.hidden": value})

    @pytest.mark.parametrize(
        ("setting", "text"),
        [
            ("network.hidden", "0"),
            ("network.layers", "0"),
            ("network.output_hidden", "0"),
            ("network.dropout", "1.0"),
            ("training.batch_words", "0"),
            ("training.epochs", "0"),
            ("training.epochs", "none"),
            ("training.patience", "auto"),
            ("training.learning_rate", "nan"),
            ("training.learning_rate", "0"),
            ("decoding.arc_weight", "1e308"),
            ("decoding.temperature", "inf"),
            ("vocabulary.vectors", "3"),
            ("network", "3"),
        ],
    )
    def test_settings_that_cannot_work(self, setting, text):
        with pytest.raises(ConfigError, match=setting.replace(".", r"\.")):
            read_config(None, {setting: text})

    @pytest.mark.parametrize(
        ("setting", "text", "value"),
        [
            ("network.output_hidden", "none", None),
            ("training.epochs", "auto", "auto"),
            ("training.epochs", "3", 3),
            ("training.patience", "none", None),
            ("decoding.arc_weight", "0", 0.0),
            ("vocabulary.vectors", "words.vec", "words.vec"),
        ],
    )
    def test_none_and_auto(self, setting, text, value):
        assert read_config(None, {setting: text}).to_flat_dict()[setting] == value

    @pytest.mark.parametrize("text", ["a = " + "[" * 5000, "network = 1", "seed = " + "1" * 5000])
    def test_a_hostile_file(self, tmp_path, text):
        (tmp_path / "mine.toml").write_text(text, encoding="utf-8")
        with pytest.raises(ConfigError, match=r"mine\.toml"):
            read_config(tmp_path / "mine.toml")

    def test_an_unknown_base(self, tmp_path):
        path = tmp_path / "mine.toml"
        path.write_text('base = "papre"\n', encoding="utf-8")
        with pytest.raises(UnknownNameError, match="unknown configuration 'papre'; did you mean 'paper'"):
            read_config(path)

    def test_an_unknown_configuration(self):
        with pytest.raises(UnknownNameError, match="did you mean 'accurate'"):
            read_config("acurate")


class TestLoading:
    def test_no_folder(self, tmp_path):
        with pytest.raises(FileError, match="not a model folder"):
            biplanar.load(tmp_path)

    @pytest.mark.parametrize(
        "name",
        [
            "config.toml",
            "vocab.json",
            "int8/words.onnx",
            "int8/known.npz",
            "onnx/forms.onnx",
            "model.safetensors",
            "segmenter/vocab.json",
            "segmenter/int8/words.onnx",
        ],
    )
    @pytest.mark.parametrize("size", [0, 200])
    @pytest.mark.parametrize("checksums", [True, False])
    def test_a_truncated_file_is_named(self, folder, tmp_path, name, size, checksums):
        shutil.copytree(folder.path, tmp_path, dirs_exist_ok=True)
        if not checksums:
            (tmp_path / "SHA256SUMS").unlink()
        (tmp_path / name).write_bytes((tmp_path / name).read_bytes()[:size])
        runtime = {"onnx/forms.onnx": "onnx", "model.safetensors": "torch"}.get(name)
        with pytest.raises(BiplanarError, match=name.replace(".", r"\.")):
            biplanar.load(tmp_path, runtime=runtime)("Hello there.")

    def test_settings_of_another_network(self, folder, tmp_path):
        shutil.copytree(folder.path, tmp_path, dirs_exist_ok=True)
        config = tmp_path / "config.toml"
        config.write_text(config.read_text().replace('encoding = "2p-full"', 'encoding = "rel-pos"'))
        ModelFolder(tmp_path).write_checksums()
        with pytest.raises(FileError, match=r"vocab\.json: no labels of head"):
            biplanar.load(tmp_path)


class TestDamage:
    """A byte that is not what it was is found, and said where; without checksums it is at least no traceback."""

    WORDS = (("The", "unheard-of", "cat", "sleeps", "🐈"),)

    @pytest.mark.parametrize(
        ("name", "runtime"),
        [
            ("config.toml", None),
            ("vocab.json", None),
            *((f"segmenter/{part}", None) for part in ("vocab.json", "int8/words.onnx", "int8/forms.onnx")),
            *((f"int8/{part}", "int8") for part in ("words.onnx", "forms.onnx", "relations.onnx", "known.npz")),
            *((f"onnx/{part}", "onnx") for part in ("words.onnx", "forms.onnx", "relations.onnx")),
            ("model.safetensors", "torch"),
        ],
    )
    def test_it_is_found(self, folder, tmp_path, name, runtime):
        shutil.copytree(folder.path, tmp_path, dirs_exist_ok=True)
        path, rng = tmp_path / name, Random(name)
        whole = path.read_bytes()
        first = int.from_bytes(whole[:8], "little") + 8 if runtime == "torch" else 0  # headers have errors of their own
        for _ in range(4):
            path.write_bytes(flipped(whole, rng.randrange(first, len(whole)), rng))
            with pytest.raises(FileError, match=f"^{path}: .*checksum"):
                biplanar.load(tmp_path, runtime=runtime)("Hello there.")
        path.write_bytes(whole)
        assert biplanar.load(tmp_path, runtime=runtime)("Hello there.")

    @pytest.mark.parametrize(
        "name", ["config.toml", "vocab.json", "known.npz", "words.onnx", "forms.onnx", "relations.onnx"]
    )
    def test_without_checksums_there_are_no_tracebacks(self, folder, tmp_path, name):
        shutil.copytree(folder.path, tmp_path, dirs_exist_ok=True)
        (tmp_path / "SHA256SUMS").unlink()
        path, rng = tmp_path / (name if name in ("config.toml", "vocab.json") else f"int8/{name}"), Random(name)
        whole = path.read_bytes()
        for _ in range(60):
            path.write_bytes(flipped(whole, rng.choice((rng.randrange(len(whole)), rng.randrange(300))), rng))
            with suppress(BiplanarError):
                assert len(biplanar.load(tmp_path, runtime="int8")(self.WORDS)) == 1

    def test_a_file_that_was_meant_to_change(self, folder, tmp_path):
        shutil.copytree(folder.path, tmp_path, dirs_exist_ok=True)
        config, sums = tmp_path / "config.toml", tmp_path / "SHA256SUMS"
        config.write_text(f"# mine\n{config.read_text(encoding='utf-8')}", encoding="utf-8")
        with pytest.raises(FileError, match=r"config\.toml: .* remove its line from .*SHA256SUMS"):
            biplanar.load(tmp_path)
        lines = sums.read_text(encoding="utf-8").splitlines(keepends=True)
        sums.write_text("".join(line for line in lines if "config.toml" not in line), encoding="utf-8")
        assert biplanar.load(tmp_path)(self.WORDS)

    @pytest.mark.parametrize("line", ["config.toml", "0" * 64, f"{'0' * 63}  config.toml"])
    def test_damaged_checksums_are_named(self, folder, tmp_path, line):
        shutil.copytree(folder.path, tmp_path, dirs_exist_ok=True)
        sums = tmp_path / "SHA256SUMS"
        sums.write_text(f"{sums.read_text(encoding='utf-8')}{line}\n", encoding="utf-8")
        with pytest.raises(FormatError, match="SHA256SUMS:14: "):
            biplanar.load(tmp_path)

    def test_export_mends_a_network_and_blesses_nothing_else(self, folder, tmp_path):
        shutil.copytree(folder.path, tmp_path, dirs_exist_ok=True)
        words, other, rng = tmp_path / "int8" / "words.onnx", tmp_path / "segmenter" / "vocab.json", Random(1)
        words.write_bytes(flipped(words.read_bytes(), 1000, rng))
        export_model(ModelFolder(tmp_path))
        assert biplanar.load(tmp_path)("Hello there.")
        other.write_bytes(flipped(other.read_bytes(), 20, rng))
        with pytest.raises(FileError, match=r"segmenter/vocab\.json: .*checksum"):
            export_model(ModelFolder(tmp_path))

    def test_an_export_that_fails_leaves_the_model_as_it_was(self, folder, tmp_path, monkeypatch):
        shutil.copytree(folder.path, tmp_path, dirs_exist_ok=True)
        before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
        monkeypatch.setattr("biplanar.pipeline.train.OnnxTagger", Mock(side_effect=BiplanarError("it fails")))
        with pytest.raises(BiplanarError, match="it fails"):
            export_model(ModelFolder(tmp_path))
        assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


class TestWhereItRuns:
    def test_pytorch_takes_as_many_threads_as_it_is_told(self, folder):
        before = torch.get_num_threads()
        try:
            for threads in (2, 1):
                biplanar.load(folder.path, runtime="torch", threads=threads)
                assert torch.get_num_threads() == threads
            torch.set_num_threads(2)
            biplanar.load(folder.path, runtime="torch")
            assert torch.get_num_threads() == 2  # whoever says nothing changes nothing
        finally:
            torch.set_num_threads(before)

    @pytest.mark.skipif(torch.cuda.is_available() or torch.backends.mps.is_available(), reason="there is a device")
    def test_without_a_device_auto_is_the_processor(self, folder):
        assert type(biplanar.load(folder.path, device="auto").scorer).__name__ == "OnnxTagger"
        assert biplanar.load(folder.path, device="auto", runtime="torch").batch_words == 700

    def test_auto_leaves_models_without_weights_on_the_processor(self):
        assert biplanar.load(device="auto").batch_words == 700

    def test_devices_that_are_not_there(self):
        with pytest.raises(BiplanarError, match="no device 'abacus'"):
            biplanar.load(device="abacus")

    def test_onnx_runtime_has_no_devices(self):
        with pytest.raises(BiplanarError, match="meta needs the runtime torch"):
            biplanar.load(device="meta", runtime="int8")


class TestOtherWays:
    def test_rel_pos_takes_the_tags_of_its_network(self, tmp_path):
        folder = ModelFolder(tmp_path)
        config = Config.from_dict({"encoding": "rel-pos"}, small(epochs=40, evaluations=4, segmenter="tagger"))
        records = list(records_of(train_model(DATA, config, folder, device="cpu")))
        assert records[-1].las > 90
        parser = biplanar.load(folder.path)
        assert not parser.segmenter.has_tagger
        gold = list(biplanar.read_conllu(TINY_TREEBANK))
        words = [biplanar.Sentence.from_words(one.forms) for one in gold]
        right = [
            a == b
            for one, other in zip(gold, parser.pipe(words), strict=True)
            for a, b in zip(one.heads, other.heads, strict=True)
        ]
        assert sum(right) > 0.9 * len(right)

    def test_rel_pos_brings_a_tagger_along_if_its_network_does_not_tag(self, tmp_path):
        folder = ModelFolder(tmp_path)
        settings = {"encoding": "rel-pos", "network": {"columns": ""}}
        config = Config.from_dict(settings, small(epochs=2, segmenter="tagger"))
        list(train_model(DATA, config, folder, device="cpu"))
        parser = biplanar.load(folder.path)
        assert parser.segmenter.has_tagger
        sentence = parser("The cat sleeps.")[0]
        assert "_" not in sentence.upos
        assert len(sentence.tree.roots) == 1

    def test_vectors_start_the_word_embedding(self, tmp_path):
        (tmp_path / "vectors.vec").write_text("3 2\ncat 0.5 -0.25\nThe 1 2\nunicorn 3 4\n", encoding="utf-8")
        folder = ModelFolder(tmp_path / "model")
        settings = {"vocabulary": {"vectors": str(tmp_path / "vectors.vec")}}
        list(train_model(DATA, Config.from_dict(settings, small(epochs=1)), folder, device="cpu"))
        config, vocabulary = folder.read_settings()
        assert config.network.word_dim == 2
        unseen = weights(folder)["encoder.word_embedding.weight"][vocabulary.form_ids["unicorn"]]
        assert unseen.tolist() == [3, 4]  # no sentence of the treebank has it, so no update has touched it
        assert len(biplanar.load(folder.path)([["A", "unicorn"]])[0]) == 2

    def test_several_files_are_one_treebank(self, tmp_path):
        folder = ModelFolder(tmp_path)
        data = Data([TINY_TREEBANK, TINY_TREEBANK], TINY_TREEBANK)
        list(train_model(data, small(epochs=1), folder, device="cpu"))
        assert "| trained on | tiny.conllu, tiny.conllu |" in folder.card.read_text()

    def test_several_files_as_treebanks_of_their_own(self, tmp_path):
        folder = ModelFolder(tmp_path)
        config = Config.from_dict({"network": {"treebank_dim": 4}}, small(epochs=2))
        list(train_model(Data([TINY_TREEBANK] * 3, TINY_TREEBANK), config, folder, device="cpu"))
        assert weights(folder)["encoder.treebank_embedding.weight"].shape == (3, 4)
        assert folder.read_settings()[1].treebanks == 3
        words = [["The", "cat", "sleeps", "."]]
        in_onnx, in_torch = (biplanar.load(folder.path, runtime=runtime)(words) for runtime in ("onnx", "torch"))
        assert in_onnx.to_conllu() == in_torch.to_conllu()

    def test_attention_from_start_to_end(self, tmp_path):
        folder = ModelFolder(tmp_path)
        config = Config.from_dict({"network": {"attention": True}}, small(epochs=40, evaluations=4))
        records = list(records_of(train_model(DATA, config, folder, device="cpu")))
        assert records[-1].las > 95
        gold = list(biplanar.read_conllu(TINY_TREEBANK))
        found = [[one.raw for one in biplanar.load(tmp_path, runtime=runtime).pipe(gold)] for runtime in RUNTIMES]
        assert found[0] == found[1] == found[2]

    def test_all_auxiliary_losses_and_early_stopping(self, tmp_path):
        config = small(epochs=30, evaluations=30, patience=2, learning_rate=1e-12)
        config = Config.from_dict({"auxiliary": {"columns": 0.5}}, config)
        records = list(records_of(train_model(DATA, config, ModelFolder(tmp_path), device="cpu")))
        assert len(records) == 3  # nothing is learned at this rate: the first is the best, and two more are enough


@pytest.fixture(scope="module")
def half(tmp_path_factory):
    """The first half of the treebank, and the words of all of it."""
    path = tmp_path_factory.mktemp("half")
    sentences = list(biplanar.read_conllu(TINY_TREEBANK))
    (path / "half.conllu").write_text("".join(one.raw for one in sentences[: len(sentences) // 2]))
    words = (biplanar.Sentence.from_words(one.forms).raw for one in sentences)
    (path / "words.conllu").write_text("".join(words))
    (path / "words.txt").write_text("".join(" ".join(one.forms) + "\n\n" for one in sentences))
    return path


class TestDistillation:
    """A model learns from another what the treebank does not tell it."""

    def test_it_learns_trees_that_only_the_teacher_knows(self, folder, half, tmp_path):
        last = {}
        for name, more in (
            ("alone", {}),
            ("taught", {"teachers": [str(folder.path)], "raw": [str(half / "words.conllu")]}),
        ):
            data = Data([str(half / "half.conllu")], TINY_TREEBANK, **more)
            student = ModelFolder(tmp_path / name)
            last[name] = [*records_of(train_model(data, small(epochs=60, evaluations=2), student, device="cpu"))][
                -1
            ].las
        assert last["taught"] > 95
        assert last["alone"] < 75
        card = (tmp_path / "taught" / "README.md").read_text()
        assert "| taught by | tiny |\n| on the text of | words.conllu |" in card

    def test_probabilities_alone_are_enough(self, folder, tmp_path):
        data = Data([TINY_TREEBANK], TINY_TREEBANK, teachers=[str(folder.path)] * 2)
        student = ModelFolder(tmp_path / "student")
        config = Config.from_dict(
            {"network": {"arcs": False, "attention": False}, "auxiliary": {"arcs": 0.0, "relations": 0.0}},
            small(epochs=100, evaluations=1, taught=1.0),
        )
        assert [*records_of(train_model(data, config, student, device="cpu"))][-1].las > 95

    def test_raw_text_is_cut_into_words_by_the_teacher(self, folder, half, tmp_path):
        data = Data([TINY_TREEBANK], TINY_TREEBANK, teachers=[str(folder.path)], raw=[str(half / "words.txt")])
        student = ModelFolder(tmp_path / "student")
        list(train_model(data, small(epochs=1), student, device="cpu"))
        assert student.card.exists()

    def test_raw_text_without_a_teacher(self, tmp_path):
        data = Data([TINY_TREEBANK], TINY_TREEBANK, raw=[TINY_TREEBANK])
        with pytest.raises(BiplanarError, match="raw text needs teachers"):
            list(train_model(data, small(epochs=1), ModelFolder(tmp_path / "x"), device="cpu"))
        assert not (tmp_path / "x").exists()

    @pytest.mark.parametrize("encoding", ["relative", "2p-greedy"])  # the latter's labels have the same names
    def test_a_teacher_of_another_encoding(self, folder, tmp_path, encoding):
        data = Data([TINY_TREEBANK], TINY_TREEBANK, teachers=[str(folder.path)])
        config = Config.from_dict({"encoding": encoding}, small(epochs=1))
        with pytest.raises(BiplanarError, match=f"tiny: .* 2p-full, not {encoding}"):
            list(train_model(data, config, ModelFolder(tmp_path / "x"), device="cpu"))

    def test_who_was_taught_goes_on_to_be_taught(self, folder, tmp_path):
        data = Data([TINY_TREEBANK], TINY_TREEBANK, teachers=[str(folder.path)])
        student, config = ModelFolder(tmp_path / "student"), small(epochs=3, evaluations=3)
        until(train_model(data, config, student, device="cpu"), 1)
        for others in ([], [str(folder.path)] * 2):
            with pytest.raises(BiplanarError, match=r"checkpoint\.safetensors: .*: the teachers differ$"):
                list(train_model(replace(data, teachers=others), config, student, device="cpu", resume=True))
        assert len(list(records_of(train_model(data, config, student, device="cpu", resume=True)))) == 2

    def test_a_share_above_all(self):
        with pytest.raises(ConfigError, match=r"training\.taught .* 0 to 1"):
            small(taught=1.5)


class TestTime:
    """What is said and saved by time."""

    def test_an_estimate_follows_the_first_batches(self, tmp_path, monkeypatch):
        monkeypatch.setattr(train, "ESTIMATE_AFTER", 0)
        events = list(train_model(DATA, small(epochs=3), ModelFolder(tmp_path), device="cpu", threads=1))
        assert [type(one) for one in events[:4]] == [Stage, Progress, Estimate, Progress]
        assert [one.on_cpu for one in events if isinstance(one, Estimate) and one.of_parser] == [True]
        assert str(replace(events[2], seconds=600, words_per_second=1234)) == "about 10 min, at 1,234 words/s"
        assert "'fast'" in str(replace(events[2], seconds=6000))

    def test_an_estimate_of_the_segmenter_is_by_units_of_text(self, tmp_path, monkeypatch):
        monkeypatch.setattr(train, "ESTIMATE_AFTER", 0)
        config = small(epochs=1, segmenter="tagger")
        events = list(train_model(DATA, config, ModelFolder(tmp_path), device="cpu", threads=1))
        (estimate,) = [one for one in events if isinstance(one, Estimate) and not one.of_parser]
        assert re.fullmatch(r"about .*, at [\d,]+ units/s", str(replace(estimate, seconds=6000)))

    def test_epochs_between_evaluations_are_saved(self, tmp_path, monkeypatch):
        monkeypatch.setattr(train, "SAVE_AFTER", 0)
        settings, whole = small(epochs=6, evaluations=1), tmp_path / "whole"
        list(train_model(DATA, settings, ModelFolder(whole), device="cpu", threads=1))
        folder = ModelFolder(tmp_path / "stopped")
        run = train_model(DATA, settings, folder, device="cpu", threads=1)
        while not isinstance(event := next(run), Progress) or event.epoch < 4:
            pass
        run.close()
        assert saved_epoch(folder.unfinished.checkpoint) == 3
        list(train_model(DATA, settings, folder, device="cpu", threads=1, resume=True))
        assert read_log(folder)[0].loss == pytest.approx(read_log(ModelFolder(whole))[0].loss)
        assert folder.weights.read_bytes() == (whole / folder.weights.name).read_bytes()

    @pytest.mark.parametrize(
        ("seconds", "text"), [(4.4, "4 s"), (59, "59 s"), (89, "1 min"), (3600, "1 h 0 min"), (11_100, "3 h 5 min")]
    )
    def test_durations(self, seconds, text):
        assert duration(seconds) == text
