from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import torch

from biplanar.tagger.features import FIRST_ROOM, FormCache, Spellings, Vocabulary

VOCABULARY = Vocabulary.of([["a", "b", "c", "ab", "ba"]], {}, min_form_count=1, min_char_count=1)


class Encoder:
    """The spelling of a form, as numbers, is its vector; what has been asked for is counted."""

    def __init__(self, kind: Any = np.asarray) -> None:
        self.kind, self.asked = kind, 0

    def __call__(self, spellings: Spellings) -> Any:
        self.asked += len(spellings.ids)
        padded = np.zeros((len(spellings.ids), 8), dtype=np.float32)
        padded[:, : spellings.chars.shape[1]] = spellings.chars
        return self.kind(padded)


def expected(forms: list[str]) -> np.ndarray:
    return np.array([(VOCABULARY.spell(form) + [0] * 8)[:8] for form in forms], dtype=np.float32).reshape(-1, 8)


@pytest.mark.parametrize("kind", [np.asarray, torch.from_numpy], ids=["array", "tensor"])
def test_each_form_is_encoded_once(kind: Any) -> None:
    encode = Encoder(kind)
    cache = FormCache(VOCABULARY, encode)
    for forms in (["a", "b"], ["b", "c", "a"], [], ["ab"], ["b"]):
        np.testing.assert_array_equal(np.asarray(cache.vectors(forms)), expected(forms))
    assert encode.asked == len(cache) == 4


def test_it_is_bounded_and_starts_anew() -> None:
    encode = Encoder()
    cache = FormCache(VOCABULARY, encode, most_forms=3)
    for forms in (["a", "b", "c"], ["ab", "a"], ["a", "b", "c", "ab"], ["ab"]):
        np.testing.assert_array_equal(cache.vectors(forms), expected(forms))
        assert len(cache) <= 3
    assert encode.asked == 3 + 2 + 4 + 1


def test_it_grows() -> None:
    encode = Encoder()
    cache = FormCache(VOCABULARY, encode)
    forms = ["".join("abc"[number // 3**place % 3] for place in range(6)) for number in range(729)]
    many = [form + tail for form in forms for tail in ("", "a", "b", "c", "aa", "bb", "cc", "ac", "bc", "ca")]
    many = list(dict.fromkeys(many))
    assert len(many) > FIRST_ROOM
    first = cache.vectors(many[:10])
    cache.vectors(many)
    np.testing.assert_array_equal(cache.vectors(many[:10]), first)
    assert encode.asked == len(many)


def test_threads_share_it() -> None:
    encode = Encoder()
    cache = FormCache(VOCABULARY, encode, most_forms=4)
    wanted = [["a", "b"], ["c", "ab"], ["ba", "a"], ["b", "c", "ba"]] * 50
    with ThreadPoolExecutor(8) as pool:
        for forms, found in zip(wanted, pool.map(cache.vectors, wanted), strict=True):
            np.testing.assert_array_equal(found, expected(forms))


def test_what_is_known_is_never_encoded_nor_forgotten() -> None:
    encode = Encoder()
    known = np.arange(8 * 3, dtype=np.float32).reshape(3, 8)  # of the vocabulary's first forms
    cache = FormCache(VOCABULARY, encode, known=known, most_forms=5)
    names = list(VOCABULARY.forms)
    for others in (["x"], ["y", "z"], ["u"], list("uvwxyz")):
        found = cache.vectors([names[1], *others])
        np.testing.assert_array_equal(found[0], known[1])
        np.testing.assert_array_equal(found[1:], expected(others))
        assert len(cache) <= 5
    assert encode.asked == 1 + 2 + 1 + 6
    np.testing.assert_array_equal(known, np.arange(8 * 3).reshape(3, 8))
