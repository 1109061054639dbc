"""From raw text to sentences and words, and tags."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterable, Iterator
from itertools import chain
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biplanar.data.conllu import Sentence
from biplanar.data.raw_text import original_text, token_text
from biplanar.errors import UnknownNameError
from biplanar.tokenizer import paragraphs
from biplanar.tokenizer.paragraphs import paragraphs_of, spaces_after
from biplanar.tokenizer.segmented import Spacing, TextPart
from biplanar.tokenizer.segmenter import LINE_BREAKS, ONLY
from tests.tokenizer.treebank import PARAGRAPH, SENTENCES, forms, rows


def text_of(sentences: Iterable[Sentence]) -> str:
    return "".join(map(token_text, sentences))


class TestSegmenting:
    def test_the_text_of_the_training_sentences_gives_them_back(self, segmenter):
        found = segmenter.segment(f"{PARAGRAPH} ")
        assert rows(found) == rows(SENTENCES)
        assert [sentence.comments[-2:] for sentence in found] == [sentence.comments for sentence in SENTENCES]
        assert text_of(found).strip() == PARAGRAPH

    def test_new_text_with_multiword_tokens(self, segmenter):
        [sentence] = segmenter.segment("O gato da avó dorme no jardim.")
        assert sentence.raw == (
            "# newdoc\n# newpar\n# sent_id = 1\n# text = O gato da avó dorme no jardim.\n"
            "1\tO\t_\t_\t_\t_\t_\t_\t_\t_\n"
            "2\tgato\t_\t_\t_\t_\t_\t_\t_\t_\n"
            "3-4\tda\t_\t_\t_\t_\t_\t_\t_\t_\n"
            "3\tde\t_\t_\t_\t_\t_\t_\t_\t_\n"
            "4\ta\t_\t_\t_\t_\t_\t_\t_\t_\n"
            "5\tavó\t_\t_\t_\t_\t_\t_\t_\t_\n"
            "6\tdorme\t_\t_\t_\t_\t_\t_\t_\t_\n"
            "7-8\tno\t_\t_\t_\t_\t_\t_\t_\t_\n"
            "7\tem\t_\t_\t_\t_\t_\t_\t_\t_\n"
            "8\to\t_\t_\t_\t_\t_\t_\t_\t_\n"
            "9\tjardim\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n"
            "10\t.\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n\n"
        )

    def test_paragraphs_are_marked_and_end_sentences(self, segmenter):
        found = segmenter.segment("O gato dorme\n\nOnde está o cão?\n \t\nChove.\nCanta.\r\n\r\nQue dia\r\nbonito!")
        assert [" ".join(sentence.forms) for sentence in found] == [
            "O gato dorme",
            "Onde está o cão ?",
            "Chove .",
            "Canta .",
            "Que dia bonito !",
        ]
        assert [sentence.comments[0] for sentence in found] == [
            "# newdoc",
            "# newpar",
            "# newpar",
            "# sent_id = 4",
            "# newpar",
        ]
        assert [sentence.comments[-2] for sentence in found] == [f"# sent_id = {number}" for number in range(1, 6)]

    def test_a_paragraph_is_cut_alike_wherever_it_stands(self, segmenter):
        [alone] = rows(segmenter.segment("O gato dorme\n\n"))
        together = segmenter.segment(f"Que dia\n\nO gato dorme\n\n{PARAGRAPH} ")
        assert rows(together)[1] == alone
        assert rows(together)[2:] == rows(SENTENCES)

    def test_one_sentence_a_line(self, segmenter):
        text = "Chove. Canta na rua\nQue dia\r\n\n\nO gato dorme. Onde?"
        found = segmenter.segment(text, line_breaks=ONLY)
        assert [sentence.comments[-1] for sentence in found] == [
            "# text = Chove. Canta na rua",
            "# text = Que dia",
            "# text = O gato dorme. Onde?",
        ]
        assert [sentence.comments[-2] for sentence in found] == [f"# sent_id = {number}" for number in (1, 2, 3)]
        assert found[0].forms == ["Chove", ".", "Canta", "em", "a", "rua"]

    @pytest.mark.parametrize("line_breaks", LINE_BREAKS)
    @pytest.mark.parametrize(
        "text", ["", " ", "\n", "\r\n\r\n", " \n\t\n\xa0", "\ufeff", "\u2028\x0b\x0c\x85", "\n" * 500]
    )
    def test_text_without_words(self, segmenter, text, line_breaks):
        assert segmenter.segment(text, line_breaks=line_breaks) == []

    @pytest.mark.parametrize(
        "text",
        [
            "😀👍🏽 O gato 🐈‍⬛ dorme.",
            "القط ينام. أين الكلب؟",
            "猫が寝ている。犬はどこですか？",
            "e\u0301 a\u0308",
            "a" * 2000,
            "?!" * 700,
            "x\x01\x7f\u200b\u200d\ufeffy \U0010ffff \ue000",
            "# sent_id = 1\n1\tO\t_",
            "https://example.org/na?rua=1 a@b.pt",
            "_ - _",
            "'\"\\ %s {} \\n",
        ],
    )
    def test_odd_text_loses_nothing(self, segmenter, text):
        found = segmenter.segment(text)
        assert "".join(text_of(found).split()) == "".join(text.split())

    def test_what_only_unicode_calls_a_space_parts_words(self, segmenter):
        found = segmenter.segment("O gato\u2028dorme\x0cno\x85rio\x0bda\u2029rua\xa0azul")
        assert [form for sentence in rows(found) for form in sentence if "-" in form] == [
            "4-5\tno\tSpacesAfter=\x85",
            "7-8\tda\tSpacesAfter=\u2029",
        ]

    @pytest.mark.parametrize("sign", ["\0", chr(0xD800), chr(0xDFFF)])
    def test_signs_that_cannot_be_written_are_replaced(self, segmenter, sign):
        found = segmenter.segment(f"O gato {sign} dorme. Chove.")
        assert text_of(found).strip() == "O gato \ufffd dorme. Chove."

    def test_sentences_that_touch(self, segmenter):
        with mock.patch.object(paragraphs, "LONGEST", 12):
            found = segmenter.segment("Chovechovechove")
        assert len(found) > 1
        assert original_text(found) == "Chovechovechove"


class TestStreaming:
    @given(
        st.lists(st.sampled_from(["O gato ", "dorme.", " ", "\n", "\r\n", "\n\n", "na rua", "\n \n", "!"]), max_size=40)
    )
    def test_how_text_is_cut_into_chunks_makes_no_difference(self, segmenter, chunks):
        with mock.patch.object(paragraphs, "LONGEST", 30):
            whole = segmenter.segment("".join(chunks))
            assert list(segmenter.stream(chunks)) == whole
            assert list(segmenter.stream("".join(chunks))) == whole
        assert "".join(text_of(whole).split()) == "".join("".join(chunks).split())

    @given(st.lists(st.sampled_from(["O gato ", "dorme.", " ", "\n", "\r\n", "na rua"]), max_size=30))
    def test_nor_does_it_for_one_sentence_a_line(self, segmenter, chunks):
        lines = ["".join(line.split()) for line in "".join(chunks).split("\n")]
        with mock.patch.object(paragraphs, "LONGEST", 10):
            found = list(segmenter.stream(chunks, line_breaks=ONLY))
        assert found == segmenter.segment("".join(chunks), line_breaks=ONLY)
        assert ["".join(token_text(sentence).split()) for sentence in found] == [line for line in lines if line]

    @pytest.mark.parametrize("line_breaks", LINE_BREAKS)
    @given(
        st.lists(
            st.sampled_from(["O gato ", "dorme.", " ", "\n", "\r\n", "\n\n", "na rua", "\n \n", "!", "\u2028"]),
            max_size=40,
        ),
        st.integers(1, 4),
        st.booleans(),
        st.booleans(),
    )
    def test_parts_can_be_segmented_by_themselves(self, segmenter, line_breaks, chunks, together, normalized, ranges):
        options = {"normalized_spaces": normalized, "ranges": ranges}
        with mock.patch.object(paragraphs, "LONGEST", 30):
            whole = "".join(sentence.raw for sentence in segmenter.stream(chunks, line_breaks=line_breaks, **options))
            parts = [part for some in paragraphs_of(chunks, lines=line_breaks == ONLY, size=7) for part in some]
        found, before, start, count = "", "", 0, 0
        for number in range(0, len(parts), together):
            some = parts[number : number + together]
            part = TextPart(some, before, start, lambda number, count=count: str(number + count))
            table, counts = segmenter.to_table([part], Spacing(**options), line_breaks)
            found += "" if table is None else table.data.decode()
            count += sum(counts)
            before = spaces_after(before, some)
            start += sum(map(len, some))
        assert found == whole

    @pytest.mark.parametrize(
        ("text", "parts"),
        [
            ("aa.\n\nbb. cc.\n\ndd", ["aa.\n\n", "bb. cc.\n\n", "dd"]),
            ("aaaa bbbb cccc dddd", ["aaaa bbbb ", "cccc dddd"]),
            ("aaaa\nbbb cccc dddd", ["aaaa\n", "bbb cccc ", "dddd"]),
            ("aaaabbbbccccdddd", ["aaaabbbbcc", "ccdddd"]),
            ("aaaa\xa0bbbbccccdddd", ["aaaa\xa0", "bbbbccccdd", "dd"]),
            ("aaaabbbbc\n\nd", ["aaaabbbbc\n\n", "d"]),
            (" \n\n aa\n \n\n \nbb", [" \n\n aa\n \n\n \n", "bb"]),
            ("aa bb cc  " + " " * 20 + "dd", ["aa bb cc  " + " " * 20, "dd"]),
            ("aa\n\n \n", ["aa\n\n \n"]),
            ("aa\r\n\r\nbb", ["aa\r\n\r\n", "bb"]),
        ],
    )
    def test_where_text_is_cut(self, text, parts):
        with mock.patch.object(paragraphs, "LONGEST", 10):
            assert list(chain.from_iterable(paragraphs_of([text]))) == parts
            assert list(chain.from_iterable(paragraphs_of(text, size=1))) == parts

    @pytest.mark.parametrize(
        ("text", "parts"),
        [
            ("aa\nbb\n\ncc", ["aa\n", "bb\n\n", "cc"]),
            ("aa \r\n \n  bb. cc\n\t\n", ["aa \r\n \n", "  bb. cc\n\t\n"]),
            (" \n\n aa\n", [" \n\n aa\n"]),
            ("\n \n", ["\n \n"]),
        ],
    )
    def test_where_lines_are_cut(self, text, parts):
        assert list(chain.from_iterable(paragraphs_of([text], lines=True))) == parts
        assert list(chain.from_iterable(paragraphs_of(text, lines=True, size=1))) == parts

    def test_a_long_text_takes_little_memory(self, segmenter):
        """Five megabytes, mostly spaces (which are quick to read): what is kept of them does not grow as they pass."""
        given, paragraph = 0, PARAGRAPH + " " * 30_000 + "\n\n"
        count, sentences, ahead, peaks = 5_000_000 // len(paragraph), 0, 0, []

        def chunks() -> Iterator[str]:
            nonlocal given
            for number in range(count):
                if number in (count // 2, count - 1):
                    peaks.append(tracemalloc.get_traced_memory()[1])
                    tracemalloc.reset_peak()
                given += len(paragraph)
                yield paragraph

        tracemalloc.start()
        try:
            for sentences, _ in self.numbered(segmenter, chunks):
                ahead = max(ahead, given - (sentences // len(SENTENCES)) * len(paragraph))
        finally:
            tracemalloc.stop()
        assert sentences + 1 == len(SENTENCES) * count
        assert ahead < 3 * paragraphs.LONGEST
        first, second = peaks
        assert second < 1.2 * first < given

    def numbered(self, segmenter, chunks) -> Iterator[tuple[int, str]]:
        for number, sentence in enumerate(segmenter.stream(chunks())):
            assert sentence.comments[-2] == f"# sent_id = {number + 1}"
            yield number, sentence.raw

    def test_sentences_come_before_the_text_has_ended(self, segmenter):
        def chunks() -> Iterator[str]:
            yield "Chove.\n\n" * 20_000
            pytest.fail("more was read than needed")

        assert next(segmenter.stream(chunks())).forms == ["Chove", "."]


class TestTogether:
    def test_texts_that_are_cut_together_are_cut_as_alone(self, segmenter):
        texts = ["Chove. Canta na rua.", "", " \n", "O gato dorme\n\nOnde?", PARAGRAPH]
        found = segmenter.segment_all(texts)
        assert [[one.raw for one in some] for some in found] == [
            [one.raw for one in segmenter.segment(text)] for text in texts
        ]

    def test_a_line_break_that_ends_a_sentence(self, segmenter):
        text = "Chove. Canta na rua\nO gato dorme\nOnde está o cão? Chove."
        found = segmenter.segment(text, line_breaks="sentence")
        assert forms(found) == [
            ["Chove", "."],
            ["Canta", "em", "a", "rua"],
            ["O", "gato", "dorme"],
            ["Onde", "está", "o", "cão", "?"],
            ["Chove", "."],
        ]
        assert original_text(found) == text

    def test_an_unknown_meaning_of_line_breaks(self, segmenter):
        with pytest.raises(UnknownNameError, match="hint"):
            segmenter.segment("Chove.", line_breaks="hnt")

    def test_sentences_of_given_tokens(self, segmenter):
        tokens = ["O", "gato", "dorme", ".", "Onde", "está", "o", "cão", "?", "Chove", "."]
        assert segmenter.sentences_of_tokens(tokens) == [tokens[:4], tokens[4:9], tokens[9:]]
        assert segmenter.sentences_of_tokens([]) == []

    def test_given_tokens_stay_whole(self, segmenter):
        docs = [["O ", "gato", " dorme.Chove. "], ["Onde?\n\n", "Chove."]]
        assert [ends.tolist() for ends in segmenter.sentence_ends(docs)] == [[False, False, True], [True, True]]
