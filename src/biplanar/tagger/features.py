"""From words to arrays: which vector each form has, how it is spelled, and which forms stand in which sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from threading import Lock
from typing import Any

import numpy as np

from biplanar.data.arrays import Int64s
from biplanar.data.forest import offsets_of, words_of
from biplanar.data.rows import find_misfit
from biplanar.errors import LabelError

PAD, UNKNOWN = 0, 1
RESERVED = 2

# Vectors of training files that a network may have.
MOST_TREEBANKS = 10_000

# Longer words are spelled by their beginning and end only.
LONGEST_SPELLING = 40

# The longest sentences of which attention sees all pairs of words; longer ones are cut.
LONGEST_WINDOW = 1024


@dataclass(frozen=True)
class Vocabulary:
    """The forms (in lower case) and characters with vectors of their own, and the labels of each task."""

    forms: tuple[str, ...]
    chars: tuple[str, ...]
    tasks: Mapping[str, tuple[str, ...]]
    treebanks: int = 1  # with vectors of their own, where the network has such

    @classmethod
    def of(
        cls,
        sentences: Iterable[Sequence[str]],
        tasks: Mapping[str, tuple[str, ...]],
        *,
        treebanks: int = 1,
        min_form_count: int = 2,
        min_char_count: int = 2,
        more_forms: Iterable[str] = (),
    ) -> Vocabulary:
        """The frequent forms and characters of some sentences, and further forms that have vectors already."""
        forms = Counter(form for sentence in sentences for form in sentence)
        chars: Counter[str] = Counter()
        lowered: Counter[str] = Counter()
        for form, count in forms.items():
            lowered[form.lower()] += count
            for char in form:
                chars[char] += count
        kept = dict.fromkeys(form for form, count in sorted(lowered.items()) if count >= min_form_count)
        kept |= dict.fromkeys(more_forms)
        kept_chars = tuple(sorted(char for char, count in chars.items() if count >= min_char_count))
        return cls(tuple(kept), kept_chars, dict(tasks), treebanks)

    @cached_property
    def form_ids(self) -> dict[str, int]:
        """Numbers of the forms; 0 is padding, 1 is any other form."""
        return {form: number for number, form in enumerate(self.forms, RESERVED)}

    @cached_property
    def char_ids(self) -> dict[str, int]:
        """Numbers of the characters; 0 is padding, 1 is any other character."""
        return {char: number for number, char in enumerate(self.chars, RESERVED)}

    def spell(self, form: str) -> list[int]:
        """The characters of a form as numbers."""
        if len(form) > LONGEST_SPELLING:
            form = form[: LONGEST_SPELLING // 2] + form[-LONGEST_SPELLING // 2 :]
        return [self.char_ids.get(char, UNKNOWN) for char in form]

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Vocabulary:
        """From plain values, each of which is checked."""
        if not isinstance(values, dict) or set(values) != {one.name for one in fields(cls)}:
            raise LabelError("not a vocabulary of forms, chars, tasks and treebanks")
        if type(values["treebanks"]) is not int or not 1 <= values["treebanks"] <= MOST_TREEBANKS:
            raise LabelError(f"treebanks must be a number from 1 to {MOST_TREEBANKS:,}")
        if not isinstance(values["tasks"], dict):
            raise LabelError("tasks must be lists of labels by their names")
        forms, chars = _names(values["forms"], "forms"), _names(values["chars"], "chars")
        return cls(
            forms, chars, {task: _names(values["tasks"][task], task) for task in values["tasks"]}, values["treebanks"]
        )


def _names(values: Any, kind: str) -> tuple[str, ...]:
    """Different names that columns of CoNLL-U can hold."""
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise LabelError(f"{kind} must be a list of text")
    if (at := find_misfit(values)) is not None or len(set(values)) < len(values):
        raise LabelError(
            f"{kind} must be different, without tabs and line ends" + ("" if at is None else f", not {values[at]!r}")
        )
    return tuple(values)


Shared = tuple[list[int], list[int]]


def shared_numbers(here: Sequence[str], there: Sequence[str], *, reserved: int = 0) -> Shared:
    """The numbers, here and there, of the names that both have; those that are reserved come first."""
    numbers = {name: number for number, name in enumerate(there, reserved)}
    both = [(number, numbers[name]) for number, name in enumerate(here, reserved) if name in numbers]
    first = list(range(reserved))
    return first + [one for one, _ in both], first + [other for _, other in both]


@dataclass(frozen=True)
class Spellings:
    """Some forms as arrays: the number of each, and the numbers of its characters."""

    ids: Int64s  # (forms,)
    chars: Int64s  # (forms, characters)
    lengths: Int64s  # (forms,)

    @classmethod
    def of(cls, forms: Sequence[str], vocabulary: Vocabulary) -> Spellings:
        """Look up some forms."""
        spellings = [vocabulary.spell(form) for form in forms]
        lengths = np.array([max(len(spelling), 1) for spelling in spellings], dtype=np.int64)
        chars = np.zeros((len(spellings), int(lengths.max(initial=1))), dtype=np.int64)
        for number, spelling in enumerate(spellings):
            chars[number, : len(spelling)] = spelling
        ids = [vocabulary.form_ids.get(form.lower(), UNKNOWN) for form in forms]
        return cls(np.array(ids, dtype=np.int64), chars, lengths)

    def some(self, chosen: Int64s) -> Spellings:
        """Those of some of the forms, without more padding than they need."""
        lengths = self.lengths[chosen]
        return Spellings(self.ids[chosen], self.chars[chosen, : int(lengths.max(initial=1))], lengths)


@dataclass(frozen=True)
class Batch:
    """Some sentences as arrays; `words` says which of some forms stands where."""

    words: Int64s  # (sentences, words), numbers into forms
    lengths: Int64s  # (sentences,)
    treebanks: Int64s | None = None  # (sentences,); None: all are of the first
    texts: Sequence[str] = ()  # the forms themselves

    @property
    def treebank_numbers(self) -> Int64s:
        """The treebank of each sentence."""
        return np.zeros(len(self.lengths), dtype=np.int64) if self.treebanks is None else self.treebanks

    @cached_property
    def mask(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Where there is a word and not padding: (sentences, words)."""
        return np.asarray(np.arange(self.words.shape[1]) < self.lengths[:, None])

    @cached_property
    def places(self) -> Int64s:
        """Where the words are in an array of all sentences, padding included: (all words,)."""
        return np.flatnonzero(self.mask)

    @cached_property
    def windows(self) -> Batch:
        """The same words in sentences of at most `LONGEST_WINDOW` words: longer ones are cut into several."""
        if self.words.shape[1] <= LONGEST_WINDOW:
            return self
        cuts = ((length, start) for length in self.lengths.tolist() for start in range(0, length, LONGEST_WINDOW))
        lengths = np.array([min(LONGEST_WINDOW, length - start) for length, start in cuts], dtype=np.int64)
        words = np.zeros((len(lengths), LONGEST_WINDOW), dtype=np.int64)
        words[np.arange(LONGEST_WINDOW) < lengths[:, None]] = self.words[self.mask]
        return Batch(words, lengths)

    @cached_property
    def own_forms(self) -> tuple[Int64s, Batch]:
        """The forms that stand in these sentences, each once, and the batch with numbers into them."""
        used, numbers = np.unique(self.words[self.mask], return_inverse=True)
        words = np.zeros_like(self.words)
        words[self.mask] = numbers
        texts = [self.texts[number] for number in used] if self.texts else ()
        return used, replace(self, words=words, texts=texts)

    @cached_property
    def each_word(self) -> Batch:
        """The same sentences, where `words` are numbers of the words themselves: no form comes twice."""
        words = np.zeros_like(self.words)
        words[self.mask] = np.arange(len(self.places))
        return replace(self, words=words, texts=())


@dataclass(frozen=True)
class Corpus:
    """Sentences with their distinct forms numbered, ready to be cut into batches."""

    forms: Sequence[str]
    words: Int64s  # (all words,), numbers into forms, sentence after sentence
    offsets: Int64s  # where the sentences begin, and where the last one ends
    treebanks: Int64s | None = None  # of the sentences; None: all are of the first

    @classmethod
    def of(cls, sentences: Iterable[Sequence[str]], treebanks: Int64s | None = None) -> Corpus:
        """Number the forms of some sentences."""
        numbers: dict[str, int] = {}
        words, lengths = list[int](), list[int]()
        for sentence in sentences:
            words += [numbers.setdefault(form, len(numbers)) for form in sentence]
            lengths.append(len(sentence))
        return cls(list(numbers), np.array(words, dtype=np.int64), offsets_of(lengths), treebanks)

    @cached_property
    def lengths(self) -> Int64s:
        """The number of words of each sentence."""
        return np.diff(self.offsets)

    def places(self, chosen: Sequence[int] | Int64s) -> Int64s:
        """Where the words of some sentences are among all words."""
        return words_of(np.asarray(chosen), self.offsets)[0]

    def batch(self, chosen: Sequence[int] | Int64s) -> Batch:
        """Some of the sentences."""
        lengths = self.lengths[np.asarray(chosen)]
        words = np.zeros((len(lengths), int(lengths.max())), dtype=np.int64)
        words[np.arange(words.shape[1]) < lengths[:, None]] = self.words[self.places(chosen)]
        treebanks = None if self.treebanks is None else self.treebanks[np.asarray(chosen)]
        return Batch(words, lengths, treebanks, self.forms)


def batches_by_words(lengths: Int64s, most_words: int, order: Int64s) -> list[Int64s]:
    """Cut an order of sentences into batches of up to `most_words` words with padding; a long sentence goes alone."""
    batches, start, longest = [], 0, 0
    for at, length in enumerate(lengths[order].tolist()):
        longest = max(longest, length)
        if at > start and longest * (at + 1 - start) > most_words:
            batches.append(order[start:at])
            start, longest = at, length
    if start < len(order):
        batches.append(order[start:])
    return batches


# Forms that are remembered; when there are more, the cache is emptied. With 500 features 100,000 take 200 MB.
MOST_FORMS = 100_000

# The first forms there is room for; it grows by doubling.
FIRST_ROOM = 4096


class FormCache:
    """Remembers the vectors of forms, up to a limit; threads may share it.

    The vectors are arrays or tensors, wherever they are: `encode` makes them from spellings, and they are only ever
    indexed. Some may be `known` from the start, the first forms of the vocabulary; these are never forgotten.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        encode: Callable[[Spellings], Any],
        *,
        known: Any = None,
        most_forms: int = MOST_FORMS,
    ) -> None:
        self.vocabulary, self.encode, self.most_forms = vocabulary, encode, most_forms
        self._known = known
        self._lock = Lock()
        self.forget()

    def forget(self) -> None:
        """Drop all vectors but those that were known at first."""
        count = 0 if self._known is None else len(self._known)
        self._rows = {form: row for row, form in enumerate(self.vocabulary.forms[:count])}
        self._vectors = self._known

    def __len__(self) -> int:
        return len(self._rows)

    def vectors(self, forms: Sequence[str]) -> Any:
        """The vectors of some different forms, a row each."""
        with self._lock:
            missing = [form for form in forms if form not in self._rows]
            if len(self._rows) + len(missing) > self.most_forms:
                self.forget()
                missing = [form for form in forms if form not in self._rows]
            if missing or self._vectors is None:
                self._remember(missing)
            found = self._vectors[np.array([self._rows[form] for form in forms], dtype=np.int64)]
            if len(self._rows) > self.most_forms:
                self.forget()
            return found

    def _remember(self, forms: list[str]) -> None:
        first = len(self._rows)
        vectors = self.encode(Spellings.of(forms, self.vocabulary))
        if self._vectors is None or first + len(forms) > len(self._vectors):
            shape = (max(FIRST_ROOM, 2 * (first + len(forms))), *vectors.shape[1:])
            is_array = isinstance(vectors, np.ndarray)
            store = np.zeros(shape, vectors.dtype) if is_array else vectors.new_zeros(shape)
            if first:
                store[:first] = self._vectors[:first]
            self._vectors = store
        self._vectors[first : first + len(forms)] = vectors
        self._rows |= {form: row for row, form in enumerate(forms, first)}
