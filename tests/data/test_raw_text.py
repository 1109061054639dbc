from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biplanar.data.conllu import Sentence, parse_conllu
from biplanar.data.raw_text import original_text, raw_text, starts_paragraph, token_text
from biplanar.data.words import Token, space_items
from biplanar.errors import FormatError
from tests.data.reading import read_horizontal, read_vertical

IM_HAUS = """\
1-2\tim\t_\t_\t_\t_\t_\t_\t_\t_
1\tin\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
2\tdem\t_\t_\t_\t_\t_\t_\t_\t_
3\tHaus\t_\t_\t_\t_\t_\t_\t_\tGloss=house|SpaceAfter=No
3.1\tist\t_\t_\t_\t_\t_\t_\t_\t_
4\t.\t_\t_\t_\t_\t_\t_\t_\t{misc}

"""


def sentence(*comments: str, misc: str = "_") -> Sentence:
    return parse_conllu("".join(f"{line}\n" for line in comments) + IM_HAUS.format(misc=misc))[0]


def test_tokens_have_the_spaces_that_misc_tells():
    assert token_text(sentence()) == "im Haus. "
    assert token_text(sentence(misc="SpaceAfter=No")) == "im Haus."
    assert token_text(sentence(misc="SpaceAfter=Nothing")) == "im Haus. "


@pytest.mark.parametrize(
    ("misc", "text"),
    [
        (r"SpacesAfter=\s\n\t", "im Haus. \n\t"),
        (r"SpacesBefore=\r\n|SpaceAfter=No", "im Haus\r\n."),
        (r"SpacesAfter=\s\s|SpacesInToken=\\s\p\s|TokenRange=7:11", "im Haus\\s|   "),
        ("SpacesAfter=\u2028", "im Haus.\u2028"),
        ("SpacesAfter=", "im Haus."),
        ("Spaces", "im Haus. "),
    ],
)
def test_all_white_space_that_misc_tells(misc, text):
    assert token_text(sentence(misc=misc)) == text
    assert original_text([sentence(misc=misc), sentence()]) == f"{text}im Haus. "


@given(st.text(st.sampled_from(" \t\r\n|\\stnpa\u2028")))
def test_escapes(text):
    items = space_items(text, text, text)
    token = Token(1, 1, "form", "|".join(items) or "_", is_multiword=False)
    assert token.spaced == (text, text or "form", text)
    assert not set(" \t\r\n|") & set("".join(items))


@pytest.mark.parametrize(
    ("comment", "starts"),
    [
        ("# newpar", True),
        ("# newpar id = 7", True),
        ("#newdoc", True),
        ("# newdoc id = a", True),
        ("# newparagraphs", False),
        ("# text = # newpar", False),
    ],
)
def test_where_paragraphs_start(comment, starts):
    assert starts_paragraph(sentence("# sent_id = 1", comment)) is starts


def test_the_text_of_a_treebank():
    texts = [
        sentence("# newdoc", "# text = Im  Haus."),
        sentence(misc=r"SpacesAfter=\n"),
        sentence("# newpar"),
        sentence("# text = "),
        sentence(),
    ]
    assert raw_text(texts) == "Im  Haus. im Haus.\n\nim Haus.  im Haus.\n"
    assert raw_text([]) == "\n"


class TestTextThatIsAlreadyCut:
    def test_horizontal(self, tmp_path):
        path = tmp_path / "words.txt"
        path.write_bytes("\ufeffO gato  dorme .\r\n\n \t\nOnde\testá ?\n10\xa0000 # 🐈".encode())
        found = list(read_horizontal(path))
        assert [sentence.forms for sentence in found] == [
            ["O", "gato", "dorme", "."],
            ["Onde", "está", "?"],
            ["10\xa0000", "#", "🐈"],
        ]
        assert [sentence.comments for sentence in found] == [
            ["# sent_id = 1", "# text = O gato dorme ."],
            ["# sent_id = 2", "# text = Onde está ?"],
            ["# sent_id = 3", "# text = 10\xa0000 # 🐈"],
        ]

    def test_vertical(self, tmp_path):
        path = tmp_path / "words.txt"
        path.write_bytes("\ufeff\n\nO\ngato\tNOUN\r\n.\n\n \n\nNova Iorque\n#\n".encode())
        found = list(read_vertical(path))
        assert [sentence.forms for sentence in found] == [["O", "gato", "."], ["Nova Iorque", "#"]]
        assert found[1].comments == ["# sent_id = 2", "# text = Nova Iorque #"]

    @pytest.mark.parametrize("read", [read_horizontal, read_vertical])
    @pytest.mark.parametrize("data", [b"", b"\n", b" \r\n\n\xef\xbb\xbf\n"])
    def test_nothing(self, tmp_path, read, data):
        path = tmp_path / "words.txt"
        path.write_bytes(data)
        assert list(read(path)) == []

    @pytest.mark.parametrize("read", [read_horizontal, read_vertical])
    def test_broken_text_names_its_line(self, tmp_path, read):
        path = tmp_path / "words.txt"
        path.write_bytes(b"a\n\nb\xff\n")
        with pytest.raises(FormatError, match=r"words\.txt:3: not UTF-8 text: byte 0xff"):
            list(read(path))

    @pytest.mark.parametrize("read", [read_horizontal, read_vertical])
    def test_sentences_come_before_the_file_has_ended(self, monkeypatch, read):
        monkeypatch.setattr("tests.data.reading.read_lines", lambda _: enumerate(["a", "", "b", ""], 1))
        stream = read("-")
        assert next(stream).forms == ["a"]
        assert next(stream).forms == ["b"]
