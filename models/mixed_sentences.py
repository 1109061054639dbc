"""Sentences of a treebank with exchanged phrases: text for teachers to parse, where there is little other.

    python -m models.mixed_sentences train.conllu mixed.conllu [--times 5] [--seed 1]

Some phrases of each sentence (a word with all below it) give way to others of the treebank, whose words have the same
relation, tag and features. The new sentences mostly follow the grammar, and mean nothing. They have words only.
"""

from __future__ import annotations

import argparse
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from study.common import command

from biplanar.data.conllu import Sentence, read_conllu
from biplanar.data.files import writing
from biplanar.errors import BiplanarError

EXCHANGED = 0.3  # the share of phrases that give way
LONGEST = 10  # words of a phrase

Kind = tuple[str, ...]
PROPER, PUNCTUATION = "PROPN", "PUNCT"


@dataclass(frozen=True)
class Phrase:
    """The words below one word, itself among them, and what it is in its sentence."""

    kind: Kind
    first: int  # its place in the sentence
    forms: tuple[str, ...]


def phrases_of(sentence: Sentence) -> Iterator[Phrase]:
    """Those that are stretches of words, the longer ones first; neither punctuation nor the whole sentence is one."""
    words = sentence.words
    lowered = words[0].form.lower() if words[0].upos != PROPER else words[0].form
    forms = (lowered, *sentence.forms[1:])
    below = [[one.id for one in word.subtree] for word in words]
    for word, ids in sorted(zip(words, below, strict=True), key=lambda pair: -len(pair[1])):
        is_stretch = ids[-1] - ids[0] + 1 == len(ids)
        if is_stretch and len(ids) <= min(LONGEST, len(words) - 1) and word.upos != PUNCTUATION:
            yield Phrase((word.deprel, word.upos, word.feats), ids[0] - 1, forms[ids[0] - 1 : ids[-1]])


def mix(sentences: Iterable[Sentence], times: int, seed: int) -> Iterator[list[str]]:
    """`times` new sentences for each."""
    rng, known = random.Random(seed), [(sentence.forms, list(phrases_of(sentence))) for sentence in sentences]
    by_kind = defaultdict[Kind, list[tuple[str, ...]]](list)
    for phrase in chain.from_iterable(phrases for _, phrases in known):
        by_kind[phrase.kind].append(phrase.forms)
    for _ in range(times):
        for forms, phrases in known:
            yield _exchanged(forms, phrases, by_kind, rng)


def _exchanged(
    forms: Sequence[str], phrases: Iterable[Phrase], others: dict[Kind, list[tuple[str, ...]]], rng: random.Random
) -> list[str]:
    parts, taken = [[form] for form in forms], set[int]()
    for phrase in phrases:
        own = range(phrase.first, phrase.first + len(phrase.forms))
        if rng.random() < EXCHANGED and taken.isdisjoint(own):
            taken.update(own)
            parts[own.start : own.stop] = [list(rng.choice(others[phrase.kind])), *([] for _ in own[1:])]
    first, *rest = chain.from_iterable(parts)
    return [first[:1].upper() + first[1:] if forms[0][:1].isupper() else first, *rest]


def main(arguments: Sequence[str]) -> None:
    """Write them."""
    parser = argparse.ArgumentParser(prog="python -m models.mixed_sentences", description="Exchange phrases.")
    parser.add_argument("treebank", type=Path, help="parsed CoNLL-U")
    parser.add_argument("output", type=Path, help="CoNLL-U with words only")
    parser.add_argument("--times", type=int, default=5, help="how many new sentences for each")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    if given.times < 1:
        raise BiplanarError("--times must be at least 1")
    write_mixed(read_conllu(given.treebank), given.output, given.times, given.seed)


def write_mixed(sentences: Iterable[Sentence], path: Path, times: int, seed: int) -> None:
    """To a file."""
    with writing(path) as stream:
        stream.writelines(Sentence.from_words(forms).raw for forms in mix(sentences, times, seed))


if __name__ == "__main__":
    command(main, "mixed_sentences")
