"""Pairs of small documents with the same text, in CoNLL-U: a gold one and what a system may make of it."""

from __future__ import annotations

from random import Random

from hypothesis import strategies as st

from tests.evaluation.drafts import perturbed, random_draft, written

Pair = tuple[str, str]

# Few letters, so that forms are often the same in lower case; one of them becomes two there.
LETTERS = "aaabbABİ."


def _randoms() -> st.SearchStrategy[Random]:
    """Seeds, as drawing each number by itself takes far longer; failures still shrink by their text."""
    return st.integers(0, 1 << 32).map(Random)


def _texts(max_size: int) -> st.SearchStrategy[str]:
    return st.text(LETTERS, min_size=1, max_size=max_size)


@st.composite
def unrelated_pairs(draw: st.DrawFn, max_size: int = 20) -> Pair:
    """Two documents that have nothing in common but their text."""
    text, random = draw(_texts(max_size)), draw(_randoms())
    return written(random_draft(text, random)), written(random_draft(text, random))


@st.composite
def relabeled_pairs(draw: st.DrawFn, max_size: int = 30) -> Pair:
    """Two documents with the same words and sentences."""
    text, random = draw(_texts(max_size)), draw(_randoms())
    gold = random_draft(text, random)
    return written(gold), written(perturbed(gold, random, labels=draw(st.sampled_from([0.0, 0.05, 0.3]))))


@st.composite
def recut_pairs(draw: st.DrawFn, max_size: int = 30) -> Pair:
    """Two documents of which one has other words and sentences here and there."""
    text, random = draw(_texts(max_size)), draw(_randoms())
    gold, rates = random_draft(text, random), st.sampled_from([0.0, 0.1, 0.4])
    return written(gold), written(perturbed(gold, random, labels=0.1, words=draw(rates), sentences=draw(rates)))


def pairs() -> st.SearchStrategy[Pair]:
    """Any of them."""
    return st.one_of(unrelated_pairs(), relabeled_pairs(), recut_pairs())
