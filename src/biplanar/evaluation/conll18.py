"""The metrics of the CoNLL 2018 shared task (Zeman et al. 2018); `udtools` is the reference in the tests."""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache

import numpy as np

from biplanar.data.arrays import Bools, Int64s
from biplanar.data.conllu import FEATS, LEMMA, UPOS, XPOS
from biplanar.evaluation.alignment import Alignment
from biplanar.evaluation.placed import NOWHERE, PlacedText
from biplanar.evaluation.score import Score

# fmt: off
CONTENT_RELATIONS = frozenset([
    "acl", "advcl", "advmod", "amod", "appos", "ccomp", "compound", "conj", "csubj", "dep", "discourse", "dislocated",
    "expl", "fixed", "flat", "goeswith", "iobj", "list", "nmod", "nsubj", "nummod", "obj", "obl", "orphan", "parataxis",
    "reparandum", "root", "vocative", "xcomp",
])
FUNCTION_RELATIONS = frozenset(["aux", "case", "cc", "clf", "cop", "det", "mark"])
UNIVERSAL_FEATURES = frozenset([
    "Abbr", "Animacy", "Aspect", "Case", "Definite", "Degree", "Evident", "Foreign", "Gender", "Mood", "NumType",
    "Number", "Person", "Polarity", "Polite", "Poss", "PronType", "Reflex", "Tense", "VerbForm", "Voice",
])
# fmt: on

# The columns beside HEAD and DEPREL that metrics compare.
COMPARED_COLUMNS = {
    "UPOS": (UPOS,),
    "XPOS": (XPOS,),
    "UFeats": (FEATS,),
    "AllTags": (UPOS, XPOS, FEATS),
    "Lemmas": (LEMMA,),
    "MLAS": (UPOS, FEATS),
    "BLEX": (LEMMA,),
}


def conll18_scores(alignment: Alignment) -> dict[str, Score]:
    """All metrics of the shared task, by their official names."""
    right = right_words(alignment)
    arcs, tagged_arcs = right["LAS"], right["LAS"] & right["UPOS"] & right["UFeats"]
    return {
        "Tokens": _tokens(alignment),
        "Sentences": _sentences(alignment),
        "Words": _words(alignment),
        **{metric: alignment.score(words) for metric, words in right.items()},
        "CLAS": _content_score(alignment, arcs),
        "MLAS": _content_score(alignment, tagged_arcs & _function_words(alignment, tagged_arcs)),
        "BLEX": _content_score(alignment, arcs & right["Lemmas"]),
    }


def right_words(alignment: Alignment) -> dict[str, Bools]:
    """By metric that counts every word: for every pair, whether the system is right."""
    upos, xpos, feats = alignment.agree_in(UPOS), alignment.agree_in(XPOS), _feats(alignment)
    return {
        "UPOS": upos,
        "XPOS": xpos,
        "UFeats": feats,
        "AllTags": upos & xpos & feats,
        "Lemmas": _lemmas(alignment),
        "UAS": alignment.right_heads,
        "LAS": alignment.right_arcs,
    }


def is_applicable(metric: str, alignment: Alignment, predicted: Collection[int] | None = None) -> bool:
    """Whether the system predicted the columns that a metric compares, as far as the gold text has values there.

    `predicted` are the columns that the system predicted; without it, those in which its text has values.
    """

    def is_predicted(column: int) -> bool:
        return alignment.system.has_values(column) if predicted is None else column in predicted

    columns = COMPARED_COLUMNS.get(metric)
    if columns is None:
        return True
    missing = [column for column in columns if not is_predicted(column)]
    return len(missing) < len(columns) and not any(map(alignment.gold.has_values, missing))


def _content_score(alignment: Alignment, right: Bools) -> Score:
    gold, system = (_has_relation(text, CONTENT_RELATIONS) for text in alignment.sides)
    aligned = gold[alignment.gold_at]
    return Score(int((right & aligned).sum()), int(gold.sum()), int(system.sum()), int(aligned.sum()))


def _tokens(alignment: Alignment) -> Score:
    gold, system = ({word[:2] for word in text.words} for text in alignment.sides)
    return Score(len(gold & system), len(gold), len(system))


def _words(alignment: Alignment) -> Score:
    return Score(len(alignment.gold_at), len(alignment.gold.words), len(alignment.system.words))


def _sentences(alignment: Alignment) -> Score:
    twins = int((alignment.twin_sentences != NOWHERE).sum())
    return Score(twins, len(alignment.gold.sentences), len(alignment.system.sentences))


def _feats(alignment: Alignment) -> Bools:
    return alignment.agree(lambda text: [_universal(feats) for feats in text.column(FEATS)])


def _lemmas(alignment: Alignment) -> Bools:
    """Where the gold text has no lemma, any lemma is right."""
    missing = np.array([lemma == "_" for lemma in alignment.gold.column(LEMMA)], dtype=np.bool_)
    return alignment.agree_in(LEMMA) | missing[alignment.gold_at]


@lru_cache(maxsize=1 << 14)
def _universal(feats: str) -> tuple[str, ...]:
    return tuple(sorted(feat for feat in feats.split("|") if feat.partition("=")[0] in UNIVERSAL_FEATURES))


def _has_relation(text: PlacedText, relations: frozenset[str]) -> Bools:
    return np.array([relation in relations for relation in text.relations], dtype=np.bool_)


def _function_words(alignment: Alignment, right: Bools) -> Bools:
    """For every pair, whether its words have the same function words; `right` says which pairs count as the same.

    Both have as many, and just as many pairs of function words are right and hang on this pair.
    """
    gold, system = (_has_relation(text, FUNCTION_RELATIONS) for text in alignment.sides)
    both = alignment.gold_at[right & gold[alignment.gold_at]]
    wanted = _dependents(alignment.gold, np.flatnonzero(gold))[alignment.gold_at]
    found = _dependents(alignment.system, np.flatnonzero(system))[alignment.system_at]
    shared = _dependents(alignment.gold, both)[alignment.gold_at]
    return np.asarray((wanted == found) & (wanted == shared))


def _dependents(text: PlacedText, words: Int64s) -> Int64s:
    """How many of some words hang on each word."""
    heads = text.heads[words]
    return np.bincount(heads[heads >= 0], minlength=len(text.words))
