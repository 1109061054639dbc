"""Multiword tokens: rules that make the words of a token's form, as lemma rules do, and a dictionary of known ones."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from biplanar.data.rows import find_misfit
from biplanar.errors import LabelError

# How the parts of a rule begin, each of which makes a word: the form without its last characters, and more; something,
# and the last characters of the form; or the word itself.
_PREFIX, _SUFFIX, _WORD = "<", ">", "="

# Instead of a rule: the words are made like those of the known form that ends most like this one.
BY_ENDING = "*"


def rule_of(form: str, words: Sequence[str]) -> str:
    """How a form becomes its words."""
    first, *others, last = words
    shared, ending = _shared(form, first), _shared(form[::-1], last[::-1])
    parts = [f"{_PREFIX}{len(form) - shared}{_PREFIX}{first[shared:]}" if shared else _WORD + first.lower()]
    parts += [_WORD + word.lower() for word in others]
    parts += [f"{_SUFFIX}{ending}{_SUFFIX}{last[: len(last) - ending]}" if ending else _WORD + last.lower()]
    return " ".join(parts)


def words_of(form: str, rule: str) -> list[str] | None:
    """The words that a rule makes of a form, in its case; None if the form is too short for it."""
    words = []
    for part in rule.split(" "):
        kind, value = part[:1], part[1:]
        if kind not in (_PREFIX, _SUFFIX, _WORD):
            return None
        if kind != _WORD:
            size, _, more = value.partition(kind)
            if not size.isdecimal() or int(size) > len(form):
                return None
            value = form[: len(form) - int(size)] + more if kind == _PREFIX else more + form[len(form) - int(size) :]
        words.append(value)
    if not all(words):
        return None
    return _in_case(words, form)


@dataclass(frozen=True)
class MultiwordTokens:
    """The multiword tokens of a treebank: their words by their form, both in lower case."""

    words: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, tokens: Iterable[tuple[str, Sequence[str]]]) -> MultiwordTokens:
        """The most frequent words of each form."""
        counts: defaultdict[str, Counter[tuple[str, ...]]] = defaultdict(Counter)
        for form, words in tokens:
            counts[form.lower()][tuple(word.lower() for word in words)] += 1
        return cls({form: list(found.most_common(1)[0][0]) for form, found in sorted(counts.items())})

    @classmethod
    def from_dict(cls, values: Any) -> MultiwordTokens:
        """From plain values, each of which is checked."""
        lists: list[Any] = list(values.values()) if isinstance(values, dict) else [None]
        if not all(isinstance(words, list) and len(words) > 1 for words in lists):
            raise LabelError("not lists of words by the forms of multiword tokens")
        if any(not isinstance(word, str) for words in lists for word in words) or any(
            find_misfit(words) is not None for words in lists
        ):
            raise LabelError("a word that is no text, empty, or has a tab or a line end")
        return cls(values)

    def expand(self, form: str, rule: str) -> list[str]:
        """The words of a token: those that are known, or those that the rule makes; else the form itself."""
        if known := self.words.get(form.lower()):
            return _in_case(known, form)
        return words_of(form, self._rule_by_ending(form.lower()) if rule == BY_ENDING else rule) or [form]

    def _rule_by_ending(self, form: str) -> str:
        """Of the known forms that share the longest ending with this one; no rule if none does."""
        return next((self._rules[form[at:]] for at in range(1, len(form)) if form[at:] in self._rules), "")

    @cached_property
    def _rules(self) -> dict[str, str]:
        """The most frequent rule of each ending of known forms, if it is long enough to tell what the rule changes."""
        counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for form, words in self.words.items():
            rule = rule_of(form, words)
            if _WORD not in rule and words_of(form, rule) == list(words):
                for at in range(1, len(form) - _reach(rule) + 1):
                    counts[form[at:]][rule] += 1
        return {ending: found.most_common(1)[0][0] for ending, found in counts.items()}


def _reach(rule: str) -> int:
    """How many of the last characters of a form a rule looks at, if no part of it is a word."""
    return max(int(part[1:].partition(part[0])[0]) for part in rule.split(" "))


def _shared(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _in_case(words: Sequence[str], form: str) -> list[str]:
    """Words of a form that begins with a capital, or is all capitals, have them too."""
    if len(form) > 1 and form.isupper():
        return [word.upper() for word in words]
    if form[:1].isupper():
        return [words[0][:1].upper() + words[0][1:], *words[1:]]
    return list(words)
