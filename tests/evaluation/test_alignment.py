from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given

from biplanar.data.conllu import parse_conllu
from biplanar.errors import FormatError
from biplanar.evaluation.alignment import Alignment, SpannedText, align
from tests.evaluation import strategies
from tests.evaluation.sentences import COFFEE, COFFEE_RECUT, HOUSE, HOUSE_RECUT, heads


def aligned(gold: str, system: str) -> Alignment:
    documents = [
        SpannedText.from_sentences(parse_conllu(text, name)) for text, name in ((gold, "gold"), (system, "system"))
    ]
    return align(*documents)


def tokens(*texts: str) -> str:
    """A sentence from tokens; one with `=` is a multiword token of the words behind it: `zum=zu+dem`."""
    lines: list[str] = []
    size = 0
    for text in texts:
        form, _, parts = text.partition("=")
        words = parts.split("+") if parts else [form]
        if parts:
            lines.append(f"{size + 1}-{size + len(words)}\t{form}" + "\t_" * 8)
        for word in words:
            size += 1
            lines.append(f"{size}\t{word}\t_\t_\t_\t_\t{min(size - 1, 1)}\tdep\t_\t_")
    return "\n".join([*lines, "", ""])


def pairs(gold: str, system: str) -> list[tuple[int, int]]:
    alignment = aligned(gold, system)
    return list(zip(alignment.gold_at.tolist(), alignment.system_at.tolist(), strict=True))


def test_words_are_the_same_if_they_are_the_same_characters() -> None:
    assert pairs(COFFEE, COFFEE_RECUT) == [(0, 0), (3, 2), (4, 3), (6, 6)]


def test_words_in_multiword_tokens_are_the_same_if_they_have_the_same_form() -> None:
    assert pairs(HOUSE, HOUSE_RECUT) == [(0, 0), (1, 1), (4, 3), (5, 4)]
    assert pairs(tokens("x", "zum=zu+dem", "y"), tokens("xzu=x+Zu", "my=dem+y")) == [(0, 0), (1, 1), (2, 2), (3, 3)]


def test_of_equally_long_matches_gold_words_are_passed_over_first() -> None:
    assert pairs(tokens("abab=a+b"), tokens("abab=b+a")) == [(1, 0)]


def test_heads_of_the_system_are_found_among_gold_words() -> None:
    alignment = aligned(COFFEE, COFFEE_RECUT)
    assert alignment.gold_words.tolist() == [0, -2, 3, 4, -2, -2, 6]
    assert alignment.gold_heads.tolist() == [-2, -1, -1, -2, -2, 3, 3]
    assert alignment.right_heads.tolist() == [False, True, False, True]
    assert alignment.twin_sentences.tolist() == [-2]


@given(strategies.pairs())
def test_pairs_are_in_order_and_one_to_one(pair: strategies.Pair) -> None:
    found = pairs(*pair)
    assert all(one[0] < other[0] and one[1] < other[1] for one, other in pairwise(found))


@given(strategies.pairs())
def test_every_word_is_itself(pair: strategies.Pair) -> None:
    size = len(SpannedText.from_sentences(parse_conllu(pair[0])).words)
    assert pairs(pair[0], pair[0]) == [(place, place) for place in range(size)]


def test_other_text() -> None:
    system = (COFFEE + HOUSE).replace("Haus\t", "Heim\t", 1)
    with pytest.raises(FormatError) as caught:
        aligned(COFFEE + HOUSE, system)
    assert re.match(r"system:14: .*'eim\.'.*gold:14.*'aus\.'", str(caught.value))


def test_text_that_ends_early() -> None:
    with pytest.raises(FormatError) as caught:
        aligned(COFFEE + HOUSE, COFFEE)
    assert re.match(r"system:7: .*the end.*gold:9.*'ErgehtzumHaus\.'", str(caught.value))
    with pytest.raises(FormatError) as caught:
        aligned(heads(0), heads(0, 1))
    assert re.match(r"system:2: .*'b'.*gold:1.*the end", str(caught.value))
