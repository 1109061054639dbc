"""The biaffine reference, trained on hand-written sentences."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from study.plan import Run

from biplanar import Sentence, read_conllu
from biplanar.decoding.inventory import is_root_like
from biplanar.tagger.config import ConfigError
from study import biaffine, common, training
from tests.conftest import ROOT
from tests.reference import is_tree

TINY_TREEBANK = str(ROOT / "examples" / "tiny.conllu")
SETTINGS = {
    "network.word_dim": "16",
    "network.char_dim": "8",
    "network.char_hidden": "16",
    "network.hidden": "48",
    "network.layers": "1",
    "network.dropout": "0.0",
    "network.word_dropout": "0.0",
    "network.arc_dim": "16",
    "auxiliary.relation_dim": "8",
    "training.batch_words": "60",
    "training.learning_rate": "0.01",
    "training.evaluations": "4",
    "vocabulary.min_form_count": "1",
    "vocabulary.min_char_count": "1",
}


def trainer_of(**more: str) -> biaffine.BiaffineTrainer:
    sentences = list(read_conllu(TINY_TREEBANK))
    settings = SETTINGS | {name.replace("__", "."): value for name, value in more.items()}
    return biaffine.BiaffineTrainer(Run("en", "biaffine", "2p-full", 1).config(settings), sentences, sentences)


@pytest.fixture(scope="module")
def trained():
    """A trainer after a few epochs, with its records, and the network as it was at first."""
    trainer = trainer_of(training__epochs="24")
    before = {name: tensor.clone() for name, tensor in trainer.network.state_dict().items()}
    return trainer, list(training.train_to_the_best(trainer)), before


class TestTraining:
    def test_the_loss_falls_and_the_trees_get_better(self, trained):
        _, records, _ = trained
        losses = [record.loss for record in records]
        assert losses == sorted(losses, reverse=True)
        assert losses[-1] < losses[0] / 3
        assert records[-1].las > 80 > records[0].las

    def test_only_the_encoder_and_the_biaffine_layers_learn(self, trained):
        trainer, _, before = trained
        after = trainer.network.state_dict()
        changed = {name.partition(".")[0] for name in before if not torch.equal(before[name], after[name])}
        assert changed == {"encoder", "columns"}
        assert all(parameter.grad is not None for parameter in trainer.auxiliary.parameters())

    def test_the_weights_of_the_best_epoch_stay(self, monkeypatch):
        trainer = trainer_of(training__epochs="4")
        scores, weights = iter([10.0, 30.0, 20.0, 5.0]), []

        def evaluate():
            weights.append(trainer.auxiliary.relation_weight.detach().clone())
            return 50.0, next(scores)

        monkeypatch.setattr(trainer, "evaluate", evaluate)
        records = list(training.train_to_the_best(trainer))
        assert [record.best for record in records] == [True, True, False, False]
        assert torch.equal(trainer.auxiliary.relation_weight, weights[1])
        assert not torch.equal(weights[1], weights[3])

    def test_arcs_and_relations_must_be_learned(self):
        for name in ("auxiliary__arcs", "auxiliary__relations"):
            with pytest.raises(ConfigError, match="above 0"):
                list(trainer_of(**{name: "0.0"}).run())


class TestParsing:
    words = (["x"], ["Sleeps", "she", "?"] * 30, ["The", "unheard-of", "cat", "sleeps", "🐈"], ["a", "b"])

    @pytest.mark.parametrize("epochs", ["untrained", "trained"])
    def test_trees_have_one_root_and_its_relation(self, trained, epochs):
        trainer = trained[0] if epochs == "trained" else trainer_of()
        sentences = [*map(Sentence.from_words, self.words), *read_conllu(TINY_TREEBANK)]
        parsed = trainer.parse_sentences(sentences)
        assert [sentence.forms for sentence in parsed] == [sentence.forms for sentence in sentences]
        for sentence in parsed:
            assert is_tree(sentence.heads)
            assert len(sentence.tree.roots) == 1
            for head, deprel in zip(sentence.heads, sentence.tree.deprels, strict=True):
                assert is_root_like(deprel) == (head == 0)

    def test_a_sentence_is_parsed_alike_in_any_company(self, trained):
        trainer, gold = trained[0], list(read_conllu(TINY_TREEBANK))
        together = trainer.parse_sentences(gold)
        alone = [trainer.parse_sentences([sentence])[0] for sentence in gold]
        assert [sentence.raw for sentence in together] == [sentence.raw for sentence in alone]

    def test_without_a_relation_for_roots_all_will_do(self):
        trainer = trainer_of()
        scores = torch.tensor([[[0.0, 3.0, 1.0], [2.0, 1.0, 0.0]]])  # (sentences, words, relations)
        heads = torch.tensor([[0, 1]])
        for names, wanted in ((("root", "det", "obj"), [0, 1]), (("a", "b", "c"), [1, 0])):
            trainer.vocabulary = replace(trainer.vocabulary, tasks={"deprel": names})
            assert trainer._best_relations(scores, heads).tolist() == [wanted]


def test_settings_are_told_from_options():
    others, settings = common.split_settings(["paper", "--a.b", "1", "--seed=2", "--c.d=x=y", "-o", "r.json"])
    assert others == ["paper", "--seed=2", "-o", "r.json"]
    assert settings == {"a.b": "1", "c.d": "x=y"}
    with pytest.raises(ConfigError, match=r"--a\.b needs a value"):
        common.split_settings(["--a.b"])
