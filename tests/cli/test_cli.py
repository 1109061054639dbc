from __future__ import annotations

import json
import lzma
import os
import shlex
import subprocess
import sys
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import pytest
from typer.main import get_command

from biplanar import __version__
from biplanar.cli import app
from biplanar.cli.demo import TEXTS
from biplanar.cli.train import settings_as_options
from biplanar.data.conllu import Sentence
from biplanar.data.tree import Tree
from biplanar.encodings import ENCODINGS
from biplanar.pipeline import label_files, model_folder
from tests.commands import Result, check_refused, check_refused_with

COMMANDS = tuple(get_command(app).commands)
BUNDLED = model_folder.ModelFolder.find().path

# What `biplanar stats --json` has promised to hold, and what comes beside it.
PROMISED = {
    "nonprojectivity",
    "coverage",
    "coverage_before_repair",
    "label_sizes",
    "split_sizes",
    "unseen_labels",
}
EXTRAS = {"encodings", "labels"}

HOUSE = Sentence.from_words(
    ["Das", "Haus", "🏠", "steht"],
    Tree((2, 4, 2, 0), ("det", "nsubj", "appos", "root")),
    upos=["DET", "NOUN", "SYM", "VERB"],
    comments=["# text = Das Haus 🏠 steht"],
)
CROSSING = Sentence.from_words(
    ["w1", "w2", "w3", "w4", "w5", "w6"],
    Tree((0, 1, 1, 2, 1, 3), ("root", "nsubj", "obj", "amod", "obl", "advmod")),
    upos=["VERB", "NOUN", "NOUN", "ADJ", "NOUN", "ADV"],
)


@pytest.fixture
def words(tmp_path) -> Path:
    path = tmp_path / "words.conllu"
    path.write_bytes((HOUSE.raw + CROSSING.raw).encode())
    return path


@pytest.fixture
def treebank(tmp_path) -> Path:
    folder = tmp_path / "UD_Test"
    folder.mkdir()
    for split in ("train", "dev", "test"):
        (folder / f"xx-ud-{split}.conllu").write_bytes((HOUSE.raw + CROSSING.raw).encode())
    return folder


def start(*arguments: object, **options: object) -> subprocess.Popen[bytes]:
    """A command as a process of its own."""
    command = [sys.executable, "-m", "biplanar", *map(str, arguments)]
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, **options)


class TestProcess:
    """What only shows outside of this process."""

    def test_an_error_is_one_line_and_exit_code_2(self, tmp_path):
        process = start("encode", tmp_path / "missing.conllu", stdout=subprocess.PIPE)
        out, err = process.communicate()
        message = f"biplanar: error: {tmp_path / 'missing.conllu'}: No such file or directory{os.linesep}"
        assert (process.returncode, out, err.decode()) == (2, b"", message)

    def test_help_loads_nothing_that_takes_long(self):
        code = "import sys; from biplanar.cli import main\ntry: main()\nfinally: print(*sys.modules, file=sys.stderr)"
        done = subprocess.run([sys.executable, "-c", code, "--help"], capture_output=True, text=True, check=True)
        assert all(command in done.stdout for command in COMMANDS)
        assert not {"numba", "numpy", "onnxruntime", "torch", "uvicorn"} & set(done.stderr.split())

    def test_the_version(self):
        process = start("--version", stdout=subprocess.PIPE)
        assert process.communicate() == (f"biplanar {__version__}{os.linesep}".encode(), b"")
        assert process.returncode == 0

    def test_a_reader_that_leaves_early(self, tmp_path):
        path = tmp_path / "many.conllu"
        path.write_bytes((HOUSE.raw + CROSSING.raw).encode() * 2000)
        process = start("encode", path, stdout=subprocess.PIPE)
        assert process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() != 0
        process.stderr.close()

    def test_a_reader_that_has_left_before_the_first_word(self, words):
        read, write = os.pipe()
        os.close(read)
        process = start("encode", words, stdout=write)
        os.close(write)
        assert process.communicate()[1] == b""
        assert process.returncode != 0

    @pytest.mark.parametrize("command", ["encode", "draw"])
    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
    def test_a_full_disk_behind_standard_output(self, words, command):
        with Path("/dev/full").open("wb") as full:
            process = start(command, words, stdout=full)
            assert process.communicate()[1] == b"biplanar: error: <stdout>: No space left on device\n"
        assert process.returncode == 2

    def test_output_is_utf8_whatever_the_terminal_speaks(self, words):
        environment = os.environ | {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
        process = start("encode", words, stdout=subprocess.PIPE, env=environment)
        out, err = process.communicate()
        assert (process.returncode, err) == (0, b"")
        assert "🏠" in out.decode()


class TestEncodeAndDecode:
    def test_there_and_back(self, run, words, tmp_path):
        labels, back = tmp_path / "labels.tsv", tmp_path / "back.conllu"
        assert run("encode", words, "-o", labels) == Result(0, "", "")
        assert labels.read_text(encoding="utf-8").splitlines()[0] == "Das\t_\t_\tdet"
        assert run("decode", labels, "--into", words, "-o", back) == Result(0, "", "")
        assert back.read_bytes() == words.read_bytes()

    @pytest.mark.parametrize("layout", ["tsv", "jsonl"])
    @pytest.mark.parametrize("encoding", ["2p-full", "2p-prop", "rel-pos", "absolute", "relative"])
    def test_through_pipes(self, run, words, encoding, layout):
        labels = run("encode", "-e", encoding, "--format", layout, stdin=words.read_text(encoding="utf-8"))
        assert (labels.code, labels.err) == (0, "")
        back = run("decode", "-", "-e", encoding, "--input", layout, stdin=labels.out)
        assert (back.code, back.err) == (0, "")
        trees = [HOUSE.tree, CROSSING.tree]
        upos = [HOUSE.upos, CROSSING.upos] if encoding == "rel-pos" else [None, None]
        forms = [HOUSE.forms, CROSSING.forms]
        wanted = [Sentence.from_words(f, t, upos=u).raw for f, t, u in zip(forms, trees, upos, strict=True)]
        assert back.out == "".join(wanted)

    def test_a_warning_counts_what_does_not_come_back(self, run, words):
        result = run("encode", words, "--encoding", "1p-brackets")
        assert result.code == 0
        assert result.err == (
            "biplanar: 1 of 2 sentences have arcs that 1p-brackets cannot express; decoding loses them\n"
        )

    def test_compressed_input(self, run, words, tmp_path):
        packed = tmp_path / "words.conllu.xz"
        packed.write_bytes(lzma.compress(words.read_bytes()))
        assert run("encode", packed) == run("encode", words)

    @pytest.mark.parametrize("decoder", ["greedy", "paper"])
    def test_the_decoder_can_be_chosen(self, run, decoder):
        result = run("decode", "-e", "absolute", "--decoder", decoder, stdin="a\t0\tdep\nb\t0\troot\n")
        assert (result.code, result.err) == (0, "")
        assert len(result.out.splitlines()) == 3

    def test_a_file_may_be_replaced_by_its_own_result(self, run, words):
        before = words.read_bytes()
        labels = run("encode", words).out
        words.write_bytes(before.replace(b"\t2\tdet", b"\t_\t_"))
        assert run("decode", "-", "--into", words, "-o", words, stdin=labels) == Result(0, "", "")
        assert words.read_bytes() == before

    @pytest.mark.parametrize("command", ["encode", "decode"])
    def test_an_unknown_encoding(self, run, words, command):
        known = ", ".join(ENCODINGS)
        wanted = f"unknown encoding '2p-ful'; did you mean '2p-full'? (known: {known})"
        check_refused(run(command, words, "-e", "2p-ful"), wanted)

    @pytest.mark.parametrize(("command", "option"), [("encode", "--format"), ("decode", "--input")])
    def test_an_unknown_layout(self, run, words, command, option):
        wanted = "unknown layout 'json'; did you mean 'jsonl'? (known: tsv, jsonl)"
        check_refused(run(command, words, option, "json"), wanted)

    def test_the_ending_says_the_layout(self, run, words, tmp_path):
        for name in ("x.jsonl", "x.tsv"):
            assert run("encode", words, "-o", tmp_path / name).code == 0
            assert run("decode", tmp_path / name).out == run("decode", stdin=run("encode", words).out).out
        assert (tmp_path / "x.jsonl").read_text().startswith("{")
        check_refused_with(run("encode", words, "-o", tmp_path / "x.png"), ".png")
        assert not (tmp_path / "x.png").exists()

    def test_an_unknown_decoder(self, run):
        result = run("decode", "-e", "absolute", "--decoder", "gredy", stdin="a\t0\troot\n")
        assert (result.code, result.out) == (2, "")
        assert result.err.startswith("biplanar: error: unknown decoder 'gredy'; did you mean 'greedy'? (known: ")
        assert result.err.count("\n") == 1

    @pytest.mark.parametrize("command", ["encode", "decode", "draw"])
    def test_a_missing_file(self, run, tmp_path, command):
        path = tmp_path / "missing"
        check_refused(run(command, path), f"{path}: No such file or directory")

    def test_an_empty_file(self, run):
        for command in ("encode", "decode", "draw"):
            check_refused_with(run(command), "<stdin>:1: ")

    def test_bad_labels(self, run):
        message = "<stdin>:2: expected 3 columns (form, head, deprel), found 1"
        check_refused(run("decode", "-e", "absolute", stdin="a\t0\troot\nb\n"), message)

    def test_several_roots(self, run):
        text = "# a\n1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n2\tb\t_\t_\t_\t_\t0\troot\t_\t_\n\n"
        result = run("encode", stdin=text)
        assert (result.code, result.out) == (2, "")
        assert result.err.startswith("biplanar: error: <stdin>:2: 2p-full needs trees with one root")

    @pytest.mark.parametrize("old", [None, b"old"])
    def test_an_error_leaves_no_half_written_file(self, run, words, tmp_path, monkeypatch, old):
        monkeypatch.setattr(
            label_files, "CHUNK_SENTENCES", 1
        )  # so that something has been written when the error comes
        folder = tmp_path / "out"
        folder.mkdir()
        target = folder / "result"
        if old:
            target.write_bytes(old)
        words.write_bytes(words.read_bytes() + b"1\tbad\n\n")
        labels = "a\t0\troot\n\nb\t0\n\n"
        check_refused(run("encode", words, "-o", target), f"{words}:14: expected 10 columns, found 2")
        message = "<stdin>:3: expected 3 columns (form, head, deprel), found 2"
        check_refused(run("decode", "-e", "absolute", "-o", target, stdin=labels), message)
        assert [path.name for path in folder.iterdir()] == (["result"] if old else [])
        assert not old or target.read_bytes() == old

    @pytest.mark.parametrize("command", ["encode", "decode"])
    def test_a_place_that_cannot_be_written_to(self, run, words, tmp_path, command):
        target = tmp_path / "missing" / "result"
        check_refused(run(command, words, "-o", target), f"{target}: No such file or directory")


class TestTextEncoding:
    @pytest.fixture
    def wide(self, words, tmp_path) -> Path:
        """A file of UTF-16 without a byte order mark."""
        path = tmp_path / "wide.conllu"
        path.write_bytes(words.read_bytes().decode().encode("utf-16-le"))
        return path

    @pytest.mark.parametrize("command", [["encode"], ["decode"], ["draw"], ["stats"], ["evaluate", "-m", "none"]])
    def test_what_is_not_utf8_is_refused(self, run, wide, command):
        message = "not UTF-8 text: NUL character; is it in another encoding, such as utf-16"
        check_refused(run(command[0], wide, *command[1:]), f"{wide}:1: {message} (--text-encoding)?")

    @pytest.mark.parametrize("command", [["draw"], ["stats", "--json"], ["evaluate", "--json"]])
    def test_it_can_be_named(self, run, words, wide, command):
        def files(path: Path) -> list[Path]:
            return [path, path] if command[0] == "evaluate" else [path]

        found = run(command[0], *files(wide), *command[1:], "--text-encoding", "utf-16-le")
        wanted = run(command[0], *files(words), *command[1:])
        assert (found.code, found.out.replace("wide", "words")) == (0, wanted.out)

    def test_labels(self, run, words, wide):
        assert run("encode", wide, "--text-encoding", "utf-16-le") == run("encode", words)
        labels = run("encode", words, "-e", "relative").out
        found = run("decode", "-e", "relative", "--text-encoding", "utf-8-sig", stdin="\ufeff" + labels)
        assert found == run("decode", "-e", "relative", stdin=labels)

    def test_an_unknown_one(self, run, words):
        check_refused_with(run("draw", words, "--text-encoding", "utf-61"), "unknown text encoding 'utf-61'")


class TestStats:
    def test_tables(self, run, treebank):
        result = run("stats", treebank)
        assert (result.code, result.err) == (0, "")
        assert all(encoding in result.out for encoding in ENCODINGS)
        assert "50.00" in result.out  # one of two sentences is non-projective

    def test_json(self, run, treebank):
        result = run("stats", treebank, "--json")
        assert (result.code, result.err) == (0, "")
        numbers = json.loads(result.out)
        assert set(numbers) == PROMISED | EXTRAS
        assert numbers["split_sizes"] == [2, 50.0, 2, 50.0, 2, 50.0]
        assert numbers["nonprojectivity"] == [50.0, 20.0]
        assert [len(numbers[name]) for name in ("coverage", "coverage_before_repair")] == [3, 3]
        encodings = ["rel-pos", "1p-brackets", "2p-greedy", "2p-prop", "2p-full"]
        assert list(numbers["label_sizes"]) == list(numbers["unseen_labels"]) == encodings
        assert [len(cells) for cells in numbers["label_sizes"].values()] == [3] * 5

    def test_chosen_encodings(self, run, treebank):
        """With lifting, too; the paper's tables stay."""
        numbers = json.loads(run("stats", treebank, "--encodings", "7-bit, 4-bit+head", "--json").out)
        assert list(numbers["encodings"]) == list(numbers["labels"]) == ["7-bit", "4-bit+head"]
        assert len(numbers["coverage"]) == 3
        assert "4-bit+head" in run("stats", treebank, "--encodings", "4-bit+head").out
        check_refused_with(run("stats", treebank, "--encodings", "7-bits"), "unknown encoding '7-bits'")

    def test_speed(self, run, treebank):
        rows = json.loads(run("stats", treebank, "--encodings", "hexatags", "--speed", "--json").out)["labels"]
        assert rows["hexatags"]["encode"] > 0 < rows["hexatags"]["decode"]
        assert "Speed, sentences a second" in run("stats", treebank, "--encodings", "hexatags", "--speed").out
        assert "Speed" not in run("stats", treebank, "--encodings", "hexatags").out

    @pytest.mark.parametrize("flags", [[], ["--json"]])
    def test_without_a_training_split(self, run, treebank, flags):
        (treebank / "xx-ud-train.conllu").unlink()
        result = run("stats", treebank, *flags)
        assert (result.code, result.err) == (0, "")
        if flags:
            numbers = json.loads(result.out)
            assert set(numbers) == PROMISED | EXTRAS
            assert numbers["coverage"] is numbers["nonprojectivity"] is numbers["encodings"] is None
            assert numbers["split_sizes"] == [None, None, 2, 50.0, 2, 50.0]

    def test_files(self, run, treebank, words):
        """All trees together, with a row for each file; what needs splits is left out."""
        numbers = json.loads(run("stats", words, "--json").out)
        assert set(numbers) == PROMISED | EXTRAS | {"files"}
        assert numbers["files"] == {str(words): [2, 50.0]}
        assert numbers["nonprojectivity"] == [50.0, 20.0]
        assert numbers["split_sizes"] == [None] * 6
        assert set(numbers["unseen_labels"].values()) == {None}
        splits = json.loads(run("stats", treebank, "--json").out)
        same = ("coverage", "coverage_before_repair", "label_sizes", "encodings")
        assert {name: numbers[name] for name in same} == {name: splits[name] for name in same}
        dev = treebank / "xx-ud-dev.conllu"
        table = run("stats", words, dev).out
        assert "2p-full" in table
        assert "unseen" not in table
        assert table.partition("Coverage")[0].count("50.00") == 3  # each file, and all

    def test_words_without_tags(self, run, words):
        words.write_bytes(words.read_bytes().replace(b"\tNOUN\t", b"\t_\t"))
        numbers = json.loads(run("stats", words, "--json").out)
        assert numbers["label_sizes"]["rel-pos"] is None
        assert "rel-pos" not in numbers["encodings"]
        assert numbers["label_sizes"]["2p-full"] is not None
        result = run("stats", words)
        assert (result.code, "2p-full" in result.out, "rel-pos" in result.out) == (0, True, False)

    def test_folders_and_files(self, run, treebank, words):
        check_refused_with(run("stats", words, treebank), f"{treebank}: a folder among several paths")

    def test_nothing_is_cut_at_80_columns(self, run, treebank, monkeypatch):
        monkeypatch.setenv("COLUMNS", "80")
        out = run("stats", treebank).out
        assert "…" not in out
        assert "unseen 1  unseen 2  unseen relation" in out

    def test_a_missing_folder(self, run, tmp_path):
        check_refused_with(run("stats", tmp_path / "missing"), f"{tmp_path / 'missing'}: no such file")

    def test_a_bad_file(self, run, treebank):
        path = treebank / "xx-ud-dev.conllu"
        path.write_text("1\ta\n\n")
        check_refused(run("stats", treebank, "--json"), f"{path}:1: expected 10 columns, found 2")


class TestDraw:
    def test_all_sentences(self, run, words):
        result = run("draw", words)
        assert (result.code, result.err) == (0, "")
        assert all(word in result.out for word in (*HOUSE.forms, *CROSSING.forms, "nsubj", "advmod"))
        assert "\x1b" not in result.out  # colours are for terminals

    def test_some_sentences(self, run, words):
        first = run("draw", words, "--first", 1).out
        crossing = run("draw", words, "--only", "nonprojective").out
        assert "Haus" in first
        assert "w1" not in first
        assert "Haus" not in crossing
        assert first + crossing == run("draw", stdin=words.read_text(encoding="utf-8")).out

    def test_an_unknown_filter(self, run, words):
        wanted = "unknown filter 'nonproj'; did you mean 'nonprojective'? (known: nonprojective, different)"
        check_refused(run("draw", words, "--only", "nonproj"), wanted)

    def test_a_sentence_without_a_tree(self, run):
        wanted = "<stdin>:1: expected a whole number as HEAD, found '_'"
        check_refused(run("draw", stdin=Sentence.from_words(["a"]).raw), wanted)


class TestTheDemo:
    @pytest.fixture(autouse=True)
    def packages(self, monkeypatch) -> list[EntryPoint]:
        """Those that are installed: none, unless a test adds some."""
        entries: list[EntryPoint] = []
        monkeypatch.setattr(model_folder, "entry_points", lambda group: EntryPoints(entries).select(group=group))
        return entries

    def test_it_shows_all_columns_labels_and_arcs(self, run):
        result = run("demo")
        assert (result.code, result.err) == (0, "")
        rows = {line.split()[0] for line in result.out.splitlines() if line[:1].isalpha()}
        assert {"upos", "xpos", "lemma", "VerbForm", "plane1", "plane2"} <= rows
        assert "pip install ./models/packages/pt" in result.out
        assert len(result.out.splitlines()) < 50
        assert all(len(line) <= 100 for line in result.out.splitlines())

    @pytest.mark.parametrize(("installed", "shown"), [(["zz", "lt"], "lt"), (["lt", "pt"], "pt")])
    def test_it_shows_one_other_language_that_is_installed(self, run, packages, installed, shown):
        packages += [EntryPoint(code, "tests.cli.test_cli:BUNDLED", "biplanar.models") for code in installed]
        result = run("demo")
        assert (result.code, result.err) == (0, "")
        assert "pip install" not in result.out
        assert f'$ biplanar parse --text "{TEXTS[shown]}" -m {shown} |' in result.out
        assert result.out.count(" -m ") == 1

    def test_its_commands_are_short(self):
        assert all(len(text) <= 60 for text in TEXTS.values())

    def test_it_shows_every_encoding(self, run):
        result = run("demo", "--encodings")
        assert (result.code, result.err) == (0, "")
        assert all(f"\n{name}: " in result.out for name in ENCODINGS)
        assert "2p-greedy: 1 of 6 heads are decoded wrongly" in result.out
        assert "2p-prop: decoded without loss" in result.out


class TestTheRest:
    def test_no_arguments_show_the_help(self, run):
        result = run()
        assert all(command in result.out + result.err for command in COMMANDS)

    @pytest.mark.parametrize("command", COMMANDS)
    def test_every_command_has_help_with_examples(self, run, command):
        result = run(command, "-h")
        assert (result.code, result.err) == (0, "")
        assert not {"<bool>", "<str>", "<list[str]>"} & set(result.out.split())
        examples = [line.strip() for line in result.out.splitlines() if line.startswith(" biplanar ")]
        calls = [call for line in examples for call in line.split(" | ") if call.startswith(f"biplanar {command}")]
        assert calls
        for call in calls:  # raises if an option does not exist
            arguments = settings_as_options(shlex.split(call)[2:])
            get_command(app).commands[command].make_context(command, arguments)

    @pytest.mark.parametrize("command", COMMANDS)
    def test_options_are_named_alike_everywhere(self, command):
        options = {name for option in get_command(app).commands[command].params for name in option.opts}
        assert ("-o" in options) == ("--output" in options)
        assert not options & {"--batch-tokens", "--layout", "--labels"}

    @pytest.mark.parametrize("arguments", [["nonsense"], ["encode", "--nonsense"], ["stats"], ["draw", "--first", "x"]])
    def test_wrong_usage_is_exit_code_2_too(self, run, arguments):
        result = run(*arguments)
        assert (result.code, result.out) == (2, "")
        assert "Usage:" in result.err
        assert "Traceback" not in result.err
