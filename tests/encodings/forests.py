"""Every small tree at once, as the compiled loops take them."""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np

from biplanar.data.forest import Column, Forest
from biplanar.planes.crossings import nonprojective
from tests.strategies import all_trees


def forest_of_rows(heads: np.ndarray) -> Forest:
    """Trees of one length, a row each."""
    trees, words = heads.shape
    relations = Column(np.zeros(heads.size, dtype=np.int32), ("dep",))
    return Forest(np.arange(trees + 1, dtype=np.int64) * words, heads.reshape(-1).astype(np.int32), relations)


@cache
def every_tree(words: int) -> Forest:
    """Every tree of so many words."""
    return forest_of_rows(np.array(all_trees(words)))


@cache
def every_projective_tree(words: int) -> Forest:
    """Every projective one: a root, and on either side of it a sequence of projective trees."""
    return forest_of_rows(np.array(_projective(words)))


@cache
def _projective(words: int) -> list[list[int]]:
    """Heads of all projective trees."""
    return [
        [*(head or root for head in left), 0, *((head and head + root) or root for head in right)]
        for root in range(1, words + 1)
        for left, right in product(_sequences(root - 1), _sequences(words - root))
    ]


@cache
def _sequences(words: int) -> list[list[int]]:
    """Heads of all sequences of projective trees; roots have 0."""
    if not words:
        return [[]]
    return [
        [*first, *(head and head + size for head in rest)]
        for size in range(1, words + 1)
        for first, rest in product(_projective(size), _sequences(words - size))
    ]


def projective_sentences(forest: Forest) -> np.ndarray:
    """Which trees are projective."""
    return ~np.logical_or.reduceat(nonprojective(forest), forest.offsets[:-1])


def come_back(forest: Forest, heads: np.ndarray) -> np.ndarray:
    """In which trees all heads are right; a root may have none."""
    right = np.where(forest.heads == 0, heads <= 0, heads == forest.heads)
    return np.logical_and.reduceat(right, forest.offsets[:-1])
