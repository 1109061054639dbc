"""Columns of CoNLL-U under the words of a picture: tags, features, lemmas."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from biplanar.data.conllu import FEATS, LEMMA, UPOS, XPOS, Sentence
from biplanar.draw.layout import Rows
from biplanar.errors import UnknownNameError

COLUMNS = {"upos": UPOS, "xpos": XPOS, "feats": FEATS, "lemma": LEMMA}


def check_columns(names: Iterable[str]) -> None:
    """Raise an error if one of the names is that of no column."""
    for name in names:
        if name not in COLUMNS:
            raise UnknownNameError("column", name, COLUMNS)


def columns_of(sentence: Sentence, names: Iterable[str]) -> dict[str, list[str]]:
    """Some columns of a sentence by their names: `upos`, `xpos`, `feats`, `lemma`."""
    names = list(names)
    check_columns(names)
    return {name: sentence.column(COLUMNS[name]) for name in names}


def compared_columns(gold: Rows, system: Rows) -> dict[str, list[str]]:
    """The gold values; where the system has another, both: `NOUN vs VERB`, and of features `Case=Nom vs Acc`."""
    return {
        name: [
            (_both_feats if name == "feats" else _both)(*pair) for pair in zip(gold[name], system[name], strict=True)
        ]
        for name in gold
    }


def column_rows(columns: Rows, *, whole_feats: bool = False) -> dict[str, tuple[str, ...]]:
    """A row for each column, and one for each feature in the place of `feats`; what has no values has no row."""
    rows: dict[str, Sequence[str]] = {}
    for name, values in columns.items():
        rows |= _feature_rows(values) if name == "feats" and not whole_feats else {name: values}
    shown = {name: tuple("" if value == "_" else value for value in row) for name, row in rows.items()}
    return {name: row for name, row in shown.items() if any(row)}


def _feature_rows(column: Sequence[str]) -> dict[str, list[str]]:
    """For each feature, in the order of the alphabet, its value at each word or `_`."""
    words = [_features(feats) for feats in column]
    names = sorted({name for features in words for name in features}, key=lambda name: (name.lower(), name))
    return {name: [features.get(name, "_") for features in words] for name in names}


def _features(feats: str) -> dict[str, str]:
    pairs = (feature.partition("=") for feature in feats.split("|") if feats != "_")
    return {name: value for name, _, value in pairs}


def _both(gold: str, system: str) -> str:
    return gold if gold == system else f"{gold} vs {system}"


def _both_feats(gold: str, system: str) -> str:
    wanted, found = _features(gold), _features(system)
    pairs = {name: _both(wanted.get(name, "_"), found.get(name, "_")) for name in wanted | found}
    return "|".join(f"{name}={value}" for name, value in pairs.items()) or "_"
