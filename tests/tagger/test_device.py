"""The network on a device: without padding it says what it says with it, and what stays there is related there.

All of it runs on the CPU as well; what only CUDA can do is tested where there is CUDA.
"""

from __future__ import annotations

import os

import numpy as np
import pytest
import torch

from biplanar.encodings import get_encoding
from biplanar.errors import BiplanarError
from biplanar.tagger.config import NetworkConfig
from biplanar.tagger.device import FULL, HALF, DeviceScores, PackedBatch, TorchTagger
from biplanar.tagger.features import Corpus, Spellings, Vocabulary
from biplanar.tagger.network import Tagger, TensorBatch, TensorSpellings
from biplanar.tagger.predict import DEPENDENT, GOVERNOR, TreeDecoder, parse_corpus

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
VOCABULARY = Vocabulary.of(SENTENCES, TASKS, min_form_count=1, min_char_count=1, treebanks=2)

DEVICES = [
    "cpu",
    pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA")),
]
SMALL = {"word_dim": 8, "char_dim": 4, "char_hidden": 4, "hidden": 12, "layers": 2, "output_hidden": 10}
SWITCHES = {
    "nothing": {"relation_hidden": 0},
    "relations": {"relation_hidden": 7},
    "attention": {"relation_hidden": 7, "attention": True},
    "treebanks": {"relation_hidden": 7, "treebank_dim": 3},
}
every_switch = pytest.mark.parametrize("switches", SWITCHES.values(), ids=SWITCHES)
every_device = pytest.mark.parametrize("device", DEVICES)


def network_of(switches: dict[str, object]) -> Tagger:
    torch.manual_seed(5)
    labels = {task: len(names) for task, names in TASKS.items()}
    network = Tagger(
        NetworkConfig(**SMALL, **switches), len(VOCABULARY.forms), len(VOCABULARY.chars), labels, arc_dim=9, treebanks=2
    )
    with torch.no_grad():
        for parameter in network.parameters():
            if not parameter.any():
                parameter.normal_()
    return network.eval()


def tagger_of(switches: dict[str, object], device: str, precision: torch.dtype = FULL) -> TorchTagger:
    where = torch.device(device)
    return TorchTagger(network_of(switches).to(where), VOCABULARY, where, precision=precision)


def scores_of(tagger: TorchTagger, corpus: Corpus) -> DeviceScores:
    return tagger.score(tagger.represent(corpus.forms), corpus.batch(range(len(corpus.lengths))))


def expected_scores(switches: dict[str, object], corpus: Corpus) -> dict[str, np.ndarray]:
    """By the network's own way, with padding."""
    network, cpu = network_of(switches), torch.device("cpu")
    forms = network.represent(TensorSpellings.of(Spellings.of(corpus.forms, VOCABULARY), cpu))
    tables = network(forms, TensorBatch.of(corpus.batch(range(len(corpus.lengths))), cpu))
    return {task: table.detach().numpy() for task, table in tables.items()}


@every_device
@every_switch
def test_scores_are_those_of_the_network(switches: dict[str, object], device: str) -> None:
    corpus = Corpus.of(SENTENCES, np.array([0, 1, 0, 1]))
    found, expected = scores_of(tagger_of(switches, device), corpus), expected_scores(switches, corpus)
    assert set(found) == set(expected)
    assert len(found) == len(expected)
    for task, table in expected.items():
        assert task in found
        assert found[task].dtype == np.float32
        assert found[task].flags.c_contiguous
        np.testing.assert_allclose(found[task], table, atol=1e-5)
    assert "plane3" not in found


@every_device
@every_switch
def test_half_precision_is_nearly_the_same(switches: dict[str, object], device: str) -> None:
    if device == "cpu" and "attention" in switches:
        pytest.skip("only CUDA chooses its precision step by step")
    corpus = Corpus.of(SENTENCES)
    found, expected = scores_of(tagger_of(switches, device, HALF), corpus), expected_scores(switches, corpus)
    rounded = 0.0
    for task, table in expected.items():
        np.testing.assert_allclose(found[task], table, atol=0.05)
        rounded += float(np.abs(found[task] - table).max())
    assert rounded > 1e-5  # so it was half precision indeed


@every_device
def test_words_are_related_where_they_are(device: str) -> None:
    corpus, governors = Corpus.of(SENTENCES), np.array([0, 3, 5, 5, 0, 8, 8, 5, 5, 5, 12, 0, 12, 15, 0, 15])
    tagger = tagger_of(SWITCHES["relations"], device)
    scores = scores_of(tagger, corpus)
    found = scores.relate(governors)
    assert found.shape == (16, 4)
    np.testing.assert_allclose(found, tagger.relate(scores[DEPENDENT], scores[GOVERNOR], governors), atol=1e-5)
    expected = expected_scores(SWITCHES["relations"], corpus)
    related = network_of(SWITCHES["relations"]).relations.relate(
        *(torch.from_numpy(one) for one in (expected[DEPENDENT], expected[GOVERNOR], governors))
    )
    np.testing.assert_allclose(found, related.detach().numpy(), atol=1e-5)


def test_a_network_without_relations_says_so() -> None:
    tagger = tagger_of(SWITCHES["nothing"], "cpu")
    table = np.zeros((1, 7), dtype=np.float32)
    with pytest.raises(BiplanarError, match="no relations given the head"):
        tagger.relate(table, table, np.zeros(1, dtype=np.int64))


def test_a_packed_batch_goes_through_all_sentences_word_by_word() -> None:
    corpus = Corpus.of([["a"], ["b", "c", "d"], ["e", "f"], ["g", "h"]], np.array([0, 1, 0, 1]))
    packed = PackedBatch.of(corpus.batch(range(4)), torch.device("cpu"))
    assert [corpus.forms[number] for number in packed.words] == list("begacfhd")
    assert packed.sizes.tolist() == [4, 3, 1]
    assert [corpus.forms[packed.words[place]] for place in packed.places] == list("abcdefgh")
    assert packed.treebanks.tolist() == [1, 0, 1, 0, 1, 0, 1, 1]


def test_no_words_have_no_scores() -> None:
    tagger = tagger_of(SWITCHES["treebanks"], "cpu")
    scores = tagger.score(tagger.represent(["Yes"]), Corpus.of([[]]).batch([0]))
    assert {task: table.shape for task, table in scores.items()} == {
        **{task: (0, len(names)) for task, names in TASKS.items()},
        DEPENDENT: (0, 7),
        GOVERNOR: (0, 7),
    }


@every_device
@every_switch
@pytest.mark.parametrize("threads", [1, 4])
def test_trees_are_those_of_sentences_parsed_alone(switches: dict[str, object], device: str, threads: int) -> None:
    tagger = tagger_of(switches, device)
    tagger.threads = threads
    how = TreeDecoder(get_encoding("2p-full"), TASKS)
    sentences = SENTENCES * 5
    found = parse_corpus(tagger, Corpus.of(sentences), how, 12)
    alone = [parse_corpus(tagger, Corpus.of([sentence]), how, 12) for sentence in sentences]
    assert found.heads.tolist() == [head for one in alone for head in one.heads.tolist()]
    assert found.relations.tolist() == [relation for one in alone for relation in one.relations.tolist()]


@every_device
def test_only_other_devices_leave_the_processor_free(device: str) -> None:
    assert tagger_of(SWITCHES["nothing"], device).threads == (1 if device == "cpu" else os.cpu_count())
