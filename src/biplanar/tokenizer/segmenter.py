"""Raw text to sentences and words: a tagger over units of the text says where tokens and sentences end."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise
from typing import Any

import numpy as np

from biplanar.data.arrays import Bools, Float32s, Int64s
from biplanar.data.conllu import Sentence, parse_conllu
from biplanar.data.conllu_bytes import ConlluTable
from biplanar.data.forest import offsets_of
from biplanar.errors import BiplanarError, UnknownNameError
from biplanar.tagger.features import Corpus, batches_by_words
from biplanar.tagger.predict import Scorer
from biplanar.tokenizer.labels import TASKS, decode_tokens
from biplanar.tokenizer.multiword import MultiwordTokens
from biplanar.tokenizer.paragraphs import paragraphs_of, paragraphs_of_text, spaces_after, writable
from biplanar.tokenizer.segmented import SegmentedText, Spacing, TextPart
from biplanar.tokenizer.units import MARKS, NEW_LINE, Units

# What a line break is: a hint that the network weighs, the end of a sentence, or the only end of sentences.
LINE_BREAKS = HINT, ENDS, ONLY = "hint", "sentence", "only"

# Units that are looked at together, and how many of these are there for the sake of others only, on either side.
WINDOW, MARGIN = 480, 24

_CLOSING = tuple(".,;:!?…)]}%”’»")  # what no space stands before, in most texts

# Units of a batch, on a CPU core.
BATCH_UNITS = 1_500


class Segmenter(ABC):
    """Cuts text into sentences and words."""

    has_tagger = False

    def tag(self, sentences: Iterable[Sentence]) -> list[Sentence]:  # noqa: ARG002
        """The same sentences with tags, by a segmenter that has a tagger."""
        raise BiplanarError("this model's segmenter has no tagger")

    @abstractmethod
    def cut(self, paragraphs: Sequence[str], line_breaks: str = HINT) -> SegmentedText:
        """The tokens of some paragraphs, beyond which no sentence goes on."""

    def segment(self, text: str, **options: Any) -> list[Sentence]:
        """The sentences of a text, with the options of `stream`."""
        return list(self.stream([text], **options))

    def segment_all(self, texts: Sequence[str], **options: Any) -> list[list[Sentence]]:
        """The sentences of each of some texts, which are cut together; with the options of `stream`."""
        line_breaks = options.pop("line_breaks", HINT)
        parts = [TextPart(paragraphs_of_text(text, lines=line_breaks == ONLY)) for text in texts]
        table, counts = self.to_table(parts, Spacing(**options), line_breaks)
        sentences = iter([] if table is None else parse_conllu(table.data.decode()))
        return [list(islice(sentences, count)) for count in counts]

    def sentence_ends(self, texts: Sequence[Sequence[str]]) -> list[Bools]:
        """With which tokens of each text sentences end, where tokens are given, each with the white space behind it."""
        joined = ["".join(tokens) for tokens in texts]
        joined = [" " + text[1:] if text.startswith("\ufeff") else text for text in joined]  # or it would be dropped
        found = self.cut([writable(paragraph) for text in joined for paragraph in paragraphs_of_text(text)])
        lasts = found.tokens.ends[found.tokens.closes]  # the last characters of sentences
        ends = np.cumsum([len(token) for tokens in texts for token in tokens])
        closing = np.zeros(len(ends), dtype=bool)
        closing[np.searchsorted(ends, lasts)] = True
        return np.split(closing, np.cumsum([len(tokens) for tokens in texts])[:-1])

    def sentences_of_tokens(self, tokens: Sequence[str]) -> list[list[str]]:
        """Given tokens of a text, cut into sentences; it is looked at with spaces between them, but for punctuation."""
        following = [*(token[:1] in _CLOSING for token in tokens[1:]), False]
        spaced = [token if glued else f"{token} " for token, glued in zip(tokens, following, strict=False)]
        (ends,) = self.sentence_ends([spaced])
        bounds = [0, *(np.flatnonzero(ends) + 1).tolist()]
        return [list(tokens[start:end]) for start, end in pairwise(bounds)]

    def stream(
        self,
        chunks: Iterable[str],
        *,
        line_breaks: str = HINT,
        normalized_spaces: bool = False,
        ranges: bool = False,
        size: int | None = None,
    ) -> Iterator[Sentence]:
        """The sentences of a text that comes in chunks (lines with their ends, or any others) and may be of any size.

        How the text is cut into chunks makes no difference. Each paragraph is looked at by itself, as no sentence goes
        on over a blank line. MISC keeps all white space (`raw_text.original_text`).

        A line break is a `hint`, ends a `sentence`, or is the `only` end of sentences. With `normalized_spaces`, MISC
        only tells whether a space follows; with `ranges`, also which characters of the text a token is
        (`TokenRange=start:end`). About `size` characters are cut together.
        """
        before, start, count = "", 0, 0
        for paragraphs in paragraphs_of(chunks, lines=line_breaks == ONLY, size=size):
            part = TextPart(paragraphs, before, start, lambda number, count=count: str(number + count))  # type: ignore[misc]
            table, (found,) = self.to_table([part], Spacing(normalized_spaces, ranges), line_breaks)
            if table is not None:
                yield from parse_conllu(table.data.decode())
            count += found
            before = spaces_after(before, paragraphs)
            start += sum(map(len, paragraphs))

    def to_table(
        self, parts: Sequence[TextPart], spacing: Spacing, line_breaks: str = HINT
    ) -> tuple[ConlluTable | None, list[int]]:
        """The sentences of some parts of texts, None if there are none; and how many each part has."""
        if line_breaks not in LINE_BREAKS:
            raise UnknownNameError("meaning of line breaks", line_breaks, LINE_BREAKS)
        found = self.cut([writable(one) for part in parts for one in part.paragraphs], line_breaks)
        return found.to_table(parts, spacing), found.sentence_counts(parts)


@dataclass(frozen=True)
class UnitTagger(Segmenter):
    """A network over units of text."""

    scorer: Scorer
    names: Mapping[str, Sequence[str]]  # the labels of each task
    multiword: MultiwordTokens = field(default_factory=MultiwordTokens)
    batch_units: int = BATCH_UNITS
    case_marks: bool = True  # whether it was trained on units with them

    def cut(self, paragraphs: Sequence[str], line_breaks: str = HINT) -> SegmentedText:
        """The tokens of some paragraphs."""
        units = Units.of(paragraphs, case_marks=self.case_marks)
        tokens = decode_tokens(
            units,
            self._scores(units),
            self.names,
            ends_sentence=_ends(units, line_breaks),
            line_is_sentence=line_breaks == ONLY,
        )
        text = "".join(paragraphs)
        expanded = (
            (token, self.multiword.expand(text[tokens.starts[token] : tokens.ends[token]], rule))
            for token, rule in tokens.rules
        )
        return SegmentedText(paragraphs, tokens, {token: words for token, words in expanded if len(words) > 1})

    def _scores(self, units: Units) -> dict[str, Float32s]:
        """The scores of all units by task, from windows in which each has others on both sides."""
        tables = {task: np.zeros((len(units), len(self.names[task])), dtype=np.float32) for task in TASKS}
        if not len(units):
            return tables
        places, offsets, is_core = _windows(units.offsets)
        corpus = Corpus(units.forms, units.numbers[places], offsets)
        forms = self.scorer.represent(corpus.forms)
        order = np.argsort(-corpus.lengths, kind="stable")
        for chosen in batches_by_words(corpus.lengths, self.batch_units, order):
            found = self.scorer.score(forms, corpus.batch(chosen)).labels
            at = corpus.places(chosen)
            core = is_core[at]
            own = places[at][core]
            for task, table in tables.items():
                table[own] = found[task][core]
        return tables


def _ends(units: Units, line_breaks: str) -> Bools:
    """With which units sentences end in any case."""
    ends = np.zeros(len(units), dtype=bool)
    ends[units.offsets[1:][units.offsets[1:] > units.offsets[:-1]] - 1] = True
    if line_breaks != HINT:
        ends[:-1] |= units.marks[1:] == MARKS.index(NEW_LINE)
    return ends


def _windows(offsets: Int64s) -> tuple[Int64s, Int64s, Bools]:
    """The units of all windows end to end, where these begin, and which units are not there for others only."""
    lengths = np.diff(offsets)
    steps = np.where(lengths <= WINDOW, WINDOW, WINDOW - 2 * MARGIN)
    counts = -(-lengths // steps)
    starts, ends, steps = (np.repeat(bound, counts) for bound in (offsets[:-1], offsets[1:], steps))
    firsts = starts + (np.arange(len(starts)) - np.repeat(np.cumsum(counts) - counts, counts)) * steps
    starts = np.maximum(starts, firsts - MARGIN)
    sizes = np.minimum(ends, firsts + steps + MARGIN) - starts
    of_windows = offsets_of(sizes)
    places = np.arange(of_windows[-1]) + np.repeat(starts - of_windows[:-1], sizes)
    within = places - np.repeat(firsts, sizes)
    return places, of_windows, (within >= 0) & (within < np.repeat(steps, sizes))
