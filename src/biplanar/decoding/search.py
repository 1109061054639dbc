"""The searches, by the kind of labels. To add one for another kind is a subclass, and one line here."""

from __future__ import annotations

from biplanar.decoding.automaton_search import AutomatonSearch
from biplanar.decoding.head_search import HeadSearch
from biplanar.decoding.sentences import ScoredSentences
from biplanar.decoding.stack_search import StackSearch
from biplanar.encodings.encoding import AUTOMATON, HEADS, STACKS, Encoding, kind_of

SEARCHES: dict[str | None, type[ScoredSentences]] = {STACKS: StackSearch, HEADS: HeadSearch, AUTOMATON: AutomatonSearch}


def is_searchable(encoding: Encoding) -> bool:
    """Whether there is a search for the kind of labels."""
    return kind_of(encoding) in SEARCHES


def finds_several_trees(encoding: Encoding) -> bool:
    """Whether several trees of a sentence can be found."""
    return SEARCHES.get(kind_of(encoding), ScoredSentences).finds_several
