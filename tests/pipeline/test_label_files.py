from __future__ import annotations

import gzip
import io
import json
import sys
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biplanar.data.conllu import Sentence, read_conllu, write_conllu
from biplanar.data.label_files import LAYOUTS
from biplanar.data.tree import Tree
from biplanar.encodings import ENCODINGS, get_encoding
from biplanar.errors import BiplanarError, FileError, FormatError, LabelError, UnknownNameError
from biplanar.pipeline import label_files
from biplanar.pipeline.label_files import column_names, decode_file, encode_file
from tests import reference
from tests.strategies import trees

every_encoding = pytest.mark.parametrize("encoding", ENCODINGS)
every_layout = pytest.mark.parametrize("layout", LAYOUTS)

SAMPLE = 40

# Without crossings; the paper's figure; three arcs that all cross each other; a name that is no `root`; one word.
TREES = (
    Tree((2, 0, 2), ("nsubj", "root", "obj")),
    Tree((0, 1, 1, 2, 1, 3), ("root", "nsubj", "obj", "amod", "obl", "advmod")),
    Tree((0, 1, 1, 1, 2, 3), ("root", "a", "b", "c", "d", "e:f")),
    Tree((4, 1, 4, 0, 2), ("a", "b", "c", "root:x", "d")),
    Tree((0,), ("root",)),
)
FORMS = ("Straße", "New York", "🐈", "שלום", "#", "1-2", "_")
TAGS = ("NOUN", "VERB", "ADJ", "NOUN", "X", "NOUN")
SENTENCES = [Sentence.from_words(FORMS[: len(tree)], tree, upos=TAGS[: len(tree)]) for tree in TREES]

# What `--into` has to keep.
RICH = "\n".join(
    [
        "# sent_id = 1",
        "1-2\tim\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No",
        "1\tin\tin\tADP\tAPPR\t_\t3\tcase\t3:case\tGloss=in",
        "2\tdem\tder\tDET\tART\tCase=Dat\t3\tdet\t3:det\t_",
        "3\tHaus\tHaus\tNOUN\tNN\t_\t0\troot\t_\t_",
        "3.1\tHaus\tHaus\tNOUN\t_\t_\t_\t_\t3:conj\tCopyOf=3",
        "",
        "",
    ]
)


def conllu_file(path: Path, sentences: list[Sentence]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as stream:
        write_conllu(sentences, stream)
    return path


def labels_of(path: Path, encoding: str, layout: str = "tsv") -> tuple[Path, label_files.EncodingReport]:
    """A file of labels beside a CoNLL-U file, and the report on it."""
    target = path.with_suffix(f".{layout}")
    with target.open("w", encoding="utf-8", newline="") as stream:
        return target, encode_file(path, get_encoding(encoding), layout, stream)


def decoded(path: Path, encoding: str, layout: str = "tsv", into: Path | None = None) -> list[Sentence]:
    return list(decode_file(path, get_encoding(encoding), layout, "greedy", into))


class TestEncoding:
    def test_tab_separated_lines(self, tmp_path):
        path, report = labels_of(conllu_file(tmp_path / "words.conllu", SENTENCES[:2]), "2p-prop")
        assert path.read_text(encoding="utf-8") == (
            "Straße\t_\t_\tnsubj\nNew York\t<\\\t_\troot\n🐈\t/>\t_\tobj\n\n"
            "Straße\t_\t_\troot\nNew York\t//>\t/\tnsubj\n🐈\t>\t/\tobj\n"
            "שלום\t/\t>\tamod\n#\t_\t>\tobl\n1-2\t>\t_\tadvmod\n\n"
        )
        assert (report.sentences, report.not_covered) == (2, 0)

    def test_json_lines(self, tmp_path):
        path, _ = labels_of(conllu_file(tmp_path / "words.conllu", SENTENCES[:1]), "rel-pos", "jsonl")
        assert path.read_text(encoding="utf-8").startswith('{"form": ["Straße", ')
        assert json.loads(path.read_text(encoding="utf-8")) == {
            "form": ["Straße", "New York", "🐈"],
            "upos": ["NOUN", "VERB", "ADJ"],
            "head": ["+1@VERB", "-1@ROOT", "-1@VERB"],
            "deprel": ["nsubj", "root", "obj"],
        }

    @pytest.mark.parametrize(
        ("encoding", "names"),
        [
            ("1p-brackets", ["form", "plane1", "deprel"]),
            ("2p-full", ["form", "plane1", "plane2", "deprel"]),
            ("rel-pos", ["form", "upos", "head", "deprel"]),
            ("absolute", ["form", "head", "deprel"]),
        ],
    )
    def test_the_columns_have_names(self, encoding, names):
        assert column_names(get_encoding(encoding)) == names

    @pytest.mark.parametrize("encoding", reference.ENCODINGS)
    def test_sentences_that_do_not_come_back_are_counted(self, tmp_path, encoding):
        _, report = labels_of(conllu_file(tmp_path / "words.conllu", SENTENCES), encoding)
        back = [
            reference.decode(reference.encode(tree.heads, tree.deprels, upos, encoding), encoding, upos, "greedy")
            for tree, upos in zip(TREES, (sentence.upos for sentence in SENTENCES), strict=True)
        ]
        missed = sum(tuple(heads) != tree.heads for heads, tree in zip(back, TREES, strict=True))
        assert (report.sentences, report.not_covered) == (len(TREES), missed)
        assert missed or encoding not in ("1p-brackets", "2p-greedy")

    @pytest.mark.parametrize("encoding", reference.STRATEGIES)
    @pytest.mark.parametrize("size", [1, 2, 4096])
    def test_several_roots_are_refused_by_brackets_with_file_and_line(self, tmp_path, monkeypatch, encoding, size):
        monkeypatch.setattr(label_files, "CHUNK_SENTENCES", size)
        path = tmp_path / "many.conllu"
        two_roots = Sentence.from_words(["a", "b"], Tree((0, 0), ("root", "root")), comments=["# text = a b"])
        conllu_file(path, [*SENTENCES[:3], two_roots, *SENTENCES])
        with pytest.raises(FormatError) as caught:
            encode_file(path, get_encoding(encoding), "tsv", io.StringIO())
        assert str(caught.value).startswith(f"{path}:20: {encoding} needs trees with one root")

    @pytest.mark.parametrize("encoding", ["rel-pos", "absolute", "relative"])
    def test_several_roots_are_taken_by_others_and_counted(self, tmp_path, encoding):
        two_roots = Sentence.from_words(["a", "b"], Tree((0, 0), ("root", "root")), upos=["X", "X"])
        _, report = labels_of(conllu_file(tmp_path / "many.conllu", [two_roots]), encoding)
        assert report.not_covered == 1

    def test_a_sentence_without_a_tree(self, tmp_path):
        path = conllu_file(tmp_path / "words.conllu", [*SENTENCES[:1], Sentence.from_words(["a"])])
        with pytest.raises(FormatError) as caught:
            encode_file(path, get_encoding("2p-full"), "tsv", io.StringIO())
        assert str(caught.value) == f"{path}:5: expected a whole number as HEAD, found '_'"

    @every_layout
    def test_rel_pos_refuses_words_without_tags_with_file_and_line(self, tmp_path, layout):
        untagged = Sentence.from_words(["a", "b"], Tree((0, 1), ("root", "x")), upos=["X", "_"], comments=["# a b"])
        path = conllu_file(tmp_path / "words.conllu", [*SENTENCES[:1], untagged])
        with pytest.raises(FormatError) as caught:
            encode_file(path, get_encoding("rel-pos"), layout, io.StringIO())
        assert str(caught.value).startswith(f"{path}:7: rel-pos needs part-of-speech tags")

    def test_an_unknown_layout(self):
        with pytest.raises(UnknownNameError, match=r"^unknown layout 'csv'; did you mean 'tsv'\? "):
            encode_file("missing", get_encoding("2p-full"), "csv", io.StringIO())


class TestRoundTrip:
    @every_layout
    @every_encoding
    @pytest.mark.parametrize("size", [1, 2, 4096])
    def test_words_relations_and_covered_heads_come_back(self, tmp_path, monkeypatch, encoding, layout, size):
        monkeypatch.setattr(label_files, "CHUNK_SENTENCES", size)
        labels, report = labels_of(conllu_file(tmp_path / "words.conllu", SENTENCES), encoding, layout)
        check_guarantee(SENTENCES, decoded(labels, encoding, layout), report.not_covered, encoding)

    @every_layout
    @every_encoding
    @pytest.mark.parametrize("end", ["\n", "\r\n"])
    def test_into_keeps_every_other_byte(self, tmp_path, encoding, layout, end):
        parsed, unparsed = tmp_path / "parsed.conllu", tmp_path / "unparsed.conllu"
        text = RICH.replace("\n", end) * 2
        parsed.write_bytes(text.encode())
        for arc in ("3\tcase\t", "3\tdet\t", "0\troot\t"):
            text = text.replace(arc, "_\t_\t")
        unparsed.write_bytes(text.encode())
        labels, report = labels_of(parsed, encoding, layout)
        back = conllu_file(tmp_path / "back.conllu", decoded(labels, encoding, layout, unparsed))
        assert report.not_covered == 0
        assert back.read_bytes() == parsed.read_bytes()

    @every_layout
    @given(st.lists(trees(), min_size=1, max_size=4))
    def test_any_trees(self, tmp_path_factory, layout, many):
        sentences = [Sentence.from_words([f"w{i}" for i in range(len(tree))], tree) for tree in many]
        path = conllu_file(tmp_path_factory.mktemp("any") / "words.conllu", sentences)
        labels, report = labels_of(path, "2p-full", layout)
        check_guarantee(sentences, decoded(labels, "2p-full", layout), report.not_covered, "2p-full")

    @every_layout
    @pytest.mark.parametrize("form", ["a\u2028b", "a\u0085b", "a\rb", "\ufeffa", '"', "\\", "{}"], ids=ascii)
    def test_odd_forms(self, tmp_path, layout, form):
        sentences = [Sentence.from_words(["a", form], Tree((2, 0), ("nsubj", "root")))]
        labels, _ = labels_of(conllu_file(tmp_path / "words.conllu", sentences), "2p-full", layout)
        assert decoded(labels, "2p-full", layout) == sentences

    @every_layout
    def test_files_of_another_text_encoding(self, tmp_path, layout):
        path, labels = tmp_path / "words.conllu", tmp_path / "labels"
        path.write_bytes("".join(sentence.raw for sentence in SENTENCES).encode("utf-16"))
        stream = io.StringIO()
        encode_file(path, get_encoding("absolute"), layout, stream, text_encoding="utf-16")
        labels.write_bytes(stream.getvalue().encode("utf-16"))
        back = decode_file(labels, get_encoding("absolute"), layout, "greedy", path, text_encoding="utf-16")
        assert list(back) == SENTENCES

    def test_compressed_files_and_standard_input(self, tmp_path, monkeypatch):
        labels, _ = labels_of(conllu_file(tmp_path / "words.conllu", SENTENCES), "absolute")
        packed = tmp_path / "labels.tsv.gz"
        packed.write_bytes(gzip.compress(labels.read_bytes()))
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(labels.read_bytes())))
        wanted = [tree.heads for tree in TREES]
        assert [sentence.tree.heads for sentence in decoded(packed, "absolute")] == wanted
        assert [sentence.tree.heads for sentence in decoded(Path("-"), "absolute")] == wanted

    def test_treebanks(self, treebank_file, tmp_path):
        sentences = list(islice(read_conllu(treebank_file), 0, SAMPLE * 10, 10))
        path = conllu_file(tmp_path / "words.conllu", sentences)
        for number, encoding in enumerate(ENCODINGS):
            layout = list(LAYOUTS)[number % len(LAYOUTS)]
            labels, report = labels_of(path, encoding, layout)
            check_guarantee(sentences, decoded(labels, encoding, layout), report.not_covered, encoding)
            if not report.not_covered:
                assert decoded(labels, encoding, layout, path) == sentences


def check_guarantee(sentences: list[Sentence], back: list[Sentence], not_covered: int, encoding: str) -> None:
    assert [sentence.forms for sentence in back] == [sentence.forms for sentence in sentences]
    assert [sentence.tree.deprels for sentence in back] == [sentence.tree.deprels for sentence in sentences]
    if get_encoding(encoding).needs_upos:
        assert [sentence.upos for sentence in back] == [sentence.upos for sentence in sentences]
    missed = sum(one.tree != other.tree for one, other in zip(sentences, back, strict=True))
    assert missed == not_covered
    assert missed == 0 or encoding not in ("rel-pos", "absolute", "relative")


class TestDecoding:
    def test_new_sentences_hold_what_the_labels_say(self, tmp_path):
        path = tmp_path / "labels"
        path.write_text("a\tNOUN\t-1@ROOT\troot\nb\tX\t-1@NOUN\tdep\n\n")
        (sentence,) = decoded(path, "rel-pos")
        assert sentence.raw == "1\ta\t_\tNOUN\t_\t_\t0\troot\t_\t_\n2\tb\t_\tX\t_\t_\t1\tdep\t_\t_\n\n"

    @pytest.mark.parametrize("content", ["a\t0\troot\n\nb\t0\troot", "a\t0\troot\n\nb\t0\troot\n"])
    def test_the_last_sentence_needs_no_blank_line(self, tmp_path, content):
        path = tmp_path / "labels"
        path.write_text(content)
        assert [sentence.forms for sentence in decoded(path, "absolute")] == [["a"], ["b"]]

    def test_a_last_json_line_without_its_end(self, tmp_path):
        path = tmp_path / "labels"
        path.write_text(
            '\n{"form": ["a"], "head": ["0"], "deprel": ["root"]}\n\n{"form":["b"],"head":["x"],"deprel":["y"]}'
        )
        assert [sentence.forms for sentence in decoded(path, "absolute", "jsonl")] == [["a"], ["b"]]

    def test_windows_line_ends_and_several_blank_lines(self, tmp_path):
        path = tmp_path / "labels"
        path.write_bytes(b"\r\n\r\na\t0\troot\r\n\r\n\r\nb\t0\troot\r\n\r\n")
        back = decoded(path, "absolute")
        assert [sentence.raw for sentence in back] == [Sentence.from_words([w], TREES[-1]).raw for w in "ab"]

    @every_layout
    @every_encoding
    def test_any_labels_give_trees(self, tmp_path, encoding, layout):
        names = column_names(get_encoding(encoding))
        columns = {name: ["", "abc", "<\\/>", "+1@NOUN", "-99"] for name in names}
        columns |= {"form": list("abcde"), "deprel": ["x", "root", "_", "root", "y"]}
        columns |= {"upos": list("vwxyz")} if "upos" in names else {}
        path = tmp_path / "labels"
        path.write_text(LAYOUTS[layout].write(columns))
        (sentence,) = decoded(path, encoding, layout)
        assert len(sentence.tree.roots) == 1
        assert sentence.tree.deprels == tuple(columns["deprel"])

    def test_the_decoder_can_be_chosen(self, tmp_path):
        path = tmp_path / "labels"
        path.write_text("a\t2\tx\nb\t1\ty\nc\t_\tz\n")
        heads = {
            decoder: next(decode_file(path, get_encoding("absolute"), "tsv", decoder)).heads
            for decoder in ("greedy", "paper")
        }
        rows = [("2", "x"), ("1", "y"), ("_", "z")]
        assert heads == {name: reference.decode(rows, "absolute", ["_"] * 3, name) for name in heads}

    @every_layout
    def test_labels_of_another_encoding_are_no_tags(self, tmp_path, layout):
        labels, _ = labels_of(conllu_file(tmp_path / "words.conllu", SENTENCES), "2p-full", layout)
        with pytest.raises(FormatError) as caught:
            decoded(labels, "rel-pos", layout)
        assert ("'upos' is None" if layout == "jsonl" else "is no part-of-speech tag") in str(caught.value)

    def test_an_unknown_decoder(self, tmp_path):
        path = tmp_path / "labels"
        path.write_text("a\t0\troot\n")
        with pytest.raises(UnknownNameError, match=r"^unknown decoder 'papr'; did you mean 'paper'\? "):
            list(decode_file(path, get_encoding("absolute"), "tsv", "papr"))


class TestIntoAnotherFile:
    @pytest.fixture
    def labels(self, tmp_path) -> Path:
        path = tmp_path / "labels"
        path.write_text("a\t0\troot\nb\t1\tx\n\nc\t0\troot\n\n")
        return path

    def into(self, labels: Path, *sentences: list[str]) -> str:
        """What is said about words that are not those of the labels."""
        path = labels.with_name("into.conllu")
        conllu_file(path, [Sentence.from_words(forms, comments=["# a comment"]) for forms in sentences])
        with pytest.raises(BiplanarError) as caught:
            decoded(labels, "absolute", "tsv", path)
        return str(caught.value).replace(f"{labels.parent}/", "")

    def test_other_words(self, labels):
        wanted = "into.conllu:3: the word 'B' instead of 'b', as in labels"
        assert self.into(labels, ["a", "B"], ["c"]) == wanted
        wanted = "into.conllu:6: the word 'd' instead of 'c', as in labels"
        assert self.into(labels, ["a", "b"], ["d"]) == wanted

    def test_more_or_fewer_words(self, labels):
        wanted = "into.conllu:2: 3 words instead of the 2 in labels"
        assert self.into(labels, ["a", "b", "c"], ["c"]) == wanted
        wanted = "into.conllu:2: 1 words instead of the 2 in labels"
        assert self.into(labels, ["a"], ["c"]) == wanted

    def test_more_sentences(self, labels):
        assert self.into(labels, ["a", "b"], ["c"], ["d"]) == "into.conllu has more sentences than labels"

    def test_fewer_sentences(self, labels):
        assert self.into(labels, ["a", "b"]) == "labels: more sentences than in the CoNLL-U file"

    def test_a_missing_file(self, labels, tmp_path):
        with pytest.raises(FileError, match=r"missing\.conllu: No such file or directory$"):
            decoded(labels, "absolute", "tsv", tmp_path / "missing.conllu")

    def test_a_bad_file(self, labels, tmp_path):
        path = tmp_path / "bad.conllu"
        path.write_text("1\ta\n\n")
        with pytest.raises(FormatError, match=r"bad\.conllu:1: expected 10 columns, found 2$"):
            decoded(labels, "absolute", "tsv", path)

    def test_one_sentence_after_the_other(self, labels):
        """A file of any size is read as it is needed."""
        many = labels.with_name("many")
        many.write_text("a\t0\troot\n\n" * 10)
        into = labels.with_name("into.conllu")
        into.write_text(Sentence.from_words(["a"]).raw * 9)
        sentences = decode_file(many, get_encoding("absolute"), "tsv", "greedy", into)
        assert [next(sentences).heads for _ in range(9)] == [[0]] * 9
        with pytest.raises(LabelError):
            next(sentences)
