"""A tokenizer and tagger, trained on a few sentences."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest

from biplanar.tokenizer import training
from biplanar.tokenizer.segmenter import Segmenter
from biplanar.tokenizer.training import train_segmenter
from tests.tokenizer.treebank import SENTENCES


@pytest.fixture(scope="module", autouse=True)
def quick_training() -> Iterator[None]:
    """A smaller network and shorter segments, which are enough for so few sentences."""
    with mock.patch.dict(training.TOKENIZER, {"dimension": 16, "segment_size": 50}):
        yield


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("segmenter") / "tokenizer.udpipe"
    train_segmenter(SENTENCES, None, path, epochs=1, tagger=True)
    return path


@pytest.fixture(scope="module")
def segmenter(model: Path) -> Segmenter:
    return Segmenter.load(model)
