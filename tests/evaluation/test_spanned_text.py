from __future__ import annotations

import sys
import unicodedata

import pytest

from biplanar.errors import BiplanarError, FormatError
from biplanar.evaluation.alignment import _SPACES, NOWHERE, ROOT, SpannedText
from tests.evaluation.sentences import COFFEE, HOUSE, conllu, heads, sentences


def placed(*texts: str) -> SpannedText:
    return SpannedText.from_sentences(sentences(*texts))


def test_words_of_a_multiword_token_stand_where_it_does() -> None:
    before = len("Shehasbeenservedcoldcoffee.")
    words = placed(COFFEE, HOUSE).words[7:]
    assert [(word.start - before, word.end - before, word.form, word.multiword) for word in words] == [
        (0, 2, "Er", False),
        (2, 6, "geht", False),
        (6, 9, "zu", True),
        (6, 9, "dem", True),
        (9, 13, "Haus", False),
        (13, 14, ".", False),
    ]


def test_text_is_that_of_tokens_not_words() -> None:
    assert placed(HOUSE).characters == "ErgehtzumHaus."


def test_spaces_in_words_do_not_count() -> None:
    spaced = HOUSE.replace("geht", "g e\u00a0h\u3000t")
    assert placed(spaced).characters == placed(HOUSE).characters
    assert placed(spaced).words == placed(HOUSE).words


def test_spaces_are_the_category_zs() -> None:
    assert [chr(code) for code in range(sys.maxunicode + 1) if _SPACES.fullmatch(chr(code))] == [
        chr(code) for code in range(sys.maxunicode + 1) if unicodedata.category(chr(code)) == "Zs"
    ]


def test_heads_are_places_among_all_words() -> None:
    assert placed(heads(2, 0), heads(0, 3, 1)).heads.tolist() == [1, ROOT, ROOT, 4, 2]
    assert ROOT != NOWHERE


def test_byte_order_mark_before_a_multiword_token() -> None:
    text = "\ufeff" + conllu("1-2 ab\n1 a _ _ _ _ 0 root\n2 b _ _ _ _ 1 dep")
    assert [word.multiword for word in placed(text).words] == [True, True]


@pytest.mark.parametrize("bounds", ["0-2", "2-1", "2-4", "1-9"])
def test_multiword_token_out_of_the_sentence(bounds: str) -> None:
    text = "# a comment\n" + conllu(f"{bounds} ab\n1 a _ _ _ _ 0 root\n2 b _ _ _ _ 1 dep\n3 c _ _ _ _ 1 dep")
    with pytest.raises(FormatError, match=rf"<text>:2: expected a multiword token within words 1 to 3, found {bounds}"):
        placed(text)


def test_multiword_tokens_that_overlap() -> None:
    text = conllu("1-2 ab\n1 a _ _ _ _ 0 root\n2-3 bc\n2 b _ _ _ _ 1 dep\n3 c _ _ _ _ 1 dep")
    with pytest.raises(FormatError, match=r"<text>:3: expected a multiword token within words 3 to 3, found 2-3"):
        placed(text)


def test_word_of_spaces_only() -> None:
    text = heads(0, 1).replace("b", "\u00a0")
    with pytest.raises(FormatError, match=r"<text>:2: FORM is nothing but spaces"):
        placed(text)


def test_no_sentences() -> None:
    with pytest.raises(BiplanarError, match="no sentences"):
        SpannedText.from_sentences([])
