"""Lemmas as labels, and those that are known by heart.

A rule says how a lemma is made of its form, so that it makes lemmas of unknown forms as well.

A rule is `casing;before;behind`. The casing says from where on the lemma is in upper and in lower case, counted from
the end in its second half. The other two are scripts for what stands before and behind the longest substring that form
and lemma share in lower case: `>` keeps a character of the form, `-` drops one, `+x` adds an x. Of *women* to *woman*
the rule is `↓0;;-+a>`, of *Running* to *run* `↓0;;----`. Where they share nothing, it is `casing=lemma`.

After the lemma rules of UDPipe 2 (Straka 2018).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache

import numpy as np

from biplanar.data.conllu import EMPTY, LEMMA, Sentence
from biplanar.data.forest import Column, distinct_pairs

UPPER, LOWER = "↑", "↓"
KEEP, DROP, ADD = ">", "-", "+"

_SCRIPT = r"((?:[>-]|\+.)*)"
_RULE = re.compile(rf"((?:[{UPPER}{LOWER}]-?[0-9]+)+)(?:=(.+)|;{_SCRIPT};{_SCRIPT})", re.DOTALL)
_CASE = re.compile(rf"([{UPPER}{LOWER}])(-?[0-9]+)")
_STEP = re.compile(r"[>-]|\+(.)", re.DOTALL)


def make_rule(form: str, lemma: str, *, keeping: bool = True) -> str:
    """The rule that makes this lemma of this form; scripts may keep characters, or else drop and add all."""
    casing, small_form, small_lemma = _casing(lemma), lower(form), lower(lemma)
    matcher = SequenceMatcher(None, small_form, small_lemma, autojunk=False)
    in_form, in_lemma, length = matcher.find_longest_match()  # of the longest ones, the first
    if not length:
        return f"{casing}={small_lemma}"
    before = shortest_script(small_form[:in_form], small_lemma[:in_lemma], keeping)
    behind = shortest_script(small_form[in_form + length :], small_lemma[in_lemma + length :], keeping)
    return f"{casing};{before};{behind}"


@lru_cache(maxsize=1 << 17)
def apply_rule(rule: str, form: str) -> str:
    """The lemma of a form; the form itself where the rule is for longer ones, or would leave nothing."""
    match = _RULE.fullmatch(rule)
    if match is None:
        return form
    casing, lemma, before, behind = match.groups()
    if lemma is None:
        small = lower(form)
        start, end = _taken(before), len(small) - _taken(behind)
        if start > end:
            return form
        lemma = _run(before, small) + small[start:end] + _run(behind, small[end:])
    return _with_casing(lemma, casing) or form


def rule_parts(rule: str) -> list[str]:
    """What a rule is made of: its casing and its scripts, each by its name."""
    match = _RULE.fullmatch(rule)
    if match is None or match[2] is not None:
        return []
    return [f"casing {match[1]}", f"before {match[3]}", f"behind {match[4]}"]


def lower(text: str) -> str:
    """In lower case, but for the few characters that would become several."""
    small = text.lower()
    return small if len(small) == len(text) else "".join([_one(char, char.lower()) for char in text])


def _upper(text: str) -> str:
    large = text.upper()
    return large if len(large) == len(text) else "".join([_one(char, char.upper(), char.title()) for char in text])


def _one(char: str, *changed: str) -> str:
    return next((one for one in changed if len(one) == 1), char)


def shortest_script(source: str, target: str, keeping: bool = True) -> str:
    """The fewest steps that make the target of the source; what is dropped comes before what is added."""
    if not keeping:
        return DROP * len(source) + "".join(ADD + char for char in target)
    # costs[i][j]: of source[i:] to target[j:], without what is kept.
    costs = [[len(source) - i + len(target) - j for j in range(len(target) + 1)] for i in range(len(source) + 1)]
    for i in range(len(source) - 1, -1, -1):
        for j in range(len(target) - 1, -1, -1):
            kept = costs[i + 1][j + 1] if source[i] == target[j] else costs[0][0] + 1
            costs[i][j] = min(kept, costs[i + 1][j] + 1, costs[i][j + 1] + 1)
    i = j = 0
    script = ""
    while i < len(source) or j < len(target):
        if i < len(source) and j < len(target) and source[i] == target[j] and costs[i][j] == costs[i + 1][j + 1]:
            script, i, j = script + KEEP, i + 1, j + 1
        elif i < len(source) and costs[i][j] == costs[i + 1][j] + 1:
            script, i = script + DROP, i + 1
        else:
            script, j = script + ADD + target[j], j + 1
    return script


def _taken(script: str) -> int:
    """How many characters of the form a script keeps or drops."""
    return sum(step[1] is None for step in _STEP.finditer(script))


def _run(script: str, source: str) -> str:
    at, made = 0, ""
    for step in _STEP.finditer(script):
        if step[1] is not None:
            made += step[1]
        else:
            made += source[at] if step[0] == KEEP else ""
            at += 1
    return made


def _casing(lemma: str) -> str:
    small, casing, last = lower(lemma), "", ""
    for place, (char, another) in enumerate(zip(lemma, small, strict=True)):
        case = LOWER if char == another else UPPER
        if case != last:
            casing += f"{case}{place if place <= len(lemma) // 2 else place - len(lemma)}"
            last = case
    return casing or f"{LOWER}0"


def _with_casing(lemma: str, casing: str) -> str:
    if casing == f"{LOWER}0":
        return lemma
    for case, place in _CASE.findall(casing):
        start = max(int(place) + (len(lemma) if place.startswith("-") else 0), 0)
        lemma = lemma[:start] + (_upper if case == UPPER else lower)(lemma[start:])
    return lemma


@dataclass(frozen=True)
class LemmaDictionary:
    """The lemmas of forms that a treebank has with one lemma only, by their tags: by UPOS and form."""

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
