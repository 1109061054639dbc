"""Vectors of forms, computed once: before a network sees the sentence, all it knows of a word is the form."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any

import numpy as np

from biplanar.tagger.features import Spellings, Vocabulary

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
            room = max(FIRST_ROOM, 2 * (first + len(forms)))
            store = _room_like(vectors, room)
            if first:
                store[:first] = self._vectors[:first]
            self._vectors = store
        self._vectors[first : first + len(forms)] = vectors
        self._rows |= {form: row for row, form in enumerate(forms, first)}


def _room_like(vectors: Any, rows: int) -> Any:
    shape = (rows, *vectors.shape[1:])
    return np.zeros(shape, vectors.dtype) if isinstance(vectors, np.ndarray) else vectors.new_zeros(shape)
