from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biplanar.draw.text import is_right_to_left, shorten, text_width

# Pixels that a browser gave these words in letters of 16 pixels, in DejaVu Sans or the font that it took instead.
MEASURED = {
    "a": 9.8,
    "word": 39.3,
    "incomprehensibilities": 170.3,
    "WWWWW": 79.1,
    "été": 26.0,
    "Ψυχή": 41.2,
    "щука": 44.0,
    "日本語": 48.0,
    "한국어": 44.2,
    "السلام": 43.0,
    "שלום": 35.4,
}


@pytest.mark.parametrize(("text", "width"), MEASURED.items())
def test_widths_are_near_and_not_too_small(text: str, width: float):
    assert width <= text_width(text, 16) <= 1.5 * width


def test_marks_take_no_room():
    assert text_width("e\u0301", 16) == text_width("e", 16) == text_width("é", 16)
    assert text_width("\u200b\u0301", 16) == 0
    assert text_width("", 16) == 0


def test_letters_of_code_are_never_narrow():
    assert text_width("iii", 12, monospace=True) == text_width("xxx", 12, monospace=True)
    assert text_width("iii", 12, monospace=True) > text_width("iii", 12)


@given(st.text(max_size=30), st.integers(20, 200))
def test_shortened_text_fits(text: str, width: int):
    short = shorten(text, width, 12)
    assert text_width(short, 12) <= width
    assert short == text or (short.endswith("…") and text.startswith(short[:-1]))


def test_marks_without_end_are_shortened_too():
    assert len(shorten("e" + "\u0301" * 5000, 80, 16)) == 80


def test_as_much_is_kept_as_fits():
    short = shorten("incomprehensibilities", 80, 16)
    longer = "incomprehensibilities"[: len(short)] + "…"
    assert text_width(short, 16) <= 80 < text_width(longer, 16)


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["שלום", "עולם"], True),
        (["سلام", "2024", "."], True),
        (["hello", "שלום", "world"], False),
        (["123", "!"], False),
        ([], False),
    ],
)
def test_which_scripts_run_from_right_to_left(texts: list[str], expected: bool):
    assert is_right_to_left(texts) == expected
