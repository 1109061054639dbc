"""From vectors of words to their likeliest heads, against a plain softmax."""

from __future__ import annotations

import numpy as np
import pytest

from biplanar.data.forest import offsets_of
from biplanar.decoding.arcs import ArcProducts, average_heads, cut_scores, head_table
from biplanar.decoding.scores import MOST_HEADS, UNLIKELY, LikelyHeads, Scores
from tests.decoding.arc_tables import likeliest, log_table, random_table

LENGTHS = [1, 5, 0, 2, 30, 9]


def random_products(lengths: list[int], seed: int = 1, dim: int = 6) -> ArcProducts:
    rng, words = np.random.default_rng(seed), sum(lengths)
    dependents, heads = rng.normal(size=(2, words, dim)).astype(np.float32)
    return ArcProducts(offsets_of(lengths), dependents, heads, rng.normal(size=words).astype(np.float32))


def tables_of(products: ArcProducts) -> list[np.ndarray]:
    """The log-probabilities of all heads, sentence by sentence."""
    found = []
    for start, end in zip(products.offsets, products.offsets[1:], strict=False):
        scores = products.dependents[start:end].astype(np.float64) @ products.heads[start:end].T.astype(np.float64)
        found.append(log_table(np.concatenate([products.roots[start:end, None], scores], axis=1)))
    return found


def assert_same(found: LikelyHeads, wanted: LikelyHeads) -> None:
    assert (found.heads.dtype, found.logs.dtype) == (np.int32, np.float32)
    assert found.heads.tolist() == wanted.heads.tolist()
    np.testing.assert_allclose(found.logs, wanted.logs, atol=1e-5)


class TestArcProducts:
    def test_a_plain_softmax(self):
        products = random_products(LENGTHS)
        found = products.likeliest()
        assert found.heads.shape == found.logs.shape == (47, MOST_HEADS)
        assert_same(found, likeliest(tables_of(products)))

    def test_no_word_is_its_own_head(self):
        products = random_products(LENGTHS)
        own = np.concatenate([np.arange(1, words + 1) for words in LENGTHS])
        selfish = ArcProducts(products.offsets, products.dependents, 9 * products.dependents, products.roots)
        assert not (selfish.likeliest().heads == own[:, None]).any()
        assert_same(selfish.likeliest(), likeliest(tables_of(selfish)))

    def test_a_sentence_of_one_word_has_the_root_alone(self):
        found = random_products([1]).likeliest()
        assert found.heads.tolist() == [[0, *[-1] * (MOST_HEADS - 1)]]
        assert found.logs.tolist() == [[0, *[-np.inf] * (MOST_HEADS - 1)]]

    def test_of_equal_heads_the_first(self):
        zeros = np.zeros((12, 3), dtype=np.float32)
        found = ArcProducts(offsets_of([12]), zeros, zeros, zeros[:, 0]).likeliest()
        assert found.heads[0].tolist() == [0, 2, 3, 4, 5, 6, 7, 8]
        assert found.heads[11].tolist() == list(range(8))
        np.testing.assert_allclose(np.exp(found.logs), 1 / 12, rtol=1e-5)

    def test_they_are_computed_once(self):
        products = random_products(LENGTHS)
        scores = Scores(products.offsets, {}, arcs=products)
        assert scores.likely_heads is scores.likely_heads

    def test_large_scores(self):
        products = random_products([9])
        large = ArcProducts(products.offsets, 100 * products.dependents, products.heads, 100 * products.roots)
        found, wanted = large.likeliest(), likeliest(tables_of(large))
        assert found.heads.tolist() == wanted.heads.tolist()
        np.testing.assert_allclose(found.logs, wanted.logs, atol=1e-2)


class TestAverage:
    def tables(self, seed: int) -> list[np.ndarray]:
        rng = np.random.default_rng(seed)
        return [random_table(rng, words) for words in (1, 2, 4, 7)]

    def test_means_of_probabilities(self):
        parts = [self.tables(seed) for seed in range(3)]
        shares = [np.mean([np.exp(one) for one in tables], axis=0) for tables in zip(*parts, strict=True)]
        means = [np.log(one, where=one > 0, out=np.full_like(one, -np.inf)) for one in shares]
        assert_same(average_heads([likeliest(tables) for tables in parts]), likeliest(means))

    def test_of_one_it_is_the_same(self):
        one = likeliest(self.tables(1))
        assert_same(average_heads([one]), one)

    def test_a_head_that_is_left_out_has_no_probability_there(self):
        def known(heads: list[int], probabilities: list[float]) -> LikelyHeads:
            return LikelyHeads(np.array([heads], dtype=np.int32), np.log([probabilities]).astype(np.float32))

        found = average_heads([known([3, 1], [0.75, 0.25]), known([1, 2], [0.9, 0.1])])
        assert found.heads[0].tolist() == [1, 3, 2, *[-1] * (MOST_HEADS - 3)]
        assert np.exp(found.logs[0, :3]) == pytest.approx([0.575, 0.375, 0.05])
        assert (found.logs[0, 3:] == -np.inf).all()

    def test_the_parts_stay_as_they_are(self):
        parts = [likeliest(self.tables(seed)) for seed in (1, 2)]
        before = [(part.heads.copy(), part.logs.copy()) for part in parts]
        average_heads(parts)
        for part, (heads, logs) in zip(parts, before, strict=True):
            np.testing.assert_array_equal(part.heads, heads)
            np.testing.assert_array_equal(part.logs, logs)


def test_known_heads_are_as_they_were_given() -> None:
    found = likeliest([random_table(np.random.default_rng(1), 3)])
    assert found.likeliest() is found


def test_a_table_of_all_heads() -> None:
    rng = np.random.default_rng(3)
    short, long = random_table(rng, 3), random_table(rng, 20)
    found = likeliest([short, long])
    table = head_table(found, slice(0, 3))
    assert table.shape == (3, 4)
    own = np.eye(3, 4, 1, dtype=bool)
    assert table[~own] == pytest.approx(short[~own])
    assert (table[own] == 2 * UNLIKELY).all()
    table = head_table(found, slice(3, 23))
    assert ((table > 2 * UNLIKELY).sum(axis=1) == MOST_HEADS).all()
    assert table.argmax(axis=1).tolist() == long.argmax(axis=1).tolist()


@pytest.mark.parametrize("most", [1, 7, 31, 1000])
def test_scores_are_cut_between_sentences(most: int) -> None:
    words, products = sum(LENGTHS), random_products(LENGTHS)
    scores = Scores(products.offsets, {"task": np.arange(2.0 * words).reshape(words, 2)}, arcs=products)
    parts = cut_scores(scores, most)
    lengths = [np.diff(part.offsets).tolist() for part in parts]
    assert [length for own in lengths for length in own] == LENGTHS
    assert all(sum(own) <= most or sum(length > 0 for length in own) == 1 for own in lengths)
    assert np.concatenate([part.labels["task"] for part in parts]).tolist() == scores.labels["task"].tolist()
    heads = np.concatenate([part.arcs.likeliest().heads for part in parts])
    assert heads.tolist() == products.likeliest().heads.tolist()
