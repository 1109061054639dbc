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
            ("\t_\troot\n", "labels:1: expected text without tabs and line ends as 'form', found ''"),
            ("\na\t_\troot\nb\t_\t\n\n", "labels:3: expected text without tabs and line ends as 'deprel', found ''"),
            ("\na\t_\troot\nb\t_\t", "labels:3: expected text without tabs and line ends as 'deprel', found ''"),
            ("", "labels:1: expected at least one sentence, found an empty file"),
            ("\n\n\n", "labels:1: expected at least one sentence, found an empty file"),
        ],
        ids=ascii,
    )
    def test_tab_separated(self, tmp_path, content, message):
        assert message_of(tmp_path, content) == message

    def test_tags_that_are_missing(self, tmp_path):
        wanted = "labels:1: expected 4 columns (form, upos, head, deprel), found 3"
        assert message_of(tmp_path, "a\t-1@ROOT\troot\n", names=POSITIONS) == wanted
        wanted = "labels:1: expected text without tabs and line ends as 'upos', found ''"
        assert message_of(tmp_path, "a\t\t-1@ROOT\troot\n", names=POSITIONS) == wanted

    def test_what_is_no_tag(self, tmp_path):
        wanted = "labels:3: expected a part-of-speech tag as 'upos', found '_'"
        assert message_of(tmp_path, "\na\tX\t0\tx\nb\t_\t-1\ty\n", names=POSITIONS) == wanted
        wanted = "labels:2: expected a part-of-speech tag as 'upos', found the brackets '/>' of another encoding"
        assert message_of(tmp_path, "a\t_\t_\troot\nb\t/>\t_\tobj\n", names=POSITIONS) == wanted

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            ("{\n", "expected a JSON object, found a line that is none: Expecting property name"),
            ("a\t_\troot\n", "expected a JSON object, found a line that is none: Expecting value"),
            ("[" * 100_000, "expected a JSON object, found a line that is none: maximum recursion depth"),
            ('{"form": ' + "9" * 5000 + "}", "expected a JSON object, found a line that is none: Exceeds the limit"),
            ("[]", "expected a list of strings as 'form', found []"),
            ("null", "expected a list of strings as 'form', found None"),
            ("{}", "expected a list of strings as 'form', found None"),
            ('{"form": []}', "expected a list of strings as 'form', found []"),
            ('{"form": "abc"}', "expected a list of strings as 'form', found 'abc'"),
            ('{"form": ["a", 1]}', "expected a list of strings as 'form', found ['a', 1]"),
            ('{"form": ["a"], "plane1": ["_"]}', "expected a list of strings as 'deprel', found None"),
            ('{"form": ["a", "b"], "plane1": ["_"]}', "expected 2 values as 'plane1', found 1"),
            ('{"form": ["a"], "plane1": ["_"], "deprel": ["x", "y"]}', "expected 1 values as 'deprel', found 2"),
            (
                '{"form": ["a", ""], "plane1": ["", ""], "deprel": ["x", "y"]}',
                "expected text without tabs and line ends as 'form', found ''",
            ),
            (
                '{"form": ["a\\tb"], "plane1": ["_"], "deprel": ["x"]}',
                "expected text without tabs and line ends as 'form', found 'a\\tb'",
            ),
            (
                '{"form": ["a"], "plane1": ["_"], "deprel": ["x\\ny"]}',
                "expected text without tabs and line ends as 'deprel', found 'x\\ny'",
            ),
            (
                '{"form": ["\\ud800"], "plane1": ["_"], "deprel": ["x"]}',
                "expected text without tabs and line ends as 'form', found '\\ud800'",
            ),
        ],
        ids=range(17),
    )
    def test_json_lines(self, tmp_path, content, message):
        good = '{"form": ["a"], "plane1": ["_"], "deprel": ["root"]}\n'
        assert message_of(tmp_path, good + "\n" + content, layout="jsonl").startswith(f"labels:3: {message}")

    @pytest.mark.parametrize("content", ["", "\n \n"])
    def test_no_json_lines(self, tmp_path, content):
        wanted = "labels:1: expected at least one sentence, found an empty file"
        assert message_of(tmp_path, content, layout="jsonl") == wanted

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
