"""The parts of the network: shapes, what learns from which loss, and that padding and neighbours change nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from biplanar.tagger.config import AuxiliaryConfig
from biplanar.tagger.device import TorchTagger
from biplanar.tagger.features import Corpus, Vocabulary
from biplanar.tagger.network import ATTENTION, CONTEXT, Attention, AuxiliaryHeads, Output, Relations, Tagger
from biplanar.tagger.tensors import TensorBatch
from tests.tagger.networks import CPU, batch_of, small_network

SENTENCES = [
    ["A", "hearing", "is", "scheduled", "on", "the", "issue", "today", "."],
    ["Yes"],
    ["She", "sings", "!"],
]
LABELS = {"plane1": 6, "plane2": 3, "deprel": 5, "depth.plane1.left": 13}
VOCABULARY = Vocabulary.of(
    SENTENCES, {task: tuple(map(str, range(n))) for task, n in LABELS.items()}, min_form_count=1, min_char_count=1
)
SWITCHES = {
    "nothing": {"relation_hidden": None},
    "relations": {"relation_hidden": 7},
    "attention": {"relation_hidden": None, "attention": True},
    "attention alone": {"relation_hidden": None, "attention": True, "arcs": False},
    "labels alone": {"relation_hidden": None, "arcs": False},
    "treebanks": {"relation_hidden": None, "treebank_dim": 3},
    "small forms": {"relation_hidden": None, "form_dim": 5},
    "all": {"relation_hidden": 7, "attention": True, "treebank_dim": 3},
}
every_switch = pytest.mark.parametrize("switches", SWITCHES.values(), ids=SWITCHES)


def network_of(switches: dict[str, object]) -> Tagger:
    return small_network(VOCABULARY, {"layers": 1, **switches})


def output_of(network: Tagger, *what: list[Any]) -> Output:
    spellings, batch = batch_of(VOCABULARY, *what)
    return network(network.encoder.represent(spellings), batch)


def encoded(network: Tagger, sentences: list[list[str]]) -> tuple[torch.Tensor, TensorBatch]:
    spellings, batch = batch_of(VOCABULARY, sentences)
    return network.encoder(network.encoder.represent(spellings), batch), batch


def tables_of(output: Output) -> dict[str, torch.Tensor]:
    """All that the network says."""
    tables = dict(output.labels)
    if output.dependents is not None:
        tables |= {"as dependents": output.dependents, "as heads": output.heads}
    if output.arcs is not None:
        tables |= {"dependents in arcs": output.arcs.dependents, "heads in arcs": output.arcs.heads}
    return tables


class TestTagger:
    @every_switch
    def test_shapes(self, switches):
        output = output_of(network_of(switches), SENTENCES)
        wanted = {task: (13, size) for task, size in LABELS.items()}
        assert {task: tuple(table.shape) for task, table in output.labels.items()} == wanted
        if switches["relation_hidden"]:
            assert output.dependents.shape == output.heads.shape == (13, 7)
        else:
            assert output.dependents is output.heads is None
        if switches.get("arcs", True):
            assert output.arcs.dependents.shape == output.arcs.heads.shape == (13, 9)
            assert output.arcs.root.shape == (9,)
        else:
            assert output.arcs is None

    @every_switch
    def test_neighbours_and_padding_change_nothing(self, switches):
        network = network_of(switches)
        together = tables_of(output_of(network, SENTENCES))
        alone = [tables_of(output_of(network, [sentence])) for sentence in SENTENCES]
        for task, table in together.items():
            torch.testing.assert_close(table, torch.cat([one[task] for one in alone]))

    def test_depths_have_no_hidden_layer(self):
        outputs = dict(network_of(SWITCHES["all"]).named_outputs())
        assert list(outputs) == list(LABELS)
        assert isinstance(outputs["plane1"], torch.nn.Sequential)
        assert isinstance(outputs["depth.plane1.left"], torch.nn.Linear)
        assert outputs["depth.plane1.left"].in_features == 24 + ATTENTION

    def test_only_the_second_treebank_changes_with_its_vector(self):
        network = network_of(SWITCHES["treebanks"])
        before = output_of(network, SENTENCES, [0, 1, 0]).labels
        plain = output_of(network, SENTENCES).labels
        with torch.no_grad():
            network.encoder.treebank_embedding.weight[1] += 1
        after = output_of(network, SENTENCES, [0, 1, 0]).labels
        for task in LABELS:
            same = (before[task] == after[task]).all(dim=1).tolist()
            assert same == [True] * 9 + [False] + [True] * 3
            assert torch.equal(plain[task][:9], before[task][:9])  # without numbers, all are of the first

    def test_the_tagger_scores_by_the_first_treebank(self):
        network = network_of(SWITCHES["treebanks"])
        tagger, corpus = TorchTagger(network, VOCABULARY, CPU), Corpus.of(SENTENCES)
        found = tagger.score(tagger.represent(corpus.forms), corpus.batch([0, 1, 2]))
        expected = output_of(network, SENTENCES, [0, 0, 0]).labels
        for task in LABELS:
            np.testing.assert_allclose(found.labels[task], expected[task].detach().numpy(), atol=1e-5)


class TestAttention:
    def attention(self) -> Attention:
        torch.manual_seed(2)
        return Attention(6, 0.5).eval()

    def test_the_tagger_does_not_teach_the_arcs(self):
        network = network_of(SWITCHES["attention"]).train()
        scores = output_of(network, SENTENCES).labels
        sum(table.square().sum() for table in scores.values()).backward()
        assert [name for name, parameter in network.named_parameters() if parameter.grad is None] == [
            f"arcs.{name}" for name, _ in network.arcs.named_parameters()
        ]
        assert network.attention.value.weight.grad.any()
        assert network.attention.root_value.grad.any()
        assert network.encoder.layers[0].weight_ih_l0.grad.any()

    def test_the_arc_loss_does(self):
        network = network_of(SWITCHES["attention"]).train()
        words, batch = encoded(network, SENTENCES)
        network.arcs(batch.padded(words), batch.mask)[batch.mask].square().sum().backward()
        assert all(parameter.grad.any() for parameter in network.arcs.parameters())

    def test_by_hand(self):
        """Two words and padding: the first has the second as its head, the second has the root."""
        attention = self.attention()
        with torch.no_grad():
            attention.root_value.copy_(torch.arange(CONTEXT))
        sure = 100.0
        arcs = torch.tensor([[[0, 0, sure, -1e4], [sure, 0, 0, -1e4], [sure, 0, 0, -1e4]]])
        hidden, mask = torch.randn(1, 3, 6), torch.tensor([[True, True, False]])
        found = attention(hidden, mask, arcs)[0]  # (3, ATTENTION)
        values = attention.value(hidden)[0]
        torch.testing.assert_close(found[0, :CONTEXT], values[1])
        torch.testing.assert_close(found[1, :CONTEXT], attention.root_value.detach())
        torch.testing.assert_close(found[0, CONTEXT : 2 * CONTEXT], torch.zeros(CONTEXT))
        torch.testing.assert_close(found[1, CONTEXT : 2 * CONTEXT], values[0])
        # Head left, head right, root, left dependents, right dependents; then the same of the word before.
        torch.testing.assert_close(found[0, 2 * CONTEXT :], torch.tensor([0, 1, 0, 0, 0, 0, 0, 0, 0, 0.0]))
        torch.testing.assert_close(found[1, 2 * CONTEXT :], torch.tensor([0, 0, 1, 1, 0, 0, 1, 0, 0, 0.0]))

    def test_right_dependents(self):
        attention = self.attention()
        sure = 100.0
        arcs = torch.tensor(
            [[[sure, 0, 0, 0], [0, sure, 0, 0], [0, sure, 0, 0]]]
        )  # the second and third have the first
        counts = attention(torch.randn(1, 3, 6), torch.ones(1, 3, dtype=torch.bool), arcs)[0, :, 2 * CONTEXT :]
        torch.testing.assert_close(counts[0, :5], torch.tensor([0, 0, 1, 0, 2.0]))
        torch.testing.assert_close(counts[1:, :5], torch.tensor([1, 0, 0, 0, 0.0]).expand(2, -1))

    def test_the_auxiliary_heads_have_arcs_only_if_the_tagger_has_none(self):
        assert AuxiliaryHeads(AuxiliaryConfig(), 6, 0.0, 5, arc_dim=7).arcs.arc_weight.shape == (8, 7)
        assert AuxiliaryHeads(AuxiliaryConfig(), 6, 0.0, 5).arcs is None
        assert AuxiliaryHeads(AuxiliaryConfig(arcs=0.0), 6, 0.0, 5, arc_dim=7).arcs is None


class TestRelations:
    def test_words_and_their_heads(self):
        torch.manual_seed(1)
        relations = Relations(6, 4, 3, 0.0).eval()
        with torch.no_grad():
            relations.root.normal_()
        words = torch.randn(5, 6)
        governors = [2, 0, 2, 5, 1]  # of which two are a sentence of their own, or not: it is all the same
        found = relations(words, torch.tensor(governors))
        for word, governor in enumerate(governors):
            head = relations.head(words[governor - 1]) if governor else relations.root
            joined = torch.nn.functional.leaky_relu(relations.dependent(words[word]) + head, 0.1)
            torch.testing.assert_close(found[word], relations.output(joined))

    def test_heads_that_are_known_later_are_enough(self):
        network = network_of(SWITCHES["all"])
        tagger, corpus = TorchTagger(network, VOCABULARY, CPU), Corpus.of(SENTENCES)
        scores = tagger.score(tagger.represent(corpus.forms), corpus.batch([0, 1, 2]))
        heads = np.array([2, 4, 4, 0, 7, 7, 4, 4, 4, 0, 2, 0, 2], dtype=np.int32)
        governors = torch.tensor([2, 4, 4, 0, 7, 7, 4, 4, 4, 0, 12, 0, 12])
        words, _ = encoded(network, SENTENCES)
        expected = network.relations(words, governors)
        np.testing.assert_allclose(scores.relate(heads), expected.detach().numpy(), atol=1e-5)
