from __future__ import annotations

import subprocess
import sys
from dataclasses import astuple, replace
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import onnx
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from torch import nn

from biplanar.decoding.scores import MOST_HEADS, ColumnTables, LikelyHeads, Scores
from biplanar.errors import BiplanarError, FileError
from biplanar.tagger import features
from biplanar.tagger.config import NetworkConfig
from biplanar.tagger.device import TorchTagger
from biplanar.tagger.export import export_onnx
from biplanar.tagger.features import Batch, Corpus, Vocabulary
from biplanar.tagger.network import Tagger
from biplanar.tagger.runtime import FORMAT_KEY, OnnxTagger

SENTENCES = [
    ["A", "hearing", "is", "scheduled", "on", "the", "issue", "today", "."],
    ["Yes"],
    ["a"],
    ["I"] * 3,
    ["Donaudampfschifffahrtsgesellschaftskapitän"[:40], "!"],
    ["https://example.org/a/very/long/address/that/is/spelled/by/its/ends/only", "."],
    ["猫", "が", "好き"],
    ["the", "quick", "brown", "fox", "jumps", "over", "the", "lazy", "dog", "and", "runs", "on", ","] * 4,
    [""],
]
TREE_TASKS = {
    "plane1": tuple("0123456789A"),
    "plane2": tuple("012"),
    "deprel": tuple("01234567"),
    "depth.plane1.left": tuple("01234"),
}
COLUMN_TASKS = {
    "upos": ("NOUN", "VERB", "X"),
    "feats": ("_", "Case=Nom", "Case=Nom|Number=Sing", "Number=Sing"),
    "lemma": ("↓0;;", "↓0;;-", "↑0↓1;;", "↓0=be"),
}
TASKS = TREE_TASKS | COLUMN_TASKS
VOCABULARY = Vocabulary.of(SENTENCES, TASKS, min_form_count=1, min_char_count=1)

plain = partial(NetworkConfig, attention=False)
CONFIGS = {
    "one layer": plain(word_dim=7, char_dim=5, char_hidden=3, hidden=9, layers=1),
    "two layers": plain(word_dim=20, char_dim=8, char_hidden=16, hidden=33, layers=2),
    "three layers": plain(word_dim=1, char_dim=1, char_hidden=1, hidden=64, layers=3, relation_hidden=None),
    "attention": NetworkConfig(word_dim=20, char_dim=8, char_hidden=16, hidden=33, layers=1, attention=True),
    "attention, plain outputs": NetworkConfig(
        word_dim=20,
        char_dim=8,
        char_hidden=16,
        hidden=33,
        layers=1,
        output_hidden=None,
        attention=True,
        relation_hidden=None,
    ),
    "labels alone": plain(word_dim=20, char_dim=8, char_hidden=16, hidden=33, layers=1, arcs=False),
    "attention alone": NetworkConfig(word_dim=20, char_dim=8, char_hidden=16, hidden=33, layers=1, arcs=False),
    "small forms": plain(
        word_dim=20,
        char_dim=8,
        char_hidden=16,
        form_dim=14,
        hidden=30,
        layers=2,
        output_hidden=None,
        column_hidden=None,
    ),
    "columns that see no forms": plain(
        word_dim=20, char_dim=8, char_hidden=16, hidden=33, layers=1, column_forms=False, column_hidden=None
    ),
    "treebanks": plain(word_dim=7, char_dim=5, char_hidden=3, hidden=32, layers=2, treebank_dim=6),
    "all there is": NetworkConfig(
        word_dim=20, char_dim=8, char_hidden=16, hidden=33, layers=2, attention=True, relation_hidden=11, treebank_dim=6
    ),
}
every_config = pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
both_kinds = pytest.mark.parametrize("int8", [False, True], ids=["float32", "int8"])


def random_network(config: NetworkConfig) -> Tagger:
    """A network whose scores differ clearly, as those of a trained one do."""
    torch.manual_seed(7)
    config = replace(config, arc_dim=12)
    network = Tagger(config, len(VOCABULARY.forms), len(VOCABULARY.chars), TASKS, treebanks=3)
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            if not parameter.any() or "bias" in name:
                parameter.add_(torch.randn_like(parameter) * 0.3)
            elif "embedding" in name or "outputs" in name:
                parameter.mul_(5)
            if "arc_weight" in name:
                parameter.mul_(5)
    return network.eval()


def scores_of(tagger: OnnxTagger | TorchTagger, sentences: list[list[str]]) -> Scores:
    corpus = Corpus.of(sentences)
    return tagger.score(tagger.represent(corpus.forms), corpus.batch(range(len(sentences))))


def torch_scores(network: Tagger, sentences: list[list[str]]) -> Scores:
    return scores_of(TorchTagger(network, VOCABULARY, torch.device("cpu")), sentences)


def exported(network: Tagger, folder: Path, *, int8: bool = False) -> OnnxTagger:
    folder.mkdir(exist_ok=True)
    export_onnx(network, folder, int8=int8)
    return OnnxTagger(folder, VOCABULARY)


def assert_same(found: Scores, expected: Scores) -> None:
    """All tables, and the relations to heads that are drawn by lot."""
    assert found.offsets.tolist() == expected.offsets.tolist()
    assert list(found.labels) == list(expected.labels) == list(TREE_TASKS)
    for task, table in expected.labels.items():
        assert found.labels[task].shape == table.shape
        assert found.labels[task].dtype == np.float32
        np.testing.assert_allclose(found.labels[task], table, atol=1e-4)
        assert (found.labels[task].argmax(axis=1) == table.argmax(axis=1)).all()
    tables = found.columns.tables()
    for column, table in expected.columns.tables().items():
        np.testing.assert_allclose(tables[column], table, atol=1e-4)
        assert (found.columns.best()[column] == expected.columns.best()[column]).all()
    assert set(tables) == set(COLUMN_TASKS)
    assert found.knows_heads == expected.knows_heads
    governors = np.random.default_rng(3).integers(0, found.offsets[-1] + 1, found.offsets[-1])
    if expected.given_governors is not None:
        np.testing.assert_allclose(found.given_governors(governors), expected.given_governors(governors), atol=1e-4)
    assert (found.arcs is None) == (expected.arcs is None)
    if expected.arcs is not None:
        assert_same_heads(found.arcs.likeliest(), expected.arcs.likeliest())


def assert_same_heads(found: LikelyHeads, expected: LikelyHeads) -> None:
    """The same heads are the likeliest; those that are as likely as others may have changed places with them."""
    assert found.heads.dtype == expected.heads.dtype == np.int32
    np.testing.assert_allclose(found.logs, expected.logs, atol=2e-4)
    lower = np.pad(expected.logs, ((0, 0), (0, 1)), constant_values=-np.inf)[:, 1:]
    higher = np.pad(expected.logs, ((0, 0), (1, 0)), constant_values=np.inf)[:, :-1]
    with np.errstate(invalid="ignore"):
        clear = (expected.logs - lower > 1e-3) & (higher - expected.logs > 1e-3)
    clear[:, -1] = False  # the next one is not known
    assert (found.heads == expected.heads)[clear].all()
    assert clear.any() or not clear.size


def all_tables(scores: Scores) -> dict[str, NDArray[np.float32]]:
    return {**scores.labels, **scores.columns.tables()}


def agreement(one: Scores, other: Scores) -> float:
    """The share of labels that are the same."""
    tables = [(all_tables(one)[task], all_tables(other)[task]) for task in TASKS]
    return float(np.mean(np.concatenate([found.argmax(axis=1) == wanted.argmax(axis=1) for found, wanted in tables])))


@every_config
def test_scores_are_those_of_pytorch(config: NetworkConfig, tmp_path: Path) -> None:
    network = random_network(config)
    batch = SENTENCES
    assert_same(scores_of(exported(network, tmp_path), batch), torch_scores(network, batch))


def test_attention_looks_at_windows_of_long_sentences(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    network = random_network(CONFIGS["attention"])
    tagger = exported(network, tmp_path)
    whole = scores_of(tagger, SENTENCES)
    longest = max(map(len, SENTENCES))
    monkeypatch.setattr(features, "LONGEST_WINDOW", longest - 1)
    cut = scores_of(tagger, SENTENCES)
    assert_same(cut, torch_scores(network, SENTENCES))
    for number, (start, end) in enumerate(pairwise(whole.offsets.tolist())):
        same = np.allclose(cut.labels["plane1"][start:end], whole.labels["plane1"][start:end], atol=1e-4)
        assert same == (len(SENTENCES[number]) < longest)


def test_windows_have_the_words_in_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(features, "LONGEST_WINDOW", 4)
    batch = Corpus.of(["abcdefghi", "jk", "lmno"]).batch(range(3))
    assert batch.windows.lengths.tolist() == [4, 4, 1, 2, 4]
    assert batch.windows.words[batch.windows.mask].tolist() == batch.words[batch.mask].tolist()
    short = Corpus.of(["ab", "c"]).batch(range(2))
    assert short.windows is short


def test_every_kind_of_output_layer(tmp_path: Path) -> None:
    network, batch = random_network(CONFIGS["two layers"]), SENTENCES
    network.outputs["plane1"] = nn.Linear(network.width, 11, bias=False)
    deep = nn.Sequential(nn.Linear(network.width, 6), nn.LeakyReLU(0.1), nn.Dropout(0.2), nn.Linear(6, 8))
    network.outputs["deprel"] = deep.eval()
    assert_same(scores_of(exported(network, tmp_path), batch), torch_scores(network, batch))
    assert agreement(scores_of(exported(network, tmp_path, int8=True), batch), torch_scores(network, batch)) > 0.9


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> tuple[Tagger, OnnxTagger]:
    network = random_network(CONFIGS["one layer"])
    return network, exported(network, tmp_path_factory.mktemp("small"))


@given(st.lists(st.lists(st.text("abcdeXß猫", max_size=45), min_size=1, max_size=12), min_size=1, max_size=6))
@settings(max_examples=50)
def test_any_sentences(small: tuple[Tagger, OnnxTagger], sentences: list[list[str]]) -> None:
    network, tagger = small
    batch = sentences
    assert_same(scores_of(tagger, batch), torch_scores(network, batch))


@both_kinds
@pytest.mark.parametrize("length", [1, 4, 40])
def test_batches_of_one_word(length: int, int8: bool, tmp_path: Path) -> None:
    network = random_network(CONFIGS["one layer"])
    batch = [["a" * length]]
    found, expected = scores_of(exported(network, tmp_path, int8=int8), batch), torch_scores(network, batch)
    for task, table in expected.labels.items():
        np.testing.assert_allclose(found.labels[task], table, atol=0.1 if int8 else 1e-4)


@pytest.mark.parametrize("name", ["two layers", "attention", "all there is", "small forms"])
def test_batching_changes_nothing(name: str, tmp_path: Path) -> None:
    tagger = exported(random_network(CONFIGS[name]), tmp_path)
    together = scores_of(tagger, SENTENCES)
    alone = [scores_of(tagger, [sentence]) for sentence in SENTENCES]
    joined = {task: np.concatenate([all_tables(scores)[task] for scores in alone]) for task in TASKS}
    likely = [scores.arcs.likeliest() for scores in alone]
    arcs = LikelyHeads(*(np.concatenate(parts) for parts in zip(*map(astuple, likely), strict=True)))
    labels, columns = ({task: joined[task] for task in tasks} for tasks in (TREE_TASKS, COLUMN_TASKS))
    assert together.knows_heads
    heads = [np.arange(len(sentence), dtype=np.int32) for sentence in SENTENCES]  # each word's is the one before
    related = np.concatenate([scores.relate(own) for scores, own in zip(alone, heads, strict=True)])
    np.testing.assert_allclose(together.relate(np.concatenate(heads)), related, atol=1e-4)
    assert_same(
        replace(together, given_governors=None),
        Scores(together.offsets, labels, columns=ColumnTables(columns), arcs=arcs),
    )


@pytest.mark.parametrize("name", ["two layers", "treebanks", "small forms"])
@given(st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=6))
@settings(max_examples=20, deadline=None)
def test_batching_changes_nothing_in_bytes(name: str, neighbours: list[list[str]]) -> None:
    """Every vector is framed by 1 and -1, so that bytes mean the same in every batch."""
    tagger = framed(name)
    found = scores_of(tagger, [SENTENCES[0], *neighbours])
    alone = scores_of(tagger, [SENTENCES[0]])
    for task, table in all_tables(alone).items():
        np.testing.assert_allclose(all_tables(found)[task][: len(SENTENCES[0])], table, atol=1e-5)
    likely, likely_alone = found.arcs.likeliest(), alone.arcs.likeliest()
    np.testing.assert_allclose(likely.logs[: len(SENTENCES[0])], likely_alone.logs, atol=1e-4)
    assert likely.heads[: len(SENTENCES[0]), 0].tolist() == likely_alone.heads[:, 0].tolist()
    heads = np.zeros(found.offsets[-1], dtype=np.int32)
    related = alone.relate(heads[: len(SENTENCES[0])])
    np.testing.assert_allclose(found.relate(heads)[: len(SENTENCES[0])], related, atol=1e-5)


@cache
def framed(name: str) -> OnnxTagger:
    with TemporaryDirectory() as folder:
        return exported(random_network(CONFIGS[name]), Path(folder), int8=True)


@every_config
def test_int8_is_close(config: NetworkConfig, tmp_path: Path) -> None:
    network = random_network(config)
    batch = SENTENCES
    found, expected = scores_of(exported(network, tmp_path, int8=True), batch), torch_scores(network, batch)
    for task, table in expected.labels.items():
        assert np.abs(found.labels[task] - table).mean() < 0.05 * table.std()
    heads = np.zeros(found.offsets[-1], dtype=np.int32)
    assert np.abs(found.relate(heads) - expected.relate(heads)).mean() < 0.05 * expected.relate(heads).std()
    assert agreement(found, expected) > 0.95
    assert (found.arcs is None) == (expected.arcs is None) == (not config.arcs)
    if config.arcs:
        heads, wanted = found.arcs.likeliest(), expected.arcs.likeliest()
        clear = wanted.logs[:, 0] - wanted.logs[:, 1] > 0.05  # words that stand there twice are as good as each other
        assert clear.mean() > 0.2
        assert (heads.heads[:, 0] == wanted.heads[:, 0])[clear].mean() > 0.95
        assert np.abs(heads.logs[:, 0] - wanted.logs[:, 0]).mean() < 0.05


def test_bytes_without_a_frame_would_depend_on_the_batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the frame is for: with one of zeros, the range is that of the batch."""
    monkeypatch.setattr("biplanar.tagger.export_bilstm.FRAME", np.zeros(2, dtype=np.float32))
    tagger = exported(random_network(CONFIGS["two layers"]), tmp_path, int8=True)
    alone = scores_of(tagger, [SENTENCES[1]]).labels["plane1"]
    assert np.abs(scores_of(tagger, [SENTENCES[1], SENTENCES[7]]).labels["plane1"][:1] - alone).max() > 1e-3


def test_arcs_that_are_not_all_there_are_refused(tmp_path: Path) -> None:
    export_onnx(random_network(CONFIGS["one layer"]), tmp_path)
    model = onnx.load(tmp_path / "words.onnx")
    (root,) = (output for output in model.graph.output if output.name == "arc.root")
    model.graph.output.remove(root)
    onnx.save(model, tmp_path / "words.onnx")
    with pytest.raises(FileError, match=r"words\.onnx: only some of arc\.dependent"):
        OnnxTagger(tmp_path, VOCABULARY)


class TestRelations:
    """What relates words to their heads is in a file of its own."""

    @pytest.fixture
    def network(self) -> Tagger:
        return random_network(CONFIGS["all there is"])

    def tables(self, words: int) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.int64]]:
        rng = np.random.default_rng(3)
        dependents, heads = rng.normal(size=(2, words, 11)).astype(np.float32)
        return dependents, heads, rng.integers(0, words + 1, words)

    @torch.no_grad()
    def expected(self, network: Tagger, words: int) -> NDArray[np.float32]:
        assert network.relations is not None
        return network.relations.relate(*map(torch.from_numpy, self.tables(words))).numpy()

    @pytest.mark.parametrize("words", [0, 1, 2, 100])
    def test_scores_are_those_of_pytorch(self, network: Tagger, words: int, tmp_path: Path) -> None:
        found, expected = exported(network, tmp_path)._relate(*self.tables(words)), self.expected(network, words)
        assert found.shape == expected.shape == (words, len(TASKS["deprel"]))
        assert found.dtype == expected.dtype == np.float32
        np.testing.assert_allclose(found, expected, atol=1e-5)

    def test_half_precision_is_close(self, network: Tagger, tmp_path: Path) -> None:
        found = exported(network, tmp_path, int8=True)._relate(*self.tables(100))
        assert 0 < np.abs(found - self.expected(network, 100)).max() < 0.01

    def test_the_root_is_governor_0(self, network: Tagger, tmp_path: Path) -> None:
        assert network.relations is not None
        dependents, heads, _ = self.tables(2)
        root = network.relations.root.detach().numpy()[None]
        tagger = exported(network, tmp_path)
        by_number = tagger._relate(dependents, heads, np.array([0, 1]))
        by_hand = tagger._relate(dependents, np.concatenate([root, heads[:1]]), np.array([1, 2]))
        np.testing.assert_allclose(by_number, by_hand, atol=1e-6)

    def test_a_network_without(self, tmp_path: Path) -> None:
        network = random_network(CONFIGS["three layers"])
        tagger = exported(network, tmp_path)
        assert sorted(path.name for path in tmp_path.iterdir()) == ["forms.onnx", "words.onnx"]
        for scorer in (tagger, TorchTagger(network, VOCABULARY, torch.device("cpu"))):
            scores = scores_of(scorer, SENTENCES)
            assert not scores.knows_heads
            assert list(scores.labels) == list(TREE_TASKS)
            assert scores.relate(np.zeros(scores.offsets[-1], dtype=np.int32)) is scores.deprels

    def test_a_missing_file(self, network: Tagger, tmp_path: Path) -> None:
        exported(network, tmp_path)
        (tmp_path / "relations.onnx").unlink()
        with pytest.raises(FileError, match=r"relations\.onnx: No such file"):
            OnnxTagger(tmp_path, VOCABULARY)

    def test_a_file_of_another_network(self, network: Tagger, tmp_path: Path) -> None:
        exported(network, tmp_path)
        (tmp_path / "relations.onnx").rename(tmp_path / "aside")
        with torch.no_grad():
            network.relations.output.bias.add_(1)
        exported(network, tmp_path)
        (tmp_path / "aside").rename(tmp_path / "relations.onnx")
        with pytest.raises(FileError, match=r"relations\.onnx: .*the same network"):
            OnnxTagger(tmp_path, VOCABULARY)

    def test_a_truncated_file(self, network: Tagger, tmp_path: Path) -> None:
        exported(network, tmp_path)
        path = tmp_path / "relations.onnx"
        path.write_bytes(path.read_bytes()[:100])
        with pytest.raises(FileError, match=r"relations\.onnx: (truncated or corrupt|not a network of Biplanar's)"):
            OnnxTagger(tmp_path, VOCABULARY)


def test_known_forms_are_kept_as_bytes(tmp_path: Path) -> None:
    tagger = exported(random_network(CONFIGS["small forms"]), tmp_path, int8=True)
    tagger.write_known(VOCABULARY)
    again = OnnxTagger(tmp_path, VOCABULARY)
    forms = [*VOCABULARY.forms, "Unheard-of"]
    before, after = tagger.represent(forms), again.represent(forms)
    assert 0 < np.abs(before - after).max() < 0.005
    np.testing.assert_array_equal(before[-1], after[-1])
    np.testing.assert_array_equal(after[:, -2:], np.tile([1, -1], (len(forms), 1)))  # the frame is exact


def test_no_form_leaves_its_frame(tmp_path: Path) -> None:
    """ONNX Runtime makes the hyperbolic tangent of some sums between 8 and 9 a hair larger than 1."""
    network, sums = random_network(CONFIGS["small forms"]), torch.linspace(8.2, 8.9, 14)
    with torch.no_grad():
        network.encoder.form.weight.mul_(1e-6)
        network.encoder.form.bias.copy_(sums)
    forms = [form for sentence in SENTENCES for form in sentence]
    vectors = exported(network, tmp_path, int8=True).represent(forms)
    assert (vectors.min(), vectors.max()) == (-1, 1)


def test_known_forms_of_another_network(tmp_path: Path) -> None:
    exported(random_network(CONFIGS["small forms"]), tmp_path / "one", int8=True).write_known(VOCABULARY)
    exported(random_network(CONFIGS["two layers"]), tmp_path / "two", int8=True)
    (tmp_path / "one" / "known.npz").rename(tmp_path / "two" / "known.npz")
    with pytest.raises(FileError, match=r"known\.npz: .*the same network"):
        OnnxTagger(tmp_path / "two", VOCABULARY)


def size_of(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir())


def test_int8_is_small(tmp_path: Path) -> None:
    network = random_network(
        plain(word_dim=50, char_dim=32, char_hidden=64, hidden=200, layers=2, relation_hidden=None)
    )
    export_onnx(network, tmp_path / "full")
    export_onnx(network, tmp_path / "small", int8=True)
    kinds = {"embedding": 0, "weight": 0, "bias": 0, "root": 0}
    for name, parameter in network.named_parameters():
        kinds[next(kind for kind in kinds if kind in name)] += parameter.numel()
    graph = 20_000
    assert size_of(tmp_path / "full") < 4 * sum(kinds.values()) + graph
    per_output = 4 + 4 + 1  # bias, scale, zero point
    framed = 1.03 * kinds["weight"]  # two units more in each direction
    promised = framed + 2 * kinds["embedding"] + per_output * kinds["bias"] + 4 * kinds["root"]
    assert size_of(tmp_path / "small") < promised + graph


@both_kinds
@every_config
def test_the_graph_is_valid_onnx(config: NetworkConfig, int8: bool, tmp_path: Path) -> None:
    export_onnx(random_network(config), tmp_path, int8=int8)
    for path in tmp_path.iterdir():
        model = onnx.load(path)
        onnx.checker.check_model(model, full_check=True)
        assert {domain.domain for domain in model.opset_import} == ({"", "com.microsoft"} if int8 else {""})


def test_the_same_network_gives_the_same_file(tmp_path: Path) -> None:
    for name in ("one", "two"):
        export_onnx(random_network(CONFIGS["one layer"]), tmp_path / name, int8=True)
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes()


def test_weights_of_nothing_but_zeros(tmp_path: Path) -> None:
    network = random_network(CONFIGS["one layer"])
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.zero_()
    scores = scores_of(exported(network, tmp_path, int8=True), SENTENCES)
    assert all((table == 0).all() for table in scores.labels.values())
    assert (scores.relate(np.zeros(scores.offsets[-1], dtype=np.int32)) == 0).all()


def test_an_unknown_layer_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    network = random_network(CONFIGS["one layer"])
    network.outputs["plane1"] = nn.Sequential(nn.Linear(network.width, 11), nn.Softsign())
    with pytest.raises(BiplanarError, match=r"outputs\.plane1\.0: a layer of type Softsign"):
        export_onnx(network, tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_failed_export_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "forms.onnx").write_bytes(b"old")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(FileError, match="No space left"):
        export_onnx(random_network(CONFIGS["one layer"]), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["forms.onnx"]
    assert (tmp_path / "forms.onnx").read_bytes() == b"old"


def test_no_folder_to_write_to(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="No such file"):
        export_onnx(random_network(CONFIGS["one layer"]), tmp_path / "nowhere" / "onnx")


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"words\.onnx: No such file"):
        OnnxTagger(tmp_path, VOCABULARY)
    (tmp_path / "words.onnx").mkdir()
    with pytest.raises(FileError, match="Is a directory"):
        OnnxTagger(tmp_path, VOCABULARY)


@pytest.mark.parametrize("part", ["forms", "words"])
@pytest.mark.parametrize("kept", [0, 10, 0.5, 0.99])
def test_a_truncated_file(kept: float, part: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    export_onnx(random_network(CONFIGS["one layer"]), tmp_path)
    path = tmp_path / f"{part}.onnx"
    data = path.read_bytes()
    path.write_bytes(data[: int(kept if kept > 1 else kept * len(data))])
    with pytest.raises(FileError, match=rf"{part}\.onnx: (truncated or corrupt|not a network of Biplanar's)"):
        OnnxTagger(tmp_path, VOCABULARY)
    assert capfd.readouterr() == ("", "")


def test_a_file_of_something_else(tmp_path: Path) -> None:
    (tmp_path / "words.onnx").write_text("encoding = '2p-full'\n" * 100)
    with pytest.raises(FileError, match=r"words\.onnx: truncated or corrupt"):
        OnnxTagger(tmp_path, VOCABULARY)


@pytest.mark.parametrize("version", [None, "1", ""])
def test_another_format_is_refused(version: str | None, tmp_path: Path) -> None:
    export_onnx(random_network(CONFIGS["one layer"]), tmp_path)
    model = onnx.load(tmp_path / "words.onnx")
    onnx.helper.set_model_props(model, {} if version is None else {FORMAT_KEY: version})
    onnx.save(model, tmp_path / "words.onnx")
    complaint = "not a network of Biplanar's" if version is None else f"a network of format {version!r} instead of '2'"
    with pytest.raises(FileError, match=complaint):
        OnnxTagger(tmp_path, VOCABULARY)


def test_words_of_another_vocabulary(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    exported(random_network(CONFIGS["one layer"]), tmp_path)
    larger = Vocabulary.of([["yet", "another"], *SENTENCES], TASKS, min_form_count=1, min_char_count=1)
    with pytest.raises(BiplanarError, match=r"forms\.onnx: these words do not fit"):
        OnnxTagger(tmp_path, larger).represent(larger.forms[-1:])
    assert capfd.readouterr() == ("", "")


@both_kinds
def test_no_words_have_no_scores(int8: bool, tmp_path: Path) -> None:
    tagger = exported(random_network(CONFIGS["one layer"]), tmp_path, int8=int8)
    empty = Batch(np.zeros((0, 0), dtype=np.int64), np.zeros(0, dtype=np.int64))
    scores = tagger.score(tagger.represent([]), empty)
    assert {task: table.shape for task, table in scores.labels.items()} == {
        "plane1": (0, 11),
        "plane2": (0, 3),
        "deprel": (0, 8),
        "depth.plane1.left": (0, 5),
    }
    assert scores.arcs.likeliest().heads.shape == scores.arcs.likeliest().logs.shape == (0, MOST_HEADS)
    assert scores.relate(np.zeros(0, dtype=np.int32)).shape == (0, 8)


def test_threads_do_not_change_scores(tmp_path: Path) -> None:
    tagger, batch = exported(random_network(CONFIGS["two layers"]), tmp_path), SENTENCES
    assert_same(scores_of(OnnxTagger(tmp_path, VOCABULARY, threads=2), batch), scores_of(tagger, batch))


def test_the_runtime_needs_neither_torch_nor_onnx() -> None:
    code = "import sys, biplanar.tagger.runtime; print({'torch', 'onnx'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("set()\n", "")
