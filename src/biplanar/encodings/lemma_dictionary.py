"""Lemmas that are known: those of forms that a treebank has with one lemma only, by their tags."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from biplanar.data.conllu import EMPTY, LEMMA, Sentence
from biplanar.data.forest import Column, distinct_pairs


@dataclass(frozen=True)
class LemmaDictionary:
    """By UPOS and form, the lemma."""

    lemmas: Mapping[str, Mapping[str, str]]

    @classmethod
    def of(cls, sentences: Iterable[Sentence]) -> LemmaDictionary:
        """Of all forms that have one lemma whenever they have a tag, in alphabetical order."""
        seen: dict[str, dict[str, str]] = {}
        for sentence in sentences:
            for tag, form, lemma in zip(sentence.upos, sentence.forms, sentence.column(LEMMA), strict=True):
                own = seen.setdefault(tag, {})
                if own.setdefault(form, lemma) != lemma:
                    own[form] = EMPTY
        known = {
            tag: {form: lemma for form, lemma in sorted(own.items()) if lemma != EMPTY}
            for tag, own in sorted(seen.items())
        }
        return cls({tag: own for tag, own in known.items() if own and tag != EMPTY})

    def __len__(self) -> int:
        return sum(map(len, self.lemmas.values()))

    def look_up(self, lemmas: Column, upos: Column, forms: Column) -> Column:
        """The lemma of each word: that of its tag and form where it is known, else the given one."""
        pairs, numbers = distinct_pairs(upos, forms)
        found = [self.lemmas.get(tag, {}).get(form) for tag, form in pairs]
        known = [lemma for lemma in found if lemma is not None]
        places = np.full(len(found), -1, dtype=np.int32)
        places[[lemma is not None for lemma in found]] = np.arange(len(known)) + len(lemmas.names)
        own = places[numbers]
        return Column(np.where(own < 0, lemmas.ids, own), (*lemmas.names, *known))
