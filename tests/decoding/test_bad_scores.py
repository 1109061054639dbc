"""Scores that are NaN, infinite or huge: they are refused, and if they were not, nothing would crash."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import biplanar
from biplanar.decoding import DECODERS
from biplanar.decoding.arcs import ArcProducts
from biplanar.decoding.scores import LikelyHeads, Scores
from biplanar.decoding.tree_decoder import TreeDecoder
from biplanar.encodings import get_encoding
from biplanar.errors import ScoreError
from tests.decoding.made_scores import FOREST, UPOS, MadeScores, noise_like
from tests.reference import is_tree

BAD = np.array([np.nan, np.inf, -np.inf, 3e38, -3e38, 1e30, -1e30], dtype=np.float32)
NAMES = (
    "1p-brackets",
    "2p-full",
    "rel-pos",
    "relative",
    "4-bit",
    "7-bit",
    "hierarchical",
    "hexatags",
    "arc-eager+head",
)
LENGTHS = np.diff(FOREST.offsets).tolist()
every = pytest.mark.parametrize("name", NAMES)


def scores_with(rng: np.random.Generator, made: MadeScores, bad: float) -> tuple[Scores, bool]:
    """Noise with some bad scores, and whether there are any."""
    tables = noise_like(made.tables, int(rng.integers(1 << 30)))
    words = len(FOREST.heads)
    vectors = [rng.normal(size=(words, 3)).astype(np.float32) for _ in range(2)]
    roots = rng.normal(size=words).astype(np.float32)
    spoilt = False
    for table in (*tables.values(), *vectors):
        if rng.random() < bad:
            some = rng.random(table.shape) < rng.choice([0.02, 0.3, 1.0])
            table[some] = rng.choice(BAD, some.sum())
            spoilt |= table is not vectors[0] and table is not vectors[1] and bool(some.any())
    with np.errstate(all="ignore"):
        arcs = ArcProducts(FOREST.offsets, *vectors, roots) if rng.random() < 0.5 else None
        if arcs is not None:
            arcs.likeliest()
    return Scores(FOREST.offsets, tables, arcs=arcs), spoilt


def decode(made: MadeScores, scores: Scores, decoder: str, probabilities: bool) -> np.ndarray:
    how = TreeDecoder(made.inventory, DECODERS[decoder], probabilities=probabilities)
    return how.decode(scores, UPOS).heads


@every
@pytest.mark.parametrize("decoder", DECODERS)
def test_they_are_refused(name: str, decoder: str) -> None:
    made, rng, refused = MadeScores(get_encoding(name)), np.random.default_rng(1), 0
    for _ in range(60):
        scores, spoilt = scores_with(rng, made, 0.2)
        try:
            heads = decode(made, scores, decoder, decoder == "search")
        except ScoreError:
            refused += 1
            continue
        assert not spoilt
        assert all(map(is_tree, np.split(heads, FOREST.offsets[1:-1])))
    assert 10 < refused < 60


@every
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_what_is_not_checked_does_not_crash(name: str, monkeypatch) -> None:
    monkeypatch.setattr("biplanar.decoding.scores.check_finite", lambda *_: None)
    monkeypatch.setattr(Scores, "likely_heads", property(lambda one: one.arcs and one.arcs.likeliest()))
    made, rng = MadeScores(get_encoding(name)), np.random.default_rng(2)
    longest = np.repeat(LENGTHS, LENGTHS)
    for number in range(120):
        scores, _ = scores_with(rng, made, 0.7)
        decoder = list(DECODERS)[number % len(DECODERS)]
        heads = decode(made, scores, decoder, True)
        assert ((heads >= 0) & (heads <= longest)).all()


@every
def test_large_scores_are_decoded(name: str) -> None:
    made, rng = MadeScores(get_encoding(name)), np.random.default_rng(3)
    for decoder in DECODERS:
        scores, _ = scores_with(rng, made, 0.0)
        large = Scores(scores.offsets, {task: 1e12 * table for task, table in scores.labels.items()}, arcs=scores.arcs)
        assert all(map(is_tree, np.split(decode(made, large, decoder, True), FOREST.offsets[1:-1])))


def test_arcs_and_relations_are_checked_too() -> None:
    made = MadeScores(get_encoding("2p-full"))
    nothing = LikelyHeads(np.zeros((9, 1), dtype=np.int32), np.full((9, 1), np.nan, dtype=np.float32))
    with pytest.raises(ScoreError, match="arcs"):
        TreeDecoder(made.inventory).decode(Scores(FOREST.offsets, made.tables, arcs=nothing))
    with pytest.raises(ScoreError, match="relations"):
        TreeDecoder(made.inventory).decode(made.scores(lambda _: made.tables["deprel"] * np.float32(np.nan)))


def test_the_error_names_the_model(monkeypatch) -> None:
    parser = biplanar.load()
    score = parser.scorer.score

    def spoil(forms: object, batch: object) -> Scores:
        scores = score(forms, batch)
        return Scores(scores.offsets, {task: table * np.float32(np.inf) for task, table in scores.labels.items()})

    monkeypatch.setattr(type(parser.scorer), "score", lambda _, forms, batch: spoil(forms, batch))
    words = [["Nobody", "came", "."]]
    for parse in (lambda: parser(words), lambda: parser.best_trees(words, 2)):
        with np.errstate(all="ignore"), pytest.raises(ScoreError, match=Path(parser.folder.path).name):
            parse()
