"""The text is kept: white space and places of tokens in MISC."""

from __future__ import annotations

from pathlib import Path
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biplanar.data.conllu import parse_conllu
from biplanar.data.raw_text import original_text
from biplanar.tokenizer import paragraphs, udpipe
from biplanar.tokenizer.segmenter import LINE_BREAKS, Segmenter
from biplanar.tokenizer.udpipe import UDPipeSegmenter, train_udpipe
from tests.tokenizer.conftest import trained
from tests.tokenizer.treebank import SENTENCES, rows, sentence_of

SPACES = "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2003\u2028\u2029\u202f\u3000"
TEXTS = st.one_of(
    st.text(st.one_of(st.sampled_from(f"ab.\\|#_{SPACES}"), st.characters(exclude_categories=["Cs"])), max_size=40),
    st.lists(
        st.sampled_from(
            ["O gato", "dorme.", "na", "3 000", *"  \n\n\t\v", "\n\n", "\r\n", " \n \n", "\u2028", "Sr.", "\\s"]
        ),
        max_size=20,
    ).map("".join),
)


@pytest.fixture(scope="module", params=["tagger", "udpipe"])
def spacious(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Segmenter:
    """A segmenter that has seen words with spaces in them."""
    path: Path = tmp_path_factory.mktemp("spacious") / "tokenizer.udpipe"
    lines = [f"Custa/VERB {number}~000/NUM euros/NOUN ^./PUNCT" for number in range(1, 10)] * 3
    sentences = [sentence_of(line, 1) for line in lines]
    spaced = [parse_conllu(sentence.raw.replace("~", " "))[0] for sentence in sentences]
    if request.param == "tagger":
        return trained([*SENTENCES, *spaced])
    with mock.patch.dict(udpipe.TOKENIZER, {"allow_spaces": 1}):
        train_udpipe([*SENTENCES, *spaced], None, path, epochs=2)
    return UDPipeSegmenter.load(path)


def kept(text: str) -> str:
    """What can be kept of a text."""
    text = text.removeprefix("\ufeff").replace("\0", "\ufffd")
    return text if text.strip() else ""


@given(TEXTS, st.sampled_from(LINE_BREAKS), st.booleans(), st.sampled_from([8, 30, 1000]))
def test_any_text_can_be_rebuilt(segmenter, text, line_breaks, ranges, longest):
    with mock.patch.object(paragraphs, "LONGEST", longest):
        found = segmenter.segment(text, line_breaks=line_breaks, ranges=ranges)
    assert original_text(found) == kept(text)


@given(TEXTS, st.sampled_from(LINE_BREAKS))
def test_also_with_spaces_in_words(spacious, text, line_breaks):
    assert original_text(spacious.segment(text, line_breaks=line_breaks)) == kept(text)


@given(TEXTS, st.sampled_from(LINE_BREAKS), st.sampled_from([8, 30, 1000]))
def test_ranges_are_the_places_of_tokens(segmenter, text, line_breaks, longest):
    with mock.patch.object(paragraphs, "LONGEST", longest):
        found = segmenter.segment(text, line_breaks=line_breaks, ranges=True)
        plain = segmenter.segment(text, line_breaks=line_breaks)
    end, places = 0, text.removeprefix("\ufeff").replace("\0", "\ufffd")
    for sentence in found:
        for token in sentence.tokens:
            start, stop = map(int, token.misc.rpartition("TokenRange=")[2].split(":"))
            assert places[start:stop] == token.form
            assert not places[end:start].strip()
            end = stop
    assert not places[end:].strip()
    assert [sentence.forms for sentence in found] == [sentence.forms for sentence in plain]


def test_white_space_is_written_as_udpipe_does(segmenter):
    found = segmenter.segment("  O gato\tdorme.\n\n \nQue  dia\r\nbonito!\fOnde?", ranges=True)
    assert [row for sentence in rows(found) for row in sentence] == [
        r"1	O	SpacesBefore=\s\s|TokenRange=2:3",
        r"2	gato	SpacesAfter=\t|TokenRange=4:8",
        "3\tdorme\tSpaceAfter=No|TokenRange=9:14",
        r"4	.	SpacesAfter=\n\n\s\n|TokenRange=14:15",
        r"1	Que	SpacesAfter=\s\s|TokenRange=19:22",
        r"2	dia	SpacesAfter=\r\n|TokenRange=24:27",
        "3\tbonito\tSpaceAfter=No|TokenRange=29:35",
        "4\t!\tSpacesAfter=\f|TokenRange=35:36",
        "1\tOnde\tSpaceAfter=No|TokenRange=37:41",
        "2\t?\tSpaceAfter=No|TokenRange=41:42",
    ]


def test_normalized_spaces(segmenter):
    text = "  O gato\tdorme.\n\n \nQue  dia\r\nbonito!\fOnde?"
    found = segmenter.segment(text, normalized_spaces=True)
    joined = ["dorme", "bonito", "Onde"]
    assert [(token.form, token.misc) for sentence in found for token in sentence.tokens] == [
        (form, "SpaceAfter=No" if form in joined else "_")
        for form in ["O", "gato", "dorme", ".", "Que", "dia", "bonito", "!", "Onde", "?"]
    ]
    both = segmenter.segment(text, normalized_spaces=True, ranges=True)
    assert rows(both)[0][1:3] == ["2\tgato\tTokenRange=4:8", "3\tdorme\tSpaceAfter=No|TokenRange=9:14"]


def test_spaces_in_words(spacious):
    found = spacious.segment("Custa 3 000 euros. Custa 3\t000 euros. Custa 3  000 euros.")
    numbers = [row for sentence in rows(found) for row in sentence if "000" in row]
    assert numbers == ["2\t3 000\t_", r"2	3 000	SpacesInToken=3\t000", r"2	3 000	SpacesInToken=3\s\s000"]


@pytest.mark.parametrize(
    ("text", "rebuilt"),
    [
        (" \n\n", ""),  # there is no token to tell of it
        ("\ufeffChove.", "Chove."),  # a byte order mark is no part of the text
        ("Chove\0.", "Chove\ufffd."),
        ("Chove\ud83d.", "Chove\ufffd."),
    ],
)
def test_what_cannot_be_kept(segmenter, text, rebuilt):
    assert original_text(segmenter.segment(text)) == rebuilt
