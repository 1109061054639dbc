"""Text from packages: what is read of their files, and what of it reads like text."""

from __future__ import annotations

import pytest
from models.free_texts import like_text, main, of_fortunes, of_story

from biplanar.errors import FileError

STORY = """mission "Tea"
\tdescription "Bring a box of tea to the harbour."
\ton offer
\t\tconversation
\t\t\t`"Is it far?" you ask the old man.`
\t\t\t`He answers, "Welcome, <first>. It is not."`
\t\t\tchoice
\t\t\t\t`\t(Leave.)`
"""


def test_what_a_story_tells_and_says():
    assert list(of_story(STORY)) == [
        "Bring a box of tea to the harbour.",
        '"Is it far?" you ask the old man.',
        "\t(Leave.)",
    ]


def test_sayings_stand_between_lines_of_percent():
    assert of_fortunes("Tea is\nbest hot.\n%\nSo 5% of it is.\n") == ["Tea is\nbest hot.\n", "\nSo 5% of it is.\n"]


def test_text_has_some_words_and_an_end_and_stands_once():
    assert [*like_text(iter(["Tea is\nbest hot.", "(Leave.)", "Tea is best  hot.", "no end to it"]))] == [
        "Tea is best hot."
    ]


def test_a_language_is_written_a_paragraph_a_line(tmp_path):
    path = tmp_path / "unpacked" / "usr/share/games/endless-sky/data"
    path.mkdir(parents=True)
    (path / "tea.txt").write_text(STORY, encoding="utf-8")
    main([str(tmp_path / "unpacked"), "-o", str(tmp_path / "en.txt")])
    found = (tmp_path / "en.txt").read_text(encoding="utf-8")
    assert found == 'Bring a box of tea to the harbour.\n\n"Is it far?" you ask the old man.\n'


def test_a_folder_without_text_is_refused(tmp_path):
    with pytest.raises(FileError, match="no text in the language lt"):
        main([str(tmp_path), "--language", "lt", "-o", str(tmp_path / "lt.txt")])
    assert not (tmp_path / "lt.txt").exists()
