"""Steps of training: what each switch brings, what learns, and how long and how fast by the size of a treebank."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from biplanar.data.conllu import Sentence, read_conllu
from biplanar.decoding import get_decoder
from biplanar.decoding.inventory import LabelInventory
from biplanar.decoding.tree_decoder import TreeDecoder
from biplanar.encodings import ENCODINGS
from biplanar.errors import BiplanarError
from biplanar.tagger.config import CONFIGS, Config, ConfigError
from biplanar.tagger.device import TorchTagger
from biplanar.tagger.features import Vocabulary
from biplanar.tagger.layers import BiaffineArcs
from biplanar.tagger.loop import Pace, enough_epochs, good_learning_rate
from biplanar.tagger.predict import parse_corpus
from biplanar.tagger.teachers import ARCS, Member
from biplanar.tagger.tensors import TensorBatch
from biplanar.tagger.training import Gold, Record, Trainer
from tests.conftest import ROOT
from tests.encodings.wrapped import Wrapped

SMALL = {
    "network": {
        "word_dim": 8,
        "char_dim": 4,
        "char_hidden": 8,
        "hidden": 16,
        "layers": 1,
        "arc_dim": 8,
        "output_hidden": 12,
    },
    "auxiliary": {"relation_dim": 6},
    "vocabulary": {"min_form_count": 1, "min_char_count": 1},
    "training": {"batch_words": 60, "learning_rate": 0.01, "epochs": 2},
}
OFF = {"arcs": False, "attention": False, "depths": False, "relation_hidden": None, "treebank_dim": None}
SWITCHES = {
    "nothing": {},
    "arcs": {"arcs": True},
    "attention": {"attention": True},
    "depths": {"depths": True},
    "relations": {"relation_hidden": 10},
    "treebanks": {"treebank_dim": 3},
    "all": {"arcs": True, "attention": True, "depths": True, "relation_hidden": 10, "treebank_dim": 3},
}
every_switch = pytest.mark.parametrize("switches", SWITCHES.values(), ids=SWITCHES)

DEPTHS = ["depth.plane1.left", "depth.plane1.right", "depth.plane2.left", "depth.plane2.right"]


@pytest.fixture(scope="module")
def sentences() -> list[Sentence]:
    return list(read_conllu(ROOT / "examples" / "tiny.conllu"))


def config_of(switches: dict[str, object], **more: object) -> Config:
    small = Config.from_dict({**SMALL, **more})
    return Config.from_dict({"network": {**OFF, **switches}}, small)


def trainer_of(sentences: list[Sentence], switches: dict[str, object], **more: object) -> Trainer:
    treebanks = [number % 2 for number in range(len(sentences))]
    return Trainer(config_of(switches, **more), sentences, sentences, treebanks=treebanks)


def gold_of(trainer: Trainer, chosen: np.ndarray) -> Gold:
    arrays = trainer.gold_arrays(chosen, trainer.train_examples.corpus.batch(chosen).mask)
    return trainer._gold(*map(torch.from_numpy, arrays))


class TestStep:
    @every_switch
    def test_all_parts_learn(self, sentences, switches):
        trainer = trainer_of(sentences, switches)
        trainer.network.train()
        before = {name: parameter.clone() for name, parameter in trainer.network.named_parameters()}
        for _ in range(2):  # the biaffine weight begins with zeros, through which nothing flows back at first
            loss = trainer._step(np.arange(len(sentences)))
        assert loss > 0
        for name, parameter in trainer.network.named_parameters():
            assert not torch.equal(parameter, before[name]), name

    def test_gradients_of_several_batches_are_added_up_for_one_update(self, sentences, monkeypatch):
        """As encoders ask for that have no room for a large batch."""
        monkeypatch.setattr(torch.optim.AdamW, "step", lambda _: None)  # so that gradients can be compared
        several, *single = (trainer_of(sentences, {"dropout": 0.0, "word_dropout": 0.0}) for _ in range(3))
        several.network.encoder.accumulate = 2
        updates = []
        monkeypatch.setattr(torch.nn.utils, "clip_grad_norm_", lambda *_: updates.append(1))
        batches = np.arange(4), np.arange(4, 8)
        for trainer, batch in zip(single, batches, strict=True):
            several._step(batch)
            trainer._step(batch)
        assert len(updates) == 3
        for found, one, other in zip(*(trainer.network.parameters() for trainer in (several, *single)), strict=True):
            torch.testing.assert_close(found.grad, (one.grad + other.grad) / 2)

    def test_an_epoch_leaves_no_gradients_behind(self, sentences, monkeypatch):
        trainer, gathered = trainer_of(sentences, {}), []
        trainer.network.encoder.accumulate = 3
        monkeypatch.setattr(torch.nn.utils, "clip_grad_norm_", lambda *_: gathered.append(trainer._gathered))
        *_, last = trainer._run_epoch(Pace(1, 1))
        assert (sum(gathered), len(gathered)) == (last.batches, -(-last.batches // 3))

    @every_switch
    def test_the_loss_falls(self, sentences, switches):
        trainer = trainer_of(sentences, {**switches, "dropout": 0.0})
        losses = [float(trainer._step(np.arange(10))) for _ in range(60)]
        assert losses[-1] < 0.5 * losses[0]

    def test_arcs_are_scored_once(self, sentences, monkeypatch):
        calls = []
        forward = BiaffineArcs.forward

        def counted(self, hidden, mask):
            calls.append(self)
            return forward(self, hidden, mask)

        monkeypatch.setattr(BiaffineArcs, "forward", counted)
        for switches in ({}, {"arcs": True}, {"attention": True}, {"arcs": True, "attention": True}):
            trainer = trainer_of(sentences, switches)
            trainer._step(np.arange(5))
            owner = trainer.network if switches else trainer.auxiliary
            assert calls == [owner.arcs]
            calls.clear()

    def test_treebanks_have_their_say(self, sentences):
        trainer = trainer_of(sentences, {"treebank_dim": 3})
        first, second = np.arange(0, len(sentences), 2), np.arange(1, len(sentences), 2)
        table = trainer.network.encoder.treebank_embedding.weight
        for chosen, (changed, kept) in ((first, (0, 1)), (second, (1, 0))):
            trainer.optimizer.state.clear()
            before = table.detach().clone()
            trainer._step(chosen)
            assert not torch.equal(table[changed], before[changed])
            assert torch.equal(table[kept], before[kept])

    def test_the_weight_of_depths(self, sentences):
        """A weight of 0 leaves the layers of depths as they were."""
        trainer = trainer_of(sentences, {"depths": True}, auxiliary={"depths": 0.0})
        before = {task: output.weight.clone() for task, output in trainer.network.named_outputs() if task in DEPTHS}
        assert list(before) == DEPTHS
        trainer._step(np.arange(5))
        for task, output in trainer.network.named_outputs():
            if task in DEPTHS:
                assert torch.equal(output.weight, before[task])


class TestAverage:
    def test_what_is_kept_is_a_running_mean(self, sentences):
        trainer = trainer_of(sentences, {"arcs": True}, training={"average": 0.75})
        assert trainer.kept is trainer.average.module
        means = None
        for _ in range(4):
            trainer._step(np.arange(5))
            now = {name: tensor.detach().clone() for name, tensor in trainer.network.named_parameters()}
            means = now if means is None else {name: 0.75 * means[name] + 0.25 * now[name] for name in now}
        for name, tensor in trainer.kept.named_parameters():
            torch.testing.assert_close(tensor, means[name])
        assert not torch.equal(trainer.kept.arcs.arc_weight, trainer.network.arcs.arc_weight)

    def test_it_is_what_is_judged(self, sentences):
        trainer = trainer_of(sentences, {"arcs": True}, training={"average": 0.75})
        trainer._step(np.arange(5))
        before = trainer.evaluate()
        with torch.no_grad():
            for parameter in trainer.network.parameters():
                parameter.zero_()
        assert trainer.evaluate() == before
        with torch.no_grad():
            for parameter in trainer.kept.parameters():
                parameter.zero_()
        assert trainer.evaluate() != before

    def test_without_a_decay_it_is_the_network_itself(self, sentences):
        trainer = trainer_of(sentences, {})
        assert trainer.average is None
        assert trainer.kept is trainer.network


class TestTeachers:
    def taught(self, sentences: list[Sentence], teacher: dict[str, object], student: dict[str, object]) -> Trainer:
        one = trainer_of(sentences, teacher)
        member = Member(TorchTagger(one.network, one.vocabulary, one.device), one.vocabulary.tasks)
        training = {"taught": 0.7, "label_smoothing": 0.2, "epochs": 2}
        return Trainer(config_of(student, training=training), sentences, sentences, teachers=[member])

    @pytest.mark.parametrize("student", [{"arcs": True}, {}], ids=["arcs of the network", "arcs in training only"])
    def test_soft_targets_of_arcs(self, sentences, student):
        trainer, chosen = self.taught(sentences, {"arcs": True}, student), np.arange(4)
        features = trainer.train_examples.corpus.batch(chosen)
        batch, gold = TensorBatch(features, trainer.device), gold_of(trainer, chosen)
        table = torch.randn(*features.mask.shape[:2], features.mask.shape[1] + 1)
        found = trainer.arc_loss(table, batch, gold)
        logs = batch.only_words(table).log_softmax(dim=-1)
        labels, shares = gold.soft[ARCS]
        torch.testing.assert_close(shares.sum(dim=1), torch.ones(len(shares)))
        hard = -logs[torch.arange(len(logs)), batch.only_words(gold.heads)].mean()
        soft = torch.stack([-(logs[word][labels[word]] * shares[word]).sum() for word in range(len(logs))]).mean()
        torch.testing.assert_close(found, 3.0 * (0.3 * hard + 0.7 * soft))

    def test_teachers_without_arcs_teach_none(self, sentences):
        trainer = self.taught(sentences, {}, {"arcs": True})
        assert ARCS not in trainer.soft_targets
        assert trainer.network.arcs is not None
        assert float(trainer._step(np.arange(4))) > 0


class TestGold:
    def test_governors_number_the_words_of_the_batch(self, sentences):
        trainer = trainer_of(sentences, {})
        chosen = np.array([3, 0])
        gold = gold_of(trainer, chosen)
        third, first = sentences[3], sentences[0]
        assert gold.heads[0, : len(third)].tolist() == list(third.heads)
        assert gold.heads[1, : len(first)].tolist() == list(first.heads)
        shifted = [head + len(third) if head else 0 for head in first.heads]
        assert gold.governors.tolist() == [*third.heads, *shifted]
        deprels = trainer.vocabulary.tasks["deprel"]
        assert [deprels[number] for number in gold.targets["deprel"]] == [*third.tree.deprels, *first.tree.deprels]


COLUMNS = ["upos", "lemma"]  # that the treebank has


class TestTasks:
    def test_columns_are_tasks_where_the_treebank_has_them(self, sentences):
        assert [task for task in trainer_of(sentences, {}).vocabulary.tasks if task in COLUMNS] == COLUMNS
        assert not [task for task in trainer_of(sentences, {"columns": ""}).vocabulary.tasks if task in COLUMNS]

    def test_words_without_a_value_add_nothing_to_the_loss(self, sentences):
        trainer = trainer_of(sentences, {})
        scores, labels = torch.randn(3, 4), torch.tensor([2, -1, 0])
        both = sum(torch.nn.functional.cross_entropy(scores[[word]], labels[[word]]) for word in (0, 2))
        gold = Gold(torch.tensor(3), labels, labels, {}, {})
        assert float(trainer._label_loss(scores, labels, gold)) == pytest.approx(float(both) / 3)
        assert float(trainer._label_loss(scores, torch.full((3,), -1), gold)) == 0

    def test_depths_are_tasks_with_all_their_labels(self, sentences):
        tasks = trainer_of(sentences, {"depths": True}).vocabulary.tasks
        assert list(tasks) == ["plane1", "plane2", "deprel", *DEPTHS, *COLUMNS]
        assert all(tasks[task] == tuple(str(depth) for depth in range(13)) for task in DEPTHS)

    def test_other_encodings_have_no_depths(self, sentences):
        trainer = trainer_of(sentences, {"depths": True}, encoding="rel-pos")
        assert not [task for task in trainer.vocabulary.tasks if task.startswith("depth")]

    def test_nor_has_one_that_does_not_declare_its_kind(self, sentences, monkeypatch):
        """And as no search knows its labels, it is judged by the trees of greedy decoding."""
        monkeypatch.setitem(ENCODINGS, "wrapped", Wrapped())
        trainer = trainer_of(sentences, {"depths": True}, encoding="wrapped")
        assert list(trainer.vocabulary.tasks) == ["plane1", "deprel", *COLUMNS]
        records = [told for told in trainer.run() if isinstance(told, Record)]
        assert [record.epoch for record in records] == [1, 2]
        decoder = TreeDecoder(LabelInventory(trainer.encoding, trainer.vocabulary.tasks), get_decoder("greedy"))
        scorer = TorchTagger(trainer.network, trainer.vocabulary, trainer.device)
        found = parse_corpus(scorer, trainer.dev_corpus, decoder, 100)
        assert records[-1].uas == pytest.approx(100 * (found.heads == trainer.dev.heads).mean())

    def test_the_networks_of_the_named_configurations(self):
        paper = CONFIGS["paper"].network
        assert (paper.attention, paper.depths, paper.relation_hidden, paper.treebank_dim) == (False, False, None, None)
        networks = {name: config.network for name, config in CONFIGS.items()}
        assert {name for name, network in networks.items() if not network.arcs} == {"paper", "pure"}
        assert {name for name, network in networks.items() if network.attention} == {"accurate", "large", "transformer"}

    def test_treebanks_are_counted_only_where_they_matter(self, sentences):
        assert trainer_of(sentences, {"treebank_dim": 3}).vocabulary.treebanks == 2
        assert trainer_of(sentences, {}).vocabulary.treebanks == 1

    @pytest.mark.parametrize("name", ["arcs", "attention"])
    def test_what_scores_arcs_needs_the_arc_loss(self, sentences, name):
        with pytest.raises(ConfigError, match=rf"network\.{name} needs auxiliary\.arcs"):
            trainer_of(sentences, {name: True}, auxiliary={"arcs": 0.0})


def test_teachers_without_the_labels_of_the_encoding_are_refused(sentences):
    nobody = TorchTagger(trainer_of(sentences, {}).network, Vocabulary.of([], {}), torch.device("cpu"))
    with pytest.raises(BiplanarError, match="predict plane1"):
        Trainer(config_of({}), sentences, sentences, teachers=[Member(nobody, {"deprel": ("root", "obj")})])


class TestSchedule:
    @pytest.mark.parametrize(
        ("batches", "rate"),
        [(1, 0.003), (100, 0.003), (141.4213562, 0.006**0.5 / 1000**0.5), (200, 0.002), (9999, 0.002)],
    )
    def test_learning_rates(self, batches, rate):
        assert good_learning_rate(batches) == pytest.approx(rate)

    @pytest.mark.parametrize(("batches", "epochs"), [(1, 4516), (20, 241), (300, 31), (4500, 17), (9000, 17)])
    def test_epochs(self, batches, epochs):
        assert enough_epochs(batches, 4500) == epochs

    def test_both_are_chosen_by_size_where_they_are_auto(self, sentences):
        trainer = trainer_of(sentences, {}, training={"batch_words": 19})
        assert len(trainer.train_examples.forest.heads) == 190
        assert (trainer.epochs, trainer.learning_rate) == (466, 0.003)

    def test_and_else_as_told(self, sentences):
        trainer = trainer_of(sentences, {})
        assert (trainer.epochs, trainer.learning_rate) == (2, 0.01)
        trainer._set_learning_rate(0.05)
        assert trainer.optimizer.param_groups[0]["lr"] == pytest.approx(0.01)
