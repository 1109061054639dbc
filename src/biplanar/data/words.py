"""Words and tokens of a sentence, which know their sentence, and the white space around tokens as MISC has it."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from biplanar.data.graph import EnhancedHead, parse_deps
from biplanar.errors import BiplanarError, GraphError

if TYPE_CHECKING:
    from biplanar.data.sentence import Sentence

# What MISC calls the probability of a word's head.
PROBABILITY = "HeadProb"

# How UDPipe writes white space, and what would end an item of MISC, in the values of SpacesAfter and its like.
_ESCAPES = {" ": r"\s", "\t": r"\t", "\r": r"\r", "\n": r"\n", "|": r"\p", "\\": r"\\"}
_ESCAPED = str.maketrans(_ESCAPES)
_UNESCAPED = {escape: sign for sign, escape in _ESCAPES.items()}
_ESCAPE = re.compile(r"\\[strnp\\]")


class _Member:
    """A word or a token of a sentence, which sets `_sentence`."""

    form: str

    @property
    def text(self) -> str:
        """Its form."""
        return self.form

    @property
    def sentence(self) -> Sentence:
        """The sentence that it belongs to; one that was made by hand has none."""
        found: Sentence | None = self.__dict__.get("_sentence")
        if found is None:
            raise BiplanarError(f"this {type(self).__name__.lower()} is of no sentence")
        return found

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"cannot set {name!r}: words and tokens are immutable")


class _WordColumns(NamedTuple):
    id: int
    form: str
    lemma: str
    upos: str
    xpos: str
    feats: str
    head: int | None
    deprel: str
    deps: str
    misc: str


class Word(_Member, _WordColumns):
    """One word line; `head` is None in a sentence that has not been parsed."""

    def __repr__(self) -> str:
        arc = "" if self.head is None else f" {self.deprel} of {self.head}"
        return f"<Word {self.id} {self.form!r} {self.upos}{arc}>"

    @property
    def features(self) -> dict[str, str]:
        """FEATS by their names."""
        return parse_feats(self.feats)

    @property
    def head_probability(self) -> float | None:
        """How likely its head is, where it was parsed with probabilities."""
        value = misc_items(self.misc).get(PROBABILITY)
        return None if value is None else float(value)

    @property
    def parent(self) -> Word | None:
        """The word that it depends on; None for a root, and where there is no tree."""
        return self.sentence[self.head - 1] if self.head else None

    @property
    def children(self) -> list[Word]:
        """The words that depend on it, from left to right."""
        return [self.sentence[at - 1] for at in self.sentence.dependents[self.id]]

    @property
    def enhanced_heads(self) -> list[EnhancedHead]:
        """Its heads in the enhanced graph, with their relations; none where there is no graph."""
        graph = self.sentence.graph
        return list(graph.heads[self.id - 1]) if graph else []

    @property
    def lefts(self) -> list[Word]:
        """The words before it that depend on it, from left to right."""
        return [child for child in self.children if child.id < self.id]

    @property
    def rights(self) -> list[Word]:
        """The words behind it that depend on it, from left to right."""
        return [child for child in self.children if child.id > self.id]

    @property
    def ancestors(self) -> list[Word]:
        """The words above it, from its head to the root."""
        heads, found = self.sentence.tree.heads, list[Word]()
        above = heads[self.id - 1]
        while above:
            found.append(self.sentence[above - 1])
            above = heads[above - 1]
        return found

    @property
    def subtree(self) -> list[Word]:
        """Itself and all words below it, from left to right."""
        found, waiting = [], [self.id]
        while waiting:
            found.append(waiting.pop())
            waiting += self.sentence.dependents[found[-1]]
        return [self.sentence[at - 1] for at in sorted(found)]

    @property
    def token(self) -> Token:
        """The token that it is, or is a part of."""
        return next(token for token in self.sentence.tokens if token.first <= self.id <= token.last)

    @property
    def start_char(self) -> int:
        """Where its token begins in the document's text."""
        return self.sentence.ranges[self.id - 1][0]

    @property
    def end_char(self) -> int:
        """Where its token ends in the document's text."""
        return self.sentence.ranges[self.id - 1][1]

    def to_dict(self) -> dict[str, Any]:
        """All columns by their names, the enhanced heads where DEPS has any, and the head's probability if known."""
        columns = self._asdict()
        if self.deps != "_":
            with suppress(GraphError):  # what is no graph stands in `deps`
                columns["enhanced_heads"] = list(parse_deps(self.deps, self.id))
        if PROBABILITY in self.misc and (probability := self.head_probability) is not None:
            columns["head_probability"] = probability
        return columns


class _TokenColumns(NamedTuple):
    first: int
    last: int
    form: str
    misc: str
    is_multiword: bool


class Token(_Member, _TokenColumns):
    """What stands in the text: a word, or a multiword token with the words from `first` to `last`."""

    def __repr__(self) -> str:
        return f"<Token {'-'.join(map(str, self.id))} {self.form!r}>"

    @property
    def id(self) -> tuple[int, ...]:
        """The number of its word, or those of the first and the last one."""
        return (self.first, self.last) if self.is_multiword else (self.first,)

    @property
    def words(self) -> list[Word]:
        """The words that it is made of."""
        return self.sentence[self.first - 1 : self.last]

    @property
    def space_after(self) -> bool:
        """Whether a space follows in the text."""
        return "SpaceAfter=No" not in self.misc.split("|")

    @property
    def spaced(self) -> tuple[str, str, str]:
        """The white space before it, itself as it stands in the text, and the white space behind it."""
        if self.misc == "_":
            return "", self.form, " "
        items = misc_items(self.misc)
        behind = items.get("SpacesAfter", "" if items.get("SpaceAfter") == "No" else " ")
        own = unescape_spaces(items["SpacesInToken"]) if "SpacesInToken" in items else self.form
        return unescape_spaces(items.get("SpacesBefore", "")), own, unescape_spaces(behind)

    @property
    def start_char(self) -> int:
        """Where it begins in the document's text."""
        return self.sentence.ranges[self.first - 1][0]

    @property
    def end_char(self) -> int:
        """Where it ends in the document's text."""
        return self.sentence.ranges[self.first - 1][1]

    @property
    def given_range(self) -> tuple[int, int] | None:
        """Where it begins and ends as MISC says: `TokenRange`, or `start_char` and `end_char` as Stanza writes them."""
        if "TokenRange=" not in self.misc and "start_char=" not in self.misc:
            return None
        items = misc_items(self.misc)
        start, _, end = items.get("TokenRange", f"{items.get('start_char')}:{items.get('end_char')}").partition(":")
        return (int(start), int(end)) if start.isdecimal() and end.isdecimal() else None


def parse_feats(feats: str) -> dict[str, str]:
    """The features of a FEATS column by their names."""
    return dict(feature.partition("=")[::2] for feature in feats.split("|") if feats != "_")


def misc_items(misc: str) -> dict[str, str]:
    """The values of a MISC column by their names; the first of a name counts."""
    return dict(item.partition("=")[::2] for item in reversed(misc.split("|")))


def space_items(after: str, before: str = "", token: str = "") -> list[str]:
    """What MISC says of the white space behind a token, before it, and in it; rare kinds of space stay as they are."""
    items = [f"SpacesBefore={before.translate(_ESCAPED)}"] if before else []
    if after != " ":
        items.append(f"SpacesAfter={after.translate(_ESCAPED)}" if after else "SpaceAfter=No")
    return [*items, f"SpacesInToken={token.translate(_ESCAPED)}"] if token else items


def unescape_spaces(value: str) -> str:
    """The white space, or the token, that such a value stands for."""
    return _ESCAPE.sub(lambda found: _UNESCAPED[found[0]], value) if "\\" in value else value
