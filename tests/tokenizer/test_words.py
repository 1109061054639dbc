"""Text that is already cut into words."""

from __future__ import annotations

import pytest

from biplanar.errors import FormatError
from tests.tokenizer.reading import read_horizontal, read_vertical
from tests.tokenizer.treebank import forms


class TestTextThatIsAlreadyCut:
    def test_horizontal(self, tmp_path):
        path = tmp_path / "words.txt"
        path.write_bytes("\ufeffO gato  dorme .\r\n\n \t\nOnde\testá ?\n10\xa0000 # 🐈".encode())
        found = list(read_horizontal(path))
        assert forms(found) == [["O", "gato", "dorme", "."], ["Onde", "está", "?"], ["10\xa0000", "#", "🐈"]]
        assert [sentence.comments for sentence in found] == [
            ["# sent_id = 1", "# text = O gato dorme ."],
            ["# sent_id = 2", "# text = Onde está ?"],
            ["# sent_id = 3", "# text = 10\xa0000 # 🐈"],
        ]

    def test_vertical(self, tmp_path):
        path = tmp_path / "words.txt"
        path.write_bytes("\ufeff\n\nO\ngato\tNOUN\r\n.\n\n \n\nNova Iorque\n#\n".encode())
        found = list(read_vertical(path))
        assert forms(found) == [["O", "gato", "."], ["Nova Iorque", "#"]]
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
        monkeypatch.setattr("tests.tokenizer.reading.read_lines", lambda _: enumerate(["a", "", "b", ""], 1))
        stream = read("-")
        assert next(stream).forms == ["a"]
        assert next(stream).forms == ["b"]
