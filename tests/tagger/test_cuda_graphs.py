"""Padded steps learn what others do; recorded ones what those that are not recorded do."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from biplanar.data.conllu import Sentence, read_conllu
from biplanar.tagger.checkpoint import Origin, load_checkpoint, save_checkpoint
from biplanar.tagger.cuda_graphs import EAGER_STEPS, GraphedSteps, PaddedArrays, rounded_up
from biplanar.tagger.device import TorchTagger
from biplanar.tagger.loop import Pace
from biplanar.tagger.teachers import Member
from biplanar.tagger.training import Trainer
from tests.conftest import ROOT
from tests.tagger.test_training import SWITCHES, config_of, every_switch

NO_DROPOUT = {"dropout": 0.0, "word_dropout": 0.0}
on_cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA")


@pytest.fixture(scope="module")
def sentences() -> list[Sentence]:
    return list(read_conllu(ROOT / "examples" / "tiny.conllu"))


def trainer_of(sentences: list[Sentence], switches: dict[str, object], device: str = "cpu", **more: object) -> Trainer:
    treebanks = [number % 2 for number in range(len(sentences))]
    return Trainer(config_of(switches, **more), sentences, sentences, treebanks=treebanks, device=device)


@pytest.mark.parametrize(("length", "rounded"), [(1, 2), (2, 2), (15, 16), (17, 20), (33, 40), (64, 64), (1000, 1024)])
def test_lengths_are_rounded_up(length, rounded):
    assert rounded_up(length) == rounded


@every_switch
def test_padding_changes_nothing(sentences, switches):
    plain, padded = (trainer_of(sentences, {**switches, **NO_DROPOUT}) for _ in range(2))
    padded.counts_padding, arrays = True, PaddedArrays(padded.train_examples.corpus, padded._spellings, 200)
    for _ in range(2):
        chosen = np.array([3, 0, 4])
        mask = arrays.mask(chosen)
        assert mask.shape[0] > len(chosen)
        inputs = [*arrays.arrays(chosen, mask), *padded.gold_arrays(chosen, mask)]
        losses = plain._step(chosen), padded._padded_step([torch.from_numpy(array) for array in inputs])
        torch.testing.assert_close(*losses)
    for (name, one), other in zip(plain.network.named_parameters(), padded.network.parameters(), strict=True):
        torch.testing.assert_close(one.grad, other.grad, rtol=1e-3, atol=1e-5, msg=name)


def test_batches_of_similar_length_have_one_shape(sentences):
    trainer = trainer_of(sentences, {})
    padded = PaddedArrays(trainer.train_examples.corpus, trainer._spellings, 200)
    lengths = trainer.train_examples.corpus.lengths
    alike = [number for number in range(len(lengths)) if rounded_up(int(lengths[number])) == 8]
    assert len({padded.mask(np.array([number])).shape for number in alike}) == 1 < len(alike)


def train(trainer: Trainer, epochs: int) -> None:
    for _ in range(epochs):
        list(trainer._run_epoch(Pace(1, 1)))
        trainer.epoch += 1


def trained(sentences: list[Sentence], epochs: int) -> Trainer:
    trainer = trainer_of(sentences, SWITCHES["all"], "cuda")
    train(trainer, epochs)
    return trainer


@on_cuda
class TestOnCuda:
    @every_switch
    def test_graphs_learn_what_eager_steps_do(self, sentences, switches):
        graphed, eager = (trainer_of(sentences, {**switches, **NO_DROPOUT}, "cuda") for _ in range(2))
        eager._graphed = lambda arrays: eager._padded_step([torch.from_numpy(array).cuda() for array in arrays])
        for step in range(EAGER_STEPS + 4):
            chosen = np.arange(6) if step % 2 else np.arange(4, 12)
            torch.testing.assert_close(graphed._step(chosen), eager._step(chosen), rtol=1e-3, atol=1e-3)
        assert len(graphed._graphed._graphs) >= 1

    def test_random_numbers_differ_from_replay_to_replay(self):
        device = torch.device("cuda")
        steps = GraphedSteps(lambda inputs: torch.rand((), device="cuda") + 0 * inputs[0].sum(), [], device)
        found = [float(steps([np.arange(3)])) for _ in range(EAGER_STEPS + 5)]
        assert len(set(found)) == len(found)

    def test_a_training_is_taken_up_up_to_rounding(self, sentences, tmp_path: Path):
        whole = trained(sentences, 4)
        first, second = trained(sentences, 2), trainer_of(sentences, SWITCHES["all"], "cuda")
        save_checkpoint(first, tmp_path / "checkpoint", Origin.of(first))
        load_checkpoint(second, tmp_path / "checkpoint", Origin.of(second))
        train(second, 2)
        for one, other in zip(whole.network.parameters(), second.network.parameters(), strict=True):
            torch.testing.assert_close(one, other, rtol=0, atol=1e-2)

    def test_evaluation_leaves_weights_where_graphs_find_them(self, sentences):
        trainer = trainer_of(sentences, SWITCHES["all"], "cuda")
        train(trainer, 2)
        before = [parameter.data_ptr() for parameter in trainer.network.parameters()]
        trainer.evaluate()
        assert before == [parameter.data_ptr() for parameter in trainer.network.parameters()]
        train(trainer, 1)
        assert all(parameter.isfinite().all() for parameter in trainer.network.parameters())

    def test_weights_that_were_moved_are_recorded_again(self, sentences):
        trainer = trainer_of(sentences, SWITCHES["all"], "cuda")
        train(trainer, 2)
        for module in trainer.network.modules():
            if isinstance(module, torch.nn.LSTM):
                module.flatten_parameters()
        train(trainer, 2)
        assert all(parameter.isfinite().all() for parameter in trainer.network.parameters())

    def test_soft_targets(self, sentences):
        teacher = trainer_of(sentences, SWITCHES["all"])
        member = Member(TorchTagger(teacher.network, teacher.vocabulary, teacher.device), teacher.vocabulary.tasks)
        losses = []
        for device in ("cpu", "cuda"):
            config = config_of({**SWITCHES["all"], **NO_DROPOUT})
            student = Trainer(config, sentences, sentences, teachers=[member], device=device)
            losses.append([float(student._step(np.arange(8))) for _ in range(EAGER_STEPS + 2)])
        assert losses[0] == pytest.approx(losses[1], rel=0.05)
