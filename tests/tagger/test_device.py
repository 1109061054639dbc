"""The network on a device: it says what it says on the CPU, and what stays there is related there.

All of it runs on the CPU as well; what only CUDA can do is tested where there is CUDA.
"""

from __future__ import annotations

import os

import numpy as np
import pytest
import torch

from biplanar.decoding.arcs import ArcProducts
from biplanar.decoding.inventory import LabelInventory
from biplanar.decoding.scores import LikelyHeads, Scores
from biplanar.decoding.tree_decoder import TreeDecoder
from biplanar.encodings import get_encoding
from biplanar.tagger.device import FULL, HALF, TorchTagger
from biplanar.tagger.features import Corpus, Vocabulary
from biplanar.tagger.network import Output, Tagger
from biplanar.tagger.predict import parse_corpus
from tests.tagger.networks import batch_of, small_network

SENTENCES = [
    ["Yes"],
    ["A", "hearing", "is", "scheduled", "on", "the", "issue", "today", "."],
    ["She", "sings", "!"],
    ["A", "song", "!"],
]
PLANES = ("_", "<", "/", "\\", ">", "<\\", "/>")
DEPTHS = tuple(map(str, range(13)))
TASKS = {"plane1": PLANES, "plane2": ("_", "<\\", "/>"), "deprel": ("root", "nsubj", "obj", "punct")}
TASKS |= {f"depth.plane{plane}.{side}": DEPTHS for plane in (1, 2) for side in ("left", "right")}
COLUMN_TASKS = {"upos": ("NOUN", "VERB"), "feats": ("_", "Case=Nom", "Case=Nom|Number=Sing")}
VOCABULARY = Vocabulary.of(SENTENCES, TASKS | COLUMN_TASKS, min_form_count=1, min_char_count=1, treebanks=2)

DEVICES = [
    "cpu",
    pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA")),
]
SWITCHES = {
    "nothing": {"relation_hidden": None},
    "relations": {"relation_hidden": 7},
    "attention": {"relation_hidden": 7, "attention": True},
    "treebanks": {"relation_hidden": 7, "treebank_dim": 3},
    "labels alone": {"relation_hidden": 7, "arcs": False},
}
every_switch = pytest.mark.parametrize("switches", SWITCHES.values(), ids=SWITCHES)
relating = pytest.mark.parametrize("switches", list(SWITCHES.values())[1:], ids=list(SWITCHES)[1:])
every_device = pytest.mark.parametrize("device", DEVICES)


# CUDA's LSTMs multiply with fewer digits (TF32).
TOLERANCE = {"cpu": 1e-5, "cuda": 2e-4}

GOVERNORS = np.array([0, 3, 5, 5, 0, 8, 8, 5, 5, 5, 12, 0, 12, 15, 0, 15])
HEADS = np.array([0, 2, 4, 4, 0, 7, 7, 4, 4, 4, 2, 0, 2, 2, 0, 2], dtype=np.int32)  # the same, by sentence


def network_of(switches: dict[str, object]) -> Tagger:
    return small_network(VOCABULARY, switches)


def tagger_of(switches: dict[str, object], device: str, precision: torch.dtype = FULL) -> TorchTagger:
    where = torch.device(device)
    return TorchTagger(network_of(switches).to(where), VOCABULARY, where, precision=precision)


def scores_of(tagger: TorchTagger, corpus: Corpus) -> Scores:
    return tagger.score(tagger.represent(corpus.forms), corpus.batch(range(len(corpus.lengths))))


@torch.no_grad()
def expected_output(network: Tagger, treebanks: list[int] | None = None) -> Output:
    """By the network's own way, with padding, on the CPU."""
    spellings, batch = batch_of(VOCABULARY, SENTENCES, treebanks)
    return network(network.encoder.represent(spellings), batch)


@every_device
@every_switch
def test_scores_are_those_of_the_network(switches: dict[str, object], device: str) -> None:
    corpus = Corpus.of(SENTENCES, np.array([0, 1, 0, 1]))
    found = scores_of(tagger_of(switches, device), corpus)
    expected = expected_output(network_of(switches), [0, 1, 0, 1]).labels
    assert found.offsets.tolist() == corpus.offsets.tolist()
    assert list(found.labels) == list(expected) == list(TASKS)
    assert len(found.labels) == len(expected)
    for task, table in expected.items():
        assert task in found.labels
        assert found.labels[task].dtype == np.float32
        assert found.labels[task].flags.c_contiguous
        np.testing.assert_allclose(found.labels[task], table.numpy(), atol=TOLERANCE[device])
    assert "plane3" not in found.labels


@every_device
@every_switch
def test_columns_are_chosen_where_they_are(switches: dict[str, object], device: str) -> None:
    found = scores_of(tagger_of(switches, device), Corpus.of(SENTENCES)).columns
    tables, best = found.tables(), found.best()
    expected = expected_output(network_of(switches)).columns
    assert list(expected) == list(best) == list(COLUMN_TASKS)
    for column, table in expected.items():
        np.testing.assert_allclose(tables[column], table.numpy(), atol=TOLERANCE[device])
        assert best[column].dtype == np.int32
        assert best[column].tolist() == tables[column].argmax(axis=1).tolist()


def assert_heads(found: LikelyHeads, wanted: LikelyHeads, tolerance: float) -> None:
    assert (found.heads.dtype, found.logs.dtype) == (np.int32, np.float32)
    np.testing.assert_allclose(found.logs, wanted.logs, atol=10 * tolerance)
    assert found.heads.tolist() == wanted.heads.tolist()


@every_device
@every_switch
@pytest.mark.parametrize("most", [1 << 26, 30, 1], ids=["at once", "some rows", "row by row"])
def test_likely_heads_are_those_of_the_products(
    switches: dict[str, object], device: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("biplanar.tagger.device.MOST_PRODUCTS", most)
    found, output = scores_of(tagger_of(switches, device), Corpus.of(SENTENCES)), expected_output(network_of(switches))
    if not switches.get("arcs", True):
        assert found.arcs is output.arcs is None
        return
    dependents, heads, root = (one.numpy() for one in output.arcs)
    products = ArcProducts(found.offsets, dependents, heads, dependents @ root)
    assert_heads(found.arcs.likeliest(), products.likeliest(), TOLERANCE[device])


@every_device
@every_switch
def test_half_precision_is_nearly_the_same(switches: dict[str, object], device: str) -> None:
    if device == "cpu" and "attention" in switches:
        pytest.skip("only CUDA chooses its precision step by step")
    found = scores_of(tagger_of(switches, device, HALF), Corpus.of(SENTENCES))
    rounded = 0.0
    for task, table in expected_output(network_of(switches)).labels.items():
        np.testing.assert_allclose(found.labels[task], table.numpy(), atol=0.05)
        rounded += float(np.abs(found.labels[task] - table.numpy()).max())
    assert rounded > 1e-5  # so it was half precision indeed
    if found.arcs is not None:
        wanted = scores_of(tagger_of(switches, device), Corpus.of(SENTENCES)).arcs.likeliest()
        np.testing.assert_allclose(found.arcs.likeliest().logs, wanted.logs, atol=0.05)


@every_device
@relating
def test_words_are_related_where_they_are(switches: dict[str, object], device: str) -> None:
    scores, network = scores_of(tagger_of(switches, device), Corpus.of(SENTENCES)), network_of(switches)
    assert scores.knows_heads
    found, output = scores.relate(HEADS), expected_output(network)
    assert found.shape == (16, 4)
    assert found.dtype == np.float32
    with torch.no_grad():
        expected = network.relations.relate(output.dependents, output.heads, torch.from_numpy(GOVERNORS))
    np.testing.assert_allclose(found, expected.numpy(), atol=TOLERANCE[device])
    np.testing.assert_allclose(scores.relate(np.zeros_like(HEADS)), scores.given_governors(0 * GOVERNORS), atol=1e-6)


@every_device
def test_without_relations_given_the_head_those_of_the_word_stand(device: str) -> None:
    scores = scores_of(tagger_of(SWITCHES["nothing"], device), Corpus.of(SENTENCES))
    assert not scores.knows_heads
    assert scores.relate(HEADS) is scores.deprels
    assert scores.deprels is scores.labels["deprel"]


@every_device
@relating
def test_no_words_have_no_scores(switches: dict[str, object], device: str) -> None:
    tagger = tagger_of(switches, device)
    scores = tagger.score(tagger.represent(["Yes"]), Corpus.of([[]]).batch([0]))
    assert {task: table.shape for task, table in scores.labels.items()} == {
        task: (0, len(names)) for task, names in TASKS.items()
    }
    assert scores.relate(np.zeros(0, dtype=np.int32)).shape == (0, 4)
    if switches.get("arcs", True):
        assert scores.arcs.likeliest().heads.shape == scores.arcs.likeliest().logs.shape == (0, 8)


@every_device
@every_switch
@pytest.mark.parametrize("threads", [1, 4])
def test_trees_are_those_of_sentences_parsed_alone(switches: dict[str, object], device: str, threads: int) -> None:
    tagger = tagger_of(switches, device)
    tagger.decoding_threads = threads
    how = TreeDecoder(LabelInventory(get_encoding("2p-full"), TASKS))
    sentences = SENTENCES * 5
    found = parse_corpus(tagger, Corpus.of(sentences), how, 12)
    alone = [parse_corpus(tagger, Corpus.of([sentence]), how, 12) for sentence in sentences]
    assert found.heads.tolist() == [head for one in alone for head in one.heads.tolist()]
    assert found.relations.tolist() == [relation for one in alone for relation in one.relations.tolist()]


@every_device
def test_only_other_devices_leave_the_cpu_free(device: str) -> None:
    assert tagger_of(SWITCHES["nothing"], device).decoding_threads == (1 if device == "cpu" else os.cpu_count())
