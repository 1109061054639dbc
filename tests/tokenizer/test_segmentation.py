from __future__ import annotations

import signal
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biplanar.data.conllu import LEMMA, UPOS, XPOS, Sentence, parse_conllu
from biplanar.data.tree import Tree
from biplanar.errors import BiplanarError, FileError, FormatError
from biplanar.tokenizer import segmentation
from biplanar.tokenizer.segmentation import (
    Segmenter,
    raw_text,
    read_horizontal,
    read_vertical,
    shift_numbers,
    spaces_after,
    text_parts,
    train_segmenter,
)

# Words with their tags; `+` joins the words of a multiword token, whose own form comes first; `^` joins a token to the
# one before it without a space.
TREEBANK = """
A/DET gata/NOUN dorme/VERB na=em/ADP+a/DET cama/NOUN ^./PUNCT
O/DET menino/NOUN gosta/VERB do=de/ADP+o/DET mar/NOUN ^./PUNCT
A/DET avó/NOUN mora/VERB no=em/ADP+o/DET campo/NOUN ^,/PUNCT perto/ADV do=de/ADP+o/DET rio/NOUN ^./PUNCT
Quem/PRON canta/VERB na=em/ADP+a/DET rua/NOUN ^?/PUNCT
Ninguém/PRON canta/VERB ^!/PUNCT
O/DET gato/NOUN da=de/ADP+a/DET Maria/PROPN come/VERB peixe/NOUN ^,/PUNCT pão/NOUN e/CCONJ queijo/NOUN ^./PUNCT
Depois/ADV ^,/PUNCT o/DET gato/NOUN dorme/VERB ^./PUNCT
O/DET Sr./NOUN Costa/PROPN vive/VERB em/ADP Lisboa/PROPN ^./PUNCT
Ela/PRON comprou/VERB três/NUM livros/NOUN na=em/ADP+a/DET loja/NOUN ^./PUNCT
A/DET Ana/PROPN disse/VERB ^:/PUNCT "/PUNCT ^Vou/VERB ao=a/ADP+o/DET mercado/NOUN ^"/PUNCT ^./PUNCT
Chove/VERB muito/ADV no=em/ADP+o/DET norte/NOUN ^./PUNCT
O/DET comboio/NOUN (/PUNCT ^o/DET azul/ADJ ^)/PUNCT parte/VERB ao=a/ADP+o/DET meio-dia/NOUN ^./PUNCT
Que/DET dia/NOUN bonito/ADJ ^!/PUNCT
Queres/VERB chá/NOUN ou/CCONJ café/NOUN ^?/PUNCT
A/DET água/NOUN da=de/ADP+a/DET fonte/NOUN é/AUX fria/ADJ ^./PUNCT
Os/DET livros/NOUN da=de/ADP+a/DET Ana/PROPN estão/AUX na=em/ADP+a/DET mesa/NOUN ^./PUNCT
O/DET pai/NOUN do=de/ADP+o/DET menino/NOUN lê/VERB o/DET jornal/NOUN ^./PUNCT
Onde/ADV está/AUX o/DET cão/NOUN ^?/PUNCT
O/DET cão/NOUN está/AUX no=em/ADP+o/DET jardim/NOUN ^./PUNCT
Na=Em/ADP+a/DET praia/NOUN ^,/PUNCT o/DET mar/NOUN é/AUX azul/ADJ ^./PUNCT
Do=De/ADP+o/DET rio/NOUN vem/VERB água/NOUN fria/ADJ ^./PUNCT
Canta/VERB ^,/PUNCT canta/VERB ^,/PUNCT disse/VERB a/DET avó/NOUN ^./PUNCT
O/DET mercado/NOUN de/ADP Lisboa/PROPN abre/VERB cedo/ADV ^./PUNCT
Três/NUM meninos/NOUN comem/VERB pão/NOUN no=em/ADP+o/DET jardim/NOUN ^./PUNCT
"""


def sentence_of(line: str, number: int) -> Sentence:
    tokens = line.split()
    text, rows, words = "", [f"# sent_id = {number}"], 0
    for token, following in zip(tokens, [*tokens[1:], "^"], strict=True):
        misc = "SpaceAfter=No" if following.startswith("^") and following != "^" else "_"
        form, _, parts = token.removeprefix("^").rpartition("=")
        tagged = [part.rsplit("/", 1) for part in parts.split("+")]
        text += (form or tagged[0][0]) + " " * (misc == "_")
        if form:
            rows.append("\t".join([f"{words + 1}-{words + len(tagged)}", form, *"_______", misc]))
        for word, upos in tagged:
            words += 1
            rows.append("\t".join([str(words), word, word.lower(), upos, *"_____", "_" if form else misc]))
    rows.insert(1, f"# text = {text.rstrip()}")
    return parse_conllu("\n".join([*rows, "", ""]))[0]


SENTENCES = [sentence_of(line, number) for number, line in enumerate(TREEBANK.strip().split("\n"), 1)]
PARAGRAPH = raw_text(SENTENCES).strip()


@pytest.fixture(scope="module", autouse=True)
def quick_training() -> Iterator[None]:
    """A smaller network and shorter segments, which are enough for so few sentences."""
    with mock.patch.dict(segmentation.TOKENIZER, {"dimension": 16, "segment_size": 50}):
        yield


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("segmenter") / "tokenizer.udpipe"
    train_segmenter(SENTENCES, None, path, epochs=1, tagger=True)
    return path


@pytest.fixture(scope="module")
def segmenter(model: Path) -> Segmenter:
    return Segmenter.load(model)


def rows(sentences: list[Sentence]) -> list[list[str]]:
    """IDs, forms and MISC of all tokens and words, which is what a tokenizer decides."""
    lines = [[line.split("\t") for line in sentence.raw.split("\n") if "\t" in line] for sentence in sentences]
    return [["\t".join([*columns[:2], columns[9]]) for columns in sentence] for sentence in lines]


def forms(sentences: list[Sentence]) -> list[list[str]]:
    return [sentence.forms for sentence in sentences]


class TestSegmenting:
    def test_the_text_of_the_training_sentences_gives_them_back(self, segmenter):
        found = segmenter.segment(PARAGRAPH)
        assert rows(found) == rows(SENTENCES)
        assert [sentence.comments[-2:] for sentence in found] == [sentence.comments for sentence in SENTENCES]
        assert raw_text(found).strip() == PARAGRAPH

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
            "10\t.\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
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
        [alone] = rows(segmenter.segment("O gato dorme"))
        together = segmenter.segment(f"Que dia\n\nO gato dorme\n\n{PARAGRAPH}")
        assert rows(together)[1] == alone
        assert rows(together)[2:] == rows(SENTENCES)

    def test_one_sentence_a_line(self, segmenter):
        text = "Chove. Canta na rua\nQue dia\r\n\n\nO gato dorme. Onde?"
        found = segmenter.segment(text, presegmented=True)
        assert [sentence.comments[-1] for sentence in found] == [
            "# text = Chove. Canta na rua",
            "# text = Que dia",
            "# text = O gato dorme. Onde?",
        ]
        assert [sentence.comments[-2] for sentence in found] == [f"# sent_id = {number}" for number in (1, 2, 3)]
        assert found[0].forms == ["Chove", ".", "Canta", "em", "a", "rua"]

    @pytest.mark.parametrize("presegmented", [False, True])
    @pytest.mark.parametrize(
        "text", ["", " ", "\n", "\r\n\r\n", " \n\t\n\xa0", "\ufeff", "\u2028\x0b\x0c\x85", "\n" * 500]
    )
    def test_text_without_words(self, segmenter, text, presegmented):
        assert segmenter.segment(text, presegmented=presegmented) == []

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
        assert "".join(raw_text(found).split()) == "".join(text.split())

    def test_what_only_unicode_calls_a_space_parts_words(self, segmenter):
        found = segmenter.segment("O gato\u2028dorme\x0cno\x85rio\x0bda\u2029rua\xa0azul")
        assert [form for sentence in rows(found) for form in sentence if "-" in form] == ["4-5\tno\t_", "7-8\tda\t_"]

    @pytest.mark.parametrize("sign", ["\0", chr(0xD800), chr(0xDFFF)])
    def test_signs_that_udpipe_cannot_take_are_replaced(self, segmenter, sign):
        found = segmenter.segment(f"O gato {sign} dorme. Chove.")
        assert raw_text(found).strip() == "O gato \ufffd dorme. Chove."

    def test_sentences_that_touch(self, segmenter):
        """Whether a space follows is told at the end of sentences too, but not at the end of the text."""
        with mock.patch.object(segmentation, "PIECE", 12):
            found = segmenter.segment("Chovechovechove")
        assert raw_text(found).strip() == "Chovechovechove"
        assert rows(segmenter.segment("Chove"))[0] == ["1\tChove\t_"]


class TestStreaming:
    @given(
        st.lists(st.sampled_from(["O gato ", "dorme.", " ", "\n", "\r\n", "\n\n", "na rua", "\n \n", "!"]), max_size=40)
    )
    def test_how_text_is_cut_into_chunks_makes_no_difference(self, segmenter, chunks):
        with mock.patch.object(segmentation, "PIECE", 30):
            whole = segmenter.segment("".join(chunks))
            assert list(segmenter.stream(chunks)) == whole
            assert list(segmenter.stream("".join(chunks))) == whole
        assert "".join(raw_text(whole).split()) == "".join("".join(chunks).split())

    @given(st.lists(st.sampled_from(["O gato ", "dorme.", " ", "\n", "\r\n", "na rua"]), max_size=30))
    def test_nor_does_it_for_one_sentence_a_line(self, segmenter, chunks):
        lines = ["".join(line.split()) for line in "".join(chunks).split("\n")]
        with mock.patch.object(segmentation, "PIECE", 10):
            found = list(segmenter.stream(chunks, presegmented=True))
        assert found == segmenter.segment("".join(chunks), presegmented=True)
        assert ["".join(raw_text([sentence]).split()) for sentence in found] == [line for line in lines if line]

    @pytest.mark.parametrize("presegmented", [True, False])
    @given(
        st.lists(
            st.sampled_from(["O gato ", "dorme.", " ", "\n", "\r\n", "\n\n", "na rua", "\n \n", "!"]), max_size=40
        ),
        st.integers(1, 4),
    )
    def test_parts_can_be_segmented_by_themselves(self, segmenter, presegmented, chunks, together):
        with mock.patch.object(segmentation, "PIECE", 30):
            whole = "".join(sentence.raw for sentence in segmenter.stream(chunks, presegmented=presegmented))
            parts = [part for some in text_parts(chunks, presegmented=presegmented, size=7) for part in some]
        found, before = "", ""
        for start in range(0, len(parts), together):
            some = parts[start : start + together]
            conllu = segmenter.to_conllu(some, before=before, presegmented=presegmented)
            found += shift_numbers(conllu, found.count("# sent_id"))
            before = spaces_after(before, some)
        assert found == whole

    @pytest.mark.parametrize(
        ("text", "parts"),
        [
            ("aa.\n\nbb. cc.\n\ndd", ["aa.\n\n", "bb. cc.\n\n", "dd"]),
            ("aaaa bbbb cccc dddd", ["aaaa bbbb ", "cccc dddd"]),
            ("aaaa\nbbb cccc dddd", ["aaaa\n", "bbb cccc ", "dddd"]),
            ("aaaabbbbccccdddd", ["aaaabbbbcc", "ccdddd"]),
            ("aaaa\xa0bbbbccccdddd", ["aaaa\xa0", "bbbbccccdd", "dd"]),
            ("aaaabbbbc\n\nd", ["aaaabbbbc\n", "\nd"]),
            ("aa\r\n\r\nbb", ["aa\r\n\r\n", "bb"]),
        ],
    )
    def test_where_text_is_cut(self, text, parts):
        with mock.patch.object(segmentation, "PIECE", 10):
            assert segmentation._split_paragraphs(text) == parts

    def test_a_long_text_takes_little_memory(self, segmenter):
        """Five megabytes, mostly spaces (which are quick to read); all that is kept is a small part of them."""
        given, paragraph = 0, PARAGRAPH + " " * 30_000 + "\n\n"

        def chunks() -> Iterator[str]:
            nonlocal given
            while given < 5_000_000:
                given += len(paragraph)
                yield paragraph

        tracemalloc.start()
        try:
            ahead = [
                given - (number // len(SENTENCES)) * len(paragraph) for number, _ in self.numbered(segmenter, chunks)
            ]
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert len(ahead) == len(SENTENCES) * (given // len(paragraph))
        assert max(ahead) < 3 * segmentation.PIECE
        assert peak < 4_000_000

    def numbered(self, segmenter, chunks) -> Iterator[tuple[int, str]]:
        for number, sentence in enumerate(segmenter.stream(chunks())):
            assert sentence.comments[-2] == f"# sent_id = {number + 1}"
            yield number, sentence.raw

    def test_sentences_come_before_the_text_has_ended(self, segmenter):
        def chunks() -> Iterator[str]:
            yield "Chove.\n\n" * 20_000
            pytest.fail("more was read than needed")

        assert next(segmenter.stream(chunks())).forms == ["Chove", "."]


class TestTagging:
    def test_tags_and_lemmas_are_filled_in(self, segmenter):
        assert segmenter.has_tagger
        tagged = segmenter.tag(segmenter.segment(PARAGRAPH))
        right = [
            mine == gold
            for sentence, wanted in zip(tagged, SENTENCES, strict=True)
            for mine, gold in zip(sentence.upos, wanted.upos, strict=True)
        ]
        assert sum(right) > 0.95 * len(right)
        assert tagged[0].column(LEMMA) == ["a", "gata", "dorme", "em", "a", "cama", "."]
        assert tagged[0].column(XPOS) == ["_"] * 7
        assert rows(tagged) == rows(SENTENCES)

    def test_all_else_stays_as_it_is(self, segmenter):
        raw = (
            "\ufeff# a comment\r\n1-2\tno\t_\t_\t_\t_\t_\t_\t_\tA=B\r\n1\tem\tx\tX\tX\tX=X\t3\tcase\t_\t_\r\n"
            "2\to\t_\t_\t_\t_\t3\tdet\t_\t_\r\n2.1\to\t_\t_\t_\t_\t_\t_\t3:dep\t_\r\n3\trio\t_\t_\t_\t_\t0\troot\t_\tC\r\n\r\n"
        )
        [sentence] = parse_conllu(raw, "mine")
        [tagged] = segmenter.tag([sentence])
        assert tagged.raw == (
            "\ufeff# a comment\r\n1-2\tno\t_\t_\t_\t_\t_\t_\t_\tA=B\r\n1\tem\tem\tADP\t_\t_\t3\tcase\t_\t_\r\n"
            "2\to\to\tDET\t_\t_\t3\tdet\t_\t_\r\n2.1\to\t_\t_\t_\t_\t_\t_\t3:dep\t_\r\n"
            "3\trio\trio\tNOUN\t_\t_\t0\troot\t_\tC\r\n\r\n"
        )
        assert tagged.tree == Tree((3, 3, 0), ("case", "det", "root"))
        assert (tagged.path, tagged.line) == ("mine", 1)

    def test_equal_words_get_tags_of_their_own(self, segmenter):
        [tagged] = segmenter.tag([Sentence.from_words(["canta", ",", "canta", ",", "canta"])])
        assert tagged.forms == ["canta", ",", "canta", ",", "canta"]
        assert tagged.upos == ["VERB", "PUNCT", "VERB", "PUNCT", "VERB"]

    def test_no_sentences(self, segmenter):
        assert segmenter.tag([]) == []

    def test_odd_words(self, segmenter):
        [tagged] = segmenter.tag([Sentence.from_words(["\0", "🐈", "a b", "_", "\u2028"])])
        assert tagged.forms == ["\0", "🐈", "a b", "_", "\u2028"]
        assert all(tagged.column(UPOS))


class TestTraining:
    def test_without_a_tagger(self, tmp_path, capfd):
        path = tmp_path / "tokenizer.udpipe"
        print("before", file=sys.stderr)
        train_segmenter(SENTENCES, SENTENCES[:5], path, epochs=1)
        print("after", file=sys.stderr)
        assert capfd.readouterr() == ("", "before\nafter\n")
        segmenter = Segmenter.load(path)
        assert forms(segmenter.segment(PARAGRAPH)) == forms(SENTENCES)
        assert not segmenter.has_tagger
        with pytest.raises(BiplanarError, match="expected a UDPipe model with a tagger, found one without"):
            segmenter.tag(SENTENCES)
        assert list(tmp_path.iterdir()) == [path]

    def test_the_seed_changes_the_order_of_the_sentences(self, tmp_path, monkeypatch):
        orders = []

        def note(job: dict[str, str]) -> bytes:
            orders.append([" ".join(sentence.forms) for sentence in parse_conllu(job["train"])])
            return b""

        monkeypatch.setattr(segmentation, "_run_trainer", note)
        for seed in (1, 1, 2):
            train_segmenter(SENTENCES, None, tmp_path / "model", seed=seed)
        assert orders[0] == orders[1] != orders[2]
        assert sorted(orders[0]) == sorted(orders[2])

    def test_it_can_be_interrupted(self, tmp_path):
        program = (
            "import sys\n"
            "from biplanar.data.conllu import parse_conllu\n"
            "from biplanar.tokenizer.segmentation import train_segmenter\n"
            "sentences = list(parse_conllu(sys.argv[1]))\n"
            "print('now', flush=True)\n"
            "train_segmenter(sentences, None, sys.argv[2], epochs=1000)\n"
        )
        command = [sys.executable, "-c", program, "".join(one.raw for one in SENTENCES), str(tmp_path / "model")]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            assert process.stdout.readline() == b"now\n"
            time.sleep(1)  # until UDPipe is at work
            process.send_signal(signal.SIGINT)
            errors = process.communicate(timeout=30)[1]
        assert errors.endswith(b"KeyboardInterrupt\n")
        assert not list(tmp_path.iterdir())

    def test_a_process_that_was_killed(self, tmp_path, monkeypatch):
        monkeypatch.setattr(sys, "executable", "/bin/false")
        with pytest.raises(BiplanarError, match="UDPipe's training ended with exit code 1"):
            train_segmenter(SENTENCES, None, tmp_path / "model")
        assert not list(tmp_path.iterdir())

    def test_too_little_to_learn_from(self, tmp_path):
        for sentences in ([], [Sentence.from_words(["a"])]):
            with pytest.raises(BiplanarError, match="UDPipe cannot be trained on these sentences: Not enough"):
                train_segmenter(sentences, None, tmp_path / "model")
        assert not list(tmp_path.iterdir())

    def test_a_sentence_that_udpipe_cannot_read(self, tmp_path):
        rows = "1-9\tno\t_\t_\t_\t_\t_\t_\t_\t_\n1\tem\t_\t_\t_\t_\t_\t_\t_\t_\n"
        with pytest.raises(FormatError, match=r"^mine:4: UDPipe cannot read this sentence: There are words missing"):
            train_segmenter(parse_conllu("1\tA" + "\t_" * 8 + "\n\n\n" + rows, "mine"), None, tmp_path / "model")
        assert not list(tmp_path.iterdir())

    def test_a_place_that_cannot_be_written_to_is_seen_before_training(self, tmp_path, monkeypatch):
        monkeypatch.setattr(segmentation, "_run_trainer", None)
        with pytest.raises(FileError, match="missing/model: No such file or directory"):
            train_segmenter(SENTENCES, None, tmp_path / "missing" / "model")

    def test_windows_line_ends_marks_and_empty_nodes_are_no_trouble(self):
        blocks = "".join(sentence.raw for sentence in SENTENCES).replace(
            "\n2\t", "\n1.1\tx y\t_\t_\t_\t_\t_\t_\t_\t_\n2\t"
        )
        sentences = parse_conllu("\ufeff" + blocks.replace("\n", "\r\n"))
        reduced = [list(segmentation._reduced_lines(sentence, tags=True)) for sentence in sentences]
        assert reduced == [list(segmentation._reduced_lines(sentence, tags=True)) for sentence in SENTENCES]
        assert len(list(parse_conllu(segmentation._to_udpipe(sentences, tags=True)))) == len(SENTENCES)


class TestLoading:
    def test_a_missing_file(self, tmp_path):
        with pytest.raises(FileError) as caught:
            Segmenter.load(tmp_path / "missing.udpipe")
        assert str(caught.value) == f"{tmp_path / 'missing.udpipe'}: No such file or directory"

    def test_a_folder(self, tmp_path):
        with pytest.raises(FileError, match="Is a directory"):
            Segmenter.load(tmp_path)

    @pytest.mark.parametrize(
        "data", [b"", b"hello", b"\xff" * 500, segmentation._MAGIC, segmentation._MAGIC + b"\x03\x7f\x7f\x01"]
    )
    def test_another_file(self, tmp_path, data):
        path = tmp_path / "other.udpipe"
        path.write_bytes(data)
        with pytest.raises(FileError) as caught:
            Segmenter.load(path)
        assert str(caught.value) == f"{path}: expected a UDPipe model, found another file or a damaged one"

    @pytest.mark.parametrize("share", [0.01, 0.5, 0.99])
    def test_a_model_that_is_cut_off(self, tmp_path, model, share):
        path = tmp_path / "cut.udpipe"
        path.write_bytes(model.read_bytes()[: int(share * model.stat().st_size)])
        with pytest.raises(FileError, match="found another file or a damaged one"):
            Segmenter.load(path)

    def test_a_model_without_a_tokenizer(self, tmp_path):
        path = tmp_path / "empty.udpipe"
        path.write_bytes(segmentation._MAGIC + b"\x03\x7f\x7f\0\0\0")
        with pytest.raises(FileError, match="expected a UDPipe model with a tokenizer, found one without"):
            Segmenter.load(path)

    def test_a_path_may_be_a_string_with_any_signs(self, tmp_path, model):
        path = tmp_path / "Käse 🐈.udpipe"
        path.write_bytes(model.read_bytes())
        assert Segmenter.load(str(path)).has_tagger


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
        with pytest.raises(FileError, match=r"words\.txt:3: expected UTF-8 text, found byte 0xff"):
            list(read(path))

    @pytest.mark.parametrize("read", [read_horizontal, read_vertical])
    def test_sentences_come_before_the_file_has_ended(self, monkeypatch, read):
        monkeypatch.setattr(segmentation, "read_lines", lambda _: iter([(1, "a"), (2, ""), (3, "b"), (4, "")]))
        stream = read("-")
        assert next(stream).forms == ["a"]
        assert next(stream).forms == ["b"]


def test_raw_text_parts_documents_and_paragraphs():
    blocks = ["# newdoc id = a\n# newpar\n", "# newparagraphs\n", "#newpar\n", "# newdoc\n", ""]
    sentences = [parse_conllu(f"{block}{sentence.raw}")[0] for block, sentence in zip(blocks, SENTENCES, strict=False)]
    assert raw_text(sentences) == (
        "A gata dorme na cama. O menino gosta do mar. \n\nA avó mora no campo, perto do rio. \n\nQuem canta na rua? "
        "Ninguém canta! "
    )


def test_importing_warns_of_nothing():
    """SWIG's older releases made types that newer Pythons warn of."""
    subprocess.run([sys.executable, "-W", "error", "-c", "import biplanar.tokenizer.segmentation"], check=True)
