from __future__ import annotations

import numpy as np

from biplanar.data.forest import offsets_of
from biplanar.decoding.scores import Scores

OFFSETS = offsets_of([3, 0, 2])
TABLES = {"plane1": np.ones((5, 4), dtype=np.float32), "deprel": np.arange(10, dtype=np.float32).reshape(5, 2)}
HEADS = np.array([2, 0, 1, 0, 1], dtype=np.int32)


def test_without_relations_given_heads_the_word_alone_decides() -> None:
    scores = Scores(OFFSETS, TABLES)
    assert not scores.knows_heads
    assert scores.deprels is TABLES["deprel"]
    assert scores.relate(HEADS) is TABLES["deprel"]


def test_heads_become_places_among_all_words() -> None:
    asked = []

    def given_governors(governors: np.ndarray) -> np.ndarray:
        asked.append(governors.tolist())
        return -TABLES["deprel"]

    scores = Scores(OFFSETS, TABLES, given_governors)
    assert scores.knows_heads
    assert (scores.relate(HEADS) == -TABLES["deprel"]).all()
    assert asked == [[2, 0, 1, 0, 4]]  # counted from 1, through all sentences; 0: the root
    assert scores.deprels is TABLES["deprel"]
