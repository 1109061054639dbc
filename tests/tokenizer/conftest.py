"""Segmenters of both kinds, trained on a few sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from unittest import mock

import pytest

from biplanar.data.conllu import Sentence
from biplanar.tagger.config import SegmenterConfig
from biplanar.tokenizer import udpipe
from biplanar.tokenizer.segmenter import Segmenter, UnitTagger
from biplanar.tokenizer.training import SegmenterTrainer
from biplanar.tokenizer.udpipe import UDPipeSegmenter, train_udpipe
from tests.tokenizer.treebank import SENTENCES

SMALL = SegmenterConfig(hidden=32, layers=1, updates=150, batch_units=150, dropout=0.1, learning_rate=0.02)


@pytest.fixture(scope="module", autouse=True)
def quick_training() -> Iterator[None]:
    """A smaller network and shorter segments, which are enough for so few sentences."""
    with mock.patch.dict(udpipe.TOKENIZER, {"dimension": 16, "segment_size": 50}):
        yield


def trained(sentences: Sequence[Sentence]) -> UnitTagger:
    """A segmenter that knows some sentences by heart."""
    trainer = SegmenterTrainer(SMALL, sentences, sentences, threads=1)
    for _ in trainer.run():
        pass
    return trainer.segmenter()


@pytest.fixture(scope="session")
def tagger() -> UnitTagger:
    return trained(SENTENCES)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("segmenter") / "tokenizer.udpipe"
    train_udpipe(SENTENCES, None, path, epochs=1, tagger=True)
    return path


@pytest.fixture(scope="module")
def udpipe_segmenter(model: Path) -> UDPipeSegmenter:
    return UDPipeSegmenter.load(model)


@pytest.fixture(scope="module", params=["tagger", "udpipe"])
def segmenter(request: pytest.FixtureRequest) -> Segmenter:
    found: Segmenter = request.getfixturevalue("tagger" if request.param == "tagger" else "udpipe_segmenter")
    return found
