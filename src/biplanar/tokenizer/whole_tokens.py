"""What the network must not cut: abbreviations, web addresses, hashtags, emoticons.

They are masked: UDPipe is given as many other characters, which it does not cut. A period that it does not see ends no
sentence.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path

from biplanar.data.conllu import Sentence, Token
from biplanar.data.raw_text import token_text
from biplanar.errors import FileError

# An abbreviation is learned if a treebank has it so often inside sentences, and so rarely at their end.
LEAST_INSIDE, MOST_FINAL = 2, 0.1

_ABBREVIATION = re.compile(r"[^\W\d_]{2,}\.")  # initials are left to the network, which knows them
_PERIOD = re.compile(r"\.(?=\s+(\S))")
_LONGEST = 20  # characters of an abbreviation
_OPENING = "([{<\"'“‘„«"

_AFTER_SPACE = r"(?<!\S)"
_URL = re.compile(r"\b(?:(?:https?|ftp)://|www\.)[^\s<>\"]*[^\s<>\"'.,;:!?()\[\]{}…“”‘’]")
_NOT_IN_URL = re.compile(r"[^A-Za-z0-9./:]")
_HASHTAG = re.compile(rf"{_AFTER_SPACE}[(\"'“‘]?#([^\W\d_]\w*)")
_NAME = re.compile(rf"{_AFTER_SPACE}[(\"'“‘]?@([^\W\d_]\w*)")
_EMOTICON = re.compile(  # what may come before is looked at after the first character, which is faster
    r"[:;=(<](?<!\S.)(?:(?<=[:;=])[-']?[()\[\]DPpOo/\\|*]|(?<=\()[:;=]|(?<=<)3)(?=[\s.,!?)]|$)"
)


def whole_tokens_path(model: str | Path) -> Path:
    """Where it lies: beside the model of UDPipe."""
    return Path(model).with_suffix(".json")


Edit = tuple[int, str]  # where, and what is written there


@dataclass(frozen=True)
class Pattern:
    """Tokens of one kind."""

    expression: re.Pattern[str]
    triggers: tuple[str, ...]  # without one of which there are none
    mask: Callable[[str], str]
    needs_evidence: bool = False  # a network that has never seen one does not know its mask either


PATTERNS = {
    "url": Pattern(_URL, ("://", "www."), lambda token: _NOT_IN_URL.sub("x", token)),
    "hashtag": Pattern(_HASHTAG, ("#",), lambda token: "x" * len(token)),
    "name": Pattern(_NAME, ("@",), lambda token: "x" * len(token)),
    "emoticon": Pattern(
        _EMOTICON, tuple(":;=(<"), lambda token: ":)" if len(token) == 2 else ":PP", needs_evidence=True
    ),
}


@dataclass(frozen=True)
class WholeTokens:
    """What stays whole, as learned from a treebank."""

    titles: tuple[str, ...] = ()  # abbreviations that end no sentence
    abbreviations: tuple[str, ...] = ()  # those that end none unless a capital letter follows
    patterns: tuple[str, ...] = ()  # names in `PATTERNS`

    @classmethod
    def learn(cls, sentences: Iterable[Sentence]) -> WholeTokens:
        """Abbreviations that stand inside sentences, and kinds of tokens that the treebank does not cut."""
        inside, final, before_capitals, whole, cut = (Counter[str]() for _ in range(5))
        for sentence in sentences:
            tokens = sentence.tokens
            for token, following in zip(tokens, [*tokens[1:], None], strict=True):
                if _ABBREVIATION.fullmatch(token.form):
                    (inside if following else final)[token.form] += 1
                    before_capitals[token.form] += following is not None and following.form[0].isupper()
                elif following and following.form == "." and not token.space_after:
                    final[f"{token.form}."] += 1
            _count_patterns(sentence, tokens, whole, cut)
        frequent = sorted(form for form, count in inside.items() if count >= LEAST_INSIDE)
        learned = [form for form in frequent if final[form] <= MOST_FINAL * inside[form]]
        titles = tuple(form for form in learned if before_capitals[form])
        others = tuple(form for form in learned if not before_capitals[form])
        known = (name for name, one in PATTERNS.items() if whole[name] or not one.needs_evidence)
        return cls(titles, others, tuple(name for name in known if whole[name] >= cut[name]))

    @classmethod
    def load(cls, path: Path) -> WholeTokens:
        """Read what `to_json` has written; if there is no such file, nothing is masked."""
        if not path.exists():
            return cls()
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
            lists = {name: tuple(values[name]) for name in asdict(cls())}
            if not all(isinstance(one, str) for one in chain(*lists.values())):
                raise TypeError("other values than lists of text")
        except OSError as error:
            raise FileError(f"{path}: {error.strerror or error}") from error
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise FileError(f"{path}: truncated or corrupt ({error})") from error
        if unknown := set(lists["patterns"]) - set(PATTERNS):
            raise FileError(f"{path}: unknown patterns: {', '.join(sorted(unknown))}")
        return cls(**lists)

    def to_json(self) -> str:
        """As `load` reads it."""
        return json.dumps(asdict(self), ensure_ascii=False, indent=1) + "\n"

    def mask(self, text: str) -> str:
        """The same text, as long as before, with all of these masked."""
        parts, end = list[str](), 0
        for start, mask in sorted([*self._abbreviation_edits(text), *self._pattern_edits(text)]):
            if start >= end:  # else it is part of another token that is masked
                parts += text[end:start], mask
                end = start + len(mask)
        return "".join([*parts, text[end:]]) if parts else text

    def _abbreviation_edits(self, text: str) -> Iterator[Edit]:
        """Their periods become letters."""
        if not (self.titles or self.abbreviations):
            return
        titles, abbreviations = set(self.titles), set(self.abbreviations)
        for period in _PERIOD.finditer(text):
            at = period.start()
            word = text[max(0, at - _LONGEST) : at + 1].split()[-1].lstrip(_OPENING)
            if word in titles or (word in abbreviations and not period[1].isupper()):
                yield at, text[at - 1]

    def _pattern_edits(self, text: str) -> Iterator[Edit]:
        for name in self.patterns:
            pattern = PATTERNS[name]
            if any(trigger in text for trigger in pattern.triggers):
                for found in pattern.expression.finditer(text):
                    start = _start(found)
                    yield start, pattern.mask(text[start : found.end()])


def _start(found: re.Match[str]) -> int:
    """Where the token itself starts: if its name is a group, at the sign before it."""
    return found.start(1) - 1 if found.lastindex else found.start()


def _count_patterns(sentence: Sentence, tokens: list[Token], whole: Counter[str], cut: Counter[str]) -> None:
    """How often tokens of each kind are one token in a sentence, and how often several."""
    text = token_text(sentence)
    found = {name: list(pattern.expression.finditer(text)) for name, pattern in PATTERNS.items()}
    if not any(found.values()):
        return
    places, at = set[tuple[int, int]](), 0
    for token in tokens:
        at = text.find(token.form, at)
        places.add((at, at + len(token.form)))
        at += len(token.form)
    for name, matches in found.items():
        for match in matches:
            (whole if (_start(match), match.end()) in places else cut)[name] += 1
