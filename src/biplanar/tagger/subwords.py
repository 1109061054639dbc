"""Sub-words: forms as numbers of a pre-trained vocabulary, and sentences as overlapping windows of these."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from biplanar.data.arrays import Int64s
from biplanar.data.forest import offsets_of
from biplanar.errors import FileError, file_errors, needing
from biplanar.tagger.features import MOST_FORMS, Batch

# What a folder of a pre-trained encoder must have.
CONFIG, TOKENIZER = "config.json", "tokenizer.json"

# Sub-words of a window with its special ones, and how many of them the next window repeats.
LONGEST_WINDOW, OVERLAP = 256, 96

# Sub-words of a word: longer ones are known by their beginning and end only.
MOST_SUBWORDS = 24

# Characters that hardly any vocabulary has: a tokenizer that has nothing for unknown ones must spell them in bytes.
RARE = "\ufffd\U00010380\U0001f99c"

# A window has room for at least two long words beside the special sub-words.
SHORTEST_WINDOW = 2 * MOST_SUBWORDS + 4


class Subwords:
    """A tokenizer that takes forms one by one; what it gives for a form is remembered. Threads may share it."""

    def __init__(self, folder: str | Path, *, only_first: bool = False) -> None:
        """`folder` has the `tokenizer.json` and the `config.json` of an encoder.

        A word is the mean of its sub-words or, with `only_first`, the first of them.
        """
        self.only_first = only_first
        self.path = Path(folder) / TOKENIZER
        self._tokenizer, values = _read_tokenizer(self.path), read_json(self.path)
        self._unknown = _unknown(self._tokenizer, values, self.path)
        self.prefix, self.suffix = self._special()
        self.longest = _longest(read_json(Path(folder) / CONFIG), self.path)
        self._lock = Lock()
        self._known: dict[str, list[int]] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in ("_lock", "_known")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=Lock(), _known={})

    def split(self, forms: Sequence[str]) -> list[list[int]]:
        """The sub-words of some forms, each of which has at least one."""
        with self._lock:
            if missing := [form for form in forms if form not in self._known]:
                if len(self._known) + len(missing) > MOST_FORMS:
                    self._known, missing = {}, list(forms)
                self._known |= zip(missing, self._split(missing), strict=True)
            return [self._known[form] for form in forms]

    def _split(self, forms: Sequence[str]) -> Iterator[list[int]]:
        # A space comes first, as in a text: without it, byte-level tokenizers would give what ends a longer word.
        texts = [" " + form.encode("utf-8", "replace").decode() for form in forms]  # a lone surrogate is no UTF-8
        found = self._tokenizer.encode_batch_fast(texts, add_special_tokens=False)
        for encoding in found:
            ids = encoding.ids
            if len(ids) > MOST_SUBWORDS:
                ids = ids[: MOST_SUBWORDS // 2] + ids[-MOST_SUBWORDS // 2 :]
            yield ids or self._unknown

    def _special(self) -> tuple[list[int], list[int]]:
        """What stands before and after all others."""
        plain, full = (self._tokenizer.encode(" a", add_special_tokens=special).ids for special in (False, True))
        starts = range(len(full) - len(plain) + 1)
        start = next((at for at in starts if full[at : at + len(plain)] == plain), None)
        if start is None or not plain:
            raise FileError(f"{self.path}: special sub-words that are neither before nor after the others")
        return full[:start], full[start + len(plain) :]


@dataclass(frozen=True)
class Windows:
    """A batch as windows of sub-words; a word of two windows is taken from where it has more context."""

    ids: Int64s  # (all sub-words,), window after window, with the special ones
    offsets: Int64s  # where the windows begin, and where the last one ends
    numbers: Int64s  # (all words,): the window of each word
    firsts: Int64s  # (all words,): where its sub-words begin in that window
    counts: Int64s  # (all words,): how many of them the word is the mean of

    @classmethod
    def of(cls, batch: Batch, subwords: Subwords) -> Windows:
        """Look up the words of a batch, and cut long sentences."""
        used, numbers = np.unique(batch.words[batch.mask], return_inverse=True)
        split = subwords.split([batch.texts[number] for number in used])
        lengths = np.array([len(ids) for ids in split], dtype=np.int64)
        table = np.array([number for ids in split for number in ids], dtype=np.int64)
        counts = lengths[numbers]  # (all words,)
        room = subwords.longest - len(subwords.prefix) - len(subwords.suffix)
        cuts = np.array(list(_cuts(counts, offsets_of(batch.lengths), room)), dtype=np.int64).reshape(-1, 4)
        starts, ends, own_starts, own_ends = cuts.T
        places = ranges(starts, ends - starts)  # (words of all windows,): numbers of words
        pieces = offsets_of(counts[places])  # (words of all windows and 1,)
        of_windows = offsets_of(ends - starts)
        sizes = np.diff(pieces[of_windows])  # (windows,), without special sub-words
        before, after = len(subwords.prefix), len(subwords.suffix)
        offsets = offsets_of(sizes + before + after)
        ids = np.empty(offsets[-1], dtype=np.int64)
        ids[offsets[:-1, None] + np.arange(before)] = subwords.prefix
        ids[offsets[1:, None] - after + np.arange(after)] = subwords.suffix
        table_starts = offsets_of(lengths)[:-1][numbers]
        ids[ranges(offsets[:-1] + before, sizes)] = table[ranges(table_starts[places], counts[places])]
        # Of the words of all windows, those that are taken from there, which are all words in their order.
        taken = ranges(of_windows[:-1] + own_starts - starts, own_ends - own_starts)
        window = np.repeat(np.arange(len(cuts)), own_ends - own_starts)
        firsts = pieces[taken] - pieces[of_windows[window]] + before
        return cls(ids, offsets, window, firsts, np.ones_like(counts) if subwords.only_first else counts)

    @property
    def lengths(self) -> Int64s:
        """The number of sub-words of each window."""
        return np.diff(self.offsets)

    def padded(self, chosen: Int64s, longest: int) -> PaddedWindows:
        """Some of the windows, each padded to the longest."""
        lengths = self.lengths[chosen]
        mask = np.arange(longest) < lengths[:, None]
        ids = np.zeros(mask.shape, dtype=np.int64)
        ids[mask] = self.ids[ranges(self.offsets[chosen], lengths)]
        rows = np.full(len(self.offsets) - 1, -1)
        rows[chosen] = np.arange(len(chosen))
        words = np.flatnonzero(rows[self.numbers] >= 0)
        counts = self.counts[words]
        places = ranges(rows[self.numbers[words]] * longest + self.firsts[words], counts)
        owners = np.repeat(np.arange(len(words)), counts)
        return PaddedWindows(words, ids, mask.astype(np.int64), places, owners, counts)


class PaddedWindows(NamedTuple):
    """Windows of sub-words as an encoder takes them, and what the words that are taken from them are made of."""

    words: Int64s  # (words,): their numbers
    ids: Int64s  # (windows, sub-words)
    mask: Int64s  # (windows, sub-words): 0 is padding
    places: Int64s  # (their sub-words,): where these are among all, padding included
    owners: Int64s  # (their sub-words,): which of `words` each belongs to
    counts: Int64s  # (words,): how many each has


def _cuts(counts: Int64s, offsets: Int64s, room: int) -> Iterator[tuple[int, int, int, int]]:
    """The words of each window: where they begin and end, and where those begin and end that are taken from it."""
    totals, overlap = offsets_of(counts), min(OVERLAP, room // 3)
    for start, end in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
        own = start
        while end > start:
            last = min(int(np.searchsorted(totals, totals[start] + room, side="right")) - 1, end)
            if last == end:
                yield start, end, own, end
                break
            again = int(np.searchsorted(totals, totals[last] - overlap))
            again = min(max(again, start + 1), last)
            border = (again + last + 1) // 2
            yield start, last, own, border
            start, own = again, border


def ranges(starts: Int64s, lengths: Int64s) -> Int64s:
    """The numbers from each start on, one range after the other."""
    offsets = offsets_of(lengths)
    return np.asarray(np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], lengths))


def read_json(path: Path) -> dict[str, Any]:
    """The values of a JSON file."""
    try:
        with file_errors(path):
            values = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise FileError(f"{path}: not valid JSON: {error}") from error
    if not isinstance(values, dict):
        raise FileError(f"{path}: not a JSON object")
    return values


def _read_tokenizer(path: Path) -> Any:
    with needing("subwords", "a model with sub-words"):
        from tokenizers import Tokenizer
    if not path.exists():
        raise FileError(f"{path}: no such file, so the encoder has no tokenizer")
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises no other kind
        raise FileError(f"{path}: not a tokenizer ({error})") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def _unknown(tokenizer: Any, values: dict[str, Any], path: Path) -> list[int]:
    """The sub-words of what is unknown; a tokenizer that would leave it out is refused."""
    model = values.get("model")
    token, number = (model.get(key) if isinstance(model, dict) else None for key in ("unk_token", "unk_id"))
    found = tokenizer.token_to_id(token) if isinstance(token, str) else number
    if isinstance(found, int):
        return [found]
    try:
        spelled = [tokenizer.encode(one, add_special_tokens=False).ids for one in RARE]
    except Exception:  # the library raises no other kind
        spelled = [[]]
    if not all(spelled):
        raise FileError(f"{path}: this tokenizer loses characters: it has no sub-word for unknown ones, and no bytes")
    return list(spelled[0])


def _longest(config: dict[str, Any], path: Path) -> int:
    """How many sub-words an encoder can see at once. Some count positions from behind the number of padding."""
    positions, padding = config.get("max_position_embeddings"), config.get("pad_token_id")
    if not isinstance(positions, int) or positions <= 0:  # relative positions
        return LONGEST_WINDOW
    offset = 1 + padding if isinstance(padding, int) and 0 <= padding < positions else 0
    longest = min(LONGEST_WINDOW, positions - offset)
    if longest < SHORTEST_WINDOW:
        raise FileError(f"{path.parent / CONFIG}: too few positions ({positions}) for windows of sub-words")
    return longest
