"""A dependency parser out of scikit-learn classifiers: Biplanar turns trees into labels, and labels back into trees.

    python examples/tag_with_scikit_learn.py [TRAIN.conllu [TEST.conllu]]

Without arguments it learns the few sentences of `tiny.conllu` and is tested on the same ones: a check that all works,
not a measure of anything. The part-of-speech tags are taken from the files, also from the one that is parsed.
Any tagger can stand in the place of the classifiers; it has to give each word a few labels.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from scipy.sparse import csr_matrix
from sklearn.base import ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.feature_extraction import FeatureHasher
from sklearn.linear_model import SGDClassifier

import biplanar

ENCODING = "2p-full"
HASHER = FeatureHasher(n_features=2**18)
TINY = Path(__file__).with_name("tiny.conllu")
WINDOW = 3  # words to each side that a word's labels may depend on

# The tasks of the encoding, one classifier each: the brackets of plane 1, those of plane 2, and the relation.
TASKS = [*biplanar.ENCODINGS[ENCODING].tasks, "deprel"]

Features = dict[str, str]


def features_of(sentences: list[biplanar.Sentence]) -> csr_matrix:
    """What the classifiers know of each word: forms, endings and part-of-speech tags in a window around it."""
    return HASHER.transform(word for sentence in sentences for word in _features_in(sentence))


def _features_in(sentence: biplanar.Sentence) -> list[Features]:
    outside = [("", "")] * WINDOW
    words = [*outside, *zip(sentence.forms, sentence.upos, strict=True), *outside]
    return [_features_at(words[at : at + 2 * WINDOW + 1]) for at in range(len(sentence))]


def _features_at(window: Sequence[tuple[str, str]]) -> Features:
    features = {}
    for place, (form, upos) in enumerate(window, -WINDOW):
        features[f"form {place}"] = form.lower()
        features[f"ending {place}"] = form[-3:].lower()
        features[f"upos {place}"] = upos
    for place, ((_, left), (_, right)) in enumerate(pairwise(window), -WINDOW):
        features[f"upos pair {place}"] = f"{left} {right}"
    features["upos around"] = " ".join(upos for _, upos in window[WINDOW - 1 : WINDOW + 2])
    return features


def train(features: csr_matrix, labels: Sequence[str]) -> ClassifierMixin:
    """A linear classifier for one task. A treebank without crossing arcs has one label only in plane 2."""
    linear = SGDClassifier(loss="log_loss", alpha=1e-5, average=True, max_iter=15, tol=None, random_state=1)
    chosen = linear if len(set(labels)) > 1 else DummyClassifier(strategy="most_frequent")
    return chosen.fit(features, labels)


def train_all(sentences: list[biplanar.Sentence]) -> dict[str, ClassifierMixin]:
    """Trees become rows of labels, one row a word; every column of the rows is a task to learn."""
    rows = biplanar.encode_all([sentence.tree for sentence in sentences], ENCODING)
    columns = zip(*(row for sentence in rows for row in sentence), strict=True)
    features = features_of(sentences)
    return {task: train(features, column) for task, column in zip(TASKS, columns, strict=True)}


def parse(sentences: list[biplanar.Sentence], classifiers: dict[str, ClassifierMixin]) -> list[biplanar.Tree]:
    """Predicted labels become rows again, and rows become trees: `decode_all` makes a valid tree of any labels."""
    features = features_of(sentences)
    predicted = [classifiers[task].predict(features).tolist() for task in TASKS]
    words = zip(*predicted, strict=True)
    rows = [[next(words) for _ in range(len(sentence))] for sentence in sentences]
    return biplanar.decode_all(rows, ENCODING)


def attachment_scores(gold: list[biplanar.Tree], system: list[biplanar.Tree]) -> tuple[float, float]:
    """UAS and LAS in percent, over all words, punctuation and relation subtypes included."""
    words = heads = both = 0
    for one, other in zip(gold, system, strict=True):
        right = [a == b for a, b in zip(one.heads, other.heads, strict=True)]
        words += len(right)
        heads += sum(right)
        both += sum(r and a == b for r, a, b in zip(right, one.deprels, other.deprels, strict=True))
    return 100 * heads / words, 100 * both / words


def main() -> None:
    """Train on one file, parse another, print the scores."""
    parser = argparse.ArgumentParser(description="Parse with scikit-learn classifiers.")
    parser.add_argument("train", nargs="?", type=Path, default=TINY, help="CoNLL-U to learn from, also .gz, .xz, .bz2")
    parser.add_argument("test", nargs="?", type=Path, help="CoNLL-U to parse; the same file if not given")
    options = parser.parse_args()

    training = list(biplanar.read_conllu(options.train))
    testing = list(biplanar.read_conllu(options.test or options.train))
    classifiers = train_all(training)
    trees = parse(testing, classifiers)
    uas, las = attachment_scores([sentence.tree for sentence in testing], trees)
    print(f"{len(training)} sentences to learn from, {len(testing)} parsed: UAS {uas:.2f}, LAS {las:.2f}")


if __name__ == "__main__":
    main()
