from __future__ import annotations

import io
import lzma
import sys
import tracemalloc
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from random import Random
from typing import NamedTuple
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biplanar.data import conllu
from biplanar.data.compression import compressing
from biplanar.data.conllu import (
    COLUMNS,
    FEATS,
    LEMMA,
    MISC,
    UPOS,
    Sentence,
    Token,
    Word,
    find_misfit,
    parse_conllu,
    read_conllu,
    write_conllu,
)
from biplanar.data.forest import Forest
from biplanar.data.tree import Tree
from biplanar.errors import BiplanarError, FileError, FormatError, LabelError, TreeError
from tests.strategies import random_heads, tree_of, trees

EMPTY = "_"
MARK = "\ufeff"


def row(number: int | str, form: str = "w", head: int | str = 0, deprel: str = "dep", misc: str = EMPTY) -> str:
    """One line, but for its end."""
    return "\t".join([str(number), form, EMPTY, EMPTY, EMPTY, EMPTY, str(head), deprel, EMPTY, misc])


def block(*heads: int | str) -> str:
    """A sentence of some heads."""
    return "".join(row(number, f"w{number}", head) + "\n" for number, head in enumerate(heads, 1)) + "\n"


GOOD = block(2, 0, 2)  # four lines

# A multiword token, an empty node, comments before and among the words, all columns filled.
FULL = "\n".join(
    [
        "# sent_id = 1",
        "# text = im Haus  wohnen 🐈",
        "1-2\tim\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No",
        "1\tin\tin\tADP\tAPPR\t_\t3\tcase\t3:case\tGloss=in",
        "2\tdem\tder\tDET\tART\tCase=Dat\t3\tdet\t3:det\t_",
        "3\tHaus\tHaus\tNOUN\tNN\tCase=Dat|Number=Sing\t4\tobl\t4:obl:in\t_",
        "# a comment among the words",
        "4\twohnen\twohnen\tVERB\tVV\tVerbForm=Inf\t0\troot\t0:root\tA=B|C=d e",
        "4.1\twohnen\twohnen\tVERB\t_\t_\t_\t_\t4:conj\tCopyOf=4",
        "5\t🐈\t🐈\tSYM\t_\t_\t4\tdiscourse\t_\t_",
        "",
        "",
    ]
)


def written(sentences: Iterable[Sentence]) -> str:
    stream = io.StringIO(newline="")
    write_conllu(sentences, stream)
    return stream.getvalue()


def everything(sentences: Iterable[Sentence]) -> list[tuple[str, list[str], str, int]]:
    """All that a sentence holds; when compared, it is its text alone."""
    return [(sentence.raw, sentence.rows, sentence.path, sentence.line) for sentence in sentences]


def read_in_chunks(chunks: Iterable[bytes], name: str = "<text>") -> list[Sentence]:
    with mock.patch.object(conllu, "read_text", return_value=iter(chunks)):
        return list(read_conllu(name))


def message_of(text: str) -> str:
    with pytest.raises(BiplanarError) as caught:
        Forest.from_sentences(parse_conllu(text, "bad.conllu"))
    return str(caught.value)


# Documents


class Document(NamedTuple):
    """Text, and what should be found in it."""

    text: str
    fields: list[list[list[str]]]
    comments: list[list[str]]


def words_of(*, most: int = 12, excluded: str = "") -> st.SearchStrategy[str]:
    """Any text that a column can hold."""
    return st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\t\n" + excluded), max_size=most)


blank_lines = st.sampled_from(["", "", "", " ", "\t", " \t  ", MARK])


@st.composite
def sentences_of(draw: st.DrawFn) -> tuple[list[str], list[list[str]], list[str]]:
    """The lines, words and comments of one sentence."""
    field = words_of(excluded="\r").map(lambda value: value or EMPTY)
    tree = draw(st.one_of(st.none(), trees(6)))
    size = len(tree) if tree else draw(st.integers(1, 4))
    comments = ["#" + comment for comment in draw(st.lists(words_of(excluded="\r"), max_size=3))]
    lines, words = list(comments), []
    for number in range(1, size + 1):
        if draw(st.integers(0, 7)) == 0:
            lines.append("\t".join([f"{number}-{number + 1}", draw(field), *[EMPTY] * 7, draw(field)]))
        if draw(st.integers(0, 7)) == 0:
            lines.append("\t".join([f"{number - 1}.1", draw(field), *[EMPTY] * 8]))
        if draw(st.integers(0, 9)) == 0:
            comments.append("#" + draw(words_of(excluded="\r")))
            lines.append(comments[-1])
        arc = [str(tree.heads[number - 1]), tree.deprels[number - 1]] if tree else [EMPTY, EMPTY]
        fields = [str(number), draw(field), *[EMPTY] * 3, draw(field), *arc, EMPTY, draw(field)]
        lines.append("\t".join(fields))
        words.append(fields)
    return lines, words, comments


@st.composite
def documents(draw: st.DrawFn) -> Document:
    """Files as people make them: blank lines of all kinds around sentences, and any end."""
    end = draw(st.sampled_from(["\n", "\n", "\r\n"]))
    sentences = draw(st.lists(sentences_of(), min_size=1, max_size=4))
    text = draw(st.sampled_from(["", MARK])) + "".join(
        line + end for line in draw(st.one_of(st.just([]), st.lists(blank_lines, max_size=3)))
    )
    for number, (lines, _, _) in enumerate(sentences, 1):
        text += end.join(lines)
        if number < len(sentences):
            between = draw(st.one_of(st.just([""]), st.lists(blank_lines, min_size=1, max_size=4)))
            text += end + "".join(line + end for line in between)
    tail = st.lists(blank_lines, max_size=3).map(lambda blank: end + end.join(blank))
    text += draw(st.one_of(st.just(""), st.just(end), st.just(end * 2), tail))
    return Document(text, [words for _, words, _ in sentences], [comments for _, _, comments in sentences])


class TestRoundTrip:
    @given(documents())
    def test_every_byte_comes_back(self, document):
        sentences = parse_conllu(document.text)
        assert "".join(sentence.to_conllu() for sentence in sentences) == document.text
        assert written(sentences) == document.text

    @given(documents())
    def test_words_and_comments_are_what_was_written(self, document):
        sentences = parse_conllu(document.text)
        assert [[line.split("\t") for line in sentence.rows] for sentence in sentences] == document.fields
        assert [sentence.comments for sentence in sentences] == document.comments
        for sentence, fields in zip(sentences, document.fields, strict=True):
            for number in range(len(COLUMNS)):
                assert sentence.column(number) == [field[number] for field in fields]

    @given(documents())
    def test_a_sentence_knows_its_line(self, document):
        lines = document.text.split("\n")
        for sentence in parse_conllu(document.text):
            first = sentence.raw.split("\n")[0]
            assert lines[sentence.line - 1].startswith(first)
            word = sentence.error_at(len(sentence), "")
            assert lines[word.line - 1].removesuffix("\r").lstrip(MARK) == sentence.rows[-1]

    @given(documents(), st.data())
    def test_chunks_never_change_the_result(self, document, data):
        whole = document.text.encode()
        cuts = sorted(data.draw(st.sets(st.integers(1, len(whole)), max_size=6)))
        chunks = [whole[start:end] for start, end in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
        assert everything(read_in_chunks(filter(None, chunks))) == everything(parse_conllu(document.text))

    @pytest.mark.parametrize("chunk", [1, 2, 3, 5, 64])
    @pytest.mark.parametrize(
        "text",
        [
            GOOD + FULL + GOOD,
            (FULL + GOOD).replace("\n", "\r\n"),
            f"{MARK}\n\n \n{GOOD}\n\n\t\n{GOOD}\n\n",
            f"{GOOD}   ",
            f"{GOOD}\n\n   ",
            f"{MARK}{GOOD}{MARK}{GOOD}",
            f"{GOOD}{MARK}\n\n{GOOD}{MARK}",
            GOOD * 3 + GOOD.rstrip(),
        ],
    )
    def test_small_chunks_of_a_file(self, tmp_path, monkeypatch, chunk, text):
        path = tmp_path / "words.conllu"
        path.write_bytes(text.encode())
        whole = list(read_conllu(path))
        monkeypatch.setattr("biplanar.data.files.BUFFER", chunk)
        assert everything(read_conllu(path)) == everything(whole)
        assert written(whole) == text

    def test_blank_lines_belong_to_the_sentence_before_them_or_to_the_first(self):
        first, second = parse_conllu(f"{MARK} \n\n{GOOD}\n \n{FULL}\n\t")
        assert first.raw == f"{MARK} \n\n{GOOD}\n \n"
        assert second.raw == f"{FULL}\n\t"
        assert (first.line, second.line) == (1, 9)

    @pytest.mark.parametrize("end", ["\n", "\r\n"])
    def test_treebanks(self, treebank_file, end):
        whole = lzma.decompress(treebank_file.read_bytes()).replace(b"\n", end.encode())
        cut = len(whole) // 3
        sentences = read_in_chunks([whole[:cut], whole[cut:]])
        assert written(sentences).encode() == whole
        sample = sentences[:: max(1, len(sentences) // 200)]
        assert [sentence.with_tree(sentence.tree) for sentence in sample] == sample


class TestReading:
    def test_all_of_a_sentence(self):
        (sentence,) = parse_conllu(FULL)
        assert sentence.raw == sentence.to_conllu() == FULL
        assert len(sentence) == 5
        assert sentence.forms == ["in", "dem", "Haus", "wohnen", "🐈"]
        assert sentence.upos == ["ADP", "DET", "NOUN", "VERB", "SYM"]
        assert sentence.heads == [3, 3, 4, 0, 4]
        assert sentence.tree == Tree((3, 3, 4, 0, 4), ("case", "det", "obl", "root", "discourse"))
        assert sentence.comments == [
            "# sent_id = 1",
            "# text = im Haus  wohnen 🐈",
            "# a comment among the words",
        ]
        assert sentence.column(FEATS)[2] == "Case=Dat|Number=Sing"
        assert sentence.column(MISC)[3] == "A=B|C=d e"
        assert sentence.is_parsed

    def test_words(self):
        (sentence,) = parse_conllu(FULL)
        assert sentence.words[2] == Word(
            id=3,
            form="Haus",
            lemma="Haus",
            upos="NOUN",
            xpos="NN",
            feats="Case=Dat|Number=Sing",
            head=4,
            deprel="obl",
            deps="4:obl:in",
            misc="_",
        )
        assert [word.id for word in sentence.words] == [1, 2, 3, 4, 5]
        assert [word.head for word in sentence.words] == sentence.heads

    @pytest.mark.parametrize("ending", ["", ".gz", ".xz", ".bz2"])
    def test_files(self, tmp_path, ending):
        path = tmp_path / f"words.conllu{ending}"
        with path.open("wb") as file, compressing(file, path) as stream:
            stream.write((GOOD + FULL).encode())
        assert [sentence.raw for sentence in read_conllu(path)] == [GOOD, FULL]

    def test_standard_input(self, monkeypatch):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(GOOD.encode())))
        (sentence,) = read_conllu("-")
        assert (sentence.raw, sentence.path) == (GOOD, "<stdin>")

    def test_sentences_come_before_the_file_has_been_read(self):
        def endless() -> Iterator[bytes]:
            while True:
                yield GOOD.encode() * 100

        with mock.patch.object(conllu, "read_text", return_value=endless()):
            assert len(list(islice(read_conllu("endless"), 1000))) == 1000

    def test_windows_line_ends(self):
        (sentence,) = parse_conllu(FULL.replace("\n", "\r\n"))
        assert sentence.column(MISC) == ["Gloss=in", "_", "_", "A=B|C=d e", "_"]
        assert sentence.comments == parse_conllu(FULL)[0].comments
        assert sentence.tree == parse_conllu(FULL)[0].tree

    def test_a_byte_order_mark_is_no_part_of_comments_and_words(self):
        assert parse_conllu(MARK + FULL)[0].comments == parse_conllu(FULL)[0].comments
        assert parse_conllu(MARK + GOOD)[0].rows == parse_conllu(GOOD)[0].rows
        assert parse_conllu(f" \n{MARK}{FULL}")[0].comments == parse_conllu(FULL)[0].comments

    @pytest.mark.parametrize(
        "form",
        [
            "New York",
            " ",
            "🐈‍⬛👩🏽‍🚀",
            "שלום",
            "مرحبا",
            "\u202eabc\u202c",
            "a\0b",
            "\0",
            "\x01\x07\x08\x0b\x0c\x1b\x1c\x1d\x1e\x1f\x7f",
            "a\u2028b",
            "a\u2029b",
            "a\u0085b",
            "a\rb",
            "\ufeffa",
            "\u00a0",
            "#",
            "1-2",
            "e\u0301",
            "\U0010ffff",
        ],
        ids=ascii,
    )
    def test_forms_of_all_kinds(self, form):
        text = f"# {form}\n{row(1, form, 2)}\n{row(2, form, 0)}\n\n"
        (sentence,) = parse_conllu(text)
        assert sentence.forms == [form, form]
        assert sentence.comments == [f"# {form}"]
        assert sentence.raw == text
        assert sentence.tree.heads == (2, 0)
        assert Sentence.from_words([form]).forms == [form]

    def test_a_sentence_of_10_000_words(self):
        size = 10_000
        text = block(*range(size)) + GOOD
        long, short = parse_conllu(text)
        assert long.tree.heads == tuple(range(size))
        assert long.with_tree(long.tree) == long
        assert (short.raw, short.line) == (GOOD, size + 2)

    def test_two_sentences_are_equal_if_their_text_is(self):
        first, second = parse_conllu(GOOD + GOOD)
        assert first == second
        assert hash(first) == hash(second)
        assert first != parse_conllu(FULL)[0]


class TestUnparsed:
    def test_they_are_kept_as_they_are(self):
        text = FULL.replace("\t3\tcase", "\t_\t_").replace("\t3\tdet", "\t_\t_").replace("\t4\tobl", "\t_\t_")
        text = text.replace("\t0\troot", "\t_\t_").replace("\t4\tdiscourse", "\t_\t_")
        (sentence,) = parse_conllu(text, "words.conllu")
        assert written([sentence]) == text
        assert not sentence.is_parsed
        assert [word.head for word in sentence.words] == [None] * 5
        assert {word.deprel for word in sentence.words} == {"_"}
        with pytest.raises(FormatError) as caught:
            _ = sentence.tree
        assert str(caught.value) == "words.conllu:4: expected a whole number as HEAD, found '_'"
        assert sentence.with_tree(parse_conllu(FULL)[0].tree).raw == FULL

    def test_some_heads_are_not_enough(self):
        (sentence,) = parse_conllu(block(2, 0, EMPTY), "words.conllu")
        assert sentence.is_parsed
        assert [word.head for word in sentence.words] == [2, 0, None]
        for read in (lambda: sentence.tree, lambda: sentence.heads, lambda: Forest.from_sentences([sentence])):
            with pytest.raises(FormatError) as caught:
                read()
            assert str(caught.value) == "words.conllu:3: expected a whole number as HEAD, found '_'"


class TestWithTree:
    TREE = Tree((0, 1, 1, 2, 3), ("root", "a", "b", "c", "d:e"))

    @pytest.mark.parametrize("end", ["\n", "\r\n"])
    def test_all_else_stays(self, end):
        text = (MARK + "\n" + FULL).replace("\n", end)
        (sentence,) = parse_conllu(text, "words.conllu")
        changed = sentence.with_tree(self.TREE)
        wanted = text.replace("\t3\tcase", "\t0\troot").replace("\t3\tdet", "\t1\ta").replace("\t4\tobl\t", "\t1\tb\t")
        wanted = wanted.replace("VerbForm=Inf\t0\troot", "VerbForm=Inf\t2\tc").replace("\t4\tdiscourse", "\t3\td:e")
        assert changed.raw == wanted
        assert changed.tree == self.TREE
        assert everything([changed]) == everything(parse_conllu(wanted, "words.conllu"))
        assert changed.with_tree(sentence.tree) == sentence
        assert sentence.raw == text

    @given(documents(), st.data())
    def test_any_tree_into_any_sentence(self, document, data):
        for sentence in parse_conllu(document.text):
            tree = tree_of(random_heads(len(sentence), Random(data.draw(st.integers(0, 999)))))
            changed = sentence.with_tree(tree)
            assert changed.tree == tree
            assert everything(parse_conllu(changed.raw)) == [(changed.raw, changed.rows, "<text>", 1)]
            assert changed.comments == sentence.comments
            for number in (*range(6), 8, 9):
                assert changed.column(number) == sentence.column(number)
            assert changed.raw.count("\n") == sentence.raw.count("\n")
            if sentence.is_parsed:
                assert changed.with_tree(sentence.tree) == sentence
                assert sentence.with_tree(sentence.tree).raw == sentence.raw

    @pytest.mark.parametrize("before", ["0.1", "1-1", "# 1", "#1", "# a comment 1"])
    def test_lines_that_end_like_a_word_stay(self, before):
        """An empty node 0.1 of the same form looks like word 1, but for the first two signs."""
        word = row(1, "ja", EMPTY, EMPTY)
        text = f"{before}{word[1:]}\n{word}\n\n"
        changed = parse_conllu(text)[0].with_tree(Tree((0,), ("root",)))
        assert changed.raw == f"{before}{word[1:]}\n{row(1, 'ja', 0, 'root')}\n\n"

    def test_a_tree_of_another_size(self):
        with pytest.raises(TreeError, match="5 words"):
            parse_conllu(GOOD)[0].with_tree(self.TREE)

    @pytest.mark.parametrize("deprel", ["", "a\tb", "a\nb", "\ud800"])
    def test_relations_that_would_break_the_file(self, deprel):
        with pytest.raises(LabelError) as caught:
            parse_conllu(GOOD)[0].with_tree(Tree((2, 0, 2), ("a", "root", deprel)))
        wanted = f"value 3: DEPREL cannot be {deprel!r}"
        assert str(caught.value).startswith(wanted)


class TestWithColumns:
    def test_all_else_stays_as_it_is(self):
        text = FULL.replace("\n", "\r\n")
        (sentence,) = parse_conllu(text)
        lemmas, misc = [f"l{word}" for word in range(len(sentence))], ["_"] * len(sentence)
        changed = sentence.with_columns({LEMMA: lemmas, MISC: misc})
        assert (changed.column(LEMMA), changed.column(MISC)) == (lemmas, misc)
        others = [number for number in range(10) if number not in (LEMMA, MISC)]
        assert [changed.column(number) for number in others] == [sentence.column(number) for number in others]
        assert changed.comments == sentence.comments
        assert [line for line in changed.raw.split("\n") if line.partition("\t")[0].count("-")] == [
            line for line in text.split("\n") if line.partition("\t")[0].count("-")
        ]
        assert changed.with_columns({LEMMA: sentence.column(LEMMA), MISC: sentence.column(MISC)}).raw == text

    @pytest.mark.parametrize("value", ["", "a\tb", "a\nb", "\ud800"])
    def test_values_that_no_column_can_hold(self, value):
        sentence = Sentence.from_words(["a", "b"])
        with pytest.raises(LabelError, match="value 2: UPOS"):
            sentence.with_columns({UPOS: ["X", value]})

    def test_too_few_values(self):
        with pytest.raises(LabelError, match=r"^UPOS: 1 values for 2 words$"):
            Sentence.from_words(["a", "b"]).with_columns({UPOS: ["X"]})


class TestTokens:
    LINES = (
        "1-2\tim\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No|X=Y",
        "1\tin\t_\t_\t_\t_\t_\t_\t_\t_",
        "2\tdem\t_\t_\t_\t_\t_\t_\t_\t_",
        "3\tHaus\t_\t_\t_\t_\t_\t_\t_\tX=Y",
        "3.1\tist\t_\t_\t_\t_\t_\t_\t_\t_",
        "4-4\tda\t_\t_\t_\t_\t_\t_\t_\t_",
        "4\tda\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No",
    )

    @pytest.mark.parametrize("end", ["\n", "\r\n"])
    @pytest.mark.parametrize("start", ["", "\ufeff", "# 1-4\tx{end}"])
    def test_words_and_multiword_tokens(self, start, end):
        (sentence,) = parse_conllu(start.format(end=end) + end.join([*self.LINES, "", ""]))
        assert sentence.tokens == [
            Token(1, 2, "im", "SpaceAfter=No|X=Y", True),
            Token(3, 3, "Haus", "X=Y", False),
            Token(4, 4, "da", "_", True),
        ]
        assert [token.space_after for token in sentence.tokens] == [False, True, True]

    @pytest.mark.parametrize("bounds", ["0-2", "2-1", "2-4", f"1-{'9' * 5000}"])
    def test_ranges_out_of_the_sentence(self, bounds):
        lines = [self.LINES[0].replace("1-2", bounds), *self.LINES[1:4], "", ""]
        (sentence,) = parse_conllu("# a\n" + "\n".join(lines))
        with pytest.raises(FormatError, match=r"^<text>:2: expected a multiword token within words 1 to 3, found "):
            _ = sentence.tokens


class TestFiles:
    @pytest.mark.parametrize("name", ["x.conllu", "x.conllu.gz", "x.conllu.xz", "x.conllu.bz2"])
    def test_a_file(self, tmp_path, name):
        blocks = parse_conllu("# ø\n1\ta\t_\t_\t_\t_\t_\t_\t_\t_\r\n")
        write_conllu(blocks * 2, tmp_path / name)
        write_conllu(blocks * 2, str(tmp_path / name))  # anew
        assert [sentence.rows for sentence in read_conllu(tmp_path / name)] == [blocks[0].rows] * 2
        if name == "x.conllu":
            assert (tmp_path / name).read_bytes().endswith(b"\t_\r\n")

    def test_what_goes_wrong_leaves_nothing(self, tmp_path):
        def sentences():
            yield Sentence.from_words(["a"])
            raise FormatError("x", 1, "no more")

        with pytest.raises(FormatError):
            write_conllu(sentences(), tmp_path / "x.conllu.gz")
        assert list(tmp_path.iterdir()) == []


class TestWithMisc:
    def test_it_keeps_what_it_has(self):
        sentence = Sentence.from_words(["a", "b"]).with_misc("X", ["1", "2"]).with_misc("HeadProb", ["0.5", "0.6"])
        again = sentence.with_misc("X", ["3", "4"])
        assert [word.misc for word in again.words] == ["HeadProb=0.5|X=3", "HeadProb=0.6|X=4"]


class TestFromWords:
    def test_forms_alone(self):
        sentence = Sentence.from_words(["Grüß", "Gott"])
        assert sentence.raw == "1\tGrüß\t_\t_\t_\t_\t_\t_\t_\t_\n2\tGott\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
        assert not sentence.is_parsed

    def test_all_there_is(self):
        tree = Tree((2, 0), ("nsubj", "root"))
        sentence = Sentence.from_words(["ich", "bin"], tree, upos=["PRON", "AUX"], comments=["# text = ich bin"])
        assert sentence.raw == (
            "# text = ich bin\n1\tich\t_\tPRON\t_\t_\t2\tnsubj\t_\t_\n2\tbin\t_\tAUX\t_\t_\t0\troot\t_\t_\n\n"
        )
        assert (sentence.tree, sentence.upos, sentence.comments) == (tree, ["PRON", "AUX"], ["# text = ich bin"])
        assert everything(parse_conllu(sentence.raw, "<words>")) == everything([sentence])

    @given(st.lists(words_of().filter(bool), min_size=1, max_size=6))
    def test_any_forms(self, forms):
        assert Sentence.from_words(forms).forms == forms

    @pytest.mark.parametrize("form", ["", "a\tb", "a\nb", "\n\n", "\ud800", "a" + "\t_" * 8 + "\n2\tb"], ids=ascii)
    def test_forms_that_would_break_the_file(self, form):
        with pytest.raises(LabelError) as caught:
            Sentence.from_words(["a", form])
        assert str(caught.value).startswith(f"value 2: FORM cannot be {form!r}")
        with pytest.raises(LabelError, match="value 1: UPOS"):
            Sentence.from_words(["a"], upos=[form])

    def test_no_words(self):
        with pytest.raises(FormatError, match="at least one word"):
            Sentence.from_words([])

    def test_a_comment_without_its_sign(self):
        with pytest.raises(FormatError, match="'text = a' is no comment"):
            Sentence.from_words(["a"], comments=["text = a"])

    def test_a_tree_of_another_size(self):
        with pytest.raises(TreeError, match="2 words"):
            Sentence.from_words(["a"], Tree((0, 1), ("root", "b")))

    def test_find_misfit(self):
        assert find_misfit([]) is None
        assert find_misfit(["a", " ", "\r", "\u2028"]) is None
        assert find_misfit(["a", "b", "", "\t"]) == 2
        assert find_misfit(["a", "\t"]) == 1


class TestWriting:
    @pytest.mark.parametrize(
        ("first", "between"),
        [
            (GOOD, ""),
            (GOOD + "\n", ""),
            (GOOD[:-1], "\n"),
            (GOOD[:-2], "\n\n"),
            (GOOD[:-1] + " \n", ""),
            (GOOD[:-1] + " ", "\n"),
            (GOOD + " ", "\n"),
            (GOOD[:-1] + MARK + "\n", ""),
            (GOOD.replace("\n", "\r\n"), ""),
            (GOOD.replace("\n", "\r\n")[:-2], "\r\n"),
            (GOOD.replace("\n", "\r\n")[:-4], "\r\n\r\n"),
        ],
        ids=ascii,
    )
    def test_a_blank_line_between_sentences_that_came_without_one(self, first, between):
        (sentence,) = parse_conllu(first)
        (other,) = parse_conllu(FULL)
        assert written([sentence, other]) == first + between + FULL
        assert [len(one) for one in parse_conllu(written([sentence, sentence, other]))] == [3, 3, 5]
        assert written([sentence]) == first

    @settings(max_examples=40)
    @given(st.lists(documents(), min_size=2, max_size=3))
    def test_several_files_become_one(self, documents):
        sentences = [sentence for document in documents for sentence in parse_conllu(document.text)]
        again = parse_conllu(written(sentences))
        assert [sentence.rows for sentence in again] == [sentence.rows for sentence in sentences]
        assert [sentence.comments for sentence in again] == [sentence.comments for sentence in sentences]

    def test_nothing(self):
        assert written([]) == ""


class TestBadInput:
    """What is wrong is named with its file and line; the bad sentence comes second, behind four good lines."""

    @pytest.mark.parametrize(
        ("bad", "line", "message"),
        [
            pytest.param("1\ta\t_\n\n", 5, "expected 10 columns, found 3", id="too few columns"),
            pytest.param(row(1) + "\t_\n\n", 5, "expected 10 columns, found 11", id="too many columns"),
            pytest.param("1 a _ _ _ _ 0 root _ _\n\n", 5, "expected 10 columns, found 1", id="spaces for tabs"),
            pytest.param(
                "1\ta\t_\t_\t_\t_\t2\tb\t_\n2\ta\t_\t_\t_\t_\t0\tb\t_\t_\t_\n\n",
                5,
                "expected 10 columns, found 9",
                id="9 and then 11 columns",
            ),
            pytest.param(
                "1\ta\t_\t_\t_\t_\t2\tb\t_\t_\t_\n2\ta\t_\t_\t_\t_\t0\tb\t_\n\n",
                5,
                "expected 10 columns, found 11",
                id="11 and then 9 columns",
            ),
            pytest.param("1\ta\0b\t_\t_\t_\t_\t0\tb\t_\n\n", 5, "expected 10 columns, found 9", id="a NUL for a tab"),
            pytest.param("1-2\ta\n" + GOOD, 5, "expected 10 columns, found 2", id="a bad multiword token"),
            pytest.param("0.1\ta\n" + GOOD, 5, "expected 10 columns, found 2", id="a bad empty node"),
            pytest.param("text = a\n" + GOOD, 5, "expected 10 columns, found 1", id="a comment without its sign"),
            pytest.param(" # text\n" + GOOD, 5, "expected 10 columns, found 1", id="a comment behind a space"),
            *(
                pytest.param(
                    "\t".join([*["1", "a", "_", "_", "_", "_", "0", "b", "_", "_"][:at], "", *["_"] * (9 - at)]) + "\n",
                    5,
                    f"expected a value or _ as {name}, found nothing",
                    id=f"no {name}",
                )
                for at, name in enumerate(COLUMNS)
            ),
            *(
                pytest.param(
                    row(1, head=2) + "\n" + row(2, head=head) + "\n\n",
                    6,
                    f"expected a whole number as HEAD, found {head!r}",
                    id=f"HEAD {head!a}",
                )
                for head in ("x", "1_0", "+1", "-1", "1.0", " 1", "1 ", "٠", "１", "²", "0x0", "_", "\0")
            ),
            *(
                pytest.param(
                    row(1, head=0) + "\n" + row(2, head=head) + "\n\n",
                    6,
                    f"expected a HEAD from 0 to 2, found {head:.40}",
                    id=f"HEAD of {len(head)} digits",
                )
                for head in ("3", "2147483648", "9" * 30, "9" * 5000)
            ),
            pytest.param(block(2, 0, 3), 7, "word 3 is its own head", id="a self-loop"),
            pytest.param(block(0, 3, 2), 6, "the heads form a cycle: 2 -> 3 -> 2", id="a cycle"),
            pytest.param(block(2, 1), 5, "no word has head 0 (the root)", id="no root"),
            pytest.param(f"{row(1)}\n{row(1)}\n\n", 6, "expected the ID 2, found '1'", id="an ID twice"),
            pytest.param(f"{row(1)}\n{row(3)}\n\n", 6, "expected the ID 2, found '3'", id="an ID missing"),
            pytest.param(f"{row(2)}\n{row(1)}\n\n", 5, "expected the ID 1, found '2'", id="IDs that start at 2"),
            pytest.param(f"{row(0)}\n{row(1)}\n\n", 5, "expected the ID 1, found '0'", id="IDs that start at 0"),
            pytest.param(f"{row('01')}\n\n", 5, "expected the ID 1, found '01'", id="an ID with a zero before it"),
            pytest.param(f"{row('١')}\n\n", 5, "expected the ID 1, found '١'", id="an ID in other digits"),
            pytest.param(f"{row(1)}\n{row('2-')}\n\n", 6, "expected the ID 2, found '2-'", id="half a range"),
            pytest.param(f"{row('x')}\n\n", 5, "expected the ID 1, found 'x'", id="a word as ID"),
            pytest.param("# a\n# b\n\n", 5, "expected a sentence with words, found none in this block", id="comments"),
            pytest.param(row("1.1") + "\n\n", 5, "expected a sentence with words, found none in this block", id="1.1"),
        ],
    )
    def test_in_the_second_sentence(self, bad, line, message):
        wanted = f"bad.conllu:{line}: {message}"
        assert message_of(GOOD + bad) == wanted
        assert message_of(GOOD + bad + GOOD) == wanted
        assert message_of(GOOD.replace("\n", "\r\n") + bad + GOOD) == wanted
        assert message_of(GOOD + bad.rstrip("\n")) == wanted
        assert message_of(f"{MARK}{GOOD}{bad}") == wanted
        assert message_of(bad) == wanted.replace(f":{line}:", f":{line - 4}:")
        assert message_of(GOOD + "\n\n \n" + bad) == wanted.replace(f":{line}:", f":{line + 3}:")

    @pytest.mark.parametrize(
        ("text", "line"),
        [("# a\n\n" + GOOD, 1), (GOOD + "# a\n\n" + GOOD, 5), (GOOD + "# a\n\n", 5), (GOOD + "# a\n", 5), ("# a", 1)],
    )
    def test_a_block_of_comments(self, text, line):
        assert message_of(text) == f"bad.conllu:{line}: expected a sentence with words, found none in this block"

    @pytest.mark.parametrize(
        "text", ["", "\n", "\n\n\n", " \t\r\n\n", MARK, f"{MARK}\n\n", "\r\n\r\n", "  "], ids=ascii
    )
    def test_an_empty_file(self, text):
        assert message_of(text) == "bad.conllu:1: the file has no sentences"

    def test_a_tree_says_where_it_is_wrong_as_a_forest_does(self):
        text = "# a\n" + block(0, 3, 2)
        with pytest.raises(FormatError) as caught:
            _ = parse_conllu(text, "bad.conllu")[0].tree
        assert str(caught.value) == "bad.conllu:3: the heads form a cycle: 2 -> 3 -> 2" == message_of(text)
        assert (caught.value.path, caught.value.line) == ("bad.conllu", 3)
        assert caught.value.message == "the heads form a cycle: 2 -> 3 -> 2"

    def test_lines_are_counted_past_comments_multiword_tokens_and_empty_nodes(self):
        assert message_of(FULL.replace("\t4\tdiscourse", "\t9\tdiscourse")) == (
            "bad.conllu:10: expected a HEAD from 0 to 5, found 9"
        )

    def test_newlines_alone_take_little_memory(self):
        tracemalloc.start()
        try:
            with pytest.raises(FormatError, match="no sentences"):
                parse_conllu("\n" * 1_000_000)
            assert tracemalloc.get_traced_memory()[1] < 20_000_000
        finally:
            tracemalloc.stop()

    @pytest.mark.parametrize("chunk", [1, 7, 1 << 20])
    def test_broken_utf8(self, tmp_path, monkeypatch, chunk):
        monkeypatch.setattr("biplanar.data.files.BUFFER", chunk)
        path = tmp_path / "bad.conllu"
        path.write_bytes((GOOD * 2).encode() + row(1, "é", 0).encode("latin-1") + b"\n\n" + GOOD.encode())
        with pytest.raises(FormatError, match=r"bad.conllu:9: not UTF-8 text: byte 0xe9"):
            list(read_conllu(path))

    def test_text_that_utf8_cannot_say(self):
        with pytest.raises(FormatError, match=r"^bad\.conllu:2: not UTF-8 text: byte 0xed"):
            parse_conllu("# a\n" + row(1, "\ud800") + "\n\n", "bad.conllu")

    def test_an_xz_file_that_is_cut_off(self, tmp_path):
        path = tmp_path / "bad.conllu.xz"
        path.write_bytes(lzma.compress(GOOD.encode())[:-10])
        with pytest.raises(FileError, match=r"bad\.conllu\.xz: truncated or corrupt xz data \("):
            list(read_conllu(path))

    def test_a_missing_file(self, tmp_path):
        path = tmp_path / "missing.conllu"
        with pytest.raises(FileError) as caught:
            list(read_conllu(path))
        assert str(caught.value) == f"{path}: No such file or directory"

    def test_good_sentences_come_before_the_bad_one(self, tmp_path, monkeypatch):
        monkeypatch.setattr("biplanar.data.files.BUFFER", 1)
        path = Path(tmp_path / "bad.conllu")
        path.write_text(GOOD + GOOD + "x\n\n")
        sentences = read_conllu(path)
        assert [next(sentences).raw, next(sentences).raw] == [GOOD, GOOD]
        with pytest.raises(FormatError):
            next(sentences)


class TestDisplacy:
    def test_words_and_arcs(self):
        sentence = Sentence.from_words(
            ["A", "dog", "barks"], Tree((2, 3, 0), ("det", "nsubj", "root")), upos=["DET", "NOUN", "_"]
        )
        assert sentence.to_displacy() == {
            "words": [{"text": "A", "tag": "DET"}, {"text": "dog", "tag": "NOUN"}, {"text": "barks", "tag": ""}],
            "arcs": [
                {"start": 0, "end": 1, "label": "det", "dir": "left"},
                {"start": 1, "end": 2, "label": "nsubj", "dir": "left"},
            ],
        }

    def test_right_arcs(self):
        arcs = Sentence.from_words(["a", "b", "c"], Tree((0, 3, 1), ("root", "x", "y"))).to_displacy()["arcs"]
        assert arcs == [
            {"start": 1, "end": 2, "label": "x", "dir": "left"},
            {"start": 0, "end": 2, "label": "y", "dir": "right"},
        ]

    def test_without_a_tree(self):
        with pytest.raises(FormatError, match="expected a whole number as HEAD"):
            Sentence.from_words(["a"]).to_displacy()
