"""CoNLL-U as bytes: many sentences are taken apart and get their trees at once, without an object for each word.

`ConlluTable.of` takes whole sentences that are plainly laid out, as nearly all are. What is odd or wrong is left to
`conllu`, which reads with care; where both can read, both come to the same bytes.
"""

from __future__ import annotations

import codecs
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from biplanar.compiled import compiled
from biplanar.data.arrays import Bools, Bytes, Int32s, Int64s
from biplanar.data.conllu import COLUMNS, DEPS, EMPTY, FEATS, LEMMA, UPOS, XPOS
from biplanar.data.forest import Column, number_stretches, offsets_of
from biplanar.data.rows import check_column
from biplanar.data.tree import find_fault
from biplanar.errors import TreeError

_TAB, _LINE_END, _RETURN, _SPACE, _HASH, _HYPHEN, _DOT, _ZERO, _NINE = (ord(sign) for sign in "\t\n\r #-.09")

# What is written of a sentence that has words and nothing else.
_TEXT_COMMENT, _NO_VALUES, _NO_SPACE = (
    np.frombuffer(text, dtype=np.uint8) for text in (b"# text = ", b"\t_\t_\t_\t_\t_\t_\t_\t", b"SpaceAfter=No")
)

_STEP = 1 << 14  # bytes that are looked through at a time, so that they are still in the CPU cache when looked at again
_SHORTEST = 2 * 10  # bytes of a word's line: one in each column, and a tab or line end behind it
_LARGEST = 2**31 - 2  # bytes that 32 bits can number, with one more place behind them

# The rows of `ConlluTable.places`: where FORM starts, and where it and what follows it end. Behind each end is a tab.
_START, _FORM, _LEMMA, _UPOS, _XPOS, _FEATS, _ARC, _DEPS = range(8)

# The columns beside the arc that can be filled, and their rows.
FILLED = {LEMMA: _LEMMA, UPOS: _UPOS, XPOS: _XPOS, FEATS: _FEATS, DEPS: _DEPS}
_KEPT = -1  # the number of a value that stays as it is

_WORD, _NO_WORD, _WRONG = 1, 0, -1  # what a line's ID says of it


@dataclass(frozen=True)
class ConlluTable:
    """Whole sentences as the bytes they were written in, and where in them stands what parsing reads and replaces."""

    data: bytes
    offsets: Int64s  # (sentences + 1,): the words of each sentence
    places: Int32s  # (8, words): where FORM starts; where it, the next columns, the arc (HEAD and DEPREL) and DEPS end

    @classmethod
    def of(cls, data: bytes) -> ConlluTable | None:
        """Some sentences; None if anything in them is unusual, from Windows line ends to bytes that are not UTF-8."""
        if len(data) > _LARGEST or not _is_utf8(data):
            return None
        most_words = len(data) // _SHORTEST + 1
        places = np.empty((8, most_words), dtype=np.int32)
        offsets = np.zeros(most_words + 1, dtype=np.int64)
        sentences = _find(_signs(data), places, offsets)
        return cls(data, offsets[: sentences + 1], places[:, : offsets[sentences]]) if sentences > 0 else None

    @classmethod
    def of_rows(
        cls, comments: Sequence[str], forms: Column, misc: Column, lasts: Int32s, offsets: Int64s
    ) -> ConlluTable:
        """Write sentences that have comments, words and multiword tokens, each a row, and nothing else yet.

        `comments` are those of each sentence with their line ends, and `offsets` its rows. `lasts` has 0 for a word,
        and for a multiword token how many words of its sentence there are with its own.
        """
        texts = *_joined(comments), *_joined(forms.names), forms.ids, *_joined(misc.names), misc.ids
        data, places, word_offsets = _write_rows(*texts, lasts, offsets)
        table = cls(bytes(data), word_offsets, places)
        table.__dict__["forms"] = Column(forms.ids[lasts == 0], forms.names)  # as if it had been asked for
        return table

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @cached_property
    def forms(self) -> Column:
        """The words as they are written; each distinct one is a name."""
        return self._column(self.places[_START], self.places[_FORM])

    def column(self, number: int) -> Column:
        """The values of a column that can be filled, as they are."""
        return self._column(*self._bounds(FILLED[number]))

    @cached_property
    def upos(self) -> Column:
        """The universal part-of-speech tags."""
        return self.column(UPOS)

    def _bounds(self, row: int) -> tuple[Int32s, Int32s]:
        """Where a column behind FORM starts and ends."""
        return self.places[row - 1] + np.int32(1), self.places[row]

    def _column(self, starts: Int32s, ends: Int32s) -> Column:
        signs = _signs(self.data)
        ids, firsts = number_stretches(signs, starts, ends)
        names = bytes(_lines(signs, starts[firsts], ends[firsts])).decode()  # no column has a line end in it
        return Column(ids, tuple(names.split("\n")[:-1]))

    def with_trees(
        self, heads: Int32s, deprels: Column, columns: Mapping[int, Column] | None = None, *, replace: bool = False
    ) -> bytes:
        """The same sentences with other heads and relations; all else stays as it is.

        `columns` (`LEMMA`, `UPOS`, `XPOS`, `FEATS`) are filled where they are empty, or, with `replace`, everywhere;
        `DEPS` always is, since it belongs to the tree.
        """
        words = self.places.shape[1]
        if not words == len(heads) == len(deprels.ids):
            raise TreeError(f"{len(heads)} heads and {len(deprels.ids)} relations for {words} words")
        if fault := find_fault(heads, self.offsets):
            raise TreeError(fault.message, fault.sentence)
        check_column("DEPREL", deprels.names)
        names, values = [*deprels.names, EMPTY], np.full((len(FILLED), words), _KEPT, dtype=np.int32)
        relations = np.where(deprels.ids < 0, len(deprels.names), deprels.ids)  # "_" for those without a name
        for number, column in (columns or {}).items():
            check_column(COLUMNS[number], column.names)
            own, filled = len(names) + column.ids, list(FILLED).index(number)
            values[filled] = own if replace or number == DEPS else np.where(self._is_empty(number), own, _KEPT)
            names += column.names
        text, bounds = _joined(names)
        return bytes(_write(_signs(self.data), self.places, heads, relations, values, text, bounds))

    def _is_empty(self, number: int) -> Bools:
        """Which words have no value in a column; no features are a value, if other words of the sentence have some."""
        starts, ends = self._bounds(FILLED[number])
        empty = (ends - starts == 1) & (_signs(self.data)[starts] == ord(EMPTY))
        if number == FEATS:
            all_empty = np.logical_and.reduceat(empty, self.offsets[:-1])
            empty = np.repeat(all_empty, np.diff(self.offsets))
        return np.asarray(empty)


def _is_utf8(data: bytes) -> bool:
    """Whether the data is text, looked at in steps, since the text of all of it would be written to memory."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for start in range(0, len(data), _STEP):
            decoder.decode(data[start : start + _STEP], final=start + _STEP >= len(data))
    except UnicodeDecodeError:
        return False
    return True


def _signs(data: bytes) -> Bytes:
    return np.frombuffer(data, dtype=np.uint8)


def _joined(names: Sequence[str]) -> tuple[Bytes, Int64s]:
    """Names end to end, and where each starts and the last one ends."""
    encoded = [name.encode() for name in names]
    return _signs(b"".join(encoded)), offsets_of(map(len, encoded))


@compiled()
def _find(data: Bytes, places: Int32s, offsets: Int64s) -> Any:
    """Note where everything stands, and how many sentences there are; -1 if the data is not plainly laid out."""
    words = sentences = lines = columns = start = 0
    before = -1  # where the last tab or line end was
    tabs = np.empty(9, dtype=np.int32)
    marks = np.empty(_STEP + 1, dtype=np.int32)
    for base in range(0, len(data), _STEP):
        for mark in marks[: _find_marks(data, base, marks)]:
            is_end, is_comment = mark == len(data) or data[mark] == _LINE_END, data[start] == _HASH
            if not is_end:
                if data[mark] == _RETURN:
                    return -1
                if is_comment or data[mark] != _TAB:
                    continue
                if mark == before + 1 or columns == 9:
                    return -1
                tabs[columns] = before = mark
                columns += 1
                continue
            if mark > start:
                lines += 1
                if not is_comment:
                    if columns < 9 or mark == before + 1:
                        return -1
                    kind = _kind(data, start, tabs[0], words - offsets[sentences] + 1)
                    if kind == _WRONG:
                        return -1
                    if kind == _WORD:
                        places[_START, words] = tabs[0] + 1
                        places[_ARC, words], places[_DEPS, words] = tabs[7], tabs[8]
                        for row in range(_FORM, _ARC):
                            places[row, words] = tabs[row]
                        words += 1
            if lines and (mark == start or mark >= len(data) - 1):  # a blank line, or there are no more lines
                if words == offsets[sentences]:  # only comments
                    return -1
                sentences += 1
                offsets[sentences] = words
                lines = 0
            columns, start, before = 0, mark + 1, mark
    return sentences


@compiled()
def _find_marks(data: Bytes, base: int, marks: Int32s) -> Any:
    """Where tabs, line ends and such are in the next stretch of bytes; the end of the data counts as a line end."""
    found, end = 0, min(base + _STEP, len(data))
    for at in range(base, end):  # without a branch, which would be mispredicted half the time
        marks[found] = at
        found += data[at] <= _RETURN
    if end == len(data) and data[end - 1] != _LINE_END:
        marks[found] = end
        found += 1
    return found


@compiled()
def _kind(data: Bytes, start: int, end: int, expected: int) -> Any:
    """Whether an ID is the expected word's; those of multiword tokens (`1-2`) and empty nodes (`1.1`) are no word's."""
    number, marks = 0, 0
    for at in range(start, end):
        sign = data[at]
        if _ZERO <= sign <= _NINE:
            if number <= expected:  # else it has too many digits already
                number = number * 10 + (sign - _ZERO)
        elif sign in (_HYPHEN, _DOT) and start < at < end - 1:
            marks += 1
        else:
            return _WRONG
    if marks:
        return _NO_WORD if marks == 1 else _WRONG
    return _WORD if number == expected and data[start] != _ZERO else _WRONG


@compiled()
def _lines(data: Bytes, starts: Int32s, ends: Int32s) -> Any:
    """Stretches of bytes, a line each."""
    result, written = np.empty((ends - starts).sum() + len(starts), dtype=np.uint8), 0
    for start, end in zip(starts, ends):  # noqa: B905 (compiled code knows no `strict`)
        written = _copy(data, start, end, result, written)
        result[written] = _LINE_END
        written += 1
    return result


@compiled()
def _write(
    data: Bytes, places: Int32s, heads: Int32s, relations: Int32s, values: Int32s, names: Bytes, bounds: Int64s
) -> Any:
    """The data with other arcs, and with values in the columns beside them, where there are any."""
    size, words, before = len(data), len(heads), _FEATS - _LEMMA + 1
    for word in range(words):
        name = bounds[relations[word] + 1] - bounds[relations[word]]
        size += _digits(heads[word]) + 1 + name - (places[_ARC, word] - places[_FEATS, word] - 1)
        for row in range(len(values)):
            if values[row, word] != _KEPT:
                value, filled = values[row, word], row + _LEMMA if row < before else _DEPS
                size += bounds[value + 1] - bounds[value] - (places[filled, word] - places[filled - 1, word] - 1)
    result = np.empty(size, dtype=np.uint8)
    read = written = 0
    for word in range(words):
        for row in range(before):
            value, filled = values[row, word], row + _LEMMA
            if value != _KEPT:
                written = _copy(data, read, places[filled - 1, word] + 1, result, written)
                written = _copy(names, bounds[value], bounds[value + 1], result, written)
                read = places[filled, word]
        written = _copy(data, read, places[_FEATS, word] + 1, result, written)
        read = places[_ARC, word]
        written = _write_number(heads[word], result, written)
        result[written] = _TAB
        relation = relations[word]
        written = _copy(names, bounds[relation], bounds[relation + 1], result, written + 1)
        graph = values[before, word]
        if graph != _KEPT:
            result[written] = _TAB
            written = _copy(names, bounds[graph], bounds[graph + 1], result, written + 1)
            read = places[_DEPS, word]
    _copy(data, read, len(data), result, written)
    return result


@compiled()
def _write_rows(
    comments: Bytes,
    comment_bounds: Int64s,
    forms: Bytes,
    form_bounds: Int64s,
    form_ids: Int32s,
    misc: Bytes,
    misc_bounds: Int64s,
    misc_ids: Int32s,
    lasts: Int32s,
    offsets: Int64s,
) -> Any:
    """The bytes of sentences without tags and trees, the places of their words, and the words of each sentence."""
    rows, sentences = len(form_ids), len(offsets) - 1
    size = len(comments) + sentences * (len(_TEXT_COMMENT) + 2)
    for row in range(rows):
        form = form_bounds[form_ids[row] + 1] - form_bounds[form_ids[row]]
        size += 2 * form + misc_bounds[misc_ids[row] + 1] - misc_bounds[misc_ids[row]] + len(_NO_VALUES) + 25
    data, written = np.empty(size, dtype=np.uint8), 0
    places, words = np.empty((8, rows), dtype=np.int32), 0
    word_offsets = np.zeros(sentences + 1, dtype=np.int64)
    for sentence in range(sentences):
        first, end = offsets[sentence], offsets[sentence + 1]
        written = _copy(comments, comment_bounds[sentence], comment_bounds[sentence + 1], data, written)
        written = _copy(_TEXT_COMMENT, 0, len(_TEXT_COMMENT), data, written)
        number = covered = 0
        for row in range(first, end):
            number += lasts[row] == 0
            if lasts[row] or number > covered:
                covered = max(covered, lasts[row])
                written = _copy(forms, form_bounds[form_ids[row]], form_bounds[form_ids[row] + 1], data, written)
                start, length = misc_bounds[misc_ids[row]], misc_bounds[misc_ids[row] + 1] - misc_bounds[misc_ids[row]]
                if not _is_no_space(misc, start, length):
                    data[written] = _SPACE
                    written += 1
        written -= data[written - 1] == _SPACE
        data[written] = _LINE_END
        written += 1
        number = 0
        for row in range(first, end):
            written = _write_number(number + 1, data, written)
            if lasts[row]:
                data[written] = _HYPHEN
                written = _write_number(lasts[row], data, written + 1)
            data[written] = _TAB
            start = written + 1
            written = _copy(forms, form_bounds[form_ids[row]], form_bounds[form_ids[row] + 1], data, start)
            if lasts[row] == 0:
                number += 1
                places[_START, words] = start
                for column in range(_FORM, _ARC):
                    places[column, words] = written + 2 * (column - _FORM)
                places[_ARC, words] = written + 2 * (_ARC - _FORM + 1)
                places[_DEPS, words] = places[_ARC, words] + 2
                words += 1
            written = _copy(_NO_VALUES, 0, len(_NO_VALUES), data, written)
            written = _copy(misc, misc_bounds[misc_ids[row]], misc_bounds[misc_ids[row] + 1], data, written)
            data[written] = _LINE_END
            written += 1
        data[written] = _LINE_END
        written += 1
        word_offsets[sentence + 1] = words
    return data[:written].copy(), places[:, :words].copy(), word_offsets


@compiled()
def _is_no_space(misc: Bytes, start: int, length: int) -> Any:
    """Whether MISC says that no white space follows."""
    for at in range(start, start + length - len(_NO_SPACE) + 1):
        same = 0
        while same < len(_NO_SPACE) and misc[at + same] == _NO_SPACE[same]:
            same += 1
        if same == len(_NO_SPACE):
            return True
    return False


@compiled()
def _write_number(number: int, data: Bytes, at: int) -> Any:
    digits = _digits(number)
    for place in range(digits - 1, -1, -1):
        data[at + place] = _ZERO + number % 10
        number //= 10
    return at + digits


@compiled()
def _copy(source: Bytes, start: int, end: int, target: Bytes, at: int) -> Any:
    """Copy a stretch of bytes; the place behind it in the target."""
    read, write = np.uint64(start), np.uint64(at)  # without the check for negative indices, it is five times as fast
    for offset in range(np.uint64(end - start)):
        target[write + offset] = source[read + offset]
    return at + end - start


@compiled()
def _digits(number: int) -> Any:
    """How many digits a number is written with."""
    digits = 1
    while number >= 10:
        number //= 10
        digits += 1
    return digits
