"""Training UDPipe's tokenizer and tagger."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pytest

from biplanar.data.conllu import Sentence, parse_conllu
from biplanar.data.raw_text import token_text
from biplanar.errors import BiplanarError, FileError, FormatError
from biplanar.tokenizer import training
from biplanar.tokenizer.segmenter import Segmenter
from biplanar.tokenizer.training import train_segmenter
from tests.tokenizer.treebank import PARAGRAPH, SENTENCES, forms


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
        with pytest.raises(BiplanarError, match="no tagger"):
            segmenter.tag(SENTENCES)
        assert sorted(tmp_path.iterdir()) == [path.with_suffix(".json"), path]

    def test_the_seed_changes_the_order_of_the_sentences(self, tmp_path, monkeypatch):
        orders = []

        def note(job: dict[str, str]) -> bytes:
            orders.append([" ".join(sentence.forms) for sentence in parse_conllu(job["train"])])
            return b""

        monkeypatch.setattr(training, "_run_trainer", note)
        for seed in (1, 1, 2):
            train_segmenter(SENTENCES, None, tmp_path / "model", seed=seed)
        assert orders[0] == orders[1] != orders[2]
        assert sorted(orders[0]) == sorted(orders[2])

    @pytest.mark.parametrize(("characters", "epochs"), [(20_000, 4), (200_000, 6), (410_000, 10), (2_000_000, 10)])
    def test_larger_treebanks_get_more_epochs(self, tmp_path, monkeypatch, characters, epochs):
        options = []
        monkeypatch.setattr(training, "_run_trainer", lambda job: options.append(job["tokenizer"]) or b"")
        text = sum(map(len, map(token_text, SENTENCES)))
        monkeypatch.setattr(training, "CHARACTERS_PER_EPOCH", training.CHARACTERS_PER_EPOCH * text / characters)
        train_segmenter(SENTENCES, None, tmp_path / "model")
        train_segmenter(SENTENCES, None, tmp_path / "model", epochs=3)
        assert [option.rpartition("epochs=")[2] for option in options] == [str(epochs), "3"]

    @pytest.mark.usefixtures("interruptible")
    def test_it_can_be_interrupted(self, tmp_path):
        program = (
            "import sys\n"
            "from biplanar.data.conllu import parse_conllu\n"
            "from biplanar.tokenizer.training import train_segmenter\n"
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

    def test_a_sentence_whose_tokens_do_not_fit(self, tmp_path):
        rows = "1-9\tno\t_\t_\t_\t_\t_\t_\t_\t_\n1\tem\t_\t_\t_\t_\t_\t_\t_\t_\n"
        with pytest.raises(FormatError, match=r"^mine:4: .* 1-9"):
            train_segmenter(parse_conllu("1\tA" + "\t_" * 8 + "\n\n\n" + rows, "mine"), None, tmp_path / "model")
        assert not list(tmp_path.iterdir())

    def test_a_place_that_cannot_be_written_to_is_seen_before_training(self, tmp_path, monkeypatch):
        monkeypatch.setattr(training, "_run_trainer", None)
        with pytest.raises(FileError, match="missing/model: No such file or directory"):
            train_segmenter(SENTENCES, None, tmp_path / "missing" / "model")

    def test_windows_line_ends_marks_and_empty_nodes_are_no_trouble(self):
        blocks = "".join(sentence.raw for sentence in SENTENCES).replace(
            "\n2\t", "\n1.1\tx y\t_\t_\t_\t_\t_\t_\t_\t_\n2\t"
        )
        sentences = parse_conllu("\ufeff" + blocks.replace("\n", "\r\n"))
        reduced = [list(training._reduced_lines(sentence, tags=True)) for sentence in sentences]
        assert reduced == [list(training._reduced_lines(sentence, tags=True)) for sentence in SENTENCES]
        assert len(list(parse_conllu(training._to_udpipe(sentences, tags=True)))) == len(SENTENCES)
