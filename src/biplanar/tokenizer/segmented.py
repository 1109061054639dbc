"""Text that has been cut: where its tokens and sentences are, and how they are written as CoNLL-U."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from biplanar.data.arrays import Bools, Int64s
from biplanar.data.conllu import EMPTY
from biplanar.data.conllu_bytes import ConlluTable
from biplanar.data.forest import Column, number_stretches, offsets_of
from biplanar.data.words import space_items
from biplanar.tokenizer.labels import Tokens
from biplanar.tokenizer.paragraphs import spaces_after
from biplanar.tokenizer.units import Codes, code_points

NO_SPACE = "SpaceAfter=No"
_SPACES = re.compile(r"\s+")


@dataclass(frozen=True)
class TextPart:
    """Some paragraphs of a text, and what matters of the text before them."""

    paragraphs: Sequence[str]
    before: str = ""  # what stands before them, as far as it matters (`spaces_after`); nothing: the text begins here
    start: int = 0  # characters before them, for ranges
    sent_id: Callable[[int], str] = str  # from the number of a sentence in this part
    name: str | None = None  # of the text


@dataclass(frozen=True)
class Spacing:
    """What MISC tells of white space and places."""

    normalized_spaces: bool = False  # whether there is a space, and not which
    ranges: bool = False  # also the characters of each token, as TokenRange


@dataclass(frozen=True)
class SegmentedText:
    """Parts of texts, and where tokens are in all of them, end to end."""

    paragraphs: Sequence[str]
    tokens: Tokens
    words: Mapping[int, Sequence[str]] = field(default_factory=dict)  # of multiword tokens, by their numbers

    def to_table(self, parts: Sequence[TextPart], spacing: Spacing) -> ConlluTable | None:
        """As CoNLL-U, of which is known where everything stands; None if there are no sentences."""
        tokens, text = self.tokens, "".join(self.paragraphs)
        if not len(tokens.starts):
            return None
        codes = code_points(text)
        has_spaces = self._has_spaces(codes)
        ids, firsts = number_stretches(codes, tokens.starts, tokens.ends)
        names = [text[a:b] for a, b in zip(tokens.starts[firsts].tolist(), tokens.ends[firsts].tolist(), strict=True)]
        for name in np.flatnonzero(has_spaces[firsts]).tolist():
            names[name] = _SPACES.sub(" ", names[name])
        forms = {name: number for number, name in enumerate(dict.fromkeys(names))}
        if len(forms) < len(names):  # some are alike but for their white space
            ids = np.array([forms[name] for name in names], dtype=np.int32)[ids]
        misc = self._misc(text, codes, has_spaces, parts, spacing)
        counts = np.ones(len(ids), dtype=np.int64)  # rows of each token
        for token, words in self.words.items():
            counts[token] += len(words)
        rows = offsets_of(counts)
        form_ids, misc_ids, lasts = np.repeat(ids, counts), np.repeat(misc.ids, counts), np.zeros(rows[-1], np.int32)
        words_before = offsets_of(np.maximum(counts - 1, 1))
        sentences = np.append(0, np.flatnonzero(tokens.closes) + 1)
        first_of = np.repeat(sentences[:-1], np.diff(sentences))  # the first token of each token's sentence
        for token, words in self.words.items():
            row = int(rows[token])
            lasts[row] = words_before[token + 1] - words_before[first_of[token]]
            form_ids[row + 1 : row + 1 + len(words)] = [forms.setdefault(word, len(forms)) for word in words]
            misc_ids[row + 1 : row + 1 + len(words)] = misc.names.index(EMPTY)
        comments = self._comments(parts, tokens.starts[sentences[:-1]])
        columns = Column(form_ids, tuple(forms)), Column(misc_ids, misc.names)
        return ConlluTable.of_rows(comments, *columns, lasts, rows[sentences])

    def sentence_counts(self, parts: Sequence[TextPart]) -> list[int]:
        """How many sentences each part has."""
        bounds = offsets_of(len(paragraph) for part in parts for paragraph in part.paragraphs)
        ends = bounds[offsets_of(len(part.paragraphs) for part in parts)]
        counts: list[int] = np.diff(np.searchsorted(self.tokens.ends[self.tokens.closes], ends, side="right")).tolist()
        return counts

    def _comments(self, parts: Sequence[TextPart], firsts: Int64s) -> list[str]:
        """Of each sentence, whose first characters are given."""
        comments, bounds = list[str](), offsets_of(map(len, self.paragraphs)).tolist()
        sentences, paragraph = iter([*np.searchsorted(bounds, firsts, side="right").tolist(), len(bounds)]), 0
        current = next(sentences)
        for part in parts:
            number, before = 1, part.before
            for text in part.paragraphs:
                paragraph += 1
                starts = "" if before and before.count("\n") < 2 else "# newpar\n"
                if not before:
                    starts = "# newdoc\n" + starts if part.name is None else f"# newdoc id = {part.name}\n{starts}"
                while current == paragraph:
                    comments.append(f"{starts}# sent_id = {part.sent_id(number)}\n")
                    number, current, starts = number + 1, next(sentences), ""
                before = spaces_after(before, [text])
        return comments

    def _misc(self, text: str, codes: Codes, has_spaces: Bools, parts: Sequence[TextPart], spacing: Spacing) -> Column:
        """What is said of the white space around each token, and in it."""
        tokens, bounds = self.tokens, offsets_of(map(len, self.paragraphs))
        paragraph = np.searchsorted(bounds, tokens.starts, side="right")
        stops = np.minimum(np.append(tokens.starts[1:], len(codes)), bounds[paragraph])
        leads = np.maximum(np.append(0, stops[:-1]), bounds[paragraph - 1])
        ids = np.where(stops == tokens.ends, 1, 0).astype(np.int32)
        names = {EMPTY: 0, NO_SPACE: 1}
        odd = np.zeros(len(ids), dtype=bool)
        if spacing.normalized_spaces:
            ids[stops == len(codes)] = 0  # the end of a text is as good as a space
        else:
            one = (stops - tokens.ends == 1) & (codes[np.minimum(tokens.ends, len(codes) - 1)] == ord(" "))
            leading = tokens.starts > leads
            odd = ~(one | (stops == tokens.ends)) | leading | has_spaces
        shifts = self._shifts(parts) if spacing.ranges else ids
        for token in range(len(ids)) if spacing.ranges else np.flatnonzero(odd).tolist():
            start, end, stop = int(tokens.starts[token]), int(tokens.ends[token]), int(stops[token])
            items = [NO_SPACE] if ids[token] else []
            if not spacing.normalized_spaces:
                own = text[start:end]
                inside = own if own != _SPACES.sub(" ", own) else ""
                items = space_items(text[end:stop], text[int(leads[token]) : start], inside)
            if spacing.ranges:
                items.append(f"TokenRange={start + shifts[token]}:{end + shifts[token]}")
            ids[token] = names.setdefault("|".join(items) or EMPTY, len(names))
        return Column(ids, tuple(names))

    def _shifts(self, parts: Sequence[TextPart]) -> Int64s:
        """What to add to the places of each token to get those in its text."""
        starts = offsets_of(sum(map(len, part.paragraphs)) for part in parts)[:-1]
        shifts = np.array([part.start for part in parts], dtype=np.int64) - starts
        return np.asarray(shifts[np.searchsorted(starts, self.tokens.starts, side="right") - 1])

    def _has_spaces(self, codes: Codes) -> Bools:
        """Which tokens may have white space in them: those with a space, a control or a non-ASCII character."""
        spaces = np.zeros(len(codes) + 1, dtype=np.int32)
        np.cumsum((codes <= ord(" ")) | (codes > 0x7F), out=spaces[1:])
        return np.asarray(spaces[self.tokens.ends] > spaces[self.tokens.starts])
