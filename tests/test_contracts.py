"""One of each that is added from outside the package: an encoding, a decoder, an output column, an engine.

Each is a class and one entry in a dict, and works in all that the package does.
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pytest

import biplanar
from biplanar.bulk import ENGINES, EngineConfig, Source, Task
from biplanar.bulk.task import Result
from biplanar.cli import main
from biplanar.data.arrays import Int8s, Int32s, Int64s
from biplanar.data.conllu import XPOS, Sentence, parse_conllu
from biplanar.data.forest import Column, Forest
from biplanar.decoding import DECODERS, all_decoders, get_decoder
from biplanar.decoding.beam import Outcome
from biplanar.decoding.decoders import relations_given_heads
from biplanar.decoding.sentences import ScoredSentences
from biplanar.decoding.tree_decoder import TreeDecoder
from biplanar.encodings import ENCODINGS, Encoding, all_encodings, get_encoding
from biplanar.encodings.automata import Automaton, Machine
from biplanar.encodings.columns import COLUMNS, get_columns
from biplanar.encodings.encoding import AUTOMATON, STACKS
from biplanar.encodings.hexatags import NAMES
from biplanar.encodings.stacks import Moves
from biplanar.errors import BiplanarError
from biplanar.pipeline.model_folder import ModelFolder
from biplanar.pipeline.train import Data, train_model
from biplanar.tagger.config import Config
from tests.conftest import ROOT
from tests.decoding.made_scores import MadeScores, noise_like
from tests.serve.conftest import serving

TINY = ROOT / "examples" / "tiny.conllu"
FACES = str.maketrans("</\\>_", "abcd-")
BRACKETS = str.maketrans("abcd-", "</\\>_")


@dataclass(frozen=True)
class Letters:
    """The brackets of `1p-brackets`, written as letters."""

    name: str = "letters"
    tasks: tuple[str, ...] = ("letters",)
    needs_upos: bool = False
    kind: str = STACKS

    def encode(self, forest: Forest) -> tuple[Column, ...]:
        (column,) = ENCODINGS["1p-brackets"].encode(forest)
        return (Column(column.ids, tuple(name.translate(FACES) for name in column.names)),)

    def decode(self, columns: Sequence[Column], offsets: Int64s, upos: Column | None = None) -> Int32s:
        brackets = [Column(one.ids, tuple(name.translate(BRACKETS) for name in one.names)) for one in columns]
        return ENCODINGS["1p-brackets"].decode(brackets, offsets, upos)

    def planes(self, forest: Forest) -> Int8s | None:
        return ENCODINGS["1p-brackets"].planes(forest)

    def moves(self, names: Sequence[Sequence[str]]) -> Moves:
        return ENCODINGS["1p-brackets"].moves([[name.translate(BRACKETS) for name in task] for task in names])


def next_state(trees: int, steps: Int32s, begin: int, end: int, is_last: bool) -> int:
    """How many binary trees are open after a hexatag, whose number has the bits right leaf, right node, right head."""
    code = steps[begin] if end > begin else -1
    if code < 0 or (is_last and code & 6) or (code & 1 and not trees):
        return -1
    trees += 0 if code & 1 else 1
    return trees if not code & 2 else trees - 1 if trees > 1 else -1


def may_end(trees: int) -> bool:
    return trees == 1


@dataclass(frozen=True)
class Hexes:
    """The labels of `hexatags`, read by an automaton from outside."""

    name: str = "hexes"
    tasks: tuple[str, ...] = ("hexatag",)
    needs_upos: bool = False
    kind: str = AUTOMATON

    def encode(self, forest: Forest) -> tuple[Column, ...]:
        return ENCODINGS["hexatags"].encode(forest)

    def decode(self, columns: Sequence[Column], offsets: Int64s, upos: Column | None = None) -> Int32s:
        return ENCODINGS["hexatags"].decode(columns, offsets, upos)

    def planes(self, forest: Forest) -> Int8s | None:
        return ENCODINGS["hexatags"].planes(forest)

    def automaton(self, names: Sequence[str]) -> Automaton:
        return Machine(next_state, may_end).automaton(names, lambda name: [NAMES.index(name)], lambda _: 1)


@dataclass(frozen=True)
class Chain:
    """Every word hangs on the one before."""

    name: str = "chain"
    repair: None = None
    finds_several: bool = False

    def heads(self, sentences: ScoredSentences) -> tuple[Int32s, Outcome]:
        lengths = np.diff(sentences.scores.offsets)
        return np.concatenate([np.arange(length, dtype=np.int32) for length in lengths]), Outcome(best=len(lengths))

    def relations(self, sentences: ScoredSentences, heads: Int32s) -> Int32s:
        return relations_given_heads(sentences, heads)


@dataclass(frozen=True)
class Length:
    """Long words and short ones, as XPOS."""

    name: str = "length"
    number: int = XPOS

    def encode(self, sentences: Sequence[Sentence]) -> Column:
        return Column.of("long" if len(form) > 4 else "short" for sentence in sentences for form in sentence.forms)

    def decode(self, labels: Column, forms: Column) -> Column:
        return Column.of(f"{one}-{len(form)}" for one, form in zip(labels.labels(), forms.labels(), strict=True))

    def parts(self, label: str) -> Sequence[str]:
        return list(label)


@dataclass(frozen=True)
class Backwards:
    """Parses the last chunk first, and writes the first one first."""

    config: EngineConfig

    def run(self, task: Task, source: Source, write: Callable[[Result], object]) -> None:
        work, chunks = task(), list(source.chunks(lambda _: 20))
        assert len(chunks) > 2
        for result in reversed([work(chunk) for chunk in reversed(chunks)]):
            write(result)


@pytest.fixture(scope="module", autouse=True)
def additions() -> Iterator[None]:
    """One line each."""
    ENCODINGS["letters"] = Letters()
    DECODERS["chain"] = Chain()
    COLUMNS["length"] = Length()
    ENGINES["backwards"] = Backwards
    yield
    for known, name in ((ENCODINGS, "letters"), (DECODERS, "chain"), (COLUMNS, "length"), (ENGINES, "backwards")):
        del known[name]


@pytest.fixture(scope="module")
def model(tmp_path_factory, additions) -> ModelFolder:  # noqa: ARG001
    """A small model of the added encoding and column."""
    config = Config.from_dict(
        {
            "encoding": "letters",
            "network": {"hidden": 32, "layers": 1, "char_hidden": 16, "columns": "length, upos", "dropout": 0.1},
            "vocabulary": {"min_form_count": 1, "min_char_count": 1},
            "training": {"epochs": 30, "batch_words": 60, "evaluations": 2},
            "segmenter": {"kind": "none"},
        }
    )
    folder = ModelFolder(tmp_path_factory.mktemp("models") / "added")
    for _ in train_model(Data([str(TINY)], str(TINY)), config, folder, device="cpu"):
        pass
    return folder


def run(capsys, monkeypatch, *arguments: object) -> str:
    monkeypatch.setattr("sys.argv", ["biplanar", *map(str, arguments)])
    monkeypatch.setattr("sys.stdout", stream := io.TextIOWrapper(io.BytesIO(), encoding="utf-8"))
    with pytest.raises(SystemExit) as end:
        main()
    stream.flush()
    assert end.value.code in (0, None), capsys.readouterr().err
    return stream.buffer.getvalue().decode()


class TestEncoding:
    def test_labels(self):
        tree = biplanar.Tree((2, 0, 2), ("nsubj", "root", "obj"))
        rows = biplanar.encode(tree, "letters")
        assert [row[0] for row in rows] == ["-", "ac", "bd"]
        assert biplanar.decode(rows, "letters") == tree

    def test_stats(self, capsys, monkeypatch, tmp_path):
        (tmp_path / "x-train.conllu").write_text(TINY.read_text())
        found = json.loads(run(capsys, monkeypatch, "stats", tmp_path, "--json"))
        rows = found[tmp_path.name]["encodings"] if tmp_path.name in found else found["encodings"]
        assert rows["letters"] == rows["1p-brackets"]

    @pytest.mark.parametrize("decoder", ["search", "minimum-risk", "greedy", "paper"])
    def test_parse(self, model, decoder):
        parser = biplanar.load(model.path)
        sentences = list(biplanar.read_conllu(TINY))
        found = list(parser.pipe(sentences, decoder=decoder, probabilities=True))
        right = sum(
            a == b for x, y in zip(sentences, found, strict=True) for a, b in zip(x.heads, y.heads, strict=True)
        )
        assert right > 0.8 * sum(map(len, sentences))
        assert len(parser.best_trees([sentences[0].forms], 3)[0]) == 3

    def test_serve(self, model):
        from biplanar.serve.models import Models

        with serving(Models.load([str(model.path)])) as served:
            assert "letters" in served.client.get("/api/models").json()["encodings"]
            asked = {"words": [["Nobody", "came", "."]], "labels": "letters"}
            (sentence,) = served.client.post("/api/parse", json=asked).json()["sentences"]
            assert all(set(label) <= set("abcd-") for (label, *_) in sentence["trees"][0]["labels"])


class TestAutomaton:
    def test_an_encoding_brings_its_own(self):
        for seed in range(20):
            found, wanted = (self.trees(encoding, seed) for encoding in (Hexes(), ENCODINGS["hexatags"]))
            assert found == wanted

    def trees(self, encoding: Encoding, seed: int) -> list[tuple[list[int], float]]:
        made = MadeScores(encoding)
        made.tables = noise_like(made.tables, seed)
        trees = [(TreeDecoder(made.inventory).decode(made.scores()).heads.tolist(), 0.0)]
        return trees + [
            (one.heads.tolist(), score) for one, score in TreeDecoder(made.inventory).several(made.first(), 3)
        ]


class TestInstalledPackages:
    @pytest.fixture
    def installed(self, tmp_path, monkeypatch) -> None:
        """A package with one of each, as an installer leaves it."""
        groups = {"encodings": "encoding", "decoders": "decoder", "columns": "column"}
        points = "".join(f"[biplanar.{group}]\nadded = added_package:{name}\n" for group, name in groups.items())
        folder = tmp_path / "added_package-1.0.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: added_package\nVersion: 1.0\n")
        (folder / "entry_points.txt").write_text(points)
        (tmp_path / "added_package.py").write_text(
            "from tests.test_contracts import Chain, Length, Letters\n"
            "encoding, decoder, column = Letters('added'), Chain('added'), Length('added')\n"
        )
        monkeypatch.syspath_prepend(tmp_path)
        yield
        for known in (ENCODINGS, DECODERS, COLUMNS):
            known.pop("added", None)

    def test_they_are_found_by_name(self, installed):  # noqa: ARG002
        assert "added" not in ENCODINGS
        assert get_encoding("added").name == get_decoder("added").name == get_columns("added")[0].name == "added"

    def test_they_are_listed(self, installed):  # noqa: ARG002
        assert "added" in all_encodings()
        assert "added" in all_decoders()

    def test_one_that_cannot_be_loaded_is_named(self, installed, tmp_path):  # noqa: ARG002
        (tmp_path / "added_package.py").write_text("import no_such_module\n")
        sys.modules.pop("added_package", None)
        with pytest.raises(BiplanarError, match="added_package"):
            get_encoding("unknown")


class TestDecoder:
    def test_parse(self, capsys, monkeypatch):
        text = run(capsys, monkeypatch, "parse", "--text", "Nobody came.", "--decoder", "chain")
        assert parse_conllu(text)[0].tree.heads == (0, 1, 2)

    def test_serve(self):
        from biplanar.serve.models import Models

        with serving(Models.load([])) as served:
            assert "chain" in served.client.get("/api/models").json()["decoders"]
            asked = {"words": [["Nobody", "came", "."]], "decoder": "chain"}
            (sentence,) = served.client.post("/api/parse", json=asked).json()["sentences"]
            assert sentence["trees"][0]["heads"] == [0, 1, 2]


class TestColumn:
    @pytest.mark.parametrize("runtime", ["int8", "onnx", "torch"])
    def test_parse(self, model, runtime):
        parser = biplanar.load(model.path, runtime=runtime)
        (sentence,) = parser([["Nobody", "came", "yesterday"]])
        assert [word.xpos.partition("-")[2] for word in sentence.words] == ["6", "4", "9"]
        assert {word.xpos.partition("-")[0] for word in sentence.words} <= {"long", "short"}
        assert "_" not in sentence.upos

    def test_what_is_given_is_kept(self, model):
        parser = biplanar.load(model.path)
        given = Sentence.from_words(["Nobody", "came"], upos=["X", "_"])
        (sentence,) = parser.pipe([given])
        assert sentence.upos[0] == "X"
        assert sentence.upos[1] not in ("X", "_")

    def test_from_file_to_file(self, capsys, monkeypatch, model, tmp_path):
        (tmp_path / "x.conllu").write_text(Sentence.from_words(["Nobody", "came"]).raw)
        text = run(capsys, monkeypatch, "parse", tmp_path / "x.conllu", "-m", model.path)
        assert [word.xpos.partition("-")[2] for word in parse_conllu(text)[0].words] == ["6", "4"]


class TestEngine:
    def test_parse(self, capsys, monkeypatch):
        monkeypatch.setattr("biplanar.data.files.BUFFER", 500)  # or so short a file would be read at once
        wanted = run(capsys, monkeypatch, "parse", TINY)
        assert run(capsys, monkeypatch, "parse", TINY, "--engine", "backwards") == wanted
