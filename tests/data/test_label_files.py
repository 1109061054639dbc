from __future__ import annotations

import json
from pathlib import Path

import pytest

from biplanar.data.label_files import LAYOUTS, get_layout, read_labels
from biplanar.errors import BiplanarError, FileError, FormatError, UnknownNameError

every_layout = pytest.mark.parametrize("layout", LAYOUTS)

BRACKETS = ["form", "plane1", "deprel"]
POSITIONS = ["form", "upos", "head", "deprel"]


def message_of(folder: Path, content: str, *, names: list[str] = BRACKETS, layout: str = "tsv") -> str:
    """What is said about a bad file of labels."""
    path = folder / "labels"
    path.write_bytes(content.encode())
    with pytest.raises(BiplanarError) as caught:
        list(read_labels(path, names, layout))
    return str(caught.value).replace(str(path), "labels")


@every_layout
def test_columns_come_back_as_they_were(tmp_path, layout):
    sentences = [
        {"form": ["Das", "Haus 🏠"], "upos": ["DET", "NOUN"], "head": ["+1@NOUN", ""], "deprel": ["det", "root"]},
        {"form": ["_"], "upos": ["X"], "head": ['"\\'], "deprel": ["root"]},
    ]
    path = tmp_path / "labels"
    path.write_text("".join(map(get_layout(layout).write, sentences)), encoding="utf-8")
    assert list(read_labels(path, POSITIONS, layout)) == sentences


def test_an_unknown_layout():
    with pytest.raises(UnknownNameError, match=r"^unknown layout 'json'; did you mean 'jsonl'\? "):
        get_layout("json")


class TestBadFiles:
    @pytest.mark.parametrize(
        ("content", "message"),
        [
            ("a\t_\troot\nb\t_\n", "labels:2: expected 3 columns (form, plane1, deprel), found 2"),
            ("a\t_\troot\n\nb\t_\t_\tx\n", "labels:3: expected 3 columns (form, plane1, deprel), found 4"),
            ("a _ root\n", "labels:1: expected 3 columns (form, plane1, deprel), found 1"),
            ("a\t_\troot\n \n", "labels:2: expected 3 columns (form, plane1, deprel), found 1"),
            ("\t_\troot\n", "labels:1: 'form' cannot be ''"),
            ("\na\t_\troot\nb\t_\t\n\n", "labels:3: 'deprel' cannot be ''"),
            ("\na\t_\troot\nb\t_\t", "labels:3: 'deprel' cannot be ''"),
            ("", "labels:1: the file has no sentences"),
            ("\n\n\n", "labels:1: the file has no sentences"),
        ],
        ids=ascii,
    )
    def test_tab_separated(self, tmp_path, content, message):
        assert message_of(tmp_path, content).startswith(message)

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            ("a\t-1@ROOT\troot\n", "labels:1: expected 4 columns (form, upos, head, deprel), found 3"),
            ("a\t\t-1@ROOT\troot\n", "labels:1: 'upos' cannot be ''"),
            ("\na\tX\t0\tx\nb\t_\t-1\ty\n", "labels:3: '_' is no part-of-speech tag"),
            ("a\tX\t_\troot\nb\t/>\t_\tobj\n", "labels:2: '/>' is no part-of-speech tag"),
        ],
    )
    def test_tags(self, tmp_path, content, message):
        assert message_of(tmp_path, content, names=POSITIONS).startswith(message)

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            ("{\n", "not a JSON object: Expecting property name"),
            ("a\t_\troot\n", "not a JSON object: Expecting value"),
            ("[" * 100_000, "not a JSON object: maximum recursion depth"),
            ('{"form": ' + "9" * 5000 + "}", "not a JSON object: Exceeds the limit"),
            ("[]", "'form' is []"),
            ("null", "'form' is None"),
            ("{}", "'form' is None"),
            ('{"form": []}', "'form' is []"),
            ('{"form": "abc"}', "'form' is 'abc'"),
            ('{"form": ["a", 1]}', "'form' is ['a', 1]"),
            ('{"form": ["a"], "plane1": ["_"]}', "'deprel' is None"),
            ('{"form": ["a", "b"], "plane1": ["_"]}', "'plane1' has 1 values for 2 words"),
            ('{"form": ["a"], "plane1": ["_"], "deprel": ["x", "y"]}', "'deprel' has 2 values for 1 words"),
            ('{"form": ["a", ""], "plane1": ["", ""], "deprel": ["x", "y"]}', "'form' cannot be ''"),
            ('{"form": ["a\\tb"], "plane1": ["_"], "deprel": ["x"]}', "'form' cannot be 'a\\tb'"),
            ('{"form": ["a"], "plane1": ["_"], "deprel": ["x\\ny"]}', "'deprel' cannot be 'x\\ny'"),
            ('{"form": ["\\ud800"], "plane1": ["_"], "deprel": ["x"]}', "'form' cannot be '\\ud800'"),
        ],
        ids=range(17),
    )
    def test_json_lines(self, tmp_path, content, message):
        good = '{"form": ["a"], "plane1": ["_"], "deprel": ["root"]}\n'
        assert message_of(tmp_path, good + "\n" + content, layout="jsonl").startswith(f"labels:3: {message}")

    @pytest.mark.parametrize("content", ["", "\n \n"])
    def test_no_json_lines(self, tmp_path, content):
        assert message_of(tmp_path, content, layout="jsonl") == "labels:1: the file has no sentences"

    def test_a_long_value_is_cut_short(self, tmp_path):
        assert len(message_of(tmp_path, json.dumps({"form": "a" * 10_000}), layout="jsonl")) < 150

    def test_broken_utf8(self, tmp_path):
        path = tmp_path / "labels"
        path.write_bytes(b"a\t0\troot\n\n\xe9\t0\troot\n")
        with pytest.raises(FormatError, match=r"labels:3: not UTF-8 text: byte 0xe9"):
            list(read_labels(path, BRACKETS, "tsv"))

    def test_a_missing_file(self, tmp_path):
        with pytest.raises(FileError, match=r"missing: No such file or directory$"):
            list(read_labels(tmp_path / "missing", BRACKETS, "tsv"))
