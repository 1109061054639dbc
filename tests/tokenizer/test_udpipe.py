"""UDPipe's tokenizer and tagger."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pytest

from biplanar.data.conllu import LEMMA, UPOS, XPOS, Sentence, parse_conllu
from biplanar.data.raw_text import token_text
from biplanar.data.tree import Tree
from biplanar.errors import BiplanarError, FileError, FormatError
from biplanar.tokenizer import udpipe
from biplanar.tokenizer.udpipe import UDPipeSegmenter, train_udpipe
from tests.tokenizer.treebank import PARAGRAPH, SENTENCES, forms, rows


class TestTraining:
    def test_without_a_tagger(self, tmp_path, capfd):
        path = tmp_path / "tokenizer.udpipe"
        print("before", file=sys.stderr)
        train_udpipe(SENTENCES, SENTENCES[:5], path, epochs=1)
        print("after", file=sys.stderr)
        assert capfd.readouterr() == ("", "before\nafter\n")
        segmenter = UDPipeSegmenter.load(path)
        assert forms(segmenter.segment(PARAGRAPH)) == forms(SENTENCES)
        assert not segmenter.has_tagger
        with pytest.raises(BiplanarError, match="no tagger"):
            segmenter.tag(SENTENCES)
        assert sorted(tmp_path.iterdir()) == [path.with_suffix(".json"), path]

    def test_the_seed_changes_the_order_of_the_sentences(self, tmp_path, monkeypatch):
        orders = []

        def note(job: dict[str, str]) -> bytes:
            orders.append([" ".join(sentence.forms) for sentence in parse_conllu(job["train"])])
            return b""

        monkeypatch.setattr(udpipe, "_run_trainer", note)
        for seed in (1, 1, 2):
            train_udpipe(SENTENCES, None, tmp_path / "model", seed=seed)
        assert orders[0] == orders[1] != orders[2]
        assert sorted(orders[0]) == sorted(orders[2])

    @pytest.mark.parametrize(("characters", "epochs"), [(20_000, 4), (200_000, 6), (410_000, 10), (2_000_000, 10)])
    def test_larger_treebanks_get_more_epochs(self, tmp_path, monkeypatch, characters, epochs):
        options = []
        monkeypatch.setattr(udpipe, "_run_trainer", lambda job: options.append(job["tokenizer"]) or b"")
        text = sum(map(len, map(token_text, SENTENCES)))
        monkeypatch.setattr(udpipe, "CHARACTERS_PER_EPOCH", udpipe.CHARACTERS_PER_EPOCH * text / characters)
        train_udpipe(SENTENCES, None, tmp_path / "model")
        train_udpipe(SENTENCES, None, tmp_path / "model", epochs=3)
        assert [option.rpartition("epochs=")[2] for option in options] == [str(epochs), "3"]

    @pytest.mark.usefixtures("interruptible")
    def test_it_can_be_interrupted(self, tmp_path):
        program = (
            "import sys\n"
            "from biplanar.data.conllu import parse_conllu\n"
            "from biplanar.tokenizer.udpipe import train_udpipe\n"
            "sentences = list(parse_conllu(sys.argv[1]))\n"
            "print('now', flush=True)\n"
            "train_udpipe(sentences, None, sys.argv[2], epochs=1000)\n"
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
            train_udpipe(SENTENCES, None, tmp_path / "model")
        assert not list(tmp_path.iterdir())

    def test_too_little_to_learn_from(self, tmp_path):
        for sentences in ([], [Sentence.from_words(["a"])]):
            with pytest.raises(BiplanarError, match="UDPipe cannot be trained on these sentences: Not enough"):
                train_udpipe(sentences, None, tmp_path / "model")
        assert not list(tmp_path.iterdir())

    def test_a_sentence_whose_tokens_do_not_fit(self, tmp_path):
        rows = "1-9\tno\t_\t_\t_\t_\t_\t_\t_\t_\n1\tem\t_\t_\t_\t_\t_\t_\t_\t_\n"
        with pytest.raises(FormatError, match=r"^mine:4: .* 1-9"):
            train_udpipe(parse_conllu("1\tA" + "\t_" * 8 + "\n\n\n" + rows, "mine"), None, tmp_path / "model")
        assert not list(tmp_path.iterdir())

    def test_a_place_that_cannot_be_written_to_is_seen_before_training(self, tmp_path, monkeypatch):
        monkeypatch.setattr(udpipe, "_run_trainer", None)
        with pytest.raises(FileError, match="missing/model: No such file or directory"):
            train_udpipe(SENTENCES, None, tmp_path / "missing" / "model")

    def test_windows_line_ends_marks_and_empty_nodes_are_no_trouble(self):
        blocks = "".join(sentence.raw for sentence in SENTENCES).replace(
            "\n2\t", "\n1.1\tx y\t_\t_\t_\t_\t_\t_\t_\t_\n2\t"
        )
        sentences = parse_conllu("\ufeff" + blocks.replace("\n", "\r\n"))
        reduced = [list(udpipe._reduced_lines(sentence, tags=True)) for sentence in sentences]
        assert reduced == [list(udpipe._reduced_lines(sentence, tags=True)) for sentence in SENTENCES]
        assert len(list(parse_conllu(udpipe._to_udpipe(sentences, tags=True)))) == len(SENTENCES)


class TestTagging:
    def test_tags_and_lemmas_are_filled_in(self, udpipe_segmenter):
        assert udpipe_segmenter.has_tagger
        tagged = udpipe_segmenter.tag(udpipe_segmenter.segment(f"{PARAGRAPH} "))
        right = [
            mine == gold
            for sentence, wanted in zip(tagged, SENTENCES, strict=True)
            for mine, gold in zip(sentence.upos, wanted.upos, strict=True)
        ]
        assert sum(right) > 0.95 * len(right)
        assert tagged[0].column(LEMMA) == ["a", "gata", "dorme", "em", "a", "cama", "."]
        assert tagged[0].column(XPOS) == ["_"] * 7
        assert rows(tagged) == rows(SENTENCES)

    def test_all_else_stays_as_it_is(self, udpipe_segmenter):
        raw = (
            "\ufeff# a comment\r\n1-2\tno\t_\t_\t_\t_\t_\t_\t_\tA=B\r\n1\tem\tx\tX\tX\tX=X\t3\tcase\t_\t_\r\n"
            "2\to\t_\t_\t_\t_\t3\tdet\t_\t_\r\n2.1\to\t_\t_\t_\t_\t_\t_\t3:dep\t_\r\n3\trio\t_\t_\t_\t_\t0\troot\t_\tC\r\n\r\n"
        )
        [sentence] = parse_conllu(raw, "mine")
        [tagged] = udpipe_segmenter.tag([sentence])
        assert tagged.raw == (
            "\ufeff# a comment\r\n1-2\tno\t_\t_\t_\t_\t_\t_\t_\tA=B\r\n1\tem\tem\tADP\t_\t_\t3\tcase\t_\t_\r\n"
            "2\to\to\tDET\t_\t_\t3\tdet\t_\t_\r\n2.1\to\t_\t_\t_\t_\t_\t_\t3:dep\t_\r\n"
            "3\trio\trio\tNOUN\t_\t_\t0\troot\t_\tC\r\n\r\n"
        )
        assert tagged.tree == Tree((3, 3, 0), ("case", "det", "root"))
        assert (tagged.path, tagged.line) == ("mine", 1)

    def test_equal_words_get_tags_of_their_own(self, udpipe_segmenter):
        [tagged] = udpipe_segmenter.tag([Sentence.from_words(["canta", ",", "canta", ",", "canta"])])
        assert tagged.forms == ["canta", ",", "canta", ",", "canta"]
        assert tagged.upos == ["VERB", "PUNCT", "VERB", "PUNCT", "VERB"]

    def test_no_sentences(self, udpipe_segmenter):
        assert udpipe_segmenter.tag([]) == []

    def test_odd_words(self, udpipe_segmenter):
        [tagged] = udpipe_segmenter.tag([Sentence.from_words(["\0", "🐈", "a b", "_", "\u2028"])])
        assert tagged.forms == ["\0", "🐈", "a b", "_", "\u2028"]
        assert all(tagged.column(UPOS))


class TestLoading:
    def test_a_missing_file(self, tmp_path):
        with pytest.raises(FileError) as caught:
            UDPipeSegmenter.load(tmp_path / "missing.udpipe")
        assert str(caught.value) == f"{tmp_path / 'missing.udpipe'}: No such file or directory"

    def test_a_folder(self, tmp_path):
        with pytest.raises(FileError, match="Is a directory"):
            UDPipeSegmenter.load(tmp_path)

    @pytest.mark.parametrize("data", [b"", b"hello", b"\xff" * 500, udpipe._MAGIC, udpipe._MAGIC + b"\x03\x7f\x7f\x01"])
    def test_another_file(self, tmp_path, data):
        path = tmp_path / "other.udpipe"
        path.write_bytes(data)
        with pytest.raises(FileError) as caught:
            UDPipeSegmenter.load(path)
        assert f"{path}: not a UDPipe model" in str(caught.value)

    @pytest.mark.parametrize("share", [0.01, 0.5, 0.99])
    def test_a_model_that_is_cut_off(self, tmp_path, model, share):
        path = tmp_path / "cut.udpipe"
        path.write_bytes(model.read_bytes()[: int(share * model.stat().st_size)])
        with pytest.raises(FileError, match="damaged"):
            UDPipeSegmenter.load(path)

    def test_a_model_without_a_tokenizer(self, tmp_path):
        path = tmp_path / "empty.udpipe"
        path.write_bytes(udpipe._MAGIC + b"\x03\x7f\x7f\0\0\0")
        with pytest.raises(FileError, match="without a tokenizer"):
            UDPipeSegmenter.load(path)

    def test_a_path_may_be_a_string_with_any_signs(self, tmp_path, model):
        path = tmp_path / "Käse 🐈.udpipe"
        path.write_bytes(model.read_bytes())
        assert UDPipeSegmenter.load(str(path)).has_tagger


def test_importing_warns_of_nothing():
    """SWIG's older releases made types that newer Pythons warn of."""
    subprocess.run([sys.executable, "-W", "error", "-c", "import biplanar.tokenizer.udpipe"], check=True)
